/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open spans: finds the begin of each end, and ends the spans nested inside.
 *
 * The idea: each thread and each custom track has a stack of open spans. A begin pushes a span. An
 * end searches its span from the top of the stack; all spans above that span end with it,
 * unfinished.
 */
#include "analysis/spans/spans_internal.h"

#include <string.h>

#include "base/array.h"
#include "base/order.h"

/* Open spans of one thread on custom tracks; at the limit the oldest one is ended. */
#define AWAYS_MAX 4096

static struct stack *stack_of(struct user_thread *thread, struct user_track *track)
{
	return track ? &track->stack : &thread->stack;
}

/* ---- spans of a thread on custom tracks ---- */

static void away_add(struct spans *spans, struct user_thread *owner, struct user_track *track,
		     uint64_t number)
{
	spans->out_of_memory |= !ARRAY_ADD(owner->away, owner->aways, owner->away_room,
					   (struct away){ track, number });
}

static void away_remove(struct user_thread *owner, uint64_t number)
{
	for (unsigned i = owner->aways; i-- > 0;)
		if (owner->away[i].number == number) {
			memmove(&owner->away[i], &owner->away[i + 1],
				(owner->aways - i - 1) * sizeof(*owner->away));
			owner->aways--;
			return;
		}
}

/* ---- ending ---- */

/* Ends the innermost span of @stack. @end: time, flow, arguments; NULL: unfinished at @ns. */
static void pop(struct spans *spans, struct stack *stack, struct user_track *track, int64_t ns,
		const struct spans_event *end)
{
	struct open_span *open = &stack->open[--stack->count];
	struct spans_event event = end ? *end : (struct spans_event){ 0 };

	event.name = open->name;
	event.thread = open->owner->thread;
	event.track = track ? &track->pub : NULL;
	event.begin_ns = open->begin_ns;
	event.ns = larger(ns, open->last_ns);
	event.self_ns = event.ns - event.begin_ns - open->inner_ns;
	event.unfinished = !end;
	if (stack->count) {
		stack->open[stack->count - 1].last_ns = event.ns;
		stack->open[stack->count - 1].inner_ns += event.ns - event.begin_ns;
	}
	if (track)
		away_remove(open->owner, open->number);
	spans->facts.unfinished += !end;
	SPANS_EMIT(spans, end, &event);
}

/*
 * Ends, unfinished, all spans of @stack from @first on. An outer span does not end before an inner
 * one.
 */
static void close_from(struct spans *spans, struct stack *stack, struct user_track *track,
		       unsigned first, int64_t ns)
{
	while (stack->count > first)
		pop(spans, stack, track, ns, NULL);
}

void spans_close_since(struct spans *spans, struct user_thread *thread, int64_t since_ns,
		       int64_t ns)
{
	struct stack *stack = &thread->stack;

	while (stack->count && stack->open[stack->count - 1].begin_ns >= since_ns)
		pop(spans, stack, NULL, ns, NULL);
}

/*
 * Ends the oldest span of the thread on a custom track. Spans of other threads inside that span
 * end, too.
 */
static void close_oldest_away(struct spans *spans, struct user_thread *thread, int64_t ns)
{
	struct away away = thread->away[0];
	struct stack *stack = &away.track->stack;
	unsigned at = 0;

	while (at < stack->count && stack->open[at].number != away.number)
		at++;
	if (at == stack->count)
		/* Should not happen; prevents an endless loop. */
		away_remove(thread, away.number);
	else
		close_from(spans, stack, away.track, at, ns);
}

void spans_close_all(struct spans *spans, struct user_thread *thread, int64_t ns)
{
	close_from(spans, &thread->stack, NULL, 0, ns);
	while (thread->aways)
		close_oldest_away(spans, thread, ns);
}

/* ---- beginning ---- */

static struct open_span *push(struct spans *spans, struct stack *stack)
{
	if (!ARRAY_ROOM(stack->open, stack->count, stack->room)) {
		spans->out_of_memory = true;
		return NULL;
	}
	return &stack->open[stack->count++];
}

void spans_begin(struct spans *spans, struct user_thread *owner, struct user_track *track,
		 const struct spans_event *begin, bool dynamic)
{
	struct stack *stack = stack_of(owner, track);
	struct spans_event event = *begin;
	struct open_span *open;

	/*
	 * Begins without ends, or a recursion: the pairs of begins and ends are unknown from here
	 * on.
	 */
	if (stack->count == SPANS_DEPTH_MAX)
		close_from(spans, stack, track, 0, event.ns);
	if (track && owner->aways == AWAYS_MAX)
		close_oldest_away(spans, owner, event.ns);
	if (stack->count)
		event.ns = larger(event.ns, stack->open[stack->count - 1].last_ns);
	open = push(spans, stack);
	if (!open)
		return;
	*open = (struct open_span){ .name = event.name, .owner = owner, .number = ++spans->begins,
				    .begin_ns = event.ns, .last_ns = event.ns, .dynamic = dynamic };
	if (track)
		away_add(spans, owner, track, open->number);
	spans->facts.spans++;
	SPANS_EMIT(spans, begin, &event);
}

/* ---- search for the begin of an end ---- */

static bool matches(const struct open_span *open, const struct spans_name *name, bool dynamic)
{
	return dynamic ? open->dynamic : !open->dynamic && open->name == name;
}

/* Return: index + 1 of the innermost span that matches, 0: none. */
static unsigned find(const struct stack *stack, const struct spans_name *name, bool dynamic)
{
	unsigned at = stack->count;

	while (at && !matches(&stack->open[at - 1], name, dynamic))
		at--;
	return at;
}

/* Return: the track of the last span that @thread began on any custom track and that matches. */
static struct user_track *find_away(const struct user_thread *thread, const struct spans_name *name,
				    bool dynamic, unsigned *found, uint64_t *number)
{
	for (unsigned i = thread->aways; i-- > 0;) {
		const struct away *away = &thread->away[i];
		const struct stack *stack = &away->track->stack;

		for (unsigned at = stack->count; at; at--) {
			const struct open_span *open = &stack->open[at - 1];

			if (open->number != away->number)
				continue;
			if (!matches(open, name, dynamic))
				break;
			*found = at;
			*number = away->number;
			return away->track;
		}
	}
	return NULL;
}

void spans_end(struct spans *spans, struct user_thread *thread, struct user_track *track,
	       const struct spans_event *event, bool dynamic)
{
	unsigned at = find(stack_of(thread, track), event->name, dynamic), other = 0;
	struct stack *stack;

	/* The end of a scope does not contain the track of its begin. */
	if (!track && thread->aways) {
		uint64_t number = 0;
		struct user_track *away = find_away(thread, event->name, dynamic, &other, &number);

		if (away && (!at || number > thread->stack.open[at - 1].number)) {
			track = away;
			at = other;
		}
	}
	if (!at) {
		spans->facts.ends_without_begin++;
		return;
	}
	stack = stack_of(thread, track);
	close_from(spans, stack, track, at, event->ns);
	pop(spans, stack, track, event->ns, event);
}
