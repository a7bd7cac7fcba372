/* SPDX-License-Identifier: Apache-2.0 */
/* Classes, events and values as a program's own sink sees them. */
#include <stdlib.h>
#include <string.h>

#include "recorder/own/own_internal.h"
#include "recorder/records/record_walk.h"

/* In front of the records of facts, the thread of each. */
#define FACT_EXTRA sizeof(uint32_t)

static enum kymo_sink_kind kind_of(enum kymo_kind kind)
{
	switch (kind) {
	case KYMO_KIND_STR:
		return KYMO_SINK_TEXT;
	case KYMO_KIND_F64:
		return KYMO_SINK_FLOAT;
	case KYMO_KIND_GID16:
	case KYMO_KIND_GID24:
	case KYMO_KIND_PTRS:
		return KYMO_SINK_BYTES;
	case KYMO_KIND_I64:
	case KYMO_KIND_I32:
	case KYMO_KIND_I16:
	case KYMO_KIND_I8:
	case KYMO_KIND_BOOL:
		return KYMO_SINK_SIGNED;
	default:
		return KYMO_SINK_UNSIGNED;
	}
}

static const char *put(char **at, const char *text)
{
	const char *copy = *at;
	const size_t size = strlen(text) + 1;

	memcpy(*at, text, size);
	*at += size;
	return copy;
}

struct own_class *own_class_of(const struct kymo_point *point, unsigned id, int pid)
{
	const char *meaning = point->uri ? point->uri : "";
	size_t size = strlen(point->provider) + strlen(point->name) + strlen(meaning) + 3;
	struct own_class *class;
	char *text;

	for (unsigned i = 0; i < point->field_count; i++)
		size += strlen(point->field[i].name) + 1;
	class = calloc(1, sizeof *class + size);
	if (!class)
		return NULL;
	text = class->text;
	class->is = (struct kymo_sink_class){
		.id = id,
		.pid = pid,
		.is_fact = point->phase == KYMO_PHASE_INIT,
		.field_count = point->field_count,
		.field = class->field,
	};
	class->is.provider = put(&text, point->provider);
	class->is.name = put(&text, point->name);
	class->is.meaning = put(&text, meaning);
	for (unsigned i = 0; i < point->field_count; i++)
		class->field[i] = (struct kymo_sink_field){
			.name = put(&text, point->field[i].name),
			.kind = kind_of(point->field[i].kind),
			.encoding = point->field[i].kind,
		};
	return class;
}

/* Bytes of the payload; -1: it does not end within @room. */
static long payload_size(const struct kymo_sink_class *class, const uint8_t *at, size_t room)
{
	size_t used = 0;

	for (unsigned i = 0; i < class->field_count; i++) {
		const long size = walk_field((enum kymo_kind) class->field[i].encoding, at + used,
					     room - used);

		if (size < 0)
			return -1;
		used += (size_t)size;
	}
	return (long)used;
}

int kymo_sink_next(const struct kymo_sink_packet *packet, struct kymo_sink_event *event)
{
	const struct own_process *process = packet->process_data;
	const size_t extra = packet->is_facts ? FACT_EXTRA : 0, head = KYMO_RECORD_HEADER + extra;
	const uint8_t *at = (const uint8_t *)packet->bytes + event->next;
	uint32_t tid = (uint32_t)packet->tid;
	const struct own_class *class;
	uint16_t id;
	long size;

	if (packet->size - event->next < head)
		return 0;
	if (extra)
		memcpy(&tid, at, sizeof tid);
	memcpy(&id, at + extra, sizeof id);
	class = id < KYMO_POINTS_MAX ? process->class[id] : NULL;
	size = class ? payload_size(&class->is, at + head, packet->size - event->next - head) : -1;
	if (size < 0)
		return 0;
	event->ns = walk_time(at + extra);
	event->tid = (int)tid;
	event->declared = &class->is;
	event->payload = at + head;
	event->size = (size_t)size;
	event->next += head + (size_t)size;
	return 1;
}

static int64_t signed_of(enum kymo_kind kind, const uint8_t *at)
{
	int8_t i8;
	int16_t i16;
	int32_t i32;
	int64_t i64;

	switch (kind) {
	case KYMO_KIND_I8:
		return memcpy(&i8, at, sizeof i8), i8;
	case KYMO_KIND_I16:
		return memcpy(&i16, at, sizeof i16), i16;
	case KYMO_KIND_I32:
	case KYMO_KIND_BOOL:
		return memcpy(&i32, at, sizeof i32), i32;
	default:
		return memcpy(&i64, at, sizeof i64), i64;
	}
}

/* Numbers have the byte order of this machine; shorter ones are the low bytes. */
static uint64_t unsigned_of(const uint8_t *at, size_t size)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1:
		return memcpy(&u8, at, sizeof u8), u8;
	case 2:
		return memcpy(&u16, at, sizeof u16), u16;
	case 4:
		return memcpy(&u32, at, sizeof u32), u32;
	default:
		return memcpy(&u64, at, sizeof u64), u64;
	}
}

int kymo_sink_get(const struct kymo_sink_event *event, unsigned index,
		  struct kymo_sink_value *value)
{
	const uint8_t *at = event->payload;
	const struct kymo_sink_field *field;
	size_t size = 0;

	if (index >= event->declared->field_count)
		return 0;
	for (unsigned i = 0; i <= index; i++) {
		at += size;
		field = &event->declared->field[i];
		size = (size_t)walk_field((enum kymo_kind)field->encoding, at,
					  event->size - (size_t)(at - event->payload));
	}
	*value = (struct kymo_sink_value){ .kind = field->kind };
	switch (field->kind) {
	case KYMO_SINK_TEXT:
		value->text = (const char *)at;
		value->size = size - 1;
		break;
	case KYMO_SINK_BYTES:
		value->size = field->encoding == KYMO_KIND_PTRS ? size - sizeof(uint64_t) : size;
		value->bytes = at + (size - value->size);
		break;
	case KYMO_SINK_FLOAT:
		memcpy(&value->real, at, sizeof value->real);
		break;
	case KYMO_SINK_SIGNED:
		value->integer = signed_of((enum kymo_kind)field->encoding, at);
		break;
	default:
		value->number = unsigned_of(at, size);
	}
	return 1;
}
