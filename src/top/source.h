/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where `kymo top` has its events from: running programs (taking.h), a trace directory (follow.h),
 * or a relay's session (live/live.h).
 */
#ifndef KYMO_TOP_SOURCE_H
#define KYMO_TOP_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "top/board.h"
#include "top/top.h"

enum source_kind {
	SOURCE_ALONE,    /* running programs, and nobody else records */
	SOURCE_COUNTING, /* running programs that only count */
	SOURCE_BESIDE,   /* running programs, which a recorder records */
	SOURCE_GROWING,  /* a trace that somebody writes */
	SOURCE_COMPLETE, /* a trace */
	SOURCE_RELAY,
};

struct source;

/** source_open() - Return: 0; -1 with @err. Context: forks with running programs: call it before
 * threads begin. */
int source_open(struct source **source, const struct top_options *options, struct kymo_err *err);

/** source_close() - programs are as before. NULL is fine. */
void source_close(struct source *source);

/**
 * source_run() - read events onto source_board(), until @step says so, or SIGINT or SIGTERM arrives
 * @step: called some times in 100 ms, also when the source has ended. Return: 0: go on; 1: end; -1
 * with @err.
 *
 * Return: 0; -1 with @err.
 */
int source_run(struct source *source, int (*step)(void *context, struct kymo_err *err),
	       void *context, struct kymo_err *err);

/** source_count() - running programs that nobody records count from now on, or else record. Has no
 * effect on others. */
void source_count(struct source *source, bool counts);

struct board *source_board(const struct source *source);
enum source_kind source_kind(const struct source *source);

/** source_name() - "running programs", or the trace or session; of SOURCE_BESIDE where the recorder
 * writes. */
const char *source_name(const struct source *source);

/** source_path() - of a trace directory with what is shown; NULL: there is none, or not any more.
 */
const char *source_path(const struct source *source);

/** source_until() - up to this time, epoch, events were read; 0: nothing yet. */
int64_t source_until(const struct source *source);

/** source_is_over() - nothing more will come. */
bool source_is_over(const struct source *source);

/** source_note() - something that the user should know: "waiting for a trace: ..."; "". */
const char *source_note(const struct source *source);

#endif
