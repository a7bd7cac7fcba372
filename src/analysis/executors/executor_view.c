/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors and the runs that blocked their callbacks; see executor_view.h.
 *
 * The idea: the threads of an executor form a union-find structure. Each run of a callback joins
 * its thread with the thread that ran the callback before.
 */
#include "analysis/executors/executor_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_startup.h"
#include "base/array.h"
#include "base/map.h"

struct viewed_callback {
	struct view_callback sums;
	unsigned thread;		/* index of a thread that ran it, plus 1; 0: none */
	unsigned next;			/* the next callback of its executor, plus 1; 0: none */
};

struct viewed_thread {
	struct view_thread sums;
	/*
	 * Index of another thread of the same executor, plus 1; 0: this thread represents the
	 * executor.
	 */
	unsigned parent;
	unsigned next;		/* the next thread of its executor, plus 1; 0: none */
	unsigned callback;	/* the first callback of the executor, plus 1; 0: none */
};

struct executor_view {
	struct waits *waits;
	int64_t begin_ns, end_ns;
	struct viewed_callback *callback;
	struct viewed_thread *thread;
	struct view_pair **pair;
	unsigned callbacks, threads, pairs, pairs_size;
	void (*told)(void *context, const struct waits_wait *wait);
	void *context;
	bool is_listed;			/* next and callback are as threads and callbacks are now */
	struct map map;			/* (callback, by and is_group) -> struct view_pair */
	bool failed;
};

static struct viewed_callback *callback_at(struct executor_view *view, unsigned index)
{
	struct viewed_callback *callback = ARRAY_AT(view->callback, view->callbacks, index);

	view->failed |= !callback;
	return callback;
}

static struct viewed_thread *thread_at(struct executor_view *view, unsigned index)
{
	struct viewed_thread *thread = ARRAY_AT(view->thread, view->threads, index);

	view->failed |= !thread;
	return thread;
}

static bool is_inside(const struct executor_view *view, int64_t ns)
{
	return ns >= view->begin_ns && ns <= view->end_ns;
}

/* ---- the executor of a thread or callback ---- */

unsigned view_executor_of(const struct executor_view *view, unsigned index)
{
	while (index < view->threads && view->thread[index].parent)
		index = view->thread[index].parent - 1;
	return index;
}

static void join(struct executor_view *view, unsigned a, unsigned b)
{
	a = view_executor_of(view, a);
	b = view_executor_of(view, b);
	if (a < b)
		view->thread[b].parent = a + 1;
	else if (b < a)
		view->thread[a].parent = b + 1;
}

int view_executor_of_callback(const struct executor_view *view, unsigned index)
{
	unsigned thread = index < view->callbacks ? view->callback[index].thread : 0;

	return thread ? (int)view_executor_of(view, thread - 1) : -1;
}

/* Backwards, so that the lists are in order of the index. */
static void list(struct executor_view *view)
{
	for (unsigned i = 0; i < view->threads; i++)
		view->thread[i].next = view->thread[i].callback = 0;
	for (unsigned i = view->threads; i-- > 0;) {
		struct viewed_thread *first = &view->thread[view_executor_of(view, i)];

		if (first == &view->thread[i])
			continue;
		view->thread[i].next = first->next;
		first->next = i + 1;
	}
	for (unsigned i = view->callbacks; i-- > 0;) {
		const int executor = view_executor_of_callback(view, i);

		if (executor < 0)
			continue;
		view->callback[i].next = view->thread[executor].callback;
		view->thread[executor].callback = i + 1;
	}
	view->is_listed = true;
}

int view_first_callback(struct executor_view *view, unsigned executor)
{
	if (!view->is_listed)
		list(view);
	return executor < view->threads ? (int)view->thread[executor].callback - 1 : -1;
}

int view_next_callback(const struct executor_view *view, int index)
{
	return (int)view->callback[index].next - 1;
}

int view_next_thread(struct executor_view *view, int index)
{
	if (!view->is_listed)
		list(view);
	return (unsigned)index < view->threads ? (int)view->thread[index].next - 1 : -1;
}

/* ---- events ---- */

static void on_instance(void *context, const struct model_instance *instance)
{
	struct executor_view *view = context;
	struct viewed_callback *callback;
	struct viewed_thread *thread;

	if (instance->depth || !is_inside(view, instance->start_ns))
		return;
	callback = callback_at(view, instance->callback->index);
	thread = thread_at(view, instance->thread->index);
	if (!callback || !thread)
		return;
	thread->sums.thread = instance->thread;
	if (callback->thread != instance->thread->index + 1) {
		if (callback->thread)
			join(view, callback->thread - 1, instance->thread->index);
		callback->thread = instance->thread->index + 1;
		view->is_listed = false;
	}
	callback->sums.runs++;
	callback->sums.running_ns += instance->duration_ns;
}

static void on_executor(void *context, const struct model_executor_interval *interval)
{
	struct executor_view *view = context;
	struct viewed_thread *thread;

	if (!is_inside(view, interval->start_ns))
		return;
	thread = thread_at(view, interval->thread->index);
	if (!thread)
		return;
	thread->sums.has_states = true;
	if (interval->state == MODEL_EXECUTOR_WAIT_FOR_WORK && interval->end_ns)
		thread->sums.wait_for_work_ns += interval->end_ns - interval->start_ns;
}

