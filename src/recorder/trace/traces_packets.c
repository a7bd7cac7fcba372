/* SPDX-License-Identifier: Apache-2.0 */
/* From packets, batches and facts of a process to the streams of its trace. */
#include "recorder/trace/traces_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

/* A stream whose name ends with @what. */
static struct ctf_out *new_stream(struct traces *traces, const struct sink_process *at,
				  enum ctf_class class, const char *what)
{
	char name[64];

	(void)snprintf(name, sizeof name, "%u-%u_%s", at->process->region.pid, at->process->ordinal,
		       what);
	return ctf_out_create(traces_writer(traces, at), class, name);
}

/*
 * Readers count lost events from one packet to the next, so a stream that begins with a loss gets
 * an empty packet before it, at front_ns.
 */
static int write_front(const struct traces *traces, struct ctf_out *out,
		       const struct ctf_packet *packet)
{
	struct ctf_packet none = *packet;

	none.begin = traces->front_ns < packet->begin ? traces->front_ns : packet->begin;
	none.end = none.begin;
	none.discarded = 0;
	none.size = none.count = 0;
	return ctf_out_packet(out, &none);
}

/* Times before the horizon are moved to it: readers have read on to there. */
static uint64_t not_before(const struct traces *traces, uint64_t ns)
{
	return ns > traces->horizon_ns ? ns : traces->horizon_ns;
}

static int write_packet(const struct traces *traces, const struct sink_process *at,
			struct ctf_out *out, struct ctf_packet *packet,
			enum kymo_promise_moves moves)
{
	struct traces_write front = { at->process, KYMO_PROMISE_NOTHING },
			    writing = { at->process, moves };
	struct ctf_writer *writer = traces_writer(traces, at);
	int rc = 0;

	if (!out)
		return -ENOMEM;
	if (!packet->size) {
		packet->begin = not_before(traces, packet->begin);
		packet->end = packet->end > packet->begin ? packet->end : packet->begin;
	}
	if ((packet->discarded || traces->fronts) && !ctf_out_packets(out)) {
		ctf_writer_watch(writer, traces_before_write, &front);
		rc = traces_wrote(writer, &front, write_front(traces, out, packet));
	}
	if (rc < 0)
		return rc;
	ctf_writer_watch(writer, traces_before_write, &writing);
	return traces_wrote(writer, &writing, ctf_out_packet(out, packet));
}

static void count_events(struct traces *traces, const struct sink_process *at, uint32_t records)
{
	struct traces_process *mine = at->data;

	*(mine->own ? &mine->own_events : &traces->shared_events) += records;
	traces->events += records;
	traces->news = true;
}

int traces_packet(struct traces *traces, struct sink_process *at, const struct sink_packet *from)
{
	const struct drained_process *process = at->process;
	struct sink_ring *ring = &at->ring[from->ring];
	struct ctf_packet packet = {
		.begin = from->begin,
		.end = from->end,
		.discarded = from->discarded - ring->stream_base,
		.cpu = from->cpu,
		.vpid = (int32_t)process->region.pid,
		.events = from->bytes,
		.size = from->size,
		.count = from->records,
	};
	int rc = from->size ? traces_declare_runtime(traces, at, CTF_CLASS_RUN) : 0;
	char number[16];

	if (rc < 0)
		return rc;
	if (from->account) {
		packet.vtid = from->account->tid;
		memcpy(packet.procname, from->account->name, sizeof packet.procname);
	}
	if (!ring->stream) {
		(void)snprintf(number, sizeof number, "%u", from->ring);
		ring->stream = new_stream(traces, at, CTF_CLASS_RUN, number);
	}
	rc = write_packet(traces, at, ring->stream, &packet,
			  from->promised ? KYMO_PROMISE_RINGS : KYMO_PROMISE_NOTHING);
	if (rc < 0)
		return rc;
	count_events(traces, at, from->records);
	return 0;
}

/* Facts that the previous chunk has, too, go to a stream of their own: a reader of both chunks
 * skips it. */
