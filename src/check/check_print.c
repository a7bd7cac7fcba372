/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define GROUP_MAX 640
#define MESSAGE_MAX 640
#define WIDTH 80u
#define BELOW 12u /* columns before what is below the name of an entity */

/* ---- words ---- */

static char *quantity(char out[TEXT_QUANTITY_MAX], const struct budget *budget, double value)
{
	char number[TEXT_QUANTITY_MAX];

	if (budget->metric->unit == BUDGET_TIME)
		return text_ns(out, (int64_t)(value + 0.5));
	if (budget->metric->unit == BUDGET_BUSY || budget->is_share)
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%s %%", text_f64(number, 100 * value));
	else if (budget->metric->unit == BUDGET_RATE)
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%s Hz", text_f64(number, value));
	else
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%.0f", value);
	return out;
}

/* "topic /scan"; "loss". */
static char *group(char out[GROUP_MAX], const struct check_row *row)
{
	const enum summary_kind kind = row->budget->metric->kind;
	const char *name = !row->entity          ? row->budget->name
			   : *row->entity->label ? row->entity->label
						 : row->entity->name;
	/* Processes have other numbers in the next run. */
	const int length = row->alike > 1 ? summary_plain_length(name) : (int)strlen(name);

	if (budget_is_told(row->budget))
		(void)snprintf(out, GROUP_MAX, "%s %s", row->budget->metric->name, name);
	else if (kind == BUDGET_WHOLE)
		(void)snprintf(out, GROUP_MAX, "loss");
	else
		(void)snprintf(out, GROUP_MAX, "%s %.*s", summary_kind_name(kind), length, name);
	return out;
}

/* Of several of one name, whose values are told: "swarm 4711"; "": it is not known. */
static char *worst_of(char out[GROUP_MAX], const struct check_row *row)
{
	const struct summary_entity *worst = row->worst;
	const size_t plain = worst ? (size_t)summary_plain_length(worst->label) : 0;

	*out = '\0';
	if (worst && worst->label[plain])
		(void)snprintf(out, GROUP_MAX, "%.*s", (int)(strlen(worst->label + plain) - 3),
			       worst->label + plain + 2);
	else if (worst)
		(void)snprintf(out, GROUP_MAX, "%s", worst->of);
	return out;
}

/* "23.1 ms of 4,989; kept in 0 of 2 runs". */
static char *measured(char out[MESSAGE_MAX], const struct check *check, const struct check_row *row)
{
	const struct budget *budget = row->budget;
	const bool is_found = row->entity || budget->metric->kind == BUDGET_WHOLE;
	char value[TEXT_QUANTITY_MAX], number[32], worst[GROUP_MAX];
	size_t used = 0;

#define SAY(...) (used += (size_t)snprintf(out + used, MESSAGE_MAX - used, __VA_ARGS__))
	*out = '\0';
	if (!isnan(row->value))
		SAY("%s", quantity(value, budget, row->value));
	if (!isnan(row->value) && row->count &&
	    (budget->metric->unit == BUDGET_TIME || budget->metric->unit == BUDGET_COUNT))
		SAY(" of %s", summary_number(number, row->count));
	if (!isnan(row->bound) && row->verdict != CHECK_VIOLATED)
		SAY(", surely %s %s", budget->op == BUDGET_AT_LEAST ? "at least" : "at most",
		    quantity(value, budget, row->bound));
	if (row->alike > 1 && !isnan(row->value) && budget->op != BUDGET_WITHIN)
		SAY(", the worst of %u%s%s", row->alike, *worst_of(worst, row) ? ": " : "", worst);
	if (check->runs > 1 && budget->op != BUDGET_WITHIN && is_found)
		SAY("%skept in %u of %u runs", used ? "; " : "", row->runs[CHECK_KEPT],
		    check->runs);
#undef SAY
	return out;
}

/* ---- text ---- */

static void put_below(FILE *out, const char *text)
{
	fprintf(out, "%*s", (int)BELOW, "");
	text_fold(out, text, WIDTH, BELOW, BELOW);
	fputc('\n', out);
}

static void put_row(FILE *out, const struct check *check, const struct budgets *budgets,
		    const struct check_row *row)
{
	char name[GROUP_MAX], clean[4 * GROUP_MAX], text[MESSAGE_MAX];
	const char *verdict =
		row->verdict == CHECK_VIOLATED ? "VIOLATED" : check_verdict_name(row->verdict);

	(void)text_clean(clean, sizeof(clean), group(name, row));
	fprintf(out, " %-10s %s\n", verdict, clean);
	(void)text_clean(clean, sizeof(clean), row->budget->text);
	fprintf(out, "            %s  (%s:%u)\n", clean, budgets->path, row->budget->line);
	if (*measured(text, check, row))
		put_below(out, text);
	(void)text_clean(clean, sizeof(clean), row->why);
	if (*clean)
		put_below(out, clean);
}

