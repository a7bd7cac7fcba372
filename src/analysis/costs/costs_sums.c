/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of costs by callback, span and process; see costs.h. */
#include "analysis/costs/costs_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Sizes and times come from the trace: a damaged trace must not cause an overflow. */
static void add_to(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = more < 0 ? INT64_MIN : INT64_MAX;
}

void costs_add(struct costs_use *use, const struct costs_use *more)
{
	for (unsigned i = 0; i < COSTS_KINDS; i++)
		use->count[i] += more->count[i];
	use->bytes += more->bytes;
	add_to(&use->growth, more->growth);
	add_to(&use->lock_ns, more->lock_ns);
	add_to(&use->call_ns, more->call_ns);
	if (more->holder.ns > use->holder.ns)
		use->holder = more->holder;
	if (use->growth > use->peak)
		use->peak = use->growth;
}

static bool counts(const struct costs *costs, int64_t start_ns)
{
	return start_ns >= costs->begin_ns && start_ns <= costs->end_ns;
}

/* ---- processes ---- */

static struct costs_process *process_new(struct costs *costs, uint32_t host, const char *hostname,
					 int32_t pid)
{
	struct costs_process *process;

	if (!ARRAY_ROOM(costs->process, costs->processes, costs->process_room))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process || map_put(&costs->process_of, (uint32_t)pid, host, process)) {
		free(process);
		return NULL;
	}
	process->hostname = hostname;
	process->pid = pid;
	costs->process[costs->processes++] = process;
	return process;
}

void costs_keep_name(char to[COSTS_NAME_MAX], const char *name)
{
	size_t size = strnlen(name, COSTS_NAME_MAX - 1);

	memcpy(to, name, size);
	to[size] = '\0';
}

void costs_claim(struct costs *costs, struct costs_self *self, uint32_t host, const char *hostname,
		 int32_t pid, const char *name, bool is_main)
{
	struct costs_process *process = self->process;

	if (!process || process->pid != pid) {
		process = map_get(&costs->process_of, (uint32_t)pid, host);
		if (!process)
			process = process_new(costs, host, hostname, pid);
		if (!process) {
			costs->failed = true;
			return;
		}
		/* Add the costs from before the process of this thread was known. */
		costs_add(&process->use, &self->unclaimed);
		memset(&self->unclaimed, 0, sizeof(self->unclaimed));
		self->process = process;
	}
	if ((is_main || !*process->name) && name && *name)
		costs_keep_name(process->name, name);
}

/* ---- callbacks and spans ---- */

static struct costs_sum *callback_at(struct costs *costs, uint32_t index)
{
	struct costs_sum *callback = ARRAY_AT(costs->callback, costs->callbacks, index);

	costs->failed |= !callback;
	return callback;
}

static struct costs_sum *span_at(struct costs *costs, const struct spans_event *event)
{
	const struct model_process *process = event->thread->process;
	uintptr_t known = (uintptr_t)map_get(&costs->span_of, event->name->index, process->index);

	if (known)
		return &costs->span[known - 1].sum;
	if (!ARRAY_ROOM(costs->span, costs->spans, costs->span_room)) {
		costs->failed = true;
		return NULL;
	}
	if (map_put(&costs->span_of, event->name->index, process->index,
		    (void *)(uintptr_t)(costs->spans + 1))) {
		costs->failed = true;
		return NULL;
	}
	costs->span[costs->spans] = (struct costs_span){ .name = event->name, .process = process };
	return &costs->span[costs->spans++].sum;
}

void costs_charge(struct costs *costs, struct costs_self *self, const struct costs_use *use)
{
	const struct costs_open *innermost = NULL;
	struct costs_sum *callback;

	for (struct costs_open *open = self->open; open; open = open->outer) {
		costs_add(&open->use, use);
		open->is_charged = true;
		if (!innermost && !open->span)
			innermost = open;
	}
	callback = innermost && counts(costs, innermost->begin_ns)
			   ? callback_at(costs, innermost->callback)
			   : NULL;
	if (callback)
		costs_add(&callback->own, use);
	costs_add(self->process ? &self->process->use : &self->unclaimed, use);
}

static void add_run(struct costs *costs, struct costs_sum *sum, const struct model_thread *thread,
		    const struct costs_open *open)
{
	const struct costs_use *use = &open->use;
	int64_t peak = sum->sum.peak > use->peak ? sum->sum.peak : use->peak;

	sum->runs++;
	if (!open->is_charged)
		return;
	for (unsigned i = 0; i < COSTS_KINDS; i++) {
		if (!use->count[i])
			continue;
		if (!sum->with[i]++) {
			sum->first_ns[i] = open->begin_ns;
			sum->thread[i] = thread;
		}
		if (use->count[i] > sum->most[i])
			sum->most[i] = use->count[i];
	}
	costs_add(&sum->sum, use);
	sum->sum.peak = peak;
	costs_calls_ran(costs, &sum->calls, &open->calls, thread, open->begin_ns);
}

void costs_callback_ran(struct costs *costs, const struct model_instance *instance,
			const struct costs_open *open)
{
	struct costs_sum *callback;

	callback = counts(costs, instance->start_ns) ? callback_at(costs, instance->callback->index)
						     : NULL;
	if (callback)
		add_run(costs, callback, instance->thread, open);
	if (costs->run)
		costs->run(costs->run_context, instance, &open->use);
}

void costs_span_ran(struct costs *costs, const struct spans_event *event,
		    const struct costs_open *open)
{
	struct costs_sum *span = counts(costs, event->begin_ns) ? span_at(costs, event) : NULL;

	if (span)
		add_run(costs, span, event->thread, open);
}

void costs_sums_free(struct costs *costs)
{
	for (uint32_t i = 0; i < costs->processes; i++)
		free(costs->process[i]);
	for (uint32_t i = 0; i < costs->callbacks; i++)
		free(costs->callback[i].calls.call);
	for (uint32_t i = 0; i < costs->spans; i++)
		free(costs->span[i].sum.calls.call);
	free(costs->process);
	free(costs->callback);
	free(costs->span);
	map_free(&costs->span_of);
	map_free(&costs->process_of);
}

/* ---- queries ---- */

const struct costs_sum *costs_callback(const struct costs *costs, uint32_t index)
{
	return index < costs->callbacks && costs->callback[index].runs ? &costs->callback[index]
								       : NULL;
}

const struct costs_use *costs_own(const struct costs *costs, uint32_t index)
{
	return index < costs->callbacks ? &costs->callback[index].own : NULL;
}

const struct costs_span *costs_span(const struct costs *costs, uint32_t index)
{
	return index < costs->spans ? &costs->span[index] : NULL;
}

const struct costs_process *costs_process(const struct costs *costs, uint32_t index)
{
	return index < costs->processes ? costs->process[index] : NULL;
}
