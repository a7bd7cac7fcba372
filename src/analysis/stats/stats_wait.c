/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits of callbacks, and the callbacks that caused them.
 *
 *   thread   ....[ culprit runs 20 ms            ][ victim ]....
 *   message        ^ published                     ^ callback_start
 *                  |<--------- wait -------------->|
 *                  |<--------- blocked ---------->|
 *
 * The idea: the latest runs of each thread are kept. When a callback starts, the runs that overlap
 * its wait are summed up per callback; the callback with the largest sum is the culprit. Usually
 * there is at most one such run, so a delivery costs a comparison or two.
 */
#include "analysis/stats/stats_internal.h"

#include <string.h>

/* Limit of different callbacks in one wait; further callbacks only count as blocked time. */
#define SUSPECTS_MAX 16

struct suspect {
	const struct model_callback *callback;
	const struct model_thread *thread;
	int64_t ns;
};

struct inquiry {
	int64_t from_ns, to_ns;		/* the wait */
	int64_t blocked_ns;
	struct suspect suspect[SUSPECTS_MAX];
	unsigned suspects;
};

/* A run that ends after nested runs replaces them. */
void stats_history_add(struct stats *stats, const struct model_instance *instance)
{
	struct history *history = stats_history_at(stats, instance->thread->index);
	const struct stats_run *newest;

	if (!history)
		return;
	history->thread = instance->thread;
	while (history->count) {
		newest = &history->run[(history->count - 1) % HISTORY_RUNS];
		if (newest->end_ns <= instance->start_ns || newest->start_ns < instance->start_ns)
			break;
		history->count--;
	}
	history->run[history->count++ % HISTORY_RUNS] = (struct stats_run){
		instance->start_ns, instance->start_ns + instance->duration_ns, instance->callback,
	};
}

static void accuse(struct inquiry *inquiry, const struct history *history,
		   const struct stats_run *run)
{
	int64_t from = run->start_ns > inquiry->from_ns ? run->start_ns : inquiry->from_ns;
	int64_t to = run->end_ns < inquiry->to_ns ? run->end_ns : inquiry->to_ns;
	unsigned i;

	if (to <= from)
		return;
	inquiry->blocked_ns += to - from;
	for (i = 0; i < inquiry->suspects; i++)
		if (inquiry->suspect[i].callback == run->callback)
			break;
	if (i == SUSPECTS_MAX)
		return;
	if (i == inquiry->suspects)
		inquiry->suspect[inquiry->suspects++] =
			(struct suspect){ run->callback, history->thread, 0 };
	inquiry->suspect[i].ns += to - from;
}

/* The callbacks that are searched: those of a group, else of a node, else all. */
struct scope {
	const struct model_callback_group *group;
	const struct model_node *node;
};

static bool in_scope(const struct scope *scope, const struct model_callback *callback)
{
	if (scope->group)
		return model_callback_group_of(callback) == scope->group;
	return !scope->node || model_callback_node(callback) == scope->node;
}

static void inquire(struct inquiry *inquiry, const struct history *history,
		    const struct scope *scope)
{
	uint64_t at, stop = history->count > HISTORY_RUNS ? history->count - HISTORY_RUNS : 0;
	const struct stats_run *run;

	for (at = history->count; at > stop; at--) {
		run = &history->run[(at - 1) % HISTORY_RUNS];
		if (run->end_ns <= inquiry->from_ns)
			break;
		if (in_scope(scope, run->callback))
			accuse(inquiry, history, run);
	}
}

/*
 * Callbacks on other threads of the process may have held the callback group. CARET's events, which
 * kymo also records, name the groups; without them the same node is the best guess. A reentrant
 * group is never held.
 */
static void inquire_others(struct stats *stats, struct inquiry *inquiry,
			   const struct model_callback *victim, const struct model_thread *thread)
{
	struct scope scope = { model_callback_group_of(victim), model_callback_node(victim) };
	struct history **history = stats->histories.item;
	uint32_t i;

	if (!scope.node || (scope.group && strcmp(scope.group->type, "reentrant") == 0))
		return;
	for (i = 0; i < stats->histories.count; i++)
		if (history[i] && history[i]->thread && history[i]->thread != thread &&
		    history[i]->thread->process == thread->process)
			inquire(inquiry, history[i], &scope);
	/* Runs on several threads overlap: limit the blocked time to the wait. */
	if (inquiry->blocked_ns > inquiry->to_ns - inquiry->from_ns)
		inquiry->blocked_ns = inquiry->to_ns - inquiry->from_ns;
}

static void judge(struct stats_callback *callback, const struct inquiry *inquiry)
{
	const struct suspect *worst = &inquiry->suspect[0];
	unsigned i;

	if (!inquiry->blocked_ns)
		return;
	callback->waits++;
	callback->blocked_ns += inquiry->blocked_ns;
	if (inquiry->blocked_ns <= callback->worst.blocked_ns)
		return;
	for (i = 1; i < inquiry->suspects; i++)
		if (inquiry->suspect[i].ns > worst->ns)
			worst = &inquiry->suspect[i];
	callback->worst = (struct stats_wait){
		.wait_ns = inquiry->to_ns - inquiry->from_ns,
		.blocked_ns = inquiry->blocked_ns,
		.culprit = worst->callback,
		.culprit_ns = worst->ns,
		.culprit_thread = worst->thread,
		.since_ns = inquiry->from_ns,
	};
}

static void wait_of(struct stats *stats, const struct model_callback *victim,
		    const struct model_thread *thread, struct stats_callback *callback,
		    int64_t from_ns, int64_t to_ns)
{
	struct inquiry inquiry;
	struct history *history = stats_history_at(stats, thread->index);
	int64_t wait_ns = to_ns - from_ns;
	bool idle;

	if (!history || wait_ns <= 0)
		return;
	/* The usual case is cheap: the thread was idle when the wait began. */
	idle = !history->count ||
	       history->run[(history->count - 1) % HISTORY_RUNS].end_ns <= from_ns;
	if (idle && wait_ns <= callback->longest_ns)
		return;
	inquiry.from_ns = from_ns;
	inquiry.to_ns = to_ns;
	inquiry.blocked_ns = 0;
	inquiry.suspects = 0;
	if (!idle)
		inquire(&inquiry, history, &(struct scope){ NULL, NULL });
	/* Searching all other threads is expensive: do it only for the longest wait so far. */
	if (inquiry.blocked_ns < wait_ns / 2 && wait_ns > callback->longest_ns)
		inquire_others(stats, &inquiry, victim, thread);
	if (wait_ns > callback->longest_ns)
		callback->longest_ns = wait_ns;
	judge(callback, &inquiry);
}

void stats_timer_wait(struct stats *stats, const struct model_instance *instance,
		      struct stats_callback *callback)
{
	wait_of(stats, instance->callback, instance->thread, callback, instance->due_ns,
		instance->start_ns);
}

void stats_message_wait(struct stats *stats, const struct model_message *message)
{
	struct stats_callback *callback = stats_callback_at(stats, message->callback->index);

	if (callback)
		wait_of(stats, message->callback, message->take_thread, callback,
			message->publish_ns, message->callback_ns);
}
