/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the screen: head, findings, the table of a page, CPU of processes, keys. All is drawn each
 * time; ncurses sends what has changed. What is wrong has a mark or a word besides its colour.
 */
#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "top/screen.h"
#include "top/screen_text.h"

#define FINDINGS_LINES 2 /* at least; a large screen has more */
#define NAME_LEAST 28    /* columns of a name, before columns of numbers give way */
#define NAME_MOST 70
#define SPARK_LEAST 10
#define SPARK_MOST 60

static attr_t color(const struct screen *screen, enum screen_color number)
{
	return screen->colors ? COLOR_PAIR(number) : A_NORMAL;
}

/* @text in exactly @width columns at @y, @x. */
static void put(const struct screen *screen, int y, int x, const char *text, int width, attr_t how)
{
	char buffer[SCREEN_TEXT_MAX];

	if (width <= 0 || y < 0 || y >= LINES || x >= COLS)
		return;
	if (x + width > COLS)
		width = COLS - x;
	(void)attrset(how);
	(void)mvaddstr(y, x, screen_fit(buffer, text, (unsigned)width, screen->utf8));
	(void)attrset(A_NORMAL);
}

static void put_right(const struct screen *screen, int y, int end, const char *text, attr_t how)
{
	const int width = (int)text_width(text);

	put(screen, y, end > width ? end - width : 0, text, width, how);
}

static const char *dot(const struct screen *screen)
{
	return screen->utf8 ? "\xc2\xb7" : "-";
}

/* ---- head ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_state(const struct screen *screen, char *text, unsigned size)
{
	const char *name = base_name(source_name(screen->source));

	switch (source_kind(screen->source)) {
	case SOURCE_ALONE:
		(void)snprintf(text, size, "counting only");
		break;
	case SOURCE_BESIDE:
		(void)snprintf(text, size, "recording %s", *name ? name : "(in memory)");
		break;
	case SOURCE_GROWING:
		(void)snprintf(text, size, "recording %s", name);
		break;
	case SOURCE_COMPLETE:
		(void)snprintf(text, size, "%s%s", source_is_over(screen->source) ? "" : "reading ",
			       name);
		break;
	case SOURCE_RELAY:
		(void)snprintf(text, size, "live %s", name);
		break;
	}
}

static void draw_head(const struct screen *screen)
{
	const unsigned findings = screen->findings;
	char text[600], state[300], span[TEXT_QUANTITY_MAX], right[64];
	struct board_totals totals;

	board_totals(screen->board, &totals);
	put_state(screen, state, sizeof(state));
	if (source_kind(screen->source) == SOURCE_COMPLETE)
		(void)text_ns(span, totals.end_ns - totals.begin_ns);
	else
		(void)snprintf(span, sizeof(span), "%g s",
			       (double)screen->options->interval_ns / 1e9);
	(void)snprintf(text, sizeof(text), "kymo top %s %u process%s, %u node%s %s %s %s %s",
		       dot(screen), totals.processes, totals.processes == 1 ? "" : "es",
		       totals.nodes, totals.nodes == 1 ? "" : "s", dot(screen), state, dot(screen),
		       span);
	(void)snprintf(right, sizeof(right),
		       screen->frozen  ? " frozen (f)"
		       : findings == 1 ? " 1 finding"
				       : " %u findings",
		       findings);
	put(screen, 0, 0, text, COLS, A_BOLD);
	put_right(screen, 0, COLS, right,
		  screen->frozen ? A_REVERSE
		  : findings     ? A_BOLD | color(screen, SCREEN_RED)
				 : A_BOLD);
}

/* "2 s ago", of a complete trace "at +4.325 s". */
static void put_when(const struct screen *screen, const struct finding *finding, char *text,
		     unsigned size)
{
	struct board_totals totals;
	const bool whole = source_kind(screen->source) == SOURCE_COMPLETE;

	board_totals(screen->board, &totals);
	if (!finding->at_ns)
		*text = 0;
	else if (whole)
		(void)snprintf(text, size, "at +%.3f s",
			       (double)(finding->at_ns - totals.begin_ns) / 1e9);
	else
		(void)snprintf(text, size, "%.0f s ago",
			       (double)(totals.end_ns - finding->at_ns) / 1e9);
}

