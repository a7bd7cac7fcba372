/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Periodic loops.
 *
 * The idea: each thread has a short list of cycles that are open, because loops may nest. The begin
 * of a cycle is recognised by its fields, an instant by the name of an open cycle in front of it,
 * and the end closes the innermost cycle of that name. When the cycle before it was the one with
 * the number before, the difference of their due times is the period.
 */
#include "analysis/spans/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

#define NESTED_MAX 4 /* loops inside loops of one thread; further ones are not looked at */

/* A loop, and what is needed of its cycle before. */
struct loop_state {
	struct loop pub;
	bool has_last;
	uint64_t last_number;
	int64_t last_due_ns;
};

struct loop_thread {
	struct loop_cycle open[NESTED_MAX];
	unsigned depth;
};

struct loops {
	int64_t begin_ns, end_ns;
	struct loop_state **loop;
	unsigned count, room;
	struct map by_name; /* (name, thread) -> struct loop_state */
	struct map threads; /* thread -> struct loop_thread */
	loops_on_cycle on_cycle;
	void *context;
	bool failed;
};

static bool number_of(const struct spans_event *event, const char *name, uint64_t *value)
{
	for (unsigned i = 0; i < event->args; i++) {
		const struct spans_arg *arg = &event->arg[i];

		if (!arg->name || strcmp(arg->name, name) != 0)
			continue;
		*value = arg->u;
		return arg->kind == SPANS_UNSIGNED || (arg->kind == SPANS_SIGNED && arg->i >= 0);
	}
	return false;
}

static struct loop_state *loop_new(struct loops *loops, const struct spans_event *event)
{
	struct loop_state *loop;

	if (!ARRAY_ROOM(loops->loop, loops->count, loops->room))
		return NULL;
	loop = calloc(1, sizeof(*loop));
	if (!loop)
		return NULL;
	loop->pub.index = loops->count;
	loop->pub.name = event->name;
	loop->pub.thread = event->thread;
	loops->loop[loops->count++] = loop;
	return loop;
}

static struct loop_state *loop_of(struct loops *loops, const struct spans_event *event)
{
	struct loop_state *loop =
		map_get(&loops->by_name, event->name->index, event->thread->index);

	if (loop)
		return loop;
	loop = loop_new(loops, event);
	if (!loop || map_put(&loops->by_name, event->name->index, event->thread->index, loop)) {
		loops->failed = true;
		return NULL;
	}
	return loop;
}

/* ---- events ---- */

static void count_begin(struct loops *loops, struct loop_state *loop,
			const struct loop_cycle *cycle)
{
	struct loop *pub = &loop->pub;

	if (!pub->cycles++)
		pub->first_ns = cycle->begin_ns;
	pub->last_ns = cycle->begin_ns;
	if (loop->has_last && cycle->number == loop->last_number + 1 &&
	    cycle->due_ns > loop->last_due_ns)
		loops->failed |=
			histogram_add(&pub->period,
				      (uint64_t)cycle->due_ns - (uint64_t)loop->last_due_ns) != 0;
	loop->has_last = true;
	loop->last_number = cycle->number;
	loop->last_due_ns = cycle->due_ns;
}

static void on_begin(void *context, const struct spans_event *event)
{
	struct loops *loops = context;
	struct loop_thread *thread;
	struct loop_state *loop;
	uint64_t number, latency;

	if (event->track || event->args < 2 || !number_of(event, "cycle", &number) ||
	    !number_of(event, "latency_ns", &latency) || event->ns < loops->begin_ns ||
	    event->ns > loops->end_ns)
		return;
	thread = map_at(&loops->threads, event->thread->index, 0, sizeof(*thread));
	loop = thread && thread->depth < NESTED_MAX ? loop_of(loops, event) : NULL;
	loops->failed |= !thread;
	if (!loop)
		return;
	if (latency > INT64_MAX / 2)
		latency = 0;
	thread->open[thread->depth] = (struct loop_cycle){
		.loop = &loop->pub,
		.number = number,
		.due_ns = event->ns - (int64_t)latency,
		.begin_ns = event->ns,
	};
	count_begin(loops, loop, &thread->open[thread->depth++]);
}

static struct loop_cycle *open_cycle(struct loops *loops, const struct spans_event *event)
{
	struct loop_thread *thread = map_get(&loops->threads, event->thread->index, 0);

	return thread && thread->depth ? &thread->open[thread->depth - 1] : NULL;
}

