/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same numbers over time instead of in total: for each window of the trace, what each callback
 * did and how late the messages of each topic were. Memory depends on the number of objects, not on
 * events or windows.
 *
 * Definitions
 *   window    windows of one length follow each other, the first one begins at the first event. The
 *             last one ends at the last event
 *   values    of a callback: durations of the runs that ended in the window; of a topic: latencies
 *             (see stats.h) of the messages whose callback started in it
 *   busy      the part of all runs of the callback that lies inside the window, also of runs that
 *             began before it or end after it
 *
 * A callback or topic has a row in each window from its first event on, so that it can be seen when
 * it stops. Windows without any event have no rows, except of callbacks that run throughout them.
 */
#ifndef KYMO_ANALYSIS_STATS_WINDOWS_H
#define KYMO_ANALYSIS_STATS_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "base/histogram.h"

#define WINDOWS_LENGTH_NS 1000000000ll /* the usual length */
#define WINDOWS_SHORTEST_NS 1000000ll

struct windows_row {
	int64_t begin_ns, end_ns;              /* end_ns > begin_ns */
	const struct model_callback *callback; /* one of these two */
	const struct model_topic *topic;
	uint64_t count;                 /* runs that ended; messages that were published */
	int64_t busy_ns;                /* of a callback */
	const struct histogram *values; /* valid during the call */
};

typedef void windows_report(void *context, const struct windows_row *row);

struct windows;

/**
 * windows_create() - listen to @model
 * @length_ns: of a window, at least WINDOWS_SHORTEST_NS
 * @report: receives the rows of a window when it is over: callbacks first, in order of their index
 *
 * Context: allocates as objects appear. Return: 0, or -1 with @err.
 */
int windows_create(struct windows **windows, struct model *model, int64_t length_ns,
		   windows_report *report, void *context, struct kymo_err *err);
void windows_destroy(struct windows *windows);

/** windows_advance() - the next event of the trace is of @ns; call it before model_event(). */
void windows_advance(struct windows *windows, int64_t ns);

/** windows_finish() - the trace is over: report the last window. */
void windows_finish(struct windows *windows);

/** windows_failed() - did memory run out? The results are incomplete then. */
bool windows_failed(const struct windows *windows);

#endif
