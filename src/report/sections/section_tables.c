/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about what is slow: callbacks and topics. */
#include "report/report_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/symbol/symbol.h"
#include "base/array.h"

double report_sort_key(enum report_sort sort, const struct histogram *h, uint64_t count,
		       double rate)
{
	switch (sort) {
	case REPORT_SORT_MAX:
		return (double)h->max;
	case REPORT_SORT_P99:
		return (double)histogram_quantile(h, 0.99);
	case REPORT_SORT_P50:
		return (double)histogram_quantile(h, 0.5);
	case REPORT_SORT_MEAN:
		return histogram_mean(h);
	case REPORT_SORT_MIN:
		return (double)h->min;
	case REPORT_SORT_TOTAL:
		return (double)h->sum;
	case REPORT_SORT_COUNT:
		return (double)count;
	case REPORT_SORT_RATE:
		return rate;
	case REPORT_SORT_NODE:
		break;
	}
	return 0;
}

/* ns of a double, for the mean. */
static int64_t rounded(double value)
{
	return (int64_t)(value + 0.5);
}

/* A symbol as text is short, in json and csv it is whole. */
static void cell_symbol(struct report *report, const struct model_callback *callback)
{
	char buffer[56];

	if (!*callback->symbol)
		table_none(report->table);
	else if (report->options->format == TABLE_TEXT)
		table_text(report->table, symbol_short(callback->symbol, buffer, sizeof(buffer)));
	else
		table_text(report->table, callback->symbol);
}

/* As text without the directory. */
static void cell_location(struct report *report, const struct model_callback *callback)
{
	const char *location = model_callback_location(callback);
	const char *file = strrchr(location, '/');

	if (!*location)
		table_none(report->table);
	else
		table_text(report->table, file && report->options->format == TABLE_TEXT ? file + 1 :
											  location);
}

/* ---- callbacks ---- */

static const struct table_column callback_columns[] = {
	{ "node", "Node" },
	{ "kind", "Kind" },
	{ "source", "Topic/period/service" },
	{ "period_ns", NULL },
	{ "is_intra", NULL },
	{ "count", "Count" },
	{ "rate_hz", "Hz" },
	{ "min_ns", "Min" },
	{ "mean_ns", "Mean" },
	{ "p50_ns", "p50" },
	{ "p99_ns", "p99" },
	{ "max_ns", "Max" },
	{ "deviation_ns", "Deviation" },
	{ "total_ns", "Total" },
	{ "unfinished", NULL },
	{ "process", "Process" },
	{ "symbol", "Symbol" },
	{ "location", "Source" },
	{ "pid", NULL },
	{ "host", NULL },
	{ "callback", NULL },
	{ "mean_exact_ns", NULL },
};

static void callback_row(struct report *report, const struct report_row *row)
{
	const struct model_callback *callback = row->of;
	const struct stats_callback *s = stats_callback(report->stats, callback->index);
	const struct histogram *h = &s->duration;
	struct table *t = report->table;
	char buffer[160], source[80];
	const char *from = model_callback_source(callback, source, 64);

	if (!*from && report->options->format == TABLE_TEXT) {
		snprintf(source, sizeof(source), "0x%" PRIx64, callback->address);
		from = source;
	}
	cell_node(t, model_callback_node(callback));
	table_text(t, model_callback_kind_name(callback));
	if (callback->is_intra && report->options->format == TABLE_TEXT) {
		snprintf(buffer, sizeof(buffer), "%s (intra)", from);
		cell_name(t, buffer);
	} else {
		cell_name(t, from);
	}
	CELL_IF(t, callback->timer, table_ns(t, callback->timer->period_ns));
	table_u64(t, callback->is_intra);
	table_u64(t, h->count);
	cell_rate(t, report_rate(report, h->count, s->first_ns, s->last_ns));
	table_ns(t, h->min);
	table_ns(t, rounded(histogram_mean(h)));
	table_ns(t, histogram_quantile(h, 0.5));
	table_ns(t, histogram_quantile(h, 0.99));
	table_ns(t, h->max);
	cell_deviation(t, h, 0);
	table_ns(t, h->sum);
	table_u64(t, s->unfinished);
	table_text(t, report->options->format == TABLE_TEXT ?
			      report_process(report, callback->process, buffer, sizeof(buffer)) :
			      callback->process->name);
	cell_symbol(report, callback);
	cell_location(report, callback);
	table_i64(t, callback->process->pid);
	table_text(t, callback->process->hostname);
	table_hex(t, callback->address);
	table_f64(t, histogram_mean(h));
}

