/* SPDX-License-Identifier: Apache-2.0 */
/* The dependency graph as dot, or as SVG. See export.h. */
#include "cli/verbs/export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/progress.h"
#include "cli/input/answer.h"
#include "cli/input/trace_time.h"
#include "export/graph/dot.h"

static int open_output(const char *path, bool force, struct kymo_err *err)
{
	int fd;

	if (export_is_stdout(path))
		return dup(STDOUT_FILENO);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
	if (fd >= 0)
		return fd;
	return errno == EEXIST ? cli_exists(path, err) : export_unwritable(path, err);
}

/* Into the file, or into graphviz that writes the file. Closes @fd. */
static int write_graph(struct kymo_ctf_reader *reader, bool svg, int fd,
		       const struct dot_options *options, struct dot_result *result,
		       struct kymo_err *err)
{
	struct svg *drawing = NULL;
	FILE *out = svg ? svg_open(&drawing, fd, err) : fdopen(fd, "w");
	int status;

	if (!out) {
		if (!svg)
			err_no_memory(err);
		close(fd);
		return -1;
	}
	status = dot_export(reader, out, options, result, err);
	if (!svg)
		return fclose(out) && !status ? err_set(err, KYMO_EXIT_FAILED, "cannot write the graph: %s",
							strerror(errno)) : status;
	if (svg_close(drawing, status ? NULL : err))
		status = -1;
	if (close(fd) && !status)
		status = err_set(err, KYMO_EXIT_FAILED, "cannot write the graph: %s", strerror(errno));
	return status;
}

static void summary(const struct kymo_ctf_reader *reader, const char *output,
		    const struct dot_result *result)
{
	answer_warn("export", reader, UINT_MAX);
	fprintf(stderr, "%s: %u callbacks and %u topics, %u of them marked as unexpected\n", export_shown(output), result->callbacks,
		result->topics, result->unexpected);
	if (!result->callbacks && !result->topics)
		fputs("Nothing of ROS 2 that was asked for is in this trace; `kymo info` shows what it holds, "
		      "and --format flamegraph draws spans of kymo.h.\n", stderr);
}

/* The traces are open; the graph of what was asked for goes to @output. */
static int draw(struct kymo_ctf_reader *reader, const struct export_request *request,
		const char *output, struct dot_options *options, struct dot_result *result,
		struct kymo_err *err)
{
	struct progress progress;
	int fd = open_output(output, request->force, err), status;

	if (fd < 0)
		return -1;
	progress_begin(&progress, request->quiet);
	progress_extent(&progress, reader);
	options->progress = progress_trace;
	options->context = &progress;
	status = write_graph(reader, request->format == EXPORT_SVG, fd, options, result, err);
	progress_clear(&progress);
	if (status && !export_is_stdout(output))
		export_remove(output); /* a part of it would look like the whole */
	return status;
}

int export_graph(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	struct dot_options options = {
		.title = request->name,
		.selection = &request->selection,
		.all_topics = request->all,
		.told_lost = cli_traces_lost(&request->traces, "export"),
	};
	char made[CLI_PATH_MAX + 16];
	const char *output = export_output(request, request->format == EXPORT_SVG ? ".svg" : ".dot", made);
	struct simclock *clock = NULL;
	struct kymo_ctf_reader *reader;
	struct dot_result result;
	struct align *align;
	int status = -1;

	if (cli_traces_open(&request->traces, request->quiet ? NULL : "export", &reader, &align, err))
		return -1;
	if (!request->quiet)
		cli_print_hosts("export", align);
	align_destroy(align);
	if (!cli_clock(request->times.clock, reader, request->traces.name, &clock, err) &&
	    !cli_read_window(reader, clock, &request->times, &options.begin_ns, &options.end_ns,
			     err))
		status = draw(reader, request, output, &options, &result, err);
	if (!status) {
		*lost = result.lost_events || result.lost_packets;
		if (!request->quiet)
			summary(reader, output, &result);
	}
	kymo_ctf_close(reader);
	simclock_free(clock);
	return status;
}
