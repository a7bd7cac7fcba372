/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary of what one pass over a trace found. The collector listens beside other analyses; what
 * they already have, it takes from them when the trace has been read.
 *
 *   ... create model, stats, chains (worst: SUMMARY_WORST_MAX, hops), why_callbacks, view, spans,
 *       spans_stats
 *   summary_collect_create(&collect, &sources, &err);
 *   pass_add(&passes, &summary_collect_pass, collect);
 *   pass_run(&passes, reader, &options, &err);
 *   summary_collect_take(collect, summary);
 *
 * Context of all functions: not thread-safe; allocate; only summary_of_trace() reads, and blocks.
 */
#ifndef KYMO_SUMMARY_SUMMARY_COLLECT_H
#define KYMO_SUMMARY_SUMMARY_COLLECT_H

#include "analysis/chains/chains.h"
#include "analysis/costs/costs.h"
#include "analysis/executors/executor_view.h"
#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "analysis/spans/loops.h"
#include "analysis/spans/spans_stats.h"
#include "analysis/stats/stats.h"
#include "analysis/why/why.h"
#include "summary/summary.h"
#include "summary/summary_own.h"

/* The analyses of the same pass. They must stay valid until summary_collect_take(). */
struct summary_sources {
	struct model *model;
	struct stats *stats;
	struct chains *chains;
	struct why_callbacks *callbacks;
	struct executor_view *view;
	struct spans_stats *spans_stats; /* NULL: no spans and loops */
	struct loops *loops;
	struct summary_own *own;  /* NULL: without the kernel's events */
	struct costs *costs;      /* NULL: without allocations and waits for mutexes */
	int64_t begin_ns, end_ns; /* only what begins inside; INT64_MIN, INT64_MAX: all */
};

struct summary_collect;

/**
 * summary_collect_create() - listen to the model, the view and the loops of @sources
 *
 * Return: 0, or -1 with @err.
 */
int summary_collect_create(struct summary_collect **collect, const struct summary_sources *sources,
			   struct kymo_err *err);

/**
 * summary_collect_beside() - create the analyses that a summary needs, and the collector
 * @from: model, begin_ns and end_ns are set; the others will be
 * @spans: of the same model; their events, and those of the model, come from the caller
 * @passes: passes_free() destroys what was created, also after an error
 *
 * Return: 0, or -1 with @err.
 */
int summary_collect_beside(struct summary_collect **collect, struct summary_sources *from,
			   struct spans *spans, const struct chains_options *chains,
			   struct passes *passes, struct kymo_err *err);

/**
 * summary_collect_take() - after the pass: fill @summary, which is new
 *
 * Return: 0; -1: no memory.
 */
int summary_collect_take(struct summary_collect *collect, struct summary *summary);

/** summary_callback_name() - the name of the entity that @callback is; summary_collect_entity()
 * finds it. Return: @buffer. */
char *summary_callback_name(const struct model_callback *callback, char *buffer, size_t size);

/**
 * summary_collect_entity() - after summary_collect_take(): the entity of @summary that @name is, of
 * @process
 * @kind: callback, timer, span, loop or executor
 *
 * Of several processes of one name that run at the same time, each has entities of its own.
 * Return: NULL: nothing is known of it.
 */
const struct summary_entity *summary_collect_entity(const struct summary_collect *collect,
						    const struct summary *summary,
						    enum summary_kind kind, const char *name,
						    const struct model_process *process);

/* The processes of a chain that have twins; both "": it has no twin. */
struct summary_ways {
	char of[512];   /* of its entity: "" of the first ones, else "driver #2, filter" */
	char text[512]; /* for people: "driver 4711, filter 4713 @left" */
};

/**
 * summary_collect_ways() - after summary_collect_take(): through which of several processes of one
 * name @path leads
 *
 * Return: the first of these processes; NULL: none.
 */
const struct model_process *summary_collect_ways(const struct summary_collect *collect,
						 const struct chains_path *path,
						 struct summary_ways *ways);

/** summary_chain_ask() - the ends of @path, as `kymo why` takes them: "/lidar -> /cmd_vel"; "" if
 * one of them has no such name. Return: @buffer. */
char *summary_chain_ask(const struct chains_path *path, char *buffer, size_t size);

/** summary_executor_name() - the same of the executor that thread number @executor represents:
 * "perception: /costmap, /detector", its process and up to four of the nodes that it runs. */
void summary_executor_name(const struct model *model, struct executor_view *view, unsigned executor,
			   char *buffer, size_t size);

/**
 * summary_collect_forget() - begin the next interval: count from 0 again, here and in the analyses
 *
 * What is under way (a message, a cycle, a run) is counted in the interval in which it ends.
 */
void summary_collect_forget(struct summary_collect *collect);

/**
 * summary_options() - what the chains and the runs of callbacks must keep for a summary of
 * [@begin_ns, @end_ns] of @reader
 */
void summary_options(const struct kymo_ctf_reader *reader, int64_t begin_ns, int64_t end_ns,
		     struct chains_options *chains, struct why_callbacks_options *callbacks);

/**
 * summary_extras_create() - the members own and costs of @from, if the trace has their events; they
 * are added to @passes, which destroys them
 *
 * Return: 0, or -1 with @err.
 */
int summary_extras_create(struct summary_sources *from, const struct kymo_ctf_reader *reader,
			  struct passes *passes, struct kymo_err *err);

/**
 * summary_of_trace() - read the trace once, and fill @summary, which is new
 * @begin_ns, @end_ns: only what begins inside; INT64_MIN, INT64_MAX: all
 * @progress: as for pass_run(), without the window; NULL: none
 *
 * Context: blocks. Return: 0, or -1 with @err.
 */
int summary_of_trace(struct summary *summary, struct kymo_ctf_reader *reader, int64_t begin_ns,
		     int64_t end_ns, const struct pass_options *progress, struct kymo_err *err);

/* The pass of summary_of_trace(), for callers who also ask its analyses, or add a listener. */
struct summary_reading {
	struct summary_sources from;
	struct summary_collect *collect;
	struct passes passes; /* passes_free() destroys the analyses, also after an error */
};

/**
 * summary_reading_open() - create the analyses; from now on, listen to @reading->from.model
 *
 * Return: 0, or -1 with @err.
 */
int summary_reading_open(struct summary_reading *reading, struct kymo_ctf_reader *reader,
			 int64_t begin_ns, int64_t end_ns, struct kymo_err *err);

/**
 * summary_reading_run() - read the trace once, and fill @summary, as summary_of_trace() does
 *
 * Context: blocks. Return: 0, or -1 with @err.
 */
int summary_reading_run(struct summary_reading *reading, struct summary *summary,
			struct kymo_ctf_reader *reader, const struct pass_options *progress,
			struct kymo_err *err);

/* For pass_add(). */
extern const struct pass_ops summary_collect_pass;

#endif
