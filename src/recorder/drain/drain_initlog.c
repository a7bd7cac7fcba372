/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the init log to the sinks.
 *
 * The log contains facts in the order in which they happened. A trace needs them in the order of
 * time, and none before its start. So each fact becomes an event with its own time or, if that is
 * earlier, the start of the sink; init_timestamp in its context has the true time.
 *
 * Each sink has its own position in the log. A sink that begins, or whose position the process has
 * cleaned away meanwhile, first gets all facts that hold (log_collect()), and then reads on record
 * by record.
 */
#include <errno.h>
#include <stdlib.h>

#include "recorder/drain/drain.h"
#include "recorder/drain/initlog_taking.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/drain/sink_list.h"
#include "recorder/filter/filter.h"
#include "recorder/runtime/initlog_cursor.h"

/* by then, records of that time have been taken from the rings, too */
#define SETTLE_NS	2000000000u
#define OVERTAKEN_TRIES	4

/* Hands over early: what was handed over is not handed over again when a later step fails. */
static int write_if_full(struct initlog_taking *taking)
{
	const size_t enough = DRAIN_SCRATCH - sizeof(struct sink_fact) - KYMO_LOG_CHUNK;

	return taking->batch.size > enough ? initlog_taking_write(taking) : 0;
}

/*
 * In the log of a living process, a hole is a record that is being written. Later records wait for
 * it, to keep the order, but not for ever. Return: whether to skip the hole now.
 */
static bool skips_hole(struct initlog_taking *taking)
{
	struct sink_process *at = taking->at;

	if (taking->drain->final || taking->process->alive == ALIVE_DEAD)
		return true;
	if (at->init.hole != taking->position + 1) {
		at->init.hole = taking->position + 1;
		at->init.hole_ns = taking->drain->now_ns;
	}
	return taking->drain->now_ns - at->init.hole_ns > KYMO_LOG_PATIENCE_NS;
}

/* Reads on from the position, in the order of the log. Records with another origin are copies of
 * earlier ones. */
static int read_onward(struct initlog_taking *taking)
{
	const uint64_t tail = log_bounds(&taking->process->region).tail;
	struct log_place place;
	int rc = 0;

	while (rc == 0) {
		taking->at_record = taking->position;
		switch (log_look(&taking->process->region, taking->position, tail, &place)) {
		case LOG_RECORD:
			if (place.head.origin == taking->position)
				rc = initlog_taking_record(taking, &place);
			break;
		case LOG_HOLE:
			if (!skips_hole(taking))
				return 0;
			break;
		case LOG_BAD:
			taking->bad++;
			break;
		case LOG_OVERTAKEN:
			return -ESTALE;
		case LOG_SKIP:
			break;
		case LOG_END:
			return 0;
		}
		if (rc == 0) {
			taking->position = place.next;
			rc = write_if_full(taking);
		}
	}
	return rc;
}

/* Takes all facts that hold, for a sink that begins, or whose position was cleaned away. */
static int take_collected(struct initlog_taking *taking, uint64_t limit)
{
	const struct region *region = &taking->process->region;
	const bool over = taking->drain->final || taking->process->alive == ALIVE_DEAD;
	struct log_place place;
	struct log_facts facts;
	int rc = log_collect(region, taking->position, limit, over, &facts);

	for (size_t i = 0; rc == 0 && i < facts.count; i++) {
		taking->at_record = facts.fact[i].position;
		if (log_look(region, taking->at_record, UINT64_MAX, &place) != LOG_RECORD ||
		    place.head.origin != facts.fact[i].origin)
			rc = -ESTALE;
		else
			rc = initlog_taking_record(taking, &place);
		if (rc == 0) {
			taking->position = facts.fact[i].origin + place.head.size;
			rc = write_if_full(taking);
		}
	}
	if (rc == 0) {
		taking->at->init.begun = true;
		if (facts.until > taking->position)
			taking->position = facts.until;
	}
	free(facts.fact);
	return rc == -EAGAIN ? -ESTALE : rc;
}

void initlog_update_counts(struct drained_process *process)
{
	const struct kymo_region *header = region_header(&process->region);
	uint64_t no_ring = __atomic_load_n(&header->dropped_no_ring, __ATOMIC_RELAXED);
	uint64_t dropped = __atomic_load_n(&header->log_dropped, __ATOMIC_RELAXED);

	process->texts_cut = __atomic_load_n(&header->texts_cut, __ATOMIC_RELAXED);
	process->no_ring_why = __atomic_load_n(&header->no_ring_why, __ATOMIC_RELAXED);
	no_ring = promise_dropped_since(no_ring, process->no_ring_base);
	if (no_ring > process->dropped_no_ring)
		process->dropped_no_ring = no_ring;
	if (dropped > process->init_dropped && dropped <= DROPPED_MAX)
		process->init_dropped = dropped;
}

