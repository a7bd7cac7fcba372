/* SPDX-License-Identifier: Apache-2.0 */
/* Sections written while the trace is read: one row per callback run, one per delivery. */
#include "report/report_internal.h"
#include "base/array.h"

static void cell_time(struct table *t, int64_t ns)
{
	if (ns)
		table_time(t, ns);
	else
		table_none(t);
}

/* Process or thread. */
static void cell_id(struct table *t, int64_t id)
{
	if (id)
		table_i64(t, id);
	else
		table_none(t);
}

static void cell_node(struct table *t, const struct model_node *node)
{
	table_text(t, node ? node->full_name : NULL);
}

static bool in_window(const struct report *report, int64_t ns)
{
	const struct report_options *options = report->options;

	return ns >= options->begin_ns && ns <= options->end_ns;
}

const struct table_column report_instance_columns[] = {
	{ "start_ns", "Start" },
	{ "duration_ns", "Duration" },
	{ "node", "Node" },
	{ "kind", "Kind" },
	{ "source", "Topic/period/service" },
	{ "pid", "Process" },
	{ "tid", "Thread" },
	{ "is_intra", NULL },
	{ "callback", NULL },
	{ "host", NULL },
	{ "depth", NULL },
	{ "publish_ns", NULL },
};
const unsigned report_instance_column_count = COUNT_OF(report_instance_columns);

static void on_instance(void *context, const struct model_instance *instance)
{
	const struct report *report = context;
	const struct model_callback *callback = instance->callback;
	struct table *t = report->table;
	char source[64];

	if (!report_wants_callback(report, callback) || !in_window(report, instance->start_ns))
		return;
	((struct report *)context)->rows++;
	table_time(t, instance->start_ns);
	table_ns(t, instance->duration_ns);
	cell_node(t, model_callback_node(callback));
	table_text(t, model_callback_kind_name(callback));
	table_text(t, model_callback_source(callback, source, sizeof(source)));
	table_i64(t, callback->process->pid);
	table_i64(t, instance->thread->tid);
	table_u64(t, instance->is_intra);
	table_hex(t, callback->address);
	table_text(t, callback->process->hostname);
	table_u64(t, instance->depth);
	cell_time(t, instance->message ? instance->message->publish_ns : 0);
}

const struct model_listener report_instance_rows = { .instance = on_instance };

const struct table_column report_message_columns[] = {
	{ "topic", "Topic" },
	{ "publisher", "From" },
	{ "subscriber", "To" },
	{ "publish_ns", "Published" },
	{ "latency_ns", "Latency" },
	{ "send_ns", NULL },
	{ "source_ns", NULL },
	{ "take_ns", NULL },
	{ "callback_ns", NULL },
	{ "is_intra", NULL },
	{ "id", NULL },
	{ "publish_pid", NULL },
	{ "publish_tid", NULL },
	{ "take_pid", NULL },
	{ "take_tid", NULL },
};
const unsigned report_message_column_count = COUNT_OF(report_message_columns);

static void on_taken(void *context, const struct model_message *m)
{
	const struct report *report = context;
	const struct model_node *to = m->subscription ? m->subscription->node : NULL;
	struct table *t = report->table;

	if (!report_wants_node(report, m->take_thread->process, to) || !report_wants_topic(report, m->topic) ||
	    !in_window(report, m->publish_ns ? m->publish_ns : m->take_ns))
		return;
	((struct report *)context)->rows++;
	table_text(t, m->topic ? m->topic->name : NULL);
	cell_node(t, m->publisher ? m->publisher->node : NULL);
	cell_node(t, to);
	cell_time(t, m->publish_ns);
	if (m->publish_ns && m->callback_ns)
		table_ns(t, m->callback_ns - m->publish_ns);
	else
		table_none(t);
	cell_time(t, m->send_ns);
	cell_time(t, m->source_ns ? kymo_ctf_mapped(report->reader, m->source_ns) : 0);
	cell_time(t, m->take_ns);
	cell_time(t, m->callback_ns);
	table_u64(t, m->is_intra);
	table_u64(t, m->id);
	cell_id(t, m->publish_thread ? m->publish_thread->process->pid : 0);
	cell_id(t, m->publish_thread ? m->publish_thread->tid : 0);
	cell_id(t, m->take_thread->process->pid);
	cell_id(t, m->take_thread->tid);
}

const struct model_listener report_message_rows = { .taken = on_taken };
