/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as babeltrace2's text output shows them, so that scripts made for one read the other:
 *
 *   [20:25:36.330291906] (+0.001620588) vm ros2:callback_start: { cpu_id = 1 },
 *   { vpid = 7, vtid = 9 }, { callback = 0x55E2A3358500, is_intra_process = 0 }
 *
 * (on one line). Local time; the difference is to the event printed before.
 */
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "ctf/read/reader_print.h"

#define NSEC_PER_SEC 1000000000

static void before_value(struct printer *p, const struct ctf_node *node)
{
	struct print_level *level = &p->level[p->depth];

	if (!p->depth || level->kind == CTF_KIND_VARIANT)
		return;
	printer_text(p, level->index ? ", " : " ");
	if (level->kind == CTF_KIND_STRUCT) {
		if (node->simple_name)
			printer_bytes(p, node->name, node->simple_name);
		else
			printer_clean(p, node->name);
	} else {
		printer_bytes(p, "[", 1);
		json_text_put_u64(&p->line, level->index);
		printer_bytes(p, "]", 1);
	}
	printer_text(p, " = ");
	level->index++;
}

static void text_open(void *arg, const struct ctf_node *node, uint64_t count, const uint8_t *at)
{
	enum ctf_kind kind = node->type->kind;
	struct printer *p = arg;

	(void)at;
	before_value(p, node);
	if (node->type->is_optional)
		printer_text(p, count ? "" : "<none>");
	else
		printer_text(p, kind == CTF_KIND_STRUCT ? "{" : kind == CTF_KIND_VARIANT ? "{ " : "[");
	p->level[++p->depth] = (struct print_level) { kind, 0 };
}

static void text_close(void *arg, const struct ctf_node *node)
{
	enum ctf_kind kind = node->type->kind;
	struct printer *p = arg;

	p->depth--;
	if (node->type->is_optional)
		return;
	printer_text(p, kind == CTF_KIND_STRUCT || kind == CTF_KIND_VARIANT ? " }" : " ]");
}

static void print_hex(struct printer *p, uint64_t value)
{
	char digits[16];
	unsigned at = sizeof digits;

	do
		digits[--at] = "0123456789ABCDEF"[value & 15];
	while (value >>= 4);
	printer_bytes(p, "0x", 2);
	printer_bytes(p, digits + at, sizeof digits - at);
}

static void print_binary(struct printer *p, uint64_t value, unsigned size)
{
	printer_bytes(p, "0b", 2);
	while (size--)
		printer_bytes(p, value >> size & 1 ? "1" : "0", 1);
}

