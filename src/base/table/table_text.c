/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for people. Rows wait until the widths of their columns are known, but at most ROWS_HELD
 * of them: what comes later is written at once with the widths seen so far. So memory does not grow
 * with the number of rows.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/table/table_internal.h"
#include "base/text.h"

#define ROWS_HELD 4096
#define PAD_MAX \
	100 /* a longer cell does not widen its column: other rows would be blanks up to there */
#define CELL_MAX 512 /* columns of a cell that are printed, unless table_whole() */

/* A cell that is being printed; what does not fit is printed in the lines below. */
struct printed {
	enum table_side side;
	enum table_mark mark;
	const char *text;
};

static void put(struct table *t, enum table_mark mark, const char *text, size_t length)
{
	const bool painted = mark != TABLE_NORMAL && *table_paint(t, mark);

	fprintf(t->out, "%*s%s%.*s%s", (int)t->blanks, "", painted ? table_paint(t, mark) : "",
		(int)length, text, painted ? table_paint(t, TABLE_NORMAL) : "");
	t->blanks = 0;
}

/* A text of @width columns in @most: a name loses its middle, anything else its end. */
static void put_cut(struct table *t, enum table_mark mark, const char *text, size_t width,
		    size_t most)
{
	const char *dots = t->look.unicode ? "\xe2\x80\xa6" : "...";
	size_t mark_width = text_width(dots), head, tail;
	char line[TABLE_CELL_MAX];

	if (most <= mark_width + 1) {
		put(t, mark, text, table_fit_head(text, most));
		return;
	}
	tail = t->look.width ? (most - mark_width) / 2 : 0;
	head = table_fit_head(text, most - mark_width - tail);
	(void)snprintf(line, sizeof line, "%.*s%s%s", (int)head, text, dots,
		       text + table_fit_head(text, width - tail));
	put(t, mark, line, strlen(line));
}

/* The present line of a cell. Return: columns. */
static size_t put_text(struct table *t, unsigned column, struct printed *cell)
{
	const struct table_shape *shape = &t->shape[column];
	size_t width = text_width(cell->text), next = strlen(cell->text), length;
	size_t most = shape->cut ? shape->width : t->whole ? SIZE_MAX : CELL_MAX;

	if (!*cell->text)
		return 0;
	if (shape->cut && shape->prose) {
		length = table_fit_fold(cell->text, most, &next);
		put(t, cell->mark, cell->text, length);
		width = table_fit_width(cell->text, length);
	} else if (width > most) {
		put_cut(t, cell->mark, cell->text, width, most);
		width = most;
	} else {
		put(t, cell->mark, cell->text, next);
	}
	cell->text += next;
	return width;
}

/* Columns that a number keeps free behind it, so that units stand below each other. */
static size_t behind(const struct table *t, unsigned column, const char *text)
{
	const char *blank = strrchr(text, ' ');
	const struct table_shape *shape = &t->shape[column];

	return t->look.terminal && blank && shape->unit > strlen(blank)
		       ? shape->unit - strlen(blank)
		       : 0;
}

static void put_cell(struct table *t, unsigned column, struct printed *cell)
{
	const struct table_shape *shape = &t->shape[column];
	bool right = cell->side == TABLE_RIGHT || (cell->side == TABLE_AS_OTHERS && shape->right);
	size_t width, after = cell->side == TABLE_RIGHT ? behind(t, column, cell->text) : 0;

	if (right) {
		width = text_width(cell->text) + after;
		t->blanks += shape->width > width ? shape->width - width : 0;
		(void)put_text(t, column, cell);
		t->blanks += after;
	} else {
		width = put_text(t, column, cell);
		t->blanks += shape->width > width ? shape->width - width : 0;
	}
}

/* A row, in as many lines as its longest sentence has. Blanks wait for something to stand behind
 * them. */
static void put_row(struct table *t, struct printed *cells)
{
	bool more;

	do {
		bool first = true;

		more = false;
		for (unsigned i = 0; i < t->column_count; i++) {
			if (!table_is_shown(t, i))
				continue;
			t->blanks += first ? 0 : 2;
			put_cell(t, i, &cells[i]);
			more |= *cells[i].text != 0;
			first = false;
		}
		fputc('\n', t->out);
		t->blanks = 0;
	} while (more);
}

