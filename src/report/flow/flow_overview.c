/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo flow`: the table of the chains. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
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
	{ "alike", NULL },
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

/* Chain @at, and those after it that are one row with it. */
static void chain_row(struct flow *flow, unsigned at)
{
	const unsigned folded = flow_folded(flow, at);
	const struct chains_path *path = flow->chain[at];
	struct table *t = flow->table;
	struct flow_sum sum;
	char label[8192], name[8224];
	const bool failed = flow_sum(flow, at, folded, &sum);

	table_u64(t, at + 1);
	table_u64(t, path->hops);
	table_u64(t, sum.begun);
	table_u64(t, sum.arrived);
	table_u64(t, sum.between_hosts);
	cells_of(t, failed ? NULL : &sum.total, sum.error_ns);
	table_u64(t, path->is_loop);
	table_ns(t, sum.error_ns);
	table_u64(t, flow->alike[at]);
	*label = '\0';
	if (folded == 1)
		report_ways_chain(flow->model, path, true, label, sizeof(label));
	table_text(t, *label ? label : NULL);
	chains_label(path, label, sizeof(label));
	(void)snprintf(name, sizeof(name), "%u x %s", folded, label);
	table_text(t, folded > 1 ? name : label);
	histogram_free(&sum.total);
}

/* Does one of the rows lead through one of several processes of one name? */
static bool has_twins(const struct flow *flow)
{
	char text[1024];

	for (unsigned i = 0; i < flow->chains_shown; i += flow_folded(flow, i))
		if (flow_folded(flow, i) == 1 &&
		    *report_ways_chain(flow->model, flow->chain[i], true, text, sizeof(text)))
			return true;
	return false;
}

/* "kymo flow TRACE '/scan -> /cmd_vel' @option" */
static const char *command_of(const struct flow *flow, const char *option, char *buffer,
			      size_t size)
{
	const char *operand = flow->options->operand, *pattern = flow->options->pattern;
	char word[4200] = "";

	if (pattern)
		text_shell(word, sizeof(word), pattern);
	(void)snprintf(buffer, size, "kymo flow%s%s%s%s %s", operand && *operand ? " " : "",
		       operand ? operand : "", pattern ? " " : "", word, option);
	return buffer;
}

static void chains_notes(struct flow *flow)
{
	char command[8500], option[32];
	bool folded = false;

	for (unsigned i = 0; i < flow->chains_shown; i += flow_folded(flow, i))
		folded |= flow_folded(flow, i) > 1;
	(void)snprintf(option, sizeof(option), "--limit %u", flow->rows_all);
	if (flow->rows_shown < flow->rows_all && !flow->options->chain)
		table_note(flow->table, "... and %u more: `%s`", flow->rows_all - flow->rows_shown,
			   command_of(flow, option, command, sizeof(command)));
	if (folded)
		table_note(flow->table,
			   "A row with an x stands for chains that differ in their processes only; "
			   "below is the worst of them. `%s` lists each.",
			   command_of(flow, "--all", command, sizeof(command)));
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
	for (i = 0; i < flow->chains_shown; i += flow_folded(flow, i))
		if (!options->chain || options->chain == i + 1)
			chain_row(flow, i);
	chains_notes(flow);
}
