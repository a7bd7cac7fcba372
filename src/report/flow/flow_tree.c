/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo flow --message`, `--at`: one message with what led to it and what followed, as a tree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/flow/flow_internal.h"
#include "base/array.h"

#define NO_TIME INT64_MIN

#define COLUMNS(awaited)                                                                   \
	{                                                                                  \
		{ "row", NULL }, { "parent", NULL }, { "depth", NULL }, { "kind", NULL },  \
			{ "what", "What" }, { "at", "At" }, { "begin_ns", NULL },          \
			{ "publish_ns", "Publish" }, { "transport_ns", "Transport" },      \
			{ "wait_ns", "Wait" }, { "take_ns", "Take" }, { "run_ns", "Run" }, \
			{ "awaited_ns", awaited }, { "cached_ns", "Cached" },              \
			{ "message", "Message" }, { "link", NULL }, { "tid", "Thread" },   \
			{ "asked", NULL },                                                 \
	}
/* People see the column where a callback of the tree awaited something. */
static const struct table_column columns[] = COLUMNS(NULL), await_columns[] = COLUMNS("Awaited");

static void cell(struct table *t, int64_t ns)
{
	CELL_IF(t, ns != NO_TIME, table_ns(t, ns));
}

static const char *drop_text(enum model_drop why)
{
	static const char *const texts[] = {
		[MODEL_DROP_OVERWRITTEN] = "overwritten",
		[MODEL_DROP_CLEARED] = "buffer cleared",
		[MODEL_DROP_UNTAKEN] = "not taken",
	};

	return texts[why];
}

static const char *kind_of(const struct chains_tree_step *step)
{
	return step->is_dropped ? "dropped" : step->callback ? "callback" : "message";
}

static void what(const struct flow *flow, const struct chains_tree_step *step, char *buffer,
		 size_t size)
{
	unsigned indent = flow->options->format == TABLE_TEXT ? step->depth * 2 : 0;
	const struct model_node *node;
	char label[CHAINS_LABEL_MAX];

	if (indent > 60)
		indent = 60;
	if (step->is_dropped) {
		node = step->subscription ? step->subscription->node : NULL;
		snprintf(buffer, size, "%*s%s%s%s", indent, "", drop_text(step->why),
			 node ? " before " : "", node ? node->full_name : "");
		return;
	}
	if (step->publisher)
		snprintf(label, sizeof(label), "%s%s", step->publisher->topic->name,
			 chains_call_text(step->call));
	else
		model_callback_label(step->callback, label, sizeof(label));
	snprintf(buffer, size, "%*s%s%s%s", indent, "", step->link == CHAINS_DIRECT ? "" : "~> ", label,
		 step->is_asked && flow->options->format == TABLE_TEXT ? "  <--" : "");
}

/* The message's path to a callback, as in the chains' segments. */
static void cells_way(struct table *t, const struct chains_tree_step *step,
		      const struct chains_tree_step *parent)
{
	bool is_way = step->callback && parent && parent->publisher && step->take_ns;
	int64_t error_ns = KYMO_CTF_ERROR_UNKNOWN, sent_ns;

	if (is_way)
		error_ns = model_clock_error(parent->publisher->process, step->callback->process,
					     step->take_ns);
	if (error_ns == KYMO_CTF_ERROR_UNKNOWN) {
		cells_none(t, 4);
		return;
	}
	sent_ns = step->send_ns ? step->send_ns : parent->publish_ns;
	table_ns(t, sent_ns - parent->publish_ns);
	table_ns_within(t, step->take_ns - sent_ns - step->wait_ns, error_ns);
	table_ns(t, step->wait_ns);
	table_ns(t, step->begin_ns - step->take_ns);
}

static void row(struct flow *flow, unsigned index)
{
	const struct chains_tree_step *step = chains_tree(flow->chains, index), *parent = NULL;
	struct table *t = flow->table;
	char text[CHAINS_LABEL_MAX + 80];

	if (step->parent >= 0)
		parent = chains_tree(flow->chains, (unsigned)step->parent);
	table_u64(t, index);
	CELL_IF(t, parent, table_i64(t, step->parent));
	table_u64(t, step->depth);
	table_text(t, kind_of(step));
	what(flow, step, text, sizeof(text));
	table_text(t, text);
	table_text(t, flow_offset(flow, step->begin_ns, text, sizeof(text)));
	table_time(t, step->begin_ns);
	cells_way(t, step, parent);
	cell(t, step->callback && step->end_ns >= 0
			? step->end_ns - step->begin_ns - step->awaited_ns
			: NO_TIME);
	cell(t, step->awaited_ns ? step->awaited_ns : NO_TIME);
	cell(t, step->publisher && step->link != CHAINS_DIRECT && parent && parent->end_ns >= 0 ?
			step->begin_ns - parent->end_ns : NO_TIME);
	CELL_IF(t, step->id, table_u64(t, step->id));
	table_text(t, step->publisher ? chains_link_name(step->link) : NULL);
	CELL_IF(t, step->thread, table_i64(t, step->thread->tid));
	table_u64(t, step->is_asked);
}

/* The steps were kept in order of time; a tree is read from the top, branch by branch. */
static void branch(struct flow *flow, const unsigned *first, const unsigned *next, unsigned index)
{
	unsigned child;

	row(flow, index);
	for (child = first[index]; child; child = next[child])
		branch(flow, first, next, child);
}

static void print_branches(struct flow *flow, unsigned *first, unsigned *next)
{
	unsigned count = chains_tree_count(flow->chains), i;
	const struct chains_tree_step *step;

	/* From behind, so that each list is in order. Step 0 is no child: 0 means none. */
	for (i = count; i-- > 1;) {
		step = chains_tree(flow->chains, i);
		if (step->parent < 0)
			continue;
		next[i] = first[step->parent];
		first[step->parent] = i;
	}
	for (i = 0; i < count; i++)
		if (chains_tree(flow->chains, i)->parent < 0)
			branch(flow, first, next, i);
}

static bool has_awaits(const struct flow *flow)
{
	for (unsigned i = 0; i < chains_tree_count(flow->chains); i++)
		if (chains_tree(flow->chains, i)->awaited_ns)
			return true;
	return false;
}

void flow_print_tree(struct flow *flow)
{
	unsigned count = chains_tree_count(flow->chains);
	unsigned *links = calloc(2 * (size_t)count, sizeof(*links));
	uint64_t others = chains_facts(flow->chains)->tree_causes;

	table_section(flow->table, "tree", "What led to it, and what followed",
		      has_awaits(flow) ? await_columns : columns, COUNT_OF(columns));
	if (links)
		print_branches(flow, links, links + count);
	free(links);
	if (others)
		table_note(flow->table, "%" PRIu64 " other chains led to this message, too.", others);
	if (count == CHAINS_TREE_MAX)
		table_note(flow->table, "Only the first %u steps are shown; there are more.", count);
}
