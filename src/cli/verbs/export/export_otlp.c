/* SPDX-License-Identifier: Apache-2.0 */
/* The windows of a trace as OTLP: three files of a line of JSON for each window. See export.h. */
#include "cli/verbs/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "config/config.h"
#include "fleet/otlp/otlp.h"
#include "summary/summary_windows.h"

struct job {
	const struct export_request *request;
	struct otlp_of of;
	int64_t length_ns;
	FILE *out[OTLP_SIGNALS];
	char path[OTLP_SIGNALS][CLI_PATH_MAX + 32];
	uint64_t windows, count[OTLP_SIGNALS], lost;
};

static int put_window(struct job *job, enum otlp_signal signal, const struct summary *summary,
		      int64_t begin_ns, struct kymo_err *err)
{
	struct pb pb = { 0 };
	const unsigned count = otlp_put(&pb, signal, &job->of, summary, begin_ns,
					begin_ns + job->length_ns);
	char *json = NULL;
	size_t size = 0;
	int status = 0;

	if (!pb.failed && count)
		json = otlp_json(signal, pb.data, pb.size, &size);
	if (pb.failed || (count && !json))
		status = err_no_memory(err);
	else if (count && (fwrite(json, 1, size, job->out[signal]) != size ||
			   putc('\n', job->out[signal]) == EOF))
		status = export_unwritable(job->path[signal], err);
	job->count[signal] += count;
	free(json);
	pb_free(&pb);
	return status;
}

static int on_window(void *context, const struct summary *summary, int64_t begin_ns,
		     struct kymo_err *err)
{
	struct job *job = context;

	job->windows++;
	job->lost += summary->trust.lost_events + summary->trust.lost_packets;
	for (unsigned i = 0; i < OTLP_SIGNALS; i++)
		if (put_window(job, i, summary, begin_ns, err))
			return -1;
	return 0;
}

static int open_files(struct job *job, const char *directory, struct kymo_err *err)
{
	struct stat status;

	if (mkdir(directory, 0777) && errno != EEXIST)
		return export_unwritable(directory, err);
	for (unsigned i = 0; i < OTLP_SIGNALS; i++) {
		snprintf(job->path[i], sizeof(job->path[i]), "%s/%s.jsonl", directory,
			 otlp_path(i));
		if (!job->request->force && !lstat(job->path[i], &status))
			return cli_exists(job->path[i], err);
		job->out[i] = fopen(job->path[i], "we");
		if (!job->out[i])
			return export_unwritable(job->path[i], err);
	}
	return 0;
}

static int close_files(struct job *job, bool complete, struct kymo_err *err)
{
	int status = 0;

	for (unsigned i = 0; i < OTLP_SIGNALS; i++) {
		if (job->out[i] && fclose(job->out[i]) && !status && complete)
			status = export_unwritable(job->path[i], err);
		if (job->out[i] && !complete)
			export_remove(job->path[i]);
	}
	return status;
}

static int check(const struct export_request *request, struct kymo_err *err)
{
	if (request->times.begin || request->times.end || request->times.clock ||
	    selection_any(&request->selection))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--format otlp has all of a trace: leave out --begin, --end, --clock, "
			       "--node, --topic and --process");
	if (request->window_ns && request->window_ns < SUMMARY_WINDOWS_LEAST_NS)
		return err_set(err, KYMO_EXIT_USAGE, "--window must be at least 100ms");
	if (request->output && export_is_stdout(request->output))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--format otlp writes three files; name a directory with -o");
	return 0;
}

static int write_all(struct job *job, const struct config *config, const char *output,
		     struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	const struct summary_windows_options options = { .length_ns = job->length_ns,
							 .take = on_window,
							 .context = job };
	int status;

	export_source(job->request, config, reader, &job->of.source);
	job->of.config = config;
	status = open_files(job, output, err) ||
		 export_each_window(job->request, reader, &options, err);
	if (close_files(job, !status, err))
		status = -1;
	return status ? -1 : 0;
}

int export_otlp(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	char made_up[CLI_PATH_MAX + 16], clean[4096];
	const char *output = export_output(request, "-otlp", made_up);
	struct kymo_ctf_reader *reader;
	struct config *config = NULL;
	struct job job = { .request = request,
			   .of = { .version = KYMO_VERSION },
			   .length_ns =
				   request->window_ns ? request->window_ns : EXPORT_WINDOW_NS };
	int status;

	if (check(request, err) || config_read(&config, NULL, err))
		return -1;
	if (kymo_ctf_open_all(request->traces.path, request->traces.count, &reader, err)) {
		config_free(config);
		return -1;
	}
	status = write_all(&job, config, output, reader, err);
	if (!status && !request->quiet) {
		text_clean(clean, sizeof(clean), output);
		fprintf(stderr,
			"%s: %" PRIu64 " points of metrics, %" PRIu64 " spans, %" PRIu64
			" log records of %" PRIu64 " %s\n",
			clean, job.count[OTLP_METRICS], job.count[OTLP_TRACES],
			job.count[OTLP_LOGS], job.windows, job.windows == 1 ? "window" : "windows");
	}
	*lost = job.lost;
	kymo_ctf_close(reader);
	config_free(config);
	return status;
}
