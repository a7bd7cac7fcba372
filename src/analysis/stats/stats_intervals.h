/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of regularity and load: the publications of each callback, the time from the take of a
 * message to its callback, the regularity of starts and publications, and the load of threads and
 * nodes. Memory depends on the number of objects, not of events.
 *
 * Definitions
 *   interval     time from one start of a callback, or one publication on a topic, to the next
 *                one. The first one inside the window, and after a pause of the recorder, has
 *                no interval
 *   idle         time from the end of one run of a callback to the start of its next one
 *   take         rmw_take (or the dequeue) until callback_start
 *   busy         time covered by runs of callbacks. A nested run (user code that spins) counts for
 *                its own callback and node, not for the outer one's
 */
#ifndef KYMO_ANALYSIS_INTERVALS_H
#define KYMO_ANALYSIS_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "base/histogram.h"

struct intervals;

struct intervals_series {
	struct histogram interval;
	int64_t last_ns; /* 0: none yet */
};

#define INTERVALS_RECENT 4u

/* Publications through one publisher by runs of one callback. */
struct intervals_publications {
	const struct model_callback *callback;	/* NULL: outside of callbacks */
	const struct model_publisher *publisher;
	uint64_t count;			/* publish calls */
	uint64_t runs;			/* runs with at least one publication */
	uint64_t most;			/* most in one run */
	struct histogram delay;		/* callback_start until the publish call */
	/* The latest runs; a reentrant callback may have several runs in progress. */
	struct { uint64_t run, count; } recent[INTERVALS_RECENT];
	unsigned recent_next;
	struct intervals_publications *next;
};

struct intervals_busy {
	uint64_t runs;
	int64_t busy_ns;		/* inside the window */
	int64_t longest_ns;		/* the longest run, without nested runs */
};

/**
 * intervals_create() - listen to @model
 * @begin_ns, @end_ns: only events that begin in [begin, end] count; of runs, the part inside
 *
 * Context: allocates as objects appear. Return: 0, or -1 with @err filled.
 */
int intervals_create(struct intervals **intervals, struct model *model, int64_t begin_ns,
		     int64_t end_ns, struct kymo_err *err);
void intervals_destroy(struct intervals *intervals);

/* By index of the object; zeroed when nothing happened to it. */
const struct intervals_series *intervals_callback(const struct intervals *intervals,
						  unsigned index);
const struct intervals_series *intervals_topic(const struct intervals *intervals, unsigned index);
const struct histogram *intervals_idle(const struct intervals *intervals, unsigned callback);
const struct histogram *intervals_take(const struct intervals *intervals, unsigned callback);
const struct intervals_busy *intervals_thread(const struct intervals *intervals, unsigned index);
const struct intervals_busy *intervals_node(const struct intervals *intervals, unsigned index);
const struct intervals_busy *intervals_executor(const struct intervals *intervals, unsigned index);

unsigned intervals_publications_count(const struct intervals *intervals);
const struct intervals_publications *intervals_publications(const struct intervals *intervals,
							     unsigned index);

/** intervals_span() - length of the window, limited to the trace; 0: the trace has no events. */
int64_t intervals_span(const struct intervals *intervals);

bool intervals_failed(const struct intervals *intervals);

/* For pass_add(). */
extern const struct pass_ops intervals_pass;

#endif
