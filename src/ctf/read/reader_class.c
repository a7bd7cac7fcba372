/* SPDX-License-Identifier: Apache-2.0 */
/* Stream and event classes from the metadata: their fields (layout.c), clocks, headers,
 * descriptions. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ctf/read/stream_impl.h"

struct stream_class *trace_class(struct ctf_trace *trace, uint64_t id)
{
	for (uint32_t i = 0; i < trace->class_count; i++)
		if (trace->class[i].id == id)
			return &trace->class[i];
	return NULL;
}

static int no_memory(struct ctf_trace *trace, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_INPUT, "%s: the metadata needs too much memory", trace->metadata_path);
}

/* ---- clocks ---- */

static const char *mapped_clock(const struct ctf_node *node)
{
	const char *found = node ? node->type->clock : NULL;

	for (uint32_t i = 0; node && i < node->child_count && !found; i++)
		found = mapped_clock(&node->child[i]);
	return found;
}

static bool has_time(const struct ctf_node *node)
{
	if (!node)
		return false;
	if (node->type->clock || node->roles & ROLE_TIME)
		return true;
	for (uint32_t i = 0; i < node->child_count; i++)
		if (has_time(&node->child[i]))
			return true;
	return false;
}

/* CTF 2: the stream's clock, @declared. Else the clock that the event header names; without a name
 * the only one. */
static int find_clock(struct ctf_trace *trace, struct stream_class *class, const char *declared,
		      struct kymo_err *err)
{
	const struct ctf_metadata *m = trace->metadata;
	const char *name = declared ? declared : mapped_clock(class->event_header);
	const bool named = m->version == 2;

	if (!name)
		name = mapped_clock(class->packet_context);
	class->clock = (struct ctf_clock) { .freq = 1000000000 };
	class->has_clock = named ? declared != NULL :
			   has_time(class->event_header) || has_time(class->packet_context);
	for (uint32_t i = 0; i < m->clock_count; i++) {
		if (name ? !strcmp(m->clock[i].name, name) : m->clock_count == 1 && !named) {
			class->clock = m->clock[i];
			name = NULL;
			break;
		}
	}
	if (name)
		return err_set(err, KYMO_EXIT_INPUT, "%s: a field is mapped to the clock \"%s\", which does not exist",
			       trace->metadata_path, name);
	class->counts_ns = class->clock.freq == 1000000000;
	class->offset_ns = (int64_t)((uint64_t)class->clock.offset_s * 1000000000 +
				     clock_to_ns(class, class->clock.offset));
	return 0;
}

/* ---- classes ---- */

static int make_stream_class(struct ctf_trace *trace, const struct ctf_stream_decl *decl,
			     struct kymo_err *err)
{
	struct layout *l = &trace->layout;
	struct stream_class *class = &trace->class[trace->class_count];

	if (trace_class(trace, decl->id))
		return err_set(err, KYMO_EXIT_INPUT, "%s: two streams have the id %llu",
			       trace->metadata_path, (unsigned long long)decl->id);
	l->place = "stream";
	for (unsigned i = SCOPE_PACKET_CONTEXT; i < SCOPE_COUNT; i++)
		l->scope[i] = NULL;
	if (layout_scope(l, SCOPE_PACKET_CONTEXT, decl->packet_context) ||
	    layout_scope(l, SCOPE_EVENT_HEADER, decl->event_header))
		return -1;
	*class = (struct stream_class) { .trace = trace, .id = decl->id,
		.packet_context = l->scope[SCOPE_PACKET_CONTEXT],
		.event_header = l->scope[SCOPE_EVENT_HEADER] };
	trace->class_count++;
	return find_clock(trace, class, decl->clock, err);
}

