/* SPDX-License-Identifier: Apache-2.0 */
/* After the pass: spans and loops. */
#include "summary/summary_collect_internal.h"
#include "summary/summary_limit.h"

static struct summary_entity *name_entity(struct summary_collect *collect, struct summary *summary,
					  enum summary_kind kind, const struct spans_name *name,
					  const struct model_process *process)
{
	struct summary_entity *entity;
	char text[512], of[COLLECT_OF_MAX];

	collect_spans_name(name, text, sizeof(text));
	entity = collect_entity(summary, kind, text, collect_of(collect, kind, text, process, of));
	if (!entity)
		return NULL;
	entity->ask = entity->name;
	if (summary_is_other(entity))
		return entity;
	collect_label(collect, summary, entity, process);
	entity->ask = entity->label;
	return entity;
}

static void take_loops(struct summary_collect *collect, struct summary *summary)
{
	const struct loops *loops = collect->from.loops;

	for (unsigned i = 0; i < loops_count(loops); i++) {
		const struct loop *loop = loops_at(loops, i);
		struct summary_entity *entity;

		if (!loop->cycles && !loop->latency.count)
			continue;
		entity = name_entity(collect, summary, SUMMARY_LOOP, loop->name,
				     loop->thread->process);
		if (!entity)
			return;
		entity->count[SUMMARY_RUNS] += loop->cycles;
		entity->count[SUMMARY_UNFINISHED] += loop->unfinished;
		entity->count[SUMMARY_MISSED] += loop->missed;
		entity->count[SUMMARY_OVERRUN] += loop->overruns;
		collect_merge(summary, entity, SUMMARY_DURATION, &loop->busy);
		collect_merge(summary, entity, SUMMARY_LATENCY, &loop->latency);
		collect_merge(summary, entity, SUMMARY_PERIOD, &loop->period);
		collect_seen(entity, loop->first_ns, loop->last_ns);
		if (i < collect->loops && collect->loop[i].worst_ns)
			summary_add_worst(summary, entity, &(struct summary_instance){
							  .begin_ns = collect->loop[i].at_ns,
							  .value_ns = collect->loop[i].worst_ns });
	}
}

/* A span that is a loop, or the sleep of one, is no work of its own. */
static bool is_of_loop(const struct loops *loops, const struct spans_row *row)
{
	for (unsigned i = 0; i < loops_count(loops); i++)
		if (loops_at(loops, i)->name == row->name &&
		    loops_at(loops, i)->thread->process == row->process)
			return true;
	return loops_is_sleep(loops, row->process, row->name);
}

static int64_t excess_of(const struct spans_row *row)
{
	return (int64_t)(row->duration.max - histogram_quantile(&row->duration, 0.5));
}

/* Is the longest span of @in inside the longest one of @row? */
static bool is_inside(const struct spans_row *in, const struct spans_row *row)
{
	const int64_t end_ns = row->longest_at_ns + (int64_t)row->duration.max;

	return in != row && in->duration.count && in->process == row->process &&
	       in->longest_on == row->longest_on && in->longest_in == row->longest_in &&
	       in->longest_at_ns >= row->longest_at_ns &&
	       in->longest_at_ns + (int64_t)in->duration.max <= end_ns &&
	       in->duration.max < row->duration.max;
}

/* The innermost span that explains at least half of why the longest one of @row took so long. */
static const struct spans_row *reason_inside(struct summary_collect *collect,
					     const struct spans_row *row)
{
	const struct spans_stats *stats = collect->from.spans_stats;
	const struct spans_row *best = NULL;

	for (unsigned i = 0; i < spans_stats_count(stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *in = spans_stats_row(stats, SPANS_OF_SPANS, i);

		if (is_inside(in, row) && 2 * excess_of(in) >= excess_of(row) &&
		    (!best || in->duration.max < best->duration.max) &&
		    !is_of_loop(collect->from.loops, in))
			best = in;
	}
	return best;
}

static void add_longest_span(struct summary_collect *collect, struct summary *summary,
			     struct summary_entity *entity, const struct spans_row *row)
{
	const struct spans_row *in = reason_inside(collect, row);
	struct summary_instance instance = { .begin_ns = row->longest_at_ns,
					     .value_ns = (int64_t)row->duration.max };
	char name[512];

	if (in) {
		collect_spans_name(in->name, name, sizeof(name));
		instance.part[instance.parts++] = (struct summary_part){
			.what = SUMMARY_RAN,
			.who = summary_text(summary, name),
			.by = "",
			.ns = (int64_t)in->duration.max,
			.usual_ns = (int64_t)histogram_quantile(&in->duration, 0.5),
			.at_ns = in->longest_at_ns - row->longest_at_ns,
		};
	}
	summary_add_worst(summary, entity, &instance);
}

static void take_spans(struct summary_collect *collect, struct summary *summary)
{
	const struct spans_stats *stats = collect->from.spans_stats;

	for (unsigned i = 0; i < spans_stats_count(stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(stats, SPANS_OF_SPANS, i);
		struct summary_entity *entity;

		if ((!row->duration.count && !row->unfinished) ||
		    is_of_loop(collect->from.loops, row))
			continue;
		entity = name_entity(collect, summary, SUMMARY_SPAN, row->name, row->process);
		if (!entity)
			return;
		entity->count[SUMMARY_RUNS] += row->duration.count;
		entity->count[SUMMARY_UNFINISHED] += row->unfinished;
		collect_merge(summary, entity, SUMMARY_DURATION, &row->duration);
		collect_seen(entity, row->first_ns, row->last_ns);
		if (row->duration.count)
			add_longest_span(collect, summary, entity, row);
	}
}

void collect_take_spans(struct summary_collect *collect, struct summary *summary)
{
	take_loops(collect, summary);
	take_spans(collect, summary);
}
