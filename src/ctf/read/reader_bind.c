/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bindings: for each event class, the fields that the user wants as value[0], value[1] and so on. A
 * field is searched in the event's scopes from the innermost, then in the packet context. What is
 * found is marked in the nodes, and plan.c compiles a plan from the marks.
 */
#include <stdlib.h>
#include <string.h>

#include "ctf/read/stream_impl.h"

static void unbind(struct ctf_node *node)
{
	node->bound = node->element = NODE_NONE;
	for (uint32_t i = 0; i < node->child_count; i++)
		unbind(&node->child[i]);
}

/* A field on its way down from a scope by a name such as "a.list[2].x". */
struct descent {
	struct ctf_node *node;
	const char *rest;		/* of the name */
	bool maybe;			/* not every event has it */
	bool taken;			/* another element of the same array is bound */
};

static void into_member(struct descent *d)
{
	size_t size = strcspn(d->rest, ".[");
	struct ctf_node *from = d->node;

	d->node = NULL;
	d->maybe = d->maybe || from->type->kind == CTF_KIND_VARIANT;
	for (uint32_t i = 0; i < from->child_count && !d->node; i++)
		if (strlen(from->child[i].name) == size &&
		    !memcmp(from->child[i].name, d->rest, size))
			d->node = &from->child[i];
	d->rest += size;
}

/* "[N]" */
static void into_element(struct descent *d)
{
	struct ctf_node *from = d->node;
	char *end;
	unsigned long long index = strtoull(d->rest + 1, &end, 10);

	d->node = NULL;
	if (d->rest[1] < '0' || d->rest[1] > '9' || *end != ']' || index > INT32_MAX)
		return;
	d->rest = end + 1;
	d->maybe = true;
	d->taken = d->taken || (from->element != NODE_NONE && from->element != (int64_t)index);
	from->element = (int64_t)index;
	d->node = &from->child[0];
}

static struct descent descend(struct ctf_node *scope, const char *name)
{
	struct descent d = { .node = scope, .rest = name };

	if (scope)
		into_member(&d);
	while (d.node && *d.rest) {
		enum ctf_kind kind = d.node->type->kind;

		if (*d.rest == '.' && (kind == CTF_KIND_STRUCT || kind == CTF_KIND_VARIANT)) {
			d.rest++;
			into_member(&d);
		} else if (*d.rest == '[' &&
			   (kind == CTF_KIND_ARRAY || kind == CTF_KIND_SEQUENCE) &&
			   !d.node->is_text) {
			into_element(&d);
		} else {
			d.node = NULL;
		}
	}
	return d;
}

/* Structures and variants have no value of their own. */
static bool has_value(const struct ctf_node *node)
{
	return node->type->kind != CTF_KIND_STRUCT && node->type->kind != CTF_KIND_VARIANT;
}

static int bind_field(struct stream_class *stream, struct event_class *event, int k,
		      const char *name, struct kymo_err *err)
{
	struct ctf_node *packet = layout_member(stream->packet_context, name);
	struct descent d = { 0 };

	for (int i = 2; i >= 0 && !d.node; i--)
		d = descend(event->scope[i], name);
	if (d.taken)
		return err_set(err, KYMO_EXIT_USAGE, "%s: \"%s\": you can bind only one element of an array; "
			       "bind the array instead", event->pub.name, name);
	event->label[k] = NULL;
	if (d.node && has_value(d.node) && d.node->bound == NODE_NONE)
		d.node->bound = (int16_t)k;
	else
		event->absent |= (uint8_t)(1u << k);
	/* Elements are not given when they begin inside a byte. */
	if (d.node && (d.maybe || d.node->child_count))
		event->maybe |= (uint8_t)(1u << k);
	if (!d.node && packet)
		event->packet_value[k] = 0;	/* numbered by bind_packet_fields() */
	packet = d.node ? d.node : packet;
	if (packet && packet->type->kind == CTF_KIND_ENUM)
		event->label[k] = packet->type;
	return 0;
}

/* A name, or the begin of one and '*'. */
static bool is_wanted(const char *wanted, const char *name)
{
	const size_t size = strlen(wanted);

	return size && wanted[size - 1] == '*' ? !strncmp(wanted, name, size - 1)
					       : !strcmp(wanted, name);
}

static int bind_class(const struct kymo_ctf_reader *reader, struct stream_class *stream,
		      struct event_class *event, struct kymo_err *err)
{
	const struct kymo_ctf_bind *bind = NULL;

