/* SPDX-License-Identifier: Apache-2.0 */
/* See otlp.h: the frame around the three requests, with field numbers of opentelemetry-proto. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/config.h"
#include "fleet/otlp/otlp_internal.h"

/* ---- attributes ---- */

void otlp_string(struct pb *pb, uint32_t field, const char *value)
{
	char *copy;

	if (text_is_utf8(value)) {
		pb_text(pb, field, value);
		return;
	}
	copy = text_utf8(value);
	pb->failed |= !copy;
	pb_text(pb, field, copy ? copy : "");
	free(copy);
}

/* KeyValue, up to its AnyValue; end_attribute() closes both. */
static void begin_attribute(struct pb *pb, uint32_t field, const char *key)
{
	pb_open(pb, field);
	otlp_string(pb, 1, key);
	pb_open(pb, 2);
}

static void end_attribute(struct pb *pb)
{
	pb_close(pb);
	pb_close(pb);
}

void otlp_text(struct pb *pb, uint32_t field, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	begin_attribute(pb, field, key);
	otlp_string(pb, 1, value);
	end_attribute(pb);
}

void otlp_int(struct pb *pb, uint32_t field, const char *key, int64_t value)
{
	begin_attribute(pb, field, key);
	pb_uint(pb, 3, (uint64_t)value);
	end_attribute(pb);
}

void otlp_bool(struct pb *pb, uint32_t field, const char *key, bool value)
{
	begin_attribute(pb, field, key);
	pb_uint(pb, 2, value);
	end_attribute(pb);
}

void otlp_entity(struct pb *pb, uint32_t field, const struct summary_entity *entity)
{
	char node[1024], topic[1024];

	otlp_text(pb, field, "kymo.entity.kind", summary_kind_name(entity->kind));
	otlp_text(pb, field, "kymo.entity.name", entity->name);
	if (entity->kind != SUMMARY_SUBSCRIPTION)
		otlp_text(pb, field, "process.executable.name", entity->of);
	otlp_text(pb, field, "ros.node.name", window_node(entity, node, sizeof(node)));
	window_topic(entity, topic, sizeof(topic));
	otlp_text(pb, field, "messaging.destination.name", topic);
	if (*topic)
		otlp_text(pb, field, "messaging.system", "ros2");
}

/* ---- ids ---- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ull;
	return hash;
}

/* FNV-1a, and the end of MurmurHash3, so that each bit depends on all of them. */
uint64_t otlp_hash(const char *text, const char *more, int64_t number)
{
	uint8_t bytes[8];
	uint64_t hash = hash_bytes(0xcbf29ce484222325ull, text, strlen(text) + 1);

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)((uint64_t)number >> 8 * i);
	hash = hash_bytes(hash_bytes(hash, more, strlen(more) + 1), bytes, sizeof(bytes));
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdull;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ull;
	hash ^= hash >> 33;
	return hash ? hash : 1;
}

void otlp_span_id(uint8_t id[OTLP_SPAN_BYTES], uint64_t hash)
{
	for (unsigned i = 0; i < OTLP_SPAN_BYTES; i++)
		id[i] = (uint8_t)(hash >> (56 - 8 * i));
}

void otlp_trace_id(uint8_t id[OTLP_TRACE_BYTES], const struct otlp_put *put,
		   const struct summary_entity *entity, const struct summary_instance *instance)
{
	const bool stamped = instance->source_ns && instance->topic && *instance->topic;
	const char *text = stamped ? instance->topic : entity->name;
	const char *more = stamped ? "" : put->of->source.boot;
	const int64_t number = stamped ? instance->source_ns : instance->begin_ns;

	otlp_span_id(id, otlp_hash(text, more, number));
	otlp_span_id(id + OTLP_SPAN_BYTES, otlp_hash(text, "kymo", number));
}

uint64_t otlp_root(const struct summary_entity *entity, const struct summary_instance *instance)
{
	return otlp_hash(entity->name, entity->of, instance->begin_ns);
}

/* ---- resource and scope ---- */

/* In place: %20 becomes a blank. */
static void decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned value;

		if (*text == '%' && sscanf(text + 1, "%2x", &value) == 1 && text[1] && text[2]) {
			*to++ = (char)value;
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*to = 0;
}

/* OTEL_RESOURCE_ATTRIBUTES=site=hall%203,team=a */
static void put_environment(struct pb *pb)
{
	const char *given = getenv("OTEL_RESOURCE_ATTRIBUTES");
	char *copy = given ? strdup(given) : NULL, *rest = copy, *pair;

	while ((pair = strsep(&rest, ",")) != NULL) {
		char *value = strchr(pair, '=');

		if (!value)
			continue;
		*value++ = 0;
		decode(value);
		pair += strspn(pair, " ");
		if (*pair && strcmp(pair, "service.name"))
			otlp_text(pb, 1, pair, value);
	}
	free(copy);
}

static void put_resource(const struct otlp_put *put)
{
	const struct window_source *source = &put->of->source;
	const char *service = getenv("OTEL_SERVICE_NAME");
	struct pb *pb = put->pb;

	pb_open(pb, 1);
	otlp_text(pb, 1, "service.name", service && *service ? service : "kymo");
	otlp_text(pb, 1, "service.instance.id", source->robot);
	otlp_text(pb, 1, "service.version", source->software);
	otlp_text(pb, 1, "host.name", put->summary->host);
	otlp_text(pb, 1, "robot.id", source->robot);
	otlp_text(pb, 1, "robot.boot", source->boot);
	for (unsigned i = 0; put->of->config && i < put->of->config->labels; i++)
		otlp_text(pb, 1, put->of->config->label[i].name, put->of->config->label[i].value);
	put_environment(pb);
	pb_close(pb);
}

const char *otlp_path(enum otlp_signal signal)
{
	static const char *const paths[OTLP_SIGNALS] = { "metrics", "traces", "logs" };

	return paths[signal];
}

unsigned otlp_put(struct pb *pb, enum otlp_signal signal, const struct otlp_of *of,
		  const struct summary *summary, int64_t begin_ns, int64_t end_ns)
{
	static void (*const puts[OTLP_SIGNALS])(struct otlp_put *put) = { otlp_metrics, otlp_traces,
									  otlp_logs };
	struct otlp_put put = { pb, of, summary, begin_ns, end_ns, 0 };

	pb_open(pb, 1);
	put_resource(&put);
	pb_open(pb, 2);
	pb_open(pb, 1);
	pb_text(pb, 1, "kymo");
	otlp_string(pb, 2, of->version);
	pb_close(pb);
	puts[signal](&put);
	pb_close(pb);
	pb_close(pb);
	return put.count;
}
