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
#include <string.h>

#include "abi/points.h"
#include "recorder/drain/drain.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/filter/filter.h"
#include "recorder/records/record_walk.h"
#include "recorder/runtime/initlog_cursor.h"

#define DECLARATION_MAX 8192	/* bytes; 16 fields with the longest names need less */
#define BATCH_EVENTS (DRAIN_SCRATCH / sizeof(struct sink_fact))
/* by then, records of that time have been taken from the rings, too */
#define SETTLE_NS	2000000000u
#define OVERTAKEN_TRIES	4

/* Reading the log once for one sink. Facts are collected in `batch`, and go to the sink many at a
 * time. */
struct taking {
	struct drained_process *process;
	struct drain *drain;
	struct sink *sink;
	struct sink_process *at;
	struct sink_facts batch;
	uint32_t *where;    /* [BATCH_EVENTS], allocated with the first fact */
	uint64_t position;  /* in the log: each fact with an origin before it is in the batch or was
			       handed over */
	uint64_t at_record; /* position of the record that is being read */
	uint64_t bad;       /* invalid records before it */
};

/* The sink has all facts before the position. */
static void set_taken(struct taking *taking)
{
	taking->at->init.taken = taking->position;
	taking->at->init.bad += taking->bad;
	taking->bad = 0;
}

static int batch_write(struct taking *taking)
{
	struct sink_process *at = taking->at;
	struct sink_facts *batch = &taking->batch;
	int rc;

	batch->discarded = sink_init_discarded(at);
	batch->bytes = taking->drain->scratch;
	batch->at = taking->where;
	batch->promised = true;
	rc = taking->sink->ops->facts(taking->sink, at, batch);
	if (rc < 0)
		return rc;
	at->init.prev_ns = batch->end;
	at->init.discarded = batch->discarded;
	if (!batch->known) {
		at->init.events += batch->count;
		at->init.bytes += batch->size;
	}
	if (taking->sink->id && at->init.events > at->process->init_events)
		at->process->init_events = at->init.events;
	*batch = (struct sink_facts){ 0 };
	set_taken(taking);
	return 0;
}

static int declare(struct taking *taking, enum ctf_class class, unsigned id)
{
	struct sink *sink = taking->sink;

	return sink->ops->declare ? sink->ops->declare(sink, taking->at, class, id) : 0;
}

/*
 * From its first declaration on, a process has events of its own, and a sink may keep it in a trace
 * of its own, because its ids mean nothing elsewhere. So the facts collected before are handed over
 * first.
 */
static int take_declaration(struct taking *taking, const struct log_place *record)
{
	uint8_t copy[DECLARATION_MAX];	/* shared memory may change meanwhile */
	struct drained_process *process = taking->process;
	uint16_t id;
	int rc = 0;

	if (record->head.payload_size > sizeof copy)
		return -EBADMSG;
	if (!taking->at->own && taking->batch.count)
		rc = batch_write(taking);
	if (rc < 0)
		return rc;
	memcpy(copy, record->payload, record->head.payload_size);
	if (!log_holds(&process->region, taking->at_record))
		return -ESTALE;
	rc = classes_declare(&process->classes, copy, record->head.payload_size);
	if (rc < 0)
		return rc == -EINVAL ? -EBADMSG : rc;
	taking->at->own = true;
	memcpy(&id, copy, sizeof id);
	return declare(taking, CTF_CLASS_RUN, id);
}

/* An event gets its own time, but none before the sink begins nor before its predecessor. */
static uint64_t time_in_sink(const struct taking *taking, uint64_t ns)
{
	uint64_t floor = taking->batch.count ? taking->batch.end : taking->at->init.prev_ns;

	if (ns > taking->drain->now_ns)
		ns = taking->drain->now_ns;
	if (ns < taking->sink->start_ns)
		ns = taking->sink->start_ns;
	return ns < floor ? floor : ns;
}