/* Is @name that of @loop with @suffix behind it? */
static bool is_of(const struct spans_name *name, const struct spans_name *loop, const char *suffix)
{
	size_t length = strlen(loop->name);

	return strncmp(name->name, loop->name, length) == 0 &&
	       strcmp(name->name + length, suffix) == 0 &&
	       strcmp(name->category, loop->category) == 0;
}

static void on_instant(void *context, const struct spans_event *event)
{
	struct loop_cycle *cycle = event->args ? open_cycle(context, event) : NULL;
	uint64_t late = 0;

	if (!cycle || !number_of(event, "late_ns", &late) || late > INT64_MAX)
		return;
	if (is_of(event->name, cycle->loop->name, "_missed")) {
		cycle->is_missed = true;
		cycle->missed_ns = (int64_t)late;
	} else if (is_of(event->name, cycle->loop->name, "_overrun")) {
		cycle->is_overrun = true;
		cycle->overrun_ns = (int64_t)late;
		if (!number_of(event, "skipped", &cycle->skipped))
			cycle->skipped = 0;
	}
}

static void count_end(struct loops *loops, struct loop *loop, const struct loop_cycle *cycle)
{
	loop->missed += cycle->is_missed;
	loop->overruns += cycle->is_overrun;
	loop->skipped += cycle->skipped;
	if (cycle->missed_ns > loop->late_max_ns)
		loop->late_max_ns = cycle->missed_ns;
	loops->failed |=
		histogram_add(&loop->latency, (uint64_t)(cycle->begin_ns - cycle->due_ns)) != 0;
	if (cycle->unfinished) {
		loop->unfinished++;
		return;
	}
	loops->failed |=
		histogram_add(&loop->busy, (uint64_t)(cycle->end_ns - cycle->begin_ns)) != 0;
	loops->failed |=
		histogram_add(&loop->response, (uint64_t)(cycle->end_ns - cycle->due_ns)) != 0;
}

static void on_end(void *context, const struct spans_event *event)
{
	struct loops *loops = context;
	struct loop_thread *thread = map_get(&loops->threads, event->thread->index, 0);
	struct loop_cycle *cycle =
		thread && thread->depth ? &thread->open[thread->depth - 1] : NULL;
	struct loop_state *loop;

	if (!cycle || event->track || cycle->loop->name != event->name ||
	    cycle->begin_ns != event->begin_ns)
		return;
	cycle->end_ns = event->ns;
	cycle->unfinished = event->unfinished;
	loop = loops->loop[cycle->loop->index];
	count_end(loops, &loop->pub, cycle);
	if (loops->on_cycle)
		loops->on_cycle(loops->context, cycle);
	thread->depth--;
}

static const struct spans_listener listener = {
	.begin = on_begin,
	.end = on_end,
	.instant = on_instant,
};

/* ---- life ---- */

PASS_CREATE(loops, spans)

static void free_histograms(struct loop *loop)
{
	histogram_free(&loop->period);
	histogram_free(&loop->latency);
	histogram_free(&loop->busy);
	histogram_free(&loop->response);
}

void loops_destroy(struct loops *loops)
{
	const struct map_slot *slot;
	size_t at = 0;

	if (!loops)
		return;
	for (unsigned i = 0; i < loops->count; i++) {
		free_histograms(&loops->loop[i]->pub);
		free(loops->loop[i]);
	}
	while ((slot = map_next(&loops->threads, &at)))
		free(slot->value);
	free(loops->loop);
	map_free(&loops->by_name);
	map_free(&loops->threads);
	free(loops);
}

bool loops_failed(const struct loops *loops)
{
	return loops->failed;
}

void loops_forget(struct loops *loops)
{
	for (unsigned i = 0; i < loops->count; i++) {
		struct loop *loop = &loops->loop[i]->pub;

		free_histograms(loop);
		*loop = (struct loop){ .index = loop->index,
				       .name = loop->name,
				       .thread = loop->thread };
	}
}

void loops_listen(struct loops *loops, loops_on_cycle on_cycle, void *context)
{
	loops->on_cycle = on_cycle;
	loops->context = context;
}

unsigned loops_count(const struct loops *loops)
{
	return loops->count;
}

const struct loop *loops_at(const struct loops *loops, unsigned index)
{
	return index < loops->count ? &loops->loop[index]->pub : NULL;
}

bool loops_is_sleep(const struct loops *loops, const struct model_process *process,
		    const struct spans_name *name)
{
	for (unsigned i = 0; i < loops->count; i++) {
		const struct loop *loop = &loops->loop[i]->pub;

		if (loop->thread->process == process && is_of(name, loop->name, "_sleep"))
			return true;
	}
	return false;
}

PASS_LISTENER(loops);
