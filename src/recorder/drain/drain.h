/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draining: from the rings and the init log of a process to the sinks.
 *
 *   ring ───── drain.c ──────────┐
 *   rings ──── drain_merged.c ───┼──▶ sink_deliver.h ──▶ every sink
 *   init log ─ drain_initlog.c ──┘
 *
 * Context of all functions: on the session's thread; block as the sinks do.
 */
#ifndef KYMO_RECORDER_DRAIN_H
#define KYMO_RECORDER_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/now.h"
#include "recorder/drain/drained_process.h"
#include "recorder/drain/sink.h"
#include "recorder/runtime/say.h"

struct filter;

/* Whether a thread's events get a stream, a file, of their own. */
enum session_streams {
	STREAMS_AUTO, /* those of the first STREAMS_OWN_MAX threads; then as STREAMS_PROCESS */
	STREAMS_THREAD,
	STREAMS_PROCESS, /* no: a process has one stream, merged by time */
};

/* with two files each, 300 processes more open under `ulimit -n 1024` */
#define STREAMS_OWN_MAX 256
#define DRAIN_SCRATCH (256u << 10)

/* What draining needs of its session. */
struct drain {
	struct sink *sink[SINKS_MAX];
	unsigned sink_count;
	uint64_t now_ns;      /* when the round began; where more is needed, drain_update_clock() */
	uint64_t patience_ns; /* from one packet with little data to the next, at least */
	bool flush;           /* take everything that is committed */
	bool final;           /* the same, and nothing more will come */
	bool failed;          /* the last ring_drain() before ring_finish() failed */
	unsigned fullest;     /* out: highest fill of a ring that was looked at, in 1/256 */
	uint64_t grown; /* out: most that a ring grew in a millisecond since the last look, in
			 * 1/256 */
	struct sayer sayer;
	uint8_t *scratch;		/* DRAIN_SCRATCH bytes */
	enum session_streams streams;
	unsigned stream_count;		/* rings so far that have a stream of their own */
	struct merged *merged;		/* of drain_merged.c, made on need */
};

/**
 * drain_update_clock() - bring now_ns up to date
 *
 * A recorder that got no processor for seconds reads times that are later than when its round
 * began.
 */
static inline void drain_update_clock(struct drain *drain)
{
	drain->now_ns = (uint64_t)now_ns();
}

/* ---- drain.c: one ring ---- */

/**
 * ring_drain() - hand what is committed in a ring to the sinks
 * Return: 0; -errno of a sink, when no sink took it: nothing is lost, call again later.
 */
int ring_drain(struct drained_process *process, unsigned index, struct drain *drain);

/** ring_snapshot() - read wpos and lastts such that they belong together. Return: false while the
 * producer changes them. */
bool ring_snapshot(const struct kymo_ring *shared, uint64_t *word, uint64_t *lastts);

/** ring_finish() - after the last ring_drain(): bring the accounts up to date, count what no sink
 * took. */
void ring_finish(struct drained_process *process, unsigned index, struct drain *drain);

/** ring_account() - bring drop counts up to date. */
void ring_account(struct drained_process *process, unsigned index);

/**
 * process_is_filling() - whether a ring of it is filling up, among those that began a block since
 * the last call
 *
 * Costs a line of memory for 64 rings, where looking at all of them costs several lines for each.
 */
bool process_is_filling(struct drained_process *process, struct drain *drain);

/** process_prefetch() - have the processor fetch what process_is_filling() is going to read
 * first. */
static inline void process_prefetch(const struct drained_process *process)
{
	if (!process->finished)
		__builtin_prefetch(region_header(&process->region)->stirred);
}

/* ---- drain_merged.c: many rings of a process, by time ---- */

/**
 * merged_drain() - hand what is committed in those rings of a process that are merged to the sinks
 * @clock_ns: the clock before process_rings(): a ring that did not exist then has nothing older
 *
 * What is merged is not younger than what may still be committed: an event that is being written
 * holds back those after it, but not for long. An event that comes too late all the same goes to a
 * stream of its ring's own.
 *
 * Return: as ring_drain().
 */
int merged_drain(struct drained_process *process, struct drain *drain, uint64_t clock_ns);

/** merged_let_settle() - before a round that takes everything: what is committed now is older than
 * its horizon. */
void merged_let_settle(struct drain *drain);

/** merged_free() - what merged_drain() has made. */
void merged_free(struct drain *drain);

/* ---- drain_initlog.c ---- */

/** initlog_is_pending() - whether every sink lacks something of the init log. */
bool initlog_is_pending(const struct drained_process *process, const struct drain *drain);

/**
 * initlog_drain() - hand what is new in the init log to each sink, and to the filter
 * Return: 0; -errno when every sink fails: call again later.
 */
int initlog_drain(struct drained_process *process, struct drain *drain);

/**
 * initlog_drain_to() - hand what is new in the init log to @sink, which is not among the session's
 * @at: its place in the log
 */
int initlog_drain_to(struct drained_process *process, struct drain *drain, struct sink *sink,
		     struct sink_process *at);

/** initlog_is_complete() - @at has all of the log. */
bool initlog_is_complete(const struct drained_process *process, const struct sink_process *at);

/** initlog_update_counts() - bring the counts of lost init events, and of events without a ring, up
 * to date. */
void initlog_update_counts(struct drained_process *process);

/* ---- drain_filter.c: the filter reads the init log, too ---- */

/** drain_filter_join() - @process joins the session: read its own rules; it is filtered from now on
 * if there is a filter. */
void drain_filter_join(struct drained_process *process, struct drain *drain, struct filter *filter);

/** drain_filter_update() - let the filter read what is new in the init log, if it needs that.
 * Return: 0; -errno. */
int drain_filter_update(struct drained_process *process, struct drain *drain);

/** drain_filter_settle() - publish in the region which objects are left out. */
void drain_filter_settle(struct drained_process *process, struct drain *drain);

/** drain_filter_changed() - the rules are others now: decide again. */
void drain_filter_changed(struct drained_process *process, struct drain *drain);

/** drain_filter_taken() - the position in the init log up to which the filter has read; UINT64_MAX:
 * it does not read it. */
uint64_t drain_filter_taken(const struct drained_process *process);

#endif
