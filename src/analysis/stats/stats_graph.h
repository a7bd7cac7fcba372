/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of callbacks and topics: the topics on which each callback publishes, and the callbacks
 * that receive those messages; with durations, rates, latencies, and unexpected findings.
 *
 *   callback --publishes--> topic --is delivered--> callback
 *
 * It uses stats.h and stats_intervals.h, and creates both. Memory depends on the number of objects.
 *
 * Context of all functions: not thread-safe; graph_create() allocates, and the analysis does as
 * objects appear; the others only look up. None blocks.
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

/* Messages that a callback received. */
struct graph_delivery {
	uint64_t count;
	/* Number of these without latency: the clocks of two hosts cannot be compared. */
	uint64_t between_hosts;
	struct histogram latency; /* publish call until callback_start */
	int64_t latency_error_ns; /* largest error of the latencies; 0: all are within one host */
};

/* Unexpected findings, as bits. */
enum graph_flag {
	GRAPH_NO_PUBLISHER =
		1 << 0, /* topic: it has subscriptions, but no publisher in the trace */
	GRAPH_NO_SUBSCRIBER =
		1 << 1,             /* topic: it has publishers, but no subscription in the trace */
	GRAPH_SILENT = 1 << 2,      /* topic: it has both, but no message in the trace, and no
				     * callback of a subscription ran */
	GRAPH_UNTAKEN = 1 << 3,     /* topic: some messages were never received */
	GRAPH_OVERWRITTEN = 1 << 4, /* topic, callback: some messages were lost in ring buffers */
	GRAPH_NEVER_RAN = 1 << 5,   /* callback */
	GRAPH_UNFINISHED = 1 << 6,  /* callback: some runs have no end in the trace */
};

/** graph_create() - listen to @model. @begin_ns, @end_ns: as for stats. Return: 0, or -1 with
 * @err. */
int graph_create(struct graph **graph, struct model *model, int64_t begin_ns, int64_t end_ns,
		 struct kymo_err *err);
void graph_destroy(struct graph *graph);

/* The analyses that the graph created; valid as long as it. */
const struct stats *graph_stats(const struct graph *graph);
const struct intervals *graph_intervals(const struct graph *graph);
/* By index of the object; zeroed when nothing happened to it. */
const struct graph_delivery *graph_delivery(const struct graph *graph, unsigned callback);

unsigned graph_topic_flags(const struct graph *graph, const struct model_topic *topic);
unsigned graph_callback_flags(const struct graph *graph, const struct model_callback *callback);

/** graph_flag_text() - "no publisher", "never ran", ...; @flag is one bit. */
const char *graph_flag_text(enum graph_flag flag);

/** graph_failed() - memory ran out, here or in its analyses: something is missing. */
bool graph_failed(const struct graph *graph);

/* For pass_add(). */
extern const struct pass_ops graph_pass;

#endif
