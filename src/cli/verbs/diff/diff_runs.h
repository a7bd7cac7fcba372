/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a side of `kymo diff`: what its operands name, each read into a summary. */
#ifndef KYMO_CLI_DIFF_RUNS_H
#define KYMO_CLI_DIFF_RUNS_H

#include <stdbool.h>

#include "base/err.h"
#include "compare/compare.h"
#include "compare/compare_print.h"
#include "summary/summary.h"

/* Is a run judged? */
enum diff_judged { DIFF_JUDGED, DIFF_LOST, DIFF_PARTNER_LOST };

struct diff_runs {
	char *path[COMPARE_RUNS_MAX];
	struct summary *summary[COMPARE_RUNS_MAX]; /* of those that are judged */
	unsigned count;
	unsigned read;     /* the first of them, by path */
	unsigned left_out; /* of those: because events were lost in them */
	enum diff_judged judged[COMPARE_RUNS_MAX]; /* by path, as are ... */
	uint64_t lost[COMPARE_RUNS_MAX];	   /* ... events that were lost in it */
	unsigned of[COMPARE_RUNS_MAX];		   /* by summary: which path */
};

/** diff_runs_judged() - how many summaries there are. */
static inline unsigned diff_runs_judged(const struct diff_runs *runs)
{
	return runs->read - runs->left_out;
}

/**
 * diff_runs_find() - add the runs that @operand names: a trace, a summary, all summaries of a
 * directory, all recordings of one, oldest first, or the newest commit of a store
 *
 * Return: 0, or -1 with @err: nothing is there.
 */
int diff_runs_find(struct diff_runs *runs, const char *operand, struct kymo_err *err);

/** diff_runs_find_commit() - add the runs of commit @id of the store @path. Return: 0, or -1 with
 * @err. */
int diff_runs_find_commit(struct diff_runs *runs, const char *path, const char *id,
			  struct kymo_err *err);

/**
 * diff_runs_read() - read the runs that were not read yet into summaries; those in which events
 * were lost are left out unless @with_losses
 * @verb: "diff", for what is printed while they are read
 *
 * Context: blocks; shows progress on stderr. Return: 0, or -1 with @err.
 */
int diff_runs_read(struct diff_runs *runs, const char *verb, bool with_losses,
		   struct kymo_err *err);

/**
 * diff_pairs_read() - the same for two sides of pairs: if events were lost in one run of a pair,
 * both are left out
 */
int diff_pairs_read(struct diff_runs *base, struct diff_runs *new, const char *verb,
		    bool with_losses, struct kymo_err *err);

/** diff_runs_fold() - what is alike in a run but for its process becomes one. Return: 0, or -1 with
 * @err. */
int diff_runs_fold(struct diff_runs *runs, struct kymo_err *err);

/**
 * diff_runs_alike() - was all of @runs recorded on a machine like that of the first of @base?
 *
 * Return: 0; -1 with @err (KYMO_EXIT_INPUT), which names what differs, and --anyway.
 */
int diff_runs_alike(const struct diff_runs *base, const struct diff_runs *runs,
		    struct kymo_err *err);

/**
 * diff_runs_left_out() - those that are not judged, in order. @out: [left_out]. Return: how many.
 */
unsigned diff_runs_left_out(const struct diff_runs *runs, bool is_new,
			    struct compare_left_out *out);
void diff_runs_free(struct diff_runs *runs);

#endif
