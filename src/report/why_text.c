/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: the answer as one would say it. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "report/flow_internal.h"
#include "report/why_internal.h"

/* An instance that is less than this above the usual one is a usual one itself. */
#define NOTABLE 1.1

const struct why_part *why_cause(const struct why_answer *answer, unsigned rank, int64_t *usual_ns)
{
	const struct why_parts *parts = &answer->parts[rank];
	const struct why_part *best = NULL, *usual;
	int64_t most = 0, more;

	*usual_ns = 0;
	for (unsigned i = 0; i < parts->count; i++) {
		usual = why_part_in(&answer->usual_parts, &parts->part[i]);
		more = parts->part[i].ns - (usual ? usual->ns : 0);
		if (best && more <= most)
			continue;
		most = more;
		best = &parts->part[i];
		*usual_ns = usual ? usual->ns : 0;
	}
	return best;
}

static void topic_of(const struct why_hop *hop, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s%s", hop->publisher->topic ? hop->publisher->topic->name : "(topic not known)",
		 flow_call_text(hop->call));
}

static void node_of(const struct why_hop *hop, char *buffer, size_t size)
{
	const struct model_node *node = model_callback_node(hop->callback);

	if (node)
		snprintf(buffer, size, "%s", node->full_name);
	else
		model_callback_label(hop->callback, buffer, (unsigned)size);
}

char *why_who(const struct why_instance *instance, const struct why_part *part, char *buffer, size_t size)
{
	const struct why_hop *hop = &instance->hop[part->hop];
	char topic[WHY_LABEL_MAX / 2], node[WHY_LABEL_MAX / 2];

	switch (part->kind) {
	case WHY_QUEUED:
		return model_callback_label(part->callback, buffer, (unsigned)size);
	case WHY_PREEMPTED:
		if (part->by_tid > 0)
			snprintf(buffer, size, "%s (%d)", *part->by ? part->by : "thread", part->by_tid);
		else
			snprintf(buffer, size, "%s", part->by_tid ? "(not known)" : "an idle CPU that woke up");
		return buffer;
	case WHY_EXECUTING:
	case WHY_BLOCKED:
	case WHY_LATE:
		return model_callback_label(hop->callback, buffer, (unsigned)size);
	case WHY_CACHED:
		node_of(hop - 1, buffer, size);
		return buffer;
	case WHY_PUBLISH:
		topic_of(hop - 1, buffer, size);
		return buffer;
	case WHY_TRANSPORT:
	case WHY_TAKE:
		topic_of(hop - 1, topic, sizeof(topic));
		node_of(hop, node, sizeof(node));
		snprintf(buffer, size, "%s to %s", topic, node);
		return buffer;
	}
	*buffer = '\0';
	return buffer;
}

char *why_where(const struct why_part *part, char *buffer, size_t size)
{
	if (part->thread)
		snprintf(buffer, size, "thread %" PRId64 " of %s", (int64_t)part->thread->tid,
			 part->thread->process->name);
	else
		*buffer = '\0';
	return buffer;
}

static void queued_text(const struct why_instance *instance, const struct why_part *part, const char *time, char *buffer,
			size_t size)
{
	char who[WHY_LABEL_MAX], where[128];
	const struct model_callback *waiting = instance->hop[part->hop].callback;

	why_who(instance, part, who, sizeof(who));
	why_where(part, where, sizeof(where));
	if (part->callback == waiting && !part->is_group)
		snprintf(buffer, size, "queued %s because its own run before held its executor (%s)", time, where);
	else
		snprintf(buffer, size, "queued %s because %s%s held its %s (%s)", time, part->is_assumed ? "probably " : "",
			 who, part->is_group ? "callback group" : "executor", where);
}

static void preempted_text(const struct why_instance *instance, const struct why_part *part, const char *time,
			   char *buffer, size_t size)
{
	char who[WHY_LABEL_MAX], node[WHY_LABEL_MAX / 2], where[128];
	unsigned hop = part->hop;

	if (!instance->hop[hop].callback && hop)
		hop--;
	node_of(&instance->hop[hop], node, sizeof(node));
	why_who(instance, part, who, sizeof(who));
	why_where(part, where, sizeof(where));
	if (part->by_tid)
		snprintf(buffer, size, "%s waited %s for a CPU, which %s had (%s)", node, time, who, where);
	else
		snprintf(buffer, size, "%s waited %s for an idle CPU to wake up (%s)", node, time, where);
}

static void cause_text(const struct why_instance *instance, const struct why_part *part, int64_t usual_ns, char *buffer,
		       size_t size)
{
	char who[WHY_LABEL_MAX], time[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX];

	text_ns(time, part->ns);
	text_ns(usual, usual_ns);
	why_who(instance, part, who, sizeof(who));
	switch (part->kind) {
	case WHY_QUEUED:
		queued_text(instance, part, time, buffer, size);
		return;
	case WHY_EXECUTING:
		snprintf(buffer, size, "%s ran %s, usually %s", who, time, usual);
		return;
	case WHY_PUBLISH:
		snprintf(buffer, size, "the publish call on %s took %s, usually %s", who, time, usual);
		return;
	case WHY_TRANSPORT:
		snprintf(buffer, size, "%s was %s on its way, usually %s", who, time, usual);
		return;
	case WHY_TAKE:
		snprintf(buffer, size, "%s took %s from the take to the callback, usually %s", who, time, usual);
		return;
	case WHY_PREEMPTED:
		preempted_text(instance, part, time, buffer, size);
		return;
	case WHY_BLOCKED:
		snprintf(buffer, size, "%s was blocked %s while it ran, usually %s", who, time, usual);
		return;
	case WHY_LATE:
		snprintf(buffer, size, "%s came %s late, and no callback held its executor", who, time);
		return;
	case WHY_CACHED:
		snprintf(buffer, size, "%s held it %s until it was published, usually %s", who, time, usual);
		return;
	}
}

char *why_sentence(const struct why_answer *answer, unsigned rank, char *buffer, size_t size)
{
	const struct why_instance *instance = &answer->instance[rank];
	char total[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX], cause[2 * WHY_LABEL_MAX] = "it took no time";
	bool is_compared = answer->usual.total_ns >= 0;
	const struct why_part *part;
	int64_t usual_ns;

	text_ns(total, instance->total_ns);
	text_ns(usual, answer->target.usual_ns);
	part = why_cause(answer, rank, &usual_ns);
	if (part)
		cause_text(instance, part, usual_ns, cause, sizeof(cause));
	if (!is_compared)
		snprintf(buffer, size, "%s, the only instance there is; most of it: %s", total, cause);
	else if ((double)instance->total_ns < NOTABLE * (double)answer->target.usual_ns)
		snprintf(buffer, size, "%s, usually %s: nothing sticks out", total, usual);
	else
		snprintf(buffer, size, "%s, usually %s: %s", total, usual, cause);
	return buffer;
}

char *why_target_label(const struct why_answer *answer, char *buffer, unsigned size)
{
	if (answer->target.is_chain)
		return flow_chain_label(chains_path(answer->chains, answer->target.index), buffer, size);
	return model_callback_label(model_callback(answer->model, answer->target.index), buffer, size);
}
