/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo flow`: the passes over the trace, which chains are shown, and the remarks. */
#include "report/flow/flow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/text.h"
#include "report/flow/flow_internal.h"
#include "report/report_ways.h"

#define ROWS_AS_TEXT 20u

/* ---- the pass ---- */

static void on_loss(void *context, const struct model_loss *loss)
{
	struct flow *flow = context;

	flow->lost_events += loss->events;
	flow->lost_packets += loss->packets;
	flow->lost_of_chains += loss->is_elsewhere ? 0 : loss->events + loss->packets;
}

const struct model_listener flow_loss_listener = { .loss = on_loss };

static int pass(struct flow *flow, const struct chains_options *chains, struct kymo_err *err)
{
	const struct pass_options progress = { .progress = flow->options->progress,
					       .context = flow->options->context };

	passes_free(&flow->passes);
	flow->capture = NULL;
	flow->lost_events = flow->lost_packets = flow->lost_of_chains = 0;
	if (model_create(&flow->model, err))
		return -1;
	pass_add(&flow->passes, &model_pass, flow->model);
	if (chains_create(&flow->chains, flow->model, chains, err))
		return -1;
	pass_add(&flow->passes, &chains_pass, flow->chains);
	if (flow->options->captures && capture_create(&flow->capture, flow->options->captures,
						      flow->model, flow->options->align, err))
		return -1;
	if (flow->capture)
		pass_add(&flow->passes, &capture_pass, flow->capture);
	if (model_listen(flow->model, &flow_loss_listener, flow, err))
		return -1;
	return pass_run(&flow->passes, flow->reader, &progress, err);
}

/* ---- which chains ---- */

/* A chain touches what is asked for with any of its steps, and what is to be left out with none. */
struct touch {
	bool asked, left_out;
};

static void touch(struct touch *touch, const struct opt_list *globs, const char *name)
{
	touch->asked |= selection_matches(globs, name);
	touch->left_out |= selection_leaves_out(globs, name);
}

static bool is_wanted(const struct flow *flow, const struct chains_path *path)
{
	const struct selection *selection = flow->options->selection;
	struct touch nodes = { 0 }, topics = { 0 };
	bool process = false;

	if (!chains_is_chain(flow->chains, path))
		return false;
	for (; path && selection; path = path->parent) {
		const struct model_callback *callback = path->callback;
		const struct model_node *node = callback ? model_callback_node(callback) :
							   path->publisher->node;
		const struct model_process *of =
			callback ? callback->process : path->publisher->process;
		const struct model_topic *topic = callback && callback->subscription ?
						  callback->subscription->topic :
						  path->publisher ? path->publisher->topic : NULL;

		touch(&nodes, &selection->node, node ? node->full_name : NULL);
		touch(&topics, &selection->topic, topic ? topic->name : NULL);
		process |= selection_process(selection, of->name, of->pid);
	}
	return !selection || (nodes.asked && !nodes.left_out && topics.asked && !topics.left_out &&
			      process);
}

/* Longest way first, then what happened most often, then what appeared first. */
static int by_length(const void *a, const void *b)
{
	const struct chains_path *x = *(const struct chains_path *const *)a;
	const struct chains_path *y = *(const struct chains_path *const *)b;

	return ORDER(y->hops, x->hops) ?: ORDER(y->count, x->count) ?: ORDER(x->index, y->index);
}

/* Rows. A chain that is named by its number may be in none of the first. */
static unsigned limit_of(const struct flow_options *options)
{
	if (options->chain)
		return UINT32_MAX;
	if (options->limit)
		return options->limit < UINT32_MAX ? (unsigned)options->limit : UINT32_MAX;
	return options->format == TABLE_TEXT ? ROWS_AS_TEXT : UINT32_MAX;
}

/* Of the processes that were named: those that lead through no others of their names, or else all.
 */
static void keep_ways(struct flow *flow)
{
	unsigned fits = 1, kept = 0;

	for (unsigned i = 0; i < flow->chains_all; i++)
		if (report_ways_leads(flow->ways, flow->chain[i]) > fits)
			fits = 2;
	for (unsigned i = 0; i < flow->chains_all; i++)
		if (report_ways_leads(flow->ways, flow->chain[i]) >= fits)
			flow->chain[kept++] = flow->chain[i];
	flow->chains_all = kept;
}

static void count_rows(struct flow *flow)
{
	const unsigned limit = limit_of(flow->options);

	flow->chains_shown = flow->rows_shown = flow->rows_all = 0;
	for (unsigned i = 0; i < flow->chains_all; i += flow_folded(flow, i)) {
		if (flow->rows_all++ >= limit)
			continue;
		flow->rows_shown++;
		flow->chains_shown = i + flow_folded(flow, i);
	}
}

static int choose(struct flow *flow, struct kymo_err *err)
{
	unsigned count = chains_path_count(flow->chains), i;

	free(flow->chain);
	flow->chain = calloc(count ? count : 1, sizeof(*flow->chain));
	if (!flow->chain)
		return err_no_memory(err);
	flow->chains_all = 0;
	for (i = 0; i < count; i++)
		if (is_wanted(flow, chains_path(flow->chains, i)))
			flow->chain[flow->chains_all++] = chains_path(flow->chains, i);
	keep_ways(flow);
	if (flow->chains_all)
		qsort(flow->chain, flow->chains_all, sizeof(*flow->chain), by_length);
	if (flow_put_together(flow))
		return err_no_memory(err);
	count_rows(flow);
	return 0;
}

/* Paths are numbered alike in each pass: collect the times of those that will be shown. */
static int second_pass(struct flow *flow, struct chains_options *options, struct kymo_err *err)
{
	uint32_t bits = chains_path_count(flow->chains);
	uint8_t *collect = calloc(bits / 8 + 1, 1);
	unsigned i;
	int status;

	if (!collect)
		return err_no_memory(err);
	for (i = 0; i < flow->chains_shown && i < CHAINS_EAGER; i++)
		collect[flow->chain[i]->index / 8] |= 1u << flow->chain[i]->index % 8;
	options->collect = collect;
	options->collect_bits = bits;
	status = pass(flow, options, err);
	free(collect);
	return status ? status : choose(flow, err);
}

static bool all_timed(const struct flow *flow)
{
	unsigned i;

	for (i = 0; i < flow->chains_shown; i++)
		if (!flow->chain[i]->stats && flow->chain[i]->index >= CHAINS_EAGER)
			return false;
	return true;
}

/* ---- facts and remarks ---- */

/* What the recorder counted may be more than what the packets say. */
static bool count_lost(struct flow *flow)
{
	const struct flow_options *options = flow->options;
	bool whole = options->begin_ns == INT64_MIN && options->end_ns == INT64_MAX;

	if (whole && options->told_lost > flow->lost_events)
		flow->lost_events = options->told_lost;
	if (whole && options->told_lost > flow->lost_of_chains)
		flow->lost_of_chains = options->told_lost;
	return flow->lost_events || flow->lost_packets;
}

static void print_lost(const struct flow *flow)
{
	table_value_u64(flow->table, "lost_events", "Lost events", flow->lost_events);
	if (flow->lost_packets || flow->options->format != TABLE_TEXT)
		table_value_u64(flow->table, "lost_packets", "Lost packets", flow->lost_packets);
}

static void print_facts(struct flow *flow)
{
	const struct flow_options *options = flow->options;
	struct table *t = flow->table;

	flow_print_trace(flow);
	if (options->pattern)
		table_value_text(t, "pattern", "Chain", options->pattern);
	if (!options->message && options->at_ns == INT64_MIN) {
		table_value_u64(t, "chains_count", "Chains", flow->chains_all);
		table_value_u64(t, "links", "Message links", chains_facts(flow->chains)->links);
	}
	print_lost(flow);
	if (chains_facts(flow->chains)->latest_used)
		table_value_text(t, "latest", "Assumed (--latest)",
				 "a timer that publishes uses what its node received last; links marked ~> "
				 "on timers without a message_link are not facts of the trace");
}

static void print_exceeded(struct flow *flow)
{
	const struct chains_facts *facts = chains_facts(flow->chains);
	static const char *const texts[] = {
		"steps of new paths were not followed: there are too many different paths.",
		"chains were cut off: they have more than 64 steps.",
		"messages were received long after they were sent; what led to them was no longer in memory.",
		"chains were not followed: more than 64 led to one message.",
	};
	const uint64_t counts[] = { facts->paths_exceeded, facts->steps_exceeded,
				    facts->lookback_exceeded, facts->fan_in_exceeded };
	static const char *const keys[] = { "paths_exceeded", "steps_exceeded",
					    "lookback_exceeded", "fan_in_exceeded" };

	for (unsigned i = 0; i < COUNT_OF(counts); i++) {
		if (flow->options->format != TABLE_TEXT)
			table_value_u64(flow->table, keys[i], keys[i], counts[i]);
		else if (counts[i])
			table_note(flow->table, "%" PRIu64 " %s", counts[i], texts[i]);
	}
}

static void print_remarks(struct flow *flow)
{
	uint64_t between = 0;
	unsigned i;

	for (i = 0; i < flow->chains_shown; i++)
		between += flow->chain[i]->between_hosts;
	if (between)
		table_note(flow->table, "%" PRIu64 " arrivals have no times: the chain crosses hosts, "
			   "and their clocks cannot be compared.", between);
	if (model_facts(flow->model)->publishes_without_timestamp)
		table_note(flow->table, "%" PRIu64 " messages of ROS 2 Iron or older have no time stamp: "
			   "their chains end where they are published.",
			   model_facts(flow->model)->publishes_without_timestamp);
	if (flow->lost_of_chains)
		table_note(flow->table, "Events were lost, so chains may look broken that were not.");
	if (!flow->options->pattern && !flow->options->all_topics)
		table_note(flow->table, "Chains over /rosout and /parameter_events are left out; --all "
			   "shows them.");
}

/* Else the worst loop or span of a program without ROS 2 was looked for first. */
static bool asks_chains(const struct flow_options *options)
{
	return options->pattern || options->chain || options->latest || options->captures ||
	       selection_any(options->selection);
}

static const char *why_empty(const struct flow *flow, char *buffer, size_t size)
{
	const struct flow_options *options = flow->options;
	const char *near = NULL, *missing = chains_missing(flow->chains, &near);
	struct report_typed typed = { 0 };

	if (*flow->ways)
		report_typed_chains(flow->model, flow->chains, flow->pattern, &typed);
	if (missing && near)
		snprintf(buffer, size, "There is no node or topic '%s' in the trace. Did you mean %s? "
			 "`kymo report --section nodes --section topics` lists them, `kymo flow` the "
			 "chains.", missing, near);
	else if (missing)
		snprintf(buffer, size, "There is no node or topic '%s' in the trace. `kymo report "
			 "--section nodes --section topics` lists them, `kymo flow` the chains.", missing);
	else if (options->at_ns != INT64_MIN)
		snprintf(buffer, size, "No chain begins at that time or later%s. `kymo flow` without --at lists the "
			 "chains of the trace.", selection_any(options->selection) ? " of what was selected" : "");
	else if (options->message)
		snprintf(buffer, size, "No such message was published in the trace. `kymo report --section "
			 "messages --format csv` lists them with their ids.");
	else if (!model_facts(flow->model)->ros_events)
		snprintf(buffer, size, "%s", flow_no_ros(flow->reader, asks_chains(options)));
	else if (typed.count)
		report_typed_text(&typed, flow->pattern, flow->ways, buffer, size);
	else if (options->pattern)
		snprintf(buffer, size, "No message followed this chain. `kymo flow` without a chain lists those of "
			 "the trace; --latest also follows timers that publish what was received before.");
	else
		snprintf(buffer, size, "No message that a callback published reached another callback%s%s.",
			 selection_any(options->selection) ? " that --node, --topic and --process select" : "",
			 options->begin_ns != INT64_MIN || options->end_ns != INT64_MAX ?
			 " between --begin and --end" : "");
	return buffer;
}