static const char *type_text(struct arena *arena, const struct ctf_node *node)
{
	const struct ctf_type *type = node->type;
	const char *element = "";
	char text[256];

	if (type->kind == CTF_KIND_ARRAY || type->kind == CTF_KIND_SEQUENCE)
		element = type_text(arena, &node->child[0]);
	if (!element)
		return NULL;
	switch (type->kind) {
	case CTF_KIND_INTEGER:
	case CTF_KIND_ENUM:
		(void)snprintf(text, sizeof text, "%s%c%u%s", type->kind == CTF_KIND_ENUM ? "enum " : "",
			       type->is_signed ? 'i' : 'u', type->size, type->base == 16 ? " (hex)" :
			       type->base == 8 ? " (octal)" : type->base == 2 ? " (binary)" : "");
		break;
	case CTF_KIND_FLOAT:
		(void)snprintf(text, sizeof text, "f%u", type->size);
		break;
	case CTF_KIND_ARRAY:
		(void)snprintf(text, sizeof text, "%.200s[%llu]", node->is_text ? "char" : element,
			       (unsigned long long)type->length);
		break;
	case CTF_KIND_SEQUENCE:
		(void)snprintf(text, sizeof text, "%.200s[]", node->is_text ? "char" : element);
		break;
	default:
		(void)snprintf(text, sizeof text, "%s", type->kind == CTF_KIND_STRING ? "string" :
			       type->kind == CTF_KIND_STRUCT ? "struct" : "variant");
	}
	return arena_text(arena, text, strlen(text));
}

static int describe(struct arena *arena, struct event_class *event)
{
	const struct ctf_node *fields = event->scope[2];
	struct kymo_ctf_field *field;

	if (!fields || !fields->child_count)
		return 0;
	field = arena_alloc(arena, fields->child_count * sizeof *field);
	if (!field)
		return -1;
	for (uint32_t i = 0; i < fields->child_count; i++) {
		field[i].name = fields->child[i].name;
		field[i].type = type_text(arena, &fields->child[i]);
		if (!field[i].type)
			return -1;
	}
	event->pub.field = field;
	event->pub.field_count = fields->child_count;
	return 0;
}

static int add_class(struct kymo_ctf_reader *reader, struct ctf_trace *trace,
		     struct stream_class *stream, struct event_class *event, struct kymo_err *err)
{
	if (reader->class_count == RECORD_CLASS_MAX)
		return err_set(err, KYMO_EXIT_INPUT, "%s: more than %u event classes", trace->metadata_path,
			       RECORD_CLASS_MAX);
	stream->class = arena_grow(&trace->metadata->arena, stream->class, stream->class_count,
				   sizeof *stream->class);
	if (!stream->class)
		return no_memory(trace, err);
	stream->class[stream->class_count++] = event;
	return ARRAY_ADD(reader->class, reader->class_count, reader->class_capacity, event)
		       ? 0
		       : no_memory(trace, err);
}

static int make_event_class(struct kymo_ctf_reader *reader, struct ctf_trace *trace,
			    const struct ctf_event_decl *decl, struct kymo_err *err)
{
	const struct ctf_metadata *m = trace->metadata;
	struct stream_class *stream = trace_class(trace, decl->stream_id);
	const struct ctf_type *stream_context = NULL;
	struct layout *l = &trace->layout;
	struct event_class *event;
	char place[300];

	if (!stream)
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s: event %s belongs to stream %llu, which does not exist",
			       trace->metadata_path, decl->name,
			       (unsigned long long)decl->stream_id);
	(void)snprintf(place, sizeof place, "event %.280s", decl->name);
	l->place = place;
	for (uint32_t i = 0; i < m->stream_count; i++)
		if (m->stream[i].id == stream->id)
			stream_context = m->stream[i].event_context;
	for (unsigned i = SCOPE_STREAM_CONTEXT; i < SCOPE_COUNT; i++)
		l->scope[i] = NULL;
	l->scope[SCOPE_PACKET_CONTEXT] = stream->packet_context;
	l->scope[SCOPE_EVENT_HEADER] = stream->event_header;
	l->slots_class = 0;
	if (layout_scope(l, SCOPE_STREAM_CONTEXT, stream_context) ||
	    layout_scope(l, SCOPE_EVENT_CONTEXT, decl->context) ||
	    layout_scope(l, SCOPE_FIELDS, decl->fields))
		return -1;
	event = arena_alloc(&trace->metadata->arena, sizeof *event);
	if (!event)
		return no_memory(trace, err);
	event->pub = (struct kymo_ctf_event_class) { .name = decl->name, .id = decl->id,
		.index = reader->class_count, .trace = trace->index, .stream_class = stream->id,
		.loglevel = decl->loglevel, .uri = decl->uri };
	event->bound = KYMO_CTF_UNBOUND;
	for (unsigned i = 0; i < 3; i++) {
		event->scope[i] = l->scope[SCOPE_STREAM_CONTEXT + i];
		if (event->scope[i])
			layout_settle(event->scope[i]);
	}
	if (describe(&trace->metadata->arena, event))
		return no_memory(trace, err);
	return add_class(reader, trace, stream, event, err);
}

