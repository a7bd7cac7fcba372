/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call trees with their times; see system_profile.h.
 *
 * The idea: each thread has a stack of open calls. An entry pushes a call and finds or creates the
 * child of the function above it in the call tree. An exit pops the call and adds its duration to
 * that node of the tree. The run of a callback of ROS 2 is a call, too: so the tree has what each
 * function costs within each callback.
 */
#include "analysis/system/system_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX (PROFILE_DEPTH_MAX - 8u)

enum {
	FAST_ENTRY,
	FAST_EXIT,
	ENTRY,
	EXIT,
	CALLBACK_START,
	CALLBACK_END,
	SWITCH,
	SAMPLE,
	OFF_CPU,
	MODULES,
};

static const struct kymo_ctf_bind wanted[MODULES] = {
	[FAST_ENTRY] = { "lttng_ust_cyg_profile_fast:func_entry", { "addr" } },
	[FAST_EXIT] = { "lttng_ust_cyg_profile_fast:func_exit", { NULL } },
	[ENTRY] = { "lttng_ust_cyg_profile:func_entry", { "addr" } },
	[EXIT] = { "lttng_ust_cyg_profile:func_exit", { "addr" } },
	[CALLBACK_START] = { "ros2:callback_start", { "callback" } },
	[CALLBACK_END] = { "ros2:callback_end", { "callback" } },
	[SAMPLE] = { "kymo_stacks:sample", { "ns", "kernel", "frames" } },
	[OFF_CPU] = { "kymo_stacks:off_cpu", { "ns", "kernel", "frames" } },
	[SWITCH] = { "sched_switch", { "prev_tid", "next_tid", "prev_comm", "next_comm" } },
};

const struct kymo_ctf_bind *profile_bind(struct profile *profile, unsigned *count)
{
	memcpy(profile->bind, wanted, sizeof(wanted));
	memcpy(profile->bind + MODULES, modules_bind, MODULES_BINDS * sizeof(*modules_bind));
	*count = PROFILE_BINDS;
	return profile->bind;
}

void profile_init(struct profile *profile, const struct kymo_ctf_reader *reader, int64_t begin_ns,
		  int64_t end_ns)
{
	*profile = (struct profile){ .begin_ns = begin_ns, .end_ns = end_ns };
	os_threads_init(&profile->threads, sizeof(struct profile_thread), reader);
}

void profile_free(struct profile *profile)
{
	for (uint32_t i = 0; i < profile->threads.count; i++)
		free(((struct profile_thread *)profile->threads.record[i])->frame);
	os_threads_free(&profile->threads);
	modules_free(&profile->modules);
	map_free(&profile->calls);
	pool_free(&profile->pool);
}

/* ---- time on a CPU ---- */

static int64_t cpu_now(const struct profile_thread *thread, int64_t ns)
{
	return thread->cpu_ns + (thread->running_ns ? ns - thread->running_ns : 0);
}

/* A thread that records an event is on a CPU; its switch may have been lost. */
static void runs(struct profile_thread *thread, int64_t ns)
{
	if (!thread->running_ns)
		thread->running_ns = ns;
}

static int on_switch(struct profile *profile, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = event->value;
	struct profile_thread *thread;

	profile->switches++;
	/* Most threads of a machine do not belong to a profiled program. */
	thread = os_thread_find(&profile->threads, event->trace, (int32_t)value[0].i);
	if (thread && thread->running_ns) {
		thread->cpu_ns = cpu_now(thread, event->ns);
		thread->running_ns = 0;
	}
	thread = os_thread_find(&profile->threads, event->trace, (int32_t)value[1].i);
	if (thread)
		runs(thread, event->ns);
	return 0;
}

/* ---- calls ---- */

static struct profile_call *call_of(struct profile *profile, struct profile_thread *thread,
				    struct profile_call *parent, uint64_t address, bool is_callback)
{
	struct profile_call *call = map_get(&profile->calls, address, parent->index);

	if (call)
		return call;
	if (profile->call_count == PROFILE_PATHS_MAX) {
		profile->too_many++;
		return NULL;
	}
	call = pool_new(&profile->pool, sizeof(*call));
	if (!call || map_put(&profile->calls, address, parent->index, call)) {
		profile->threads.failed = true;
		return NULL;
	}
	call->index = ++profile->call_count;
	call->address = address;
	call->is_callback = is_callback;
	call->parent = parent;
	call->depth = parent->depth + 1;
	call->sibling = parent->child;
	parent->child = call;
	thread->calls++;
	return call;
}

