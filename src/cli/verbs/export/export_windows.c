/* SPDX-License-Identifier: Apache-2.0 */
/* The windows of a summary, as Parquet files for a fleet. See export.h. */
#include "cli/verbs/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/progress.h"
#include "config/config.h"
#include "fleet/window/window.h"
#include "summary/summary_windows.h"

#define DATE_MAX sizeof("2026-11-24")

struct job {
	const struct export_request *request;
	const char *output;
	bool one_file;
	struct window_source source;
	char robot[256]; /* as a part of a path */
	int64_t length_ns;
	uint64_t windows, rows, lost;

	char date[DATE_MAX]; /* of the file that is open */
	char path[2 * CLI_PATH_MAX];
	bool is_new;
	FILE *out;
	struct window_file *file;
};

/* ---- where to ---- */

static int make_directories(char *path, struct kymo_err *err)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(path, 0777) && errno != EEXIST)
			return export_unwritable(path, err);
		*slash = '/';
	}
	return 0;
}

static int open_file(struct job *job, struct kymo_err *err)
{
	struct stat status;

	if (job->one_file) {
		snprintf(job->path, sizeof(job->path), "%s", job->output);
	} else {
		const int length =
			snprintf(job->path, sizeof(job->path), "%s/date=%s/robot=%s/%s.parquet",
				 job->output, job->date, job->robot, job->request->name);

		if (length >= (int)sizeof(job->path))
			return err_set(err, KYMO_EXIT_FAILED, "the path '%.100s...' is too long",
				       job->path);
		if (make_directories(job->path, err))
			return -1;
	}
	if (export_is_stdout(job->path)) {
		job->out = stdout;
	} else {
		if (!job->request->force && !lstat(job->path, &status))
			return cli_exists(job->path, err);
		job->out = fopen(job->path, "we");
		if (!job->out)
			return export_unwritable(job->path, err);
		job->is_new = true;
	}
	if (job->request->format == EXPORT_ROWBINARY)
		return 0;
	return window_file_create(&job->file, job->out, KYMO_VERSION, err);
}

static int close_file(struct job *job, bool complete, struct kymo_err *err)
{
	int status = complete ? 0 : -1;

	if (complete)
		status = window_file_close(job->file, err);
	else
		window_file_drop(job->file);
	if (job->out && (job->out == stdout ? fflush(stdout) : fclose(job->out)) && !status)
		status = export_unwritable(job->path, err);
	if (status && job->is_new)
		export_remove(job->path);
	job->file = NULL;
	job->out = NULL;
	job->is_new = false;
	return status;
}

static int choose_file(struct job *job, int64_t begin_ns, struct kymo_err *err)
{
	const time_t seconds = (time_t)(begin_ns / 1000000000);
	char date[DATE_MAX] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	if (job->out && (job->one_file || !strcmp(date, job->date)))
		return 0;
	if (close_file(job, true, err))
		return -1;
	snprintf(job->date, sizeof(job->date), "%s", date);
	return open_file(job, err);
}

/* ---- windows ---- */

static int put_row(void *context, const struct window_row *row, struct kymo_err *err)
{
	struct job *job = context;

	job->rows++;
	if (job->request->format == EXPORT_ROWBINARY)
		return window_rowbinary_put(job->out, row, err);
	return window_file_put(job->file, row, err);
}

static int on_window(void *context, const struct summary *summary, int64_t begin_ns,
		     struct kymo_err *err)
{
	struct job *job = context;

	if (choose_file(job, begin_ns, err))
		return -1;
	job->windows++;
	job->lost += summary->trust.lost_events + summary->trust.lost_packets;
	return window_rows(summary, &job->source, begin_ns, job->length_ns, WINDOW_SCALE, put_row,
			   job, err);
}

int export_each_window(const struct export_request *request, struct kymo_ctf_reader *reader,
		       const struct summary_windows_options *options, struct kymo_err *err)
{
	struct summary_windows *windows;
	struct progress progress;
	int status;

	if (summary_windows_create(&windows, reader, options, err))
		return -1;
	progress_begin(&progress, request->quiet);
	progress_extent(&progress, reader);
	status = summary_windows_read(windows, progress_trace, &progress, err);
	progress_clear(&progress);
	summary_windows_free(windows);
	return status;
}

static int check(const struct job *job, struct kymo_err *err)
{
	if (job->request->table.count > 1)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--table fleet_windows is not one of the tables of `kymo query`; "
			       "export it alone");
	if (job->request->times.begin || job->request->times.end || job->request->times.clock ||
	    selection_any(&job->request->selection))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--table fleet_windows has all of a trace: leave out --begin, "
			       "--end, --clock, "
			       "--node, --topic and --process, and choose rows in SQL");
	if (job->length_ns < SUMMARY_WINDOWS_LEAST_NS)
		return err_set(err, KYMO_EXIT_USAGE, "--window must be at least 100ms");
	if (export_is_stdout(job->output) && isatty(STDOUT_FILENO))
		return err_set(
			err, KYMO_EXIT_USAGE,
			"cannot write a binary file to a terminal; choose a file with -o, or "
			"redirect standard output");
	return 0;
}

/*
 * The trace may be of another robot than this one: only what the file sets itself is a name of it.
 */
void export_source(const struct export_request *request, const struct config *config,
		   const struct kymo_ctf_reader *reader, struct window_source *source)
{
	const struct kymo_ctf_trace_info *trace = kymo_ctf_trace(reader, 0);

	*source = (struct window_source){
		.robot = config_is_set(config, "robot") ? config->robot : trace->hostname,
		.boot = config_is_set(config, "boot") ? config->boot : trace->clock_id,
		.software = request->software ? request->software : config->software,
		.labels = config->labels_json,
	};
	if (request->robot)
		source->robot = request->robot;
}

int export_windows(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	char made_up[CLI_PATH_MAX + 16], clean[4096];
	struct config *config = NULL;
	struct kymo_ctf_reader *reader;
	struct job job = { .request = request,
			   .output = export_output(request, "-windows", made_up),
			   .length_ns =
				   request->window_ns ? request->window_ns : EXPORT_WINDOW_NS };
	int status;

	if (request->format == EXPORT_ROWBINARY && !request->output)
		job.output = "-";
	job.one_file = request->format == EXPORT_ROWBINARY || export_is_stdout(job.output) || text_ends_with(job.output, ".parquet");
	if (check(&job, err) || config_read(&config, NULL, err) ||
	    kymo_ctf_open_all(request->traces.path, request->traces.count, &reader, err)) {
		config_free(config);
		return -1;
	}
	export_source(request, config, reader, &job.source);
	text_path_word(job.robot, sizeof(job.robot), job.source.robot);
	status = export_each_window(
		request, reader,
		&(struct summary_windows_options){
			.length_ns = job.length_ns, .take = on_window, .context = &job },
		err);
	/* A trace without events has a file without rows. */
	if (!status && !job.out && job.one_file)
		status = open_file(&job, err);
	if (close_file(&job, !status, status ? NULL : err))
		status = -1;
	if (!status && !request->quiet) {
		text_clean(clean, sizeof(clean), export_shown(job.output));
		fprintf(stderr, "%s: %" PRIu64 " rows of %" PRIu64 " %s\n", clean, job.rows,
			job.windows, job.windows == 1 ? "window" : "windows");
	}
	*lost = job.lost;
	config_free(config);
	kymo_ctf_close(reader);
	return status;
}
