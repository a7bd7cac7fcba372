/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as time series in an MCAP file. See export.h. */
#include "cli/verbs/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/progress.h"
#include "cli/input/trace_time.h"
#include "export/mcap/mcap.h"

static int on_tick(void *context, uint64_t events, double done)
{
	progress_show(context, events, done);
	return 0;
}

static void summary(const struct tables *tables, const char *output,
		    const struct mcap_result *result)
{
	char bytes[TEXT_QUANTITY_MAX];

	cli_tables_warn("export", tables);
	if (result->left_out)
		fprintf(stderr, "kymo export: warning: %u messages have more names than a file has channels; they were left out\n",
			result->left_out);
	fprintf(stderr, "%s: %" PRIu64 " values in %u series, %s\n", export_shown(output), result->messages,
		result->channels, text_bytes(bytes, result->bytes));
}

/* The window of the chains and findings, which no tables contain. */
static int read_window(struct tables *tables, const struct export_request *request,
		       struct mcap_options *options, struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	int status;

	if (tables_reader(tables, &reader, err))
		return -1;
	status = cli_read_window(reader, NULL, &request->times, &options->begin_ns,
				 &options->end_ns, err);
	kymo_ctf_close(reader);
	return status;
}

static int write_file(struct tables *tables, const struct export_request *request,
		      const char *output, struct mcap_result *result, struct kymo_err *err)
{
	struct progress progress;
	struct mcap_options options = { .version = KYMO_VERSION, .trace = request->name,
					.of_all = !selection_any(&request->selection) };
	bool made = false;
	int status;

	if (read_window(tables, request, &options, err))
		return -1;
	options.fd = export_open(output, request->force, &made, err);
	if (options.fd < 0)
		return -1;
	progress_begin(&progress, request->quiet);
	tables_watch(tables, on_tick, &progress);
	status = mcap_export(tables, &options, result, err);
	tables_watch(tables, NULL, NULL);
	progress_clear(&progress);
	if (!export_is_stdout(output) && close(options.fd) && !status)
		status = err_set(err, KYMO_EXIT_FAILED, "cannot write it: %s", strerror(errno));
	if (status && made)
		(void)unlink(output); /* a part of it would look like the whole */
	return status ? err_wrap(err, "%s", export_shown(output)) : 0;
}

int export_mcap(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	char made[CLI_PATH_MAX + 16];
	const char *output = export_output(request, ".mcap", made);
	struct simclock *clock = NULL;
	struct mcap_result result;
	struct tables *tables;
	int status;

	if (tables_open(&tables, request->traces.path, request->traces.count, err))
		return -1;
	status = cli_select_tables(tables, request->traces.name, &request->selection,
				   &request->times, &clock, err);
	if (!status)
		status = write_file(tables, request, output, &result, err);
	if (!status && !request->quiet) {
		cli_print_hosts("export", tables_align(tables));
		summary(tables, output, &result);
	}
	*lost = tables_lost(tables);
	tables_close(tables);
	simclock_free(clock);
	return status;
}
