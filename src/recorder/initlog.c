/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From init log to sinks. The log holds facts as they happened; a trace wants them in time
 * order and not before its start, so each becomes an event at the session's start or its own
 * time, with its true time in the context.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/points.h"
#include "recorder/process.h"
#include "recorder/walk.h"

#define DECLARATION_MAX 8192	/* bytes; 16 fields with the longest names need less */
#define BATCH_EVENTS (DRAIN_SCRATCH / sizeof(struct sink_fact))

/* One look at the log for one sink; facts gather here and go to it many at a time. */
struct taking {
	struct process *process;
	struct drain *drain;
	struct sink *sink;
	struct sink_process *at;
	struct sink_facts batch;
	uint32_t *where;		/* [BATCH_EVENTS], allocated with the first fact */
	uint64_t position;		/* in the log: all before it is in the batch or was handed over */
	uint64_t bad;			/* of it */
};

/* All up to the position is the sink's. */
static void settle(struct taking *taking)
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

	batch->discarded = init_discarded(at);
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
	if (at->init.events > at->process->init_events)
		at->process->init_events = at->init.events;
	*batch = (struct sink_facts){ 0 };
	settle(taking);
	return 0;
}

/* Bounds-checked copy of one record's fixed part, and where its payload is. */
struct record {
	const uint8_t *payload;
	struct kymo_log_record head;
};

enum look { LOOK_RECORD, LOOK_DECLARATION, LOOK_PAD, LOOK_HOLE, LOOK_BAD };

static bool is_fact(const struct classes *classes, const struct record *record)
{
	const struct kymo_point *point = classes_get(classes, record->head.id);

	return point && (point->phase == KYMO_PHASE_INIT || record->head.id >= KYMO_POINTS_TABLE) &&
	       walk_payload(classes, record->head.id, record->payload, record->head.payload_size) ==
	       (long)record->head.payload_size;
}

/* The record at @position; @room bytes are left in its chunk and in the log. */
static enum look look_at(const struct classes *classes, const uint8_t *at, uint64_t position,
			 uint64_t room, struct record *record)
{
	const struct kymo_log_record *shared = (const void *)at;

	/* Pairs with the release that ends the writing of a record. */
	if (__atomic_load_n(&shared->stamp, __ATOMIC_ACQUIRE) != (KYMO_LOG_STAMP ^ position))
		return LOOK_HOLE;
	memcpy(&record->head, at, sizeof record->head);
	record->payload = at + sizeof record->head;
	if (record->head.size < sizeof record->head || record->head.size % 8 ||
	    record->head.size > room)
		return LOOK_BAD;
	if (record->head.id == KYMO_LOG_PAD)
		return LOOK_PAD;
	if (record->head.payload_size > record->head.size - sizeof record->head)
		return LOOK_BAD;
	if (record->head.id == KYMO_LOG_DECLARE)
		return LOOK_DECLARATION;
	return is_fact(classes, record) ? LOOK_RECORD : LOOK_BAD;
}

static int declare(struct taking *taking, enum ctf_class class, unsigned id)
{
	struct sink *sink = taking->sink;

	return sink->ops->declare ? sink->ops->declare(sink, taking->at, class, id) : 0;
}

/*
 * From its first declaration on, a process is one with events of its own: a sink may keep it apart
 * from others, since its ids mean nothing elsewhere. So what was before goes first.
 */
static int take_declaration(struct taking *taking, const struct record *record)
{
	uint8_t copy[DECLARATION_MAX];	/* what is read may change meanwhile */
	struct process *process = taking->process;
	uint16_t id;
	int rc = 0;

	if (record->head.payload_size > sizeof copy)
		return -EBADMSG;
	if (!taking->at->own && taking->batch.count)
		rc = batch_write(taking);
	if (rc < 0)
		return rc;
	memcpy(copy, record->payload, record->head.payload_size);
	rc = classes_declare(&process->classes, copy, record->head.payload_size);
	if (rc < 0)
		return rc == -EINVAL ? -EBADMSG : rc;
	taking->at->own = true;
	memcpy(&id, copy, sizeof id);
	return declare(taking, CTF_CLASS_RUN, id);
}

