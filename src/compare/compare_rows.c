/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison for programs: rows for JSON and CSV, test results in XML. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "compare/compare_print.h"
#include "compare/compare_words.h"

static const struct table_column columns[] = {
	{ "verdict", "Verdict" },
	{ "kind", "Kind" },
	{ "name", "Name" },
	{ "of", "Of" },
	{ "metric", "Metric" },
	{ "unit", "Unit" },
	{ "base", "Base" },
	{ "new", "New" },
	{ "change", "Change" },
	{ "change_low", "At least" },
	{ "change_high", "At most" },
	{ "p", "p" },
	{ "q", "q" },
	{ "suspect", "Suspect" },
	{ "runs_needed", "Runs needed" },
	{ "part_what", "Part" },
	{ "part", "Of" },
	{ "part_ns", "Of it" },
	{ "base_others", "Others, base" },
	{ "new_others", "Others, new" },
	{ "base_alike", "Alike, base" },
	{ "new_alike", "Alike, new" },
};
static const struct table_column entity_columns[] = {
	{ "kind", "Kind" }, { "name", "Name" }, { "of", "Of" }, { "alike", "Alike" }
};
static const struct table_column number_columns[] = { { "kind", "Kind" },
						      { "name", "Name" },
						      { "of", "Of" },
						      { "base", "Base" },
						      { "new", "New" } };

static const struct table_column likely_columns[] = {
	{ "old", "Old" }, { "new", "New" }, { "found", "Found" }, { "entities", "Entities" }
};
static const struct table_column renamed_columns[] = { { "old", "Old" }, { "new", "New" } };

static const struct table_column left_out_columns[] = {
	{ "side", "Side" }, { "run", "Run" }, { "why", "Why" }, { "lost_events", "Lost events" }
};

static const char *const unit_name[] = { "ns", "per_second", "share", "per_run", "ns_per_run" };

static void cell(struct table *table, double value)
{
	if (isfinite(value))
		table_f64(table, value);
	else
		table_none(table);
}

static void text_or_none(struct table *table, const char *text)
{
	if (text && *text)
		table_text(table, text);
	else
		table_none(table);
}

static void put_row(struct table *table, const struct compare_row *row)
{
	const double sign = row->is_less_worse ? -1 : 1;
	const double low = row->is_less_worse ? -row->change.high : row->change.low;
	const double high = row->is_less_worse ? -row->change.low : row->change.high;

	table_text(table, verdict_name(row->verdict.verdict));
	table_text(table, summary_kind_name(row->entity->kind));
	table_text(table, row->entity->name);
	text_or_none(table, row->entity->of);
	table_text(table, row->metric);
	table_text(table, unit_name[row->unit]);
	table_f64(table, row->base);
	table_f64(table, row->new);
	table_f64(table, expm1(sign * row->change.estimate));
	cell(table, isfinite(low) ? expm1(low) : low);
	cell(table, isfinite(high) ? expm1(high) : high);
	table_f64(table, row->change.p_up);
	table_f64(table, row->change.q_up);
	table_u64(table, row->verdict.is_suspect);
	if (row->verdict.runs)
		table_u64(table, row->verdict.runs);
	else
		table_none(table);
	text_or_none(table, row->part ? summary_what_name(row->part->what) : NULL);
	text_or_none(table, row->part ? row->part->who : NULL);
	if (row->part)
		table_ns(table, (int64_t)(row->part->new - row->part->base));
	else
		table_none(table);
	cell(table, row->has_others ? row->base_others : NAN);
	cell(table, row->has_others ? row->new_others : NAN);
	table_u64(table, row->base_alike);
	table_u64(table, row->new_alike);
}

static void put_entities(struct table *table, const char *key, const char *title,
			 const struct summary_entity *const *entity, unsigned count)
{
	table_section(table, key, title, entity_columns, COUNT_OF(entity_columns));
	for (unsigned i = 0; i < count; i++) {
		table_text(table, summary_kind_name(entity[i]->kind));
		table_text(table, entity[i]->name);
		text_or_none(table, entity[i]->of);
		table_u64(table, entity[i]->alike > 1 ? entity[i]->alike : 1);
	}
}

static void put_numbers(struct table *table, const struct comparison *comparison)
{
	table_section(table, "numbers", "More or fewer processes", number_columns,
		      COUNT_OF(number_columns));
	for (unsigned i = 0; i < comparison->numbers; i++) {
		const struct compare_number *number = &comparison->number[i];

		table_text(table, summary_kind_name(number->entity->kind));
		table_text(table, number->entity->name);
		text_or_none(table, number->entity->of);
		table_u64(table, number->base);
		table_u64(table, number->new);
	}
}

