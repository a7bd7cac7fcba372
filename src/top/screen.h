/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the terminal: screen.c (life and loop), screen_draw.c (drawing),
 * screen_keys.c (keys). Context of all functions: the thread that owns the terminal; allocate;
 * block as the terminal does. screen_key() may read the trace ("Why"). */
#ifndef KYMO_TOP_SCREEN_H
#define KYMO_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "top/source.h"
#include "top/view.h"

struct screen {
	const struct top_options *options;
	struct source *source;
	struct board *board;
	struct view view;
	int64_t tick_ns; /* CLOCK_MONOTONIC: of the last slice */
	bool utf8, colors;
	bool frozen, dirty, ends;
	bool moved; /* the user chose a page, or it was chosen for the user */

	struct view_row *rows; /* those of the view; NULL: none */
	int count;
	int at, top;                    /* the chosen row, and the first that is shown */
	const struct board_row *chosen; /* stays chosen when the order changes; NULL: none */
	int fits;                       /* rows that the screen has room for */

	const struct summary_finding *finding;
	unsigned findings;

	bool types;      /* the keys go into the filter */
	char before[64]; /* the filter, if typing is given up */

	char *pane; /* a text over the table; NULL: none */
	const char *pane_title;
	char pane_of[256];
	int pane_top, pane_lines;
};

/* screen_draw.c */
enum screen_color { SCREEN_PLAIN, SCREEN_RED, SCREEN_YELLOW, SCREEN_CYAN };
void screen_draw(struct screen *screen);

/* screen_keys.c */
void screen_key(struct screen *screen, int key);
/* Shows @text, which is freed, over the table; NULL: ends that. */
void screen_pane(struct screen *screen, char *text, const char *title, const char *of);

#endif
