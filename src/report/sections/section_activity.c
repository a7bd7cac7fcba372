/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about communications, service calls, executors' threads and lifecycles. */
#include "report/report_internal.h"
#include "base/array.h"

/* cells_latency(), and the exact mean. */
static void cells_latency_mean(struct table *t, const struct histogram *h, int64_t error_ns)
{
	const double mean = histogram_mean(h);

	cells_latency(t, h, error_ns);
	CELL_IF(t, h->count && (mean > (double)error_ns || !error_ns), table_f64(t, mean));
}

/* ---- communications ---- */

static const struct table_column communication_columns[] = {
	{ "topic", "Topic" }, { "publisher", "From" }, { "subscriber", "To" },
	{ "kind", "Kind" }, { "published", "Published" }, { "taken", "Received" },
	{ "latency_count", NULL }, { "latency_min_ns", "Latency min" }, { "latency_mean_ns", "mean" },
	{ "latency_p50_ns", NULL }, { "latency_p99_ns", "p99" }, { "latency_max_ns", "max" },
	{ "latency_mean_exact_ns", NULL }, { "publish_pid", NULL }, { "take_pid", NULL },
	{ "latency_error_ns", NULL }, { "between_hosts", NULL },
};

static void communication_row(struct report *report, const struct report_row *row)
{
	const struct activity_link *link = row->of;
	struct table *t = report->table;

	table_text(t, link->publisher->topic->name);
	cell_node(t, link->publisher->node);
	cell_node(t, link->subscription->node);
	table_text(t, link->taken_intra ? "intra" : "inter");
	table_u64(t, activity_published(report->activity, link->publisher->index));
	table_u64(t, link->taken);
	cells_latency_mean(t, &link->latency, link->latency_error_ns);
	table_i64(t, link->publisher->process->pid);
	table_i64(t, link->subscription->process->pid);
	table_ns(t, link->latency_error_ns);
	table_u64(t, link->between_hosts);
}

static bool wants_link(const struct report *report, const struct activity_link *link)
{
	const struct model_publisher *from = link->publisher;
	const struct model_subscription *to = link->subscription;

	return report_wants_topic(report, from->topic) &&
	       (report_wants_node(report, from->process, from->node) ||
		report_wants_node(report, to->process, to->node));
}

void report_communications(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "communications",
		      "Communications; latency from publish to the start of the callback",
		      communication_columns, COUNT_OF(communication_columns));
	for (unsigned i = 0; i < activity_link_count(report->activity); i++) {
		const struct activity_link *link = activity_link(report->activity, i);

		if (wants_link(report, link) &&
		    report_shows_row(report, NULL, link->publisher->topic))
			REPORT_ROW(&rows, .index = i, .of = link,
				   .name = link->publisher->topic->name,
				   .key = report_sort_key(report->options->sort, &link->latency,
							  link->taken, 0));
	}
	report_rows_print(report, &rows, communication_row);
}

/* ---- frequency ---- */

static const struct table_column frequency_columns[] = {
	{ "what", "What" }, { "node", "Node" }, { "source", "Topic/period" }, { "second", "Second" },
	{ "count", "Count" }, { "start_ns", NULL }, { "pid", NULL }, { "callback", NULL },
};

struct frequency_of {
	const char *what, *source;
	const struct model_node *node;
	const struct model_process *process;
	const struct model_callback *callback;	/* NULL: a publisher */
	const struct model_topic *topic;        /* NULL: a callback */
};

static void frequency_rows(struct report *report, const struct frequency_of *of,
			   const struct activity_frequency *frequency, unsigned *shown,
			   unsigned *all)
{
	struct table *t = report->table;

	for (unsigned i = 0; i < frequency->seconds; i++) {
		if (!report_shows_row(report, of->callback, of->topic))
			continue;
		if ((*all)++ >= report_limit(report))
			continue;
		(*shown)++;
		table_text(t, of->what);
		cell_node(t, of->node);
		table_text(t, of->source);
		table_u64(t, i);
		table_u64(t, frequency->count[i]);
		table_time(t, frequency->first_ns + (int64_t)i * 1000000000);
		table_i64(t, of->process->pid);
		CELL_IF(t, of->callback, table_hex(t, of->callback->address));
	}
}