void check_print_text(FILE *out, const struct check *check, const struct budgets *budgets, bool all)
{
	unsigned shown = 0;

	for (unsigned i = 0; i < check->rows; i++)
		if (all || check->row[i].verdict != CHECK_KEPT) {
			put_row(out, check, budgets, &check->row[i]);
			shown++;
		}
	if (shown)
		fputc('\n', out);
	if (check->runs_with_loss)
		fprintf(out,
			"Events were lost in %u of %u run%s: only budgets of lost events are "
			"judged there.\n",
			check->runs_with_loss, check->runs, check->runs == 1 ? "" : "s");
	fprintf(out, "%s: %u of %u budget%s. Kept: %u, not known: %u",
		check->count[CHECK_VIOLATED] ? "Violated" : "Nothing is violated",
		check->count[CHECK_VIOLATED], check->rows, check->rows == 1 ? "" : "s",
		check->count[CHECK_KEPT], check->count[CHECK_UNKNOWN]);
	if (check->count[CHECK_NOT_JUDGED])
		fprintf(out, ", not judged: %u", check->count[CHECK_NOT_JUDGED]);
	fputs(".\n", out);
}

/* ---- programs ---- */

static const struct table_column columns[] = {
	{ "verdict", "Verdict" },
	{ "kind", "Kind" },
	{ "name", "Name" },
	{ "of", "Of" },
	{ "alike", "Alike" },
	{ "worst_of", "Worst of" },
	{ "budget", "Budget" },
	{ "line", "Line" },
	{ "metric", "Metric" },
	{ "unit", "Unit" },
	{ "limit", "Limit" },
	{ "value", "Value" },
	{ "bound", "Bound" },
	{ "count", "Instances" },
	{ "runs_kept", "Kept" },
	{ "runs_violated", "Violated" },
	{ "runs_not_known", "Not known" },
	{ "runs_not_judged", "Not judged" },
	{ "why", "Why" },
};

static void cell(struct table *table, double value)
{
	if (isfinite(value))
		table_f64(table, value);
	else
		table_none(table);
}

static const char *unit_name(const struct budget *budget)
{
	static const char *const name[] = { "ns", "per_second", "count", "share" };

	return budget->is_share ? "share" : name[budget->metric->unit];
}

static void put_table_row(struct table *table, const struct check_row *row)
{
	const struct budget *budget = row->budget;
	const bool is_whole = budget->metric->kind == BUDGET_WHOLE;
	const bool is_told = budget_is_told(budget);
	char alike_of[GROUP_MAX], worst[GROUP_MAX];
	const char *of = row->entity ? row->entity->of : "";

	if (row->alike > 1)
		of = summary_alike_of(row->entity, alike_of, sizeof(alike_of));
	table_text(table, check_verdict_name(row->verdict));
	table_text(table, is_told    ? budget->metric->name
			  : is_whole ? "loss"
				     : summary_kind_name(budget->metric->kind));
	table_text(table, row->entity            ? row->entity->name
			  : is_whole && !is_told ? NULL
						 : budget->name);
	table_text(table, *of ? of : NULL);
	table_u64(table, row->alike);
	table_text(table, row->alike > 1 && *worst_of(worst, row) ? worst : NULL);
	table_text(table, budget->text);
	table_u64(table, budget->line);
	table_text(table, budget->metric->name);
	table_text(table, unit_name(budget));
	cell(table, row->limit);
	cell(table, row->value);
	cell(table, row->bound);
	table_u64(table, row->count);
	table_u64(table, row->runs[CHECK_KEPT]);
	table_u64(table, row->runs[CHECK_VIOLATED]);
	table_u64(table, row->runs[CHECK_UNKNOWN]);
	table_u64(table, row->runs[CHECK_NOT_JUDGED]);
	table_text(table, *row->why ? row->why : NULL);
}

void check_print_table(struct table *table, const struct check *check,
		       const struct budgets *budgets)
{
	table_section(table, "budgets", "Budgets", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < check->rows; i++)
		put_table_row(table, &check->row[i]);
	table_value_text(table, "file", "File", budgets->path);
	table_value_u64(table, "runs", "Runs", check->runs);
	table_value_u64(table, "runs_with_loss", "Runs with lost events", check->runs_with_loss);
	table_value_f64(table, "confidence", "Confidence of bounds", budgets->confidence, "");
}

void check_cases(struct ci_suite *suite, const struct check *check)
{
	for (unsigned i = 0; i < check->rows; i++) {
		const struct check_row *row = &check->row[i];
		const enum ci_result result = row->verdict == CHECK_KEPT       ? CI_PASSED
					      : row->verdict == CHECK_VIOLATED ? CI_FAILED
									       : CI_SKIPPED;
		char name[GROUP_MAX], text[MESSAGE_MAX];

		(void)measured(text, check, row);
		ci_add(suite, result, group(name, row), row->budget->text, row->budget->line,
		       "%s: %s%s%s", row->budget->text, text, *text && *row->why ? "; " : "",
		       row->why);
	}
}
