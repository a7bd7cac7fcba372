/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows from what programs only count (top/tallies.h), while nobody records: runs of callbacks
 * and timers, publish calls, spans. A trace with the names of the objects is read beside it.
 *
 * Windows begin at multiples of their length since the Unix epoch. What happens between the end of
 * a window and the next look counts in the window that ended.
 *
 * Context of all functions: one thread; allocate; block for the time of some system calls.
 */
#ifndef KYMO_SERVE_COUNTS_H
#define KYMO_SERVE_COUNTS_H

#include "base/err.h"
#include "summary/summary_windows.h"

struct serve_counts;

/** serve_counts_open() - what was counted before is not new. Return: 0, or -1 with @err. */
int serve_counts_open(struct serve_counts **counts, const struct summary_windows_options *options,
		      struct kymo_err *err);

/** serve_counts_close() - NULL is fine. */
void serve_counts_close(struct serve_counts *counts);

/** serve_counts_attach() - from now on @reader has the names; it has not given an event yet. NULL:
 * there are none. Return: 0, or -1 with @err. */
int serve_counts_attach(struct serve_counts *counts, struct kymo_ctf_reader *reader,
			struct kymo_err *err);

/** serve_counts_event() - the next event of the reader. Return: 0, or -1 with @err. */
int serve_counts_event(struct serve_counts *counts, const struct kymo_ctf_event *event,
		       struct kymo_err *err);

/** serve_counts_until() - look; the time is @ns, epoch: take the window if it is complete. Return:
 * 0, or -1 with @err. */
int serve_counts_until(struct serve_counts *counts, int64_t ns, struct kymo_err *err);

/** serve_counts_cut() - take what there is of the present window. Return: 0, or -1 with @err. */
int serve_counts_cut(struct serve_counts *counts, struct kymo_err *err);

#endif
