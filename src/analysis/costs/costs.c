/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The costs of callbacks and spans; see costs.h.
 *
 * The idea: each thread has a stack of the runs that are open on it. An event of a cost
 * (allocation, page fault, mutex, system call) is added to every run on the stack of its thread.
 * When a run ends, its costs are added to the sums of its callback or span. The events are here,
 * the stacks in costs_runs.c, the sums in costs_sums.c.
 */
#include "analysis/costs/costs_internal.h"

#include <stdlib.h>
#include <string.h>

#define BIND_MAX 32u
#define LIBC_ROWS 7u /* rows of memory_bind() for libc; the other rows are the kernel's */

#define OWNER_FIELD 1u		/* of LOCK_REQ */

enum { LOCK_REQ, LOCK_ACQ, LOCK_ROWS };
static const struct kymo_ctf_bind lock_rows[LOCK_ROWS] = {
	[LOCK_REQ] = { "lttng_ust_pthread:pthread_mutex_lock_req", { "mutex", "owner" } },
	[LOCK_ACQ] = { "lttng_ust_pthread:pthread_mutex_lock_acq", { "mutex" } },
};

static void on_fault(void *context, const struct fault *fault)
{
	const struct costs_use use = {
		.count = { [COSTS_FAULT] = 1, [COSTS_MAJOR] = fault->is_major }
	};
	struct costs *costs = context;
	struct costs_self *self =
		fault->tid > 0 ? costs_self_at(costs, fault->tid, fault->host) : NULL;

	if (self)
		costs_charge(costs, self, &use);
}

static void on_call(void *context, const struct system_call *call)
{
	struct costs *costs = context;
	struct costs_self *self =
		call->tid > 0 ? costs_self_at(costs, call->tid, call->host) : NULL;

	if (self)
		costs_call_made(costs, self, call);
}

/* Charges the difference between the thread's account before and after this event. */
static int on_memory(struct costs *costs, struct costs_self *self,
		     const struct kymo_ctf_event *event)
{
	struct kymo_ctf_event own = *event;
	const struct memory_thread *thread;
	const struct memory_use *before = &self->before, *now;
	int64_t growth;

	own.bound = event->bound - (int)costs->first;
	costs->present = self;
	if (memory_event(&costs->memory, &own))
		return -1;
	thread = os_thread_find(&costs->memory.threads, event->trace, event->vtid);
	if (!thread)
		return 0;
	now = &thread->user;
	if (__builtin_sub_overflow(now->now, before->now, &growth))
		growth = 0;		/* only with a damaged trace */
	costs_charge(costs, self, &(struct costs_use){
		.count = { [COSTS_ALLOCATION] = now->allocations - before->allocations,
			   [COSTS_FREE] = now->frees - before->frees + now->unknown_frees - before->unknown_frees },
		.bytes = now->allocated - before->allocated,
		.growth = growth,
	});
	self->before = *now;
	return 0;
}

/*
 * Finds the thread that holds the mutex, and what that thread is running. A thread of @host is just
 * beginning to wait for the mutex.
 */
static void find_holder(struct costs *costs, const struct kymo_ctf_event *event, uint32_t host,
			struct costs_holder *holder)
{
	const struct kymo_ctf_value *owner = &event->value[OWNER_FIELD];
	const struct model_thread *thread;
	const struct costs_self *its;

	*holder = (struct costs_holder){ 0 };
	if (!owner->present || owner->i <= 0 || owner->i > INT32_MAX)
		return;
	holder->tid = (int32_t)owner->i;
	its = map_get(&costs->selves, (uint32_t)holder->tid, host);
	if (!its)
		return;
	thread = its->open ? its->open->thread : NULL;
	costs_keep_name(holder->name, thread ? thread->name : its->name);
	if (its->open) {
		holder->span = its->open->span;
		holder->callback = holder->span ? 0 : its->open->callback + 1;
	}
}

static void on_lock(struct costs *costs, struct costs_self *self,
		    const struct kymo_ctf_event *event, uint32_t host, unsigned row)
{
	struct costs_use use = { 0 };

	if (row == LOCK_REQ) {
		self->lock_ns = event->ns;
		use.count[COSTS_LOCK] = 1;
		find_holder(costs, event, host, &self->holder);
	} else if (self->lock_ns) {
		/* In a damaged trace the time may be anything. */
		if (__builtin_sub_overflow(event->ns, self->lock_ns, &use.lock_ns) ||
		    use.lock_ns < 0)
			use.lock_ns = 0;
		use.holder = self->holder;
		use.holder.ns = use.lock_ns;
		self->lock_ns = 0;
	}
	costs_charge(costs, self, &use);
}

