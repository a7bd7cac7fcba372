/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of executors. Each thread that runs callbacks is a worker, and at first an executor of its
 * own. As soon as the executors' view knows that threads share callbacks, their executors become
 * one, with all that happened before. See board.h.
 */
#include <stdlib.h>
#include <string.h>

#include "top/board_internal.h"

static const char *type_of(const struct model_instance *instance)
{
	const struct model_callback_group *group = model_callback_group_of(instance->callback);

	return group && group->executor ? group->executor->type : "";
}

static struct row *new_executor(struct board *board, const struct board_row *worker)
{
	struct board_row like = *worker;
	int64_t tid = worker->tid;
	char name[128];

	like.page = BOARD_EXECUTORS;
	like.name = worker->process;
	like.threads = 1;
	like.what = executor_name(worker->what, &tid, 1, name, sizeof(name));
	return board_find(board, &like);
}

struct row *board_make_worker(struct board *board, const void *object)
{
	const struct model_instance *instance = object;
	const struct model_thread *thread = instance->thread;
	struct row *row = board_find(board, &(struct board_row){
						    .page = BOARD_WORKERS,
						    .name = thread->name,
						    .what = type_of(instance),
						    .process = thread->process->name,
						    .pid = thread->process->pid,
						    .tid = thread->tid,
					    });

	if (row && !row->of)
		row->of = new_executor(board, &row->pub);
	return row && row->of ? row : NULL;
}

struct row *board_executor(struct row *worker)
{
	struct row *row = worker->of;

	while (row->of)
		row = row->of;
	return row;
}

const struct board_row *board_executor_of(const struct board_row *worker)
{
	return &board_executor((struct row *)worker)->pub;
}

/* All that happened to @from goes into @into. */
static void join(struct board *board, struct row *into, struct row *from)
{
	for (unsigned i = 0; i < BOARD_SLICES; i++) {
		board_join_slices(&into->slice[i], &from->slice[i]);
		from->slice[i] = (struct board_slice){ .cpu_ns = -1 };
	}
	board->no_memory |= histogram_merge(&into->now, &from->now) < 0 ||
			    histogram_merge(&into->whole, &from->whole) < 0;
	histogram_free(&from->now);
	histogram_free(&from->whole);
	from->now = from->whole = (struct histogram){ 0 };
	from->of = into;
}

/* The executor's threads are those of its workers. */
static void rename_executor(struct board *board, struct row *executor)
{
	int64_t tid[VIEW_TIDS_MAX];
	unsigned threads = 0;
	const char *type = "";
	char name[1024], *copy;

	for (unsigned i = 0; i < board->count[BOARD_WORKERS]; i++) {
		struct row *worker = board->row[BOARD_WORKERS][i];

		if (board_executor(worker) != executor)
			continue;
		type = executor_type(type, worker->pub.what);
		if (threads++ < VIEW_TIDS_MAX)
			tid[threads - 1] = worker->pub.tid;
	}
	copy = strdup(executor_name(type, tid, threads, name, sizeof(name)));
	if (!copy) {
		board->no_memory = true;
		return;
	}
	free((char *)executor->pub.what);
	executor->pub.what = copy;
	executor->pub.threads = threads;
}

/* Return: the worker that thread @index of the model is; NULL: it is none. */
static struct row *worker_at(const struct board *board, unsigned index)
{
	const struct array *rows = &board->row_of[BOARD_WORKERS];

	return index < rows->count ? ((struct row **)rows->item)[index] : NULL;
}

void board_join_executors(struct board *board)
{
	const unsigned threads = board->view ? model_count(board->model, MODEL_THREAD) : 0;

	for (unsigned i = 0; i < threads; i++) {
		struct row *worker = worker_at(board, i);
		struct row *first = worker_at(board, view_executor_of(board->view, i));

		if (!worker || !first || board_executor(worker) == board_executor(first))
			continue;
		join(board, board_executor(first), board_executor(worker));
		board_executor(first)->is_stale = true;
	}
	for (unsigned i = 0; i < board->count[BOARD_EXECUTORS]; i++) {
		struct row *executor = board->row[BOARD_EXECUTORS][i];

		if (executor->is_stale && !executor->of)
			rename_executor(board, executor);
		executor->is_stale = false;
	}
}
