/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of what runs, or of a trace. Running programs are read as `kymo top` reads them: beside a
 * recorder, or recorded into memory (top/taking.h).
 *
 * Context of all functions: one thread; allocate and block.
 */
#ifndef KYMO_SERVE_SOURCE_H
#define KYMO_SERVE_SOURCE_H

#include "base/err.h"
#include "summary/summary_windows.h"

struct serve_source;

struct serve_source_options {
	const char *trace;   /* NULL: running programs */
	const char *version; /* of kymo */
	bool counts; /* programs that nobody records only count: windows without durations */
	int64_t sample_ns;   /* but of each window they are recorded so long; 0: never */
	int64_t window_ns;
	unsigned entities_max, objects_max; /* of each kind; summary_limit.h, model_limit() */
	/* Called with each window; @begin_ns: epoch. Those that are cut come in parts. Return: 0,
	 * or -1 with @err. */
	int (*take)(void *context, const struct summary *summary, int64_t begin_ns,
		    int64_t length_ns, struct kymo_err *err);
	void *context;
};

/** serve_source_open() - Return: 0, or -1 with @err. Context: forks with running programs: before
 * threads begin. */
int serve_source_open(struct serve_source **source, const struct serve_source_options *options,
		      struct kymo_err *err);

/** serve_source_read() - what is new, for some ms at most. Return: 1: there is more; 0: not now; -1
 * with @err. */
int serve_source_read(struct serve_source *source, struct kymo_err *err);

/** serve_source_note() - why programs can't be read at the moment; "". */
const char *serve_source_note(const struct serve_source *source);

/** serve_source_is_over() - of a trace that nobody writes: all was read, and its windows were
 * taken. */
bool serve_source_is_over(const struct serve_source *source);

/** serve_source_end() - take what is left. Return: 0, or -1 with @err. */
int serve_source_end(struct serve_source *source, struct kymo_err *err);

/** serve_source_close() - programs are as before. NULL is fine. */
void serve_source_close(struct serve_source *source);

#endif