	event->bound = KYMO_CTF_UNBOUND;
	event->absent = event->maybe = 0;
	memset(event->packet_value, -1, sizeof event->packet_value);
	memset(event->label, 0, sizeof event->label);
	for (unsigned i = 0; i < reader->bind_count && !bind; i++) {
		if (is_wanted(reader->bind[i].event, event->pub.name)) {
			bind = &reader->bind[i];
			event->bound = (int)i;
		}
	}
	for (int k = 0; bind && k < KYMO_CTF_BIND_FIELDS && bind->field[k]; k++)
		if (bind_field(stream, event, k, bind->field[k], err))
			return -1;
	return 0;
}

const char *kymo_ctf_label(const struct kymo_ctf_event *event, unsigned value)
{
	const struct event_class *class = (const struct event_class *)event->class;
	const struct ctf_type *type =
		class && value < KYMO_CTF_BIND_FIELDS ? class->label[value] : NULL;

	return type && event->value[value].present ? walk_label(type, event->value[value].u) : NULL;
}

/* Which fields of the packet context the streams of this class must keep. */
static void bind_packet_fields(const struct kymo_ctf_reader *reader, struct stream_class *class)
{
	const char **names = class->packet_names;
	unsigned count = 0;

	memset(class->packet_names, 0, sizeof class->packet_names);
	for (uint32_t i = 0; i < class->class_count; i++) {
		struct event_class *event = class->class[i];

		for (unsigned k = 0; event->bound >= 0 && k < KYMO_CTF_BIND_FIELDS; k++) {
			const char *name = reader->bind[event->bound].field[k];
			unsigned at = 0;

			if (!name)
				break;
			if (event->packet_value[k] < 0)
				continue;
			while (at < count && strcmp(names[at], name))
				at++;
			if (at == KYMO_CTF_BIND_FIELDS) {
				event->packet_value[k] = -1;
				continue;
			}
			names[at] = name;
			if (at == count)
				count++;
			event->packet_value[k] = (int8_t)at;
		}
	}
}

/* The two most common sizes of events of fixed size with their headers; bound classes count more.
 * See stream_batch.c. */
static void find_usual(struct stream_class *class)
{
	uint32_t header = class->shape == HEADER_PLAIN   ? class->plain.size
			  : class->shape == HEADER_LARGE ? 6
							 : 4;
	uint32_t best[2] = { 0, 0 };

	class->usual[0] = class->usual[1] = 0;
	for (uint32_t i = 0; i < class->class_count; i++) {
		const struct event_class *event = class->class[i];
		uint32_t size = event->plan.size + header, votes = 0;

		if (!event->plan.fixed || size == class->usual[0])
			continue;
		for (uint32_t k = i; k < class->class_count && k < i + 1000; k++)
			if (class->class[k] -> plan.fixed &&class->class[k] -> plan.size + header ==
										       size)
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

/* The table of stream_batch.c: size and class of events by id. */
static int make_scan(struct ctf_trace *trace, struct stream_class *class, struct kymo_err *err)
{
	if (class->shape == HEADER_GENERAL || !class->by_id_count)
		return 0;
	if (!class->scan)
		class->scan = arena_alloc(&trace->metadata->arena,
					  class->by_id_count * sizeof *class->scan);
	if (!class->scan)
		return err_set(err, KYMO_EXIT_INPUT, "%s: the metadata needs too much memory", trace->metadata_path);
	for (uint64_t i = 0; i < class->by_id_count; i++) {
		const struct event_class *event = class->by_id[i];

		class->scan[i] = (struct scan_entry) { .size = SCAN_NOT };
		if (event && event->plan.fixed)
			class->scan[i].size = event->plan.size;
		if (event) {
			class->scan[i].what = RECORD(event->pub.index & RECORD_CLASS_MAX, 0);
			class->scan[i].is_bound = event->bound >= 0;
		}
	}
	find_usual(class);
	return 0;
}

static enum give give_of(const struct event_class *event)
{
	if (!event->fetches || !event->plan.simple || event->maybe)
		return GIVE_ANY;
	for (unsigned i = 0; i < KYMO_CTF_BIND_FIELDS; i++)
		if (event->packet_value[i] >= 0)
			return GIVE_ANY;
	return GIVE_FETCHED;
}

int classes_plan(struct kymo_ctf_reader *reader, struct kymo_err *err)
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
				if (bind_class(reader, class, event, err))
					return -1;
				plan_free(&event->plan);
				if (plan_make(&event->plan, event->scope, on_byte))
					return err_no_memory(err);
				event->fetches =
					event->plan.fetches && class->shape != HEADER_GENERAL;
			}
			bind_packet_fields(reader, class);
			for (uint32_t k = 0; k < class->class_count; k++)
				class->class[k]->give = give_of(class->class[k]);
			if (make_scan(trace, class, err))
				return -1;
		}
	}
	return 0;
}
