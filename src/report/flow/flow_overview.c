/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo flow`: the table of the chains. */
#include <string.h>

#include "base/array.h"
#include "report/flow/flow_internal.h"
#include "report/report_ways.h"

static const struct table_column chain_columns[] = {
	{ "chain", "#" },
	{ "hops", NULL },
	{ "begun", "Begun" },
	{ "arrived", "Arrived" },
	{ "between_hosts", NULL },
	{ "min_ns", "Min" },
	{ "mean_ns", "Mean" },
	{ "p50_ns", "p50" },
	{ "p90_ns", "p90" },
	{ "p99_ns", "p99" },
	{ "max_ns", "Max" },
	{ "is_loop", NULL },
	{ "error_ns", NULL },
	{ "processes", NULL },
	{ "path", "Chain" },
};
#define PROCESSES_COLUMN (COUNT_OF(chain_columns) - 2)

static void cells_of(struct table *t, const struct histogram *h, int64_t error_ns)
{
	if (!h || !h->count) {
		cells_none(t, 6);
		return;
	}
	table_ns_within(t, (int64_t)h->min, error_ns);
	table_ns_within(t, (int64_t)(histogram_mean(h) + 0.5), error_ns);
	table_ns_within(t, (int64_t)histogram_quantile(h, 0.5), error_ns);
	table_ns_within(t, (int64_t)histogram_quantile(h, 0.9), error_ns);
	table_ns_within(t, (int64_t)histogram_quantile(h, 0.99), error_ns);
	table_ns_within(t, (int64_t)h->max, error_ns);
}

static void chain_row(struct flow *flow, unsigned number, const struct chains_path *path)
{
	const struct chains_path *first = path;
	struct table *t = flow->table;
	char label[8192];

	while (first->parent)
		first = first->parent;
	table_u64(t, number);
	table_u64(t, path->hops);
	table_u64(t, first->count);
	table_u64(t, path->callback ? path->ended : path->count);
	table_u64(t, path->between_hosts);
	cells_of(t, path->stats ? &path->stats->total : NULL,
		 path->stats ? path->stats->error_ns : 0);
	table_u64(t, path->is_loop);
	table_ns(t, path->stats ? path->stats->error_ns : 0);
	report_ways_chain(flow->model, path, true, label, sizeof(label));
	table_text(t, *label ? label : NULL);
	table_text(t, chains_label(path, label, sizeof(label)));
}

/* Does one of the chains lead through one of several processes of one name? */
static bool has_twins(const struct flow *flow)
{
	char text[1024];

	for (unsigned i = 0; i < flow->chains_shown; i++)
		if (*report_ways_chain(flow->model, flow->chain[i], true, text, sizeof(text)))
			return true;
	return false;
}

void flow_print_chains(struct flow *flow)
{
	const struct flow_options *options = flow->options;
	struct table_column columns[COUNT_OF(chain_columns)];
	unsigned i;

	memcpy(columns, chain_columns, sizeof(columns));
	if (has_twins(flow))
		columns[PROCESSES_COLUMN].title = "Processes";
	table_section(flow->table, "chains", "Chains, longest first; end-to-end latency", columns,
		      COUNT_OF(columns));
	table_rank(flow->table,
		   "chain path processes max_ns p99_ns p50_ns arrived begun mean_ns p90_ns");
	for (i = 0; i < flow->chains_shown; i++)
		if (!options->chain || options->chain == i + 1)
			chain_row(flow, i + 1, flow->chain[i]);
	if (flow->chains_shown < flow->chains_all)
		table_note(flow->table, "... and %u more: --limit %u",
			   flow->chains_all - flow->chains_shown, flow->chains_all);
}
