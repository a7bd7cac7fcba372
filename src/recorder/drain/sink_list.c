/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks are added, begin anew and are removed; processes join and leave them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "recorder/drain/drain.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/drain/sink_list.h"

/* An event may have a time this much older than the moment at which it is found. */
#define EARLIER_NS	10000000u
/* from one check whether files were taken away to the next */
#define LOOK_NS		100000000u

/* ---- coming and going ---- */

static unsigned place_of(const struct drain *drain, const struct sink *sink)
{
	unsigned place = 0;

	while (place < drain->sink_count && drain->sink[place] != sink)
		place++;
	return place;
}

struct sink_process *sink_at(const struct drain *drain, const struct sink *sink,
			     const struct drained_process *process)
{
	unsigned place = place_of(drain, sink);

	return place < drain->sink_count ? process->at[place] : NULL;
}

static void at_free(struct sink_process *at)
{
	if (!at)
		return;
	free(at->ring);
	free(at->thread);
	free(at);
}

void sinks_process_free(struct drained_process *process)
{
	for (unsigned i = 0; i < SINKS_MAX; i++) {
		at_free(process->at[i]);
		process->at[i] = NULL;
	}
}

/*
 * What was taken of the process before now is not in the sink. Records that are still unread will
 * be, and so are the events that were dropped behind them.
 */
static bool leave_past_out(struct sink_process *at)
{
	struct drained_process *process = at->process;

	initlog_update_counts(process);
	for (unsigned i = 0; i < process->ring_count; i++) {
		const uint64_t unread = process_unread_drops(process, i);
		struct sink_ring *ring = sink_ring_of(at, i);

		if (!ring || !sink_threads_grow(at))
			return false;
		ring->dropped_base = process->ring[i].dropped_seen - unread;
		at->without.dropped -= unread;
		if (process->thread)
			at->thread[process->ring[i].thread].dropped -= unread;
	}
	if (!sink_threads_grow(at))
		return false;
	for (unsigned i = 0; i < process->thread_count; i++) {
		at->thread[i].recorded = process->thread[i].recorded;
		at->thread[i].dropped += process->thread[i].dropped;
		at->thread[i].bytes = process->thread[i].bytes;
		at->thread[i].filtered = process->thread[i].filtered;
	}
	at->without.recorded = process->recorded;
	at->without.dropped += process->dropped;
	at->without.bytes = process->bytes;
	at->without.filtered = process->filtered;
	at->without_no_ring = process->dropped_no_ring;
	at->before = process->recorded + at->without.dropped + process->dropped_no_ring;
	at->init.limit = process->log_settled;
	return true;
}

static struct sink_process *join(struct sink *sink, struct drained_process *process, bool has_past)
{
	struct sink_process *at = calloc(1, sizeof *at);

	if (!at)
		return NULL;
	at->process = process;
	if ((!has_past || leave_past_out(at)) &&
	    (!sink->ops->join || sink->ops->join(sink, at) == 0))
		return at;
	at_free(at);
	return NULL;
}

int sinks_join(struct drain *drain, struct drained_process *process)
{
	for (unsigned i = 0; i < drain->sink_count; i++) {
		process->at[i] = join(drain->sink[i], process, false);
		if (!process->at[i]) {
			sinks_process_free(process);
			return -ENOMEM;
		}
	}
	return 0;
}

void sinks_reach_back(struct drain *drain, uint64_t first_ns)
{
	for (unsigned i = 0; i < drain->sink_count; i++)
		if (first_ns < drain->sink[i]->start_ns && first_ns > drain->now_ns / 2)
			drain->sink[i]->start_ns = first_ns;
}

int sinks_add(struct drain *drain, struct sink *sink, struct drained_process **process,
	      unsigned count)
{
	unsigned place = drain->sink_count;

	if (place == SINKS_MAX)
		return -ENOSPC;
	if (!sink->added_ns)
		sink->added_ns = drain->now_ns;
	if (!sink->start_ns)
		sink->start_ns = ns_before(sink->added_ns, count ? EARLIER_NS : 0);
	for (unsigned i = 0; i < count; i++) {
		uint64_t first;

		if (process[i]->finished)
			continue;
		process[i]->at[place] = join(sink, process[i], true);
		if (!process[i]->at[place]) {
			sinks_detach(drain, sink, process, count);
			return -ENOMEM;
		}
		first = process_first_ns(process[i]);
		if (first < sink->start_ns && first > drain->now_ns / 2)
			sink->start_ns = first;
	}
	drain->sink[drain->sink_count++] = sink;
	return 0;
}

