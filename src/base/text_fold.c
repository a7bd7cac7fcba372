/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds text into lines. See text.h. A line may end at a blank, but not within what is to be typed
 * or read as one: a command, a word in quotes, a number and its unit.
 */
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define UNIT_LONGEST 4 /* "ms;" */

/* The blank and the unit behind the number @word, as in "120 ms"; 0: it is none. */
static size_t unit_behind(const char *word, size_t length)
{
	const size_t unit = word[length] ? strcspn(word + length + 1, " ") : 0;

	if (!length || !isdigit((unsigned char)*word) || !isdigit((unsigned char)word[length - 1]))
		return 0;
	return unit && unit <= UNIT_LONGEST ? 1 + unit : 0;
}

static bool ends_command(const char *at)
{
	return strchr("\"`", *at) || (strchr(",;:.)", *at) && (!at[1] || at[1] == ' '));
}

/* At the quote that begins a word of a shell, its last quote; else @at. */
static const char *quoted_end(const char *at)
{
	const bool begins = *at == '\'' && (at[-1] == ' ' || at[-1] == '=');
	const char *end = begins ? strchr(at + 1, '\'') : NULL;

	while (end && strncmp(end, "'\\''", 4) == 0)
		end = strchr(end + 4, '\'');
	return end ? end : at;
}

/* Bytes of the command, or of what is in quotes, that begins at @text, else of the word, with the
 * blanks before it. */
static size_t unit_length(const char *text)
{
	const size_t blanks = strspn(text, " "), word = strcspn(text + blanks, " ");
	const char *begin = text + blanks, *at;

	begin += strspn(begin, "\"`'(");
	if (strncmp(begin, "kymo ", 5) != 0 || !islower((unsigned char)begin[5]) ||
	    begin[5 + strcspn(begin + 5, " ") - 1] == ':') {
		at = blanks ? quoted_end(text + blanks) : text;
		if (at > text + blanks)
			return (size_t)(at - text) + strcspn(at, " ");
		return blanks + word + unit_behind(text + blanks, word);
	}
	for (at = begin; *at && !ends_command(at); at = quoted_end(at) + 1)
		if (!strncmp(at, " or kymo ", 9) || !strncmp(at, " and kymo ", 10))
			return (size_t)(at - text);
	return (size_t)(at - text) + strcspn(at, " ");
}

/* Of the choices "a|b|c" in @length bytes: those up to the last "|" within @room; 0: none. */
static size_t choices_within(const char *text, size_t length, size_t room)
{
	if (room > length)
		room = length;
	while (room && text[room - 1] != '|')
		room--;
	return room;
}

/* A command in quotes, with quotes, or alone in its line is to be typed as it stands, however long
 * it is. */
static bool is_typed(const char *text, size_t length, bool is_alone)
{
	const char first = text[strspn(text, " ")];

	return memchr(text, '\'', length) || first == '`' || first == '"' ||
	       (is_alone && !text[length]);
}

void text_fold(FILE *out, const char *text, size_t width, size_t at, size_t indent)
{
	bool is_first = at <= indent; /* of its line */

	while (*text) {
		const size_t blanks = strspn(text, " ");
		const size_t word = blanks + strcspn(text + blanks, " ");
		size_t length = unit_length(text), columns = 0;

		if (length > word && length > width - indent && !is_typed(text, length, is_first))
			length = word;
		if (length - blanks > width - indent) { /* longer than a line */
			size_t part = choices_within(text, length, at < width ? width - at : 0);

			part = part ? part : choices_within(text, length, blanks + width - indent);
			length = part ? part : length;
		}
		for (size_t i = 0; i < length; i++)
			columns += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (!is_first && at + columns > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			length -= blanks;
			columns -= blanks;
			text += blanks;
			at = indent;
		}
		fprintf(out, "%.*s", (int)length, text);
		at += columns;
		text += length;
		is_first = false;
	}
}
