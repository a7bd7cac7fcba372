/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo flow`: of each chain its segments, where it stopped, and its worst arrivals. */

#include "base/array.h"
#include "base/text.h"
#include "report/flow/flow_internal.h"

/* As text, the parts of more chains than this are shown on demand only. */
#define DETAILED 3u

/* Chain @at is the first of one of the first rows. */
static bool is_of_first_rows(const struct flow *flow, unsigned at)
{
	unsigned first = 0;

	for (unsigned row = 0; row < DETAILED && first <= at; row++) {
		if (first == at)
			return true;
		first += flow_folded(flow, first);
	}
	return false;
}

bool flow_is_detailed(const struct flow *flow, unsigned at)
{
	const struct flow_options *options = flow->options;

	if (options->chain)
		return options->chain == at + 1;
	return options->format != TABLE_TEXT || is_of_first_rows(flow, at);
}

/* ---- segments ---- */

static const struct table_column segment_columns[] = {
	{ "chain", "#" },
	{ "step", NULL },
	{ "segment", "Segment" },
	{ "where", "Where" },
	{ "count", "Count" },
	{ "min_ns", "Min" },
	{ "mean_ns", "Mean" },
	{ "p50_ns", "p50" },
	{ "p90_ns", "p90" },
	{ "p99_ns", "p99" },
	{ "max_ns", "Max" },
	{ "total_ns", NULL },
	{ "error_ns", NULL },
};

static void segment_row(struct table *t, unsigned chain, int step, const char *segment,
			const char *where, const struct histogram *h, int64_t error_ns)
{
	table_u64(t, chain);
	if (step < 0)
		table_none(t);
	else
		table_i64(t, step);
	table_text(t, segment);
	table_text(t, where);
	table_u64(t, h->count);
	table_ns_within(t, (int64_t)h->min, error_ns);
	table_ns_within(t, (int64_t)(histogram_mean(h) + 0.5), error_ns);
	table_ns_within(t, (int64_t)histogram_quantile(h, 0.5), error_ns);
	table_ns_within(t, (int64_t)histogram_quantile(h, 0.9), error_ns);
	table_ns_within(t, (int64_t)histogram_quantile(h, 0.99), error_ns);
	table_ns_within(t, (int64_t)h->max, error_ns);
	table_ns(t, (int64_t)h->sum);
	table_ns(t, error_ns);
}

/* What @part is about: the callback, or the topic on its way to it. */
static const struct chains_path *where_of(const struct chains_path *const *step,
					  const struct chains_part *part)
{
	bool is_message = part->segment == CHAINS_PUBLISH || part->segment == CHAINS_TRANSPORT;

	return step[part->step - (is_message && part->step ? 1 : 0)];
}

static void chain_segments(struct flow *flow, unsigned at)
{
	const struct chains_path *path = flow->chain[at], *step[CHAINS_STEPS_MAX];
	const struct chains_stats *stats = path->stats;
	char label[CHAINS_LABEL_MAX];
	unsigned i;

	if (!stats || !stats->total.count)
		return;
	chains_steps(path, step);
	for (i = 0; i < stats->parts; i++)
		segment_row(
			flow->table, at + 1, (int)stats->part[i].step,
			chains_segment_name(stats->part[i].segment),
			chains_step_label(where_of(step, &stats->part[i]), label, sizeof(label)),
			&stats->part_ns[i], stats->part_error_ns[i]);
	if (flow->options->format == TABLE_TEXT)
		segment_row(flow->table, at + 1, -1, "= all", "", &stats->total, stats->error_ns);
}

void flow_print_segments(struct flow *flow)
{
	unsigned i;

	table_section(flow->table, "segments", "Segments, in order", segment_columns,
		      COUNT_OF(segment_columns));
	for (i = 0; i < flow->chains_shown; i++)
		if (flow_is_detailed(flow, i))
			chain_segments(flow, i);
	if (flow->options->format == TABLE_TEXT && !flow->options->chain &&
	    flow->rows_shown > DETAILED)
		table_note(flow->table, "--chain N shows those of another chain.");
}

/* ---- inside the middleware ---- */

static void chain_inside(struct flow *flow, unsigned at, bool *opened)
{
	const struct chains_path *path = flow->chain[at], *step[CHAINS_STEPS_MAX];
	const struct chains_stats *stats = path->stats;
	char label[CHAINS_LABEL_MAX];

	if (!stats || !stats->inside)
		return;
	chains_steps(path, step);
	if (!*opened)
		table_section(flow->table, "inside", "Transport and wait, inside the middleware", segment_columns,
			      COUNT_OF(segment_columns));
	*opened = true;
	for (unsigned i = 0; i < stats->parts * MODEL_DDS_PARTS; i++) {
		const unsigned part = i / MODEL_DDS_PARTS, piece = i % MODEL_DDS_PARTS;
		const bool is_far = piece == MODEL_DDS_NETWORK || piece == MODEL_DDS_UNSPLIT;

		if (stats->inside[i].count)
			segment_row(flow->table, at + 1, (int)stats->part[part].step,
				    model_dds_part_name(piece),
				    chains_step_label(where_of(step, &stats->part[part]), label,
						      sizeof(label)),
				    &stats->inside[i], is_far ? stats->part_error_ns[part] : 0);
	}
}

void flow_print_inside(struct flow *flow)
{
	bool opened = false;

	for (unsigned i = 0; i < flow->chains_shown; i++)
		if (flow_is_detailed(flow, i))
			chain_inside(flow, i, &opened);
}

/* ---- where it stopped ---- */

static const struct table_column stop_columns[] = {
	{ "chain", "#" },
	{ "step", NULL },
	{ "stopped", "Stopped" },
	{ "of", "of" },
	{ "where", "At" },
	{ "reason", "Reason" },
	{ "before", "Never reached" },
};

static void stop_row(struct flow *flow, unsigned chain, const struct chains_path *at,
		     const struct chains_path *next, uint64_t count, const char *reason)
{
	char label[CHAINS_LABEL_MAX];
	struct table *t = flow->table;

	if (!count)
		return;
	table_u64(t, chain);
	table_u64(t, at->depth);
	table_u64(t, count);
	table_u64(t, at->count);
	table_text(t, chains_step_label(at, label, sizeof(label)));
	table_text(t, reason);
	CELL_IF(t, next, table_text(t, chains_step_label(next, label, sizeof(label))));
}

static uint64_t at_most(uint64_t count, uint64_t *rest)
{
	if (count > *rest)
		count = *rest;
	*rest -= count;
	return count;
}

/* Runs that made no message of the next step. */
static void callback_stops(struct flow *flow, unsigned chain, const struct chains_path *at,
			   const struct chains_path *next)
{
	uint64_t rest = at->count > next->parents ? at->count - next->parents : 0;
	uint64_t unfinished = at_most(at->silent_unfinished, &rest);

	stop_row(flow, chain, at, next, unfinished, "did not end in the trace");
	stop_row(flow, chain, at, next, rest,
		 next->link == CHAINS_DIRECT ? "published nothing there" :
					       "replaced before it was used");
}

/* Messages that did not get to the next callback. */
static void topic_stops(struct flow *flow, unsigned chain, const struct chains_path *at,
			const struct chains_path *next)
{
	uint64_t rest = at->count > next->parents ? at->count - next->parents : 0;
	const struct chains_drop *drop;

	for (drop = at->drops; drop; drop = drop->next) {
		if (drop->subscription != next->callback->subscription)
			continue;
		stop_row(flow, chain, at, next, at_most(drop->overwritten, &rest), "overwritten");
		stop_row(flow, chain, at, next, at_most(drop->cleared, &rest), "buffer cleared");
	}
	stop_row(flow, chain, at, next, at_most(next->at_end, &rest), "still under way when the trace ended");
	stop_row(flow, chain, at, next, at_most(next->lost, &rest), "events were lost meanwhile");
	stop_row(flow, chain, at, next, rest, "not taken");
}

static void chain_stops(struct flow *flow, unsigned at)
{
	const struct chains_path *path = flow->chain[at], *step[CHAINS_STEPS_MAX];
	unsigned count = chains_steps(path, step), i;

	for (i = 0; i + 1 < count; i++)
		if (step[i]->callback)
			callback_stops(flow, at + 1, step[i], step[i + 1]);
		else
			topic_stops(flow, at + 1, step[i], step[i + 1]);
	if (path->callback)
		stop_row(flow, at + 1, path, NULL, path->count - path->ended,
			 "did not end in the trace");
}

void flow_print_stops(struct flow *flow)
{
	unsigned i;

	table_section(flow->table, "stops", "Where chains stopped", stop_columns,
		      COUNT_OF(stop_columns));
	for (i = 0; i < flow->chains_shown; i++)
		if (flow_is_detailed(flow, i))
			chain_stops(flow, i);
}

/* ---- the worst ---- */

static const struct table_column worst_columns[] = {
	{ "chain", "#" },
	{ "rank", NULL },
	{ "total_ns", "Latency" },
	{ "at", "Begun at" },
	{ "begin_ns", NULL },
	{ "most_ns", "Longest part" },
	{ "most_segment", "In" },
	{ "most_where", "Of" },
	{ "message", "Message" },
};

static const struct table_column part_columns[] = {
	{ "chain", NULL }, { "rank", NULL }, { "begin_ns", NULL },
	{ "step", NULL },  { "segment", NULL }, { "ns", NULL },
};

static void worst_row(struct flow *flow, unsigned at, unsigned rank)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const struct chains_stats *stats = flow->chain[at]->stats;
	const struct chains_arrival *arrival = &stats->worst[rank];
	char label[CHAINS_LABEL_MAX];
	struct table *t = flow->table;
	unsigned most = 0, i;

	chains_steps(flow->chain[at], step);
	for (i = 1; i < stats->parts; i++)
		if (arrival->part_ns[i] > arrival->part_ns[most])
			most = i;
	table_u64(t, at + 1);
	table_u64(t, rank + 1);
	table_ns_within(t, arrival->total_ns, stats->error_ns);
	table_text(t, flow_offset(flow, arrival->begin_ns, label, sizeof(label)));
	table_time(t, arrival->begin_ns);
	table_ns_within(t, arrival->part_ns[most], stats->part_error_ns[most]);
	table_text(t, chains_segment_name(stats->part[most].segment));
	table_text(t, chains_step_label(where_of(step, &stats->part[most]), label, sizeof(label)));
	CELL_IF(t, arrival->id, table_u64(t, arrival->id));
}

static void print_parts(struct flow *flow, unsigned at)
{
	const struct chains_stats *stats = flow->chain[at]->stats;
	struct table *t = flow->table;
	unsigned rank, i;

	for (rank = 0; rank < stats->worst_count; rank++)
		for (i = 0; i < stats->parts; i++) {
			table_u64(t, at + 1);
			table_u64(t, rank + 1);
			table_time(t, stats->worst[rank].begin_ns);
			table_u64(t, stats->part[i].step);
			table_text(t, chains_segment_name(stats->part[i].segment));
			table_ns_within(t, stats->worst[rank].part_ns[i], stats->part_error_ns[i]);
		}
}

static bool has_worst(const struct flow *flow, unsigned at)
{
	return flow_is_detailed(flow, at) && flow->chain[at]->stats &&
	       flow->chain[at]->stats->parts;
}

void flow_print_worst(struct flow *flow)
{
	unsigned i, rank;
	uint64_t id = 0;

	if (!flow->options->worst)
		return;
	table_section(flow->table, "worst", "The longest, and where most of the time went", worst_columns,
		      COUNT_OF(worst_columns));
	table_rank(flow->table, "chain total_ns most_ns most_segment most_where message at");
	for (i = 0; i < flow->chains_shown; i++)
		for (rank = 0; has_worst(flow, i) && rank < flow->chain[i]->stats->worst_count;
		     rank++) {
			worst_row(flow, i, rank);
			id = id ? id : flow->chain[i]->stats->worst[rank].id;
		}
	if (flow->options->format == TABLE_TEXT) {
		char path[1024];

		if (id && !flow->options->several)
			table_note(flow->table, "kymo flow %s --message %llu shows everything that led to it, "
				   "and what followed.", text_shell(path, sizeof(path), flow->path),
				   (unsigned long long)id);
		return;
	}
	table_section(flow->table, "worst_segments", NULL, part_columns, COUNT_OF(part_columns));
	for (i = 0; i < flow->chains_shown; i++)
		if (has_worst(flow, i))
			print_parts(flow, i);
}