/* ---- the end of a process, in one sink ---- */

static int last_drops(struct sink *sink, struct sink_process *at, unsigned index, uint64_t now,
		      bool promised)
{
	const struct drained_process *process = at->process;
	const struct ring *ring = &process->ring[index];
	struct sink_ring *mine = sink_ring_of(at, index);
	struct sink_packet packet = {
		.ring = index,
		.thread = ring->thread,
		.account = process->thread ? &process->thread[ring->thread] : NULL,
		.begin = ring->prev_end,
		.end = now,
		.promised = promised,
	};

	if (!mine || sink_ring_discarded(mine, ring->dropped_seen) == mine->discarded)
		return 0;
	if (packet.begin < sink->start_ns)
		packet.begin = sink->start_ns;
	if (packet.end < packet.begin)
		packet.end = packet.begin;
	return ring->merged && sink->ops->batch
		       ? sink_batch_drops(sink, at, &packet, ring->dropped_seen)
		       : sink_packet_offer(sink, at, &packet, ring->dropped_seen);
}

/* Reports the last drops of a ring to all sinks; the accounts have them in any case. */
static void all_last_drops(struct drain *drain, struct drained_process *process, unsigned index)
{
	struct ring *ring = &process->ring[index];
	bool told = false;

	if (ring->bad && !ring->left_out)
		return;
	promise_enter(process, ring, ring->taken, ring->dropped_seen, 0);
	promise_sinks(process, sinks_up(drain));
	for (unsigned i = 0; i < drain->sink_count; i++) {
		struct sink_process *at = process->at[i];

		promise_turn(process, i);
		told |= at && !at->left &&
			last_drops(drain->sink[i], at, index, drain->now_ns, true) == 0;
		promise_turned(process);
	}
	if (told) {
		promise_keep(process);
		promise_move(process, ring);
	}
	promise_end(process);
}

static void last_facts(struct sink *sink, struct sink_process *at, uint64_t now)
{
	struct sink_facts facts = {
		.begin = at->init.prev_ns,
		.end = now,
		.discarded = sink_init_discarded(at),
		.promised = true,
	};

	if (facts.discarded <= at->init.discarded)
		return;
	if (facts.begin < sink->start_ns)
		facts.begin = sink->start_ns;
	if (facts.end < facts.begin)
		facts.end = facts.begin;
	if (sink->ops->facts(sink, at, &facts) == 0)
		at->init.discarded = facts.discarded;
}

static void leave(struct sink *sink, struct sink_process *at, uint64_t now)
{
	last_facts(sink, at, now);
	if (sink->ops->leave)
		sink->ops->leave(sink, at);
	at->left = true;
}

void sinks_leave(struct drain *drain, struct drained_process *process)
{
	for (unsigned i = 0; i < process->ring_count; i++)
		all_last_drops(drain, process, i);
	for (unsigned i = 0; i < drain->sink_count; i++)
		if (process->at[i] && !process->at[i]->left)
			leave(drain->sink[i], process->at[i], drain->now_ns);
}

/* For one sink only: other sinks get these drops later, so they stay unreported in the region. */
static void complete_ring(struct sink *sink, struct sink_process *at, unsigned index, uint64_t now)
{
	ring_account(at->process, index);
	if (!at->process->ring[index].bad)
		(void)last_drops(sink, at, index, now, false);
	promise_end(at->process);
}

void sinks_complete(struct drain *drain, struct sink *sink, struct drained_process **process,
		    unsigned count)
{
	drain_update_clock(drain);
	for (unsigned i = 0; i < count; i++) {
		struct sink_process *at = sink_at(drain, sink, process[i]);

		if (!at || at->left)
			continue;
		initlog_update_counts(process[i]);
		for (unsigned j = 0; j < process[i]->ring_count; j++)
			complete_ring(sink, at, j, drain->now_ns);
		leave(sink, at, drain->now_ns);
	}
	sink->end_ns = drain->now_ns;
}

/* ---- beginning anew ---- */

/* The begin of a new place, which is complete in itself: before every event that is still to
 * come. */
