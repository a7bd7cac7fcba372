/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the table of a page. See screen_draw.c. */
#include <stdio.h>
#include <string.h>

#include "top/screen_draw.h"
#include "top/screen_text.h"

#define NAME_LEAST 28 /* columns of a name, before columns of numbers give way */
#define NAME_MOST 70
#define SPARK_LEAST 10
#define SPARK_MOST 60

struct screen_layout {
	enum view_column column[VIEW_COLUMNS];
	unsigned columns;
	int name, spark; /* widths; spark 0: none */
};

static int width_of(const struct screen_layout *layout)
{
	int width = 0;

	for (unsigned i = 1; i < layout->columns; i++)
		width += 1 + (int)view_heading[layout->column[i]].width;
	return width;
}

/* Columns to the right are left out first where the screen is narrow, and then the bars. */
static void lay_out(const struct screen *screen, struct screen_layout *layout)
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

static void draw_heading(const struct screen *screen, const struct screen_layout *layout, int y)
{
	const bool whole = source_kind(screen->source) == SOURCE_COMPLETE;
	const bool minute = screen->options->interval_ns == 1000000000;
	int x = 2 + layout->name;

	screen_put(screen, y, 0, "", COLS, A_REVERSE);
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
			screen_put(screen, y, 2, marked, (int)strlen(marked), how);
			continue;
		}
		x += 1 + (int)view_heading[column].width;
		screen_put_right(screen, y, x, marked, how);
	}
	if (layout->spark)
		screen_put(screen, y, x + 1,
			   whole                         ? "OVER TIME"
			   : !minute                     ? "LAST 60"
			   : layout->spark > SPARK_LEAST ? "LAST MINUTE"
							 : "LAST MIN",
			   layout->spark, A_REVERSE);
}

/* Of many that are one row, the finding may be about another one. */
static bool is_found(const struct screen *screen, const struct view_row *row)
{
	for (unsigned i = 0; i < screen->findings; i++) {
		const struct summary_entity *entity = screen->finding[i].entity;
		struct board_row of = *row->row;

		if (row->alike && entity && strcmp(of.entity, entity->name) == 0) {
			of.pid = entity->pid;
			of.process = entity->of;
		}
		if (board_is_found(&of, &screen->finding[i]))
			return true;
	}
	return false;
}

static void draw_row(const struct screen *screen, const struct screen_layout *layout, int y,
		     int index)
{
	const struct view_row *row = &screen->rows[index];
	const bool chosen = row->row == screen->chosen, bad = is_found(screen, row);
	const attr_t how = chosen ? A_REVERSE : A_NORMAL;
	char text[SCREEN_TEXT_MAX], cell[VIEW_CELL_MAX], name[VIEW_NAME_MAX];
	struct board_row of_name;
	int64_t of[BOARD_SLICES];
	int x = 2 + layout->name;
	unsigned slices;

	screen_put(screen, y, 0,
		   bad      ? "!"
		   : chosen ? ">"
			    : "",
		   COLS, how | (bad ? screen_color(screen, SCREEN_RED) | A_BOLD : 0));
	of_name = *row->row;
	of_name.name = view_name(row, name);
	screen_put(screen, y, 2, screen_label(text, &of_name, (unsigned)layout->name, screen->utf8),
		   layout->name, how | (bad ? A_BOLD : 0));
	for (unsigned i = 1; i < layout->columns; i++) {
		const enum view_column column = layout->column[i];
		const bool is_text = view_heading[column].ascends && column == VIEW_PROCESS;

		(void)view_cell(row, column, cell);
		if (is_text)
			screen_put(screen, y, x + 1, cell, (int)view_heading[column].width, how);
		x += 1 + (int)view_heading[column].width;
		if (!is_text)
			screen_put_right(
				screen, y, x, cell,
				how | (bad && (column == VIEW_WORST || column == VIEW_WAITED)
					       ? A_BOLD
					       : 0));
	}
	if (!layout->spark)
		return;
	slices = board_spark(screen->board, row->row, of);
	screen_put(
		screen, y, x + 1,
		screen_spark(text, of, slices,
			     source_kind(screen->source) == SOURCE_COMPLETE ? 0 : BOARD_SLICES - 1,
			     (unsigned)layout->spark, screen->utf8),
		layout->spark, how | screen_color(screen, SCREEN_CYAN));
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

void screen_draw_table(struct screen *screen, int y, int end)
{
	struct screen_layout layout;

	screen->fits = end - y - 1 > 0 ? end - y - 1 : 0;
	find_chosen(screen);
	lay_out(screen, &layout);
	draw_heading(screen, &layout, y);
	for (int i = 0; i < screen->fits && screen->top + i < screen->count; i++)
		draw_row(screen, &layout, y + 1 + i, screen->top + i);
	if (!screen->count)
		screen_put(screen, y + 1, 2,
			   *screen->view.filter ? "no row has this text (Esc: all rows)"
						: "nothing yet",
			   COLS - 2, A_DIM);
}