void report_frequency(struct report *report)
{
	unsigned shown = 0, all = 0;
	char source[64];

	table_section(report->table, "frequency",
		      "Runs and publications in each second since the first", frequency_columns,
		      COUNT_OF(frequency_columns));
	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct model_callback *c = model_callback(report->model, i);
		struct frequency_of of = { "callback",
					   model_callback_what(c, source, sizeof(source)),
					   model_callback_node(c),
					   c->process,
					   c,
					   NULL };

		if (report_wants_callback(report, c))
			frequency_rows(report, &of, activity_runs(report->activity, i), &shown,
				       &all);
	}
	for (unsigned i = 0; i < model_count(report->model, MODEL_PUBLISHER); i++) {
		const struct model_publisher *p = model_publisher(report->model, i);
		struct frequency_of of = { "publisher", p->topic->name, p->node,
					   p->process,  NULL,           p->topic };

		if (report_wants_node(report, p->process, p->node) &&
		    report_wants_topic(report, p->topic))
			frequency_rows(report, &of, activity_publications(report->activity, i),
				       &shown, &all);
	}
	report_more(report, shown, all);
	report->rows += all;
}

/* ---- service calls ---- */

#define SPAN(key, title)								\
	{ key "_count", NULL }, { key "_min_ns", NULL }, { key "_mean_ns", title " mean" },	\
	{ key "_p50_ns", NULL }, { key "_p99_ns", NULL }, { key "_max_ns", "max" },	\
	{ key "_mean_exact_ns", NULL }

static const struct table_column call_columns[] = {
	{ "service", "Service" }, { "node", "Node" }, { "side", "Seen from" }, { "calls", "Calls" },
	{ "answered", "Answered" }, { "unserved", "Never served" },
	SPAN("total", "Total"), SPAN("request", "Request"), SPAN("callback", "Callback"),
	SPAN("response", "Response"), { "pid", NULL },
};

static void call_rows(struct report *report, enum model_kind kind, unsigned *all, unsigned *shown)
{
	for (unsigned i = 0; i < model_count(report->model, kind); i++) {
		bool client = kind == MODEL_CLIENT;
		const struct model_service *s = client ? model_client(report->model, i) :
							 model_service(report->model, i);
		const struct activity_calls *calls = client ? activity_client(report->activity, i) :
							      activity_service(report->activity, i);
		struct table *t = report->table;

		if (!calls->calls || !report_wants_node(report, s->process, s->node) ||
		    (*all)++ >= report_limit(report))
			continue;
		(*shown)++;
		table_text(t, s->name);
		cell_node(t, s->node);
		table_text(t, client ? "client" : "service");
		table_u64(t, calls->calls);
		table_u64(t, calls->answered);
		table_u64(t, calls->unserved);
		cells_latency_mean(t, &calls->total, 0);
		cells_latency_mean(t, &calls->request, calls->error_ns);
		cells_latency_mean(t, &calls->callback, 0);
		cells_latency_mean(t, &calls->response, calls->error_ns);
		table_i64(t, s->process->pid);
	}
}

void report_calls(struct report *report)
{
	unsigned all = 0, shown = 0;

	table_section(report->table, "service-calls", "Service calls", call_columns,
		      COUNT_OF(call_columns));
	call_rows(report, MODEL_SERVICE, &all, &shown);
	call_rows(report, MODEL_CLIENT, &all, &shown);
	report_more(report, shown, all);
	report->rows += all;
	if (!all)
		table_note(report->table, "The trace contains no service calls. kymo records those that go through "
					  "rmw, as the calls of rclcpp and rclpy do; LTTng records them from "
					  "tracetools 8.5 (Kilted) on.");
}

/* ---- executors ---- */

