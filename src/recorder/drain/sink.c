/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of draining, handing a packet to every sink, and what each of them misses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "recorder/drain/drain.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/drain/sink_list.h"

#define RETRY_NS	100000000u	/* until a sink that failed is tried again */
/* from one report of a sink that fails again and again to the next */
#define QUIET_NS	10000000000u

/* ---- rounds ---- */

int sink_failed(struct sink *sink, int rc)
{
	if (sink->rc == 0) {
		sink->rc = rc;
		(void)snprintf(sink->error, sizeof sink->error, "%s", strerror(-rc));
	}
	return rc;
}

int sinks_rc(const struct drain *drain)
{
	int rc = 0;

	for (unsigned i = 0; i < drain->sink_count; i++) {
		if (sink_is_up(drain->sink[i]))
			return 0;
		rc = drain->sink[i]->rc;
	}
	return rc;
}

void sinks_round_begin(struct drain *drain, bool all)
{
	for (unsigned i = 0; i < drain->sink_count; i++) {
		struct sink *sink = drain->sink[i];

		sink->rests = sink->gone || (!all && sink->fails && drain->now_ns < sink->retry_at);
		if (!sink->rests)
			sink->rc = 0;
	}
}

const char *sink_remedy(int rc)
{
	static const struct {
		int error;
		const char *text;
	} remedy[] = {
		{ ENOSPC, "free space on that file system" },
		{ EDQUOT, "free space, or raise the quota" },
		{ EFBIG, "raise the limit on file sizes (ulimit -f), or record in chunks "
			 "(--rotate-size)" },
		{ EROFS, "mount the file system writable again" },
		{ EACCES, "restore the permission to write there" },
		{ EPERM, "restore the permission to write there" },
		{ EIO, "check the disk" },
		{ EMFILE, "raise the limit on open files (ulimit -n)" },
		{ ENFILE, "close files in other programs" },
		{ ENOMEM, "end other programs" },
		{ ENOBUFS, "the relay accepts nothing and the spool is full: check the relay, or "
			   "allow a larger spool (--spool; in a program relay_spool_size)" },
		{ EAGAIN,
		  "make its functions faster, or its buffer larger (kymo_sink_options.buffer)" },
		{ ENOENT, "create the directory again that it was in" },
		{ ENOTDIR, "create the directory again that it was in" },
		{ EXDEV, "mount the file system again that it was on" },
	};

	for (unsigned i = 0; i < COUNT_OF(remedy); i++)
		if (remedy[i].error == -rc)
			return remedy[i].text;
	return "make sure that it can be written";
}

static void report_state(const struct drain *drain, const struct sink *sink, bool fails)
{
	const char *remedy = sink_remedy(sink->rc);

	if (!fails)
		say_text(&drain->sayer, "%s can be written again; events that found no room meanwhile "
			 "are counted as dropped%s", sink->name, drain->sink_count > 1 ?
			  ", and those that only other sinks got as not written" : "");
	else if (drain->sink_count > 1)
		say_text(&drain->sayer, "cannot write to %s: %s; %s. The other sinks are written; events that this one "
			 "misses are counted", sink->name, sink->error, remedy);
	else
		say_text(&drain->sayer, "cannot write to %s: %s; %s. The traced programs continue, their buffers fill, "
			 "and events that find no room are counted as dropped", sink->name, sink->error, remedy);
}

/* Not each change is reported: on a disk that is nearly full, small packets find room and large
 * ones do not. */
static void report_change(const struct drain *drain, struct sink *sink, bool fails)
{
	if (fails == sink->told ||
	    (fails && sink->told_ns && drain->now_ns - sink->told_ns < QUIET_NS))
		return;
	report_state(drain, sink, fails);
	sink->told = fails;
	sink->told_ns = drain->now_ns;
}

void sinks_round_end(struct drain *drain)
{
	for (unsigned i = 0; i < drain->sink_count; i++) {
		struct sink *sink = drain->sink[i];
		bool fails = sink->rc < 0;

		if (sink->rests)
			continue;
		if (fails && sink_is_gone(sink, true))
			sink->look_at = 0; /* its place was taken away: sinks_mend() reports that */
		else
			report_change(drain, sink, fails);
		if (fails)
			sink->retry_at = drain->now_ns + RETRY_NS;
		sink->fails = fails;
		sink->failed |= fails;
		if (!fails && sink->ops->round)
			sink->ops->round(sink, drain->now_ns);
	}
}

/* ---- what a sink misses ---- */

struct sink_ring *sink_ring_of(struct sink_process *at, unsigned index)
{
	const struct drained_process *process = at->process;

	if (index < at->ring_count)
		return &at->ring[index];
	if (!ARRAY_FIT(at->ring, process->ring_count, at->ring_room))
		return NULL;
	for (; at->ring_count < process->ring_count; at->ring_count++)
		at->ring[at->ring_count] = (struct sink_ring){
			.dropped_base = process->ring[at->ring_count].dropped_base,
		};
	return &at->ring[index];
}

bool sink_threads_grow(struct sink_process *at)
{
	const unsigned count = at->process->thread_count;

	return !count || ARRAY_AT(at->thread, at->thread_count, count - 1);
}