static void choose_facts(struct traces *traces, struct sink_process *at, bool known)
{
	struct traces_process *mine = at->data;

	if (at->init.stream && mine->known != known) {
		ctf_out_close(at->init.stream);
		at->init.stream = NULL;
	}
	mine->known = known;
	if (!at->init.stream)
		at->init.stream = new_stream(traces, at, CTF_CLASS_INIT, known ? "known" : "init");
}

/* The events that the process declared before are only in the metadata of streams of one thread:
 * declare them here, too. */
static int declare_own_merged(struct ctf_writer *writer, const struct drained_process *process)
{
	struct traces_write writing = { (struct drained_process *)process, KYMO_PROMISE_NOTHING };
	int rc = 0;

	ctf_writer_watch(writer, traces_before_write, &writing);
	for (unsigned id = KYMO_POINTS_TABLE;
	     rc == 0 && id < KYMO_POINTS_TABLE + process->classes.room; id++) {
		const struct kymo_point *point = classes_get(&process->classes, id);

		rc = point ? ctf_writer_declare_own(writer, CTF_CLASS_MERGED, id, point) : 0;
	}
	return traces_wrote(writer, &writing, rc);
}

static int make_merged(struct traces *traces, struct sink_process *at)
{
	const struct traces_process *mine = at->data;
	int rc = mine->own ? declare_own_merged(mine->own, at->process) : 0;

	if (rc < 0)
		return rc;
	at->merged.stream = new_stream(traces, at, CTF_CLASS_MERGED, "threads");
	return at->merged.stream ? 0 : -ENOMEM;
}

int traces_batch(struct traces *traces, struct sink_process *at, const struct sink_batch *batch)
{
	struct ctf_packet packet = {
		.begin = batch->begin,
		.end = batch->end,
		.discarded = batch->discarded - at->merged.stream_base,
		.cpu = batch->cpu,
		.vpid = (int32_t)at->process->region.pid,
		.events = batch->bytes,
		.size = batch->size,
		.count = batch->records,
	};
	int rc = batch->size ? traces_declare_runtime(traces, at, CTF_CLASS_MERGED) : 0;

	if (rc == 0 && !at->merged.stream)
		rc = make_merged(traces, at);
	if (rc == 0)
		rc = write_packet(traces, at, at->merged.stream, &packet, KYMO_PROMISE_RINGS);
	if (rc < 0)
		return rc;
	count_events(traces, at, batch->records);
	return 0;
}

/* Facts that come late get a later time; the true time is in init_timestamp. */
static int move_facts(struct traces *traces, const struct sink_facts *facts,
		      struct ctf_packet *packet)
{
	if (!ARRAY_FIT(traces->moved, facts->size, traces->moved_room))
		return -ENOMEM;
	if (facts->size)
		memcpy(traces->moved, facts->bytes, facts->size);
	packet->begin = not_before(traces, packet->begin);
	packet->end = not_before(traces, packet->end);
	for (uint32_t i = 0; i < facts->count; i++) {
		struct sink_fact fact;

		memcpy(&fact, traces->moved + facts->at[i], sizeof fact);
		fact.ns = not_before(traces, fact.ns);
		memcpy(traces->moved + facts->at[i], &fact, sizeof fact);
	}
	packet->events = traces->moved;
	return 0;
}

int traces_facts(struct traces *traces, struct sink_process *at, const struct sink_facts *facts)
{
	struct ctf_packet packet = {
		.begin = facts->begin,
		.end = facts->end,
		.discarded = facts->known ? 0 : facts->discarded - at->init.stream_base,
		.events = facts->bytes,
		.size = facts->size,
		.count = facts->count,
	};
	/* Known facts are at the begin of a chunk, and readers do not take them for new. */
	int rc = !facts->known && facts->begin < traces->horizon_ns
			 ? move_facts(traces, facts, &packet)
			 : 0;

	if (rc < 0)
		return rc;
	choose_facts(traces, at, facts->known);
	rc = write_packet(traces, at, at->init.stream, &packet,
			  facts->promised && !facts->known ? KYMO_PROMISE_NO_RING
							   : KYMO_PROMISE_NOTHING);
	if (rc < 0)
		return rc;
	if (facts->known)
		traces->known += facts->size;
	traces->news |= !facts->known;
	return 0;
}
