/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about the content of messages: bandwidth, ages. */
#include "analysis/stats/stats_content.h"
#include "base/array.h"
#include "report/report_internal.h"

/* ---- bandwidth ---- */

static const struct table_column bandwidth_columns[] = {
	{ "topic", "Topic" },
	{ "published", "Published" },
	{ "bytes_per_second", "Bytes/s" },
	{ "bytes", "In all" },
	{ "size_min_bytes", "Size min" },
	{ "size_mean_bytes", "mean" },
	{ "size_p99_bytes", NULL },
	{ "size_max_bytes", "max" },
	{ "received", NULL },
	{ "received_bytes", "Received" },
	{ "type", "Type" },
};

static void bandwidth_row(struct report *report, const struct report_row *row)
{
	const struct model_topic *topic = row->of;
	const struct content_topic *content = content_topic(report->content, topic->index);
	const struct histogram *published = &content->published;
	const double mean = histogram_mean(published);
	const double rate_hz =
		report_rate(report, published->count, content->first_ns, content->last_ns);
	struct table *t = report->table;

	table_text(t, topic->name);
	table_u64(t, published->count);
	CELL_IF(t, rate_hz > 0, table_bytes(t, (uint64_t)(rate_hz * mean + 0.5)));
	if (published->count) {
		table_bytes(t, published->sum);
		table_bytes(t, published->min);
		table_bytes(t, (uint64_t)(mean + 0.5));
		table_bytes(t, histogram_quantile(published, 0.99));
		table_bytes(t, published->max);
	} else {
		cells_none(t, 5);
	}
	table_u64(t, content->received.count);
	CELL_IF(t, content->received.count, table_bytes(t, content->received.sum));
	cell_name(t, *topic->type ? topic->type : NULL);
}

void report_bandwidth(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "bandwidth",
		      "Bytes of serialized messages, by topic; most bytes first", bandwidth_columns,
		      COUNT_OF(bandwidth_columns));
	for (unsigned i = 0; i < model_count(report->model, MODEL_TOPIC); i++) {
		const struct model_topic *topic = model_topic(report->model, i);
		const struct content_topic *content = content_topic(report->content, i);

		if ((content->published.count || content->received.count) &&
		    report_topic_is_of_node(report, topic) && report_shows_topic(report, topic))
			REPORT_ROW(&rows, .index = i, .of = topic, .name = topic->name,
				   .key = (double)(content->published.count
							   ? content->published.sum
							   : content->received.sum));
	}
	report_rows_print(report, &rows, bandwidth_row);
}

/* ---- ages ---- */

static const struct table_column age_columns[] = {
	{ "topic", "Topic" },    { "node", "Received by" }, { "count", "Messages" },
	{ "min_ns", "Age min" }, { "mean_ns", "mean" },     { "p50_ns", "p50" },
	{ "p99_ns", "p99" },     { "max_ns", "max" },       { "deviation_ns", "Deviation" },
	{ "pid", NULL },
};

static void age_row(struct report *report, const struct report_row *row)
{
	const struct model_subscription *subscription = row->of;
	const struct histogram *ages = content_ages(report->content, subscription->index);
	struct table *t = report->table;

	table_text(t, subscription->topic->name);
	cell_node(t, subscription->node);
	cells_latency(t, ages, 0);
	cell_deviation(t, ages, 0);
	table_i64(t, subscription->process->pid);
}

void report_ages(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "ages",
		      "From the stamp in a message's header to the start of the callback",
		      age_columns, COUNT_OF(age_columns));
	for (unsigned i = 0; i < model_count(report->model, MODEL_SUBSCRIPTION); i++) {
		const struct model_subscription *s = model_subscription(report->model, i);
		const struct histogram *ages = content_ages(report->content, i);

		if (ages->count && report_wants_node(report, s->process, s->node) &&
		    report_wants_topic(report, s->topic) && report_shows_topic(report, s->topic))
			REPORT_ROW(&rows, .index = i, .of = s, .name = s->topic->name,
				   .key = report_sort_key(report->options->sort, ages, ages->count,
							  0));
	}
	report_rows_print(report, &rows, age_row);
}
