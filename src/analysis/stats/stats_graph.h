/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of callbacks and topics: which callback publishes on which topic, and which callbacks receive those
 * messages; with durations, rates, latencies, and what is unexpected.
 *
 *   callback --publishes--> topic --is delivered--> callback
 *
 * Built on stats.h and stats_intervals.h, which it creates. Memory depends on the number of objects.
 */
#ifndef KYMO_ANALYSIS_GRAPH_H
#define KYMO_ANALYSIS_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "analysis/stats/stats_intervals.h"
#include "analysis/stats/stats.h"
#include "base/err.h"
#include "base/histogram.h"

struct graph;

/* Messages that a callback got. */
struct graph_delivery {
	uint64_t count;
	uint64_t between_hosts;		/* of them; without latency, as the clocks do not compare */
	struct histogram latency;	/* publish call until callback_start */
	int64_t latency_error_ns;	/* by which latencies may be wrong; 0: all are of one host */
};

/* What is unexpected, as bits. */
enum graph_flag {
	GRAPH_NO_PUBLISHER = 1 << 0,	/* topic: somebody listens, nobody of the trace publishes */
	GRAPH_NO_SUBSCRIBER = 1 << 1,	/* topic: somebody publishes, nobody of the trace listens */
	GRAPH_SILENT = 1 << 2,		/* topic: both are there, no message was seen */
	GRAPH_UNTAKEN = 1 << 3,		/* topic: some messages were never received */
	GRAPH_OVERWRITTEN = 1 << 4,	/* topic, callback: some were lost in ring buffers */
	GRAPH_NEVER_RAN = 1 << 5,	/* callback */
	GRAPH_UNFINISHED = 1 << 6,	/* callback: some runs have no end */
};

/** graph_create() - listen to @model. @begin_ns, @end_ns: as for stats. Return: 0, or -1 with @err. */
int graph_create(struct graph **graph, struct model *model, int64_t begin_ns, int64_t end_ns,
		 struct kymo_err *err);
void graph_destroy(struct graph *graph);

const struct stats *graph_stats(const struct graph *graph);
const struct intervals *graph_intervals(const struct graph *graph);
/* By index of the object; a zeroed one when nothing happened to it. */
const struct graph_delivery *graph_delivery(const struct graph *graph, unsigned callback);

unsigned graph_topic_flags(const struct graph *graph, const struct model_topic *topic);
unsigned graph_callback_flags(const struct graph *graph, const struct model_callback *callback);

/** graph_flag_text() - "no publisher", "never ran", ...; @flag is one bit. */
const char *graph_flag_text(enum graph_flag flag);

bool graph_failed(const struct graph *graph);

/* For pass_add(). */
extern const struct pass_ops graph_pass;

#endif
