/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of all callbacks while the analysed instances were in progress; see why.h.
 *
 * Which instance is the usual one is known only while the trace is read. So the latest runs are
 * kept, too: when a window is reported that begins after the end of all that was dropped, nothing
 * is missing in it.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/why/why.h"
#include "base/array.h"
#include "base/order.h"

/* A wait for work of an executor's thread. */
struct wait {
	const struct model_thread *thread;
	int64_t start_ns, end_ns;
};

struct runs {
	struct why_other *run; /* by start, when finished */
	unsigned count, size;
	unsigned full; /* so many: drop the oldest */
};

struct why_others {
	struct why_window *window;
	unsigned windows;
	struct runs outer, inner; /* that an executor called; that began within another run */
	struct wait *wait; /* by thread and start, when finished */
	unsigned waits, waits_size;
	struct why_gil *gil; /* by thread and end, when finished */
	unsigned gils, gil_size;
	bool failed;

	/* The window that is still looked for; NULL: none is. */
	bool (*follow)(void *context, struct why_window *window);
	void *context;
	struct why_window followed; /* the latest */
	bool is_followed;           /* there is one, */
	bool is_partial;            /* and something in it may be missing */
	bool has_gil;
	int64_t dropped_ns;             /* the end of the last one that was dropped */
	unsigned waits_full;            /* so many: drop the oldest */
};

#define LATEST 16384u /* runs, and waits, that are kept in case they are in the window */

