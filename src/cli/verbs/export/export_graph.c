/* SPDX-License-Identifier: Apache-2.0 */
/* See export_graph.h. */
#include "cli/verbs/export/export_graph.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/progress.h"
#include "cli/input/trace_time.h"
#include "ctf/read/reader.h"
#include "export/graph/dot.h"

static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

static int open_output(const struct export_graph *request, const char *path, struct kymo_err *err)
{
	int fd, keep = request->force ? O_TRUNC : O_EXCL;

	if (is_stdout(path))
		return dup(STDOUT_FILENO);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | keep, 0666);
	if (fd < 0 && errno == EEXIST)
		return err_set(err, KYMO_EXIT_FAILED, "%s is there already; name another file with -o, or "
			       "overwrite it with --force.", path);
	if (fd < 0)
		return err_set(err, KYMO_EXIT_FAILED, "%s cannot be written: %s; name another file "
			       "with -o.", path, strerror(errno));
	return fd;
}

/* Into the file, or into graphviz that writes the file. Closes @fd. */
static int write_graph(struct kymo_ctf_reader *reader, bool svg, int fd, const struct dot_options *options,
		       struct dot_result *result, struct kymo_err *err)
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
		return fclose(out) && !status ? err_set(err, KYMO_EXIT_FAILED, "Writing failed: %s.",
							strerror(errno)) : status;
	if (svg_close(drawing, status ? NULL : err))
		status = -1;
	if (close(fd) && !status)
		status = err_set(err, KYMO_EXIT_FAILED, "Writing failed: %s.", strerror(errno));
	return status;
}

static void tell(const struct kymo_ctf_reader *reader, const char *output, const struct dot_result *result)
{
	for (unsigned i = 0; i < kymo_ctf_warning_count(reader); i++)
		fprintf(stderr, "kymo export: warning: %s\n", kymo_ctf_warning(reader, i));
	fprintf(stderr, "%s: %u callbacks and %u topics, %u of them marked as unexpected\n",
		is_stdout(output) ? "standard output" : output, result->callbacks, result->topics,
		result->unexpected);
	if (!result->callbacks && !result->topics)
		fputs("There is nothing of ROS 2 in this trace that was asked for; `kymo info` says what "
		      "is.\n", stderr);
}

int export_graph(const struct export_graph *request, bool *lost, struct kymo_err *err)
{
	struct dot_options options = {
		.title = request->name,
		.selection = request->selection,
		.all_topics = request->all,
		.begin_ns = INT64_MIN,
		.end_ns = INT64_MAX,
		.told_lost = cli_traces_lost(request->traces, "export"),
	};
	char made[CLI_PATH_MAX + sizeof(".dot")];
	const char *output = request->output ? request->output : made;
	struct dot_result result;
	struct progress progress;
	struct simclock *clock = NULL;
	struct kymo_ctf_reader *reader;
	struct align *align;
	int fd, status = -1;

	snprintf(made, sizeof(made), "%s.%s", request->name, request->svg ? "svg" : "dot");
	if (cli_traces_open(request->traces, request->quiet ? NULL : "export", &reader, &align, err))
		return -1;
	if (!request->quiet)
		cli_tell_hosts("export", align);
	align_destroy(align);
	if (!cli_clock(request->clock, reader, request->traces->name, &clock, err) &&
	    !cli_read_window(reader, clock, request->begin, request->end, &options.begin_ns,
			    &options.end_ns, err)) {
		fd = open_output(request, output, err);
		if (fd >= 0) {
			progress_begin(&progress, request->quiet);
			progress_extent(&progress, reader);
			options.progress = progress_trace;
			options.context = &progress;
			status = write_graph(reader, request->svg, fd, &options, &result, err);
			progress_clear(&progress);
			if (status && !is_stdout(output))
				(void)unlink(output);	/* a part of it would look like the whole */
		}
	}
	if (!status) {
		*lost = result.lost_events || result.lost_packets;
		if (!request->quiet)
			tell(reader, output, &result);
	}
	kymo_ctf_close(reader);
	simclock_free(clock);
	return status;
}
