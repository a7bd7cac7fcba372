/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about regularity and load: publications, takes, intervals, utilisation. */
#include <stdlib.h>

#include "analysis/stats/stats_intervals.h"
#include "report/report_internal.h"
#include "base/array.h"

/* node, kind, source */
static void cells_callback(struct table *t, const struct model_callback *callback)
{
	char source[64];

	cell_node(t, model_callback_node(callback));
	table_text(t, model_callback_kind_name(callback));
	table_text(t, model_callback_what(callback, source, sizeof(source)));
}

static void cells_address(struct table *t, const struct model_callback *callback)
{
	CELL_IF(t, callback, table_hex(t, callback->address));
	CELL_IF(t, callback, table_i64(t, callback->process->pid));
}

/* ---- publications ---- */

static const struct table_column publication_columns[] = {
	{ "node", "Node" },
	{ "kind", "Kind" },
	{ "source", "Topic/period/service" },
	{ "topic", "Publishes" },
	{ "count", "Messages" },
	{ "runs", "in runs" },
	{ "all_runs", "of" },
	{ "most", "most in one" },
	{ "delay_min_ns", "After start: min" },
	{ "delay_mean_ns", "mean" },
	{ "delay_p50_ns", NULL },
	{ "delay_p99_ns", "p99" },
	{ "delay_max_ns", "max" },
	{ "callback", NULL },
	{ "pid", NULL },
};

static void publication_row(struct report *report, const struct report_row *row)
{
	const struct intervals_publications *p = row->of;
	struct table *t = report->table;
	const struct stats_callback *s;

	if (p->callback) {
		cells_callback(t, p->callback);
	} else {
		cell_node(t, p->publisher->node);
		table_text(t, "none");
		table_text(t, "outside callbacks");
	}
	table_text(t, p->publisher->topic->name);
	table_u64(t, p->count);
	if (p->callback) {
		s = stats_callback(report->stats, p->callback->index);
		table_u64(t, p->runs);
		table_u64(t, s->duration.count + s->unfinished);
		table_u64(t, p->most);
	} else {
		cells_none(t, 3);
	}
	cells_histogram(t, &p->delay, 0);
	cells_address(t, p->callback);
}

void report_publications(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "publications", "What each callback publishes",
		      publication_columns, COUNT_OF(publication_columns));
	for (unsigned i = 0; i < intervals_publications_count(report->intervals); i++) {
		const struct intervals_publications *p =
			intervals_publications(report->intervals, i);

		if (report_wants_node(report, p->publisher->process, p->publisher->node) &&
		    report_wants_topic(report, p->publisher->topic) &&
		    report_shows_row(report, p->callback, p->publisher->topic))
			REPORT_ROW(&rows, .index = i, .of = p, .name = p->publisher->topic->name,
				   .key = report_sort_key(report->options->sort, &p->delay,
							  p->count, 0));
	}
	report_rows_print(report, &rows, publication_row);
}

/* ---- takes ---- */

static const struct table_column take_columns[] = {
	{ "node", "Node" },	  { "kind", NULL },	    { "topic", "Topic" },
	{ "is_intra", NULL },	  { "count", "Received" },	    { "min_ns", "Min" },
	{ "mean_ns", "Mean" },	  { "p50_ns", "p50" },	    { "p99_ns", "p99" },
	{ "max_ns", "Max" },	  { "callback", NULL },	    { "pid", NULL },
};

static void take_row(struct report *report, const struct report_row *row)
{
	const struct model_callback *callback = row->of;
	const struct histogram *h = intervals_take(report->intervals, row->index);
	struct table *t = report->table;

	cells_callback(t, callback);
	table_u64(t, callback->is_intra);
	table_u64(t, h->count);
	cells_histogram(t, h, 0);
	cells_address(t, callback);
}

