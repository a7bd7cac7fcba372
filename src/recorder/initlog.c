/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From init log to trace. The log holds facts as they happened; the trace wants them in time
 * order and not before the session, so each becomes an event at the session's start or its own
 * time, with its true time in the context.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/points.h"
#include "recorder/process.h"
#include "recorder/walk.h"

/* Event header and event context of CTF_CLASS_INIT, as the metadata declares them. */
struct init_event {
	uint16_t id;
	uint64_t ns;
	uint64_t init_timestamp;
	int32_t vpid, vtid;
	char procname[CTF_PROCNAME_SIZE];
} __attribute__((packed));

#define DECLARATION_MAX 8192	/* bytes; 16 fields with the longest names need less */

/* A packet under construction; thrown away when it cannot be written. */
struct batch {
	size_t used;
	uint64_t begin, end;
	uint64_t events;
};

static uint64_t init_discarded(const struct process *process)
{
	return process->init_dropped + process->dropped_no_ring;
}

static int batch_write(struct process *process, struct drain *drain, const struct batch *batch)
{
	struct init_log *init = &process->init;
	struct ctf_packet packet = {
		.begin = batch->begin,
		.end = batch->end,
		.discarded = init_discarded(process),
		.events = drain->scratch,
		.size = batch->used,
	};
	char name[64];
	int rc;

	if (!init->out) {
		(void)snprintf(name, sizeof name, "%u-%u_init", process->region.pid,
			       process->ordinal);
		init->out = ctf_out_create(process_writer(process, drain), CTF_CLASS_INIT, name);
	}
	rc = drain_packet(drain, init->out, &packet);
	if (rc < 0)
		return rc;
	init->prev_ns = batch->end;
	init->discarded = packet.discarded;
	init->events += batch->events;
	process->bytes += batch->used;
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

/* Make sure that the metadata has the event, in whichever trace the process writes. */
static int declare_fact(const struct process *process, const struct drain *drain, unsigned id)
{
	struct ctf_writer *writer = process_writer(process, drain);

	if (id < KYMO_POINTS_TABLE)
		return ctf_writer_declare(writer, id);
	return ctf_writer_declare_own(writer, CTF_CLASS_INIT, id, classes_get(&process->classes, id));
}

/* From its first declaration on, a process writes a trace of its own: its ids mean nothing elsewhere. */
static int leave_shared(struct process *process, struct drain *drain, struct batch *batch)
{
	struct init_log *init = &process->init;
	int rc = 0;

	if (process->own_writer)
		return 0;
	if (batch->events)
		rc = batch_write(process, drain, batch);
	if (rc < 0)
		return rc;
	*batch = (struct batch){ 0 };
	rc = drain->make_own_writer(drain->maker, process);
	if (rc < 0)
		return rc;
	if (init->out)
		ctf_out_close(init->out);
	init->out = NULL;
	for (unsigned i = 0; i < process->ring_count; i++)
		ring_leave_shared(&process->ring[i]);
	process->declared = false;	/* the table's runtime events, in the new metadata */
	return 0;
}

static int take_declaration(struct process *process, struct drain *drain, struct batch *batch,
			    const struct record *record)
{
	uint8_t copy[DECLARATION_MAX];	/* what is read may change meanwhile */
	uint16_t id;
	int rc;

	if (record->head.payload_size > sizeof copy)
		return -EBADMSG;
	rc = leave_shared(process, drain, batch);
	if (rc < 0)
		return rc;
	memcpy(copy, record->payload, record->head.payload_size);
	rc = classes_declare(&process->classes, copy, record->head.payload_size);
	if (rc < 0)
		return rc == -EINVAL ? -EBADMSG : rc;
	memcpy(&id, copy, sizeof id);
	return ctf_writer_declare_own(process->own_writer, CTF_CLASS_RUN, id,
				      classes_get(&process->classes, id));
}

static void batch_add(struct process *process, const struct drain *drain, struct batch *batch,
		      const struct record *record)
{
	struct init_event event = {
		.id = record->head.id,
		.ns = record->head.ns,
		.init_timestamp = record->head.ns,
		.vpid = (int32_t)process->region.pid,
		.vtid = (int32_t)record->head.tid,
	};
	uint64_t floor = batch->events ? batch->end : process->init.prev_ns;

	if (event.ns > drain->now_ns)
		event.ns = drain->now_ns;
	if (event.ns < drain->start_ns)
		event.ns = drain->start_ns;
	if (event.ns < floor)
		event.ns = floor;
	memcpy(event.procname, record->head.name, KYMO_NAME_MAX);
	memcpy(drain->scratch + batch->used, &event, sizeof event);
	memcpy(drain->scratch + batch->used + sizeof event, record->payload,
	       record->head.payload_size);
	batch->used += sizeof event + record->head.payload_size;
	if (!batch->events++)
		batch->begin = event.ns;
	batch->end = event.ns;
}

static_assert(DRAIN_SCRATCH >= sizeof(struct init_event) + KYMO_LOG_CHUNK, "one event fits");

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
static uint64_t init_step(struct process *process, struct drain *drain, struct batch *batch,
			  uint64_t at, uint64_t tail, int *rc)
{
	uint64_t chunk_end = (at / KYMO_LOG_CHUNK + 1) * KYMO_LOG_CHUNK;
	uint64_t end = tail < chunk_end ? tail : chunk_end;
	const uint8_t *chunk = chunk_at(process, at);
	bool over = drain->final || process->alive == ALIVE_DEAD;
	struct record record;

	if (!chunk)
		return at;
	if (chunk_end - at < sizeof record.head)
		return chunk_end;
	if (end - at < sizeof record.head)
		return at;
	switch (look_at(&process->classes, chunk + at % KYMO_LOG_CHUNK, at, end - at, &record)) {
	case LOOK_DECLARATION:
		*rc = take_declaration(process, drain, batch, &record);
		if (*rc == -EBADMSG) {
			*rc = 0;
			process->init.bad++;
		}
		return *rc < 0 ? at : at + record.head.size;
	case LOOK_RECORD:
		*rc = declare_fact(process, drain, record.head.id);
		if (*rc < 0)
			return at;
		batch_add(process, drain, batch, &record);
		return at + record.head.size;
	case LOOK_PAD:
		return at + record.head.size;
	case LOOK_HOLE:
		return over ? next_stamp(chunk, at, end) : at;
	default:
		process->init.bad++;
		return next_stamp(chunk, at, end);
	}
}

static void init_counters(struct process *process)
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

int init_drain(struct process *process, struct drain *drain)
{
	uint64_t tail = __atomic_load_n(&region_header(&process->region)->log_tail, __ATOMIC_ACQUIRE);
	struct init_log *init = &process->init;
	uint64_t at = init->taken, bad = init->bad;
	struct batch batch = { 0 };
	int rc = 0;

	if (tail <= at)
		return 0;
	if (tail > (uint64_t)KYMO_LOG_CHUNK * KYMO_LOG_CHUNKS_MAX)
		tail = (uint64_t)KYMO_LOG_CHUNK * KYMO_LOG_CHUNKS_MAX;
	if (region_grow(&process->region) < 0)
		return 0;
	init_counters(process);
	drain_look_at_clock(drain);
	while (at < tail) {
		uint64_t next = init_step(process, drain, &batch, at, tail, &rc);

		if (next == at)
			break;
		at = next;
		if (batch.used <= DRAIN_SCRATCH - sizeof(struct init_event) - KYMO_LOG_CHUNK)
			continue;
		rc = batch_write(process, drain, &batch);
		if (rc < 0)
			return rc;
		init->taken = at;
		batch = (struct batch){ 0 };
	}
	if (batch.events && rc == 0)
		rc = batch_write(process, drain, &batch);
	if (rc < 0) {			/* the same again later */
		init->bad = bad;
		return rc;
	}
	init->taken = at;
	if (init->bad > bad)
		drain_say(drain, "%s: %llu init events make no sense and are left out",
			  process->region.name, (unsigned long long)(init->bad - bad));
	return 0;
}

void init_finish(struct process *process, struct drain *drain)
{
	struct init_log *init = &process->init;
	struct batch last = { .begin = init->prev_ns, .end = drain->now_ns };

	init_counters(process);
	if (last.begin < drain->start_ns)
		last.begin = drain->start_ns;
	if (last.end < last.begin)
		last.end = last.begin;
	if (init_discarded(process) > init->discarded)
		(void)batch_write(process, drain, &last);	/* the accounts have it in any case */
	if (init->out)
		ctf_out_close(init->out);
	init->out = NULL;
}