static const struct table_column executor_columns[] = {
	{ "process", "Process" }, { "tid", "Thread" }, { "state", "State" }, { "count", "Count" },
	{ "min_ns", "Min" }, { "mean_ns", "Mean" }, { "p50_ns", NULL }, { "p99_ns", "p99" },
	{ "max_ns", "Max" }, { "mean_exact_ns", NULL }, { "total_ns", "Total" }, { "cut", NULL },
	{ "pid", NULL },
};

static void executor_rows(struct report *report, const struct model_thread *thread)
{
	const struct activity_thread *a = activity_thread(report->activity, thread->index);
	struct table *t = report->table;
	char text[128];

	for (unsigned k = 0; k < COUNT_OF(a->state); k++) {
		if (!a->state[k].count)
			continue;
		table_text(t, report_process(report, thread->process, text, sizeof(text)));
		table_i64(t, thread->tid);
		table_text(t, model_executor_state_name(k));
		cells_latency_mean(t, &a->state[k], 0);
		table_ns(t, (int64_t)a->state[k].sum);
		table_u64(t, a->cut);
		table_i64(t, thread->process->pid);
	}
}

/* Executors of which rclcpp has no events: the table lacks their threads. */
static void executors_silent(struct report *report)
{
	static const char *const types[] = { "events_executor", "events_cbg_executor" };

	for (unsigned k = 0; k < COUNT_OF(types); k++) {
		unsigned count = 0;

		for (unsigned i = 0; i < model_count(report->model, MODEL_EXECUTOR); i++) {
			const struct model_executor *executor = model_executor(report->model, i);

			count += report_wants_process(report, executor->process) &&
				 strcmp(executor->type, types[k]) == 0;
		}
		if (count)
			table_note(
				report->table,
				"%u %s: rclcpp reports nothing of what its threads do; "
				"executor-view and blocked-by show what its callbacks waited for.",
				count, types[k]);
	}
}

void report_executors(struct report *report)
{
	unsigned all = 0, shown = 0;

	table_section(report->table, "executors", "What executor threads did",
		      executor_columns, COUNT_OF(executor_columns));
	for (unsigned i = 0; i < model_count(report->model, MODEL_THREAD); i++) {
		const struct activity_thread *a = activity_thread(report->activity, i);
		unsigned rows = 0;

		if (!report_wants_process(report, model_thread(report->model, i)->process))
			continue;
		for (unsigned k = 0; k < COUNT_OF(a->state); k++)
			rows += a->state[k].count != 0;
		all += rows;
		if (!rows || all > report_limit(report))
			continue;
		executor_rows(report, model_thread(report->model, i));
		shown += rows;
	}
	report_more(report, shown, all);
	executors_silent(report);
	report->rows += all;
}

/* ---- lifecycles ---- */

static const struct table_column lifecycle_columns[] = {
	{ "node", "Node" }, { "state", "State" }, { "from", "From" }, { "duration_ns", "Duration" },
	{ "start_ns", NULL }, { "end_ns", NULL }, { "pid", "Process" }, { "state_machine", NULL },
};

void report_lifecycles(struct report *report)
{
	unsigned count = activity_state_count(report->activity), shown = 0, all = 0;
	struct table *t = report->table;
	char text[32];

	table_section(t, "lifecycle", "States of lifecycle nodes", lifecycle_columns,
		      COUNT_OF(lifecycle_columns));
	for (unsigned i = 0; i < count; i++) {
		const struct activity_state *s = activity_state(report->activity, i);

		if (!report_wants_node(report, s->machine->process, s->node) ||
		    all++ >= report_limit(report))
			continue;
		shown++;
		cell_node(t, s->node);
		table_text(t, s->label);
		table_text(t, s->start_ns ? report_offset(report, s->start_ns, text, sizeof(text))
					  : NULL);
		CELL_IF(t, s->start_ns && s->end_ns, table_ns(t, s->end_ns - s->start_ns));
		CELL_IF(t, s->start_ns, table_time(t, s->start_ns));
		CELL_IF(t, s->end_ns, table_time(t, s->end_ns));
		table_i64(t, s->machine->process->pid);
		table_hex(t, s->machine->handle);
	}
	report_more(report, shown, all);
	report->rows += all;
}