void sink_packet_missed(struct sink_process *at, const struct sink_packet *packet)
{
	struct sink_ring *ring = sink_ring_of(at, packet->ring);

	if (ring)
		ring->lost += packet->records;
	at->unwritten += packet->records;
	at->process->unwritten += packet->records;
	at->without.recorded += packet->records;
	at->without.bytes += packet->size;
	if (packet->account && sink_threads_grow(at)) {
		at->thread[packet->thread].recorded += packet->records;
		at->thread[packet->thread].bytes += packet->size;
	}
}

/* ---- packets ---- */

/* The result never shrinks. */
uint64_t sink_ring_discarded(const struct sink_ring *ring, uint64_t dropped)
{
	uint64_t all = ring->lost + promise_dropped_since(dropped, ring->dropped_base);

	return all > ring->discarded ? all : ring->discarded;
}

int sink_packet_offer(struct sink *sink, struct sink_process *at, struct sink_packet *packet,
		      uint64_t dropped)
{
	struct sink_ring *ring = sink_ring_of(at, packet->ring);
	int rc;

	if (!ring)
		return sink_failed(sink, -ENOMEM);
	packet->discarded = sink_ring_discarded(ring, dropped);
	rc = sink->ops->packet(sink, at, packet);
	if (rc == -EFAULT)
		return rc;
	if (rc < 0)
		return sink_failed(sink, rc);
	ring->discarded = packet->discarded;
	return 0;
}

bool sinks_take_batches(const struct drain *drain)
{
	for (unsigned i = 0; i < drain->sink_count; i++)
		if (!drain->sink[i]->ops->batch)
			return false;
	return true;
}

uint32_t sinks_up(const struct drain *drain)
{
	uint32_t up = 0;

	for (unsigned i = 0; i < drain->sink_count; i++)
		if (sink_is_up(drain->sink[i]))
			up |= 1u << i;
	return up;
}

int sinks_packet(struct drain *drain, struct drained_process *process, struct sink_packet *packet,
		 uint64_t dropped)
{
	const uint32_t up = sinks_up(drain);
	uint32_t taken = 0;

	promise_sinks(process, up);
	for (unsigned i = 0; i < drain->sink_count; i++) {
		int rc = drain->sink[i]->rc;

		if (up & 1u << i) {
			promise_turn(process, i);
			rc = sink_packet_offer(drain->sink[i], process->at[i], packet, dropped);
			promise_turned(process);
		}
		if (rc == -EFAULT)
			return rc;
		if (rc == 0)
			taken |= 1u << i;
	}
	if (!taken)
		return drain->sink_count ? sinks_rc(drain) : 0;
	for (unsigned i = 0; taken + 1 != 1u << drain->sink_count && i < drain->sink_count; i++)
		if (!(taken & 1u << i))
			sink_packet_missed(process->at[i], packet);
	return 0;
}
static_assert(SINKS_MAX < 32, "a bit for each");

void sinks_forget_drops(struct drained_process *process, unsigned index, uint64_t dropped)
{
	struct ring *ring = &process->ring[index];
	bool told = !promise_dropped_since(dropped, ring->dropped_base);

	for (unsigned i = 0; i < SINKS_MAX && process->at[i]; i++)
		told |= index < process->at[i]->ring_count && process->at[i]->ring[index].discarded;
	if (told)
		return;
	ring->dropped_base = ring->dropped_seen = dropped;
	for (unsigned i = 0; i < SINKS_MAX && process->at[i]; i++)
		if (index < process->at[i]->ring_count)
			process->at[i]->ring[index].dropped_base = dropped;
}

void sinks_lose(struct drain *drain, struct drained_process *process, unsigned index,
		uint64_t records)
{
	for (unsigned i = 0; i < drain->sink_count; i++) {
		struct sink_ring *ring = sink_ring_of(process->at[i], index);

		if (ring)
			ring->lost += records;
		process->at[i]->unwritten += records;
		process->unwritten += records;
	}
}

/* ---- counts ---- */

void sink_counts(const struct sink_process *at, struct sink_counts *counts)
{
	const struct drained_process *process = at->process;

	*counts = (struct sink_counts){
		.before = at->before,
		.recorded = process->recorded - at->without.recorded,
		.dropped = process->dropped - at->without.dropped,
		.filtered = process->filtered - at->without.filtered,
		.dropped_no_ring = process->dropped_no_ring - at->without_no_ring,
		.bytes = process->bytes - at->without.bytes + at->init.bytes,
		.init_events = at->init.events,
		.init_dropped = process->init_dropped,
		.unwritten = at->unwritten,
	};
}

void sink_thread_counts(const struct sink_process *at, unsigned index, struct sink_without *counts)
{
	const struct thread_account *thread = &at->process->thread[index];
	const struct sink_without none = { 0 };
	const struct sink_without *without = index < at->thread_count ? &at->thread[index] : &none;

	*counts = (struct sink_without){
		.recorded = thread->recorded - without->recorded,
		.filtered = thread->filtered - without->filtered,
		.dropped = thread->dropped - without->dropped,
		.bytes = thread->bytes - without->bytes,
	};
}
