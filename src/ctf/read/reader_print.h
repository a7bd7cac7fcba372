/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as text. The text and the JSON form share a growing line buffer and the knowledge of
 * where they are inside structures and arrays.
 */
#ifndef KYMO_CTF_READER_PRINT_H
#define KYMO_CTF_READER_PRINT_H

#include <string.h>

#include "base/json_text.h"
#include "ctf/read/stream_impl.h"

struct print_level {
	enum ctf_kind kind;		/* of the container */
	uint64_t index;			/* of the next child */
};

/* The packet context of a stream as it was printed: it is the same for all events of a packet. */
struct printed_head {
	uint64_t number;		/* head_number of the stream; 0: not printed yet */
	const struct visitor *form;
	bool shown;
	struct json_text text;
};

/* Host and name of a class as they were printed: they are the same for all its events. */
struct printed_class {
	const struct visitor *form;
	struct json_text text;		/* empty: not printed yet */
};

struct printer {
	struct json_text line;		/* `failed`: out of memory, the line is not printed */
	struct print_level level[CTF_DEPTH_MAX + 2];
	unsigned depth;
	struct printed_head *head;	/* by index of the stream */
	unsigned heads;
	struct printed_class *known;	/* by index of the class */
	unsigned known_count;
	/* babeltrace2's columns */
	bool has_before;		/* an event was printed, at before_ns */
	int64_t before_ns;
	int64_t second;			/* whose local time is in clock_text */
	bool second_known;
	char clock_text[32];
};

/** printer_get() - the reader's printer, empty. Return: NULL: out of memory. */
struct printer *printer_get(struct kymo_ctf_reader *reader);
void printer_free(struct printer *printer);
void printer_rewind(struct printer *printer);

/** printer_known() - print again what was printed of the class of the event at @s in this form
 *
 * Return: false: it was not, or printer_learn() had no memory. */
bool printer_known(struct printer *printer, const struct ctf_stream *s, const struct visitor *form);
/** printer_learn() - keep what the line has from byte @from on, for printer_known(). */
void printer_learn(struct printer *printer, const struct ctf_stream *s, const struct visitor *form,
		   size_t from);
/** printer_forget() - print host and names of classes again: the metadata was read again. */
void printer_forget(struct printer *printer);
void printer_flush(struct printer *printer, FILE *out);

static inline void printer_bytes(struct printer *p, const char *bytes, size_t size)
{
	json_text_raw(&p->line, bytes, size);
}

static inline void printer_text(struct printer *p, const char *text)
{
	json_text_raw(&p->line, text, strlen(text));
}

/** printer_character() - the next character of a text of @left bytes, or \xNN for each of its
 * bytes. Return: its bytes. */
size_t printer_character(struct printer *p, const char *at, uint64_t left);

/** printer_clean() - @text character by character, as text_clean(), but with tabs as babeltrace2
 * has them. */
void printer_clean(struct printer *p, const char *text);

__attribute__((format(printf, 2, 3)))
void printer_format(struct printer *p, const char *format, ...);

/**
 * printer_scope() - walk one scope of the event last returned
 *
 * Return: false when the scope is not there, or has nothing to show.
 */
bool printer_scope(struct ctf_stream *s, const struct event_class *event, enum ctf_scope scope,
		 uint64_t *pos, const struct visitor *visitor, struct printer *p);

/* Whether a field of the packet context describes the packet and is not shown. */
bool printer_is_hidden(const struct printer *p, const struct ctf_node *node);

/* The stream of the event last returned, and @pos behind its header. NULL: it was no event. */
struct ctf_stream *printer_stream(struct kymo_ctf_reader *reader,
				  const struct kymo_ctf_event *event, uint64_t *pos);

#endif
