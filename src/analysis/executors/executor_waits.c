/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the runs that each run waited for; see executor_waits.h.
 *
 * The idea: each thread has a ring of its latest runs. When a run with a wait returns, the runs of
 * its own thread that overlap the wait cut the wait into pieces. Each remaining gap is compared
 * with the runs of the callback group on other threads, in order of their start. Any time left has
 * no known cause.
 */
#include "analysis/executors/executor_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

#define RUNS_FIRST 8u

struct waits_run {
	uint64_t id;
	const struct model_callback *callback;
	const struct model_thread *thread;
	int64_t start_ns, end_ns;	/* end_ns INT64_MAX: it has not ended */
};

/* The latest runs of a thread, without nested runs, so they do not overlap. */
struct waits_history {
	const struct model_thread *thread;
	struct waits_history *next;		/* next thread of the same process */
	struct waits_run *run; /* the newest is run[(count - 1) % size] */
	unsigned size;         /* a power of two, up to WAITS_RUNS */
	uint64_t count;
};

struct waits {
	void (*wait)(void *context, const struct waits_wait *wait);
	void *context;
	struct waits_history **by_thread;	/* by index */
	struct waits_history **by_process;    /* by index: the first thread of each process */
	unsigned threads, processes, callbacks;
	struct waits_piece *piece;
	unsigned pieces, pieces_size;
	const struct waits_run **other;	/* runs of other threads that overlap the wait, by start */
	unsigned others, others_size;
	bool failed;
};

static struct waits_history *history_new(struct waits *waits, const struct model_thread *thread)
{
	struct waits_history **slot = ARRAY_AT(waits->by_thread, waits->threads, thread->index);
	struct waits_history **first =
		ARRAY_AT(waits->by_process, waits->processes, thread->process->index);
	struct waits_history *history = slot && first ? calloc(1, sizeof(*history)) : NULL;

	if (!history) {
		waits->failed = true;
		return NULL;
	}
	history->thread = thread;
	history->next = *first;
	return *first = *slot = history;
}

static inline struct waits_history *history_of(struct waits *waits,
					       const struct model_thread *thread)
{
	if (__builtin_expect(thread->index < waits->threads && waits->by_thread[thread->index], 1))
		return waits->by_thread[thread->index];
	return history_new(waits, thread);
}

/* ---- the pieces of a wait ---- */

static void add_piece(struct waits *waits, struct waits_wait *wait, struct waits_piece new)
{
	struct waits_piece *piece = waits->piece;
	unsigned i;

	*(new.is_group ? &wait->group_ns : &wait->thread_ns) += new.ns;
	for (i = 0; i < waits->pieces; i++, piece++)
		if (piece->by == new.by && piece->is_group == new.is_group)
			break;
	if (i == waits->pieces) {
		if (ARRAY_ROOM(waits->piece, waits->pieces, waits->pieces_size))
			waits->piece[waits->pieces++] = new;
		else
			waits->failed = true;
		return;
	}
	piece->thread = new.thread;
	piece->ns += new.ns;
	piece->runs++;
}