static int by_id(const void *a, const void *b)
{
	const struct event_class *const *x = a, *const *y = b;

	return (*x)->pub.id < (*y)->pub.id ? -1 : (*x)->pub.id > (*y)->pub.id;
}

/* Classes with ids below this are found by index, those above by binary search. */
#define DENSE_IDS 65536

static int number_classes(struct ctf_trace *trace, struct stream_class *stream,
			  struct kymo_err *err)
{
	uint64_t last = 0;

	if (!stream->class_count)
		return 0;
	qsort(stream->class, stream->class_count, sizeof(*stream->class), by_id);
	for (uint32_t i = 0; i < stream->class_count; i++) {
		const struct event_class *event = stream->class[i];

		if (i && event->pub.id == stream->class[i - 1]->pub.id)
			return err_set(err, KYMO_EXIT_INPUT, "%s: the events %s and %s have the same id %llu",
				       trace->metadata_path, stream->class[i - 1]->pub.name,
				       event->pub.name, (unsigned long long)event->pub.id);
		if (event->pub.id < DENSE_IDS)
			last = event->pub.id + 1;
	}
	if (!last)
		return 0;
	stream->by_id = arena_alloc(&trace->metadata->arena, last * sizeof(*stream->by_id));
	if (!stream->by_id)
		return no_memory(trace, err);
	stream->by_id_count = last;
	for (uint32_t i = 0; i < stream->class_count; i++)
		if (stream->class[i]->pub.id < last)
			stream->by_id[stream->class[i]->pub.id] = stream->class[i];
	return 0;
}

int trace_compile(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct kymo_err *err)
{
	static const struct ctf_stream_decl nothing;
	struct ctf_metadata *m = trace->metadata;
	uint32_t count = m->stream_count ? m->stream_count : 1;

	trace->layout = (struct layout) { .metadata = m, .path = trace->metadata_path,
		.place = "trace", .err = err };
	if (layout_scope(&trace->layout, SCOPE_PACKET_HEADER, m->packet_header))
		return -1;
	trace->packet_header = trace->layout.scope[SCOPE_PACKET_HEADER];
	trace->class = arena_alloc(&m->arena, count * sizeof *trace->class);
	if (!trace->class)
		return no_memory(trace, err);
	for (uint32_t i = 0; i < count; i++)
		if (make_stream_class(trace, m->stream_count ? &m->stream[i] : &nothing, err))
			return -1;
	for (uint32_t i = 0; i < m->event_count; i++)
		if (make_event_class(reader, trace, &m->event[i], err))
			return -1;
	for (uint32_t i = 0; i < trace->class_count; i++) {
		if (number_classes(trace, &trace->class[i], err))
			return -1;
		header_compile(&trace->class[i]);
	}
	trace->layout.place = NULL;
	trace->layout.err = NULL;
	return 0;
}

void trace_free(struct ctf_trace *trace)
{
	for (uint32_t i = 0; trace->class && i < trace->class_count; i++)
		for (uint32_t k = 0; k < trace->class[i].class_count; k++)
			plan_free(&trace->class[i].class[k]->plan);
	align_free(trace);
	lost_free(trace);
	tsdl_free(trace->metadata);
	chunk_free(&trace->chunk);
	free(trace->host);
	free(trace->path);
	free(trace->metadata_path);
	free(trace);
}

int64_t kymo_ctf_epoch(const struct kymo_ctf_reader *reader, unsigned trace, uint64_t stream_class,
		       uint64_t clock)
{
	const struct stream_class *class = trace < reader->trace_count ?
		trace_class(reader->trace[trace], stream_class) : NULL;

	return class ? time_limited(epoch_of(class, clock)) : INT64_MIN;
}
