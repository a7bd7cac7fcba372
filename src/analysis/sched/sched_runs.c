/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of callbacks and the scheduler's effect on them; see sched_runs.h.
 *
 * The idea: at the start and at the end of a run, read the totals of its thread from sched.h. The
 * difference is the usage of the run. Spells in between name the other threads that had the CPU.
 */
#include "analysis/sched/sched_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define BYS_MAX 32u	/* other threads of one run that are listed individually */

/* A run that has not ended. */
struct runs_open {
	uint64_t id;
	struct model_instance instance; /* as it began, without its message */
	const struct model_thread *thread;
	struct runs_open *outer;		/* the next outer run on this tid */
	bool was_on;			/* the thread was on a CPU at the start */
	struct sched_usage at;		/* totals at the start */
	struct sched_usage inner;	/* sum of the nested runs */
	struct sched_by by[BYS_MAX];
	unsigned bys;
};

/* A thread with events of its own, identified by the tid in them. */
struct runs_self {
	struct runs_open *open;		/* the innermost */
	/* Number of its events while it was on a CPU, and while it was not. */
	uint64_t on, off;
	struct sched_usage gone;	/* totals of exited threads with the same tid */
};

struct sched_runs {
	struct sched *sched;
	const struct sched_runs_listener *listener;
	void *context;
	struct map selves;		/* (tid, host) -> struct runs_self */
	unsigned first;			/* first row of the scheduler's events */
	struct sched_ios *ios;          /* NULL: nobody listens */
	unsigned first_io;              /* first row of its events */
	int32_t cpu;                    /* of the present event */
	bool failed;
};

void sched_usage_add(struct sched_usage *sum, const struct sched_usage *more)
{
	for (unsigned i = 0; i < SCHED_STATES; i++)
		sum->ns[i] += more->ns[i];
	sum->preemptions += more->preemptions;
	sum->migrations += more->migrations;
}

static struct runs_self *self_at(struct sched_runs *runs, int64_t tid, uint32_t host)
{
	struct runs_self *self = map_at(&runs->selves, (uint32_t)tid, host, sizeof(*self));

	runs->failed |= !self;
	return self;
}

static struct sched_usage difference(const struct sched_usage *all, const struct sched_usage *less)
{
	struct sched_usage rest = *all;

	for (unsigned i = 0; i < SCHED_STATES; i++)
		rest.ns[i] -= less->ns[i];
	rest.preemptions -= less->preemptions;
	rest.migrations -= less->migrations;
	return rest;
}

/* ---- threads that had the CPU ---- */

static void accuse(struct runs_open *open, const struct sched_spell *spell)
{
	struct sched_by *by;
	unsigned i;

	for (i = 0; i < open->bys; i++)
		if (open->by[i].tid == spell->by_tid && strcmp(open->by[i].name, spell->by) == 0)
			break;
	by = &open->by[i];
	if (i == BYS_MAX - 1) {
		by->tid = -1;		/* the last entry sums up all further threads */
	} else if (i == open->bys) {
		open->bys++;
		by->tid = spell->by_tid;
		memcpy(by->name, spell->by, strnlen(spell->by, SCHED_COMM_SIZE - 1));
	}
	by->ns += spell->to_ns - spell->from_ns;
	by->count++;
}

static void report_io(struct sched_runs *runs, const struct sched_spell *spell)
{
	const struct runs_self *self = map_get(&runs->selves, (uint32_t)spell->tid, spell->host);
	struct sched_io wait;

	if (!self || !self->open || !sched_ios_wait(runs->ios, spell, runs->cpu, &wait))
		return;
	for (const struct runs_open *open = self->open; open; open = open->outer)
		if (open->was_on)
			runs->listener->io(runs->context, &open->instance, &wait);
}

static void on_spell(void *context, const struct sched_spell *spell)
{
	struct sched_runs *runs = context;
	const struct runs_self *self;

	if (spell->state == SCHED_PREEMPTED || spell->state == SCHED_WAITING) {
		self = map_get(&runs->selves, (uint32_t)spell->tid, spell->host);
		for (struct runs_open *open = self ? self->open : NULL; open; open = open->outer)
			accuse(open, spell);
	}
	if (spell->state == SCHED_BLOCKED && runs->ios)
		report_io(runs, spell);
	if (runs->listener->spell)
		runs->listener->spell(runs->context, spell);
}

static void on_gone(void *context, uint32_t host, int32_t tid, const struct sched_usage *usage)
{
	struct sched_runs *runs = context;
	struct runs_self *self = map_get(&runs->selves, (uint32_t)tid, host);

	if (self)
		sched_usage_add(&self->gone, usage);
}

/* ---- runs ---- */

static void on_started(void *context, const struct model_instance *instance)
{
	struct sched_runs *runs = context;
	int64_t tid = instance->thread->tid;
	struct runs_self *self;
	struct runs_open *open;
	uint32_t host;

	if (!sched_host(runs->sched, instance->thread->process->hostname, &host))
		return;
	self = self_at(runs, tid, host);
	open = self ? calloc(1, sizeof(*open)) : NULL;
	if (!open) {
		runs->failed = true;
		return;
	}
	open->id = instance->id;
	open->instance = *instance;
	open->instance.message = NULL;
	open->thread = instance->thread;
	open->was_on = sched_is_on(runs->sched, host, (int32_t)tid) &&
		       sched_usage(runs->sched, host, (int32_t)tid, instance->start_ns, &open->at);
	open->outer = self->open;
	self->open = open;
	/* If two threads have the same tid, the kernel's thread can only be one of them. */
	for (struct runs_open *other = open->outer; other; other = other->outer)
		if (other->thread != open->thread)
			open->was_on = other->was_on = false;
}