/* Return: lines that it took. */
static int draw_findings(const struct screen *screen, int y, int most)
{
	const struct finding *of = screen->finding;
	const char *note = source_note(screen->source);
	char text[1200], when[64];
	int lines = 0;

	if (*note)
		put(screen, y + lines++, 1, note, COLS - 1, color(screen, SCREEN_YELLOW) | A_BOLD);
	for (unsigned i = 0; i < screen->findings && lines < most; i++, lines++) {
		int width;

		put_when(screen, &of[i], when, sizeof(when));
		put(screen, y + lines, 1, "!", 1, color(screen, SCREEN_RED) | A_BOLD);
		width = COLS - 4 - (int)strlen(when);
		put(screen, y + lines, 3,
		    finding_text(&of[i], (unsigned)(width > 0 ? width : 1), text, sizeof(text)),
		    width, A_NORMAL);
		put_right(screen, y + lines, COLS, when, A_DIM);
	}
	if (!lines)
		put(screen, y, 1, "Nothing stands out.", COLS - 1, A_NORMAL);
	return lines ? lines : 1;
}

/* ---- table ---- */

struct layout {
	enum view_column column[VIEW_COLUMNS];
	unsigned columns;
	int name, spark; /* widths; spark 0: none */
};

static int width_of(const struct layout *layout)
{
	int width = 0;

	for (unsigned i = 1; i < layout->columns; i++)
		width += 1 + (int)view_heading[layout->column[i]].width;
	return width;
}

/* Columns to the right are left out first where the screen is narrow, and then the bars. */
static void lay_out(const struct screen *screen, struct layout *layout)
{
	const struct view_page *page = &view_page[screen->view.page];
	int left;

	memcpy(layout->column, page->column, sizeof(layout->column));
	layout->columns = page->columns;
	while (layout->columns > 2 && COLS - 2 - width_of(layout) < NAME_LEAST + 1 + SPARK_LEAST &&
	       (layout->column[layout->columns - 1] >= VIEW_PROCESS ||
		COLS - 2 - width_of(layout) < NAME_LEAST))
		layout->columns--;
	left = COLS - 2 - width_of(layout);
	layout->spark = left >= NAME_LEAST + 1 + SPARK_LEAST ? (left - NAME_LEAST - 1) / 2 : 0;
	if (layout->spark && layout->spark < SPARK_LEAST)
		layout->spark = SPARK_LEAST;
	if (layout->spark > SPARK_MOST)
		layout->spark = SPARK_MOST;
	layout->name = left - (layout->spark ? layout->spark + 1 : 0);
	if (layout->name > NAME_MOST && screen->view.page != BOARD_CHAINS)
		layout->name = NAME_MOST;
}

static void draw_heading(const struct screen *screen, const struct layout *layout, int y)
{
	const bool whole = source_kind(screen->source) == SOURCE_COMPLETE;
	const bool minute = screen->options->interval_ns == 1000000000;
	int x = 2 + layout->name;

	put(screen, y, 0, "", COLS, A_REVERSE);
	for (unsigned i = 0; i < layout->columns; i++) {
		const enum view_column column = layout->column[i];
		const bool sorts = column == screen->view.sort[screen->view.page];
		const char *text = view_heading[column].text ? view_heading[column].text
							     : view_page[screen->view.page].heading;
		const attr_t how = A_REVERSE | (sorts ? A_BOLD | A_UNDERLINE : 0);
		char marked[64];

		/* The mark says in which direction, also without bold letters. */
		(void)snprintf(marked, sizeof(marked), "%s%s",
			       sorts ? (view_heading[column].ascends !=
							screen->view.reversed[screen->view.page]
						? "^"
						: "v")
				     : "",
			       text);
		if (!i) {
			put(screen, y, 2, marked, (int)strlen(marked), how);
			continue;
		}
		x += 1 + (int)view_heading[column].width;
		put_right(screen, y, x, marked, how);
	}
	if (layout->spark)
		put(screen, y, x + 1,
		    whole                         ? "OVER TIME"
		    : !minute                     ? "LAST 60"
		    : layout->spark > SPARK_LEAST ? "LAST MINUTE"
						  : "LAST MIN",
		    layout->spark, A_REVERSE);
}

