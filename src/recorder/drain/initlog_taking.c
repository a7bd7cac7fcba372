/* SPDX-License-Identifier: Apache-2.0 */
/* See initlog_taking.h. What a process wrote is copied first and then checked. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/points.h"
#include "recorder/drain/initlog_taking.h"
#include "recorder/records/record_walk.h"

#define DECLARATION_MAX 8192	/* bytes; 16 fields with the longest names need less */
#define BATCH_EVENTS (DRAIN_SCRATCH / sizeof(struct sink_fact))

void initlog_taking_at(struct initlog_taking *taking)
{
	taking->at->init.taken = taking->position;
	taking->at->init.bad += taking->bad;
	taking->bad = 0;
}

int initlog_taking_write(struct initlog_taking *taking)
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
	initlog_taking_at(taking);
	return 0;
}

static int declare(struct initlog_taking *taking, enum ctf_class class, unsigned id)
{
	struct sink *sink = taking->sink;

	return sink->ops->declare ? sink->ops->declare(sink, taking->at, class, id) : 0;
}

/*
 * From its first declaration on, a process has events of its own, and a sink may keep it in a trace
 * of its own, because its ids mean nothing elsewhere. So the facts collected before are handed over
 * first.
 */
static int take_declaration(struct initlog_taking *taking, const struct log_place *record)
{
	uint8_t copy[DECLARATION_MAX];	/* shared memory may change meanwhile */
	struct drained_process *process = taking->process;
	uint16_t id;
	int rc = 0;

	if (record->head.payload_size > sizeof copy)
		return -EBADMSG;
	if (!taking->at->own && taking->batch.count)
		rc = initlog_taking_write(taking);
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
static uint64_t time_in_sink(const struct initlog_taking *taking, uint64_t ns)
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
static int take_fact(struct initlog_taking *taking, const struct log_place *record)
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
	int rc = batch->count && batch->known != known ? initlog_taking_write(taking) : 0;

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

int initlog_taking_record(struct initlog_taking *taking, const struct log_place *record)
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