/* Keep the digits that @size bits fill, @per bits a digit. */
static uint64_t whole_digits(uint64_t value, unsigned size, unsigned per)
{
	unsigned bits = (size + per - 1) / per * per;

	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static void print_integer(struct printer *p, const struct ctf_type *type, uint64_t value)
{
	switch (type->base) {
	case 2:
		print_binary(p, value, type->size);
		break;
	case 8:
		printer_format(p, "0%llo", (unsigned long long)
			     (type->is_signed ? whole_digits(value, type->size, 3) : value));
		break;
	case 16:
		print_hex(p, whole_digits(value, type->size, 4));
		break;
	default:
		if (type->is_signed)
			json_text_put_i64(&p->line, (int64_t)value);
		else
			json_text_put_u64(&p->line, value);
	}
}

/* babeltrace2's escapes, and \xNN for the bytes of other characters that are not plain text. */
static void print_quoted(struct printer *p, const char *bytes, uint64_t size)
{
	static const char special[] = "\\'\"?\a\b\033\f\n\r\t\v", letter[] = "\\'\"?abefnrtv";
	size_t length;

	printer_bytes(p, "\"", 1);
	for (uint64_t i = 0; i < size; i += length) {
		const char *found;

		length = text_simple(bytes + i, size - i);
		if (length) {
			printer_bytes(p, bytes + i, length);
			continue;
		}
		found = bytes[i] ? strchr(special, bytes[i]) : NULL;
		length = 1;
		if (found) {
			printer_bytes(p, "\\", 1);
			printer_bytes(p, &letter[found - special], 1);
		} else {
			length = printer_character(p, bytes + i, size - i);
		}
	}
	printer_bytes(p, "\"", 1);
}

/* A label counts once however many of its ranges match. */
static bool labelled_before(const struct ctf_type *type, uint32_t index, uint64_t value)
{
	for (uint32_t i = 0; i < index; i++)
		if (walk_in_range(type, &type->range[i], value) &&
		    !strcmp(type->range[i].label, type->range[index].label))
			return true;
	return false;
}

/* All labels of a value, or of its bits. */
static void print_labels(struct printer *p, const struct ctf_type *type, uint64_t value)
{
	unsigned labels = 0, printed = 0;

	for (uint32_t i = 0; i < type->range_count; i++)
		labels += walk_in_range(type, &type->range[i], value) &&
			  !labelled_before(type, i, value);
	printer_text(p, "( ");
	if (!labels)
		printer_text(p, type->is_flags ? "<none>" : "<unknown>");
	for (uint32_t i = 0; i < type->range_count && printed < labels; i++) {
		const char *label = type->range[i].label;

		if (!walk_in_range(type, &type->range[i], value) || labelled_before(type, i, value))
			continue;
		printer_text(p, printed++ ? ", " : "");
		print_quoted(p, label, strlen(label));
	}
	printer_text(p, " : container = ");
	print_integer(p, type, value);
	printer_text(p, " )");
}

static void text_number(void *arg, const struct ctf_node *node, uint64_t value)
{
	struct printer *p = arg;

	if (printer_is_hidden(p, node))
		return;
	before_value(p, node);
	if (node->type->kind == CTF_KIND_FLOAT)
		printer_format(p, "%g", walk_double(node, value));
	else if (node->type->kind == CTF_KIND_ENUM || node->type->is_flags)
		print_labels(p, node->type, value);
	else if (node->type->is_bool)
		printer_text(p, value ? "true" : "false");
	else
		print_integer(p, node->type, value);
}

static void text_text(void *arg, const struct ctf_node *node, const char *bytes, uint64_t size)
{
	before_value(arg, node);
	print_quoted(arg, bytes, size);
}

static const struct visitor text = { text_open, text_close, text_number, text_text, false };

/* "HH:MM:SS" of a second is the same for many events. */
static void print_time(struct printer *p, int64_t ns)
{
	int64_t second = ns / NSEC_PER_SEC, rest = ns % NSEC_PER_SEC;
	time_t when = (time_t)second;
	struct tm tm;

	if (ns < 0) {
		printer_format(p, "-%lld.%09lld", (long long)-second, (long long)-rest);
		return;
	}
	if (!p->second_known || p->second != second) {
		if (!localtime_r(&when, &tm) ||
		    !strftime(p->clock_text, sizeof p->clock_text, "%H:%M:%S", &tm))
			(void)snprintf(p->clock_text, sizeof p->clock_text, "%lld", (long long)second);
		p->second = second;
		p->second_known = true;
	}
	printer_text(p, p->clock_text);
	json_text_put_fraction(&p->line, (uint32_t)rest);
}

/*
 * "[time] (+difference) ". @mapped: kymo_ctf_map_time() gives the times; they are seconds of a clock that is not the
 * local time of any place, and may go back.
 */
static void print_times(struct printer *p, int64_t ns, bool mapped)
{
	uint64_t delta = (uint64_t)ns - (uint64_t)p->before_ns;
	bool back = mapped && (int64_t)delta < 0;

	printer_bytes(p, "[", 1);
	if (mapped)
		printer_format(p, "%lld.%09lld", (long long)(ns / NSEC_PER_SEC), (long long)(ns % NSEC_PER_SEC));
	else
		print_time(p, ns);
	delta = back ? 0 - delta : delta;
	if (p->has_before) {
		printer_text(p, back ? "] (-" : "] (+");
		json_text_put_u64(&p->line, delta / NSEC_PER_SEC);
		json_text_put_fraction(&p->line, (uint32_t)(delta % NSEC_PER_SEC));
		printer_text(p, ") ");
	} else {
		printer_text(p, "] (+?.?\?\?\?\?\?\?\?\?) ");
	}
	p->before_ns = ns;
	p->has_before = true;
}

static void print_origin(struct printer *p, const struct ctf_trace *trace)
{
	bool any = false;

	if (trace->hostname && trace->hostname->text) {
		printer_clean(p, trace->hostname->text);
		any = true;
	}
	if (trace->procname && trace->procname->text) {
		printer_text(p, any ? ":" : "");
		printer_clean(p, trace->procname->text);
		any = true;
	}
	if (trace->vpid && !trace->vpid->text) {
		printer_format(p, any ? ":(%lld)" : "(%lld)", (long long)trace->vpid->number);
		any = true;
	}
	printer_text(p, any ? " " : "");
}

/* Host and name: the same for all events of a class. */
static void print_class(struct printer *p, const struct kymo_ctf_reader *reader,
			const struct ctf_stream *s)
{
	const size_t before = p->line.size;

	if (printer_known(p, s, &text))
		return;
	print_origin(p, reader->trace[s->info.trace]);
	printer_clean(p, s->event->pub.name);
	printer_text(p, ": ");
	printer_learn(p, s, &text, before);
}

void kymo_ctf_print_event(struct kymo_ctf_reader *reader, const struct kymo_ctf_event *event,
			  FILE *out)
{
	struct printer *p = printer_get(reader);
	bool any = false;
	uint64_t pos;
	struct ctf_stream *s = printer_stream(reader, event, &pos);

	if (!p || !s)
		return;
	if (s->class->has_clock)
		print_times(p, event->ns, reader->map_time != NULL);
	print_class(p, reader, s);
	for (unsigned i = SCOPE_PACKET_CONTEXT; i < SCOPE_COUNT; i++) {
		size_t before = p->line.size;

		if (i == SCOPE_EVENT_HEADER)
			continue;
		if (any)
			printer_text(p, ", ");
		if (printer_scope(s, s->event, (enum ctf_scope)i, &pos, &text, p))
			any = true;
		else
			p->line.size = before;
	}
	printer_bytes(p, "\n", 1);
	printer_flush(p, out);
}
