/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and slices. See board.h. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "top/board_internal.h"

#define FIRST_LENGTH_NS ((int64_t)100000000) /* of a slice of a whole trace */

/* ---- rows ---- */

uint64_t board_hash(const char *text)
{
	return text_hash(TEXT_HASH, text);
}

/* A thread is known by its number, whatever it is called meanwhile. */
static uint64_t key_of(const struct board_row *row)
{
	const char *const names[] = { row->name, row->what, row->process, row->entity };
	uint64_t key = TEXT_HASH + row->page;

	for (unsigned i = 0; !row->tid && i < COUNT_OF(names); i++)
		key = text_hash(key, names[i]);
	return key;
}

static uint64_t number_of(const struct board_row *row)
{
	return (uint64_t)(uint32_t)row->pid << 32 | (uint32_t)row->tid;
}

/* Names come from traces: a terminal must not obey them. */
static char *clean(const char *text)
{
	const size_t size = 4 * strlen(text) + 1;
	char *copy = malloc(size);

	if (copy)
		(void)text_clean(copy, size, text);
	return copy;
}

static void row_free(struct row *row)
{
	if (!row)
		return;
	free((char *)row->pub.name);
	free((char *)row->pub.what);
	free((char *)row->pub.process);
	free((char *)row->pub.ask);
	free((char *)row->pub.entity);
	histogram_free(&row->now);
	histogram_free(&row->whole);
	free(row);
}

static struct row *row_new(const struct board_row *like)
{
	struct row *row = calloc(1, sizeof(*row));

	if (!row)
		return NULL;
	row->pub = *like;
	row->pub.name = clean(like->name);
	row->pub.what = clean(like->what);
	row->pub.process = clean(like->process);
	row->pub.ask = strdup(like->ask);
	row->pub.entity = strdup(like->entity);
	for (unsigned i = 0; i < BOARD_SLICES; i++)
		row->slice[i].cpu_ns = -1;
	if (row->pub.name && row->pub.what && row->pub.process && row->pub.ask && row->pub.entity)
		return row;
	row_free(row);
	return NULL;
}

struct row *board_find(struct board *board, const struct board_row *like)
{
	struct board_row full = *like;
	struct row *row;

	full.what = like->what ? like->what : "";
	full.process = like->process ? like->process : "";
	full.ask = like->ask ? like->ask : "";
	full.entity = like->entity ? like->entity : "";
	row = map_get(&board->by_key, key_of(&full), number_of(&full));
	if (row)
		return row;
	row = ARRAY_ROOM(board->row[full.page], board->count[full.page], board->capacity[full.page])
		      ? row_new(&full)
		      : NULL;
	if (!row || map_put(&board->by_key, key_of(&full), number_of(&full), row) < 0) {
		row_free(row);
		board->no_memory = true;
		return NULL;
	}
	board->row[full.page][board->count[full.page]++] = row;
	return row;
}

void board_add(struct board *board, struct row *row, int64_t ns, int64_t at_ns)
{
	struct board_slice *slice = board_now(board, row);

	if (ns < 0)
		return;
	slice->sum_ns += ns;
	if (ns >= slice->max_ns) {
		slice->max_ns = ns;
		slice->max_at_ns = at_ns;
	}
	board->no_memory |= histogram_add(&row->now, (uint64_t)ns) < 0;
	if (board->options.whole)
		board->no_memory |= histogram_add(&row->whole, (uint64_t)ns) < 0;
}

/* ---- slices ---- */

void board_join_slices(struct board_slice *a, const struct board_slice *b)
{
	const uint64_t both = a->count + b->count;

	if (both)
		a->median_ns = (int64_t)(((double)a->median_ns * (double)a->count +
					  (double)b->median_ns * (double)b->count) /
					 (double)both);
	a->count = both;
	a->more += b->more;
	a->sum_ns += b->sum_ns;
	if (b->max_ns > a->max_ns) {
		a->max_ns = b->max_ns;
		a->max_at_ns = b->max_at_ns;
		a->worst_of = b->worst_of;
	}
	if (b->wait_ns > a->wait_ns) {
		a->wait_ns = b->wait_ns;
		a->wait_at_ns = b->wait_at_ns;
		a->behind = b->behind;
	}
}

/* Each two slices become one. Only with options.whole, where slice 0 is the first one and slices
 * have no CPU times. */
