/* SPDX-License-Identifier: Apache-2.0 */
/* The section about a user's own model of behaviour, and whether it kept its budgets. */
#include "report/report_internal.h"

#include <stdio.h>

#include "base/array.h"

static const struct table_column columns[] = {
	{ "what", "What" },      { "kind", NULL },          { "name", NULL },
	{ "state", NULL },       { "count", "Count" },      { "min_ns", NULL },
	{ "mean_ns", "Mean" },   { "p50_ns", NULL },        { "p99_ns", NULL },
	{ "max_ns", "Max" },     { "deviation_ns", NULL },  { "total_ns", NULL },
	{ "unfinished", NULL },  { "with_loss", NULL },     { "worst_begin_ns", NULL },
	{ "worst_begin", "at" }, { "budget_ns", "Budget" }, { "over", "Over" },
	{ "result", "Result" },
};

static const char *result_of(const struct behaviour_what *what, const struct behaviour_sums *sums)
{
	if (!what->budget_ns)
		return NULL;
	if (sums->over)
		return "FAILED";
	return sums->duration.count ? "PASS" : "NOT_MEASURED";
}

static void print_row(struct report *report, const struct behaviour_what *what,
		      const struct behaviour_sums *sums)
{
	const struct histogram *h = &sums->duration;
	struct table *t = report->table;
	char text[160];

	snprintf(text, sizeof(text), "%s%s%s", what->name, what->state ? ": " : "",
		 what->state ? what->state : "");
	table_text(t, text);
	table_text(t, behaviour_kind_name(what->kind));
	table_text(t, what->name);
	cell_name(t, what->state);
	cells_latency(t, h, 0);
	cell_deviation(t, h, 0);
	CELL_IF(t, h->count, table_ns(t, (int64_t)h->sum));
	table_u64(t, sums->unfinished);
	table_u64(t, sums->with_loss);
	CELL_IF(t, h->count, table_i64(t, sums->worst_begin_ns));
	CELL_IF(t, h->count,
		table_text(t, report_offset(report, sums->worst_begin_ns, text, sizeof(text))));
	CELL_IF(t, what->budget_ns, table_ns(t, what->budget_ns));
	CELL_IF(t, what->budget_ns, table_u64(t, sums->over));
	cell_name(t, result_of(what, sums));
}

void report_behaviour(struct report *report)
{
	const struct behaviours *file = report->options->behaviours;
	const struct behaviour_what *what;
	uint64_t with_loss = 0, unfinished = 0;
	bool over = false;

	table_section(report->table, "behaviour", "Behaviour, by your model", columns,
		      COUNT_OF(columns));
	for (unsigned i = 0; (what = behaviours_what(file, i)); i++) {
		const struct behaviour_sums *sums = behaviour_sums(report->behaviour, i);

		print_row(report, what, sums);
		with_loss += sums->with_loss;
		unfinished += sums->unfinished;
		over |= what->budget_ns && (sums->over || !sums->duration.count);
		report->rows++;
	}
	if (unfinished)
		table_note(report->table, "Not counted, because the end is not in the trace: %llu.",
			   (unsigned long long)unfinished);
	if (with_loss)
		table_note(report->table,
			   "Not counted, because events were lost meanwhile, and the end may be "
			   "among them: %llu.",
			   (unsigned long long)with_loss);
	*report->options->behaviour_failed = over;
}
