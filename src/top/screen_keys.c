/* SPDX-License-Identifier: Apache-2.0 */
/* What the keys do. The usual ones of top, htop, less and vi. */
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/explain.h"
#include "top/screen.h"
#include "top/screen_text.h"

#define ESCAPE 27

static const char help[] =
	"Pages     1 callbacks  2 topics  3 chains  4 executors  5 threads  6 spans\n"
	"          Tab, Right, Left   the next one, the one before\n"
	"\n"
	"Rows      Up, Down, PgUp, PgDn, Home, End (k, j, g, G)   choose one\n"
	"          Enter   why the worst one took so long, taken apart\n"
	"          /       only rows with a text in their name, process or number\n"
	"          Esc     all rows again\n"
	"          u       unfold \"12 x /drone\": a row for each process; its RATE and BUSY\n"
	"                  are those of all, the other numbers and Enter of the first\n"
	"\n"
	"Order     s       sort by the next column; < and > as well\n"
	"          N name  R rate  T taken  U usually  W worst  A waited\n"
	"          B busy  C cpu  P process  I pid     sort by this column\n"
	"          i       the other way round\n"
	"\n"
	"          f       freeze the screen; nothing gets lost meanwhile\n"
	"          c       programs only count, which costs least; again: time them\n"
	"          ?  h    this help\n"
	"          q       end; programs and recordings go on as before\n"
	"\n"
	"Columns   RATE     runs, messages or arrivals per second, of the last\n"
	"                   five intervals, as BUSY and CPU\n"
	"          USUALLY  the median, of the last minute (60 intervals), as\n"
	"          WORST    the longest, and\n"
	"          WAITED   the longest wait behind other callbacks\n"
	"          A row with ! stands out: it waited, or ran ten times its usual time.\n"
	"          The bars are the worst of each moment; of threads the CPU,\n"
	"          of executors the time in callbacks. Each row has its own scale.\n";

/* ---- panes ---- */

static int lines_of(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += *text == '\n' || !text[1];
	return count;
}

void screen_pane(struct screen *screen, char *text, const char *title, const char *of)
{
	free(screen->pane);
	screen->pane = text ? screen_wrap(text, (unsigned)COLS) : NULL;
	free(text);
	screen->pane_title = title;
	(void)snprintf(screen->pane_of, sizeof(screen->pane_of), "%s", of);
	screen->pane_top = 0;
	screen->pane_lines = screen->pane ? lines_of(screen->pane) : 0;
}

static void pane_key(struct screen *screen, int key)
{
	const int page = LINES - 2;
	const int last = screen->pane_lines > page ? screen->pane_lines - page : 0;

	switch (key) {
	case KEY_UP:
	case 'k':
		screen->pane_top--;
		break;
	case KEY_DOWN:
	case 'j':
		screen->pane_top++;
		break;
	case KEY_PPAGE:
	case 'b':
		screen->pane_top -= page;
		break;
	case KEY_NPAGE:
	case ' ':
		screen->pane_top += page;
		break;
	case KEY_HOME:
	case 'g':
		screen->pane_top = 0;
		break;
	case KEY_END:
	case 'G':
		screen->pane_top = last;
		break;
	case KEY_RESIZE:
		break;
	default:
		screen_pane(screen, NULL, "", "");
		return;
	}
	if (screen->pane_top > last)
		screen->pane_top = last;
	if (screen->pane_top < 0)
		screen->pane_top = 0;
}

/* The trace is read for that, which may take a moment. */
static void explain(struct screen *screen)
{
	char of[256];

	if (!screen->chosen)
		return;
	(void)snprintf(of, sizeof(of), "%s%s%s", screen->chosen->name,
		       *screen->chosen->what ? " " : "", screen->chosen->what);
	(void)mvaddstr(LINES - 1, 0, "reading ...");
	(void)clrtoeol();
	(void)refresh();
	screen_pane(screen, explain_row(screen->source, screen->chosen, (unsigned)COLS), "Why", of);
}

/* ---- the filter ---- */