/* The first window that ends after @start_ns decides: they do not overlap. */
static bool is_inside(const struct why_others *others, int64_t start_ns, int64_t end_ns)
{
	unsigned low = 0, high = others->windows;

	while (low < high) {
		const unsigned middle = low + (high - low) / 2;

		if (others->window[middle].end_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < others->windows && end_ns > others->window[low].begin_ns;
}

/* ---- a window that is still looked for ---- */

static void see_followed(struct why_others *others)
{
	struct why_window window;

	others->is_followed = others->follow(others->context, &window);
	if (!others->is_followed || (window.begin_ns == others->followed.begin_ns &&
				     window.end_ns == others->followed.end_ns))
		return;
	others->followed = window;
	others->is_partial = window.begin_ns < others->dropped_ns;
}

/* Is a run or a wait dropped that is not among the latest? Notes when the last such one ended. */
static bool is_dropped(struct why_others *others, int64_t start_ns, int64_t end_ns)
{
	const struct why_window *window = &others->followed;

	if (is_inside(others, start_ns, end_ns) ||
	    (others->is_followed && end_ns > window->begin_ns && start_ns < window->end_ns))
		return false;
	if (end_ns > others->dropped_ns)
		others->dropped_ns = end_ns;
	return true;
}

/* Keeps the latest @newest runs, and those in a window. */
static void drop_runs(struct why_others *others, struct runs *runs, unsigned newest)
{
	unsigned kept = 0;

	see_followed(others);
	for (unsigned i = 0; i < runs->count; i++)
		if (i + newest >= runs->count ||
		    !is_dropped(others, runs->run[i].start_ns, runs->run[i].end_ns))
			runs->run[kept++] = runs->run[i];
	runs->count = kept;
	runs->full = kept + LATEST;
}

static void drop_waits(struct why_others *others, unsigned newest)
{
	unsigned kept = 0;

	see_followed(others);
	for (unsigned i = 0; i < others->waits; i++)
		if (i + newest >= others->waits ||
		    !is_dropped(others, others->wait[i].start_ns, others->wait[i].end_ns))
			others->wait[kept++] = others->wait[i];
	others->waits = kept;
	others->waits_full = kept + LATEST;
}

/* ---- what is kept ---- */

static void add(struct why_others *others, const struct model_instance *instance, int64_t end_ns)
{
	struct runs *runs = instance->depth ? &others->inner : &others->outer;

	if (!others->follow && !is_inside(others, instance->start_ns, end_ns))
		return;
	if (others->follow && runs->count >= runs->full)
		drop_runs(others, runs, LATEST);
	others->failed |= !ARRAY_ADD(runs->run, runs->count, runs->size,
				     (struct why_other){ instance->callback, instance->thread,
							 instance->start_ns, end_ns });
}

/* A run without a known end blocks no other run: it is ignored. */
static void on_instance(void *context, const struct model_instance *instance)
{
	add(context, instance, instance->start_ns + instance->duration_ns);
}

static void on_executor(void *context, const struct model_executor_interval *interval)
{
	struct why_others *others = context;

	if (interval->state != MODEL_EXECUTOR_WAIT_FOR_WORK ||
	    (!others->follow && !is_inside(others, interval->start_ns, interval->end_ns)))
		return;
	if (others->follow && others->waits >= others->waits_full)
		drop_waits(others, LATEST);
	if (!ARRAY_ROOM(others->wait, others->waits, others->waits_size)) {
		others->failed = true;
		return;
	}
	others->wait[others->waits++] =
		(struct wait){ interval->thread, interval->start_ns, interval->end_ns };
}

/* Parts of one wait, which follow each other closely: who released the lock held it all the time,
 * as far as is known. */
#define GIL_GAP_NS 200000

static void on_gil_wait(void *context, const struct model_gil_wait *wait)
{
	struct why_others *others = context;
	int64_t begin_ns = wait->start_ns;

	others->has_gil = true;
	if (!is_inside(others, wait->start_ns, wait->end_ns))
		return;
	for (unsigned i = others->gils; wait->tid && i-- > 0;) {
		struct why_gil *before = &others->gil[i];

		/* They are in order of the end. */
		if (begin_ns - before->end_ns > GIL_GAP_NS)
			break;
		if (before->thread != wait->thread)
			continue;
		if (before->tid)
			break;
		before->tid = wait->tid;
		before->by = wait->by;
		begin_ns = before->start_ns;
	}
	if (!ARRAY_ROOM(others->gil, others->gils, others->gil_size)) {
		others->failed = true;
		return;
	}
	others->gil[others->gils++] =
		(struct why_gil){ wait->thread, wait->by, wait->start_ns, wait->end_ns, wait->tid };
}

static const struct model_listener listener = { .instance = on_instance,
						.executor = on_executor,
						.gil_wait = on_gil_wait };

static void why_others_destroy(struct why_others *others)
{
	if (!others)
		return;
	free(others->window);
	free(others->outer.run);
	free(others->inner.run);
	free(others->wait);
	free(others->gil);
	free(others);
}

static int by_begin(const void *a, const void *b)
{
	const struct why_window *x = a, *y = b;

	return ORDER(x->begin_ns, y->begin_ns);
}

/* By their begin, and those that overlap as one. */
static void join_windows(struct why_others *others)
{
	unsigned joined = 0;

	if (!others->windows)
		return;
	qsort(others->window, others->windows, sizeof(*others->window), by_begin);
	for (unsigned i = 1; i < others->windows; i++) {
		const struct why_window *next = &others->window[i];
		struct why_window *last = &others->window[joined];

		if (next->begin_ns > last->end_ns)
			others->window[++joined] = *next;
		else if (next->end_ns > last->end_ns)
			last->end_ns = next->end_ns;
	}
	others->windows = joined + 1;
}

int why_others_create(struct why_others **others, struct model *model,
		      const struct why_window *window, unsigned windows, struct kymo_err *err)
{
	struct why_others *new = calloc(1, sizeof(*new));

	if (!new)
		return err_no_memory(err);
	new->windows = windows;
	new->window = malloc((windows + 1) * sizeof(*window)); /* and one that is followed */
	if (!new->window) {
		why_others_destroy(new);
		return err_no_memory(err);
	}
	if (model_listen(model, &listener, new, err)) {
		why_others_destroy(new);
		return -1;
	}
	memcpy(new->window, window, windows * sizeof(*window));
	join_windows(new);
	*others = new;
	return 0;
}

void why_others_follow(struct why_others *others,
		       bool (*latest)(void *context, struct why_window *window), void *context)
{
	others->follow = latest;
	others->context = context;
	others->dropped_ns = INT64_MIN;
	others->outer.full = others->inner.full = others->waits_full = 2 * LATEST;
}

bool why_others_are_whole(const struct why_others *others)
{
	/* Waits for the interpreter's lock are joined in known windows alone. */
	return !others->is_partial && !others->has_gil;
}

/* Of two that start together, the outer one comes first. */
static int by_start(const void *a, const void *b)
{
	const struct why_other *x = a, *y = b;

	return ORDER(x->start_ns, y->start_ns) ?: ORDER(y->end_ns, x->end_ns);
}

static void sort_runs(struct runs *runs)
{
	if (runs->count)
		qsort(runs->run, runs->count, sizeof(*runs->run), by_start);
}

static int by_thread(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return ORDER((uintptr_t)x->thread, (uintptr_t)y->thread) ?: ORDER(x->start_ns, y->start_ns);
}

/* The number of the first wait of @thread that starts after @ns. */
static size_t first_after(const struct why_others *others, const struct model_thread *thread,
			  int64_t ns)
{
	const struct wait key = { .thread = thread, .start_ns = ns };

	return order_after(&key, others->wait, others->waits, sizeof(key), by_thread);
}

bool why_waits(const struct why_others *others, const struct model_thread *thread, int64_t from_ns,
	       int64_t to_ns)
{
	size_t at = first_after(others, thread, from_ns);

	return at && others->wait[at - 1].thread == thread && others->wait[at - 1].end_ns >= to_ns;
}

int64_t why_waited_until(const struct why_others *others, const struct model_thread *thread,
			 int64_t from_ns, int64_t to_ns, int64_t least_ns)
{
	for (size_t at = first_after(others, thread, to_ns);
	     at && others->wait[at - 1].thread == thread; at--) {
		const struct wait *wait = &others->wait[at - 1];
		int64_t start_ns = larger(wait->start_ns, from_ns);
		int64_t end_ns = lesser(wait->end_ns, to_ns);

		if (end_ns - start_ns >= least_ns)
			return end_ns;
		if (wait->end_ns <= from_ns)
			break;
	}
	return from_ns;
}

static int by_gil(const void *a, const void *b)
{
	const struct why_gil *x = a, *y = b;

	return ORDER((uintptr_t)x->thread, (uintptr_t)y->thread) ?: ORDER(x->end_ns, y->end_ns);
}

const struct why_gil *why_gil(const struct why_others *others, const struct model_thread *thread,
			      int64_t ns)
{
	const struct why_gil key = { .thread = thread, .end_ns = ns };
	const unsigned gils = others ? others->gils : 0;
	const size_t at = gils ? order_after(&key, others->gil, gils, sizeof(key), by_gil) : 0;

	return at < gils && others->gil[at].thread == thread ? &others->gil[at] : NULL;
}

const struct why_gil *why_gil_next(const struct why_others *others, const struct why_gil *wait)
{
	const struct why_gil *next = wait + 1;

	return next < others->gil + others->gils && next->thread == wait->thread ? next : NULL;
}

/* Only what is in a window stays, of which the one that was looked for is the last. */
static void end_follow(struct why_others *others)
{
	see_followed(others);
	others->window[others->windows] = others->followed;
	others->windows += others->is_followed;
	join_windows(others);
	drop_runs(others, &others->outer, 0);
	drop_runs(others, &others->inner, 0);
	drop_waits(others, 0);
}

static int sort_all(void *analysis, struct kymo_err *err)
{
	struct why_others *others = analysis;

	if (others->follow)
		end_follow(others);
	sort_runs(&others->outer);
	sort_runs(&others->inner);
	if (others->waits)
		qsort(others->wait, others->waits, sizeof(*others->wait), by_thread);
	if (others->gils)
		qsort(others->gil, others->gils, sizeof(*others->gil), by_gil);
	return others->failed ? err_no_memory(err) : 0;
}

PASS_DESTROY(why_others)
const struct pass_ops why_others_pass = { .turn = PASS_AFTER_MODEL,
					  .finish = sort_all,
					  .destroy = why_others_pass_destroy };

const struct why_other *why_other(const struct why_others *others, unsigned index)
{
	return index < others->outer.count ? &others->outer.run[index] : NULL;
}

const struct why_other *why_inner(const struct why_others *others, unsigned index)
{
	return index < others->inner.count ? &others->inner.run[index] : NULL;
}
