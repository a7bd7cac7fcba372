/* SPDX-License-Identifier: Apache-2.0 */
/* See export_ctf.h. */
#include "cli/verbs/export/export_ctf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "base/text.h"
#include "cli/common.h"
#include "cli/input/trace_time.h"
#include "ctf/read/copy.h"
#include "recorder/trace/trace_dir.h"

#define ACCOUNTS_MAX (64u << 20)

/* The accounts go with the whole; a window has others. */
static void copy_accounts(const char *trace, const char *output)
{
	char path[CLI_PATH_MAX + 16], *text = NULL;
	size_t size = 0, room = 0;
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/" ACCOUNTS_FILE, trace);
	file = fopen(path, "re");
	while (file && !feof(file) && !ferror(file) && size < ACCOUNTS_MAX) {
		if (size == room) {
			char *grown = realloc(text, room += 65536);

			if (!grown)
				break;
			text = grown;
		}
		size += fread(text + size, 1, room - size, file);
	}
	if (file && feof(file))
		(void)trace_dir_write(output, ACCOUNTS_FILE, text, size);
	if (file)
		(void)fclose(file);
	free(text);
}

static void tell(struct kymo_ctf_reader *reader, const struct ctf_copied *copied, const char *output, bool quiet)
{
	char bytes[TEXT_QUANTITY_MAX], clean[4096];

	for (unsigned i = 0; i < kymo_ctf_warning_count(reader); i++) {
		text_clean(clean, sizeof clean, kymo_ctf_warning(reader, i));
		fprintf(stderr, "kymo export: warning: %s\n", clean);
	}
	if (copied->uncut)
		fprintf(stderr, "kymo export: warning: %" PRIu64 " packets at the ends of the window have a layout that "
			"is not cut here; they are whole\n", copied->uncut);
	if (copied->left_out)
		fprintf(stderr, "kymo export: warning: %" PRIu64 " packets that are not whole were left out\n",
			copied->left_out);
	if (!quiet)
		fprintf(stderr, "%s: %" PRIu64 " packets of %u trace%s, %s\nnext:  babeltrace2 %s\n", output,
			copied->packets, copied->traces, copied->traces == 1 ? "" : "s",
			text_bytes(bytes, copied->bytes), output);
}

static int copy(struct kymo_ctf_reader *reader, const struct export_ctf *request, const char *output, bool *lost,
		struct kymo_err *err)
{
	int64_t begin = INT64_MIN, end = INT64_MAX;
	struct ctf_copied copied;

	if ((request->begin || request->end) &&
	    cli_read_window(reader, NULL, request->begin, request->end, &begin, &end, err))
		return -1;
	if (ctf_copy(reader, output, begin, end, &copied, err))
		return -1;
	for (unsigned i = 0; i < kymo_ctf_stream_count(reader); i++)
		*lost = *lost || kymo_ctf_stream(reader, i)->lost || kymo_ctf_stream(reader, i)->lost_packets;
	if (!request->begin && !request->end)
		copy_accounts(request->trace, output);
	tell(reader, &copied, output, request->quiet);
	return 0;
}

int export_ctf_as(const struct export_ctf *request, const char *suffix, export_ctf_fn *write, bool *lost, struct kymo_err *err)
{
	char output[CLI_PATH_MAX + 16], *absolute = NULL;
	struct kymo_ctf_reader *reader;
	bool existed;
	int rc;

	(void)snprintf(output, sizeof output, "%s%s", request->name, suffix);
	if (request->output)
		(void)snprintf(output, sizeof output, "%s", request->output);
	*lost = false;
	if (kymo_ctf_open(request->trace, &reader, err))
		return -1;
	rc = align_apply_from(request->align, request->first_trace, reader, err);
	if (rc == 0)
		rc = trace_dir_make(output, &existed, &absolute, err);
	if (rc == 0)
		rc = write(reader, request, output, lost, err);
	if (rc && absolute)
		trace_dir_remove_empty(absolute, existed);
	free(absolute);
	kymo_ctf_close(reader);
	return rc;
}

int export_ctf(const struct export_ctf *request, bool *lost, struct kymo_err *err)
{
	return export_ctf_as(request, "-ctf", copy, lost, err);
}
