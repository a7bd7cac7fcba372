/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads, and on each the runs of callbacks and spans that are open, the innermost first. When
 * a run ends, costs_sums.c gets it.
 */
#include "analysis/costs/costs_internal.h"

#include <stdlib.h>
#include <string.h>

uint32_t costs_host(const struct costs *costs, const char *hostname)
{
	uint32_t i;

	for (i = 0; i < kymo_ctf_trace_count(costs->reader); i++)
		if (strcmp(kymo_ctf_trace(costs->reader, i)->hostname, hostname) == 0)
			break;
	return i;
}

struct costs_self *costs_self_at(struct costs *costs, int64_t tid, uint32_t host)
{
	struct costs_self *self = map_at(&costs->selves, (uint32_t)tid, host, sizeof(*self));

	costs->failed |= !self;
	return self;
}

static struct costs_self *self_of(struct costs *costs, const struct model_thread *thread)
{
	const struct model_process *process = thread->process;
	struct known *known = array_at(&costs->known, thread->index, sizeof(*known));
	struct costs_self *self = known ? known->self : NULL;
	uint32_t host;

	if (self && known->name == process->name && self->process &&
	    self->process->pid == process->pid)
		return self;
	host = costs_host(costs, process->hostname);
	self = costs_self_at(costs, thread->tid, host);
	if (!self || !known) {
		costs->failed = true;
		return self;
	}
	costs_claim(costs, self, host, process->hostname, process->pid, process->name,
		    thread->tid == process->pid);
	*known = (struct known){ self, process->name };
	return self;
}

/* A run begins on @thread. Return: NULL without memory. */
static struct costs_open *begin(struct costs *costs, const struct model_thread *thread, int64_t ns)
{
	struct costs_self *self = self_of(costs, thread);
	struct costs_open *open = costs->spare;

	if (self && open)
		costs->spare = open->outer;
	else
		open = self ? calloc(1, sizeof(*open)) : NULL;
	if (!open) {
		costs->failed = true;
		return NULL;
	}
	open->begin_ns = ns;
	open->thread = thread;
	open->outer = self->open;
	return self->open = open;
}

/* Most runs cost nothing: those that did are cleared when they are over. */
static void open_free(struct costs *costs, struct costs_open *open)
{
	if (open->is_charged || open->span) {
		free(open->calls.call);
		memset(open, 0, sizeof(*open));
	}
	open->outer = costs->spare;
	costs->spare = open;
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct costs_open *open = begin(context, instance->thread, instance->start_ns);

	if (!open)
		return;
	open->id = instance->id;
	open->callback = instance->callback->index;
}

/*
 * Ends a run. Nested callbacks without an end are over, too; nested spans stay open until their own
 * end.
 */
static void on_end(void *context, const struct model_instance *instance)
{
	struct costs *costs = context;
	struct costs_self *self = self_of(costs, instance->thread);
	struct costs_open *its, **at, *open;

	for (its = self ? self->open : NULL; its && (its->span || its->id != instance->id);
	     its = its->outer)
		;
	if (!its)
		return;
	if (instance->duration_ns >= 0)
		costs_callback_ran(costs, instance, its);
	for (at = &self->open; (open = *at) != its;) {
		if (open->span) {
			at = &open->outer;
		} else {
			*at = open->outer;
			open_free(costs, open);
		}
	}
	*at = its->outer;
	open_free(costs, its);
}

static const struct model_listener run_listener = { .started = on_started,
						.instance = on_end,
						.unfinished = on_end };

static void on_span_begin(void *context, const struct spans_event *event)
{
	struct costs_open *open = event->track ? NULL : begin(context, event->thread, event->ns);

	if (open)
		open->span = event->name;
}

static void on_span_end(void *context, const struct spans_event *event)
{
	struct costs *costs = context;
	struct costs_self *self = event->track ? NULL : self_of(costs, event->thread);
	struct costs_open **at, *its;

	/* Compare the thread as well: another thread may have the same number. */
	for (at = self ? &self->open : NULL; at && (its = *at); at = &its->outer) {
		if (its->span != event->name || its->begin_ns != event->begin_ns ||
		    its->thread != event->thread)
			continue;
		if (!event->unfinished)
			costs_span_ran(costs, event, its);
		*at = its->outer;
		open_free(costs, its);
		return;
	}
}

static const struct spans_listener span_listener = { .begin = on_span_begin, .end = on_span_end };

int costs_spans(struct costs *costs, struct spans *spans, struct kymo_err *err)
{
	costs->told = spans;
	return spans_listen(spans, &span_listener, costs, err);
}

const struct spans_realtime *costs_realtime(const struct costs *costs, unsigned index)
{
	return costs->told ? spans_realtime(costs->told, index) : NULL;
}

int costs_runs_listen(struct costs *costs, struct model *model, struct kymo_err *err)
{
	return model_listen(model, &run_listener, costs, err);
}

void costs_runs_free(struct costs *costs)
{
	const struct map_slot *slot;
	struct costs_open *open;

	for (size_t at = 0; (slot = map_next(&costs->selves, &at));) {
		struct costs_self *self = slot->value;

		while ((open = self->open)) {
			self->open = open->outer;
			open_free(costs, open);
		}
		free(self);
	}
	while ((open = costs->spare)) {
		costs->spare = open->outer;
		free(open);
	}
	map_free(&costs->selves);
	array_free(&costs->known);
}
