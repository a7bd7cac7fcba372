/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of the board say about their slices. See board.h. */
#include <stdlib.h>

#include "top/board_internal.h"

#define RECENT \
	5u /* slices that rates are of: a row that happens every other second shall not blink */

unsigned board_count(const struct board *board, enum board_page page)
{
	return board->count[page];
}

const struct board_row *board_row(const struct board *board, enum board_page page, unsigned index)
{
	return &board->row[page][index]->pub;
}

/* Slices that have ended; of a whole trace the last one, too. The first of them is back slices
 * before the present one. */
static unsigned first_back(const struct board *board)
{
	return board->options.whole ? 0 : 1;
}

static unsigned slices(const struct board *board)
{
	const unsigned first = first_back(board), count = board->used + 1 - first;

	/* The oldest one has no begin if it has no event but those that were skipped. */
	return count && !board->begin_ns[board_slot(board, first + count - 1)] ? count - 1 : count;
}

static int64_t slice_end(const struct board *board, unsigned back)
{
	return back ? board->begin_ns[board_slot(board, back - 1)] : board->last_ns;
}

/* Seconds of the last @count slices. */
static double span_s(const struct board *board, unsigned count)
{
	const unsigned first = first_back(board);

	if (!count)
		return 0;
	return (double)(slice_end(board, first) -
			board->begin_ns[board_slot(board, first + count - 1)]) /
	       1e9;
}

struct weighted {
	int64_t ns;
	uint64_t count;
};

