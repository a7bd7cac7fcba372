/* SPDX-License-Identifier: Apache-2.0 */
/* The line buffer and the scopes of an event, for both printed forms. */
#include "ctf/read/reader_print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
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
	if (!p)
		return;
	for (unsigned i = 0; i < p->heads; i++)
		free(p->head[i].text.text);
	free(p->head);
	for (unsigned i = 0; i < p->known_count; i++)
		free(p->known[i].text.text);
	free(p->known);
	free(p->line.text);
	free(p);
}

void printer_rewind(struct printer *p)
{
	if (p)
		p->has_before = false;
}

void printer_forget(struct printer *p)
{
	for (unsigned i = 0; p && i < p->known_count; i++)
		p->known[i].text.size = 0;
}

bool printer_known(struct printer *p, const struct ctf_stream *s, const struct visitor *form)
{
	const unsigned index = s->event->pub.index;
	const struct printed_class *known = index < p->known_count ? &p->known[index] : NULL;

	if (!known || known->form != form || !known->text.size)
		return false;
	json_text_raw(&p->line, known->text.text, known->text.size);
	return true;
}

void printer_learn(struct printer *p, const struct ctf_stream *s, const struct visitor *form,
		   size_t from)
{
	const unsigned index = s->event->pub.index, count = s->reader->class_count;
	struct printed_class *known = p->known;

	if (index >= p->known_count) {
		known = realloc(p->known, count * sizeof(*known));
		if (!known)
			return;
		memset(known + p->known_count, 0, (count - p->known_count) * sizeof(*known));
		p->known = known;
		p->known_count = count;
	}
	known[index].form = form;
	known[index].text.size = 0;
	if (!p->line.failed)
		json_text_raw(&known[index].text, p->line.text + from, p->line.size - from);
}

void printer_flush(struct printer *p, FILE *out)
{
	if (!p->line.failed)
		/* the caller looks at ferror(out) */
		(void)fwrite_unlocked(p->line.text, 1, p->line.size, out);
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
		length = text_simple(text, left);
		if (length)
			printer_bytes(p, text, length);
		else if (*text == '\t')
			printer_bytes(p, text, length = 1);
		else
			length = printer_character(p, text, left);
	}
}

bool printer_is_hidden(const struct printer *p, const struct ctf_node *node)
{
	const uint16_t hidden = ROLE_TIME | ROLE_END_TIME | ROLE_CONTENT_SIZE | ROLE_PACKET_SIZE |
				ROLE_SEQUENCE | ROLE_DISCARDED;

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

struct ctf_stream *printer_stream(struct kymo_ctf_reader *reader,
				  const struct kymo_ctf_event *event, uint64_t *pos)
{
	struct ctf_stream *s = reader->last;
	bool readable;

	if (!s || event->bound == KYMO_CTF_LOSS || RECORD_CLASS(s->next) == RECORD_LOSS)
		return NULL;
	*pos = record_body(s, s->next, &readable);
	return readable ? s : NULL;
}

/* What was printed of the packet context of @s; NULL: no memory. */
static struct printed_head *head_of(struct printer *p, const struct ctf_stream *s)
{
	return ARRAY_AT(p->head, p->heads, s->index);
}

static bool print_scope(struct cursor *c, const struct ctf_node *node,
			const struct visitor *visitor, struct printer *p)
{
	if (!node || !shows_something(p, node))
		return false;
	p->depth = 0;
	if (walk(c, node, visitor, p))
		printer_text(p, "<unreadable>");
	return true;
}

static bool print_packet(struct ctf_stream *s, const struct visitor *visitor, struct printer *p)
{
	struct cursor c = { .base = s->head_bytes,
			    .pos = s->packet.context_begin,
			    .end = s->packet.first_event,
			    .slot = s->slot,
			    .budget = WALK_BUDGET };
	struct printed_head *head = head_of(p, s);
	const size_t before = p->line.size;
	bool shown;

	if (head && head->number == s->head_number && head->form == visitor) {
		json_text_raw(&p->line, head->text.text, head->text.size);
		return head->shown;
	}
	shown = print_scope(&c, s->class->packet_context, visitor, p);
	if (head) {
		head->text.size = 0;
		json_text_raw(&head->text, p->line.text + before, p->line.size - before);
		head->number = head->text.failed || p->line.failed ? 0 : s->head_number;
		head->form = visitor;
		head->shown = shown;
	}
	return shown;
}

bool printer_scope(struct ctf_stream *s, const struct event_class *event, enum ctf_scope scope,
		 uint64_t *pos, const struct visitor *visitor, struct printer *p)
{
	struct cursor c = { .base = s->at.base, .pos = *pos, .end = s->at.end, .slot = s->slot,
		.budget = WALK_BUDGET };

	if (scope == SCOPE_PACKET_CONTEXT)
		return print_packet(s, visitor, p);
	if (!print_scope(&c, event->scope[scope - SCOPE_STREAM_CONTEXT], visitor, p))
		return false;
	*pos = c.pos;
	return true;
}
