/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as CTF metadata: the parser accepts or refuses with a sentence, and frees everything. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctf/tsdl_metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctf_metadata *metadata = NULL;
	struct err err = { 0 };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (!tsdl_parse(text, size, "fuzz", &metadata, &err))
		tsdl_free(metadata);
	else if (!err.text[0])
		abort();	/* refused without a word */
	free(text);
	return 0;
}
