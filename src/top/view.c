/* SPDX-License-Identifier: Apache-2.0 */
/* See view.h. */
#include "top/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const struct view_page view_page[BOARD_PAGES] = {
	[BOARD_CALLBACKS] = { "callbacks",
			      "CALLBACK",
			      { VIEW_NAME, VIEW_RATE, VIEW_USUALLY, VIEW_WORST, VIEW_WAITED,
				VIEW_BUSY, VIEW_PROCESS, VIEW_PID },
			      8,
			      VIEW_WORST },
	[BOARD_TOPICS] = { "topics",
			   "TOPIC",
			   { VIEW_NAME, VIEW_RATE, VIEW_RECEIVED, VIEW_USUALLY, VIEW_WORST },
			   5,
			   VIEW_WORST },
	[BOARD_CHAINS] = { "chains",
			   "CHAIN",
			   { VIEW_NAME, VIEW_RATE, VIEW_USUALLY, VIEW_WORST },
			   4,
			   VIEW_WORST },
	[BOARD_EXECUTORS] = { "executors",
			      "EXECUTOR",
			      { VIEW_NAME, VIEW_RATE, VIEW_USUALLY, VIEW_WORST, VIEW_WAITED,
				VIEW_BUSY, VIEW_PID },
			      7,
			      VIEW_WAITED },
	[BOARD_THREADS] = { "threads",
			    "THREAD",
			    { VIEW_NAME, VIEW_CPU, VIEW_BUSY, VIEW_PROCESS, VIEW_PID, VIEW_RATE,
			      VIEW_WORST },
			    7,
			    VIEW_CPU },
	[BOARD_SPANS] = { "spans",
			  "SPAN",
			  { VIEW_NAME, VIEW_RATE, VIEW_USUALLY, VIEW_WORST, VIEW_BUSY, VIEW_PROCESS,
			    VIEW_PID },
			  7,
			  VIEW_WORST },
};

const struct view_heading view_heading[VIEW_COLUMNS] = {
	[VIEW_NAME] = { NULL, 'N', 0, true, "name" },
	[VIEW_RATE] = { "RATE", 'R', 6, false, "runs, publications or arrivals per second" },
	[VIEW_RECEIVED] = { "TAKEN", 'T', 6, false,
			    "messages received per second, by all subscriptions" },
	[VIEW_USUALLY] = { "USUALLY", 'U', 7, false,
			   "median: how long a run, a message or a chain takes" },
	[VIEW_WORST] = { "WORST", 'W', 7, false, "the longest" },
	[VIEW_WAITED] = { "WAITED", 'A', 7, false, "the longest wait behind other callbacks" },
	[VIEW_BUSY] = { "BUSY", 'B', 6, false, "share of the time in which it ran" },
	[VIEW_CPU] = { "CPU", 'C', 6, false, "share of one CPU" },
	[VIEW_PROCESS] = { "PROCESS", 'P', 15, true, "name of the process" },
	[VIEW_PID] = { "PID", 'I', 7, true, "number of the process; of a thread its own" },
};

void view_begin(struct view *view, enum board_page page)
{
	*view = (struct view){ .page = page };
	for (unsigned i = 0; i < BOARD_PAGES; i++)
		view->sort[i] = view_page[i].sort;
}

/* ---- which rows ---- */

static bool contains(const char *text, const char *part)
{
	const size_t length = strlen(part);

	for (; *text; text++)
		if (strncasecmp(text, part, length) == 0)
			return true;
	return !length;
}

static bool is_wanted(const struct board_row *row, const char *filter)
{
	char number[48];

	(void)snprintf(number, sizeof(number), "%d %d", row->pid, row->tid);
	return contains(row->name, filter) || contains(row->what, filter) ||
	       contains(row->process, filter) || contains(number, filter);
}

static bool has_anything(const struct board_values *values)
{
	return values->count || values->wait_ns >= 0 || values->cpu >= 0 || values->more_hz > 0;
}

