/* SPDX-License-Identifier: Apache-2.0 */
/* The line buffer and the scopes of an event, for both printed forms. */
#include "ctf/read/reader_print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct printer *printer_get(struct kymo_ctf_reader *reader)
{
	if (!reader->printer)
		reader->printer = calloc(1, sizeof *reader->printer);
	if (reader->printer) {
		reader->printer->used = 0;
		reader->printer->depth = 0;
		reader->printer->failed = false;
	}
	return reader->printer;
}

void printer_free(struct printer *p)
{
	if (p)
		free(p->line);
	free(p);
}

void printer_rewind(struct printer *p)
{
	if (p)
		p->has_before = false;
}

void printer_flush(struct printer *p, FILE *out)
{
	if (!p->failed)
		(void)fwrite(p->line, 1, p->used, out);	/* the caller looks at ferror(out) */
	p->used = 0;
}

static bool make_room(struct printer *p, size_t size)
{
	size_t want = p->capacity ? p->capacity : 1024;
	char *bigger;

	if (p->capacity - p->used >= size)
		return true;
	while (want - p->used < size)
		want *= 2;
	bigger = realloc(p->line, want);
	if (!bigger) {
		p->failed = true;
		return false;
	}
	p->line = bigger;
	p->capacity = want;
	return true;
}

void printer_bytes(struct printer *p, const char *bytes, size_t size)
{
	if (!size || !make_room(p, size))
		return;
	memcpy(p->line + p->used, bytes, size);
	p->used += size;
}

void printer_text(struct printer *p, const char *text)
{
	printer_bytes(p, text, strlen(text));
}

void printer_u64(struct printer *p, uint64_t value)
{
	char digits[20];
	unsigned at = sizeof digits;

	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	printer_bytes(p, digits + at, sizeof digits - at);
}

void printer_i64(struct printer *p, int64_t value)
{
	if (value < 0)
		printer_bytes(p, "-", 1);
	printer_u64(p, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void printer_format(struct printer *p, const char *format, ...)
{
	char text[128];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (size > 0)
		printer_bytes(p, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

bool printer_is_hidden(const struct printer *p, const struct ctf_node *node)
{
	static const char *const names[] = { "timestamp_begin", "timestamp_end", "content_size",
		"packet_size", "packet_seq_num", "events_discarded" };

	if (node->scope != SCOPE_PACKET_CONTEXT || p->depth != 1)
		return false;
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(node->name, names[i]))
			return true;
	return false;
}

static bool shows_something(struct printer *p, const struct ctf_node *node)
{
	bool shown = !node->child_count;

	p->depth = 1;
	for (uint32_t i = 0; i < node->child_count && !shown; i++)
		shown = !printer_is_hidden(p, &node->child[i]);
	p->depth = 0;
	return shown;
}

struct ctf_stream *printer_stream(struct kymo_ctf_reader *reader, const struct kymo_ctf_event *event,
				  uint64_t *pos)
{
	struct ctf_stream *s = reader->last;
	bool readable;

	if (!s || event->bound == KYMO_CTF_LOSS || RECORD_CLASS(s->next) == RECORD_LOSS)
		return NULL;
	*pos = record_body(s, s->next, &readable);
	return readable ? s : NULL;
}

bool printer_scope(struct ctf_stream *s, const struct event_class *event, enum ctf_scope scope,
		 uint64_t *pos, const struct visitor *visitor, struct printer *p)
{
	struct cursor c = { .base = s->at.base, .pos = *pos, .end = s->at.end, .slot = s->slot,
		.budget = WALK_BUDGET };
	const struct ctf_node *node;

	if (scope == SCOPE_PACKET_CONTEXT) {
		node = s->class->packet_context;
		c.base = s->head_bytes;
		c.pos = s->packet.context_begin;
		c.end = s->packet.first_event;
	} else {
		node = event->scope[scope - SCOPE_STREAM_CONTEXT];
	}
	if (!node || !shows_something(p, node))
		return false;
	p->depth = 0;
	if (walk(&c, node, visitor, p))
		printer_text(p, "<unreadable>");
	if (scope != SCOPE_PACKET_CONTEXT)
		*pos = c.pos;
	return true;
}

double printer_double(const struct ctf_node *node, uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	double wide;
	float narrow;

	memcpy(&narrow, &low, sizeof narrow);
	memcpy(&wide, &bits, sizeof wide);
	return node->type->size == 32 ? (double)narrow : wide;
}