static void filter_key(struct screen *screen, int key)
{
	char *filter = screen->view.filter;
	const size_t length = strlen(filter);

	if (key == '\r' || key == '\n' || key == KEY_ENTER) {
		screen->types = false;
	} else if (key == ESCAPE) {
		memcpy(filter, screen->before, sizeof(screen->before));
		screen->types = false;
	} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		if (length)
			filter[length - 1] = 0;
	} else if (key >= ' ' && key < 127 && length + 1 < sizeof(screen->view.filter)) {
		filter[length] = (char)key;
		filter[length + 1] = 0;
	}
}

static void begin_filter(struct screen *screen)
{
	memcpy(screen->before, screen->view.filter, sizeof(screen->before));
	screen->view.filter[0] = 0;
	screen->types = true;
}

/* ---- order and pages ---- */

static void choose_page(struct screen *screen, int page)
{
	screen->view.page = (enum board_page)((page + BOARD_PAGES) % BOARD_PAGES);
	screen->at = screen->top = 0;
	screen->chosen = NULL;
	screen->moved = true;
	board_threads_wanted(screen->board, screen->view.page == BOARD_THREADS);
}

static void sort_next(struct screen *screen, int by)
{
	const struct view_page *page = &view_page[screen->view.page];
	enum view_column *sort = &screen->view.sort[screen->view.page];
	int at = 0;

	while (at < (int)page->columns - 1 && page->column[at] != *sort)
		at++;
	*sort = page->column[(at + by + (int)page->columns) % (int)page->columns];
	screen->view.reversed[screen->view.page] = false;
}

/* Return: whether @key is that of a column of this page. */
static bool sort_by_key(struct screen *screen, int key)
{
	const struct view_page *page = &view_page[screen->view.page];

	for (unsigned i = 0; i < page->columns; i++)
		if (view_heading[page->column[i]].key == key) {
			screen->view.sort[screen->view.page] = page->column[i];
			screen->view.reversed[screen->view.page] = false;
			return true;
		}
	return false;
}

/* ---- rows ---- */

/* Return: whether @key moves the choice. */
static bool move_key(struct screen *screen, int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		screen->at--;
		break;
	case KEY_DOWN:
	case 'j':
		screen->at++;
		break;
	case KEY_PPAGE:
		screen->at -= screen->fits;
		break;
	case KEY_NPAGE:
	case ' ':
		screen->at += screen->fits;
		break;
	case KEY_HOME:
	case 'g':
		screen->at = 0;
		break;
	case KEY_END:
	case 'G':
		screen->at = screen->count - 1;
		break;
	default:
		return false;
	}
	if (screen->at >= screen->count)
		screen->at = screen->count - 1;
	if (screen->at < 0)
		screen->at = 0;
	screen->chosen = screen->at < screen->count ? screen->rows[screen->at].row : NULL;
	return true;
}

static void other_key(struct screen *screen, int key)
{
	switch (key) {
	case 'q':
		screen->ends = true;
		break;
	case '\t':
	case KEY_RIGHT:
		choose_page(screen, (int)screen->view.page + 1);
		break;
	case KEY_BTAB:
	case KEY_LEFT:
		choose_page(screen, (int)screen->view.page - 1);
		break;
	case '\r':
	case '\n':
	case KEY_ENTER:
		explain(screen);
		break;
	case '/':
		begin_filter(screen);
		break;
	case ESCAPE:
		screen->view.filter[0] = 0;
		break;
	case 's':
	case '>':
		sort_next(screen, 1);
		break;
	case '<':
		sort_next(screen, -1);
		break;
	case 'i':
		screen->view.reversed[screen->view.page] =
			!screen->view.reversed[screen->view.page];
		break;
	case 'u':
		screen->view.folds = !screen->view.folds;
		break;
	case 'f':
		screen->frozen = !screen->frozen;
		break;
	case 'c':
		source_count(screen->source, source_kind(screen->source) != SOURCE_COUNTING);
		break;
	case '?':
	case 'h':
	case KEY_F(1):
		screen_pane(screen, strdup(help), "Keys", "");
		break;
	default:
		if (key >= '1' && key < '1' + (int)BOARD_PAGES)
			choose_page(screen, key - '1');
		else
			(void)sort_by_key(screen, key);
	}
}

void screen_key(struct screen *screen, int key)
{
	if (screen->types)
		filter_key(screen, key);
	else if (screen->pane)
		pane_key(screen, key);
	else if (!move_key(screen, key))
		other_key(screen, key);
}
