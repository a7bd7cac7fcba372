/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics per callback, topic and stream of events, collected while a model reads a trace.
 * Memory depends on the number of objects, not of events.
 *
 * Definitions
 *   duration      callback_end - callback_start
 *   rate          (n - 1) / (last - first): the inverse of the mean interval
 *   latency       start of the callback that received a message - begin of the call that published
 *                 it (rclcpp_publish; rclcpp_intra_publish within a process). Between hosts only
 *                 if their clocks can be compared, see model_clock_error().
 *   wait          time from the publication of a message, or from the due time of a timer (one
 *                 period after its previous start), to the start of its callback
 *   blocked       the part of a wait in which other callbacks ran on the thread that then ran the
 *                 waiting one. If this part is less than half of a wait, callbacks on other threads
 *                 also count: in a multi-threaded executor they may have held the callback group.
 *                 These are the callbacks of the same group if the trace names groups (CARET's
 *                 events do), else those of the same node.
 *   culprit       the callback with the largest part of the blocked time
 */
#ifndef KYMO_ANALYSIS_STATS_H
#define KYMO_ANALYSIS_STATS_H

#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "base/histogram.h"

/* The worst wait of a callback: the wait with the longest blocked time. */
struct stats_wait {
	int64_t wait_ns;		/* 0: it never waited for a callback */
	int64_t blocked_ns;
	const struct model_callback *culprit;
	int64_t culprit_ns;		/* the culprit's part of blocked_ns */
	const struct model_thread *culprit_thread;
	int64_t since_ns;		/* begin of the wait, epoch */
};

struct stats_callback {
	struct histogram duration;
	uint64_t unfinished;
	int64_t first_ns, last_ns;	/* first and last start; 0: none */

	uint64_t waits;			/* number of waits with blocked time */
	uint64_t blocked_ns;		/* sum of all blocked times */
	int64_t longest_ns;		/* the longest wait, blocked or not */
	struct stats_wait worst;
};

struct stats_topic {
	uint64_t published;		/* publish calls */
	uint64_t sent;			/* of these: through the middleware */
	uint64_t sent_intra;		/* of these: within the process */
	int64_t first_ns, last_ns;	/* first and last publish call; 0: none */

	uint64_t taken;			/* through the middleware, once per subscription */
	uint64_t taken_intra;		/* from ring buffers */
	uint64_t untaken;               /* MODEL_DROP_UNTAKEN: counted for each subscription */
	uint64_t unpublished;		/* received, but the publication is not in the trace */
	uint64_t overwritten, cleared;	/* in ring buffers */
	/* Deliveries without latency: between hosts whose clocks cannot be compared. */
	uint64_t other_host;
	struct histogram latency;
	/* largest error of the latencies; 0: all are within one host */
	int64_t latency_error_ns;
};

#define STATS_RANGES_MAX 32

struct stats_range {
	int64_t begin_ns, end_ns;	/* epoch */
	uint64_t events, packets;
};

/* Lost events of one stream. */
struct stats_loss {
	uint32_t trace, stream;
	const struct model_thread *thread;	/* NULL: the stream belongs to several threads */
	uint64_t events, packets;
	int64_t begin_ns, end_ns;
	/* At the limit, neighbouring ranges are joined. */
	struct stats_range range[STATS_RANGES_MAX];
	unsigned ranges;
};

struct stats;

/**
 * stats_create() - listen to @model
 * @begin_ns, @end_ns: only events that begin in [begin, end] count; INT64_MIN, INT64_MAX for all
 *
 * Context: allocates as objects appear. The model must be destroyed first or not used any more.
 * Return: 0, or -1 with @err filled.
 */
int stats_create(struct stats **stats, struct model *model, int64_t begin_ns, int64_t end_ns,
		 struct kymo_err *err);
void stats_destroy(struct stats *stats);

/** stats_without_waits() - leave stats_callback.worst and the like empty, which costs less */
void stats_without_waits(struct stats *stats);

/** stats_forget() - count from 0 again, for results of one interval after the other. */
void stats_forget(struct stats *stats);

/** stats_window() - change the window, for example when the time of the first event is known. */
void stats_window(struct stats *stats, int64_t begin_ns, int64_t end_ns);

struct stats_lost {
	uint64_t events, packets;
};

/** stats_lost_elsewhere() - what of all losses was the kernel's: it had no events of programs. */
struct stats_lost stats_lost_elsewhere(const struct stats *stats);

/* By index of the object; zeroed when nothing happened to it. */
const struct stats_callback *stats_callback(const struct stats *stats, unsigned index);
const struct stats_topic *stats_topic(const struct stats *stats, unsigned index);

unsigned stats_loss_count(const struct stats *stats);
const struct stats_loss *stats_loss(const struct stats *stats, unsigned index);
uint64_t stats_lost_events(const struct stats *stats);
uint64_t stats_lost_packets(const struct stats *stats);

/** stats_rate() - rate in Hz from a count and the first and last time; 0 when unknown. */
double stats_rate(uint64_t count, int64_t first_ns, int64_t last_ns);

/** stats_failed() - did memory run out? The results are incomplete then. */
bool stats_failed(const struct stats *stats);

/* For pass_add(). */
extern const struct pass_ops stats_pass;

#endif
