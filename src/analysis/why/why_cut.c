/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits an instance into parts; see why.h.
 *
 * The idea: an instance is a sequence of hops, and the hops cover its time without a gap. Each hop
 * is cut at the times of its events (publish call, handed over, received, start, end). Executing,
 * publishing and receiving are one part each. The time between "handed over" (or "due") and
 * "received" (or "start") is waiting time. It is explained in three levels:
 *
 *   1. the thread that then ran the callback ran other callbacks: queued behind the thread
 *   2. in the remaining time, another thread ran a callback of the same callback group: queued
 *      behind the group
 *   3. the remaining time is transport (for a timer: late)
 *
 * What is left is cut at the waits of its thread for Python's lock. At last, each part that is not
 * queued is compared with the scheduler's states of its thread: the
 * thread may have been preempted or blocked, or may have waited for a page. For queued parts, the
 * states of the callback in front of the queue are kept in a separate list (`because`).
 *
 * Each step only splits a stretch of time into neighbours, so the parts always add up to the
 * latency.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/why/why_cpu.h"
#include "analysis/why/why.h"
#include "base/order.h"

#define DEPTH_MAX 16u /* runs within runs */

struct cut {
	struct why_parts *parts, *because;
	const struct why_others *others;
	const struct why_cpu *cpu;
	bool failed;
};

static void add_part(struct cut *cut, struct why_parts *parts, struct why_part part)
{
	cut->failed |= why_parts_add(parts, part) != 0;
}

/* ---- executing: the states of the thread ---- */

struct spells {
	struct cut *cut;
	struct why_parts *parts;	/* the list for the parts */
	struct why_part part;		/* the part before it is split */
};

/*
 * Adds a stretch of execution, cut at its page faults. Time without a fault, and a fault of unknown
 * length, become parts of @part's kind.
 */
static void add_executed(const struct spells *to, const struct why_part part)
{
	const struct fault *fault = NULL;
	size_t count = why_faults(to->cut->cpu, part.thread, part.begin_ns, part.end_ns, &fault);
	struct why_part between = part, in = part;

	in.kind = WHY_PAGE_FAULT;
	in.by_tid = 0;
	in.call = NULL;
	in.by[0] = '\0';
	for (size_t i = 0; i < count; i++, fault++) {
		bool begins = fault->start_ns >= part.begin_ns,
		     is_timed = fault->end_ns > fault->start_ns;
		struct why_part *its = is_timed ? &in : &between;

		in.begin_ns = begins ? fault->start_ns : part.begin_ns;
		in.end_ns = lesser(fault->end_ns, part.end_ns);
		its->faults = begins;
		its->major = begins && fault->is_major;
		between.end_ns = in.begin_ns;
		add_part(to->cut, to->parts, between);
		if (is_timed)
			add_part(to->cut, to->parts, in);
		between.begin_ns = in.end_ns;
		between.faults = between.major = 0;
	}
	between.end_ns = part.end_ns;
	add_part(to->cut, to->parts, between);
}

/*
 * A thread that sleeps during a wait for a message is waiting; a thread that sleeps during
 * execution is blocked.
 */
static void on_spell(void *context, const struct why_spell *spell)
{
	const struct spells *spells = context;
	struct why_part part = spells->part;
	bool waits = part.kind == WHY_LATE || why_is_way(part.kind);

	part.begin_ns = spell->from_ns;
	part.end_ns = spell->to_ns;
	if (spell->state == WHY_READY) {
		part.kind = WHY_PREEMPTED;
	} else if (spell->state == WHY_ASLEEP && !waits) {
		part.kind = WHY_BLOCKED;
	}
	/* It is the thread that waits, in whichever callback. */
	if (part.kind == WHY_PREEMPTED && spells->parts == spells->cut->parts)
		part.callback = NULL;
	if (part.kind == WHY_PREEMPTED || part.kind == WHY_BLOCKED) {
		part.by_tid = spell->by_tid;
		memcpy(part.by, spell->by, sizeof(part.by));
	}
	if (part.kind == WHY_BLOCKED)
		part.call = why_call(spells->cut->cpu, part.thread, spell->from_ns, spell->to_ns);
	if (part.kind == WHY_PREEMPTED || waits)
		add_part(spells->cut, spells->parts, part);
	else
		add_executed(spells, part);
}