int costs_event(struct costs *costs, const struct kymo_ctf_event *event)
{
	unsigned row = event->bound < 0 ? 0 : (unsigned)event->bound;
	struct costs_self *self;
	uint32_t host;

	if (event->bound != KYMO_CTF_LOSS &&
	    (event->bound < 0 || row < costs->first || row >= costs->end))
		return costs->failed ? -1 : 0;
	host = costs_host(costs, kymo_ctf_trace(costs->reader, event->trace)->hostname);
	if (event->bound == KYMO_CTF_LOSS || row >= costs->call_first) {
		costs->saw_calls |= event->bound != KYMO_CTF_LOSS;
		if (calls_event(&costs->calls, event, costs->call_first, host, 0))
			return -1;
		return costs->failed ? -1 : 0;
	}
	costs->saw_faults |= row >= costs->fault_first;
	costs->saw_libc |= row < costs->fault_first;
	if (row >= costs->fault_first) {
		if (faults_event(&costs->faults, event, costs->fault_first, host, 0))
			return -1;
		return costs->failed ? -1 : 0;
	}
	if (!event->vtid)
		return 0;
	self = costs_self_at(costs, event->vtid, host);
	if (!self)
		return -1;
	costs_claim(costs, self, host, kymo_ctf_trace(costs->reader, event->trace)->hostname,
		    event->vpid, event->procname, event->vtid == event->vpid);
	if (event->procname && *event->procname)
		costs_keep_name(self->name, event->procname);
	if (row >= costs->lock_first)
		on_lock(costs, self, event, host, row - costs->lock_first);
	else if (on_memory(costs, self, event))
		return -1;
	return costs->failed ? -1 : 0;
}

static void costs_pass_rows(const void *analysis, int *first, int *end)
{
	const struct costs *costs = analysis;

	*first = (int)costs->first;
	*end = (int)costs->end;
}

static void costs_window(struct costs *costs, int64_t begin_ns, int64_t end_ns)
{
	costs->begin_ns = begin_ns;
	costs->end_ns = end_ns;
}

void costs_listen(struct costs *costs,
		  void (*run)(void *context, const struct model_instance *instance,
			      const struct costs_use *use),
		  void *context)
{
	costs->run = run;
	costs->run_context = context;
}

/* ---- life cycle ---- */

static int bind_all(struct costs *costs, struct model *model, struct kymo_err *err)
{
	struct kymo_ctf_bind bind[BIND_MAX];
	const struct kymo_ctf_bind *rows;
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
	costs->call_first = count;
	rows = calls_bind(&more);
	for (i = 0; i < more && count < BIND_MAX; i++)
		bind[count++] = rows[i];
	if (model_bind_also(model, bind, count, &costs->first, err))
		return -1;
	costs->end = costs->first + count;
	costs->lock_first += costs->first;
	costs->fault_first += costs->first;
	costs->call_first += costs->first;
	return 0;
}

void costs_destroy(struct costs *costs)
{
	if (!costs)
		return;
	costs_runs_free(costs);
	memory_free(&costs->memory);
	costs_leaks_free(costs);
	faults_free(&costs->faults);
	calls_free(&costs->calls);
	costs_sums_free(costs);
	free(costs);
}

int costs_create(struct costs **out, struct model *model, const struct kymo_ctf_reader *reader,
		 struct kymo_err *err)
{
	struct costs *costs = calloc(1, sizeof(*costs));

	if (!costs)
		return err_no_memory(err);
	costs->reader = reader;
	costs_window(costs, INT64_MIN, INT64_MAX);
	memory_init(&costs->memory, reader, INT64_MIN, INT64_MAX);
	faults_init(&costs->faults, on_fault, costs);
	calls_init(&costs->calls, on_call, costs);
	if (costs_runs_listen(costs, model, err) || bind_all(costs, model, err)) {
		costs_destroy(costs);
		return -1;
	}
	*out = costs;
	return 0;
}

PASS_EVENT(costs)
PASS_WINDOW(costs)
PASS_FINISH(costs)
PASS_DESTROY(costs)
const struct pass_ops costs_pass = {
	.turn = PASS_BEFORE_SPANS,
	.window = costs_pass_window,
	.rows = costs_pass_rows,
	.event = costs_pass_event,
	.finish = costs_pass_finish,
	.destroy = costs_pass_destroy,
};

/* ---- queries ---- */

bool costs_seen(const struct costs *costs, enum costs_kind kind)
{
	switch (kind) {
	case COSTS_FAULT:
	case COSTS_MAJOR:
		return costs->saw_faults;
	case COSTS_CALL:
		return costs->saw_calls;
	default:
		return costs->saw_libc;
	}
}

/*
 * Is one of @rows an event class of the trace? Kymo declares all tracepoints of programs, but the
 * kernel's only if they are recorded. LTTng declares only recorded events.
 */
static bool is_declared(const struct kymo_ctf_reader *reader, const struct kymo_ctf_bind *rows,
			unsigned count)
{
	for (unsigned row = 0; row < count; row++)
		if (reader_declares(reader, rows[row].event))
			return true;
	return false;
}

int costs_look(struct kymo_ctf_reader *reader, bool *libc, bool *faults, bool *calls,
	       struct kymo_err *err)
{
	unsigned count;
	const struct kymo_ctf_bind *rows = faults_bind(&count);
	struct kymo_ctf_event event;
	int more = 0;

	*faults = is_declared(reader, rows, count);
	*calls = calls_are_there(reader);
	*libc = false;
	rows = memory_bind(&count);
	if (!is_declared(reader, rows, LIBC_ROWS))
		return 0;
	if (kymo_ctf_bind(reader, rows, LIBC_ROWS, err))
		return -1;
	while (!*libc && (more = kymo_ctf_next(reader, &event, err)) > 0)
		*libc = event.bound >= 0;
	return more < 0 ? -1 : 0;
}