/* ---- all of it ---- */

static int print(struct flow *flow, bool *lost, struct kymo_err *err)
{
	bool tree = flow->options->message || flow->options->at_ns != INT64_MIN;
	bool is_empty = tree ? !chains_tree_count(flow->chains) : !flow->chains_shown;
	char why[1024], text[2048];

	*lost = count_lost(flow);
	/* Of a chain that the trace does not have, people need nothing but the reason. */
	if (!is_empty || !flow->options->pattern || flow->options->format != TABLE_TEXT) {
		print_facts(flow);
		report_print_hosts(flow->table, flow->options->align);
	} else if (*lost) {
		print_lost(flow);
	}
	if (is_empty) {
		table_value_text(flow->table, "why_empty", "Nothing to show",
				 text_hints(text, sizeof(text), why_empty(flow, why, sizeof(why)),
					      flow->options->operand));
		return KYMO_EXIT_EMPTY;
	}
	if (tree) {
		flow_print_tree(flow);
		flow_print_wire_tree(flow);
		return KYMO_EXIT_OK;
	}
	flow_print_chains(flow);
	flow_print_segments(flow);
	flow_print_inside(flow);
	flow_print_stops(flow);
	flow_print_worst(flow);
	if (flow_print_wire(flow, err))
		return -1;
	print_exceeded(flow);
	print_remarks(flow);
	return KYMO_EXIT_OK;
}