static bool is_fact(const struct classes *classes, const struct kymo_log_record *head,
		    const uint8_t *payload)
{
	const struct kymo_point *point = classes_get(classes, head->id);

	return point && (point->phase == KYMO_PHASE_INIT || head->id >= KYMO_POINTS_TABLE) &&
	       walk_payload(classes, head->id, payload, head->payload_size) ==
		       (long)head->payload_size;
}

/*
 * The record is copied first, then checked: shared memory may change meanwhile. Facts that the sink
 * had before its last turn go into batches of their own.
 */
static int take_fact(struct taking *taking, const struct log_place *record)
{
	const bool known = record->head.origin < taking->at->init.known;
	struct drained_process *process = taking->process;
	struct sink_facts *batch = &taking->batch;
	struct sink_fact fact = {
		.id = record->head.id,
		.ns = time_in_sink(taking, record->head.ns),
		.init_timestamp = record->head.ns,
		.vpid = (int32_t)process->region.pid,
		.vtid = (int32_t)record->head.tid,
	};
	uint8_t *to;
	int rc = batch->count && batch->known != known ? batch_write(taking) : 0;

	if (rc < 0)
		return rc;
	to = taking->drain->scratch + batch->size;
	memcpy(to + sizeof fact, record->payload, record->head.payload_size);
	if (!log_holds(&process->region, taking->at_record))
		return -ESTALE;
	if (!is_fact(&process->classes, &record->head, to + sizeof fact))
		return -EBADMSG;
	rc = declare(taking, CTF_CLASS_INIT, record->head.id);
	if (rc < 0)
		return rc;
	if (!taking->where)
		taking->where = malloc(BATCH_EVENTS * sizeof *taking->where);
	if (!taking->where)
		return -ENOMEM;
	memcpy(fact.procname, record->head.name, KYMO_NAME_MAX);
	memcpy(to, &fact, sizeof fact);
	taking->where[batch->count] = (uint32_t)batch->size;
	batch->size += sizeof fact + record->head.payload_size;
	batch->known = known;
	if (!batch->count++)
		batch->begin = fact.ns;
	batch->end = fact.ns;
	return 0;
}

static_assert(DRAIN_SCRATCH >= sizeof(struct sink_fact) + KYMO_LOG_CHUNK, "one event fits");

/* One record. Return: 0, also when it is invalid; -ESTALE: overwritten meanwhile; -errno of the
 * sink. */
static int take_record(struct taking *taking, const struct log_place *record)
{
	int rc = 0;

	if (record->head.id == KYMO_LOG_DECLARE)
		rc = take_declaration(taking, record);
	else if (record->head.id != KYMO_LOG_GONE)
		rc = take_fact(taking, record);
	if (rc == -EBADMSG)
		taking->bad++;
	return rc == -EBADMSG ? 0 : rc;
}

/* Hands over early: what was handed over is not handed over again when a later step fails. */
static int write_if_full(struct taking *taking)
{
	const size_t enough = DRAIN_SCRATCH - sizeof(struct sink_fact) - KYMO_LOG_CHUNK;

	return taking->batch.size > enough ? batch_write(taking) : 0;
}

/*
 * In the log of a living process, a hole is a record that is being written. Later records wait for
 * it, to keep the order, but not for ever. Return: whether to skip the hole now.
 */
static bool skips_hole(struct taking *taking)
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
static int read_onward(struct taking *taking)
{
	const uint64_t tail = log_bounds(&taking->process->region).tail;
	struct log_place place;
	int rc = 0;

	while (rc == 0) {
		taking->at_record = taking->position;
		switch (log_look(&taking->process->region, taking->position, tail, &place)) {
		case LOG_RECORD:
			if (place.head.origin == taking->position)
				rc = take_record(taking, &place);
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
static int take_collected(struct taking *taking, uint64_t limit)
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
			rc = take_record(taking, &place);
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
static int read_log(struct taking *taking)
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
			int written = batch_write(taking);

			rc = written < 0 ? written : rc;
		}
	}
	if (rc == 0)
		set_taken(taking);
	return rc == -ESTALE ? 0 : rc;
}

static int drain_into(struct drained_process *process, struct drain *drain, struct sink *sink,
		      struct sink_process *at)
{
	struct taking taking = {
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
