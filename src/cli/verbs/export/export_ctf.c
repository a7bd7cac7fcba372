/* SPDX-License-Identifier: Apache-2.0 */
/* Plain CTF. See export.h. */
#include "cli/verbs/export/export_ctf.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "accounts/accounts.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/input/answer.h"
#include "cli/input/trace_time.h"
#include "ctf/read/copy/copy.h"
#include "recorder/trace/trace_dir.h"

/* The recorder's accounts are those of the whole trace. Without them the copy has none either. */
static void copy_accounts(const char *trace, const char *output)
{
	char path[CLI_PATH_MAX + 16], *text;
	size_t size;

	(void)snprintf(path, sizeof path, "%s/" ACCOUNTS_FILE, trace);
	if (file_load(path, ACCOUNTS_MAX, &text, &size, NULL))
		return;
	(void)trace_dir_write(output, ACCOUNTS_FILE, text, size);
	free(text);
}

static void summary(struct kymo_ctf_reader *reader, const struct ctf_copied *copied,
		    const char *output, bool quiet, bool ctf2)
{
	char bytes[TEXT_QUANTITY_MAX];

	answer_warn("export", reader, UINT_MAX);
	if (copied->uncut)
		fprintf(stderr, "kymo export: warning: %" PRIu64 " packets at the ends of the window have a layout that "
			"kymo cannot cut; they are whole\n", copied->uncut);
	if (copied->left_out)
		fprintf(stderr, "kymo export: warning: %" PRIu64 " packets that are not whole were left out\n",
			copied->left_out);
	if (!quiet)
		fprintf(stderr, "%s: %" PRIu64 " packets of %u trace%s, %s\nnext:  %s %s\n", output,
			copied->packets, copied->traces, copied->traces == 1 ? "" : "s",
			text_bytes(bytes, copied->bytes), ctf2 ? "kymo dump" : "babeltrace2", output);
}

static int copy(struct kymo_ctf_reader *reader, const struct export_request *request,
		const char *output, bool *lost, struct kymo_err *err)
{
	int64_t begin, end;
	struct ctf_copied copied;

	if (cli_read_window(reader, NULL, &request->times, &begin, &end, err))
		return -1;
	if (ctf_copy(reader, output, begin, end, (unsigned)(request->ctf + 1), &copied, err))
		return -1;
	for (unsigned i = 0; i < kymo_ctf_stream_count(reader); i++)
		*lost = *lost || kymo_ctf_stream(reader, i)->lost || kymo_ctf_stream(reader, i)->lost_packets;
	if (!request->times.begin && !request->times.end)
		copy_accounts(request->traces.path[0], output);
	summary(reader, &copied, output, request->quiet, request->ctf == EXPORT_CTF_2);
	return 0;
}

int export_ctf_as(const struct export_request *request, const struct export_host *host,
		  const char *suffix, export_ctf_fn *write, bool *lost, struct kymo_err *err)
{
	char made[CLI_PATH_MAX + 16], *absolute = NULL;
	const char *output = export_output(request, suffix, made);
	struct kymo_ctf_reader *reader;
	bool existed;
	int rc;

	*lost = false;
	if (kymo_ctf_open(request->traces.path[0], &reader, err))
		return -1;
	rc = align_apply_from(host->align, host->first_trace, reader, err);
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

int export_ctf(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	return export_ctf_as(request, &(struct export_host){ 0 }, "-ctf", copy, lost, err);
}