static double number_of(const struct view_row *row, enum view_column column)
{
	const struct board_values *values = &row->values;

	switch (column) {
	case VIEW_RATE:
		return values->rate_hz;
	case VIEW_RECEIVED:
		return values->more_hz;
	case VIEW_USUALLY:
		return (double)values->usual_ns;
	case VIEW_WORST:
		return (double)values->worst_ns;
	case VIEW_WAITED:
		return (double)values->wait_ns;
	case VIEW_BUSY:
		return values->busy;
	case VIEW_CPU:
		return values->cpu >= 0 ? values->cpu : values->busy - 1e6;
	case VIEW_PID:
		return row->row->page == BOARD_THREADS ? row->row->tid : row->row->pid;
	default:
		return 0;
	}
}

static int by_text(const struct view_row *a, const struct view_row *b)
{
	const int names = strcmp(a->row->name, b->row->name);

	return names ? names : strcmp(a->row->what, b->row->what);
}

static int compare(const void *one, const void *other, void *context)
{
	const struct view_row *a = one, *b = other;
	const struct view *view = context;
	const enum view_column column = view->sort[view->page];
	const double x = number_of(a, column), y = number_of(b, column);
	int order = x < y ? -1 : x > y;

	if (column == VIEW_PROCESS)
		order = strcmp(a->row->process, b->row->process);
	else if (column == VIEW_NAME)
		order = by_text(a, b);
	if (!view_heading[column].ascends)
		order = -order;
	if (view->reversed[view->page])
		order = -order;
	/* While programs only count, nothing has a duration. */
	if (!order)
		order = (a->values.rate_hz < b->values.rate_hz) -
			(a->values.rate_hz > b->values.rate_hz);
	if (!order)
		order = by_text(a, b);
	return order ? order : (a->row->tid > b->row->tid) - (a->row->tid < b->row->tid);
}

/* ---- twins ---- */

/* Are both of one name, in processes of one name? A chain's name says which. */
static bool is_alike(const struct board_row *a, const struct board_row *b)
{
	return *a->entity && strcmp(a->entity, b->entity) == 0 &&
	       (a->page == BOARD_CHAINS || strcmp(a->process, b->process) == 0);
}

static int by_entity(const void *one, const void *other, void *rows)
{
	const unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;
	const struct board_row *x = ((const struct view_row *)rows)[a].row;
	const struct board_row *y = ((const struct view_row *)rows)[b].row;
	int order = strcmp(x->entity, y->entity);

	if (!order && x->page != BOARD_CHAINS)
		order = strcmp(x->process, y->process);
	return order ? order : (a > b) - (a < b);
}

static void add_values(struct board_values *to, const struct board_values *from)
{
	to->count += from->count;
	if (from->rate_hz > 0)
		to->rate_hz = (to->rate_hz > 0 ? to->rate_hz : 0) + from->rate_hz;
	if (from->busy > 0)
		to->busy = (to->busy > 0 ? to->busy : 0) + from->busy;
}

/*
 * Of the rows that are alike, the first stays; what happened to the others is added to it. In
 * @order, those that are alike stand together, the first in front. Return: how many stay.
 */
static unsigned fold(struct view_row *rows, unsigned count, unsigned *order)
{
	unsigned kept = 0, end;

	for (unsigned i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_entity, rows);
	for (unsigned i = 0; i < count; i = end) {
		struct view_row *first = &rows[order[i]];

		for (end = i + 1; end < count && is_alike(first->row, rows[order[end]].row); end++)
			;
		if (end - i <= SUMMARY_ALIKE_ROWS)
			continue;
		for (unsigned k = i + 1; k < end; k++) {
			add_values(&first->values, &rows[order[k]].values);
			rows[order[k]].row = NULL;
		}
		first->alike = end - i;
	}
	for (unsigned i = 0; i < count; i++)
		if (rows[i].row)
			rows[kept++] = rows[i];
	return kept;
}

static bool folds(const struct view *view)
{
	return view->folds && !*view->filter &&
	       (view->page == BOARD_CALLBACKS || view->page == BOARD_CHAINS ||
		view->page == BOARD_SPANS);
}