static bool is_found(const struct screen *screen, const struct board_row *row)
{
	for (unsigned i = 0; i < screen->findings; i++)
		if (screen->finding[i].row == row)
			return true;
	return false;
}

static void draw_row(const struct screen *screen, const struct layout *layout, int y, int index)
{
	const struct view_row *row = &screen->rows[index];
	const bool chosen = row->row == screen->chosen, bad = is_found(screen, row->row);
	const attr_t how = chosen ? A_REVERSE : A_NORMAL;
	char text[SCREEN_TEXT_MAX], cell[VIEW_CELL_MAX];
	int64_t of[BOARD_SLICES];
	int x = 2 + layout->name;
	unsigned slices;

	put(screen, y, 0,
	    bad      ? "!"
	    : chosen ? ">"
		     : "",
	    COLS, how | (bad ? color(screen, SCREEN_RED) | A_BOLD : 0));
	put(screen, y, 2, screen_label(text, row->row, (unsigned)layout->name, screen->utf8),
	    layout->name, how | (bad ? A_BOLD : 0));
	for (unsigned i = 1; i < layout->columns; i++) {
		const enum view_column column = layout->column[i];
		const bool is_text = view_heading[column].ascends && column == VIEW_PROCESS;

		(void)view_cell(row, column, cell);
		if (is_text)
			put(screen, y, x + 1, cell, (int)view_heading[column].width, how);
		x += 1 + (int)view_heading[column].width;
		if (!is_text)
			put_right(screen, y, x, cell,
				  how | (bad && (column == VIEW_WORST || column == VIEW_WAITED)
						 ? A_BOLD
						 : 0));
	}
	if (!layout->spark)
		return;
	slices = board_spark(screen->board, row->row, of);
	put(screen, y, x + 1,
	    screen_spark(text, of, slices,
			 source_kind(screen->source) == SOURCE_COMPLETE ? 0 : BOARD_SLICES - 1,
			 (unsigned)layout->spark, screen->utf8),
	    layout->spark, how | color(screen, SCREEN_CYAN));
}

/* The chosen row stays chosen when others overtake it. */
static void find_chosen(struct screen *screen)
{
	for (int i = 0; screen->chosen && i < screen->count; i++)
		if (screen->rows[i].row == screen->chosen)
			screen->at = i;
	if (screen->at >= screen->count)
		screen->at = screen->count ? screen->count - 1 : 0;
	screen->chosen = screen->count && screen->chosen ? screen->rows[screen->at].row
			 : screen->count                 ? screen->rows[screen->at].row
							 : NULL;
	if (screen->at < screen->top)
		screen->top = screen->at;
	if (screen->at >= screen->top + screen->fits)
		screen->top = screen->at - screen->fits + 1;
	if (screen->top < 0)
		screen->top = 0;
}

static void draw_table(struct screen *screen, int y, int end)
{
	struct layout layout;

	screen->fits = end - y - 1 > 0 ? end - y - 1 : 0;
	find_chosen(screen);
	lay_out(screen, &layout);
	draw_heading(screen, &layout, y);
	for (int i = 0; i < screen->fits && screen->top + i < screen->count; i++)
		draw_row(screen, &layout, y + 1 + i, screen->top + i);
	if (!screen->count)
		put(screen, y + 1, 2,
		    *screen->view.filter ? "no row has this text (Esc: all rows)" : "nothing yet",
		    COLS - 2, A_DIM);
}

/* ---- foot ---- */

#define CPU_MOST 64u

static int by_cpu(const void *a, const void *b)
{
	const struct board_process *x = a, *y = b;

	return x->cpu != y->cpu ? (x->cpu < y->cpu ? 1 : -1)
				: (x->pid > y->pid) - (x->pid < y->pid);
}

