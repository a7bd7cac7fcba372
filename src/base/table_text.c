/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for people. Rows wait until the widths of their columns are known, but at most ROWS_HELD of them: what
 * comes later is written at once with the widths seen so far. So memory does not grow with the number of rows.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/table_internal.h"
#include "base/text.h"

#define ROWS_HELD 4096
#define PAD_MAX \
	100 /* a longer cell does not widen its column: other rows would be blanks up to there */
#define CELL_MAX 512    /* columns of a cell that are printed, unless table_whole() */
#define FIT_MIN 32	/* columns of text that table_fit() always leaves: a time, most names */

/* Bytes of the first @columns code points of @text, which is UTF-8. */
static size_t head_of(const char *text, size_t columns)
{
	size_t used = 0;

	while (columns-- && text[used]) {
		size_t length = text_utf8_length(text + used);

		used += length ? length : 1;
	}
	return used;
}

/* One cell with its distance to the one before. Blanks wait for something to stand behind them. */
static void text_cell(struct table *t, unsigned column, bool right, const char *text)
{
	size_t width = text_width(text);
	size_t most = t->shape[column].cut ? t->shape[column].width
		      : t->whole           ? SIZE_MAX
					   : CELL_MAX;
	bool cut = width > most;
	size_t space = width < t->shape[column].width ? t->shape[column].width - width : 0;
	bool first = true, last = true;

	for (unsigned i = 0; i < column; i++)
		first &= !table_is_shown(t, i);
	for (unsigned i = column + 1; i < t->column_count; i++)
		last &= !table_is_shown(t, i);
	t->blanks += (first ? 0 : 2) + (right ? space : 0);
	if (*text) {
		size_t length = cut ? head_of(text, most - 3) : strlen(text);

		fprintf(t->out, "%*s%.*s%s", (int)t->blanks, "", (int)length, text, cut ? "..." : "");
		t->blanks = 0;
	}
	t->blanks += right ? 0 : space;
	if (last) {
		fputc('\n', t->out);
		t->blanks = 0;
	}
}

/* Cut the widest columns of text, until a row fits or none is left that may be cut. */
static void text_fit(struct table *t)
{
	size_t total = 0;
	struct table_shape *widest;

	for (unsigned i = 0; i < t->column_count; i++)
		total += table_is_shown(t, i) ? t->shape[i].width + (total ? 2 : 0) : 0;
	for (; total > t->fit; total--) {
		widest = NULL;
		for (unsigned i = 0; i < t->column_count; i++) {
			size_t least = table_is_shown(t, i) ? text_width(t->columns[i].title) : SIZE_MAX;

			if (!t->shape[i].right && t->shape[i].width > FIT_MIN &&
			    t->shape[i].width > least && (!widest || t->shape[i].width > widest->width))
				widest = &t->shape[i];
		}
		if (!widest)
			return;
		widest->width--;
		widest->cut = true;
	}
}

static void header(struct table *t)
{
	if (t->header_done)
		return;
	t->header_done = true;
	for (unsigned i = 0; i < t->column_count; i++) {
		if (table_is_shown(t, i) && t->shape[i].width < text_width(t->columns[i].title))
			t->shape[i].width = text_width(t->columns[i].title);
	}
	if (t->fit)
		text_fit(t);
	for (unsigned i = 0; i < t->column_count; i++) {
		if (table_is_shown(t, i))
			text_cell(t, i, t->shape[i].right, t->columns[i].title);
	}
}

/* Write the held rows. */
void table_text_flush(struct table *t)
{
	const char *at = t->held.text;

	if (t->held_rows)
		header(t);
	for (uint64_t row = 0; row < t->held_rows; row++) {
		for (unsigned i = 0; i < t->column_count; i++) {
			if (!table_is_shown(t, i))
				continue;
			text_cell(t, i, *at == TABLE_RIGHT || (*at == TABLE_AS_OTHERS && t->shape[i].right),
				  at + 1);
			at += 1 + strlen(at + 1) + 1;
		}
	}
	t->held_rows = 0;
	t->held.size = 0;
}

void table_text_hold(struct table *t, enum table_side side, const char *text)
{
	size_t width = text_width(text);
	struct table_shape *shape = &t->shape[t->column];

	if (!table_is_shown(t, t->column))
		return;
	shape->cut |= t->fit && width > PAD_MAX;
	if (width > shape->width)
		shape->width = width < PAD_MAX ? width : PAD_MAX;
	shape->right |= side == TABLE_RIGHT;
	json_text_raw(&t->held, &(char){ (char)side }, 1);
	json_text_raw(&t->held, text, strlen(text) + 1);
	if (t->held.failed)
		t->error = ENOMEM;
}

void table_text_title(struct table *t, const char *title)
{
	if (t->begun)
		fputc('\n', t->out);
	t->begun = true;
	if (title && *title)
		fprintf(t->out, t->bold ? "\033[1m%s\033[0m\n" : "%s\n", title);
}

void table_text_row(struct table *t)
{
	if (++t->held_rows == ROWS_HELD || t->header_done)
		table_text_flush(t);
}
