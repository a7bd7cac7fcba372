/* SPDX-License-Identifier: Apache-2.0 */
/* The section about actions. */
#include "base/array.h"
#include "report/report_internal.h"

/* clang-format off */
#define SPAN(key, p50, p99)                                                              \
	{ key "_count", NULL }, { key "_min_ns", NULL }, { key "_mean_ns", NULL },       \
	{ key "_p50_ns", p50 }, { key "_p99_ns", p99 }, { key "_max_ns", "max" }
/* clang-format on */

static const struct table_column columns[] = {
	{ "action", "Action" },
	{ "goals", "Goals" },
	{ "succeeded", "Succeeded" },
	{ "others", "Others" },
	{ "aborted", NULL },
	{ "canceled", NULL },
	{ "rejected", NULL },
	{ "unfinished", NULL },
	SPAN("accept", "Accept p50", NULL),
	SPAN("execution", "Execution p50", "p99"),
	SPAN("total", "Total p50", NULL),
	{ "feedback", "Feedback" },
	{ "feedback_gap_ns", "Longest gap" },
};

/* A column for each outcome would be too wide for a terminal. */
static void others_cell(struct table *t, const struct actions_action *its)
{
	struct cell_count counts[ACTIONS_OUTCOMES];

	for (unsigned i = 0; i < ACTIONS_OUTCOMES; i++)
		counts[i] = (struct cell_count){ its->outcome[i], actions_outcome_name(i) };
	cell_counts(t, counts + 1, ACTIONS_OUTCOMES - 1);
}

static void row(struct report *report, const struct report_row *at)
{
	const struct actions_action *its = at->of;
	struct table *t = report->table;

	cell_name(t, its->name);
	table_u64(t, its->goals);
	table_u64(t, its->outcome[ACTIONS_SUCCEEDED]);
	others_cell(t, its);
	for (unsigned i = ACTIONS_SUCCEEDED + 1; i < ACTIONS_OUTCOMES; i++)
		table_u64(t, its->outcome[i]);
	cells_latency(t, &its->accept, 0);
	cells_latency(t, &its->execution, 0);
	cells_latency(t, &its->total, 0);
	table_u64(t, its->feedback);
	CELL_IF(t, its->feedback_gap_ns, table_ns(t, its->feedback_gap_ns));
}

/* Is one of its clients or servers? */
static bool wants_action(const struct report *report, unsigned index)
{
	for (unsigned i = 0; i < actions_end_count(report->actions); i++) {
		const struct actions_end *end = actions_end(report->actions, i);

		if (end->action == index && report_wants_node(report, end->process, end->node))
			return true;
	}
	return false;
}

void report_actions(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "actions", "Actions and their goals", columns,
		      COUNT_OF(columns));
	table_rank(report->table, "action goals succeeded others execution_p50_ns execution_max_ns "
				  "total_max_ns accept_max_ns feedback feedback_gap_ns");
	for (unsigned i = 0; i < actions_count(report->actions); i++) {
		const struct actions_action *its = actions_action(report->actions, i);

		if (wants_action(report, i))
			REPORT_ROW(&rows, .index = i, .of = its, .name = its->name,
				   .key = report_sort_key(report->options->sort, &its->execution,
							  its->goals, 0));
	}
	report_rows_print(report, &rows, row);
	if (!actions_count(report->actions))
		table_note(report->table, "The trace contains no goals of actions. kymo records those that go "
					  "through rcl_action, as the goals of rclcpp and rclpy do.");
}
