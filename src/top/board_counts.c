/* SPDX-License-Identifier: Apache-2.0 */
/* What programs only counted goes into the present slice. See board.h and tallies.h. */
#include "top/board_internal.h"
#include "top/tallies.h"

void board_set_counts(struct board *board, struct tallies *counts)
{
	board->counts = counts;
	board->is_base = counts != NULL;
}

bool board_only_counts(const struct board *board)
{
	return board->counts != NULL;
}

/* The publisher that has that address now: the latest one. */
static const struct model_publisher *publisher_at(struct board *board, const struct tally_of *of)
{
	for (; board->publishers < model_count(board->model, MODEL_PUBLISHER);
	     board->publishers++) {
		const struct model_publisher *publisher =
			model_publisher(board->model, board->publishers);

		if (map_put(&board->publisher_at, publisher->handle,
			    (uint32_t)publisher->process->pid, (void *)publisher) < 0)
			board->no_memory = true;
	}
	return map_get(&board->publisher_at, of->address, (uint32_t)of->pid);
}

/* Its trace has no events, so its process may not be known yet. */
static void count_span(struct board *board, const struct tally_of *of)
{
	const uint64_t count = of->more[KYMO_COUNT_NOT];
	char ask[600];
	struct row *row;

	if ((board->options.pid && of->pid != board->options.pid) ||
	    !selection_process(board->options.selection, of->process, of->pid))
		return;
	board_count_process(board, of->pid, of->process, count);
	(void)snprintf(ask, sizeof(ask), "%s:%s", of->category, of->name);
	row = board_find(board, &(struct board_row){ .page = BOARD_SPANS,
						     .name = of->name,
						     .what = of->category,
						     .process = of->process,
						     .pid = of->pid,
						     .ask = ask,
						     .entity = ask });
	if (row)
		board_now(board, row)->count += count;
}

static void on_counted(void *context, const struct tally_of *of)
{
	const uint64_t rcl = of->more[KYMO_COUNT_PUBLISH],
		       intra = of->more[KYMO_COUNT_PUBLISH_INTRA];
	struct board *board = context;
	const struct model_callback *callback =
		board->model && of->more[KYMO_COUNT_CALLBACK]
			? model_find_callback(board->model, 0, of->pid, of->address)
			: NULL;
	const struct model_publisher *publisher =
		board->model && (rcl || intra) ? publisher_at(board, of) : NULL;

	board->events[board->at] +=
		of->more[KYMO_COUNT_CALLBACK] + rcl + intra + of->more[KYMO_COUNT_NOT];
	if (of->name)
		count_span(board, of);
	if (callback)
		board_count_runs(board, callback, of->more[KYMO_COUNT_CALLBACK]);
	/* A message that goes both ways is one message. */
	if (publisher)
		board_count_messages(board, publisher, rcl > intra ? rcl : intra);
}

int board_read_counts(struct board *board, int64_t ns, struct kymo_err *err)
{
	if (!board->counts)
		return 0;
	if (tallies_read(board->counts, on_counted, board, err) < 0)
		return -1;
	/* The first look counts nothing: of the time before, nothing is known. */
	if (board->is_base)
		board->begin_ns[board->at] = ns;
	board->is_base = false;
	board->lost = tallies_missed(board->counts);
	return 0;
}
