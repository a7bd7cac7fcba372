/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the line table of a program. The first eight are the address that is looked for, the
 * next one says how far; all others are the table, and the texts that it names.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbol/symbol.h"

#define HEAD 9u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_lines tables = { 0 };
	struct code_line found;
	uint64_t address;
	char *texts;

	if (size <= HEAD)
		return 0;
	memcpy(&address, data, sizeof(address));
	tables.size = size - HEAD;
	/* Of this size exactly: what is read behind it is seen. */
	tables.lines = malloc(tables.size);
	texts = calloc(1, tables.size + 1);
	if (!tables.lines || !texts)
		abort();
	memcpy(tables.lines, data + HEAD, tables.size);
	memcpy(texts, data + HEAD, tables.size);
	tables.line_str = tables.str = (struct code_texts){ texts, tables.size };
	if (code_line(&tables, address, data[8] ? address + data[8] : 0, &found) &&
	    (!found.line || !memchr(found.file, 0, sizeof(found.file)) || !*found.file))
		abort();
	free(tables.lines);
	free(texts);
	return 0;
}
