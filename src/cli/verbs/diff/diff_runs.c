/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/diff/diff_runs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/progress.h"
#include "cli/input/input_runs.h"
#include "cli/input/input_traces.h"
#include "cli/input/found.h"
#include "cli/input/kept.h"
#include "cli/verbs/ls/recordings.h"
#include "cli/verbs/store/store_dir.h"
#include "summary/summary_collect.h"
#include "summary/summary_file.h"

static int add(struct diff_runs *runs, const char *path, struct kymo_err *err)
{
	if (runs->count == COMPARE_RUNS_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "more than %u runs of one side",
			       COMPARE_RUNS_MAX);
	runs->path[runs->count] = strdup(path);
	if (!runs->path[runs->count])
		return err_no_memory(err);
	runs->count++;
	return 0;
}

static int add_file(void *context, const char *file, struct kymo_err *err)
{
	return add(context, file, err);
}

static int add_commit(struct diff_runs *runs, const struct store_commit *commit,
		      struct kymo_err *err)
{
	for (unsigned i = 0; i < commit->runs; i++)
		if (add(runs, commit->path[i], err))
			return -1;
	return 0;
}

/* A store without a commit stands for its newest one. */
static int find_newest(struct diff_runs *runs, const char *path, struct kymo_err *err)
{
	struct store_dir store;
	int rc = store_dir_read(&store, path, err);

	if (rc)
		return -1;
	if (store.count)
		rc = add_commit(runs, &store.commit[store.count - 1], err);
	else
		rc = err_set(err, KYMO_EXIT_INPUT, "the store %s has no commit", path);
	store_dir_free(&store);
	return rc;
}

int diff_runs_find_commit(struct diff_runs *runs, const char *path, const char *id,
			  struct kymo_err *err)
{
	const struct store_commit *commit;
	struct store_dir store;
	int rc;

	if (store_dir_read(&store, path, err))
		return -1;
	commit = store_dir_find(&store, path, id, err);
	rc = commit ? add_commit(runs, commit, err) : -1;
	store_dir_free(&store);
	return rc;
}