static void add_by_spells(struct cut *cut, struct why_parts *parts, struct why_part part)
{
	why_spells(cut->cpu, part.thread, part.begin_ns, part.end_ns, on_spell,
		   &(struct spells){ cut, parts, part });
}

/* Adds @part, split by the scheduler's states of its thread, if they are known. */
static void add_running(struct cut *cut, struct why_part part)
{
	if (cut->cpu && part.thread && part.end_ns > part.begin_ns)
		add_by_spells(cut, cut->parts, part);
	else
		add_part(cut, cut->parts, part);
}

static struct why_part gil_part(const struct why_part *of, const struct why_gil *wait)
{
	struct why_part part = *of;

	part.kind = WHY_GIL;
	part.by_tid = wait->tid ? wait->tid : -1;
	if (wait->by)
		(void)snprintf(part.by, sizeof(part.by), "%s", wait->by->name);
	return part;
}

/*
 * Adds @part without the time in which its thread waited for Python's lock. Before that the
 * executor may sleep (@add), and nothing else is known of it.
 */
static void add_by_gil(struct cut *cut, struct why_part part,
		       void (*add)(struct cut *cut, struct why_part part))
{
	const struct why_gil *wait = part.thread && part.end_ns > part.begin_ns
					     ? why_gil(cut->others, part.thread, part.begin_ns)
					     : NULL;

	for (; wait && wait->start_ns < part.end_ns; wait = why_gil_next(cut->others, wait)) {
		struct why_part gil = gil_part(&part, wait), before = part;

		gil.begin_ns = larger(wait->start_ns, part.begin_ns);
		gil.end_ns = lesser(wait->end_ns, part.end_ns);
		before.end_ns = gil.begin_ns;
		if (before.end_ns > before.begin_ns)
			add(cut, before);
		add_part(cut, cut->parts, gil);
		part.begin_ns = gil.end_ns;
	}
	add(cut, part);
}

static void add_known(struct cut *cut, struct why_part part)
{
	add_part(cut, cut->parts, part);
}

static void add_by_cpu(struct cut *cut, struct why_part part)
{
	add_by_gil(cut, part, add_running);
}

/* Adds a part that is queued behind @part.callback; the states of that callback go to `because`. */
static void add_queued(struct cut *cut, struct why_part part)
{
	part.kind = WHY_QUEUED;
	add_part(cut, cut->parts, part);
	part.kind = WHY_EXECUTING;
	if (cut->cpu && part.end_ns > part.begin_ns)
		add_by_spells(cut, cut->because, part);
}

/* ---- waiting: callbacks that blocked the instance ---- */

/* A stretch of waiting time of the callback of @hop, which then ran on @thread. */
struct stretch {
	unsigned hop;
	const struct model_callback *callback;
	const struct model_thread *thread;
	enum why_kind unexplained;	/* kind of the time that no other callback explains */
	/* The executor was idle: no callback on that thread blocked this one. */
	bool is_idle;
	const struct model_dds_cut *inside; /* of a message: the pieces of its way; NULL: none */
};

/* Did @run keep the thread of the stretch; with @group: on another thread, its callback group? */
static bool is_blocking(const struct stretch *stretch, const struct why_other *run, bool group,
			bool *assumed)
{
	if (!group)
		return run->thread == stretch->thread;
	return run->thread != stretch->thread && run->thread->process == stretch->thread->process &&
	       model_callback_excludes(stretch->callback, run->callback, assumed);
}

static void add_of_kind(struct cut *cut, const struct stretch *stretch, enum why_kind kind,
			int64_t from_ns, int64_t to_ns)
{
	const struct why_part part = {
		.kind = kind, .hop = stretch->hop, .thread = stretch->thread,
		.begin_ns = from_ns, .end_ns = to_ns,
	};

	if (stretch->is_idle)
		add_by_gil(cut, part, add_known);
	else
		add_by_cpu(cut, part);
}

static void add_unexplained(struct cut *cut, const struct stretch *stretch, int64_t from_ns,
			    int64_t to_ns)
{
	static const enum why_kind kinds[] = {
		[MODEL_DDS_WRITE] = WHY_DDS,         [MODEL_DDS_NETWORK] = WHY_NETWORK,
		[MODEL_DDS_READ] = WHY_DDS,          [MODEL_DDS_CACHE] = WHY_CACHE,
		[MODEL_DDS_UNSPLIT] = WHY_TRANSPORT,
	};
	const struct model_dds_cut *inside = stretch->inside;

	for (unsigned i = 0; inside && i < inside->pieces; i++) {
		const int64_t begin_ns = larger(inside->piece[i].from_ns, from_ns);
		const int64_t end_ns = lesser(inside->piece[i].to_ns, to_ns);

		if (begin_ns < end_ns)
			add_of_kind(cut, stretch, kinds[inside->piece[i].part], begin_ns, end_ns);
	}
	if (!inside || to_ns <= from_ns)
		add_of_kind(cut, stretch, stretch->unexplained, from_ns, to_ns);
}

