/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: the sentence if there is nothing to show: why not, and what to write instead. */
#include <stdio.h>
#include <string.h>

#include "abi/tracetools.h"
#include "base/text.h"
#include "report/flow/flow_text.h"
#include "report/why/report_why_goals.h"

#define HUMBLE_TELLS_LESS                                                                          \
	" ROS 2 Humble itself traces neither messages within a process nor those of generic "     \
	"publishers and subscriptions."

/* The node whose name has what was typed in it, or what has nearly that name; NULL: nothing. */
static const char *near_name(const struct why_answer *answer)
{
	struct text_nearest nearest = { 0 };
	const char *name;

	for (unsigned i = 0; i < model_count(answer->model, MODEL_NODE); i++) {
		name = model_node(answer->model, i)->full_name;
		if (strstr(name, answer->options->callback))
			return name;
		text_nearest_try(&nearest, answer->options->callback, name);
	}
	return nearest.name ? nearest.name : *answer->near ? answer->near : NULL;
}

/* Has a callback, an action, a loop or a span the name that was asked for, whenever it ran? */
static bool is_known(const struct why_answer *answer)
{
	bool known = answer->is_known || !answer->options->callback;

	for (unsigned i = 0; !known && i < model_count(answer->model, MODEL_CALLBACK); i++)
		known = why_is_asked(answer, model_callback(answer->model, i));
	return known;
}

static void empty_at(const struct why_answer *answer, char *buffer, size_t size)
{
	const struct why_options *o = answer->options;
	const char *near = is_known(answer) ? NULL : near_name(answer);

	if (is_known(answer))
		(void)snprintf(buffer, size,
			       "%s ran at that time. `kymo dump --begin TIME` shows the events after it; "
			       "without --at, kymo why takes the longest instance.",
			       o->pattern || o->callback ? "Nothing of that name" : "No callback, loop or span");
	else
		(void)snprintf(buffer, size,
			       "No callback, action, loop or span of the trace has the name '%s'.%s%s%s "
			       "`kymo report --section callbacks --section actions --section loops "
			       "--section spans` lists those that it has.",
			       o->callback, near ? " Did you mean " : "", near ? near : "", near ? "?" : "");
}

/* In which processes it ran instead. Return: false: it did not run at all. */
static bool empty_ways(const struct why_answer *answer, char *buffer, size_t size)
{
	const struct why_options *o = answer->options;
	struct report_typed typed = answer->typed;

	why_ways_list(answer, &typed);
	if (typed.count)
		report_typed_text(&typed, o->pattern ? o->pattern : o->callback, answer->ways,
				  buffer, size);
	return typed.count;
}

/* Did something arrive that cannot be timed? */
static bool is_between_hosts(const struct why_answer *answer)
{
	for (unsigned i = 0; i < chains_path_count(answer->chains); i++)
		if (chains_path(answer->chains, i)->between_hosts)
			return true;
	return false;
}

/* Was a process of the trace one of ROS 2 Humble or older? */
static bool has_humble(const struct model *model)
{
	bool has = false;

	for (unsigned i = 0; !has && i < model_count(model, MODEL_PROCESS); i++) {
		const char *text = model_process(model, i)->tracetools;
		const uint32_t version = kymo_tracetools_number(text);

		has = version && version <= kymo_tracetools_ranges[KYMO_TRACETOOLS_HUMBLE].to;
	}
	return has;
}

/* Return: NULL: there is none of that name. */
static const struct model_topic *topic_of(const struct model *model, const char *name)
{
	for (unsigned i = 0; i < model_count(model, MODEL_TOPIC); i++)
		if (!strcmp(model_topic(model, i)->name, name))
			return model_topic(model, i);
	return NULL;
}

/* A node that received messages of the topic; NULL: none did, or its name is not known. */
static const char *receiver_of(const struct model *model, const struct model_topic *topic)
{
	for (unsigned i = 0; i < model_count(model, MODEL_SUBSCRIPTION); i++) {
		const struct model_subscription *its = model_subscription(model, i);

		if (its->topic == topic && its->first_take_ns && its->node)
			return its->node->full_name;
	}
	return NULL;
}

/* A topic was named, and no node. Return: false: it is none. */
static bool empty_topic(const struct why_answer *answer, char *buffer, size_t size)
{
	const struct model *model = answer->model;
	const char *name = answer->options->callback, *node;
	const struct model_topic *topic = name ? topic_of(model, name) : NULL;

	if (!topic)
		return false;
	node = receiver_of(model, topic);
	if (node)
		(void)snprintf(buffer, size, "'%s' is a topic. Name it with a node that receives it: `kymo why '%s -> %s'`.", name,
			       name, node);
	else
		(void)snprintf(buffer, size, "'%s' is a topic, and the trace has no message of it that a node received.%s", name,
			       topic->subscriptions && has_humble(model) ? HUMBLE_TELLS_LESS : "");
	return true;
}

const char *why_empty(const struct why_answer *answer, char *buffer, size_t size)
{
	const struct why_options *o = answer->options;
	const char *near = NULL, *missing = chains_missing(answer->chains, &near);

	if (missing)
		snprintf(buffer, size, "There is no node or topic '%s' in the trace.%s%s%s", missing,
			 near ? " Did you mean " : " `kymo report --section nodes --section topics` lists them.",
			 near ? near : "", near ? "?" : "");
	else if (o->message)
		snprintf(buffer, size, "No message of the trace has this number. `kymo report --section messages --format csv` lists the numbers of "
			 "messages that were received, `kymo why` those of messages that were lost on a chain.");
	else if (answer->has_open_goals)
		(void)snprintf(buffer, size, "%s", why_goals_open());
	else if (o->at_ns)
		empty_at(answer, buffer, size);
	else if (*answer->ways && empty_ways(answer, buffer, size))
		;
	else if (!model_facts(answer->model)->ros_events && o->callback)
		snprintf(buffer, size,
			 "The trace has no loop or span '%s'.%s%.200s%s `kymo report --section loops --section spans` "
			 "lists those that it has.",
			 o->callback, *answer->near ? " Did you mean " : "", answer->near, *answer->near ? "?" : "");
	else if (!model_facts(answer->model)->ros_events)
		snprintf(buffer, size, "%s", flow_no_ros(answer->reader, o->pattern));
	else if (empty_topic(answer, buffer, size))
		;
	else if (o->callback && near_name(answer))
		snprintf(buffer, size, "No callback of '%s' ran. Did you mean %s?", o->callback, near_name(answer));
	else if (o->callback)
		snprintf(buffer, size,
			 "No callback of '%s' ran%s. `kymo report --section callbacks` lists those "
			 "that did.",
			 o->callback,
			 strchr(o->callback, '/') ? ", and no trace has this path" : "");
	else if (o->pattern && is_between_hosts(answer))
		snprintf(buffer, size, "The chain goes from one host to another, and their clocks cannot be compared, so the "
			 "latency is not known. `kymo report --section hosts` says why, and what helps.");
	else if (o->pattern)
		snprintf(buffer, size, "No message followed this chain. `kymo flow` lists the chains of the trace.");
	else
		snprintf(buffer, size, "No callback returned%s.",
			 o->begin_ns != INT64_MIN || o->end_ns != INT64_MAX ? " between --begin and --end" : "");
	return buffer;
}
