/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a board are shown, in which order, and their cells as text: the same on a terminal
 * and in a table. */
#ifndef KYMO_TOP_VIEW_H
#define KYMO_TOP_VIEW_H

#include <stdbool.h>

#include "top/board.h"

enum view_column {
	VIEW_NAME,
	VIEW_RATE,
	VIEW_RECEIVED,
	VIEW_USUALLY,
	VIEW_WORST,
	VIEW_WAITED,
	VIEW_BUSY,
	VIEW_CPU,
	VIEW_PROCESS,
	VIEW_PID,
	VIEW_COLUMNS
};

struct view_page {
	const char *name;    /* "callbacks" */
	const char *heading; /* of its names: "CALLBACK" */
	enum view_column column[VIEW_COLUMNS];
	unsigned columns;
	enum view_column sort; /* at first */
};

extern const struct view_page view_page[BOARD_PAGES];

struct view_heading {
	const char *text; /* NULL: that of the page */
	char key;         /* sorts by it */
	unsigned width;   /* of its cells; 0: what is left */
	bool ascends;     /* the first row is the smallest */
	const char *help;
};

extern const struct view_heading view_heading[VIEW_COLUMNS];

struct view {
	enum board_page page;
	enum view_column sort[BOARD_PAGES];
	bool reversed[BOARD_PAGES];
	bool folds; /* without a filter, many of one name are one row: "12 x /drone" */
	char filter[64]; /* rows with this in their name, process or number; upper and lower case
			    are one; "": all */
};

/** view_begin() - @page, and what each page is sorted by at first. */
void view_begin(struct view *view, enum board_page page);

struct view_row {
	const struct board_row *row;
	struct board_values values;
	unsigned alike; /* how many of one name, in processes of one name, the row stands for: runs
			   and shares of all, the rest and `row` of the first; 0: for one */
};

/**
 * view_rows() - the rows of the view's page, sorted; rows to which nothing happened are left out
 * @rows: to be freed; NULL if there are none
 *
 * Return: how many; -1: no memory. Context: allocates.
 */
int view_rows(const struct board *board, const struct view *view, struct view_row **rows);

#define VIEW_NAME_MAX 2200u

/** view_name() - "/drone", or of many "12 x /drone". Return: @buffer. */
char *view_name(const struct view_row *row, char buffer[VIEW_NAME_MAX]);

#define VIEW_CELL_MAX 64

/** view_cell() - text of a number or of the process, "-" if it is not known; not for VIEW_NAME.
 * Return: @buffer. */
char *view_cell(const struct view_row *row, enum view_column column, char buffer[VIEW_CELL_MAX]);

#endif
