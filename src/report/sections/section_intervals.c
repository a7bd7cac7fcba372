/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about regularity and load: publications, takes, intervals, utilisation. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats/stats_intervals.h"
#include "report/report_internal.h"
#include "base/array.h"

static void cell_node(struct table *t, const struct model_node *node)
{
	if (node)
		table_text(t, node->full_name);
	else
		table_none(t);
}

static void cells_histogram(struct table *t, const struct histogram *h)
{
	unsigned i;

	if (!h->count) {
		for (i = 0; i < 5; i++)
			table_none(t);
		return;
	}
	table_ns(t, (int64_t)h->min);
	table_ns(t, (int64_t)(histogram_mean(h) + 0.5));
	table_ns(t, (int64_t)histogram_quantile(h, 0.5));
	table_ns(t, (int64_t)histogram_quantile(h, 0.99));
	table_ns(t, (int64_t)h->max);
}

/* node, kind, source */
static void cells_callback(struct table *t, const struct model_callback *callback)
{
	char source[64];

	cell_node(t, model_callback_node(callback));
	table_text(t, model_callback_kind_name(callback));
	table_text(t, model_callback_source(callback, source, sizeof(source)));
}

static void cells_address(struct table *t, const struct model_callback *callback)
{
	if (!callback) {
		table_none(t);
		table_none(t);
		return;
	}
	table_hex(t, callback->address);
	table_i64(t, callback->process->pid);
}

/* Rows by key, as many as are wanted; @print writes one. */
static void print_rows(struct report *report, struct report_row *rows, unsigned count,
		       void (*print)(struct report *report, unsigned index))
{
	unsigned i;

	if (rows)
		qsort(rows, count, sizeof(*rows), report_by_key);
	for (i = 0; rows && i < count && i < report_limit(report); i++)
		print(report, rows[i].index);
	report_more(report, i, count);
	report->rows += count;
	free(rows);
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

static void publication_row(struct report *report, unsigned index)
{
	const struct intervals_publications *p = intervals_publications(report->intervals, index);
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
		for (unsigned i = 0; i < 3; i++)
			table_none(t);
	}
	cells_histogram(t, &p->delay);
	cells_address(t, p->callback);
}

void report_publications(struct report *report)
{
	unsigned all = intervals_publications_count(report->intervals), count = 0, i;
	struct report_row *rows = report_rows_new(all);

	table_section(report->table, "publications", "What each callback publishes",
		      publication_columns, COUNT_OF(publication_columns));
	for (i = 0; rows && i < all; i++) {
		const struct intervals_publications *p = intervals_publications(report->intervals, i);

		if (report_wants_node(report, p->publisher->process, p->publisher->node) &&
		    report_wants_topic(report, p->publisher->topic))
			rows[count++] = (struct report_row){
				i, report_sort_key(report->options->sort, &p->delay, p->count, 0),
				p->publisher->topic->name,
			};
	}
	print_rows(report, rows, count, publication_row);
}

/* ---- takes ---- */

static const struct table_column take_columns[] = {
	{ "node", "Node" },	  { "kind", NULL },	    { "topic", "Topic" },
	{ "is_intra", NULL },	  { "count", "Received" },	    { "min_ns", "Min" },
	{ "mean_ns", "Mean" },	  { "p50_ns", "p50" },	    { "p99_ns", "p99" },
	{ "max_ns", "Max" },	  { "callback", NULL },	    { "pid", NULL },
};

static void take_row(struct report *report, unsigned index)
{
	const struct model_callback *callback = model_callback(report->model, index);
	const struct histogram *h = intervals_take(report->intervals, index);
	struct table *t = report->table;

	cells_callback(t, callback);
	table_u64(t, callback->is_intra);
	table_u64(t, h->count);
	cells_histogram(t, h);
	cells_address(t, callback);
}