int diff_runs_find(struct diff_runs *runs, const char *operand, struct kymo_err *err)
{
	struct recordings found = { 0 };
	struct stat status;
	int rc = 0;

	if (stat(operand, &status) || !S_ISDIR(status.st_mode) || recording_is(operand))
		return add(runs, operand, err);
	if (store_dir_is(operand))
		return find_newest(runs, operand, err);
	rc = store_dir_summaries(operand, add_file, runs, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (recordings_find(&found, operand, err))
		return -1;
	/* They are newest first. */
	for (unsigned i = found.count; rc == 0 && i-- > 0;)
		rc = add(runs, found.item[i].path, err);
	if (rc == 0 && !found.count)
		rc = add(runs, operand,
			 err); /* not of kymo: the reader says whether it is a trace */
	recordings_free(&found);
	return rc;
}

/* The trace @path, of one recording. */
static int read_trace(struct summary *summary, const char *verb, const char *path,
		      struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	struct cli_traces traces;
	struct progress progress;
	struct pass_options options = { .progress = progress_trace, .context = &progress };
	struct align *align;
	int rc;

	cli_traces_one(&traces, path);
	if (cli_traces_open(&traces, verb, &reader, &align, err))
		return -1;
	rc = cli_one_run(verb, &traces, reader, err);
	if (rc == 0) {
		progress_begin(&progress, false);
		progress_extent(&progress, reader);
		rc = summary_of_trace(summary, reader, INT64_MIN, INT64_MAX, &options, err);
		progress_clear(&progress);
	}
	align_destroy(align);
	kymo_ctf_close(reader);
	return rc;
}

/* As it was when the trace was read before, or by reading it. */
static int summarize(struct summary **summary, const char *verb, const char *path,
		     struct kymo_err *err)
{
	static const struct cli_times all;
	struct cli_traces traces;
	struct found_keeper found;
	struct kept kept;
	size_t size;
	char *text;
	int status = 0;

	kept_open(&kept, "summary", &path, 1);
	text = kept_get(&kept, &size);
	*summary = text ? summary_get_exact(text) : NULL;
	free(text);
	if (!*summary) {
		cli_traces_one(&traces, path);
		found_open(&found, &traces, &all);
		*summary = summary_new();
		status = *summary ? read_trace(*summary, verb, path, err) : err_no_memory(err);
		text = status ? NULL : summary_put_exact(*summary, &size);
		if (text)
			kept_put(&kept, text, size);
		free(text);
		if (!status)
			found_put(&found, *summary);
		found_close(&found);
	}
	kept_close(&kept);
	return status;
}

static int read_one(struct summary **summary, const char *verb, const char *path,
		    struct kymo_err *err)
{
	*summary = NULL;
	if (summary_is_file(path))
		return summary_read(summary, path, err);
	if (summarize(summary, verb, path, err) == 0)
		return 0;
	summary_free(*summary);
	*summary = NULL;
	return err->text[0] ? err_wrap(err, "%s", path) : -1;
}

/*
 * Where the kernel's events have a gap, runs of callbacks have no own time; all else is complete.
 */
static bool has_losses(const struct summary *summary)
{
	const struct summary_trust *trust = &summary->trust;

	return trust->lost_events > trust->lost_kernel_events ||
	       trust->lost_packets > trust->lost_kernel_packets || trust->damaged;
}

static int read_rest(struct diff_runs *runs, const char *verb, struct kymo_err *err)
{
	for (; runs->read < runs->count; runs->read++) {
		runs->of[diff_runs_judged(runs)] = runs->read;
		if (read_one(&runs->summary[diff_runs_judged(runs)], verb, runs->path[runs->read],
			     err))
			return -1;
	}
	return 0;
}

/* Leaves out run @at of those that are judged. */
static void leave_out(struct diff_runs *runs, unsigned at)
{
	const struct summary_trust *trust = &runs->summary[at]->trust;
	const unsigned judged = diff_runs_judged(runs), path = runs->of[at];

	runs->judged[path] = has_losses(runs->summary[at]) ? DIFF_LOST : DIFF_PARTNER_LOST;
	runs->lost[path] = trust->lost_events - trust->lost_kernel_events;
	memmove(&runs->of[at], &runs->of[at + 1], (judged - at - 1) * sizeof(*runs->of));

	summary_free(runs->summary[at]);
	memmove(&runs->summary[at], &runs->summary[at + 1],
		(judged - at - 1) * sizeof(*runs->summary));
	runs->summary[judged - 1] = NULL;
	runs->left_out++;
}

unsigned diff_runs_left_out(const struct diff_runs *runs, bool is_new,
			    struct compare_left_out *out)
{
	unsigned count = 0;

	for (unsigned i = 0; i < runs->read; i++)
		if (runs->judged[i] != DIFF_JUDGED)
			out[count++] = (struct compare_left_out){
				.path = runs->path[i],
				.is_new = is_new,
				.is_partner = runs->judged[i] == DIFF_PARTNER_LOST,
				.events = runs->lost[i],
			};
	return count;
}

static int all_lost(unsigned count, struct kymo_err *err)
{
	return err_set(
		err, KYMO_EXIT_INPUT,
		"events were lost in all %u runs of a side; record again with larger buffers "
		"(--ring-size), or compare them nevertheless: --with-losses",
		count);
}

int diff_runs_read(struct diff_runs *runs, const char *verb, bool with_losses, struct kymo_err *err)
{
	if (read_rest(runs, verb, err))
		return -1;
	for (unsigned i = diff_runs_judged(runs); !with_losses && i-- > 0;)
		if (has_losses(runs->summary[i]))
			leave_out(runs, i);
	return diff_runs_judged(runs) ? 0 : all_lost(runs->count, err);
}

int diff_pairs_read(struct diff_runs *base, struct diff_runs *new, const char *verb,
		    bool with_losses, struct kymo_err *err)
{
	if (read_rest(base, verb, err) || read_rest(new, verb, err))
		return -1;
	for (unsigned i = diff_runs_judged(base); !with_losses && i-- > 0;)
		if (has_losses(base->summary[i]) || has_losses(new->summary[i])) {
			leave_out(base, i);
			leave_out(new, i);
		}
	return diff_runs_judged(base) ? 0 : all_lost(base->count, err);
}

int diff_runs_fold(struct diff_runs *runs, struct kymo_err *err)
{
	for (unsigned i = 0; i < diff_runs_judged(runs); i++) {
		struct summary *folded;

		if (!summary_has_alike(runs->summary[i]))
			continue;
		folded = summary_folded(runs->summary[i]);
		if (!folded)
			return err_no_memory(err);
		summary_free(runs->summary[i]);
		runs->summary[i] = folded;
	}
	return 0;
}

int diff_runs_alike(const struct diff_runs *base, const struct diff_runs *runs,
		    struct kymo_err *err)
{
	char text[640];

	for (unsigned i = 0; i < diff_runs_judged(runs); i++)
		if (summary_machine_differs(base->summary[0], runs->summary[i], text, sizeof(text)))
			return err_set(err, KYMO_EXIT_INPUT,
				       "the machines of the runs differ (%s), so a difference may "
				       "be the machine's; to compare them nevertheless: --anyway",
				       text);
	return 0;
}

void diff_runs_free(struct diff_runs *runs)
{
	for (unsigned i = 0; i < runs->count; i++)
		free(runs->path[i]);
	for (unsigned i = 0; i < diff_runs_judged(runs); i++)
		summary_free(runs->summary[i]);
	*runs = (struct diff_runs){ 0 };
}