static void classify_wait(struct cut *cut, const struct stretch *stretch, int64_t from_ns,
			  int64_t to_ns, bool group);

/*
 * Passes time that no callback explains at this level to the next level: thread, group,
 * unexplained.
 */
static void classify_gap(struct cut *cut, const struct stretch *stretch, int64_t from_ns,
			 int64_t to_ns, bool group)
{
	if (from_ns == to_ns)
		return;
	if (group)
		add_unexplained(cut, stretch, from_ns, to_ns);
	else
		classify_wait(cut, stretch, from_ns, to_ns, true);
}

static void classify_wait(struct cut *cut, const struct stretch *stretch, int64_t from_ns,
			  int64_t to_ns, bool group)
{
	const struct why_other *run;
	int64_t begin_ns, end_ns;
	bool assumed;

	for (unsigned i = 0; (run = why_other(cut->others, i)) && run->start_ns < to_ns; i++) {
		assumed = false;
		if (run->end_ns <= from_ns || !is_blocking(stretch, run, group, &assumed))
			continue;
		begin_ns = larger(run->start_ns, from_ns);
		end_ns = lesser(run->end_ns, to_ns);
		classify_gap(cut, stretch, from_ns, begin_ns, group);
		add_queued(cut, (struct why_part){
					.hop = stretch->hop,
					.callback = run->callback,
					.thread = run->thread,
					.is_group = group,
					.is_assumed = assumed,
					.begin_ns = begin_ns,
					.end_ns = end_ns,
				});
		from_ns = end_ns;
	}
	classify_gap(cut, stretch, from_ns, to_ns, group);
}

/*
 * Until @idle_ns the executor was idle, so only a callback of the group on another thread can have
 * blocked the instance. After that, callbacks on its own thread can also have blocked it. The event
 * of sending a request may come after the event of its take: then the waiting time is empty.
 */
static void classify_stretch(struct cut *cut, struct stretch stretch, int64_t from_ns,
			     int64_t to_ns)
{
	int64_t idle_ns = from_ns;

	if (to_ns <= from_ns) {
		add_unexplained(cut, &stretch, from_ns, to_ns);
		return;
	}
	if (stretch.thread)
		idle_ns = why_idle_until(cut->others, cut->cpu, stretch.thread, from_ns, to_ns);
	stretch.is_idle = true;
	if (idle_ns > from_ns)
		classify_wait(cut, &stretch, from_ns, idle_ns, true);
	stretch.is_idle = false;
	if (to_ns > idle_ns)
		classify_wait(cut, &stretch, idle_ns, to_ns, false);
}

/* ---- hop by hop ---- */

static void add_plain(struct cut *cut, enum why_kind kind, unsigned hop,
		      const struct model_thread *thread, int64_t from_ns, int64_t to_ns)
{
	add_by_cpu(cut, (struct why_part){ .kind = kind,
					   .hop = hop,
					   .thread = thread,
					   .begin_ns = from_ns,
					   .end_ns = to_ns });
}

/* Adds the parts between the publish call at @from and the start of the callback at @to. */
static void hop_transport_parts(struct cut *cut, const struct why_hop *from,
				const struct why_hop *to, unsigned hop)
{
	int64_t sent_ns = to->at.send_ns ? to->at.send_ns : from->at.publish_ns;
	struct model_dds_cut inside;
	struct stretch stretch = { hop, to->callback, to->at.thread, WHY_TRANSPORT, false, NULL };

	if (to->at.dds.cached_ns && to->at.send_ns) {
		model_dds_cut(&inside, &to->at.dds, to->at.send_ns, to->at.take_ns);
		stretch.inside = &inside;
	}
	add_plain(cut, WHY_PUBLISH, hop, from->at.thread, from->at.publish_ns, sent_ns);
	classify_stretch(cut, stretch, sent_ns, to->at.take_ns);
	add_plain(cut, WHY_TAKE, hop, to->at.thread, to->at.take_ns, to->at.start_ns);
}

