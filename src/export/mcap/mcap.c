/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a file: see mcap.h. */
#include "export/mcap/mcap.h"

#include <stdio.h>

#include "export/mcap/mcap_channels.h"

static int put_all(struct writer *writer, struct tables *tables, const struct mcap_options *options,
		   struct kymo_err *err)
{
	if (mcap_rows(writer, tables, err))
		return -1;
	if (options->of_all && (mcap_chains(writer, tables, options, err) ||
				mcap_findings(writer, tables, options, err)))
		return -1;
	mcap_metadata(writer->file, "kymo", "trace", options->trace);
	return writer->failed ? err_no_memory(err) : 0;
}

int mcap_export(struct tables *tables, const struct mcap_options *options,
		struct mcap_result *result, struct kymo_err *err)
{
	struct writer writer = { .result = result };
	char library[64];
	int status;

	*result = (struct mcap_result){ 0 };
	(void)snprintf(library, sizeof(library), "kymo %s", options->version);
	writer.file = mcap_begin(options->fd, library, true, err);
	if (!writer.file)
		return -1;
	status = put_all(&writer, tables, options, err);
	result->messages = mcap_messages(writer.file);
	if (mcap_end(writer.file, &result->bytes, status ? NULL : err))
		status = -1;
	writer_free(&writer);
	return status;
}