/* Removes @instance and open runs nested in it. Return: the run, to be freed, or NULL. */
static struct runs_open *take_open(struct runs_self *self, const struct model_instance *instance)
{
	struct runs_open **at = &self->open, *open, *inner;

	for (open = self->open; open && open->id != instance->id; open = open->outer)
		;
	if (!open)
		return NULL;
	while ((inner = *at) != open) {
		if (inner->thread != open->thread) {
			at = &inner->outer;
			continue;
		}
		*at = inner->outer;
		free(inner);
	}
	*at = open->outer;
	return open;
}

static void finish(struct sched_runs *runs, const struct model_instance *instance, uint32_t host,
		   struct runs_open *open)
{
	struct sched_run run = { .instance = instance };
	int32_t tid = (int32_t)instance->thread->tid;
	struct sched_usage now;

	run.is_known = open->was_on && sched_is_on(runs->sched, host, tid) &&
		       sched_usage(runs->sched, host, tid,
				   instance->start_ns + instance->duration_ns, &now);
	if (run.is_known) {
		run.usage = difference(&now, &open->at);
		run.own = difference(&run.usage, &open->inner);
		run.by = open->by;
		run.bys = open->bys + (open->by[BYS_MAX - 1].count != 0);
		if (open->outer && open->outer->thread == open->thread)
			sched_usage_add(&open->outer->inner, &run.usage);
	}
	if (runs->listener->run)
		runs->listener->run(runs->context, &run);
}

static void on_end(struct sched_runs *runs, const struct model_instance *instance)
{
	struct runs_self *self = NULL;
	struct runs_open *open;
	uint32_t host;

	if (sched_host(runs->sched, instance->thread->process->hostname, &host))
		self = map_get(&runs->selves, (uint32_t)instance->thread->tid, host);
	open = self ? take_open(self, instance) : NULL;
	if (!open)
		return;
	if (instance->duration_ns >= 0)
		finish(runs, instance, host, open);
	free(open);
}

static void on_instance(void *context, const struct model_instance *instance)
{
	on_end(context, instance);
}

static const struct model_listener model_listener = {
	.started = on_started, .instance = on_instance, .unfinished = on_instance,
};

/* ---- life cycle and events ---- */

static int listen_all(struct sched_runs *runs, struct model *model,
		      const struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	static const struct sched_listener sched_listener = { .spell = on_spell, .gone = on_gone };
	const struct kymo_ctf_bind *bind;
	unsigned count;

	if (sched_create(&runs->sched, reader, &sched_listener, runs) ||
	    (runs->listener->io && sched_ios_create(&runs->ios, reader)))
		return err_no_memory(err);
	bind = sched_bind(&count);
	if (model_listen(model, &model_listener, runs, err) ||
	    model_bind_also(model, bind, count, &runs->first, err))
		return -1;
	if (!runs->ios)
		return 0;
	bind = sched_ios_bind(&count);
	return model_bind_also(model, bind, count, &runs->first_io, err);
}

int sched_runs_create(struct sched_runs **out, struct model *model,
		      const struct kymo_ctf_reader *reader,
		      const struct sched_runs_listener *listener, void *context,
		      struct kymo_err *err)
{
	struct sched_runs *runs = calloc(1, sizeof(*runs));

	*out = runs;
	if (!runs)
		return err_no_memory(err);
	runs->listener = listener;
	runs->context = context;
	if (!listen_all(runs, model, reader, err))
		return 0;
	sched_runs_destroy(runs);
	*out = NULL;
	return -1;
}

void sched_runs_window(struct sched_runs *runs, int64_t begin_ns, int64_t end_ns)
{
	sched_window(runs->sched, begin_ns, end_ns);
}

void sched_runs_destroy(struct sched_runs *runs)
{
	const struct map_slot *slot;
	struct runs_open *open;

	if (!runs)
		return;
	for (size_t at = 0; (slot = map_next(&runs->selves, &at));) {
		struct runs_self *self = slot->value;

		while ((open = self->open)) {
			self->open = open->outer;
			free(open);
		}
		free(self);
	}
	map_free(&runs->selves);
	sched_destroy(runs->sched);
	sched_ios_destroy(runs->ios);
	free(runs);
}

int sched_runs_event(struct sched_runs *runs, const struct kymo_ctf_event *event)
{
	uint32_t host = sched_trace_host(runs->sched, event->trace);
	struct runs_self *self;

	runs->cpu = event->cpu;
	if ((runs->ios && sched_ios_event(runs->ios, event, runs->first_io, host)) ||
	    sched_event(runs->sched, event, runs->first) || runs->failed)
		return -1;
	/* Facts that are recorded late have another time than the time of recording. */
	if (event->bound < 0 || event->bound >= (int)runs->first || event->init_ns || !event->vtid)
		return 0;
	self = self_at(runs, event->vtid, host);
	if (!self)
		return -1;
	switch (sched_state_of(runs->sched, host, event->vtid)) {
	case SCHED_UNKNOWN:
		break;
	case SCHED_ON_CPU:
		self->on++;
		break;
	default:
		self->off++;
	}
	return 0;
}

bool sched_runs_thread(const struct sched_runs *runs, const struct model_thread *thread,
		       struct sched_usage *usage)
{
	const struct runs_self *self;
	struct sched_usage now = { 0 };
	uint32_t host;

	if (!sched_host(runs->sched, thread->process->hostname, &host))
		return false;
	self = map_get(&runs->selves, (uint32_t)thread->tid, host);
	if (!self || self->on <= 9 * self->off)
		return false;
	(void)sched_usage_inside(runs->sched, host, (int32_t)thread->tid, &now);
	*usage = self->gone;
	sched_usage_add(usage, &now);
	return true;
}
