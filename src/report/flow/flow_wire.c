/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo flow --capture`: when the packets of messages were on the wire. */
#include "base/array.h"
#include "report/flow/flow_internal.h"
#include "report/report_wire.h"

/* ---- the publishers of the chains that are shown in detail ---- */

static bool is_on_chain(const void *context, const struct model_publisher *publisher)
{
	const struct flow *flow = context;

	for (unsigned i = 0; i < flow->chains_shown; i++)
		for (const struct chains_path *path = flow->chain[i]; path; path = path->parent)
			if (path->publisher == publisher && flow_is_detailed(flow, i))
				return true;
	return false;
}

/* ---- the messages of the longest instances ---- */

static const struct table_column worst_columns[] = {
	{ "chain", "#" }, { "rank", NULL }, { "step", NULL }, WIRE_MESSAGE_COLUMNS,
};

static void worst_rows(struct flow *flow, unsigned at, unsigned rank)
{
	const struct chains_hop *hop = flow->chain[at]->stats->worst[rank].hop;
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const unsigned steps = chains_steps(flow->chain[at], step);

	for (unsigned i = 0; hop && i < steps; i++) {
		const struct capture_message *message =
			step[i]->publisher ? capture_publication(flow->capture, hop[i].id) : NULL;

		if (!message)
			continue;
		table_u64(flow->table, at + 1);
		table_u64(flow->table, rank + 1);
		table_u64(flow->table, i);
		wire_message_cells(flow->table, message);
	}
}

int flow_print_wire(struct flow *flow, struct kymo_err *err)
{
	int rows;

	if (!flow->capture)
		return 0;
	rows = wire_publishers(flow->table, "On the wire, by the captures; longest times", flow->capture, flow->model, is_on_chain,
			       flow, err);
	if (rows < 0)
		return -1;
	if (!rows)
		table_note(flow->table, "The captures have no packet of these chains. Were they captured on this host, at the "
			   "same time, and do the nodes talk over UDP?");
	table_section(flow->table, "worst_wire", "The longest, on the wire", worst_columns, COUNT_OF(worst_columns));
	for (unsigned i = 0; i < flow->chains_shown; i++)
		for (unsigned rank = 0; flow_is_detailed(flow, i) && flow->chain[i]->stats &&
					rank < flow->chain[i]->stats->worst_count; rank++)
			worst_rows(flow, i, rank);
	return 0;
}

/* ---- the messages of the tree ---- */

static const struct table_column tree_columns[] = { { "row", NULL }, WIRE_MESSAGE_COLUMNS };

void flow_print_wire_tree(struct flow *flow)
{
	if (!flow->capture)
		return;
	table_section(flow->table, "wire", "On the wire, by the captures", tree_columns, COUNT_OF(tree_columns));
	for (unsigned i = 0; i < chains_tree_count(flow->chains); i++) {
		const struct chains_tree_step *step = chains_tree(flow->chains, i);
		const struct capture_message *message =
			step->publisher ? capture_publication(flow->capture, step->id) : NULL;

		if (!message)
			continue;
		table_u64(flow->table, i);
		wire_message_cells(flow->table, message);
	}
}
