/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a snapshot, a step at a time: first the facts of each process, then the packets in the
 * order of their arrival. So packets before the cursor are no longer needed and can be dropped
 * during the writing. The snapshot goes through an ordinary CTF sink, for which it looks like a
 * session.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/now.h"
#include "recorder/flight/flight_write_internal.h"
#include "recorder/trace/sink_ctf.h"
#include "recorder/records/record_walk.h"
#include "recorder/session/session.h"

/* ---- begin ---- */

/* A process that ended before the snapshot begins, and has no packet in it, is left out. */
static bool takes_part(const struct flight_part *part, const struct flight_process *process)
{
	return !process->left_ns || process->left_ns >= part->begin_ns || process->kept;
}

static int gather(struct flight_writer *writer, const struct flight_part *part)
{
	unsigned count = 0;

	for (struct flight_process *process = part->processes; process; process = process->next)
		count += takes_part(part, process);
	writer->process = calloc(count + 1, sizeof *writer->process);
	if (!writer->process)
		return -ENOMEM;
	for (struct flight_process *process = part->processes; process; process = process->next) {
		struct written *written = &writer->process[writer->count];

		if (!takes_part(part, process))
			continue;
		written->from = process;
		written->at.process = process->process;
		written->at.ring = calloc(process->ring_count + 1, sizeof *written->at.ring);
		written->at.ring_count = process->ring_count;
		written->thread_count = process->process->thread_count;
		written->thread = calloc(written->thread_count + 1, sizeof *written->thread);
		writer->count++;
		if (!written->at.ring || !written->thread)
			return -ENOMEM;
	}
	return 0;
}

int flight_writer_begin(const struct flight_part *part, struct flight_writer **result,
			struct kymo_err *err)
{
	struct flight_writer *writer = calloc(1, sizeof *writer);
	uint64_t realtime = (uint64_t)clock_now_ns(CLOCK_REALTIME), monotonic = (uint64_t)now_ns();

	if (!writer || gather(writer, part) < 0) {
		if (writer)
			(void)flight_writer_end(writer, NULL, NULL);
		return err_no_memory(err);
	}
	writer->begin_ns = part->begin_ns;
	writer->end_ns = part->end_ns;
	writer->clock_offset_ns = (int64_t)(realtime - monotonic);
	writer->cursor = part->first;
	writer->last = part->last;
	if (sink_ctf_create(part->path, part->version, monotonic, realtime, NULL, &writer->sink,
			    err) < 0) {
		(void)flight_writer_end(writer, NULL, NULL);
		return -1;
	}
	writer->sink->start_ns = part->begin_ns;
	*result = writer;
	return 0;
}

/* ---- facts ---- */

static bool is_declared(const struct flight_process *process, enum ctf_class class, unsigned id)
{
	return process->declared[class][id / 8] & 1u << id % 8;
}

static int join(struct flight_writer *writer, struct written *written)
{
	struct sink *sink = writer->sink;
	int rc = sink->ops->join(sink, &written->at);

	written->joined = rc == 0;
	/* First the events that the process declares itself: they decide into which streams it is
	 * written. */
	for (int class = CTF_CLASS_COUNT; rc == 0 && class-- > 0;)
		for (unsigned id = KYMO_POINTS_TABLE; rc == 0 && id < KYMO_POINTS_MAX; id++)
			if (is_declared(written->from, (enum ctf_class)class, id))
				rc = sink->ops->declare(sink, &written->at, (enum ctf_class) class,
							id);
	for (unsigned id = 0; rc == 0 && id < KYMO_POINTS_TABLE; id++)
		if (is_declared(written->from, CTF_CLASS_INIT, id))
			rc = sink->ops->declare(sink, &written->at, CTF_CLASS_INIT, id);
	return rc;
}

/* Facts that are older than the snapshot get its start as their time, as facts older than a session
 * do. */
static int write_facts(struct flight_writer *writer, struct written *written,
		       const struct flight_facts *from)
{
	const bool skipped = from->known && from->turn != written->from->base;
	const uint64_t floor = written->at.init.prev_ns > writer->begin_ns
				       ? written->at.init.prev_ns
				       : writer->begin_ns;
	struct sink_facts facts = {
		.discarded = written->init_dropped + from->lost, .count = skipped ? 0 : from->count,
		.at = from->at, .size = skipped ? 0 : from->size,
	};
	int rc;

	if (skipped && !from->lost)
		return 0;
	if (!ARRAY_FIT(writer->scratch, from->size, writer->room))
		return -ENOMEM;
	facts.bytes = writer->scratch;
	memcpy(writer->scratch, from->bytes, from->size);
	facts.begin = facts.end = floor;
	for (uint32_t i = 0; i < facts.count; i++) {
		struct sink_fact *fact = (struct sink_fact *)(writer->scratch + from->at[i]);

		if (fact->ns < floor)
			fact->ns = floor;
		if (i == 0)
			facts.begin = fact->ns;
		facts.end = fact->ns;
	}
	rc = writer->sink->ops->facts(writer->sink, &written->at, &facts);
	if (rc < 0)
		return rc;
	written->at.init.prev_ns = facts.end;
	written->init_dropped = facts.discarded;
	written->init_events += facts.count;
	return 0;
}

