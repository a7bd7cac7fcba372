/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as JSON, one object a line:
 *
 *   {"ts_ns":..,"clock_ns":..,"name":"..","trace":0,"host":"..","stream":1,"packet":{..},"context":{..},
 *    "event_context":{..},"fields":{..}}
 *
 * Scopes that an event does not have are left out. An enum is {"label":..,"value":..}, a bit
 * map with names {"flags":[..],"value":..}, a variant
 * the value it holds, an optional field that is absent null; floats that JSON does not know are
 * null.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "ctf/read/reader_print.h"

/* Bytes of a packet as a JSON string; bytes that are not UTF-8 become U+FFFD. */
static void print_string(struct printer *p, const char *bytes, uint64_t size)
{
	printer_bytes(p, "\"", 1);
	for (uint64_t i = 0; i < size;) {
		char character[5] = "", step[TEXT_JSON_STEP_MAX];	/* the packet may end within a character */
		const char *at = character;
		const size_t simple = text_simple(bytes + i, size - i);

		if (simple) {
			printer_bytes(p, bytes + i, simple);
			i += simple;
			continue;
		}
		memcpy(character, bytes + i, size - i < 4 ? size - i : 4);
		printer_bytes(p, step, text_json_step(&at, step));
		i += (uint64_t)(at - character);
	}
	printer_bytes(p, "\"", 1);
}

static void before_value(struct printer *p, const struct ctf_node *node)
{
	struct print_level *level = &p->level[p->depth];

	if (!p->depth || level->kind == CTF_KIND_VARIANT)
		return;
	if (level->index++)
		printer_bytes(p, ",", 1);
	if (level->kind != CTF_KIND_STRUCT)
		return;
	if (node->simple_name) {
		printer_bytes(p, "\"", 1);
		printer_bytes(p, node->name, node->simple_name);
		printer_bytes(p, "\":", 2);
	} else {
		print_string(p, node->name, strlen(node->name));
		printer_bytes(p, ":", 1);
	}
}

static void json_open(void *arg, const struct ctf_node *node, uint64_t count, const uint8_t *at)
{
	enum ctf_kind kind = node->type->kind;
	struct printer *p = arg;

	(void)at;
	before_value(p, node);
	if (node->type->is_optional && !count)
		printer_text(p, "null");
	if (kind != CTF_KIND_VARIANT)
		printer_text(p, kind == CTF_KIND_STRUCT ? "{" : "[");
	p->level[++p->depth] = (struct print_level) { kind, 0 };
}

static void json_close(void *arg, const struct ctf_node *node)
{
	enum ctf_kind kind = node->type->kind;
	struct printer *p = arg;

	p->depth--;
	if (kind != CTF_KIND_VARIANT)
		printer_text(p, kind == CTF_KIND_STRUCT ? "}" : "]");
}

static void print_integer(struct printer *p, const struct ctf_type *type, uint64_t value)
{
	if (type->is_signed)
		json_text_put_i64(&p->line, (int64_t)value);
	else
		json_text_put_u64(&p->line, value);
}

static void print_enum(struct printer *p, const struct ctf_type *type, uint64_t value)
{
	const char *label = walk_label(type, value);

	printer_text(p, "{\"label\":");
	if (label)
		print_string(p, label, strlen(label));
	else
		printer_text(p, "null");
	printer_text(p, ",\"value\":");
	print_integer(p, type, value);
	printer_text(p, "}");
}

/* The names of the bits that are set. */
static void print_flags(struct printer *p, const struct ctf_type *type, uint64_t value)
{
	const char *before = NULL;

	printer_text(p, "{\"flags\":[");
	for (uint32_t i = 0; i < type->range_count; i++) {
		const char *label = type->range[i].label;

		/* The ranges of a name follow each other. */
		if (!walk_in_range(type, &type->range[i], value) || label == before)
			continue;
		printer_text(p, before ? "," : "");
		print_string(p, label, strlen(label));
		before = label;
	}
	printer_text(p, "],\"value\":");
	print_integer(p, type, value);
	printer_text(p, "}");
}

static void json_number(void *arg, const struct ctf_node *node, uint64_t value)
{
	struct printer *p = arg;
	double real;

	if (printer_is_hidden(p, node))
		return;
	before_value(p, node);
	if (node->type->kind == CTF_KIND_ENUM) {
		print_enum(p, node->type, value);
	} else if (node->type->is_flags) {
		print_flags(p, node->type, value);
	} else if (node->type->kind == CTF_KIND_FLOAT) {
		real = walk_double(node, value);
		if (isfinite(real))
			printer_format(p, "%.17g", real);
		else
			printer_text(p, "null");
	} else if (node->type->is_bool) {
		printer_text(p, value ? "true" : "false");
	} else {
		print_integer(p, node->type, value);
	}
}

static void json_text(void *arg, const struct ctf_node *node, const char *bytes, uint64_t size)
{
	before_value(arg, node);
	print_string(arg, bytes, size);
}

static const struct visitor json = { json_open, json_close, json_number, json_text, false };

/* Name, trace and host: the same for all events of a class. */
static void print_class(struct printer *p, const struct kymo_ctf_reader *reader,
			const struct ctf_stream *s)
{
	const char *host = reader->trace[s->info.trace]->info.hostname;
	const size_t before = p->line.size;

	if (printer_known(p, s, &json))
		return;
	printer_text(p, ",\"name\":");
	print_string(p, s->event->pub.name, strlen(s->event->pub.name));
	printer_text(p, ",\"trace\":");
	json_text_put_u64(&p->line, s->info.trace);
	if (*host) {
		printer_text(p, ",\"host\":");
		print_string(p, host, strlen(host));
	}
	printer_learn(p, s, &json, before);
}

void kymo_ctf_print_event_json(struct kymo_ctf_reader *reader, const struct kymo_ctf_event *event,
			       FILE *out)
{
	static const char *const keys[SCOPE_COUNT] = {
		[SCOPE_PACKET_CONTEXT] = ",\"packet\":", [SCOPE_STREAM_CONTEXT] = ",\"context\":",
		[SCOPE_EVENT_CONTEXT] = ",\"event_context\":", [SCOPE_FIELDS] = ",\"fields\":",
	};
	struct printer *p = printer_get(reader);
	uint64_t pos;
	struct ctf_stream *s = printer_stream(reader, event, &pos);

	if (!p || !s)
		return;
	printer_text(p, "{\"ts_ns\":");
	json_text_put_i64(&p->line, event->ns);
	printer_text(p, ",\"clock_ns\":");
	json_text_put_u64(&p->line,
			  trace_clock(reader->trace[s->info.trace],
				      (int64_t)(event->clock_ns + (uint64_t)s->class->offset_ns),
				      s->class->offset_ns));
	print_class(p, reader, s);
	printer_text(p, ",\"stream\":");
	json_text_put_u64(&p->line, event->stream);
	for (unsigned i = SCOPE_PACKET_CONTEXT; i < SCOPE_COUNT; i++) {
		size_t before = p->line.size;

		if (!keys[i])
			continue;
		printer_text(p, keys[i]);
		if (!printer_scope(s, s->event, (enum ctf_scope)i, &pos, &json, p))
			p->line.size = before;
	}
	printer_text(p, "}\n");
	printer_flush(p, out);
}