/*
 * Adds @part of a run, without the runs that began within it: these are parts of their callbacks.
 * They lie in each other like brackets; those that lie deepest are parts of what is around them.
 * @at: the next one of them
 */
static void add_run(struct cut *cut, struct why_part part, int64_t end_ns, unsigned depth,
		    unsigned *at)
{
	const struct why_other *run;

	while (depth < DEPTH_MAX && (run = why_inner(cut->others, *at)) && run->start_ns < end_ns) {
		struct why_part inner = part, before = part;
		const int64_t inner_end_ns = run->end_ns < end_ns ? run->end_ns : end_ns;

		++*at;
		if (run->thread != part.thread || run->end_ns <= part.begin_ns)
			continue;
		inner.callback = run->callback;
		if (run->start_ns > part.begin_ns)
			inner.begin_ns = run->start_ns;
		before.end_ns = inner.begin_ns;
		if (before.end_ns > before.begin_ns)
			add_by_cpu(cut, before);
		add_run(cut, inner, inner_end_ns, depth + 1, at);
		part.begin_ns = inner_end_ns;
	}
	part.end_ns = end_ns;
	add_by_cpu(cut, part);
}

/* From @from_ns to @to_ns, callback @hop executes, which is number @i. */
static void add_executing(struct cut *cut, const struct why_hop *hop, unsigned i,
			  const struct model_thread *thread, int64_t from_ns, int64_t to_ns)
{
	const struct why_part part = {
		.kind = WHY_EXECUTING, .hop = i, .thread = thread, .begin_ns = from_ns
	};
	const struct why_other *run;
	unsigned at = 0;

	/* Not the run itself, which may be in another one, too. */
	while ((run = why_inner(cut->others, at)) && run->start_ns <= hop->at.start_ns)
		at++;
	add_run(cut, part, to_ns, 0, &at);
}

/* The runs of the callback of @hop, number @i, until @end_ns, and between them what it awaited. */
static void hop_runs(struct cut *cut, const struct why_hop *hop, unsigned i, int64_t end_ns)
{
	const struct model_thread *thread = hop->at.thread;
	int64_t from_ns = hop->at.start_ns;

	for (unsigned k = 0; k < hop->at.awaits; k++) {
		const struct model_await *await = &hop->at.await[k];

		if (await->end_ns > end_ns)
			break;
		add_executing(cut, hop, i, thread, from_ns, await->begin_ns);
		add_part(cut, cut->parts,
			 (struct why_part){ .kind = WHY_AWAITED,
					    .hop = i,
					    .thread = await->thread,
					    .await = *await,
					    .begin_ns = await->begin_ns,
					    .end_ns = await->end_ns });
		from_ns = await->end_ns;
		thread = await->thread;
	}
	add_executing(cut, hop, i, thread, from_ns, end_ns);
}

static void hop_parts(struct cut *cut, const struct why_instance *instance, unsigned i)
{
	const struct why_hop *hop = &instance->hop[i],
			     *next = i + 1 < instance->hops ? hop + 1 : NULL;
	const struct stretch late = { i, hop->callback, hop->at.thread, WHY_LATE, false, NULL };
	int64_t end_ns = next && next->link == CHAINS_DIRECT ? next->at.publish_ns : hop->at.end_ns;

	if (!hop->callback) {
		if (i && hop->link != CHAINS_DIRECT)
			add_part(cut, cut->parts, (struct why_part){
				.kind = WHY_CACHED, .hop = i, .thread = hop->at.thread,
				.begin_ns = hop[-1].at.end_ns, .end_ns = hop->at.publish_ns });
		return;
	}
	if (i)
		hop_transport_parts(cut, hop - 1, hop, i);
	else if (hop->due_ns)
		classify_stretch(cut, late, hop->due_ns, hop->at.start_ns);
	hop_runs(cut, hop, i, end_ns);
}

int why_cut(struct why_parts *out, struct why_parts *because, const struct why_instance *instance,
	    const struct why_others *others, const struct why_cpu *cpu)
{
	struct cut cut = { .parts = out, .because = because, .others = others, .cpu = cpu };

	*out = *because = (struct why_parts){ 0 };
	for (unsigned i = 0; i < instance->hops; i++)
		hop_parts(&cut, instance, i);
	return cut.failed ? -1 : 0;
}