static int thread_begin(struct profile *profile, struct profile_thread *thread)
{
	if (thread->root)
		return 0;
	thread->root = pool_new(&profile->pool, sizeof(*thread->root));
	thread->frame = calloc(PROFILE_DEPTH_MAX, sizeof(*thread->frame));
	if (!thread->root || !thread->frame)
		return -ENOMEM;
	thread->root->index = ++profile->call_count;
	return 0;
}

/* Open calls from @depth on have no end in the trace. */
static void abandon(struct profile_thread *thread, unsigned depth)
{
	while (thread->depth > depth)
		if (--thread->depth < PROFILE_DEPTH_MAX && thread->frame[thread->depth].call)
			thread->frame[thread->depth].call->unfinished++;
}

static void enter(struct profile *profile, struct profile_thread *thread, uint64_t address,
		  bool is_callback, int64_t ns)
{
	struct profile_call *parent = thread->root;
	struct profile_frame *frame;

	if (thread->depth >= PROFILE_DEPTH_MAX) {
		thread->depth++;
		return;
	}
	/*
	 * Calls outside the window are not kept; so a call that begins inside the window may become
	 * an outermost call.
	 */
	for (unsigned at = thread->depth; at && parent == thread->root; at--)
		if (thread->frame[at - 1].call)
			parent = thread->frame[at - 1].call;
	frame = &thread->frame[thread->depth++];
	*frame = (struct profile_frame){ .address = address, .start_ns = ns,
					 .cpu_ns = cpu_now(thread, ns) };
	if (ns >= profile->begin_ns && ns <= profile->end_ns)
		frame->call = call_of(profile, thread, parent, address, is_callback);
}

static void leave(struct profile *profile, struct profile_thread *thread, int64_t ns)
{
	struct profile_frame *frame;
	struct profile_call *call;
	int64_t total;

	if (!thread->depth) {
		profile->exits_without_entry++;
		return;
	}
	if (--thread->depth >= PROFILE_DEPTH_MAX)
		return;
	frame = &thread->frame[thread->depth];
	call = frame->call;
	total = ns - frame->start_ns;
	if (thread->depth)
		thread->frame[thread->depth - 1].inside_ns += total;
	if (!call)
		return;
	call->calls++;
	if (total > call->most_ns)
		call->most_ns = total;
	if (profile->sampled) {
		call->runs_ns += total;
		return;
	}
	call->total_ns += total;
	call->own_ns += total - frame->inside_ns;
	call->cpu_ns += cpu_now(thread, ns) - frame->cpu_ns;
}

/* Ends the innermost open call of @address; calls nested inside it have lost their ends. */
static void leave_named(struct profile *profile, struct profile_thread *thread, uint64_t address,
			int64_t ns)
{
	unsigned at = thread->depth < PROFILE_DEPTH_MAX ? thread->depth : PROFILE_DEPTH_MAX;

	if (thread->depth > PROFILE_DEPTH_MAX) {
		thread->depth--;
		return;
	}
	while (at && thread->frame[at - 1].address != address)
		at--;
	if (!at) {
		profile->exits_without_entry++;
		return;
	}
	abandon(thread, at);
	leave(profile, thread, ns);
}

/* ---- samples ---- */

/* The run of a callback in which the thread is, or the root. NULL: a run that is outside of the
 * window. */
static struct profile_call *present_run(const struct profile_thread *thread)
{
	for (unsigned at = thread->depth; at; at--)
		if (at <= PROFILE_DEPTH_MAX)
			return thread->frame[at - 1].call;
	return thread->root;
}

static void add_sample(struct profile_call *call, int64_t ns, bool is_off, bool is_leaf)
{
	if (is_off) {
		call->off_ns += ns;
		call->own_off_ns += is_leaf ? ns : 0;
		return;
	}
	call->samples++;
	call->total_ns += ns;
	call->cpu_ns += ns;
	call->own_ns += is_leaf ? ns : 0;
}

