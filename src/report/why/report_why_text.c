/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: the answer as one would say it. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "report/why/report_why_internal.h"
#include "summary/summary_collect.h"

/* An instance that is less than this above the usual one is a usual one itself. */
#define NOTABLE 1.1

/* Whether the same one is to blame for both, wherever in the chain. */
static bool is_same_culprit(const struct why_part *a, const struct why_part *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == WHY_QUEUED)
		return a->callback == b->callback && a->is_group == b->is_group;
	if (a->kind == WHY_GIL)
		return a->by_tid == b->by_tid && a->thread->process == b->thread->process;
	if (a->kind == WHY_PREEMPTED)
		return a->by_tid == b->by_tid &&
		       a->thread->process->host == b->thread->process->host;
	if (a->kind == WHY_AWAITED && !why_is_same_await(&a->await, &b->await))
		return false;
	return a->hop == b->hop && a->callback == b->callback;
}

/* All that is to be blamed on whom @part is. */
static struct why_cause cause_of(const struct why_answer *answer, unsigned rank,
				 const struct why_part *part)
{
	const struct why_instance *instance = &answer->instance[rank];
	const struct why_parts *parts = &answer->parts[rank];
	struct why_cause cause = { .answer = answer, .part = part };
	const struct why_part *other;
	int64_t error_ns;

	for (unsigned i = 0; i < parts->count; i++) {
		other = &parts->part[i];
		if (!is_same_culprit(part, other))
			continue;
		if (other->ns > cause.part->ns)
			cause.part = other;
		error_ns = why_part_error(instance, other);
		cause.error_ns = error_ns > cause.error_ns ? error_ns : cause.error_ns;
		cause.ns += other->ns;
		cause.pieces += other->pieces;
		cause.parts++;
	}
	for (unsigned i = 0; i < answer->usual_parts[rank].count; i++)
		if (is_same_culprit(part, &answer->usual_parts[rank].part[i]))
			cause.usual_ns += answer->usual_parts[rank].part[i].ns;
	return cause;
}

struct why_cause why_cause(const struct why_answer *answer, unsigned rank)
{
	const struct why_parts *parts = &answer->parts[rank];
	struct why_cause best = { 0 }, cause;

	for (unsigned i = 0; i < parts->count; i++) {
		cause = cause_of(answer, rank, &parts->part[i]);
		/* What is not longer than the error of two clocks is no fact. */
		if (cause.error_ns && cause.ns <= cause.error_ns)
			continue;
		if (!best.part || cause.ns - cause.usual_ns > best.ns - best.usual_ns)
			best = cause;
	}
	return best;
}

static void topic_of(const struct why_hop *hop, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s%s",
		 hop->publisher->topic ? hop->publisher->topic->name : "(topic not known)",
		 chains_call_text(hop->call));
}

static void node_of(const struct why_hop *hop, char *buffer, size_t size)
{
	const struct model_node *node = model_callback_node(hop->callback);

	if (node)
		snprintf(buffer, size, "%s", node->full_name);
	else
		summary_callback_name(hop->callback, buffer, size);
}

char *why_by(const struct why_part *part, char *buffer, size_t size)
{
	if (part->by_tid > 0)
		snprintf(buffer, size, "%s (%d)", *part->by ? part->by : "thread", part->by_tid);
	else if (part->kind == WHY_GIL)
		snprintf(buffer, size, "(not known)");
	else if (part->kind == WHY_BLOCKED)
		snprintf(buffer, size, "%s", part->by_tid ? "(not known)" : "an interrupt");
	else
		snprintf(buffer, size, "%s", part->by_tid ? "(not known)" : "an idle CPU that woke up");
	return buffer;
}

char *why_who(const struct why_instance *instance, const struct why_part *part, char *buffer,
	      size_t size)
{
	const struct why_hop *hop = &instance->hop[part->hop];
	char topic[WHY_LABEL_MAX / 2], node[WHY_LABEL_MAX / 2];

	switch (part->kind) {
	case WHY_PREEMPTED:
		return why_by(part, buffer, size);
	case WHY_QUEUED:
	case WHY_EXECUTING:
	case WHY_BLOCKED:
	case WHY_PAGE_FAULT:
	case WHY_GIL:
	case WHY_LATE:
		return summary_callback_name(part->callback ? part->callback : hop->callback,
					     buffer, size);
	case WHY_AWAITED:
		model_awaited_text(&part->await, buffer, (unsigned)size);
		return *buffer ? buffer : summary_callback_name(hop->callback, buffer, size);
	case WHY_CACHED:
		node_of(hop - 1, buffer, size);
		return buffer;
	case WHY_PUBLISH:
		topic_of(hop - 1, buffer, size);
		return buffer;
	case WHY_TRANSPORT:
	case WHY_DDS:
	case WHY_NETWORK:
	case WHY_CACHE:
	case WHY_TAKE:
		topic_of(hop - 1, topic, sizeof(topic));
		node_of(hop, node, sizeof(node));
		snprintf(buffer, size, "%s to %s", topic, node);
		return buffer;
	}
	*buffer = '\0';
	return buffer;
}

