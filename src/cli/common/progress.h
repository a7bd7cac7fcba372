/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of long work: a bar with the rate on stderr, only on a terminal and only if the work
 * takes longer than a moment.
 *
 *   struct progress progress;
 *   progress_begin(&progress, quiet);
 *   progress_show(&progress, events, done);	as often as you like
 *   progress_clear(&progress);			before anything else is printed
 *
 * Context: not thread-safe; progress_show() reads the clock.
 */
#ifndef KYMO_CLI_PROGRESS_H
#define KYMO_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/read/reader.h"

struct progress {
	bool on;
	bool visible;
	int64_t begun_ns, shown_ns;
	uint64_t first_ns, last_ns;	/* of a trace, on its clock */
};

/** progress_begin() - @quiet: show nothing, as if stderr were not a terminal. */
void progress_begin(struct progress *progress, bool quiet);

/**
 * progress_show() - @events are done so far, which are the part @done (0..1) of all
 * @done: 0 if that is not known: then there is no bar
 */
void progress_show(struct progress *progress, uint64_t events, double done);

/** progress_extent() - the work is to read @reader to its end. */
void progress_extent(struct progress *progress, const struct kymo_ctf_reader *reader);

/**
 * progress_trace() - progress_show() while a trace is read; with 0 events, progress_clear()
 * @context: a struct progress that progress_extent() knows
 * @clock_ns: time of the last event, on the trace's clock
 */
void progress_trace(void *context, uint64_t events, uint64_t clock_ns);

/** progress_clear() - remove the line. */
void progress_clear(struct progress *progress);

#endif