/* Return: 0; -errno of the sink. If the log is cleaned again and again meanwhile: 0, and the next
 * round continues. */
static int read_log(struct initlog_taking *taking)
{
	struct sink_process *at = taking->at;
	const uint64_t limit = at->init.limit ? at->init.limit : taking->process->init_limit;
	int rc = -ESTALE;

	for (int i = 0; rc == -ESTALE && i < OVERTAKEN_TRIES; i++) {
		bool behind = taking->position < log_bounds(&taking->process->region).head;

		rc = 0;
		if (behind || (limit && !at->init.begun))
			rc = take_collected(taking, limit);
		if (rc == 0)
			rc = read_onward(taking);
		if (taking->batch.count && (rc == 0 || rc == -ESTALE)) {
			int written = initlog_taking_write(taking);

			rc = written < 0 ? written : rc;
		}
	}
	if (rc == 0)
		initlog_taking_at(taking);
	return rc == -ESTALE ? 0 : rc;
}

static int drain_into(struct drained_process *process, struct drain *drain, struct sink *sink,
		      struct sink_process *at)
{
	struct initlog_taking taking = {
		.process = process, .drain = drain, .sink = sink, .at = at,
		.position = at->init.taken,
	};
	int rc;

	drain_update_clock(drain);
	rc = read_log(&taking);
	free(taking.where);
	if (at->init.bad > process->init_bad) {
		say_text(&drain->sayer, "%s: %llu init events are invalid and left out",
			 process->region.name,
			 (unsigned long long)(at->init.bad - process->init_bad));
		process->init_bad = at->init.bad;
	}
	return rc;
}

/* Whether the sink at place @index does not have all of the log. */
static bool lacks(const struct drained_process *process, unsigned index, uint64_t tail)
{
	return process->at[index]->init.taken < tail;
}

bool initlog_is_pending(const struct drained_process *process, const struct drain *drain)
{
	uint64_t tail = log_bounds(&process->region).tail;

	for (unsigned i = 0; i < drain->sink_count; i++)
		if (!lacks(process, i, tail))
			return false;
	return true;
}

/* Publishes up to where the log was read: the process may clean it up to there. */
static void publish_taken(struct drained_process *process, const struct drain *drain)
{
	const uint64_t settle_ns =
		2 * drain->patience_ns > SETTLE_NS ? 2 * drain->patience_ns : SETTLE_NS;
	struct kymo_region *header = region_header(&process->region);
	uint64_t taken = UINT64_MAX;

	for (unsigned i = 0; i < drain->sink_count; i++)
		if (process->at[i]->init.taken < taken)
			taken = process->at[i]->init.taken;
	if (!drain->sink_count || process->alive == ALIVE_DEAD)
		return;
	if (!filter_wants_process(process->filter))
		taken = log_bounds(&process->region).tail; /* if it is wanted again, the facts that
							      hold by then are read */
	else if (drain_filter_taken(process) < taken)
		taken = drain_filter_taken(process);
	if (taken != process->log_taken)
		__atomic_store_n(&header->log_taken, taken, __ATOMIC_RELEASE);
	process->log_taken = taken;
	if (drain->now_ns - process->log_noted_ns < settle_ns)
		return;
	process->log_settled = process->log_noted;
	__atomic_store_n(&header->log_settled, process->log_settled, __ATOMIC_RELEASE);
	process->log_noted = taken;
	process->log_noted_ns = drain->now_ns;
}

bool initlog_is_complete(const struct drained_process *process, const struct sink_process *at)
{
	return at->init.taken >= log_bounds(&process->region).tail;
}

int initlog_drain_to(struct drained_process *process, struct drain *drain, struct sink *sink,
		     struct sink_process *at)
{
	if (process->cut || initlog_is_complete(process, at))
		return 0;
	return region_grow(&process->region) < 0 ? -EIO : drain_into(process, drain, sink, at);
}

int initlog_drain(struct drained_process *process, struct drain *drain)
{
	uint64_t tail = log_bounds(&process->region).tail;
	bool news = false;

	(void)drain_filter_update(process, drain);
	for (unsigned i = 0; i < drain->sink_count; i++)
		news |= lacks(process, i, tail);
	news &= filter_wants_process(process->filter);
	if (process->cut || region_grow(&process->region) < 0)
		return sinks_rc(drain);
	if (news)
		initlog_update_counts(process);
	for (unsigned i = 0; news && i < drain->sink_count; i++) {
		int rc = 0;

		if (sink_is_up(drain->sink[i]) && lacks(process, i, tail))
			rc = drain_into(process, drain, drain->sink[i], process->at[i]);

		if (rc < 0)
			(void)sink_failed(drain->sink[i], rc);
	}
	publish_taken(process, drain);
	return sinks_rc(drain);
}
