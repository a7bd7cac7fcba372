/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter reads the init log, too: a sink that is not among the session's gives each fact to
 * filter_fact().
 */
#include <string.h>

#include "recorder/drain/drain.h"
#include "recorder/filter/filter.h"

static int take_facts(struct sink *sink, struct sink_process *at, const struct sink_facts *facts)
{
	(void)sink;
	for (uint32_t i = 0; i < facts->count; i++) {
		const size_t begin = facts->at[i],
			     end = i + 1 < facts->count ? facts->at[i + 1] : facts->size;
		struct sink_fact head;

		memcpy(&head, facts->bytes + begin, sizeof head);
		if (head.id < KYMO_POINTS_TABLE)
			filter_fact(at->process->filter, head.id, head.init_timestamp,
				    facts->bytes + begin + sizeof head, end - begin - sizeof head);
	}
	return 0;
}

static const struct sink_ops filter_ops = { .kind = "filter", .facts = take_facts };
static struct sink filter_sink = { .ops = &filter_ops, .name = "the filter" };

void drain_filter_join(struct drained_process *process, struct drain *drain, struct filter *filter)
{
	const struct filter_subject subject = {
		.region = &process->region,
		.classes = &process->classes,
		.host_pid = process->host_pid,
		.dead = process->alive == ALIVE_DEAD,
	};

	process->filter_at.process = process;
	process->filter = filter ? filter_join(filter, &subject, &drain->sayer) : NULL;
}

int drain_filter_update(struct drained_process *process, struct drain *drain)
{
	return filter_needs_facts(process->filter) ?
	       initlog_drain_to(process, drain, &filter_sink, &process->filter_at) : 0;
}

void drain_filter_settle(struct drained_process *process, struct drain *drain)
{
	bool complete;

	if (!process->filter || process->cut || !filter_propose(process->filter))
		return;
	complete = drain_filter_update(process, drain) == 0 &&
		   initlog_is_complete(process, &process->filter_at);
	filter_confirm(process->filter, complete);
}

void drain_filter_changed(struct drained_process *process, struct drain *drain)
{
	if (!process->filter || !filter_update_rules(process->filter))
		return;
	(void)drain_filter_update(process, drain);
	filter_decide_objects(process->filter);
	drain_filter_settle(process, drain);
}

uint64_t drain_filter_taken(const struct drained_process *process)
{
	return filter_needs_facts(process->filter) ? process->filter_at.init.taken : UINT64_MAX;
}
