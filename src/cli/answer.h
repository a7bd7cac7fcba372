/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a verb that reads a trace answers: a table on stdout, progress on stderr, what was lost, and its exit status.
 *
 *   struct answer answer;
 *   if (answer_begin(&answer, "why", reader, format, clock, &err)) ...
 *   options.progress = progress_trace, options.context = &answer.progress;
 *   status = answer_finish(&answer, why_run(..., answer.table, &answer.lost, &err), strict, &err);
 *   answer_warn("why", reader);
 *   return answer_end("why", status, &err);
 *
 * Context: not thread-safe; allocates and blocks.
 */
#ifndef KYMO_CLI_ANSWER_H
#define KYMO_CLI_ANSWER_H

#include <stdbool.h>

#include "analysis/simclock/simclock.h"
#include "base/err.h"
#include "base/table.h"
#include "cli/progress.h"
#include "ctf/read/reader.h"

struct answer {
	const char *verb;
	struct table *table;
	struct progress progress;	/* of reading; for progress_trace() */
	bool lost;			/* events were lost */
};

/**
 * answer_begin() - open a table for what @reader has to tell
 * @verb: lent
 * @format: enum table_format
 * @clock: that @reader was attached to, or NULL
 *
 * Return: 0, or -1 with @err: no memory.
 */
int answer_begin(struct answer *answer, const char *verb, const struct kymo_ctf_reader *reader, int format,
		 const struct simclock *clock, struct kymo_err *err);

/**
 * answer_finish() - the table is complete
 * @status: an exit status, or -1: it failed, with @err
 *
 * Return: the exit status: that of @err; KYMO_EXIT_LOSS when events were lost and @strict.
 */
int answer_finish(struct answer *answer, int status, bool strict, const struct kymo_err *err);

/** answer_warn() - what the reader forgave, on stderr: the first few. */
void answer_warn(const char *verb, const struct kymo_ctf_reader *reader);

/** answer_end() - the verb's last words on stderr. Return: its exit status, that of @err where it is filled. */
int answer_end(const char *verb, int status, const struct kymo_err *err);

#endif
