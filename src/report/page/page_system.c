/* SPDX-License-Identifier: Apache-2.0 */
/* What talks to what, and where the page comes from. */

#include "report/page/page_internal.h"

/* ---- the graph: nodes, and topics between them ---- */

static void put_nodes(struct page *page)
{
	const struct model *model = page->report->model;

	json_text_open(&page->json, "nodes", '[');
	for (unsigned i = 0; i < model_count(model, MODEL_NODE); i++) {
		const struct model_node *node = model_node(model, i);

		json_text_open(&page->json, NULL, '{');
		json_text_string(&page->json, "name", node->full_name);
		json_text_string(&page->json, "process", node->process->name);
		json_text_i64(&page->json, "pid", node->process->pid);
		page_put_text(page, "host", node->process->hostname);
		json_text_close(&page->json, '}');
	}
	json_text_close(&page->json, ']');
}

/* [topic, node] of each publisher or subscription that is known to be of a node. */
static void put_ends(struct page *page, const char *key, bool is_publisher)
{
	const struct model *model = page->report->model;
	const unsigned count =
		model_count(model, is_publisher ? MODEL_PUBLISHER : MODEL_SUBSCRIPTION);

	json_text_open(&page->json, key, '[');
	for (unsigned i = 0; i < count; i++) {
		const struct model_publisher *publisher =
			is_publisher ? model_publisher(model, i) : NULL;
		const struct model_subscription *subscription =
			is_publisher ? NULL : model_subscription(model, i);
		const struct model_node *node = publisher ? publisher->node : subscription->node;
		const struct model_topic *topic =
			publisher ? publisher->topic : subscription->topic;
		const int number = topic ? page_number(page, SUMMARY_TOPIC, topic->name) : -1;

		if (!node || number < 0)
			continue;
		json_text_open(&page->json, NULL, '[');
		json_text_i64(&page->json, NULL, number);
		json_text_u64(&page->json, NULL, node->index);
		json_text_close(&page->json, ']');
	}
	json_text_close(&page->json, ']');
}

void page_put_graph(struct page *page)
{
	json_text_open(&page->json, "graph", '{');
	put_nodes(page);
	put_ends(page, "publishers", true);
	put_ends(page, "subscriptions", false);
	json_text_close(&page->json, '}');
}

/* ---- provenance ---- */

static void put_processes(struct page *page)
{
	const struct model *model = page->report->model;

	json_text_open(&page->json, "processes", '[');
	for (unsigned i = 0; model && i < model_count(model, MODEL_PROCESS); i++) {
		const struct model_process *process = model_process(model, i);

		json_text_open(&page->json, NULL, '{');
		json_text_string(&page->json, "name", process->name);
		json_text_i64(&page->json, "pid", process->pid);
		page_put_text(page, "host", process->hostname);
		page_put_text(page, "rmw", process->rmw);
		page_put_text(page, "tracetools", process->tracetools);
		page_put_text(page, "distribution", process->distribution);
		json_text_u64(&page->json, "events", process->events);
		json_text_close(&page->json, '}');
	}
	json_text_close(&page->json, ']');
}

static void put_fired(struct page *page, const struct report_fired *fired)
{
	json_text_open(&page->json, "fired", '{');
	json_text_string(&page->json, "name", fired->name);
	json_text_string(&page->json, "why", fired->why);
	if (fired->total_ns) {
		page_put_time(page, "begin", fired->begin_ns);
		json_text_i64(&page->json, "ns", fired->total_ns);
	}
	json_text_close(&page->json, '}');
}

void page_put_provenance(struct page *page)
{
	const struct report_options *o = page->report->options;
	const struct summary *summary = page->summary;
	char text[128];

	json_text_open(&page->json, "provenance", '{');
	page_put_text(page, "host", summary->host);
	for (unsigned part = 0; part < MACHINE_PARTS; part++)
		page_put_text(page, accounts_machine_name((enum accounts_machine)part),
			      summary->machine[part]);
	page_put_text(page, "made_by", o->page_version);
	page_put_text(page, "command", o->page_command);
	page_put_text(page, "rules", o->told_rules);
	page_put_text(page, "snapshot", o->told_snapshot);
	if (o->told_fired)
		put_fired(page, o->told_fired);
	if (o->clock)
		page_put_text(page, "clock", simclock_text(o->clock, text, sizeof(text)));
	json_text_open(&page->json, "traces", '[');
	for (unsigned i = 0; i < o->traces; i++)
		json_text_string(&page->json, NULL, o->trace[i]);
	json_text_close(&page->json, ']');
	put_processes(page);
	json_text_close(&page->json, '}');
}