char *why_where(const struct why_answer *answer, const struct why_part *part, char *buffer,
		size_t size)
{
	const struct model_process *process = part->thread ? part->thread->process : NULL;
	bool several = answer->options->align && process && *process->hostname;

	if (process)
		snprintf(buffer, size, "thread %" PRId64 " of %s%s%s", (int64_t)part->thread->tid, process->name,
			 several ? " on " : "", several ? process->hostname : "");
	else
		*buffer = '\0';
	return buffer;
}

/* "<90.8 us" for what is not longer than the error. Return: @buffer. */
static char *within(char buffer[TEXT_QUANTITY_MAX + 1], int64_t ns, int64_t error_ns)
{
	char text[TEXT_QUANTITY_MAX];
	bool is_fact = !error_ns || ns > error_ns;

	snprintf(buffer, TEXT_QUANTITY_MAX + 1, "%s%s", is_fact ? "" : "<", text_ns(text, is_fact ? ns : error_ns));
	return buffer;
}

/* "5 times; thread 123 of container" */
static void times_where(const struct why_cause *cause, char *buffer, size_t size)
{
	char where[128];

	why_where(cause->answer, cause->part, where, sizeof(where));
	if (cause->pieces > 1)
		snprintf(buffer, size, "%u times; %s", cause->pieces, where);
	else
		snprintf(buffer, size, "%s", where);
}

static void queued_text(const struct why_instance *instance, const struct why_cause *cause,
			const char *time, char *buffer, size_t size)
{
	const struct why_part *part = cause->part;
	char who[WHY_LABEL_MAX], where[160];
	const struct model_callback *waiting = instance->hop[part->hop].callback;

	why_who(instance, part, who, sizeof(who));
	times_where(cause, where, sizeof(where));
	if (part->callback == waiting && !part->is_group)
		snprintf(buffer, size, "queued %s because its own previous run held its executor (%s)", time, where);
	else
		snprintf(buffer, size, "queued %s because %s%s held its %s (%s)", time, part->is_assumed ? "probably " : "",
			 who, part->is_group ? "callback group" : "executor", where);
}

static void preempted_text(const struct why_instance *instance, const struct why_cause *cause,
			   const char *time, char *buffer, size_t size)
{
	const char *others = cause->parts > 1 ? " and others" : "";
	char who[WHY_LABEL_MAX], node[WHY_LABEL_MAX / 2], where[160];
	const struct why_part *part = cause->part;
	unsigned hop = part->hop;

	if (!instance->hop[hop].callback && hop)
		hop--;
	node_of(&instance->hop[hop], node, sizeof(node));
	why_who(instance, part, who, sizeof(who));
	times_where(cause, where, sizeof(where));
	if (part->by_tid)
		snprintf(buffer, size, "%s%s waited %s for a CPU, which %s had (%s)", node, others, time, who, where);
	else
		snprintf(buffer, size, "%s%s waited %s for an idle CPU to wake up (%s)", node, others, time, where);
}

static void blocked_text(const struct why_cause *cause, const char *who, const char *time,
			 const char *usually, char *buffer, size_t size)
{
	char woke[64], by[96] = "", call[64] = "";

	if (cause->part->call)
		snprintf(call, sizeof(call), "%s in %.40s()", cause->pieces > 1 ? ", most of it" : "", cause->part->call);
	if (cause->part->by_tid > 0)
		snprintf(by, sizeof(by), "%s %s woke it", cause->pieces > 1 ? ", most of it until" : " until",
			 why_by(cause->part, woke, sizeof(woke)));
	snprintf(buffer, size, "%s was blocked %s%s while it ran%s%s", who, time, call, by, usually);
}

static void gil_text(const struct why_cause *cause, const char *who, const char *time,
		     const char *usually, char *buffer, size_t size)
{
	char by[64], where[160];

	times_where(cause, where, sizeof(where));
	if (cause->part->by_tid > 0)
		snprintf(buffer, size, "%s waited %s for Python's lock (GIL), which thread %s had (%s)%s",
			 who, time, why_by(cause->part, by, sizeof(by)), where, usually);
	else
		snprintf(buffer, size, "%s waited %s for Python's lock (GIL) (%s)%s", who, time,
			 where, usually);
}

/* "/node /in awaited the response of /add for 5.2 ms (2 times), usually 1 ms" */
static void awaited_text(const struct why_instance *instance, const struct why_cause *cause,
			 const char *time, const char *usually, char *buffer, size_t size)
{
	char who[WHY_LABEL_MAX], what[WHY_LABEL_MAX / 2], times[32] = "";

	summary_callback_name(instance->hop[cause->part->hop].callback, who, sizeof(who));

	model_awaited_text(&cause->part->await, what, sizeof(what));
	if (cause->pieces > 1)
		snprintf(times, sizeof(times), " (%u times)", cause->pieces);
	snprintf(buffer, size, "%s awaited %s for %s%s%s", who, *what ? what : "something", time,
		 times, usually);
}