static int step_process(struct flight_writer *writer)
{
	struct written *written = &writer->process[writer->next];
	int rc = 0;

	if (!written->joined) {
		rc = join(writer, written);
		writer->facts = written->from->facts;
		return rc < 0 ? rc : 1;
	}
	if (writer->facts) {
		rc = write_facts(writer, written, writer->facts);
		writer->facts = writer->facts->next;
		return rc < 0 ? rc : 1;
	}
	writer->next++;
	return 1;
}

/* ---- packets ---- */

static struct written *written_of(struct flight_writer *writer,
				  const struct flight_process *process)
{
	for (unsigned i = 0; i < writer->count; i++)
		if (writer->process[i].from == process)
			return &writer->process[i];
	return NULL;
}

static void account(struct written *written, const struct sink_packet *packet, uint64_t lost)
{
	written->records += packet->records;
	written->bytes += packet->size;
	written->dropped += lost;
	if (packet->thread >= written->thread_count)
		return;
	written->thread[packet->thread].recorded += packet->records;
	written->thread[packet->thread].bytes += packet->size;
	written->thread[packet->thread].dropped += lost;
}

static int write_packet(struct flight_writer *writer, const struct flight_kept *kept)
{
	struct written *written = written_of(writer, kept->process);
	struct drained_process *process = kept->process->process;
	struct sink_packet packet = {
		.ring = kept->ring,
		.thread = kept->thread,
		.begin = kept->begin,
		.end = kept->end,
		.cpu = kept->cpu,
		.records = kept->records,
		.bytes = kept->bytes,
		.size = kept->size,
	};
	uint64_t lost = kept->lost;
	struct sink_ring *ring;
	int rc;

	if (!written || kept->ring >= written->at.ring_count || kept->end < writer->begin_ns)
		return 0;
	ring = &written->at.ring[kept->ring];
	if (kept->begin < writer->begin_ns) {
		uint32_t skipped;
		size_t at = walk_until(&process->classes, kept->bytes, kept->size, writer->begin_ns,
				       &skipped);

		packet.bytes += at;
		packet.size -= at;
		packet.records -= skipped < packet.records ? skipped : packet.records;
		packet.begin = packet.size >= KYMO_RECORD_HEADER ? walk_time(packet.bytes)
								 : writer->begin_ns;
		lost = 0;		/* it was before */
		if (!packet.size)
			return 0;
	}
	if (process->thread && kept->thread < process->thread_count)
		packet.account = &process->thread[kept->thread];
	packet.discarded = ring->discarded + lost;
	rc = writer->sink->ops->packet(writer->sink, &written->at, &packet);
	if (rc < 0)
		return rc;
	ring->discarded = packet.discarded;
	account(written, &packet, lost);
	return 0;
}

/* Completes the streams of one process: an index for each. */
static void leave(struct flight_writer *writer, struct written *written)
{
	if (written->joined && !written->left)
		writer->sink->ops->leave(writer->sink, &written->at);
	written->left = true;
}

int flight_writer_step(struct flight_writer *writer)
{
	struct flight_kept *kept = writer->cursor;
	int rc;

	if (writer->next < writer->count)
		return step_process(writer);
	if (kept) {
		rc = write_packet(writer, kept);
		if (rc < 0)
			return rc;
		writer->cursor = kept == writer->last ? NULL : kept->next;
		return 1;
	}
	if (writer->ended < writer->count) {
		leave(writer, &writer->process[writer->ended++]);
		return 1;
	}
	return 0;
}

struct flight_kept *flight_writer_cursor(const struct flight_writer *writer)
{
	return writer->cursor;
}

/* ---- end ---- */

const char *flight_writer_path(const struct flight_writer *writer)
{
	return writer->sink->name;
}

int flight_writer_end(struct flight_writer *writer, const char *accounts,
		      struct json_object *snapshot)
{
	int rc = 0;

	for (unsigned i = 0; i < writer->count; i++)
		leave(writer, &writer->process[i]);
	if (writer->sink) {
		rc = snapshot ? flight_write_accounts(writer, accounts, snapshot) : 0;
		writer->sink->ops->close(writer->sink);
	}
	json_object_put(snapshot);
	for (unsigned i = 0; i < writer->count; i++) {
		free(writer->process[i].at.ring);
		free(writer->process[i].thread);
	}
	free(writer->process);
	free(writer->scratch);
	free(writer);
	return rc;
}
