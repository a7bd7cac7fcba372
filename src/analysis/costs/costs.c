/* SPDX-License-Identifier: Apache-2.0 */
/* What runs of callbacks cost; see costs.h. */
#include "analysis/costs/costs.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/system/faults.h"
#include "analysis/system/memory.h"
#include "base/map.h"

#define BIND_MAX 16u
#define LIBC_ROWS 6u		/* of memory_bind(): the rest is the kernel's */

enum { LOCK_REQ, LOCK_ACQ, LOCK_ROWS };
static const struct ctf_bind lock_rows[LOCK_ROWS] = {
	[LOCK_REQ] = { "lttng_ust_pthread:pthread_mutex_lock_req", { "mutex" } },
	[LOCK_ACQ] = { "lttng_ust_pthread:pthread_mutex_lock_acq", { "mutex" } },
};

/* A run that goes on. */
struct open {
	uint64_t id;
	const struct model_thread *thread;
	struct open *outer;
	struct costs_use use;
};

/* A thread by the number in its events. */
struct self {
	struct open *open;		/* the innermost */
	struct memory_use before;	/* as of its latest event */
	int64_t lock_ns;		/* since when it waits for a mutex; 0: it does not */
};

struct costs {
	const struct ctf_reader *reader;
	struct memory memory;
	struct faults faults;
	struct map selves;		/* (tid, host) -> struct self */
	struct costs_callback *callback;	/* by index */
	uint32_t callbacks;
	unsigned first, lock_first, fault_first, end;	/* rows */
	bool saw_libc, saw_faults;
	bool failed;
};

/* Traces of one host name are one host. */
static uint32_t host_named(const struct costs *costs, const char *hostname)
{
	uint32_t i;

	for (i = 0; i < ctf_trace_count(costs->reader); i++)
		if (strcmp(ctf_trace(costs->reader, i)->hostname, hostname) == 0)
			break;
	return i;
}

static struct self *self_at(struct costs *costs, int64_t tid, uint32_t host)
{
	struct self *self = map_get(&costs->selves, (uint32_t)tid, host);

	if (self)
		return self;
	self = calloc(1, sizeof(*self));
	if (!self || map_put(&costs->selves, (uint32_t)tid, host, self)) {
		free(self);
		costs->failed = true;
		return NULL;
	}
	return self;
}

/* ---- events ---- */

static void count(struct self *self, enum costs_kind kind, uint64_t more)
{
	for (struct open *open = self->open; open; open = open->outer)
		open->use.count[kind] += more;
}

static void on_fault(void *context, const struct fault *fault)
{
	struct costs *costs = context;
	struct self *self = map_get(&costs->selves, (uint32_t)fault->tid, fault->host);

	if (!self)
		return;
	count(self, COSTS_FAULT, 1);
	count(self, COSTS_MAJOR, fault->is_major);
}

/* What it did to the thread's account. */
static int on_memory(struct costs *costs, struct self *self, const struct ctf_event *event)
{
	struct ctf_event own = *event;
	const struct memory_thread *thread;
	struct memory_use *before = &self->before;
	const struct memory_use *now;

	own.bound = event->bound - (int)costs->first;
	if (memory_event(&costs->memory, &own))
		return -1;
	thread = os_thread_find(&costs->memory.threads, event->trace, event->vtid);
	if (!thread)
		return 0;
	now = &thread->user;
	count(self, COSTS_ALLOCATION, now->allocations - before->allocations);
	count(self, COSTS_FREE, now->frees - before->frees + now->unknown_frees - before->unknown_frees);
	for (struct open *open = self->open; open; open = open->outer) {
		open->use.bytes += now->allocated - before->allocated;
		open->use.growth += now->now - before->now;
		if (open->use.growth > open->use.peak)
			open->use.peak = open->use.growth;
	}
	*before = *now;
	return 0;
}

static void on_lock(struct self *self, const struct ctf_event *event, unsigned row)
{
	if (row == LOCK_REQ) {
		self->lock_ns = event->ns;
		count(self, COSTS_LOCK, 1);
		return;
	}
	for (struct open *open = self->open; open && self->lock_ns; open = open->outer)
		open->use.lock_ns += event->ns - self->lock_ns;
	self->lock_ns = 0;
}

int costs_event(struct costs *costs, const struct ctf_event *event)
{
	unsigned row = event->bound < 0 ? 0 : (unsigned)event->bound;
	struct self *self;
	uint32_t host;

	if (event->bound < 0 || row < costs->first || row >= costs->end)
		return costs->failed ? -1 : 0;
	costs->saw_faults |= row >= costs->fault_first;
	costs->saw_libc |= row < costs->fault_first;
	host = host_named(costs, ctf_trace(costs->reader, event->trace)->hostname);
	if (row >= costs->fault_first)
		return faults_event(&costs->faults, event, costs->fault_first, host, 0) || costs->failed ? -1 : 0;
	if (!event->vtid)
		return 0;
	self = self_at(costs, event->vtid, host);
	if (!self)
		return -1;
	if (row >= costs->lock_first)
		on_lock(self, event, row - costs->lock_first);
	else if (on_memory(costs, self, event))
		return -1;
	return costs->failed ? -1 : 0;
}

