/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worst arrivals of chains as traces: a root span for the arrival, and one for each part of its
 * time. A span of a message has a link to the trace that begins with this message, on whatever host
 * that was seen, and to the other chains into which the message went.
 */
#include <stdio.h>
#include <string.h>

#include "fleet/otlp/otlp_internal.h"

enum { SPAN_INTERNAL = 1, SPAN_PRODUCER = 4, SPAN_CONSUMER = 5 };

struct span {
	const uint8_t *trace;
	uint64_t id, parent; /* parent 0: none */
	const char *name;
	unsigned kind;
	int64_t begin_ns, ns;
};

/* The span stays open for attributes (9) and links (13). */
static void begin_span(struct otlp_put *put, const struct span *span)
{
	uint8_t id[OTLP_SPAN_BYTES];
	struct pb *pb = put->pb;

	pb_open(pb, 2);
	pb_bytes(pb, 1, span->trace, OTLP_TRACE_BYTES);
	otlp_span_id(id, span->id);
	pb_bytes(pb, 2, id, sizeof(id));
	if (span->parent) {
		otlp_span_id(id, span->parent);
		pb_bytes(pb, 4, id, sizeof(id));
	}
	otlp_string(pb, 5, span->name);
	pb_uint(pb, 6, span->kind);
	pb_fixed64(pb, 7, (uint64_t)span->begin_ns);
	pb_fixed64(pb, 8, (uint64_t)(span->begin_ns + span->ns));
	put->count++;
}

/* Every host knows the message by its topic and its source timestamp. */
static void put_link(struct otlp_put *put, const char *topic, int64_t source_ns,
		     const uint8_t *own)
{
	const struct summary_instance message = { .topic = topic, .source_ns = source_ns };
	uint8_t trace[OTLP_TRACE_BYTES], span[OTLP_SPAN_BYTES];

	otlp_trace_id(trace, put, NULL, &message);
	if (!memcmp(trace, own, sizeof(trace)))
		return;
	otlp_span_id(span, otlp_hash(topic, "message", source_ns));
	pb_open(put->pb, 13);
	pb_bytes(put->pb, 1, trace, sizeof(trace));
	pb_bytes(put->pb, 2, span, sizeof(span));
	pb_close(put->pb);
}

static bool is_message(const struct summary_part *part)
{
	return part->what == SUMMARY_PUBLISHING || part->what == SUMMARY_ON_ITS_WAY;
}

static const char *name_of(const struct summary_part *part, char *text, size_t size)
{
	static const char *const verbs[SUMMARY_WHATS] = {
		[SUMMARY_RAN] = "process",          [SUMMARY_KEPT] = "kept by",
		[SUMMARY_PUBLISHING] = "send",      [SUMMARY_ON_ITS_WAY] = "receive",
		[SUMMARY_WAITED_FOR] = "queued at", [SUMMARY_TAKING] = "take for",
		[SUMMARY_BEING_LATE] = "late",      [SUMMARY_ACCEPTING] = "accept at",
		[SUMMARY_BEGINNING] = "begin at",   [SUMMARY_EXECUTING] = "execute at",
		[SUMMARY_CANCELING] = "cancel at",  [SUMMARY_KEEPING] = "send the result of",
		[SUMMARY_AWAITING] = "wait at",     [SUMMARY_AWAITED] = "await at",
	};

	snprintf(text, size, "%s %s", verbs[part->what], part->who ? part->who : "");
	return text;
}

static void put_part(struct otlp_put *put, const struct span *root,
		     const struct summary_instance *instance, unsigned number)
{
	const struct summary_part *part = &instance->part[number];
	char name[1024];
	const struct span span = {
		.trace = root->trace,
		.id = otlp_hash(root->name, "part", (int64_t)(root->id + number)),
		.parent = root->id,
		.name = name_of(part, name, sizeof(name)),
		.kind = part->what == SUMMARY_PUBLISHING   ? SPAN_PRODUCER
			: part->what == SUMMARY_ON_ITS_WAY ? SPAN_CONSUMER
							   : SPAN_INTERNAL,
		.begin_ns = root->begin_ns + part->at_ns,
		.ns = part->ns,
	};
	struct pb *pb = put->pb;

	begin_span(put, &span);
	otlp_text(pb, 9, "kymo.part", summary_what_name(part->what));
	otlp_int(pb, 9, "kymo.usual_ns", part->usual_ns);
	if (is_message(part)) {
		otlp_text(pb, 9, "messaging.system", "ros2");
		otlp_text(pb, 9, "messaging.destination.name", part->who);
		otlp_text(pb, 9, "messaging.operation.type",
			  part->what == SUMMARY_PUBLISHING ? "send" : "receive");
		otlp_text(pb, 9, "ros.node.name", part->by);
	} else {
		otlp_text(pb, 9, "kymo.culprit", part->by);
	}
	if (part->is_assumed)
		otlp_bool(pb, 9, "kymo.assumed", true);
	if (is_message(part) && part->source_ns && part->who && *part->who)
		put_link(put, part->who, part->source_ns, root->trace);
	pb_close(pb);
}

static void put_instance(struct otlp_put *put, const struct summary_entity *entity,
			 const struct summary_instance *instance)
{
	uint8_t trace[OTLP_TRACE_BYTES];
	struct span root = { .trace = trace,
			     .id = otlp_root(entity, instance),
			     .name = entity->label,
			     .kind = SPAN_INTERNAL,
			     .begin_ns = instance->begin_ns,
			     .ns = instance->value_ns };

	otlp_trace_id(trace, put, entity, instance);
	begin_span(put, &root);
	otlp_entity(put->pb, 9, entity);
	if (instance->error_ns)
		otlp_int(put->pb, 9, "kymo.clock_error_ns", instance->error_ns);
	pb_close(put->pb);
	for (unsigned i = 0; i < instance->parts; i++)
		put_part(put, &root, instance, i);
}

void otlp_traces(struct otlp_put *put)
{
	for (unsigned i = 0; i < put->summary->entities; i++) {
		const struct summary_entity *entity = put->summary->entity[i];

		for (unsigned w = 0; entity->kind == SUMMARY_CHAIN && w < entity->worsts; w++)
			put_instance(put, entity, &entity->worst[w]);
	}
}