/* A row for each callback for which @of counted something. */
static void of_callbacks(struct report *report,
			 const struct histogram *(*of)(const struct intervals *intervals,
						       unsigned callback),
			 void (*print)(struct report *report, const struct report_row *row))
{
	struct report_rows rows = { 0 };

	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(report->model, i);
		const struct histogram *h = of(report->intervals, i);

		if (h->count && report_shows_callback(report, callback))
			REPORT_ROW(&rows, .index = i, .of = callback,
				   .name = report_node_name(callback),
				   .key = report_sort_key(report->options->sort, h, h->count, 0));
	}
	report_rows_print(report, &rows, print);
}

void report_takes(struct report *report)
{
	table_section(report->table, "takes",
		      "From the take of a message to the start of its callback", take_columns,
		      COUNT_OF(take_columns));
	of_callbacks(report, intervals_take, take_row);
}

/* ---- between runs ---- */

static const struct table_column between_columns[] = {
	{ "node", "Node" },
	{ "kind", "Kind" },
	{ "source", "Topic/period/service" },
	{ "count", "Count" },
	{ "min_ns", "Min" },
	{ "mean_ns", "Mean" },
	{ "p50_ns", "p50" },
	{ "p99_ns", "p99" },
	{ "max_ns", "Max" },
	{ "deviation_ns", "Deviation" },
	{ "callback", NULL },
	{ "pid", NULL },
};

static void between_row(struct report *report, const struct report_row *row)
{
	const struct model_callback *callback = row->of;
	const struct histogram *h = intervals_idle(report->intervals, row->index);
	struct table *t = report->table;

	cells_callback(t, callback);
	cells_latency(t, h, 0);
	cell_deviation(t, h, 0);
	cells_address(t, callback);
}

void report_between_runs(struct report *report)
{
	table_section(report->table, "between-runs",
		      "From the end of one run of a callback to the start of its next run",
		      between_columns, COUNT_OF(between_columns));
	of_callbacks(report, intervals_idle, between_row);
}

/* ---- intervals ---- */

static const struct table_column interval_columns[] = {
	{ "what", "What" },
	{ "node", "Node" },
	{ "source", "Topic/period/service" },
	{ "period_ns", "Period" },
	{ "count", "Intervals" },
	{ "min_ns", "Min" },
	{ "mean_ns", "Mean" },
	{ "p50_ns", "p50" },
	{ "p99_ns", "p99" },
	{ "max_ns", "Max" },
	{ "deviation_ns", "Deviation" },
	{ "callback", NULL },
	{ "pid", NULL },
};

/* Callbacks first, topics behind them. */
static const struct intervals_series *series_at(const struct report *report, unsigned index)
{
	unsigned callbacks = model_count(report->model, MODEL_CALLBACK);

	return index < callbacks ? intervals_callback(report->intervals, index) :
				   intervals_topic(report->intervals, index - callbacks);
}

static void interval_row(struct report *report, const struct report_row *row)
{
	unsigned callbacks = model_count(report->model, MODEL_CALLBACK), index = row->index;
	const struct intervals_series *series = series_at(report, index);
	const struct model_callback *callback = NULL;
	struct table *t = report->table;
	char source[64];

	if (index < callbacks) {
		callback = model_callback(report->model, index);
		table_text(t, "callback");
		cell_node(t, model_callback_node(callback));
		table_text(t, model_callback_what(callback, source, sizeof(source)));
	} else {
		table_text(t, "topic");
		table_none(t);
		table_text(t, model_topic(report->model, index - callbacks)->name);
	}
	CELL_IF(t, callback && callback->timer, table_ns(t, callback->timer->period_ns));
	table_u64(t, series->interval.count);
	cells_histogram(t, &series->interval, 0);
	cell_deviation(t, &series->interval, 0);
	cells_address(t, callback);
}

static bool interval_wanted(struct report *report, unsigned index, const char **name)
{
	unsigned callbacks = model_count(report->model, MODEL_CALLBACK);
	const struct model_callback *callback;
	const struct model_topic *topic;

	if (index < callbacks) {
		callback = model_callback(report->model, index);
		*name = report_node_name(callback);
		return report_wants_callback(report, callback) &&
		       report_shows_row(report, callback, NULL);
	}
	topic = model_topic(report->model, index - callbacks);
	*name = topic->name;
	return report_topic_is_of_node(report, topic) && report_shows_row(report, NULL, topic);
}

