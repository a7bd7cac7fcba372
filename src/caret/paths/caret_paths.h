/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CARET's latencies of a path: from the publication at its beginning to the callback at its end,
 * over nodes and topics in turn. The definitions are CARET's; see docs/caret.md. The time is n log
 * n in the number of messages on the path.
 *
 *   response time of an input, which ended in an output (or was overtaken by a later input)
 *     all                    each input
 *     best                   for each output its latest input
 *     worst                  for each output its earliest input
 *     worst with external    for each output, from the input before its earliest one: an event that
 *                            just missed that input waits for the next one
 *
 * Memory: 32 bytes per publication and delivery of the topics on the paths, and per callback run of
 * the nodes between them, while reading; 16 bytes per message and hop when computing.
 *
 * Context of all functions: not thread-safe; caret_create(), the pass and caret_finish() allocate;
 * the others only look up. None blocks.
 */
#ifndef KYMO_ANALYSIS_CARET_H
#define KYMO_ANALYSIS_CARET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "caret/paths/architecture.h"
#include "caret/paths/caret_records.h"

enum caret_case {
	CARET_ALL,
	CARET_BEST,
	CARET_WORST,
	CARET_WORST_WITH_EXTERNAL,
	CARET_CASES
};

struct caret_options {
	const struct architecture *architecture;	/* outlives it */
	const struct arch_path *const *path;		/* of it; outlive it */
	unsigned paths;
	bool first_callback; /* begin at the start of the callback that publishes, not at the
				publication */
	int64_t begin_ns,
		end_ns;     /* what begins outside is left out; INT64_MIN, INT64_MAX: no limit */
	bool last_callback; /* end at the end of the last callback, not at its start */
};

struct caret_response {
	int64_t start_ns;
	int64_t value_ns;
};

struct caret_path {
	const struct arch_path *path;
	const char *problem;    /* why it has no rows; NULL: it has some */
	struct records records; /* a row for each message, a column for each place; the first is the
				   beginning, the last the end */
	const char **column;    /* what the segment from this column to the next is: a topic, or
				 * a callback; columns - 1 of them */
	const struct model_process **process;	/* for each column: whose clock its times are of */
	size_t complete;		/* rows that have an end */
	size_t reversed;		/* rows left out because they end before they begin */
	struct caret_response *response[CARET_CASES];	/* in order of start */
	size_t count[CARET_CASES];
	/*
	 * For each case the times of the columns, a row for each message. CARET_WORST_WITH_EXTERNAL
	 * has one more column in front: the latest input of the output before.
	 */
	struct records stack[CARET_CASES];
};

struct caret;

/** caret_create() - gather events from @model. Return: 0; -1 with @err. */
int caret_create(struct caret **caret, struct model *model, const struct caret_options *options,
		 struct kymo_err *err);

/** caret_finish() - compute the paths, after model_finish(). Return: 0; -1 with @err: no memory;
 * then no path may be used. */
int caret_finish(struct caret *caret, struct kymo_err *err);

unsigned caret_path_count(const struct caret *caret);
/** caret_path() - in the order of the options. @index: below caret_path_count(). */
const struct caret_path *caret_path(const struct caret *caret, unsigned index);
void caret_destroy(struct caret *caret);

/**
 * caret_path_error() - the possible error of the time from column @from to column @to of @path, at
 * about @ns
 *
 * Return: ns; 0: the same host; KYMO_CTF_ERROR_UNKNOWN: the clocks of the two hosts cannot be
 * compared.
 */
int64_t caret_path_error(const struct caret_path *path, unsigned from, unsigned to, int64_t ns);

/** caret_case_name() - "all", "best", "worst", "worst-with-external-latency". */
const char *caret_case_name(enum caret_case which);

/* For pass_add(). */
extern const struct pass_ops caret_pass;

#endif