/* An event stands where it happened, but not before the sink begins nor before its predecessor. */
static uint64_t place(const struct taking *taking, uint64_t ns)
{
	uint64_t floor = taking->batch.count ? taking->batch.end : taking->at->init.prev_ns;

	if (ns > taking->drain->now_ns)
		ns = taking->drain->now_ns;
	if (ns < taking->sink->start_ns)
		ns = taking->sink->start_ns;
	return ns < floor ? floor : ns;
}

static int batch_add(struct taking *taking, const struct record *record)
{
	struct sink_facts *batch = &taking->batch;
	struct sink_fact fact = {
		.id = record->head.id,
		.ns = place(taking, record->head.ns),
		.init_timestamp = record->head.ns,
		.vpid = (int32_t)taking->process->region.pid,
		.vtid = (int32_t)record->head.tid,
	};
	uint8_t *to = taking->drain->scratch + batch->size;

	if (!taking->where)
		taking->where = malloc(BATCH_EVENTS * sizeof *taking->where);
	if (!taking->where)
		return -ENOMEM;
	memcpy(fact.procname, record->head.name, KYMO_NAME_MAX);
	memcpy(to, &fact, sizeof fact);
	memcpy(to + sizeof fact, record->payload, record->head.payload_size);
	taking->where[batch->count] = (uint32_t)batch->size;
	batch->size += sizeof fact + record->head.payload_size;
	if (!batch->count++)
		batch->begin = fact.ns;
	batch->end = fact.ns;
	return 0;
}

static_assert(DRAIN_SCRATCH >= sizeof(struct sink_fact) + KYMO_LOG_CHUNK, "one event fits");

/* @known: the sink had it before its last turn; such facts have batches of their own. */
static int take_fact(struct taking *taking, const struct record *record, bool known)
{
	int rc = 0;

	if (taking->batch.count && taking->batch.known != known)
		rc = batch_write(taking);
	if (rc == 0)
		rc = declare(taking, CTF_CLASS_INIT, record->head.id);
	if (rc == 0) {
		taking->batch.known = known;
		rc = batch_add(taking, record);
	}
	return rc;
}

/* Where the log goes on behind what cannot be read: the next record with its stamp, or the end. */
static uint64_t next_stamp(const uint8_t *chunk, uint64_t position, uint64_t end)
{
	for (position += 8; position + sizeof(struct kymo_log_record) <= end; position += 8) {
		const struct kymo_log_record *at =
			(const void *)(chunk + position % KYMO_LOG_CHUNK);

		if (__atomic_load_n(&at->stamp, __ATOMIC_ACQUIRE) == (KYMO_LOG_STAMP ^ position))
			return position;
	}
	return end;
}

static const uint8_t *chunk_at(const struct process *process, uint64_t position)
{
	const struct kymo_region *header = region_header(&process->region);
	const uint32_t *log_page = region_page(&process->region, KYMO_LOG_DIR_PAGE, 1);
	uint64_t chunk = position / KYMO_LOG_CHUNK;
	uint32_t page;

	if (chunk >= KYMO_LOG_CHUNKS_MAX ||
	    chunk >= __atomic_load_n(&header->log_chunk_count, __ATOMIC_ACQUIRE))
		return NULL;
	page = __atomic_load_n(&log_page[chunk], __ATOMIC_ACQUIRE);
	if (page < KYMO_FIRST_SEGMENT_PAGE)
		return NULL;
	return region_page(&process->region, page, KYMO_LOG_CHUNK / KYMO_PAGE);
}

/*
 * One step through the log. Return: new position; the old one: wait here.
 * A hole in a living process is a record that is being written: its place in the order is kept.
 */