static void put_renames(struct table *table, const struct comparison *comparison,
			const struct compare_renames *renames)
{
	table_section(table, "likely_renamed", "Likely renamed", likely_columns,
		      COUNT_OF(likely_columns));
	for (unsigned i = 0; i < comparison->likelies; i++) {
		table_text(table, comparison->likely[i].old);
		table_text(table, comparison->likely[i].new);
		table_u64(table, comparison->likely[i].found);
		table_u64(table, comparison->likely[i].of);
	}
	table_section(table, "renamed", "Renamed", renamed_columns, COUNT_OF(renamed_columns));
	for (unsigned i = 0; renames && i < renames->count; i++) {
		table_text(table, renames->old[i]);
		table_text(table, renames->new[i]);
	}
}

void compare_print_table(struct table *table, const struct comparison *comparison,
			 const struct compare_print *print)
{
	table_section(table, "metrics", "Metrics", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < comparison->rows; i++)
		put_row(table, &comparison->row[i]);
	put_entities(table, "appeared", "New", comparison->appeared, comparison->appeareds);
	put_entities(table, "gone", "Gone", comparison->gone, comparison->gones);
	put_numbers(table, comparison);
	put_renames(table, comparison, print->renames);
	table_value_u64(table, "base_runs", "Base runs", print->options->design.bases);
	table_value_u64(table, "new_runs", "New runs", print->options->design.news);
	table_section(table, "left_out", "Left out", left_out_columns, COUNT_OF(left_out_columns));
	for (unsigned i = 0; i < print->left_out_base + print->left_out_new; i++) {
		const struct compare_left_out *one = &print->left_out[i];

		table_text(table, one->is_new ? "new" : "base");
		table_text(table, one->path);
		table_text(table, one->is_partner ? "the other run of its pair lost events"
						  : "events were lost");
		table_u64(table, one->events);
	}
	table_value_text(table, "intervals_of", "Intervals of",
			 comparison->has_blocks ? "blocks of one run" : "runs");
	table_value_u64(table, "paired", "Paired", print->options->design.paired);
	table_value_u64(table, "base_runs_left_out", "Base runs left out", print->left_out_base);
	table_value_u64(table, "new_runs_left_out", "New runs left out", print->left_out_new);
	table_value_u64(table, "metrics_with_too_few_instances", "Metrics with too few instances",
			comparison->few);
	table_value_u64(table, "entities_in_some_runs", "Entities in some runs only",
			comparison->irregular);
}

/* ---- CI services ---- */

static void add_case(struct ci_suite *suite, const struct compare_row *row,
		     const struct compare_print *print)
{
	static const enum ci_result result[VERDICTS] = {
		[VERDICT_WORSE] = CI_FAILED,
		[VERDICT_UNKNOWN] = CI_SKIPPED,
		[VERDICT_BETTER] = CI_PASSED,
		[VERDICT_NOT_WORSE] = CI_PASSED,
	};
	char base[TEXT_QUANTITY_MAX], new[TEXT_QUANTITY_MAX], part[COMPARE_PART_MAX],
		change[COMPARE_CHANGE_MAX], more[COMPARE_CHANGE_MAX], group[640], tail[700] = "";

	(void)snprintf(group, sizeof(group), "%s %s", summary_kind_name(row->entity->kind),
		       row->entity->name);
	if (row->verdict.verdict == VERDICT_WORSE && row->part)
		(void)snprintf(tail, sizeof(tail), "; %s", compare_part(part, row));
	else if (row->verdict.verdict == VERDICT_UNKNOWN)
		(void)snprintf(tail, sizeof(tail), "; %s",
			       compare_more(more, row, &print->options->design));
	ci_add(suite, result[row->verdict.verdict], group, row->metric, 0, "%s%s: %s -> %s, %s%s",
	       row->verdict.verdict == VERDICT_UNKNOWN ? "not known: " : "", row->metric,
	       compare_value(base, row->unit, row->base), compare_value(new, row->unit, row->new),
	       compare_change(change, row), tail);
}

void compare_cases(struct ci_suite *suite, const struct comparison *comparison,
		   const struct compare_print *print)
{
	for (unsigned i = 0; i < comparison->rows; i++)
		add_case(suite, &comparison->row[i], print);
}
