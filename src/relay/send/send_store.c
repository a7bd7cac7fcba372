/* SPDX-License-Identifier: Apache-2.0 */
/* The store that a CTF writer fills: its packets become records in the spool. */
#include "relay/send/send_sink_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int begin_trace(struct sink_trace *trace, const uint8_t uuid[16])
{
	struct spool_record record = { .kind = SPOOL_TRACE, .id = trace->id };
	struct spool_trace body = { 0 };
	int rc;

	memcpy(body.uuid, uuid, sizeof body.uuid);
	memcpy(body.name, trace->name, sizeof body.name);
	rc = spool_add(trace->to->spool, SPOOL_FACTS, &record,
		       &(struct iovec){ &body, sizeof body }, 1, NULL);
	trace->begun = rc == 0;
	return rc;
}

static int keep_metadata(void *context, const uint8_t uuid[16], const char *text, size_t size)
{
	struct sink_trace *trace = context;
	struct spool_record record = { .kind = SPOOL_METADATA, .id = trace->id };
	int rc = trace->begun ? 0 : begin_trace(trace, uuid);

	if (rc < 0)
		return rc;
	trace->to->news = true;
	return spool_add(trace->to->spool, SPOOL_FACTS, &record,
			 &(struct iovec){ (void *)text, size }, 1, NULL);
}

/* The writer's handle of a stream is the stream's id plus 1, so that it is not NULL. */
static uint32_t id_of(const void *stream)
{
	return (uint32_t)(uintptr_t)stream - 1;
}

static int begin_stream(struct sink_trace *trace, const struct ctf_framed *packet)
{
	struct relay_sink *to = trace->to;
	struct spool_record record = { .kind = SPOOL_STREAM, .id = to->stream_count };
	struct spool_stream body = { .trace = trace->id, .class = packet->class };
	int rc;

	(void)snprintf(body.name, sizeof body.name, "%s", packet->name);
	rc = spool_add(to->spool, SPOOL_FACTS, &record, &(struct iovec){ &body, sizeof body }, 1,
		       NULL);
	if (rc == 0)
		*packet->stream = (void *)(uintptr_t)(++to->stream_count);
	return rc;
}

static void before_write(void *context, const char *dir, const char *file, uint64_t offset)
{
	const struct ctf_framed *packet = context;
	const struct ctf_place place = {
		dir, file, offset, packet->head_size + packet->size,
		packet->head, packet->head_size,
	};

	packet->watch(packet->watch_context, &place);
}

static uint32_t events_of(const struct sink_trace *trace, const struct ctf_framed *packet)
{
	if (packet->class == CTF_CLASS_KERNEL)
		return packet->count;
	return packet->size ? trace->to->records : 0;
}

static int keep_packet(void *context, const struct ctf_framed *packet)
{
	struct sink_trace *trace = context;
	const struct spool_watch watch = { before_write, (void *)packet };
	const struct iovec part[] = {
		{ (void *)packet->head, packet->head_size }, { (void *)packet->events, packet->size },
	};
	struct spool_record record = { .kind = SPOOL_PACKET,
				       .events = events_of(trace, packet),
				       .entry = *packet->entry };
	int rc = *packet->stream ? 0 : begin_stream(trace, packet);

	if (rc < 0)
		return rc;
	record.id = id_of(*packet->stream);
	trace->to->news = true;
	trace->to->has_events |= packet->size > 0;
	return spool_add(trace->to->spool,
			 packet->class == CTF_CLASS_INIT ? SPOOL_FACTS : SPOOL_RUN, &record, part,
			 packet->size ? 2 : 1, packet->watch ? &watch : NULL);
}

static void end_stream(void *context, void *stream)
{
	struct sink_trace *trace = context;
	struct spool_record record = { .kind = SPOOL_END, .id = id_of(stream) };

	record.entry.offset = spool_end(trace->to->spool, SPOOL_RUN);
	/* on failure it ends with the session */
	(void)spool_add(trace->to->spool, SPOOL_FACTS, &record, NULL, 0, NULL);
	trace->to->news = true;
}

/* ---- traces ---- */

struct sink_trace *relay_make_store(struct relay_sink *to, const char *name)
{
	struct sink_trace *trace = calloc(1, sizeof *trace);

	if (!trace)
		return NULL;
	*trace = (struct sink_trace){
		.next = to->made, .to = to, .id = to->trace_count,
		.store = { keep_metadata, keep_packet, end_stream, trace },
	};
	if (strcmp(name, "ust") == 0)
		(void)snprintf(trace->name, sizeof trace->name, "ust/uid/%u/64-bit", (unsigned)to->desc.uid);
	else if (strcmp(name, "kernel") == 0)
		(void)snprintf(trace->name, sizeof trace->name, "%s", name);
	else
		(void)snprintf(trace->name, sizeof trace->name, "ust/pid/%s", name);
	to->made = trace;
	to->trace_count++;
	return trace;
}

/* A trace that fails halfway, parts of which may be in the spool, stays empty. */
int relay_make_trace(void *context, const char *name, struct ctf_writer **writer,
		     struct kymo_err *err)
{
	struct relay_sink *to = context;
	struct sink_trace *trace = relay_make_store(to, name);
	struct kymo_err why;

	if (!trace)
		return err_no_memory(err);
	if (ctf_writer_create_in(&trace->store, &to->desc, writer, err ? err : &why) == 0)
		return 0;
	if (!trace->begun) {
		to->made = trace->next;
		to->trace_count--;
		free(trace);
	}
	return -1;
}