static uint64_t init_step(struct taking *taking, uint64_t at, uint64_t tail, int *rc)
{
	const struct process *process = taking->process;
	uint64_t chunk_end = (at / KYMO_LOG_CHUNK + 1) * KYMO_LOG_CHUNK;
	uint64_t end = tail < chunk_end ? tail : chunk_end;
	const uint8_t *chunk = chunk_at(process, at);
	bool over = taking->drain->final || process->alive == ALIVE_DEAD;
	struct record record;

	if (!chunk)
		return at;
	if (chunk_end - at < sizeof record.head)
		return chunk_end;
	if (end - at < sizeof record.head)
		return at;
	switch (look_at(&process->classes, chunk + at % KYMO_LOG_CHUNK, at, end - at, &record)) {
	case LOOK_DECLARATION:
		*rc = take_declaration(taking, &record);
		if (*rc == -EBADMSG) {
			*rc = 0;
			taking->bad++;
		}
		return *rc < 0 ? at : at + record.head.size;
	case LOOK_RECORD:
		*rc = take_fact(taking, &record, at < taking->at->init.known);
		return *rc < 0 ? at : at + record.head.size;
	case LOOK_PAD:
		return at + record.head.size;
	case LOOK_HOLE:
		return over ? next_stamp(chunk, at, end) : at;
	default:
		taking->bad++;
		return next_stamp(chunk, at, end);
	}
}

void init_counters(struct process *process)
{
	const struct kymo_region *header = region_header(&process->region);
	uint64_t no_ring = __atomic_load_n(&header->dropped_no_ring, __ATOMIC_RELAXED);
	uint64_t dropped = __atomic_load_n(&header->log_dropped, __ATOMIC_RELAXED);

	process->texts_cut = __atomic_load_n(&header->texts_cut, __ATOMIC_RELAXED);
	if (no_ring > process->no_ring_base + process->dropped_no_ring)
		process->dropped_no_ring = no_ring - process->no_ring_base;
	if (dropped > process->init_dropped)
		process->init_dropped = dropped;
}

/* On to @tail. What was handed over is not handed over again when a later step fails. */
static int take(struct taking *taking, uint64_t tail)
{
	const size_t enough = DRAIN_SCRATCH - sizeof(struct sink_fact) - KYMO_LOG_CHUNK;
	int rc = 0;

	while (rc == 0 && taking->position < tail) {
		uint64_t next = init_step(taking, taking->position, tail, &rc);

		if (next == taking->position)
			break;
		taking->position = next;
		if (taking->batch.size > enough)
			rc = batch_write(taking);
	}
	if (taking->batch.count && rc == 0)
		rc = batch_write(taking);
	if (rc == 0)
		settle(taking);
	return rc;
}

static int drain_into(struct process *process, struct drain *drain, unsigned index, uint64_t tail)
{
	struct sink_process *at = process->at[index];
	struct taking taking = {
		.process = process, .drain = drain, .sink = drain->sink[index], .at = at,
		.position = at->init.taken,
	};
	int rc;

	if (tail <= at->init.taken)
		return 0;
	drain_look_at_clock(drain);
	rc = take(&taking, tail);
	free(taking.where);
	if (at->init.bad > process->init_bad) {
		drain_say(drain, "%s: %llu init events make no sense and are left out",
			  process->region.name, (unsigned long long)(at->init.bad - process->init_bad));
		process->init_bad = at->init.bad;
	}
	return rc;
}

/* Bytes of the log that are reserved. */
static uint64_t log_tail(const struct process *process)
{
	uint64_t tail = __atomic_load_n(&region_header(&process->region)->log_tail, __ATOMIC_ACQUIRE);
	uint64_t most = (uint64_t)KYMO_LOG_CHUNK * KYMO_LOG_CHUNKS_MAX;

	return tail < most ? tail : most;
}

bool init_is_pending(const struct process *process, const struct drain *drain)
{
	uint64_t tail = log_tail(process);

	for (unsigned i = 0; i < drain->sink_count; i++)
		if (process->at[i]->init.taken >= tail)
			return false;
	return true;
}

int init_drain(struct process *process, struct drain *drain)
{
	uint64_t tail = log_tail(process);
	bool news = false;

	for (unsigned i = 0; i < drain->sink_count; i++)
		news |= tail > process->at[i]->init.taken;
	if (!news || process->cut || region_grow(&process->region) < 0)
		return sinks_rc(drain);
	init_counters(process);
	for (unsigned i = 0; i < drain->sink_count; i++) {
		int rc = sink_is_up(drain->sink[i]) ? drain_into(process, drain, i, tail) : 0;

		if (rc < 0)
			(void)sink_failed(drain->sink[i], rc);
	}
	return sinks_rc(drain);
}