static uint64_t turn_ns(const struct drain *drain, struct drained_process **process, unsigned count)
{
	uint64_t begin = ns_before(drain->now_ns, EARLIER_NS);

	for (unsigned i = 0; i < count; i++) {
		uint64_t first = process[i]->finished ? UINT64_MAX : process_first_ns(process[i]);

		if (first < begin && first > drain->now_ns / 2)
			begin = first;
	}
	return begin;
}

/* The new place of the sink has nothing of @at yet; its counts continue. */
static void start_again(struct sink_process *at, uint64_t begin_ns)
{
	if (at->init.taken > at->init.known)
		at->init.known = at->init.taken;
	at->init.taken = 0;
	at->init.begun = false;
	at->init.limit = at->process->log_settled;
	at->init.bad = 0;
	at->init.prev_ns = begin_ns;
	at->own = false;
}

static int begin_anew(struct drain *drain, struct sink *sink, struct drained_process **process,
		      unsigned count)
{
	uint64_t begin_ns;
	int rc;

	drain_update_clock(drain);
	begin_ns = turn_ns(drain, process, count);
	rc = sink->ops->place->turn(sink, begin_ns, drain->now_ns);
	for (unsigned i = 0; rc == 0 && i < count; i++) {
		struct sink_process *at = sink_at(drain, sink, process[i]);

		if (at && !at->left)
			start_again(at, begin_ns);
	}
	return rc;
}

void sinks_turn(struct drain *drain, struct sink *sink, struct drained_process **process,
		unsigned count)
{
	int rc = begin_anew(drain, sink, process, count);

	if (rc < 0 && !sink->turn_failed)
		say_text(&drain->sayer, "%s: cannot create the next chunk: %s; the current one continues", sink->name,
			  strerror(-rc));
	sink->turn_failed = rc < 0;
}

/* ---- what was taken away ---- */

static void report_gone(const struct drain *drain, const struct sink *sink, int rc)
{
	if (rc < 0)
		say_text(&drain->sayer, "the trace directory %s was removed while recording, or files in it, and cannot "
			 "be created again: %s; %s. %s", sink->name, sink->error, sink_remedy(rc), drain->sink_count > 1 ?
			  "The other sinks are written; events that this one misses are counted" :
			 "The traced programs continue, their buffers fill, and events that find no room are counted as dropped");
	else
		say_text(&drain->sayer, "the trace directory %s was removed while recording, or files in it; %llu "
			 "events are gone with it, and the recording continues there in a new one", sink->name,
			  (unsigned long long)sink->removed.last);
}

static void mend(struct drain *drain, struct sink *sink, struct drained_process **process,
		 unsigned count, bool all)
{
	const bool gone = sink_is_gone(sink, all), was = sink->gone;
	int rc = gone ? begin_anew(drain, sink, process, count) : 0;

	if (!gone && !was)
		return;
	sink->gone = sink->fails = rc < 0;
	sink->failed = true;
	sink->rc = 0;
	if (rc < 0)
		(void)sink_failed(sink, rc);
	if (!gone)
		say_text(&drain->sayer, "the trace directory %s exists again; the recording continues in it", sink->name);
	else if (rc == 0 || !was)
		report_gone(drain, sink, rc);
	sink->told = rc < 0;
}

void sinks_mend(struct drain *drain, struct drained_process **process, unsigned count, bool now)
{
	for (unsigned i = 0; i < drain->sink_count; i++) {
		struct sink *sink = drain->sink[i];

		if (!sink->ops->place || !sink->ops->place->gone ||
		    (!now && drain->now_ns < sink->look_at))
			continue;
		sink->look_at = drain->now_ns + LOOK_NS;
		mend(drain, sink, process, count, now);
	}
}

void sinks_detach(struct drain *drain, struct sink *sink, struct drained_process **process,
		  unsigned count)
{
	const unsigned place = place_of(drain, sink);	/* the last place + 1: it was being added */

	for (unsigned i = 0; i < count; i++) {
		struct sink_process **at = process[i]->at;

		at_free(at[place]);
		memmove(at + place, at + place + 1, (SINKS_MAX - 1 - place) * sizeof *at);
		at[SINKS_MAX - 1] = NULL;
	}
	if (place == drain->sink_count)
		return;
	drain->sink_count--;
	memmove(drain->sink + place, drain->sink + place + 1,
		(drain->sink_count - place) * sizeof *drain->sink);
}
