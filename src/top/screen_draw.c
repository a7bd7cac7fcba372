/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the screen: head, findings, the table of a page, CPU of processes, keys. All is drawn each
 * time; ncurses sends what has changed. What is wrong has a mark or a word besides its colour.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "top/screen_draw.h"
#include "top/screen_text.h"

#define FINDINGS_LINES 4 /* at least; a large screen has more */
#define FINDING_LINES 3

attr_t screen_color(const struct screen *screen, enum screen_color number)
{
	return screen->colors ? COLOR_PAIR(number) : A_NORMAL;
}

void screen_put(const struct screen *screen, int y, int x, const char *text, int width, attr_t how)
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

void screen_put_right(const struct screen *screen, int y, int end, const char *text, attr_t how)
{
	const int width = (int)text_width(text);

	screen_put(screen, y, end > width ? end - width : 0, text, width, how);
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
		(void)snprintf(text, size, "watching (c: count)");
		break;
	case SOURCE_COUNTING:
		(void)snprintf(text, size, "counting (c: durations)");
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
	screen_put(screen, 0, 0, text, COLS, A_BOLD);
	screen_put_right(screen, 0, COLS, right,
			 screen->frozen ? A_REVERSE
			 : findings     ? A_BOLD | screen_color(screen, SCREEN_RED)
					: A_BOLD);
}

/* "2 s ago", of a complete trace "at +4.325 s". */
static void put_when(const struct screen *screen, const struct summary_finding *finding, char *text,
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

/* A sentence has up to FINDING_LINES lines; the first contains the time. Return: lines. */
static int draw_finding(const struct screen *screen, const struct summary_finding *finding, int y,
			int most)
{
	char text[SCREEN_TEXT_MAX], clean[4 * sizeof(text)], when[64];
	char *folded, *line;
	int lines = 0, width;

	put_when(screen, finding, when, sizeof(when));
	(void)text_clean(clean, sizeof(clean),
			 summary_finding_text(board_summary(screen->board), finding, text,
					      sizeof(text)));
	width = COLS - 5 - (int)strlen(when);
	folded = screen_wrap(clean, (unsigned)(width > 2 ? width : 2));
	screen_put(screen, y, 1, "!", 1, screen_color(screen, SCREEN_RED) | A_BOLD);
	screen_put_right(screen, y, COLS, when, A_DIM);
	for (line = folded; line && *line && lines < most; lines++) {
		const bool is_last = lines + 1 == most;
		char *end = is_last ? NULL : strchr(line, '\n');

		if (end)
			*end = '\0';
		for (char *at = line; (at = strchr(at, '\n'));) /* what does not fit is cut */
			*at = ' ';
		screen_put(screen, y + lines, 3, line, width, A_NORMAL);
		line = end ? end + 1 : NULL;
	}
	free(folded);
	return lines ? lines : 1;
}

static void draw_nothing(const struct screen *screen, int y)
{
	const struct summary *summary = board_summary(screen->board);
	char text[SCREEN_TEXT_MAX], clean[4 * sizeof(text)];

	if (board_only_counts(screen->board))
		(void)snprintf(text, sizeof(text),
			       "Counting only: how often, not how long, nor what stands out. c "
			       "measures that.");
	else if (summary)
		(void)summary_nothing_text(summary, text, sizeof(text));
	else
		(void)snprintf(text, sizeof(text), "The first numbers come after one interval.");
	(void)text_clean(clean, sizeof(clean), text);
	screen_put(screen, y, 1, clean, COLS - 1, A_NORMAL);
}

/* Return: lines that it took. */
static int draw_findings(const struct screen *screen, int y, int most)
{
	const char *note = source_note(screen->source);
	int lines = 0;

	if (*note)
		screen_put(screen, y + lines++, 1, note, COLS - 1,
			   screen_color(screen, SCREEN_YELLOW) | A_BOLD);
	for (unsigned i = 0; i < screen->findings && lines < most; i++)
		lines += draw_finding(screen, &screen->finding[i], y + lines,
				      most - lines < FINDING_LINES ? most - lines : FINDING_LINES);
	if (!lines)
		draw_nothing(screen, y);
	return lines ? lines : 1;
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
	screen_put(screen, y, 0, text, COLS - (int)strlen(lost), A_NORMAL);
	screen_put_right(screen, y, COLS, lost,
			 totals.lost ? A_BOLD | screen_color(screen, SCREEN_RED) : A_DIM);
}

static void draw_foot(const struct screen *screen, int y)
{
	char text[256];
	int x = 0;

	if (screen->types) {
		(void)snprintf(text, sizeof(text), "/%s_   Enter: keep it  Esc: as before",
			       screen->view.filter);
		screen_put(screen, y, 0, text, COLS, A_BOLD);
		return;
	}
	for (unsigned i = 0; i < BOARD_PAGES; i++) {
		(void)snprintf(text, sizeof(text), "%u %s", i + 1, view_page[i].name);
		screen_put(screen, y, x, text, (int)strlen(text),
			   i == screen->view.page ? A_REVERSE : A_NORMAL);
		x += (int)strlen(text) + 1;
	}
	if (*screen->view.filter)
		(void)snprintf(text, sizeof(text), " /%s", screen->view.filter);
	else
		(void)snprintf(text, sizeof(text), " Enter why  ? help");
	screen_put(screen, y, x, text, COLS - x, A_DIM);
}

static void draw_pane(const struct screen *screen)
{
	const char *at = screen->pane;
	char line[SCREEN_TEXT_MAX];

	(void)snprintf(line, sizeof(line), "%s  %s", screen->pane_title, screen->pane_of);
	screen_put(screen, 0, 0, line, COLS, A_REVERSE | A_BOLD);
	for (int i = 0; *at; i++) {
		const size_t length = strcspn(at, "\n");

		(void)snprintf(line, sizeof(line), "%.*s", (int)length, at);
		if (i >= screen->pane_top && i - screen->pane_top < LINES - 2)
			screen_put(screen, 1 + i - screen->pane_top, 0, line, COLS, A_NORMAL);
		at += length + (at[length] == '\n');
	}
	screen_put(screen, LINES - 1, 0,
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
	screen->findings = board_findings(screen->board, &screen->finding);
	draw_head(screen);
	if (LINES >= 10)
		y += draw_findings(screen, y, LINES >= 40 ? 2 * FINDINGS_LINES : FINDINGS_LINES);
	screen_draw_table(screen, y, LINES - 2);
	draw_cpu(screen, LINES - 2);
	draw_foot(screen, LINES - 1);
	(void)refresh();
}