void report_takes(struct report *report)
{
	unsigned all = model_count(report->model, MODEL_CALLBACK), count = 0, i;
	struct report_row *rows = report_rows_new(all);

	table_section(report->table, "takes", "From the take of a message to the start of its callback",
		      take_columns, COUNT_OF(take_columns));
	for (i = 0; rows && i < all; i++) {
		const struct model_callback *callback = model_callback(report->model, i);
		const struct model_node *node = model_callback_node(callback);
		const struct histogram *h = intervals_take(report->intervals, i);

		if (h->count && report_wants_callback(report, callback))
			rows[count++] = (struct report_row){
				i, report_sort_key(report->options->sort, h, h->count, 0),
				node ? node->full_name : "",
			};
	}
	print_rows(report, rows, count, take_row);
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

static void interval_row(struct report *report, unsigned index)
{
	unsigned callbacks = model_count(report->model, MODEL_CALLBACK);
	const struct intervals_series *series = series_at(report, index);
	const struct model_callback *callback = NULL;
	struct table *t = report->table;
	char source[64];

	if (index < callbacks) {
		callback = model_callback(report->model, index);
		table_text(t, "callback");
		cell_node(t, model_callback_node(callback));
		table_text(t, model_callback_source(callback, source, sizeof(source)));
	} else {
		table_text(t, "topic");
		table_none(t);
		table_text(t, model_topic(report->model, index - callbacks)->name);
	}
	if (callback && callback->timer)
		table_ns(t, callback->timer->period_ns);
	else
		table_none(t);
	table_u64(t, series->interval.count);
	cells_histogram(t, &series->interval);
	table_ns(t, (int64_t)(intervals_deviation(series) + 0.5));
	cells_address(t, callback);
}

static bool interval_wanted(const struct report *report, unsigned index, const char **name)
{
	unsigned callbacks = model_count(report->model, MODEL_CALLBACK);
	const struct model_topic *topic;
	const struct model_node *node;

	if (index < callbacks) {
		node = model_callback_node(model_callback(report->model, index));
		*name = node ? node->full_name : "";
		return report_wants_callback(report, model_callback(report->model, index));
	}
	topic = model_topic(report->model, index - callbacks);
	*name = topic->name;
	return report_topic_is_of_node(report, topic);
}

void report_intervals(struct report *report)
{
	unsigned all = model_count(report->model, MODEL_CALLBACK) +
		       model_count(report->model, MODEL_TOPIC), count = 0, i;
	struct report_row *rows = report_rows_new(all);
	const char *name;

	table_section(report->table, "intervals",
		      "Intervals between starts of a callback, and between publications on a topic",
		      interval_columns, COUNT_OF(interval_columns));
	for (i = 0; rows && i < all; i++) {
		const struct histogram *h = &series_at(report, i)->interval;

		if (h->count && interval_wanted(report, i, &name))
			rows[count++] = (struct report_row){
				i, report_sort_key(report->options->sort, h, h->count, 0), name,
			};
	}
	print_rows(report, rows, count, interval_row);
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
	if (window_ns)
		table_f64(t, 100.0 * (double)busy->busy_ns / (double)window_ns);
	else
		table_none(t);
	table_ns(t, busy->longest_ns);
	table_i64(t, process->pid);
	if (tid)
		table_i64(t, tid);
	else
		table_none(t);
	report->rows++;
}

static void thread_row(struct report *report, unsigned index)
{
	const struct model_thread *thread = model_thread(report->model, index);

	utilisation_row(report, "thread", thread->name, intervals_thread(report->intervals, index),
			thread->process, thread->tid);
}

static void executor_row(struct report *report, unsigned index)
{
	const struct model_executor *executor = model_executor(report->model, index);

	utilisation_row(report, "executor", executor->type,
			intervals_executor(report->intervals, index), executor->process, 0);
}

static void node_row(struct report *report, unsigned index)
{
	const struct model_node *node = model_node(report->model, index);

	utilisation_row(report, "node", node->full_name, intervals_node(report->intervals, index),
			node->process, 0);
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
		    void (*print)(struct report *, unsigned))
{
	unsigned all = model_count(report->model, kind), count = 0, i;
	struct report_row *rows = report_rows_new(all);

	for (i = 0; rows && i < all; i++) {
		const struct intervals_busy *busy = busy_at(report->intervals, i);

		if (!busy->runs || !busy_wanted(report, kind, i))
			continue;
		rows[count++] = (struct report_row){ i, (double)busy->busy_ns, "" };
	}
	if (rows)
		qsort(rows, count, sizeof(*rows), report_by_key);
	for (i = 0; rows && i < count && i < report_limit(report); i++)
		print(report, rows[i].index);
	free(rows);
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
