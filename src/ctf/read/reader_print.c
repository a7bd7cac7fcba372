/* SPDX-License-Identifier: Apache-2.0 */
/* The line buffer and the scopes of an event, for both printed forms. */
#include "ctf/read/reader_print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct printer *printer_get(struct kymo_ctf_reader *reader)
{
	if (!reader->printer)
		reader->printer = calloc(1, sizeof *reader->printer);
	if (reader->printer) {
		reader->printer->line.size = 0;
		reader->printer->line.failed = false;
		reader->printer->depth = 0;
	}
	return reader->printer;
}

void printer_free(struct printer *p)
{
	if (p)
		free(p->line.text);
	free(p);
}

void printer_rewind(struct printer *p)
{
	if (p)
		p->has_before = false;
}

void printer_flush(struct printer *p, FILE *out)
{
	if (!p->line.failed)
		(void)fwrite(p->line.text, 1, p->line.size, out);	/* the caller looks at ferror(out) */
	p->line.size = 0;
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

size_t printer_character(struct printer *p, const char *at, uint64_t left)
{
	size_t length;
	uint32_t code;

	if (text_step(at, left < 4 ? (size_t)left : 4, &length, &code) == TEXT_PLAIN)
		printer_bytes(p, at, length);
	else
		for (size_t i = 0; i < length; i++)
			printer_format(p, "\\x%02x", (unsigned char)at[i]);
	return length;
}

void printer_clean(struct printer *p, const char *text)
{
	size_t length;

	for (size_t left = strlen(text); left; text += length, left -= length) {
		length = 1;
		if (*text == '\t')
			printer_bytes(p, text, 1);
		else
			length = printer_character(p, text, left);
	}
}

bool printer_is_hidden(const struct printer *p, const struct ctf_node *node)
{
	const uint16_t hidden = ROLE_TIME | ROLE_END_TIME | ROLE_CONTENT_SIZE | ROLE_PACKET_SIZE | ROLE_SEQUENCE |
				ROLE_DISCARDED;

	return node->scope == SCOPE_PACKET_CONTEXT && p->depth == 1 && node->roles & hidden;
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
