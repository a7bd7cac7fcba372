/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of kymo.h on the board. See board.h. */
#include <stdio.h>

#include "top/board_internal.h"

static struct row *row_of(struct board *board, const struct spans_event *event)
{
	const struct model_process *process = event->thread->process;
	char ask[512];

	(void)snprintf(ask, sizeof(ask), "%s:%s", event->name->category, event->name->name);
	return board_find(board, &(struct board_row){
					 .page = BOARD_SPANS,
					 .name = event->name->name,
					 .what = event->name->category,
					 .process = process->name,
					 .pid = process->pid,
					 .ask = ask,
					 .entity = ask,
				 });
}

static void on_end(void *context, const struct spans_event *event)
{
	struct board *board = context;
	struct row *row;

	if (board->skips || event->unfinished || !event->thread ||
	    !board_wants_process(board, event->thread->process) ||
	    loops_is_sleep(board->loops, event->thread->process, event->name))
		return;
	row = row_of(board, event);
	if (!row)
		return;
	board_now(board, row)->count++;
	board_add(board, row, event->ns - event->begin_ns, event->ns);
}

static const struct spans_listener listener = { .end = on_end };

/* Classes of one name are one kind, in whatever chunk or process they are declared. */
static bool is_new(const struct board *board, const struct kymo_ctf_event_class *class)
{
	return class->uri && !map_get(&board->kinds, board_hash(class->name), 0);
}

int board_listen_spans(struct board *board, struct kymo_err *err)
{
	if (spans_create(&board->spans, board->model, err) < 0 ||
	    spans_listen(board->spans, &listener, board, err) < 0)
		return -1;
	map_free(&board->kinds);
	board->classes = kymo_ctf_class_count(board->reader);
	for (unsigned i = 0; i < board->classes; i++) {
		const struct kymo_ctf_event_class *class = kymo_ctf_class(board->reader, i);

		if (is_new(board, class) &&
		    map_put(&board->kinds, board_hash(class->name), 0, board) < 0)
			return err_no_memory(err);
	}
	return 0;
}

bool board_has_new_kinds(struct board *board)
{
	for (; board->reader && board->classes < kymo_ctf_class_count(board->reader);
	     board->classes++)
		if (is_new(board, kymo_ctf_class(board->reader, board->classes)))
			return true;
	return false;
}