int flow_run(struct kymo_ctf_reader *reader, const char *path, const struct flow_options *options,
	     struct table *table, bool *lost, struct kymo_err *err)
{
	struct flow flow = { .options = options, .path = path, .reader = reader, .table = table,
			     .pattern = options->pattern };
	bool tree = options->message || options->at_ns != INT64_MIN;
	struct chains_options chains = {
		.all_topics = options->all_topics || options->message,
		.latest = options->latest,
		.begin_ns = options->begin_ns,
		.end_ns = options->end_ns,
		.worst = options->worst,
		.hops = options->captures != NULL,
		.follow_id = options->message,
		.follow_ns = options->at_ns,
	};
	int status = -1;

	if (options->suggest)
		return flow_suggest(&flow, lost, err);
	if (report_ways_split(options->pattern, flow.name, sizeof(flow.name), flow.ways,
			      sizeof(flow.ways)))
		flow.pattern = flow.name;
	chains.pattern = flow.pattern;
	chains.calls = reader_declares(reader, "ros2:rmw_take_response");
	if (pass(&flow, &chains, err) || choose(&flow, err))
		goto out;
	if (!tree && !all_timed(&flow) && second_pass(&flow, &chains, err))
		goto out;
	if (options->chain > flow.chains_shown && flow.chains_shown && !tree) {
		err_set(err, KYMO_EXIT_USAGE, "no chain %" PRIu64 "; there are %u", options->chain,
			flow.chains_shown);
		goto out;
	}
	status = print(&flow, lost, err);
out:
	free(flow.chain);
	free(flow.alike);
	passes_free(&flow.passes);
	return status;
}
