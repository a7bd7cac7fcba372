/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo top` on a terminal: its life. See top.h. */
#include "top/screen.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"

/* A program without ROS 2 has no callbacks. */
static void prefer_spans(struct screen *screen)
{
	if (screen->moved || board_count(screen->board, BOARD_CALLBACKS) ||
	    !board_count(screen->board, BOARD_SPANS))
		return;
	screen->moved = true;
	if (screen->view.page == BOARD_CALLBACKS)
		screen->view.page = BOARD_SPANS;
}

/* The slice is over if it lasted for an interval; while the screen is frozen, it goes on. */
static int tick(struct screen *screen, struct kymo_err *err)
{
	const int64_t now = now_ns();

	if (screen->frozen || now - screen->tick_ns < screen->options->interval_ns)
		return 0;
	screen->tick_ns = now;
	screen->dirty = true;
	prefer_spans(screen);
	board_threads_wanted(screen->board, screen->view.page == BOARD_THREADS);
	if (source_kind(screen->source) == SOURCE_COMPLETE || source_is_over(screen->source))
		return 0;
	return board_tick(screen->board, source_until(screen->source), err);
}

static int step(void *context, struct kymo_err *err)
{
	struct screen *screen = context;
	int key;

	if (tick(screen, err) < 0)
		return -1;
	while (!screen->ends && (key = getch()) != ERR) {
		screen_key(screen, key);
		screen->dirty = true;
	}
	if (screen->ends)
		return 1;
	if (screen->dirty)
		screen_draw(screen);
	screen->dirty = false;
	return 0;
}

static void begin_colors(struct screen *screen)
{
	const char *never = getenv("NO_COLOR");

	screen->colors = has_colors() && !(never && *never);
	if (!screen->colors)
		return;
	(void)start_color();
	(void)use_default_colors();
	(void)init_pair(SCREEN_RED, COLOR_RED, -1);
	(void)init_pair(SCREEN_YELLOW, COLOR_YELLOW, -1);
	(void)init_pair(SCREEN_CYAN, COLOR_CYAN, -1);
}

/* Return: the terminal; NULL: with @err. */
static SCREEN *begin(struct screen *screen, struct kymo_err *err)
{
	const char *kind = getenv("TERM");
	SCREEN *terminal;

	(void)setlocale(LC_CTYPE, "");
	screen->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		(void)err_set(err, KYMO_EXIT_FAILED,
			      "cannot use the terminal of type \"%.40s\" (TERM); \"kymo top "
			      "--once\" needs none",
			      kind ? kind : "");
		return NULL;
	}
	(void)set_escdelay(25);
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)curs_set(0);
	begin_colors(screen);
	return terminal;
}

int top_screen(const struct top_options *options, struct kymo_err *err)
{
	struct screen screen = { .options = options, .dirty = true };
	SCREEN *terminal;
	int rc;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, KYMO_EXIT_USAGE,
			       "standard input and output must be a terminal; \"kymo top --once\" "
			       "prints a table");
	if (source_open(&screen.source, options, err) < 0)
		return -1;
	screen.board = source_board(screen.source);
	screen.tick_ns = now_ns();
	view_begin(&screen.view, (enum board_page)options->page);
	screen.view.folds = !options->all;
	terminal = begin(&screen, err);
	if (!terminal) {
		source_close(screen.source);
		return -1;
	}
	rc = source_run(screen.source, step, &screen, err);
	(void)endwin();
	delscreen(terminal);
	free(screen.rows);
	free(screen.pane);
	source_close(screen.source);
	return rc;
}
