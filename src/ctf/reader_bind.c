/* SPDX-License-Identifier: Apache-2.0 */
/* What a consumer binds becomes part of the event classes' plans. */
#include <string.h>

#include "ctf/reader_impl.h"

static void unbind(struct ctf_node *node)
{
	node->bound = NODE_NONE;
	for (uint32_t i = 0; i < node->child_count; i++)
		unbind(&node->child[i]);
}

static struct ctf_node *field_of(const struct event_class *event, const char *name)
{
	struct ctf_node *found = NULL;

	for (int i = 2; i >= 0 && !found; i--)
		found = layout_member(event->scope[i], name);
	return found;
}

static void bind_class(const struct ctf_reader *reader, struct stream_class *stream,
		       struct event_class *event)
{
	const struct ctf_bind *bind = NULL;

	event->bound = CTF_UNBOUND;
	event->absent = 0;
	memset(event->packet_value, -1, sizeof event->packet_value);
	for (unsigned i = 0; i < reader->bind_count && !bind; i++) {
		if (!strcmp(reader->bind[i].event, event->pub.name)) {
			bind = &reader->bind[i];
			event->bound = (int)i;
		}
	}
	for (int k = 0; bind && k < CTF_BIND_FIELDS && bind->field[k]; k++) {
		struct ctf_node *node = field_of(event, bind->field[k]);

		if (node && node->bound == NODE_NONE)
			node->bound = (int16_t)k;
		else
			event->absent |= (uint8_t)(1u << k);
		if (!node && layout_member(stream->packet_context, bind->field[k]))
			event->packet_value[k] = 0;	/* numbered by stream_names() */
	}
}

/* Which fields of the packet context the streams of this class must keep. */
static void bind_packet_fields(struct ctf_reader *reader, struct stream_class *class)
{
	const char *names[CTF_BIND_FIELDS] = { 0 };
	unsigned count = 0;

	for (uint32_t i = 0; i < class->class_count; i++) {
		struct event_class *event = class->class[i];

		for (unsigned k = 0; event->bound >= 0 && k < CTF_BIND_FIELDS; k++) {
			const char *name = reader->bind[event->bound].field[k];
			unsigned at = 0;

			if (!name)
				break;
			if (event->packet_value[k] < 0)
				continue;
			while (at < count && strcmp(names[at], name))
				at++;
			if (at == CTF_BIND_FIELDS) {
				event->packet_value[k] = -1;
				continue;
			}
			names[at] = name;
			if (at == count)
				count++;
			event->packet_value[k] = (int8_t)at;
		}
	}
	for (unsigned i = 0; i < reader->stream_count; i++)
		if (reader->stream[i]->class == class)
			memcpy(reader->stream[i]->packet_names, names, sizeof names);
}

/* The two commonest sizes of events of fixed size, headers included; bound ones count more. */
static void find_usual(struct stream_class *class)
{
	uint32_t header = class->shape == HEADER_PLAIN ? class->plain.size : class->shape == HEADER_LARGE ? 6 : 4;
	uint32_t best[2] = { 0, 0 };

	class->usual[0] = class->usual[1] = 0;
	for (uint32_t i = 0; i < class->class_count; i++) {
		const struct event_class *event = class->class[i];
		uint32_t size = event->plan.size + header, votes = 0;

		if (!event->plan.fixed || size == class->usual[0])
			continue;
		for (uint32_t k = i; k < class->class_count && k < i + 1000; k++)
			if (class->class[k]->plan.fixed && class->class[k]->plan.size + header == size)
				votes += class->class[k]->bound >= 0 ? 4 : 1;
		if (votes > best[0]) {
			best[1] = best[0];
			class->usual[1] = class->usual[0];
			best[0] = votes;
			class->usual[0] = size;
		} else if (votes > best[1]) {
			best[1] = votes;
			class->usual[1] = size;
		}
	}
}

/* What the inner loop knows of events, by id. */
static int make_scan(struct ctf_trace *trace, struct stream_class *class, struct err *err)
{
	if (class->shape == HEADER_GENERAL || !class->by_id_count)
		return 0;
	if (!class->scan)
		class->scan = arena_alloc(&trace->metadata->arena, class->by_id_count * sizeof *class->scan);
	if (!class->scan)
		return err_set(err, EXIT_INPUT, "%s: the metadata needs too much memory", trace->metadata_path);
	for (uint64_t i = 0; i < class->by_id_count; i++) {
		const struct event_class *event = class->by_id[i];

		class->scan[i] = (struct scan_entry) { .size = SCAN_NOT };
		if (event && event->plan.fixed)
			class->scan[i].size = event->plan.size;
		if (event)
			class->scan[i].class = event->pub.index | (event->bound >= 0 ? SCAN_BOUND : 0);
	}
	find_usual(class);
	return 0;
}

int classes_plan(struct ctf_reader *reader, struct err *err)
{
	for (unsigned t = 0; t < reader->trace_count; t++) {
		struct ctf_trace *trace = reader->trace[t];

		for (uint32_t i = 0; i < trace->class_count; i++) {
			struct stream_class *class = &trace->class[i];
			bool on_byte = class->shape != HEADER_GENERAL ||
				(class->bytewise && plan_ends_on_byte(class->event_header));

			for (uint32_t k = 0; k < class->class_count; k++) {
				struct event_class *event = class->class[k];

				for (unsigned s = 0; s < 3; s++)
					if (event->scope[s])
						unbind(event->scope[s]);
				bind_class(reader, class, event);
				plan_free(&event->plan);
				if (plan_make(&event->plan, event->scope, on_byte))
					return err_set(err, EXIT_FAILED, "out of memory for %u event classes",
						       reader->class_count);
				event->fetches = event->plan.fetches && class->shape != HEADER_GENERAL;
			}
			bind_packet_fields(reader, class);
			if (make_scan(trace, class, err))
				return -1;
		}
	}
	return 0;
}