char *view_name(const struct view_row *row, char buffer[VIEW_NAME_MAX])
{
	const char *name = row->row->name;
	size_t length = strlen(name);

	for (size_t at = length; row->alike && row->row->page == BOARD_CHAINS && at--;)
		if (strncmp(name + at, " (", 2) == 0 && name[length - 1] == ')') {
			length = at;
			break;
		}
	if (row->alike)
		(void)snprintf(buffer, VIEW_NAME_MAX, "%u x %.*s", row->alike, (int)length, name);
	else
		(void)snprintf(buffer, VIEW_NAME_MAX, "%s", name);
	return buffer;
}

int view_rows(const struct board *board, const struct view *view, struct view_row **out)
{
	const unsigned count = board_count(board, view->page);
	struct view_row *rows = count ? calloc(count, sizeof(*rows)) : NULL;
	unsigned kept = 0, *order;

	*out = rows;
	if (count && !rows)
		return -1;
	for (unsigned i = 0; i < count; i++) {
		rows[kept].row = board_row(board, view->page, i);
		if (!is_wanted(rows[kept].row, view->filter))
			continue;
		board_values(board, rows[kept].row, &rows[kept].values);
		kept += has_anything(&rows[kept].values);
	}
	if (kept)
		qsort_r(rows, kept, sizeof(*rows), compare, (void *)view);
	if (!kept || !folds(view))
		return (int)kept;
	order = calloc(kept, sizeof(*order));
	kept = order ? fold(rows, kept, order) : kept;
	free(order);
	return (int)kept;
}

/* ---- cells ---- */

static void put_rate(char buffer[VIEW_CELL_MAX], double rate)
{
	if (rate < 0)
		(void)snprintf(buffer, VIEW_CELL_MAX, "-");
	else if (rate >= 999.5 && rate < 999999.5)
		(void)snprintf(buffer, VIEW_CELL_MAX, "%d,%03d", (int)(rate + 0.5) / 1000,
			       (int)(rate + 0.5) % 1000);
	else
		(void)snprintf(buffer, VIEW_CELL_MAX, "%.*f",
			       rate >= 99.95   ? 0
			       : rate >= 9.995 ? 1
					       : 2,
			       rate);
}

static void put_ns(char buffer[VIEW_CELL_MAX], int64_t ns)
{
	char text[TEXT_QUANTITY_MAX];

	(void)snprintf(buffer, VIEW_CELL_MAX, "%s", ns < 0 ? "-" : text_ns(text, ns));
}

static void put_share(char buffer[VIEW_CELL_MAX], double share)
{
	if (share < 0)
		(void)snprintf(buffer, VIEW_CELL_MAX, "-");
	else
		(void)snprintf(buffer, VIEW_CELL_MAX, "%.*f %%", share < 0.9995 ? 1 : 0,
			       share * 100);
}

char *view_cell(const struct view_row *row, enum view_column column, char buffer[VIEW_CELL_MAX])
{
	const struct board_values *values = &row->values;

	buffer[0] = 0;
	switch (column) {
	case VIEW_RATE:
		put_rate(buffer, values->rate_hz);
		break;
	case VIEW_RECEIVED:
		put_rate(buffer, values->more_hz);
		break;
	case VIEW_USUALLY:
		put_ns(buffer, values->usual_ns);
		break;
	case VIEW_WORST:
		put_ns(buffer, values->worst_ns);
		break;
	case VIEW_WAITED:
		put_ns(buffer, values->wait_ns);
		break;
	case VIEW_BUSY:
		put_share(buffer, values->busy);
		break;
	case VIEW_CPU:
		put_share(buffer, values->cpu);
		break;
	case VIEW_PROCESS:
		(void)snprintf(buffer, VIEW_CELL_MAX, "%.40s", row->row->process);
		break;
	case VIEW_PID:
		(void)snprintf(buffer, VIEW_CELL_MAX, "%d", (int)number_of(row, VIEW_PID));
		break;
	default:
		break;
	}
	return buffer;
}