static int64_t latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Explains the time that was not spent waiting for the thread by runs of the group. */
static void behind_group(struct waits *waits, struct waits_wait *wait, int64_t from_ns,
			 int64_t to_ns)
{
	for (unsigned i = 0; i < waits->others && from_ns < to_ns; i++) {
		const struct waits_run *run = waits->other[i];
		int64_t begin_ns = latest(run->start_ns, from_ns),
			end_ns = earliest(run->end_ns, to_ns);
		bool assumed;

		if (end_ns <= begin_ns)
			continue;
		(void)model_callback_excludes(wait->instance->callback, run->callback, &assumed);
		add_piece(waits, wait,
			  (struct waits_piece){ .by = run->callback,
						.thread = run->thread,
						.is_group = true,
						.is_assumed = assumed,
						.ns = end_ns - begin_ns,
						.runs = 1 });
		from_ns = end_ns;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct waits_run *x = *(const struct waits_run *const *)a,
			       *y = *(const struct waits_run *const *)b;

	return ORDER(x->start_ns, y->start_ns) ?: ORDER(x->id, y->id);
}

/* The number of @history's first run that ends after @from_ns. */
static uint64_t first_run(const struct waits_history *history, int64_t from_ns)
{
	uint64_t stop = history->count > history->size ? history->count - history->size : 0,
		 at = history->count;

	while (at > stop && history->run[(at - 1) % history->size].end_ns > from_ns)
		at--;
	return at;
}

/* Neither its group nor its node is in the trace. */
static bool is_stranger(const struct model_callback *callback)
{
	return !model_callback_group_of(callback) && !model_callback_node(callback);
}

/* Sets is_judged, too. */
static void find_others(struct waits *waits, struct waits_wait *wait)
{
	const struct model_thread *thread = wait->instance->thread;
	const struct waits_history *history = waits->by_process[thread->process->index];
	const struct model_callback_group *group =
		model_callback_group_of(wait->instance->callback);
	const bool is_reentrant = group && strcmp(group->type, "reentrant") == 0;

	waits->others = 0;
	wait->is_judged = is_reentrant || !is_stranger(wait->instance->callback);
	for (; history; history = history->next) {
		if (history->thread == thread)
			continue;
		for (uint64_t at = first_run(history, wait->from_ns); at < history->count; at++) {
			const struct waits_run *run = &history->run[at % history->size];
			bool assumed;

			if (run->start_ns >= wait->to_ns)
				break;
			wait->is_judged &= is_reentrant || !is_stranger(run->callback);
			if (!model_callback_excludes(wait->instance->callback, run->callback,
						     &assumed))
				continue;
			if (!ARRAY_ADD(waits->other, waits->others, waits->others_size, run)) {
				waits->failed = true;
				return;
			}
		}
	}
	if (waits->others > 1)
		qsort(waits->other, waits->others, sizeof(*waits->other), by_start);
}

static void tell(struct waits *waits, const struct waits_history *history, struct waits_wait wait)
{
	int64_t from_ns = wait.from_ns;

	waits->pieces = 0;
	find_others(waits, &wait);
	for (uint64_t at = first_run(history, from_ns); at < history->count && from_ns < wait.to_ns;
	     at++) {
		const struct waits_run *run = &history->run[at % history->size];
		int64_t begin_ns = latest(run->start_ns, from_ns),
			end_ns = earliest(run->end_ns, wait.to_ns);

		if (end_ns <= begin_ns)
			continue;
		behind_group(waits, &wait, from_ns, begin_ns);
		add_piece(waits, &wait,
			  (struct waits_piece){ .by = run->callback,
						.thread = run->thread,
						.ns = end_ns - begin_ns,
						.runs = 1 });
		from_ns = end_ns;
	}
	behind_group(waits, &wait, from_ns, wait.to_ns);
	wait.piece = waits->piece;
	wait.pieces = waits->pieces;
	waits->wait(waits->context, &wait);
}

/* ---- runs ---- */

/* Most threads have few runs. Until the ring has its largest size, no run is at another's place. */
static bool has_room(struct waits *waits, struct waits_history *history)
{
	const unsigned size = history->size ? 2 * history->size : RUNS_FIRST;
	struct waits_run *run;

	if (history->count < history->size || history->size == WAITS_RUNS)
		return true;
	run = reallocarray(history->run, size, sizeof(*run));
	if (!run) {
		waits->failed = true;
		return false;
	}
	history->run = run;
	history->size = size;
	return true;
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct waits_history *history =
		instance->depth ? NULL : history_of(context, instance->thread);

	if (history && has_room(context, history))
		history->run[history->count++ % history->size] =
			(struct waits_run){ instance->id, instance->callback, instance->thread,
				      instance->start_ns, INT64_MAX };
}

/* Finds the begin and the end of the wait before @instance. Return: whether they are known. */
static bool is_wait(const struct model_instance *instance, struct waits_wait *wait)
{
	const struct model_message *message = instance->message;

	*wait = (struct waits_wait){ .instance = instance };
	if (message && message->publish_ns && message->publisher && message->take_ns &&
	    message->publisher->process->host == instance->callback->process->host) {
		wait->from_ns = message->send_ns ? message->send_ns : message->publish_ns;
		wait->to_ns = message->take_ns;
	} else if (instance->due_ns) {
		wait->from_ns = instance->due_ns;
		wait->to_ns = instance->start_ns;
	}
	return wait->to_ns && wait->from_ns <= wait->to_ns;
}

/* The latest run of the thread is the run that ends, unless its start was not in the trace. */
static struct waits_run *newest(struct waits_history *history,
				const struct model_instance *instance)
{
	struct waits_run *run;

	if (!history || !history->count)
		return NULL;
	run = &history->run[(history->count - 1) % history->size];
	return run->id == instance->id ? run : NULL;
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct waits *waits = context;
	struct waits_history *history =
		instance->depth ? NULL : history_of(waits, instance->thread);
	struct waits_run *run = newest(history, instance);
	struct waits_wait wait;

	if (!run)
		return;
	run->end_ns = instance->start_ns + instance->duration_ns;
	if (is_wait(instance, &wait))
		tell(waits, history, wait);
}

/* A run without a known end blocks no other run: remove it. */
static void on_unfinished(void *context, const struct model_instance *instance)
{
	struct waits *waits = context;
	struct waits_history *history =
		instance->depth ? NULL : history_of(waits, instance->thread);

	if (newest(history, instance))
		history->count--;
}

static const struct model_listener listener = {
	.started = on_started, .instance = on_instance, .unfinished = on_unfinished,
};

int waits_create(struct waits **out, struct model *model,
		 void (*wait)(void *context, const struct waits_wait *wait), void *context,
		 struct kymo_err *err)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	*out = waits;
	if (!waits)
		return err_no_memory(err);
	waits->wait = wait;
	waits->context = context;
	if (!model_listen(model, &listener, waits, err))
		return 0;
	free(waits);
	*out = NULL;
	return -1;
}

void waits_destroy(struct waits *waits)
{
	if (!waits)
		return;
	for (unsigned i = 0; i < waits->threads; i++) {
		if (waits->by_thread[i])
			free(waits->by_thread[i]->run);
		free(waits->by_thread[i]);
	}
	free(waits->by_thread);
	free(waits->by_process);
	free(waits->piece);
	free(waits->other);
	free(waits);
}

bool waits_failed(const struct waits *waits)
{
	return waits->failed;
}