void report_intervals(struct report *report)
{
	unsigned all = model_count(report->model, MODEL_CALLBACK) +
		       model_count(report->model, MODEL_TOPIC);
	struct report_rows rows = { 0 };
	const char *name;

	table_section(report->table, "intervals",
		      "Intervals between starts of a callback, and between publications on a topic",
		      interval_columns, COUNT_OF(interval_columns));
	for (unsigned i = 0; i < all; i++) {
		const struct histogram *h = &series_at(report, i)->interval;

		if (h->count && interval_wanted(report, i, &name))
			REPORT_ROW(&rows, .index = i, .name = name,
				   .key = report_sort_key(report->options->sort, h, h->count, 0));
	}
	report_rows_print(report, &rows, interval_row);
}

/* ---- utilisation ---- */

static const struct table_column utilisation_columns[] = {
	{ "what", "What" },
	{ "name", "Name" },
	{ "runs", "Runs" },
	{ "busy_ns", "Busy" },
	{ "window_ns", "of" },
	{ "percent", "%" },
	{ "longest_ns", "Longest run" },
	{ "pid", "Process" },
	{ "tid", "Thread" },
};

static void utilisation_row(struct report *report, const char *what, const char *name,
			    const struct intervals_busy *busy, const struct model_process *process,
			    int64_t tid)
{
	int64_t window_ns = intervals_span(report->intervals);
	struct table *t = report->table;

	table_text(t, what);
	table_text(t, name);
	table_u64(t, busy->runs);
	table_ns(t, busy->busy_ns);
	table_ns(t, window_ns);
	cell_percent(t, busy->busy_ns, window_ns);
	table_ns(t, busy->longest_ns);
	table_i64(t, process->pid);
	CELL_IF(t, tid, table_i64(t, tid));
	report->rows++;
}

static void thread_row(struct report *report, const struct report_row *row)
{
	const struct model_thread *thread = model_thread(report->model, row->index);

	utilisation_row(report, "thread", thread->name, row->of, thread->process, thread->tid);
}

static void executor_row(struct report *report, const struct report_row *row)
{
	const struct model_executor *executor = model_executor(report->model, row->index);

	utilisation_row(report, "executor", executor->type, row->of, executor->process, 0);
}

static void node_row(struct report *report, const struct report_row *row)
{
	const struct model_node *node = model_node(report->model, row->index);

	utilisation_row(report, "node", node->full_name, row->of, node->process, 0);
}

static bool busy_wanted(const struct report *report, enum model_kind kind, unsigned index)
{
	const struct model_node *node;

	if (kind == MODEL_THREAD)
		return report_wants_process(report, model_thread(report->model, index)->process);
	if (kind == MODEL_EXECUTOR)
		return report_wants_process(report, model_executor(report->model, index)->process);
	node = model_node(report->model, index);
	return report_wants_node(report, node->process, node);
}

static void busiest(struct report *report, enum model_kind kind,
		    const struct intervals_busy *(*busy_at)(const struct intervals *, unsigned),
		    void (*print)(struct report *report, const struct report_row *row))
{
	struct report_rows rows = { 0 };

	for (unsigned i = 0; i < model_count(report->model, kind); i++) {
		const struct intervals_busy *busy = busy_at(report->intervals, i);

		if (busy->runs && busy_wanted(report, kind, i))
			REPORT_ROW(&rows, .index = i, .key = (double)busy->busy_ns, .of = busy);
	}
	(void)report_rows_show(report, &rows, print);
	free(rows.row);
}

void report_utilisation(struct report *report)
{
	table_section(report->table, "utilisation",
		      "Time in callbacks, of threads, executors and nodes; busiest first",
		      utilisation_columns, COUNT_OF(utilisation_columns));
	busiest(report, MODEL_THREAD, intervals_thread, thread_row);
	busiest(report, MODEL_EXECUTOR, intervals_executor, executor_row);
	busiest(report, MODEL_NODE, intervals_node, node_row);
}
