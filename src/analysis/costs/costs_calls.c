/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of runs, by name; see costs.h. */
#include "analysis/costs/costs_internal.h"

#include <string.h>

#include "base/array.h"

/* Times come from the trace: a damaged trace must not cause an overflow. */
static void add_to(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = INT64_MAX;
}

/* Return: NULL without memory. */
static struct costs_call *call_named(struct costs *costs, struct costs_calls *calls,
				     const char *name)
{
	for (uint32_t i = 0; i < calls->count; i++)
		if (calls->call[i].name == name || strcmp(calls->call[i].name, name) == 0)
			return &calls->call[i];
	if (!ARRAY_ROOM(calls->call, calls->count, calls->room)) {
		costs->failed = true;
		return NULL;
	}
	calls->call[calls->count] = (struct costs_call){ .name = name };
	return &calls->call[calls->count++];
}

static int64_t took(const struct system_call *call)
{
	int64_t ns = 0;

	if (!call->is_begun || !call->is_ended ||
	    __builtin_sub_overflow(call->end_ns, call->start_ns, &ns) || ns < 0)
		return 0;
	return ns;
}

static void tell(const struct costs *costs, const struct costs_self *self,
		 const struct system_call *call, bool waits_for_mutex)
{
	struct costs_made made = {
		.call = call,
		.pid = self->process ? self->process->pid : 0,
		.waits_for_mutex = waits_for_mutex,
	};
	const struct costs_open *open = self->open;

	while (open && (open->span || open->begin_ns > call->start_ns))
		open = open->outer;
	if (open) {
		made.run = open->id;
		made.callback = open->callback;
	}
	if (costs->made)
		costs->made(costs->made_context, &made);
}

void costs_listen_calls(struct costs *costs,
			void (*made)(void *context, const struct costs_made *made), void *context)
{
	costs->made = made;
	costs->made_context = context;
}

void costs_finish(struct costs *costs)
{
	calls_finish(&costs->calls);
}

void costs_call_made(struct costs *costs, struct costs_self *self, const struct system_call *call)
{
	const bool waits_for_mutex = self->lock_ns && strcmp(call->name, CALLS_FUTEX) == 0;
	const int64_t ns = took(call);
	const struct costs_use use = { .count = { [COSTS_CALL] = 1 }, .call_ns = ns };

	tell(costs, self, call, waits_for_mutex);
	if (waits_for_mutex)
		return;
	/*
	 * This call is reported late, because its end is not in the trace: the run that made it is
	 * already over.
	 */
	if (self->open && self->open->begin_ns > call->start_ns) {
		costs_add(self->process ? &self->process->use : &self->unclaimed, &use);
		return;
	}
	for (struct costs_open *open = self->open; open; open = open->outer) {
		struct costs_call *its = call_named(costs, &open->calls, call->name);

		if (!its)
			return;
		its->count++;
		add_to(&its->ns, ns);
		its->longest_ns = its->longest_ns > ns ? its->longest_ns : ns;
	}
	costs_charge(costs, self, &use);
}

void costs_calls_ran(struct costs *costs, struct costs_calls *sum, const struct costs_calls *calls,
		     const struct model_thread *thread, int64_t start_ns)
{
	for (uint32_t i = 0; i < calls->count; i++) {
		const struct costs_call *more = &calls->call[i];
		struct costs_call *its = call_named(costs, sum, more->name);

		if (!its)
			return;
		if (!its->with++) {
			its->first_ns = start_ns;
			its->thread = thread;
		}
		its->count += more->count;
		add_to(&its->ns, more->ns);
		its->most = its->most > more->count ? its->most : more->count;
		its->longest_ns =
			its->longest_ns > more->longest_ns ? its->longest_ns : more->longest_ns;
	}
}
