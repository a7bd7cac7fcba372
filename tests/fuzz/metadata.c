/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata as input: parsed, laid out, compiled into plans. */
#include <stdlib.h>
#include <string.h>

#include "ctf/read/reader_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compile(struct ctf_metadata *metadata)
{
	struct ctf_trace trace = { .metadata = metadata, .metadata_path = "m" };
	struct ctf_trace *traces[] = { &trace };
	struct kymo_ctf_reader reader = { .trace = traces, .trace_count = 1 };
	struct kymo_err err;

	if (!trace_compile(&reader, &trace, &err))
		(void)classes_plan(&reader, &err);
	for (uint32_t i = 0; trace.class && i < trace.class_count; i++)
		for (uint32_t k = 0; k < trace.class[i].class_count; k++)
			plan_free(&trace.class[i].class[k]->plan);
	free(reader.class);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctf_metadata *metadata;
	char *text = malloc(size + 1);
	struct kymo_err err = { 0 };

	memcpy(text, data, size);
	text[size] = 0;
	if (!tsdl_parse(text, size, "m", &metadata, &err)) {
		compile(metadata);
		tsdl_free(metadata);
	} else if (!err.text[0]) {
		abort();	/* refused without a word */
	}
	free(text);
	return 0;
}