/* Numbers whose units stand below each other may take more room than the widest of them. */
static void widen(struct table *t, unsigned column)
{
	struct table_shape *shape = &t->shape[column];
	size_t title = text_width(t->columns[column].title), number = shape->digits + shape->unit;

	if (t->look.terminal && shape->right && shape->width < number)
		shape->width = number;
	if (shape->width < title)
		shape->width = title;
}

static void header(struct table *t)
{
	struct printed cells[TABLE_COLUMNS_MAX] = { 0 };
	bool titled = false;

	if (t->header_done)
		return;
	t->header_done = true;
	for (unsigned i = 0; i < t->column_count; i++)
		if (table_is_shown(t, i))
			widen(t, i);
	if (t->look.width)
		table_fit_columns(t);
	for (unsigned i = 0; t->look.width && i < t->column_count; i++)
		t->shape[i].cut |= !t->shape[i].right; /* rows that come later are held to it */
	for (unsigned i = 0; i < t->column_count; i++) {
		if (!table_is_shown(t, i))
			continue;
		cells[i] = (struct printed){ TABLE_AS_OTHERS, TABLE_USUAL, t->columns[i].title };
		titled |= *cells[i].text != 0;
	}
	if (titled)
		put_row(t, cells);
}

/* Write the held rows. */
void table_text_flush(struct table *t)
{
	const char *at = t->held.text;
	struct printed cells[TABLE_COLUMNS_MAX];

	if (t->held_rows)
		header(t);
	for (uint64_t row = 0; row < t->held_rows; row++) {
		for (unsigned i = 0; i < t->column_count; i++) {
			if (!t->columns[i].title)
				continue;
			cells[i] = (struct printed){ (enum table_side)at[0], (enum table_mark)at[1],
						     at + 2 };
			at += 2 + strlen(at + 2) + 1;
		}
		put_row(t, cells);
	}
	t->held_rows = 0;
	t->held.size = 0;
}

void table_text_hold(struct table *t, enum table_side side, const char *text)
{
	size_t width = text_width(text);
	struct table_shape *shape = &t->shape[t->column];
	enum table_mark mark = t->mark;

	if (!t->columns[t->column].title)
		return;
	if (mark == TABLE_NORMAL)
		mark = side == TABLE_RIGHT       ? table_text_mark(t->columns[t->column].key, text)
		       : side == TABLE_AS_OTHERS ? TABLE_USUAL
						 : TABLE_NORMAL;
	shape->cut |= t->look.width && width > PAD_MAX;
	if (!t->header_done) {
		table_fit_cell(shape, text, side == TABLE_RIGHT);
		if (width > shape->width)
			shape->width = width < PAD_MAX ? width : PAD_MAX;
		shape->right |= side == TABLE_RIGHT;
	}
	json_text_raw(&t->held, (const char[]){ (char)side, (char)mark }, 2);
	json_text_raw(&t->held, text, strlen(text) + 1);
	if (t->held.failed)
		t->error = ENOMEM;
}

void table_text_title(struct table *t, const char *title)
{
	if (t->begun)
		fputc('\n', t->out);
	t->begun = true;
	if (title && *title) {
		fputs(table_paint(t, TABLE_FIRST), t->out);
		table_fit_lines(t, title, 0, 2);
		fprintf(t->out, "%s\n", table_paint(t, TABLE_NORMAL));
	}
}

void table_text_row(struct table *t)
{
	if (++t->held_rows == ROWS_HELD || t->header_done)
		table_text_flush(t);
}

void table_text_fact(struct table *t, const char *key, const char *title,
		     const struct table_spelling *value)
{
	char grouped[TEXT_QUANTITY_MAX];
	const char *text = value->text ? value->text : "-";

	if (value->number && value->text == value->exact)
		text = table_text_count(t, key, text, grouped);
	if (t->mark == TABLE_NORMAL && value->number)
		t->mark = table_text_mark(key, text);
	fprintf(t->out, "%s: %s", title, t->mark ? table_paint(t, t->mark) : "");
	table_fit_lines(t, text, text_width(title) + 2, 2);
	fprintf(t->out, "%s\n", t->mark ? table_paint(t, TABLE_NORMAL) : "");
	t->mark = TABLE_NORMAL;
}