/* The busiest processes, as many as there is room for. */
static void put_cpu(const struct screen *screen, char *text, size_t size)
{
	struct board_process of[CPU_MOST], one;
	unsigned count = 0;
	size_t used = 0;

	*text = 0;
	for (unsigned i = 0; board_process(screen->board, i, &one); i++) {
		if (one.cpu < 0)
			continue;
		if (count == CPU_MOST) {
			qsort(of, count, sizeof(*of), by_cpu);
			count--;
		}
		of[count++] = one;
	}
	qsort(of, count, sizeof(*of), by_cpu);
	for (unsigned i = 0; i < count && used + 64 < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s %.0f %%",
					 used ? "  " : "CPU  ", of[i].name, of[i].cpu * 100);
}

static void draw_cpu(const struct screen *screen, int y)
{
	char text[SCREEN_TEXT_MAX], lost[64];
	struct board_totals totals;

	board_totals(screen->board, &totals);
	(void)snprintf(lost, sizeof(lost), " lost %" PRIu64, totals.lost);
	put_cpu(screen, text, sizeof(text));
	put(screen, y, 0, text, COLS - (int)strlen(lost), A_NORMAL);
	put_right(screen, y, COLS, lost, totals.lost ? A_BOLD | color(screen, SCREEN_RED) : A_DIM);
}

static void draw_foot(const struct screen *screen, int y)
{
	char text[256];
	int x = 0;

	if (screen->types) {
		(void)snprintf(text, sizeof(text), "/%s_   Enter: keep it  Esc: as before",
			       screen->view.filter);
		put(screen, y, 0, text, COLS, A_BOLD);
		return;
	}
	for (unsigned i = 0; i < BOARD_PAGES; i++) {
		(void)snprintf(text, sizeof(text), "%u %s", i + 1, view_page[i].name);
		put(screen, y, x, text, (int)strlen(text),
		    i == screen->view.page ? A_REVERSE : A_NORMAL);
		x += (int)strlen(text) + 1;
	}
	if (*screen->view.filter)
		(void)snprintf(text, sizeof(text), " /%s", screen->view.filter);
	else
		(void)snprintf(text, sizeof(text), " Enter why  / filter  ? help");
	put(screen, y, x, text, COLS - x, A_DIM);
}

static void draw_pane(const struct screen *screen)
{
	const char *at = screen->pane;
	char line[SCREEN_TEXT_MAX];

	(void)snprintf(line, sizeof(line), "%s  %s", screen->pane_title, screen->pane_of);
	put(screen, 0, 0, line, COLS, A_REVERSE | A_BOLD);
	for (int i = 0; *at; i++) {
		const size_t length = strcspn(at, "\n");

		(void)snprintf(line, sizeof(line), "%.*s", (int)length, at);
		if (i >= screen->pane_top && i - screen->pane_top < LINES - 2)
			put(screen, 1 + i - screen->pane_top, 0, line, COLS, A_NORMAL);
		at += length + (at[length] == '\n');
	}
	put(screen, LINES - 1, 0,
	    screen->pane_lines > LINES - 2 ? "Up, Down, PgUp, PgDn   any other key: back"
					   : "any key: back",
	    COLS, A_DIM);
}

void screen_draw(struct screen *screen)
{
	int y = 1;

	(void)erase();
	if (screen->pane) {
		draw_pane(screen);
		(void)refresh();
		return;
	}
	free(screen->rows);
	screen->count = view_rows(screen->board, &screen->view, &screen->rows);
	if (screen->count < 0)
		screen->count = 0;
	screen->findings = findings_find(screen->board, screen->finding);
	draw_head(screen);
	if (LINES >= 10)
		y += draw_findings(screen, y, LINES >= 40 ? (int)FINDINGS_MAX : FINDINGS_LINES);
	draw_table(screen, y, LINES - 2);
	draw_cpu(screen, LINES - 2);
	draw_foot(screen, LINES - 1);
	(void)refresh();
}
