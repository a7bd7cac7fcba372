/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table in the width of its terminal. A column of names may be shortened to NAME_LEAST columns, a
 * column of sentences folded to PROSE_LEAST, and numbers stay whole. While even the least widths do
 * not fit, the least important column is left out, those without a word in them before all others.
 * What is left of the width then goes to the columns of text, the shortest first.
 */
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/table/table_internal.h"
#include "base/text.h"

#define GAP 2
#define NAME_LEAST 22  /* columns that a name keeps */
#define PROSE_LEAST 24 /* columns of a sentence; more for a long word, up to half a line */
#define PROSE_WORDS 6  /* a cell of so many words is a sentence */

size_t table_fit_head(const char *text, size_t columns)
{
	size_t used = 0;

	while (columns-- && text[used]) {
		size_t length = text_utf8_length(text + used);

		used += length ? length : 1;
	}
	return used;
}

size_t table_fit_width(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t at = 0; at < length; columns++)
		at += table_fit_head(text + at, 1);
	return columns;
}

/* A name of C++ has blanks, too, and so have lists of "name: type". */
static bool is_prose(const char *text)
{
	unsigned words = 1, colons = 0;

	for (const char *at = text; *at; at++) {
		words += at[0] == ' ' && at[1] && at[1] != ' ';
		colons += at[0] == ':' && at[1] == ' ';
	}
	return words >= PROSE_WORDS && colons < 2 && !strstr(text, "::");
}

static size_t longest_word(const char *text)
{
	size_t longest = 0;

	for (size_t length; *text; text += length + strspn(text + length, " ")) {
		const size_t width = table_fit_width(text, length = strcspn(text, " "));

		if (width > longest)
			longest = width;
	}
	return longest;
}

void table_fit_cell(struct table_shape *shape, const char *text, bool right)
{
	const char *blank = right ? strrchr(text, ' ') : NULL;
	size_t unit = blank ? strlen(blank) : 0, digits = text_width(text) - unit;

	shape->says |= *text && strcmp(text, "-") != 0;
	if (!right) {
		const size_t word = is_prose(text) ? longest_word(text) : 0;

		shape->prose |= word != 0;
		if (word > shape->word)
			shape->word = word;
		return;
	}
	if (digits > shape->digits)
		shape->digits = digits;
	if (unit > shape->unit)
		shape->unit = unit;
}

static size_t least_of(const struct table *t, unsigned i)
{
	const struct table_shape *shape = &t->shape[i];
	size_t least = shape->prose ? PROSE_LEAST : NAME_LEAST,
	       title = text_width(t->columns[i].title);

	if (shape->word > least)
		least = shape->word < t->look.width / 2 ? shape->word : t->look.width / 2;
	if (shape->right || shape->width < least)
		return shape->width;
	return title > least ? title : least;
}

/* Of a row, if each column is as wide as it wants to be, or as narrow as it can be. */
static size_t row_width(const struct table *t, bool narrow, unsigned *shown)
{
	size_t total = 0;

	*shown = 0;
	for (unsigned i = 0; i < t->column_count; i++) {
		if (!table_is_shown(t, i))
			continue;
		total += (*shown ? GAP : 0) + (narrow ? least_of(t, i) : t->shape[i].width);
		++*shown;
	}
	return total;
}

/* The one to be left out next; the first column stays. */
static struct table_shape *least_important(struct table *t)
{
	struct table_shape *least = NULL;
	bool first = true;

	for (unsigned i = 0; i < t->column_count; i++) {
		struct table_shape *shape = &t->shape[i];

		if (!table_is_shown(t, i))
			continue;
		if (!first && (!least || shape->says < least->says ||
			       (shape->says == least->says && shape->rank > least->rank)))
			least = shape;
		first = false;
	}
	return least;
}

static void narrow_by_one(struct table *t, bool hard)
{
	struct table_shape *widest = NULL;

	for (unsigned i = 0; i < t->column_count; i++) {
		struct table_shape *shape = &t->shape[i];

		if (table_is_shown(t, i) && shape->width > (hard ? 1 : least_of(t, i)) &&
		    (!widest || shape->width > widest->width))
			widest = shape;
	}
	if (!widest)
		return;
	widest->width--;
	widest->cut = true;
}

void table_fit_columns(struct table *t)
{
	const size_t fit = t->look.width;
	struct table_shape *least;
	unsigned shown;
	size_t total;

	while (row_width(t, true, &shown) > fit && (least = least_important(t))) {
		least->out = true;
		t->left_out++;
	}
	/* One column may still be too wide. */
	for (total = row_width(t, false, &shown); total > fit && fit; total--)
		narrow_by_one(t, row_width(t, true, &shown) > fit);
}