static struct view_pair *pair_of(struct executor_view *view, const struct model_callback *callback,
				 const struct waits_piece *piece)
{
	uint64_t scope = (uint64_t)piece->by->index << 1 | piece->is_group;
	struct view_pair *pair = map_get(&view->map, callback->index, scope);

	if (pair)
		return pair;
	pair = ARRAY_ROOM(view->pair, view->pairs, view->pairs_size) ? calloc(1, sizeof(*pair))
								     : NULL;
	if (!pair || map_put(&view->map, callback->index, scope, pair)) {
		free(pair);
		view->failed = true;
		return NULL;
	}
	pair->callback = callback;
	pair->by = piece->by;
	pair->is_group = piece->is_group;
	pair->is_assumed = piece->is_assumed;
	return view->pair[view->pairs++] = pair;
}

static struct view_wait wait_of(const struct waits_wait *wait)
{
	const struct model_instance *instance = wait->instance;

	return (struct view_wait){
		.from_ns = wait->from_ns,
		.to_ns = wait->to_ns,
		.blocked_ns = wait->thread_ns + wait->group_ns,
		.start_ns = instance->start_ns,
		.duration_ns = instance->duration_ns,
		.thread = instance->thread,
		.publisher = instance->message ? instance->message->publisher : NULL,
	};
}

static void on_wait(void *context, const struct waits_wait *wait)
{
	int64_t blocked_ns = wait->thread_ns + wait->group_ns;
	struct executor_view *view = context;
	struct viewed_callback *callback;
	bool is_startup;

	if (!is_inside(view, wait->instance->start_ns) || !blocked_ns)
		return;
	callback = callback_at(view, wait->instance->callback->index);
	if (!callback)
		return;
	if (view->told)
		view->told(view->context, wait);
	callback->sums.blocked++;
	callback->sums.thread_ns += wait->thread_ns;
	callback->sums.group_ns += wait->group_ns;
	if (blocked_ns > callback->sums.worst_ns)
		callback->sums.worst_ns = blocked_ns;
	is_startup = model_is_startup(wait->instance);
	if (!is_startup && blocked_ns > callback->sums.steady.blocked_ns)
		callback->sums.steady = wait_of(wait);
	for (unsigned i = 0; i < wait->pieces; i++) {
		struct view_pair *pair = pair_of(view, wait->instance->callback, &wait->piece[i]);

		if (!pair)
			return;
		pair->count++;
		pair->ns += wait->piece[i].ns;
		if (wait->piece[i].ns > pair->worst_ns)
			pair->worst_ns = wait->piece[i].ns;
		if (!is_startup && wait->piece[i].ns > pair->steady_ns)
			pair->steady_ns = wait->piece[i].ns;
	}
}

/* ---- life cycle and queries ---- */

static const struct model_listener listener = { .instance = on_instance, .executor = on_executor };

static void view_destroy(struct executor_view *view)
{
	if (!view)
		return;
	waits_destroy(view->waits);
	for (unsigned i = 0; i < view->pairs; i++)
		free(view->pair[i]);
	free(view->pair);
	free(view->callback);
	free(view->thread);
	map_free(&view->map);
	free(view);
}

static bool view_failed(const struct executor_view *view)
{
	return view->failed || waits_failed(view->waits);
}

PASS_FAILED(view)
PASS_LISTENER_FAILED(view);

int view_create(struct executor_view **out, struct model *model, int64_t begin_ns, int64_t end_ns,
		struct kymo_err *err)
{
	struct executor_view *view = calloc(1, sizeof(*view));

	if (!view)
		return err_no_memory(err);
	view->begin_ns = begin_ns;
	view->end_ns = end_ns;
	if (waits_create(&view->waits, model, on_wait, view, err) ||
	    model_listen(model, &listener, view, err)) {
		view_destroy(view);
		return -1;
	}
	*out = view;
	return 0;
}

void view_listen(struct executor_view *view,
		 void (*wait)(void *context, const struct waits_wait *wait), void *context)
{
	view->told = wait;
	view->context = context;
}

void view_forget(struct executor_view *view)
{
	for (unsigned i = 0; i < view->callbacks; i++)
		view->callback[i].sums = (struct view_callback){ 0 };
	for (unsigned i = 0; i < view->threads; i++)
		view->thread[i].sums.wait_for_work_ns = 0;
	for (unsigned i = 0; i < view->pairs; i++)
		free(view->pair[i]);
	view->pairs = 0;
	map_free(&view->map);
}

const struct view_callback *view_callback(const struct executor_view *view, unsigned index)
{
	static const struct view_callback none;

	return index < view->callbacks ? &view->callback[index].sums : &none;
}

const struct view_thread *view_thread(const struct executor_view *view, unsigned index)
{
	static const struct view_thread none;

	return index < view->threads ? &view->thread[index].sums : &none;
}

const struct view_pair *view_pair(const struct executor_view *view, unsigned index)
{
	return index < view->pairs ? view->pair[index] : NULL;
}

/* ---- names ---- */

static int by_number(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

char *executor_name(const char *type, int64_t *tid, unsigned threads, char *buffer, size_t size)
{
	const unsigned named = threads < VIEW_TIDS_MAX ? threads : VIEW_TIDS_MAX;
	size_t used = (size_t)snprintf(buffer, size, "%s%sthread%s ", type, *type ? ": " : "",
				       threads == 1 ? "" : "s");

	qsort(tid, named, sizeof(*tid), by_number);
	for (unsigned i = 0; i < named && used < size; i++)
		used += (size_t)snprintf(buffer + used, size - used, "%s%lld", i ? ", " : "",
					 (long long)tid[i]);
	if (threads > VIEW_TIDS_MAX && used < size)
		(void)snprintf(buffer + used, size - used, ", ...");
	return buffer;
}

const char *executor_type(const char *type, const char *other)
{
	if (!*type || !*other)
		return *type ? type : other;
	return strcmp(type, other) == 0 ? type : "executors";
}