static void on_sample(struct profile *profile, struct profile_thread *thread,
		      const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *frames = &event->value[2];
	const int64_t ns = event->value[0].i;
	struct profile_call *call = present_run(thread);
	uint64_t start[FRAMES_MAX];
	uint32_t count = frames->size < FRAMES_MAX ? frames->size : FRAMES_MAX;

	if (!call || !frames->present || !frames->bytes || !event->value[0].present || ns < 0 ||
	    event->ns < profile->begin_ns || event->ns > profile->end_ns)
		return;
	count = modules_stack(&profile->modules, event, event->value[1].u, frames, count, start);
	if (call->is_callback)
		add_sample(call, ns, event->bound == OFF_CPU, !count);
	for (uint32_t i = count; i-- > 0;) {
		call = call_of(profile, thread, call, start[i], false);
		if (!call)
			return;
		add_sample(call, ns, event->bound == OFF_CPU, !i);
	}
}

static bool is_of_source(const struct profile *profile, int bound)
{
	if (bound == SAMPLE || bound == OFF_CPU)
		return profile->sampled;
	return !profile->sampled || bound == CALLBACK_START || bound == CALLBACK_END;
}

static int on_function(struct profile *profile, const struct kymo_ctf_event *event)
{
	struct profile_thread *thread = os_thread(&profile->threads, event->trace, event->vtid);

	if (!thread || thread_begin(profile, thread))
		return -ENOMEM;
	os_thread_name(thread, event->procname, SIZE_MAX, event->vpid);
	if (event->bound < SWITCH) /* a lost sample ends no call */
		thread->stream = event->stream;
	if (event->bound < CALLBACK_START || event->bound > SWITCH || !thread->has_functions)
		thread->trace = event->trace;
	runs(thread, event->ns);
	profile->waits += event->bound == OFF_CPU;
	if (event->bound < CALLBACK_START || event->bound == SAMPLE) {
		profile->events++;
		thread->has_functions = true;
	}
	switch (event->bound) {
	case SAMPLE:
	case OFF_CPU:
		on_sample(profile, thread, event);
		break;
	case FAST_ENTRY:
	case ENTRY:
	case CALLBACK_START:
		enter(profile, thread, event->value[0].u, event->bound == CALLBACK_START,
		      event->ns);
		break;
	case FAST_EXIT:
		leave(profile, thread, event->ns);
		break;
	case EXIT:
	case CALLBACK_END:
		leave_named(profile, thread, event->value[0].u, event->ns);
		break;
	}
	return profile->threads.failed ? -ENOMEM : 0;
}

int profile_event(struct profile *profile, const struct kymo_ctf_event *event)
{
	struct profile_thread *thread;
	uint32_t i;

	for (i = 0; event->bound == KYMO_CTF_LOSS && i < profile->threads.count; i++) {
		thread = profile->threads.record[i];
		if (thread->root && thread->stream == event->stream)
			abandon(thread, 0);
	}
	if (event->bound == SWITCH && event->value[0].present && event->value[1].present)
		return on_switch(profile, event);
	if (event->bound >= MODULES) {
		modules_event(&profile->modules, (unsigned)event->bound - MODULES, event);
		return profile->modules.failed ? -ENOMEM : 0;
	}
	if (event->bound < 0 || event->bound == SWITCH || !is_of_source(profile, event->bound))
		return 0;
	return on_function(profile, event);
}

void profile_finish(struct profile *profile)
{
	struct profile_thread *thread;

	for (uint32_t i = 0; i < profile->threads.count; i++) {
		thread = profile->threads.record[i];
		if (thread->root)
			abandon(thread, 0);
		if (thread->root && profile->sampled)
			profile_mark_around(profile, thread->root);
	}
}

bool profile_has(const struct kymo_ctf_reader *reader, bool sampled)
{
	return sampled ? reader_declares(reader, wanted[SAMPLE].event)
		       : reader_declares(reader, wanted[FAST_ENTRY].event) ||
				 reader_declares(reader, wanted[ENTRY].event);
}

const struct profile_thread *profile_thread(const struct profile *profile, unsigned index)
{
	return index < profile->threads.count ? profile->threads.record[index] : NULL;
}

/* ---- in a pass ---- */

static int profile_pass_bind(void *analysis, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	unsigned count;
	const struct kymo_ctf_bind *rows = profile_bind(analysis, &count);

	return os_bind(reader, rows, count, err);
}

static void profile_pass_destroy(void *analysis)
{
	profile_free(analysis);
}

PASS_EVENT(profile)
PASS_FINISH(profile)
const struct pass_ops profile_pass = {
	.turn = PASS_BEFORE_SPANS,
	.bind = profile_pass_bind,
	.event = profile_pass_event,
	.finish = profile_pass_finish,
	.destroy = profile_pass_destroy,
};