void report_callbacks(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "callbacks",
		      report->options->sort == REPORT_SORT_MAX ? "Callbacks, slowest first" :
								 "Callbacks",
		      callback_columns, COUNT_OF(callback_columns));
	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(report->model, i);
		const struct stats_callback *s = stats_callback(report->stats, i);
		const struct histogram *h = &s->duration;

		if ((h->count || s->unfinished) && report_shows_callback(report, callback))
			REPORT_ROW(&rows, .index = i, .of = callback,
				   .name = report_node_name(callback),
				   .key = report_sort_key(
					   report->options->sort, h, h->count,
					   report_rate(report, h->count, s->first_ns, s->last_ns)));
	}
	report_rows_print(report, &rows, callback_row);
}

/* ---- topics ---- */

static const struct table_column topic_columns[] = {
	{ "topic", "Topic" },
	{ "publishers", "Pubs" },
	{ "subscriptions", "Subs" },
	{ "published", "Published" },
	{ "rate_hz", "Hz" },
	{ "taken", "Received" },
	{ "untaken", "Never received" },
	{ "unpublished", "Publish not traced" },
	{ "sent", NULL },
	{ "intra_sent", "In-process" },
	{ "intra_taken", NULL },
	{ "intra_overwritten", "Overwritten" },
	{ "intra_cleared", NULL },
	{ "between_hosts", NULL },
	{ "latency_count", NULL },
	{ "latency_min_ns", "Latency min" },
	{ "latency_mean_ns", "mean" },
	{ "latency_p50_ns", NULL },
	{ "latency_p99_ns", "p99" },
	{ "latency_max_ns", "max" },
	{ "latency_deviation_ns", "Deviation" },
	{ "latency_error_ns", NULL },
};

static void topic_row(struct report *report, const struct report_row *row)
{
	const struct model_topic *topic = row->of;
	const struct stats_topic *s = stats_topic(report->stats, topic->index);
	struct table *t = report->table;

	cell_name(t, topic->name);
	table_u64(t, topic->publishers);
	table_u64(t, topic->subscriptions);
	table_u64(t, s->published);
	cell_rate(t, report_rate(report, s->published, s->first_ns, s->last_ns));
	table_u64(t, s->taken);
	table_u64(t, s->untaken);
	table_u64(t, s->unpublished);
	table_u64(t, s->sent);
	table_u64(t, s->sent_intra);
	table_u64(t, s->taken_intra);
	table_u64(t, s->overwritten);
	table_u64(t, s->cleared);
	table_u64(t, s->other_host);
	cells_latency(t, &s->latency, s->latency_error_ns);
	cell_deviation(t, &s->latency, s->latency_error_ns);
	table_ns(t, s->latency_error_ns);
}

bool report_topic_is_of_node(const struct report *report, const struct model_topic *topic)
{
	unsigned i;

	if (!report_wants_topic(report, topic))
		return false;
	if (!selection_any(report->options->selection))
		return true;
	for (i = 0; i < model_count(report->model, MODEL_PUBLISHER); i++) {
		const struct model_publisher *p = model_publisher(report->model, i);

		if (p->topic == topic && report_wants_node(report, p->process, p->node))
			return true;
	}
	for (i = 0; i < model_count(report->model, MODEL_SUBSCRIPTION); i++) {
		const struct model_subscription *s = model_subscription(report->model, i);

		if (s->topic == topic && report_wants_node(report, s->process, s->node))
			return true;
	}
	return false;
}

void report_topics(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "topics", "Topics; latency from publish to the start of the callback",
		      topic_columns, COUNT_OF(topic_columns));
	table_rank(report->table, "topic latency_max_ns published latency_p99_ns rate_hz "
		   "latency_mean_ns untaken taken unpublished latency_min_ns");
	for (unsigned i = 0; i < model_count(report->model, MODEL_TOPIC); i++) {
		const struct model_topic *topic = model_topic(report->model, i);
		const struct stats_topic *s = stats_topic(report->stats, i);

		if ((s->published || s->taken || s->taken_intra) &&
		    report_topic_is_of_node(report, topic) && report_shows_topic(report, topic))
			REPORT_ROW(&rows, .index = i, .of = topic, .name = topic->name,
				   .key = report_sort_key(report->options->sort, &s->latency,
							  s->published,
							  report_rate(report, s->published,
								      s->first_ns, s->last_ns)));
	}
	report_rows_print(report, &rows, topic_row);
}
