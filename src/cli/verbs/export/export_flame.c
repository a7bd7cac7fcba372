/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph of spans or functions, as SVG or as folded stacks. See export.h. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/progress.h"
#include "cli/input/answer.h"
#include "cli/input/trace_time.h"
#include "cli/verbs/export/export.h"
#include "export/flame/flame.h"

static bool is_folded(const struct export_request *request)
{
	const size_t length = request->output ? strlen(request->output) : 0,
		     end = strlen(".folded");

	return length >= end && strcmp(request->output + length - end, ".folded") == 0;
}

static void summary(const struct kymo_ctf_reader *reader, const char *output, bool functions,
		    const struct flame_result *result)
{
	answer_warn("export", reader, UINT_MAX);
	if (functions)
		fprintf(stderr, "%s: functions in %u stacks\n", export_shown(output),
			result->stacks);
	else
		fprintf(stderr, "%s: %" PRIu64 " spans in %u stacks\n", export_shown(output),
			result->spans, result->stacks);
	if (functions && !result->spans)
		fputs("The trace has no functions; record them with \"kymo record --stacks\".\n",
		      stderr);
	else if (!result->spans)
		fputs("The trace has no spans; programs emit them with kymo.h "
		      "(docs/programs.md).\n",
		      stderr);
}

static int write_flame(struct kymo_ctf_reader *reader, const struct export_request *request,
		       const char *output, struct flame_options *options,
		       struct flame_result *result, struct kymo_err *err)
{
	struct progress progress;
	bool made;
	int fd = export_open(output, request->force, &made, err), status;
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (!out) {
		if (fd >= 0)
			close(fd);
		return fd >= 0 ? err_no_memory(err) : -1;
	}
	progress_begin(&progress, request->quiet);
	progress_extent(&progress, reader);
	options->progress = progress_trace;
	options->context = &progress;
	status = flame_export(reader, out, options, result, err);
	progress_clear(&progress);
	if (fclose(out) && !status)
		status = err_set(err, KYMO_EXIT_FAILED, "cannot write the flame graph to '%s': %s",
				 export_shown(output), strerror(errno));
	if (status && made)
		(void)unlink(output); /* a part of it would look like the whole */
	return status;
}

int export_flame(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	struct flame_options options = {
		.title = request->name,
		.folded = is_folded(request),
		.functions = request->of,
		.told_lost = cli_traces_lost(&request->traces, "export"),
	};
	char made[CLI_PATH_MAX + 16];
	const char *output = export_output(request, "-flame.svg", made);
	struct simclock *clock = NULL;
	struct kymo_ctf_reader *reader;
	struct flame_result result;
	struct align *align;
	int status = -1;

	if (cli_traces_open(&request->traces, request->quiet ? NULL : "export", &reader, &align,
			    err))
		return -1;
	align_destroy(align);
	if (!cli_clock(request->times.clock, reader, request->traces.name, &clock, err) &&
	    !cli_read_window(reader, clock, &request->times, &options.begin_ns, &options.end_ns,
			     err))
		status = write_flame(reader, request, output, &options, &result, err);
	if (!status) {
		*lost = result.lost_events || result.lost_packets;
		if (!request->quiet)
			summary(reader, output, options.functions, &result);
	}
	kymo_ctf_close(reader);
	simclock_free(clock);
	return status;
}