static void cause_text(const struct why_instance *instance, const struct why_cause *cause,
		       char *buffer, size_t size)
{
	char who[WHY_LABEL_MAX], time[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX + 1];
	char major[64], usually[TEXT_QUANTITY_MAX + 16] = "", error[TEXT_QUANTITY_MAX + 40] = "";
	int used;

	text_ns(time, cause->ns);
	if (cause->answer->usual.total_ns >= 0)
		snprintf(usually, sizeof(usually), ", usually %s",
			 within(usual, cause->usual_ns, cause->error_ns));
	if (cause->error_ns)
		snprintf(error, sizeof(error), " (the hosts' clocks compare to %s)",
			 text_ns(usual, cause->error_ns));
	why_who(instance, cause->part, who, sizeof(who));
	switch (cause->part->kind) {
	case WHY_QUEUED:
		queued_text(instance, cause, time, buffer, size);
		return;
	case WHY_EXECUTING:
		used = snprintf(buffer, size, "%s ran %s%s", who, time, usually);
		if (cause->part->faults && used > 0 && (size_t)used < size)
			snprintf(buffer + used, size - (size_t)used, ", with %u page faults", cause->part->faults);
		return;
	case WHY_PAGE_FAULT:
		snprintf(major, sizeof(major), ", %u of them read from a disk", cause->part->major);
		snprintf(buffer, size, "%s spent %s in %u page faults%s%s", who, time, cause->part->faults,
			 cause->part->major ? major : "", usually);
		return;
	case WHY_PUBLISH:
		snprintf(buffer, size, "the publish call on %s took %s%s", who, time, usually);
		return;
	case WHY_TRANSPORT:
		snprintf(buffer, size, "%s was %s on its way%s%s", who, time, error, usually);
		return;
	case WHY_DDS:
		snprintf(buffer, size, "the middleware worked %s on %s%s", time, who, usually);
		return;
	case WHY_NETWORK:
		snprintf(buffer, size, "%s was %s in the network%s%s", who, time, error, usually);
		return;
	case WHY_CACHE:
		snprintf(buffer, size, "%s was %s in the reader's cache until it was taken%s", who, time, usually);
		return;
	case WHY_TAKE:
		snprintf(buffer, size, "%s took %s from receiving to the callback%s", who, time, usually);
		return;
	case WHY_PREEMPTED:
		preempted_text(instance, cause, time, buffer, size);
		return;
	case WHY_BLOCKED:
		blocked_text(cause, who, time, usually, buffer, size);
		return;
	case WHY_GIL:
		gil_text(cause, who, time, usually, buffer, size);
		return;
	case WHY_LATE:
		snprintf(buffer, size, "%s started %s late, and no callback held its executor", who, time);
		return;
	case WHY_AWAITED:
		awaited_text(instance, cause, time, usually, buffer, size);
		return;
	case WHY_CACHED:
		snprintf(buffer, size, "%s held it %s until it was published%s", who, time, usually);
		return;
	}
}

char *why_sentence(const struct why_answer *answer, unsigned rank, char *buffer, size_t size)
{
	const struct why_instance *instance = &answer->instance[rank];
	char total[TEXT_QUANTITY_MAX + 1], usual[TEXT_QUANTITY_MAX + 1], text[2 * WHY_LABEL_MAX] = "it took no time";
	char because[2 * WHY_LABEL_MAX] = "";
	bool is_compared = answer->usual.total_ns >= 0;
	const struct why_cause cause = why_cause(answer, rank);
	int64_t error_ns = why_total_error(instance);

	within(total, instance->total_ns, error_ns);
	within(usual, answer->target.usual_ns, error_ns);
	if (cause.part) {
		cause_text(instance, &cause, text, sizeof(text));
		why_because_text(answer, rank, &cause, because, sizeof(because));
		if (!*because)
			why_wire_text(answer, instance, cause.part, because, sizeof(because));
	}
	if (!is_compared)
		snprintf(buffer, size, "%s, the only instance; most of it: %s%s", total, text, because);
	else if ((double)instance->total_ns < NOTABLE * (double)answer->target.usual_ns)
		snprintf(buffer, size, "%s, usually %s: nothing sticks out", total, usual);
	else
		snprintf(buffer, size, "%s, usually %s: %s%s", total, usual, text, because);
	return buffer;
}

char *why_target_label(const struct why_answer *answer, char *buffer, unsigned size)
{
	if (answer->target.is_chain)
		return chains_label(chains_path(answer->chains, answer->target.index), buffer,
				    size);
	return summary_callback_name(model_callback(answer->model, answer->target.index), buffer,
				     size);
}
