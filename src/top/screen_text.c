/* SPDX-License-Identifier: Apache-2.0 */
/* See screen_text.h. A character takes one column; the texts were made safe when the board took
 * them. */
#include "top/screen_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct line {
	char *text;
	size_t used;
	bool utf8;
};

static void put(struct line *line, const char *bytes, size_t length)
{
	if (line->used + length >= SCREEN_TEXT_MAX)
		return;
	memcpy(line->text + line->used, bytes, length);
	line->used += length;
	line->text[line->used] = 0;
}

/* Copies @count characters. Return: what follows. */
static const char *put_some(struct line *line, const char *text, size_t count)
{
	for (; *text && count; count--) {
		size_t length = text_utf8_length(text);

		length = length ? length : 1;
		if (line->utf8 || length == 1)
			put(line, text, length);
		else
			put(line, "?", 1);
		text += length;
	}
	return text;
}

static void put_blanks(struct line *line, size_t count)
{
	while (count--)
		put(line, " ", 1);
}

static const char *skip(const char *text, size_t count)
{
	for (; *text && count; count--) {
		const size_t length = text_utf8_length(text);

		text += length ? length : 1;
	}
	return text;
}

/* The end of a name tells more than its middle. */
static void put_cut(struct line *line, const char *text, size_t width)
{
	const size_t all = text_width(text);
	const size_t front = width / 2;

	if (all <= width) {
		(void)put_some(line, text, all);
		return;
	}
	if (!width)
		return;
	(void)put_some(line, text, front);
	put(line, line->utf8 ? "\xe2\x80\xa6" : "~", line->utf8 ? 3 : 1);
	(void)put_some(line, skip(text, all - (width - front - 1)), width);
}

char *screen_fit(char buffer[SCREEN_TEXT_MAX], const char *text, unsigned width, bool utf8)
{
	struct line line = { buffer, 0, utf8 };
	const size_t all = text_width(text);

	*buffer = 0;
	put_cut(&line, text, width);
	if (all < width)
		put_blanks(&line, width - all);
	return buffer;
}

char *screen_label(char buffer[SCREEN_TEXT_MAX], const struct board_row *row, unsigned width,
		   bool utf8)
{
	struct line line = { buffer, 0, utf8 };
	const size_t name = text_width(row->name);
	size_t what = text_width(row->what), room;
	const char *of = row->what;
	char threads[32];

	if (!what)
		return screen_fit(buffer, row->name, width, utf8);
	/* Numbers of threads say nothing if some of them are missing. */
	if (row->threads > 1 && name + 1 + what > width) {
		(void)snprintf(threads, sizeof(threads), "%u threads", row->threads);
		of = threads;
		what = text_width(of);
	}
	*buffer = 0;
	if (name + 1 + what > width && what > width / 2)
		what = name < width / 2 ? width - name - 1 : width / 2;
	room = width > what + 1 ? width - what - 1 : 0;
	put_cut(&line, row->name, room);
	put(&line, " ", 1);
	put_cut(&line, of, what);
	if (name < room)
		put_blanks(&line, room - name);
	return buffer;
}

/* The largest of the slices that column @at of @width stands for; -1: none. The last slot is the
 * latest slice. */
static int64_t largest(const int64_t *of, unsigned count, unsigned slots, unsigned width,
		       unsigned at)
{
	unsigned from = at * slots / width, to = (at + 1) * slots / width;
	int64_t most = -1;

	to = to > from ? to : from + 1;
	for (; from < to && from < slots; from++)
		if (from + count >= slots && of[from + count - slots] > most)
			most = of[from + count - slots];
	return most;
}

char *screen_spark(char buffer[SCREEN_TEXT_MAX], const int64_t *of, unsigned count, unsigned slots,
		   unsigned width, bool utf8)
{
	static const char *const bar[] = { "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
					   "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
					   "\xe2\x96\x87", "\xe2\x96\x88" };
	static const char plain[] = "_.-:=+*#";
	struct line line = { buffer, 0, utf8 };
	int64_t most = 1;

	*buffer = 0;
	slots = slots < count ? count : slots;
	for (unsigned i = 0; i < count; i++)
		most = of[i] > most ? of[i] : most;
	for (unsigned i = 0; i < width; i++) {
		const int64_t value = largest(of, count, slots, width, i);
		const int level = (int)((double)value / (double)most * 7.999);

		if (value < 0)
			put(&line, " ", 1);
		else if (utf8)
			put(&line, bar[level], 3);
		else
			put(&line, &plain[level], 1);
	}
	return buffer;
}

char *screen_wrap(const char *text, unsigned width)
{
	char *out = malloc(2 * strlen(text) + 1), *at = out, *blank = NULL;
	unsigned column = 0, since_blank = 0;

	if (!out || width < 2) {
		free(out);
		return width < 2 ? strdup(text) : NULL;
	}
	while (*text) {
		size_t length = text_utf8_length(text);

		length = length ? length : 1;
		if (*text == '\n') {
			column = 0;
			blank = NULL;
		} else if (++column > width) {
			if (blank) { /* the blank becomes the end of the line */
				*blank = '\n';
				column = since_blank + 1;
			} else {
				*at++ = '\n';
				column = 1;
			}
			blank = NULL;
		}
		if (*text == ' ') {
			blank = at;
			since_blank = 0;
		} else {
			since_blank++;
		}
		memcpy(at, text, length);
		at += length;
		text += length;
	}
	*at = 0;
	return out;
}