/* ---- runs ---- */

static struct self *self_of(struct costs *costs, const struct model_instance *instance)
{
	return self_at(costs, instance->thread->tid, host_named(costs, instance->thread->process->hostname));
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct self *self = self_of(context, instance);
	struct open *open = self ? calloc(1, sizeof(*open)) : NULL;

	if (!open) {
		((struct costs *)context)->failed = true;
		return;
	}
	open->id = instance->id;
	open->thread = instance->thread;
	open->outer = self->open;
	self->open = open;
}

static struct costs_callback *callback_at(struct costs *costs, uint32_t index)
{
	uint32_t size = index + 64;
	struct costs_callback *grown;

	if (index < costs->callbacks)
		return &costs->callback[index];
	grown = realloc(costs->callback, size * sizeof(*grown));
	if (!grown) {
		costs->failed = true;
		return NULL;
	}
	memset(grown + costs->callbacks, 0, (size - costs->callbacks) * sizeof(*grown));
	costs->callback = grown;
	costs->callbacks = size;
	return &costs->callback[index];
}

static void add_run(struct costs_callback *callback, const struct model_instance *instance, const struct costs_use *use)
{
	callback->runs++;
	for (unsigned i = 0; i < COSTS_KINDS; i++) {
		if (!use->count[i])
			continue;
		if (!callback->with[i]++) {
			callback->first_ns[i] = instance->start_ns;
			callback->thread[i] = instance->thread;
		}
		callback->sum.count[i] += use->count[i];
		if (use->count[i] > callback->most[i])
			callback->most[i] = use->count[i];
	}
	callback->sum.bytes += use->bytes;
	callback->sum.growth += use->growth;
	callback->sum.lock_ns += use->lock_ns;
	if (use->peak > callback->sum.peak)
		callback->sum.peak = use->peak;
}

/* What began inside of it and has no end is over, too. */
static void on_end(void *context, const struct model_instance *instance)
{
	struct costs *costs = context;
	struct self *self = self_of(costs, instance);
	struct costs_callback *callback;
	struct open *open;

	for (open = self ? self->open : NULL; open && open->id != instance->id; open = open->outer)
		;
	if (!open)
		return;
	callback = instance->duration_ns >= 0 ? callback_at(costs, instance->callback->index) : NULL;
	if (callback)
		add_run(callback, instance, &open->use);
	while (self->open != open) {
		struct open *inner = self->open;

		self->open = inner->outer;
		free(inner);
	}
	self->open = open->outer;
	free(open);
}

static const struct model_listener listener = { .started = on_started, .instance = on_end, .unfinished = on_end };

/* ---- life ---- */

static int bind_all(struct costs *costs, struct model *model)
{
	struct ctf_bind bind[BIND_MAX];
	const struct ctf_bind *rows;
	unsigned more, i, count = 0;

	rows = memory_bind(&more);
	for (i = 0; i < LIBC_ROWS; i++)
		bind[count++] = rows[i];
	costs->lock_first = count;
	for (i = 0; i < LOCK_ROWS; i++)
		bind[count++] = lock_rows[i];
	costs->fault_first = count;
	rows = faults_bind(&more);
	for (i = 0; i < more && count < BIND_MAX; i++)
		bind[count++] = rows[i];
	if (model_bind_also(model, bind, count, &costs->first))
		return -1;
	costs->end = costs->first + count;
	costs->lock_first += costs->first;
	costs->fault_first += costs->first;
	return 0;
}

int costs_create(struct costs **out, struct model *model, const struct ctf_reader *reader)
{
	struct costs *costs = calloc(1, sizeof(*costs));

	*out = costs;
	if (!costs)
		return -1;
	costs->reader = reader;
	memory_init(&costs->memory, reader, INT64_MIN, INT64_MAX);
	faults_init(&costs->faults, on_fault, costs);
	if (!model_listen(model, &listener, costs) && !bind_all(costs, model))
		return 0;
	costs_destroy(costs);
	*out = NULL;
	return -1;
}

void costs_destroy(struct costs *costs)
{
	const struct map_slot *slot;
	struct open *open;

	if (!costs)
		return;
	for (size_t at = 0; (slot = map_next(&costs->selves, &at));) {
		struct self *self = slot->value;

		while ((open = self->open)) {
			self->open = open->outer;
			free(open);
		}
		free(self);
	}
	map_free(&costs->selves);
	memory_free(&costs->memory);
	faults_free(&costs->faults);
	free(costs->callback);
	free(costs);
}

/* ---- asking ---- */

const struct costs_callback *costs_callback(const struct costs *costs, uint32_t index)
{
	return index < costs->callbacks && costs->callback[index].runs ? &costs->callback[index] : NULL;
}

bool costs_seen(const struct costs *costs, enum costs_kind kind)
{
	return kind == COSTS_FAULT || kind == COSTS_MAJOR ? costs->saw_faults : costs->saw_libc;
}