static void board_fold(struct board *board)
{
	const struct board_slice none = { .cpu_ns = -1 };

	for (unsigned page = 0; page < BOARD_LISTS; page++)
		for (unsigned i = 0; i < board->count[page]; i++) {
			struct board_slice *slice = board->row[page][i]->slice;

			for (unsigned k = 0; k < BOARD_SLICES / 2; k++) {
				struct board_slice joined = slice[2 * k];

				board_join_slices(&joined, &slice[2 * k + 1]);
				slice[k] = joined;
			}
			for (unsigned k = BOARD_SLICES / 2; k < BOARD_SLICES; k++)
				slice[k] = none;
		}
	for (unsigned k = 0; k < BOARD_SLICES / 2; k++) {
		board->begin_ns[k] = board->begin_ns[2 * k];
		board->events[k] = board->events[2 * k] + board->events[2 * k + 1];
	}
	for (unsigned k = BOARD_SLICES / 2; k < BOARD_SLICES; k++)
		board->events[k] = 0;
	board->at = BOARD_SLICES / 2 - 1;
	board->used = board->at;
	board->length_ns *= 2;
}

static void row_begin_slice(struct board *board, struct row *row, unsigned next)
{
	if (row->now.count)
		row->slice[board->at].median_ns = (int64_t)histogram_quantile(&row->now, 0.5);
	histogram_free(&row->now);
	row->now = (struct histogram){ 0 };
	row->slice[next] = (struct board_slice){ .cpu_ns = -1 };
}

bool board_due(const struct board *board, int64_t ns)
{
	return board->begin_ns[board->at] && ns - board->begin_ns[board->at] >= board->length_ns;
}

int board_tick(struct board *board, int64_t ns, struct kymo_err *err)
{
	unsigned next;

	board_join_executors(board);
	if (board->chains)
		board_take_chains(board);
	if (!board->options.whole) {
		board_take_summary(board);
		board_name_chains(board);
	}
	if (board_read_counts(board, ns, err) < 0)
		return -1;
	if (board->options.local)
		board_read_cpu(board);
	if (board->options.whole && board->at == BOARD_SLICES - 1)
		board_fold(board);
	next = (board->at + 1) % BOARD_SLICES;
	for (unsigned page = 0; page < BOARD_LISTS; page++)
		for (unsigned i = 0; i < board->count[page]; i++)
			row_begin_slice(board, board->row[page][i], next);
	for (unsigned i = 0; i < board->process_count; i++) {
		board->process[i]->last_events = board->process[i]->events;
		board->process[i]->events = 0;
	}
	board->events[next] = 0;
	if (ns > board->last_ns)
		board->last_ns = ns;
	/* Long silence in a whole trace: the next slice begins where it would have. */
	board->begin_ns[next] = board->options.whole ? board->begin_ns[board->at] + board->length_ns
						     : board->last_ns;
	if (board->options.whole && ns - board->begin_ns[next] >= board->length_ns)
		board->begin_ns[next] = ns;
	board->at = next;
	if (board->used < BOARD_SLICES - 1)
		board->used++;
	return board->no_memory ? err_no_memory(err) : 0;
}

/* ---- life ---- */

int board_create(struct board **out, const struct board_options *options, struct kymo_err *err)
{
	struct board *board = calloc(1, sizeof(*board));

	if (!board)
		return err_no_memory(err);
	board->options = *options;
	board->length_ns = FIRST_LENGTH_NS;
	*out = board;
	return 0;
}

int board_attach(struct board *board, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	board_detach(board);
	board->reader = reader;
	if (board_listen(board, err) == 0)
		return 0;
	board_detach(board);
	return -1;
}

void board_detach(struct board *board)
{
	if (!board->options.whole)
		board_take_summary(board);
	board_unlisten(board);
	board->reader = NULL;
	for (unsigned page = 0; page < BOARD_LISTS; page++)
		array_free(&board->row_of[page]);
}

void board_skip(struct board *board, bool skip)
{
	if (board->skips && !skip && board->collect)
		summary_collect_forget(board->collect);
	board->skips = skip;
}

void board_threads_wanted(struct board *board, bool wanted)
{
	board->threads_wanted = wanted;
}

void board_finish(struct board *board)
{
	if (board->spans)
		spans_finish(board->spans);
	if (board->model)
		model_finish(board->model);
	board_join_executors(board);
	if (board->chains)
		board_take_chains(board);
	board_take_summary(board);
	board_name_chains(board);
}

void board_destroy(struct board *board)
{
	if (!board)
		return;
	board_detach(board);
	summary_window_free(board->window);
	for (unsigned page = 0; page < BOARD_LISTS; page++) {
		for (unsigned i = 0; i < board->count[page]; i++)
			row_free(board->row[page][i]);
		free(board->row[page]);
	}
	map_free(&board->by_key);
	map_free(&board->kinds);
	map_free_all(&board->processes);
	free(board->process);
	free(board);
}