static int by_ns(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* The median of the slices' medians, each as often as its slice has values. */
static int64_t usual(const struct row *row, struct weighted *median, unsigned count)
{
	uint64_t all = 0, seen = 0;

	if (row->whole.count)
		return (int64_t)histogram_quantile(&row->whole, 0.5);
	qsort(median, count, sizeof(*median), by_ns);
	for (unsigned i = 0; i < count; i++)
		all += median[i].count;
	for (unsigned i = 0; i < count; i++) {
		seen += median[i].count;
		if (2 * seen >= all)
			return median[i].ns;
	}
	return -1;
}

static void add_slice(struct board_values *values, const struct board_slice *slice)
{
	values->count += slice->count;
	if (slice->max_ns > values->worst_ns && slice->max_at_ns) {
		values->worst_ns = slice->max_ns;
		values->worst_at_ns = slice->max_at_ns;
		values->worst_of = slice->worst_of;
	}
	if (slice->wait_ns > values->wait_ns && slice->wait_ns > 0) {
		values->wait_ns = slice->wait_ns;
		values->wait_at_ns = slice->wait_at_ns;
		values->behind = slice->behind;
	}
}

static void rates(const struct board *board, const struct row *row, struct board_values *values)
{
	const unsigned all = slices(board);
	const unsigned recent = board->options.whole || all < RECENT ? all : RECENT;
	const double span = span_s(board, recent);
	uint64_t count = 0, more = 0;
	int64_t sum_ns = 0, cpu_ns = 0;
	unsigned read = 0;

	for (unsigned i = 0; i < recent; i++) {
		const struct board_slice *slice =
			&row->slice[board_slot(board, first_back(board) + i)];

		count += slice->count;
		more += slice->more;
		sum_ns += slice->sum_ns;
		cpu_ns += slice->cpu_ns < 0 ? 0 : slice->cpu_ns;
		read += slice->cpu_ns >= 0;
	}
	if (span <= 0)
		return;
	values->rate_hz = (double)count / span;
	values->more_hz = (double)more / span;
	values->busy = board->counts ? -1 : (double)sum_ns / 1e9 / span;
	if (read)
		values->cpu = (double)cpu_ns / 1e9 / span_s(board, read);
}

static void values_of(const struct board *board, const struct board_row *pub,
		      struct board_values *values)
{
	const struct row *row = (const struct row *)pub;
	struct weighted median[BOARD_SLICES];
	unsigned medians = 0;

	*values = BOARD_NO_VALUES;
	for (unsigned i = 0; i < slices(board); i++) {
		const struct board_slice *slice =
			&row->slice[board_slot(board, first_back(board) + i)];

		add_slice(values, slice);
		if (slice->max_at_ns && slice->count + slice->more)
			median[medians++] =
				(struct weighted){ slice->median_ns, slice->count + slice->more };
	}
	values->usual_ns = usual(row, median, medians);
	rates(board, row, values);
}

static double sum_of(double a, double b)
{
	return a < 0 ? b : b < 0 ? a : a + b;
}

/* What @more has, a row of the same entity. */
static void join(struct board_values *values, const struct board_values *more)
{
	values->count += more->count;
	values->rate_hz = sum_of(values->rate_hz, more->rate_hz);
	values->more_hz = sum_of(values->more_hz, more->more_hz);
	values->busy = sum_of(values->busy, more->busy);
	values->cpu = sum_of(values->cpu, more->cpu);
	if (more->worst_ns > values->worst_ns) {
		values->worst_ns = more->worst_ns;
		values->worst_at_ns = more->worst_at_ns;
		values->worst_of = more->worst_of;
	}
	if (more->wait_ns > values->wait_ns) {
		values->wait_ns = more->wait_ns;
		values->wait_at_ns = more->wait_at_ns;
		values->behind = more->behind;
	}
}

void board_values(const struct board *board, const struct board_row *pub,
		  struct board_values *values)
{
	struct board_values more;

	values_of(board, pub, values);
	for (unsigned i = 0; i < board->count[pub->page]; i++) {
		if (!board_is_again(board, pub, &board->row[pub->page][i]->pub))
			continue;
		values_of(board, &board->row[pub->page][i]->pub, &more);
		join(values, &more);
	}
	board_values_of_summary(board, pub, values);
}

/* Of one slice: what the page is about. */
static int64_t spark_of(const struct board *board, const struct board_row *row,
			const struct board_slice *slice, unsigned back)
{
	const int64_t span = slice_end(board, back) - board->begin_ns[board_slot(board, back)];

	if (row->page == BOARD_THREADS && board->options.local)
		return slice->cpu_ns < 0 || span <= 0 ? -1
						      : slice->cpu_ns * 1000 / (span / 1000 + 1);
	if (!slice->count && !slice->max_at_ns)
		return -1;
	if (board->counts)
		return (int64_t)slice->count;
	if (row->page == BOARD_THREADS || row->page == BOARD_EXECUTORS ||
	    row->page == BOARD_WORKERS)
		return span <= 0 ? -1 : slice->sum_ns * 1000 / (span / 1000 + 1);
	return slice->max_at_ns ? slice->max_ns : 0;
}

unsigned board_spark(const struct board *board, const struct board_row *pub,
		     int64_t of[BOARD_SLICES])
{
	const struct row *row = (const struct row *)pub;
	const unsigned count = slices(board);

	for (unsigned i = 0; i < count; i++) {
		const unsigned back = first_back(board) + count - 1 - i;

		of[i] = spark_of(board, pub, &row->slice[board_slot(board, back)], back);
	}
	return count;
}

bool board_process(const struct board *board, unsigned index, struct board_process *process)
{
	if (index >= board->process_count)
		return false;
	*process = (struct board_process){ board->process[index]->pid, board->process[index]->name,
					   board->process[index]->cpu,
					   board->process[index]->last_events };
	return true;
}

void board_totals(const struct board *board, struct board_totals *totals)
{
	const unsigned count = slices(board), first = first_back(board);

	*totals =
		(struct board_totals){ .processes = board->process_count,
				       .lost = board->lost,
				       .nodes = board->model ? model_count(board->model, MODEL_NODE)
							     : board->nodes };
	for (unsigned i = 0; i < count; i++)
		totals->events += board->events[board_slot(board, first + i)];
	if (!count)
		return;
	totals->begin_ns = board->begin_ns[board_slot(board, first + count - 1)];
	totals->end_ns = slice_end(board, first);
}