/* ---- sentences ---- */

size_t table_fit_fold(const char *text, size_t width, size_t *next)
{
	size_t most = table_fit_head(text, width), end = most;

	if (!text[most]) {
		*next = most;
		return most;
	}
	while (end && text[end] != ' ')
		end--;
	while (end && text[end - 1] == ' ')
		end--;
	if (!end) /* a word that is longer than the line */
		end = most ? most : 1;
	*next = end + strspn(text + end, " ");
	return end;
}

void table_fit_lines(struct table *t, const char *text, size_t at, size_t indent)
{
	const size_t width = t->look.width;

	if (width)
		text_fold(t->out, text, width, at, indent + 8 < width ? indent : 0);
	else
		fputs(text, t->out);
}

static bool is_among(const char *key, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* By name, because the same keys occur in most tables: what it is and how bad it was stays, and
 * what tells only apart, or can be calculated, goes first. */
unsigned table_fit_rank(const char *key, unsigned column)
{
	static const char *const first[] = {
		"name",    "node",  "source",   "topic", "path",  "victim", "culprit",
		"segment", "where", "kind",     "who",   "count", "max_ns", "p99_ns",
		"wait_ns", "ns",    "usual_ns", "bar",   "text",  "remedy", "reason",
	};
	static const char *const last[] = {
		"symbol",     "process",       "pid",          "tid",      "host",
		"threads",    "min_ns",        "deviation_ns", "total_ns", "total_blocked_ns",
		"publishers", "subscriptions", "node_handle",  "handle",
	};

	if (is_among(key, first, COUNT_OF(first)))
		return TABLE_COLUMNS_MAX + column;
	return (is_among(key, last, COUNT_OF(last)) ? 3 : 2) * TABLE_COLUMNS_MAX + column;
}

void table_rank(struct table *t, const char *keys)
{
	unsigned rank = 0;

	for (size_t length; *keys; keys += length + strspn(keys + length, " ")) {
		length = strcspn(keys, " ");
		for (unsigned i = 0; i < t->column_count; i++)
			if (strlen(t->columns[i].key) == length &&
			    !memcmp(t->columns[i].key, keys, length))
				t->shape[i].rank = rank;
		rank++;
	}
}

/* ---- colours, and numbers as people read them ---- */

const char *table_paint(const struct table *t, enum table_mark mark)
{
	static const char *const escape[] = {
		[TABLE_NORMAL] = "\033[0m",    [TABLE_BAD] = "\033[31m",
		[TABLE_DOUBTFUL] = "\033[33m", [TABLE_FIRST] = "\033[1m",
		[TABLE_USUAL] = "\033[2m",
	};

	return t->look.color ? escape[mark] : "";
}

/* The last word of a key in snake_case. */
static bool ends_with_word(const char *key, const char *const *words, size_t count)
{
	const char *last = strrchr(key, '_');

	last = last ? last + 1 : key;
	for (size_t i = 0; i < count; i++)
		if (!strcmp(last, words[i]))
			return true;
	return false;
}

/* Numbers that name something: nobody reads a process 27,522. */
static bool is_name(const char *key)
{
	static const char *const words[] = {
		"pid",  "tid",    "vpid",   "vtid",       "ppid",     "id",     "uid",   "gid",
		"port", "thread", "line",   "cpu",        "status",   "number", "rank",  "message",
		"sec",  "domain", "letter", "generation", "sequence", "year",   "chain",
	};

	return ends_with_word(key, words, COUNT_OF(words));
}

enum table_mark table_text_mark(const char *key, const char *digits)
{
	static const char *const losses[] = { "lost", "dropped", "unwritten", "overwritten" };
	const bool lost = ends_with_word(key, losses, COUNT_OF(losses)) ||
			  !strcmp(key, "lost_events") || !strcmp(key, "lost_packets");

	return lost && *digits != '0' && *digits != '-' ? TABLE_BAD : TABLE_NORMAL;
}

const char *table_text_count(const struct table *t, const char *key, const char *digits,
			     char out[TEXT_QUANTITY_MAX])
{
	size_t length = strlen(digits), used = 0, sign = *digits == '-';

	/* 20 digits and 6 commas fit. */
	if (!t->look.terminal || length - sign < 4 || length > 20 || is_name(key))
		return digits;
	for (size_t i = 0; i < length; i++) {
		if (i > sign && (length - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = 0;
	return out;
}
