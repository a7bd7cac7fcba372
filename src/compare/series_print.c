/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/series_print.h"

#include "base/array.h"
#include "base/text.h"
#include "compare/compare_words.h"

static const char *word_of(const struct series_change *change)
{
	return change->is_worse ? "worse" : "better";
}

static void put_change(FILE *out, const struct series_print *print,
		       const struct series_change *change)
{
	const char *name = *change->label ? change->label : change->name;
	char clean[1024], before[TEXT_QUANTITY_MAX], after[TEXT_QUANTITY_MAX];

	text_clean(clean, sizeof(clean), name);
	fprintf(out, " %-7s %s %s\n", word_of(change), summary_kind_name(change->kind), clean);
	compare_value(before, change->metric->unit, change->before);
	compare_value(after, change->metric->unit, change->after);
	fprintf(out, "         %-12s  %8s -> %-8s", change->metric->name, before, after);
	if (change->metric->unit != COMPARE_SHARE && change->before > 0)
		fprintf(out, "  %+.0f %%", 100 * (change->after / change->before - 1));
	fprintf(out, "\n         since %s, after %s\n", print->commit[change->commit],
		print->commit[change->before_commit]);
}

void series_print_text(FILE *out, const struct series *series, const struct series_print *print)
{
	const struct series_change *change;
	unsigned searched, shown = 0, left = 0;
	const unsigned metrics = series_metrics(series, &searched);

	for (unsigned i = 0; (change = series_change(series, i)); i++) {
		if (print->most && shown == print->most) {
			left++;
			continue;
		}
		put_change(out, print, change);
		shown++;
	}
	if (left)
		fprintf(out, " %-7s %u more: --all\n", "", left);
	if (shown)
		fputc('\n', out);
	fprintf(out, "%u commit%s, %u metric%s", print->commits,
		print->commits == 1 ? "" : "s", metrics, metrics == 1 ? "" : "s");
	if (searched < metrics)
		fprintf(out, ", %u of them in %u commits or more", searched, POINTS_LEAST);
	fprintf(out, ": %u change%s.\n", shown + left, shown + left == 1 ? "" : "s");
	if (print->left_out)
		fprintf(out, "Left out, because events were lost: %u runs.\n", print->left_out);
	if (metrics && !searched)
		fprintf(out, "Changes are looked for in %u commits or more.\n", POINTS_LEAST);
}

void series_print_table(struct table *table, const struct series *series,
			const struct series_print *print)
{
	static const struct table_column columns[] = {
		{ "verdict", "Verdict" },  { "kind", "Kind" },
		{ "name", "Name" },        { "of", "Of" },
		{ "metric", "Metric" },    { "before", "Before" },
		{ "after", "After" },      { "since", "Since" },
		{ "last", "Last before" }, { "p", "p" },
	};
	const struct series_change *change;
	unsigned searched;
	const unsigned metrics = series_metrics(series, &searched);

	table_section(table, "changes", NULL, columns, COUNT_OF(columns));
	for (unsigned i = 0; (change = series_change(series, i)); i++) {
		table_text(table, word_of(change));
		table_text(table, summary_kind_name(change->kind));
		table_text(table, change->name);
		table_text(table, *change->of ? change->of : NULL);
		table_text(table, change->metric->name);
		table_f64(table, change->before);
		table_f64(table, change->after);
		table_text(table, print->commit[change->commit]);
		table_text(table, print->commit[change->before_commit]);
		table_f64(table, change->p);
	}
	table_value_u64(table, "commits", "Commits", print->commits);
	table_value_u64(table, "metrics", "Metrics", metrics);
	table_value_u64(table, "metrics_searched", "Metrics searched", searched);
	table_value_u64(table, "runs_left_out", "Runs left out", print->left_out);
}
