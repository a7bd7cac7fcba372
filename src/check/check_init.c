/* SPDX-License-Identifier: Apache-2.0 */
/* The first file of budgets, out of a run that was as it should be. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "check/check_print.h"

#define CONFIDENCE 0.95
#define TIME_ROOM 1.5 /* a time may take so much longer */
#define RATE_ROOM 0.9 /* a rate may be so much lower */

/* To two digits, up or down: 1 234 567 becomes 1 300 000. */
static double rounded(double value, bool up)
{
	double unit;

	if (value <= 0)
		return 0;
	unit = pow(10, floor(log10(value)) - 1);
	return (up ? ceil(value / unit - 1e-9) : floor(value / unit + 1e-9)) * unit;
}

struct init {
	FILE *out;
	const struct summary *const *run;
	unsigned runs;
	const struct summary_entity *entity; /* of the first run; NULL: the whole */
	bool has_section, has_name;
	unsigned budgets;
};

/* One of several that are alike is enough, as they have one budget. */
static bool is_in_all(const struct init *i, const struct summary_entity *entity)
{
	for (unsigned r = 0; r < i->runs; r++) {
		unsigned at = 0;
		const struct summary_entity *first = summary_next_alike(i->run[r], entity, &at);

		if (!first || (!r && first != entity))
			return false;
	}
	return true;
}

/* YAML has no keys that are longer, and no control characters. */
static bool can_be_named(const struct summary_entity *entity)
{
	char clean[1024];

	return *entity->name && strlen(entity->name) < 900 &&
	       text_clean(clean, sizeof(clean), entity->name) == strlen(entity->name);
}

/* The section and the name before the first budget of it. */
static void open(struct init *i, enum summary_kind kind)
{
	if (!i->has_section)
		fprintf(i->out, "\n%s:\n", budget_section(kind));
	i->has_section = true;
	if (!i->has_name && i->entity) {
		fputs("  ", i->out);
		text_put_json(i->out, i->entity->name);
		fputs(":\n", i->out);
	}
	i->has_name = true;
	i->budgets++;
}

/* The next one of a run that has the budget; @at as for summary_next_alike(). The whole: once. */
static bool next_of_run(const struct init *i, unsigned run, unsigned *at,
			const struct summary_entity **entity)
{
	*entity = NULL;
	if (!i->entity)
		return !(*at)++;
	*entity = summary_next_alike(i->run[run], i->entity, at);
	return *entity;
}

/* The largest bound of all runs; NAN: one has none. */
static double worst_bound(const struct init *i, const struct budget *budget)
{
	const struct summary_entity *entity;
	double worst = 0;

	for (unsigned r = 0, at = 0; r < i->runs; r++, at = 0)
		while (next_of_run(i, r, &at, &entity)) {
			const double bound = check_bound(budget, entity, CONFIDENCE, true);

			if (isnan(bound))
				return NAN;
			worst = bound > worst ? bound : worst;
		}
	return worst;
}

/* The worst value of all runs, and the instances of the run that has fewest. */
static double worst_value(const struct init *i, const struct budget *budget, uint64_t *count)
{
	const struct summary_entity *entity;
	double worst = NAN;

	*count = UINT64_MAX;
	for (unsigned r = 0, at = 0; r < i->runs; r++, at = 0)
		while (next_of_run(i, r, &at, &entity)) {
			uint64_t instances;
			const double value =
				check_measure(budget, i->run[r], entity, &instances);

			if (isnan(value))
				return NAN;
			*count = instances < *count ? instances : *count;
			if (isnan(worst) || (budget->metric->unit == BUDGET_RATE ? value < worst
										 : value > worst))
				worst = value;
		}
	return worst;
}

/* The largest quantile that has a bound, with it. */
static void put_time(struct init *i, const struct budget_metric *metric)
{
	static const double quantiles[] = { 0.99, 0.9, 0.5 };
	for (unsigned q = 0; q < COUNT_OF(quantiles); q++) {
		const struct budget budget = { .metric = metric, .quantile = quantiles[q] };
		const double bound = worst_bound(i, &budget);
		uint64_t count;
		const double measured = worst_value(i, &budget, &count);
		char limit[TEXT_QUANTITY_MAX], value[TEXT_QUANTITY_MAX], number[32];

		if (isnan(bound))
			continue;
		open(i, metric->kind);
		fprintf(i->out, "    - %s p%.0f <= %s  # was %s, of %s\n", metric->name,
			100 * quantiles[q],
			text_ns(limit, (int64_t)rounded(bound * TIME_ROOM + 1000, true)),
			text_ns(value, (int64_t)measured), summary_number(number, count));
		return;
	}
}

/* What happens @count times in one run may, by chance, happen so often in another one. */
static double by_chance(double count)
{
	return count + 3 * sqrt(count) + 3;
}

/* "7.8", of a number that was rounded to 7.800000000000001. */
static char *plain(char out[TEXT_QUANTITY_MAX], double value)
{
	(void)snprintf(out, TEXT_QUANTITY_MAX, "%.10g", value);
	return out;
}

static void put_other(struct init *i, const struct budget_metric *metric)
{
	const struct budget budget = { .metric = metric };
	char limit[TEXT_QUANTITY_MAX], value[TEXT_QUANTITY_MAX];
	uint64_t count;
	const double measured = worst_value(i, &budget, &count);

	if (isnan(measured) || (metric->unit != BUDGET_COUNT && count < 5))
		return;
	/* Most topics have no queue within the process: nothing can be overwritten. */
	if (metric->unit == BUDGET_COUNT &&
	    (!count || (measured == 0 && !strcmp(metric->name, "overwritten"))))
		return;
	open(i, metric->kind);
	fprintf(i->out, "%s- %s ", i->entity ? "    " : "  ", metric->name);
	if (metric->unit == BUDGET_RATE) {
		fprintf(i->out, ">= %s Hz  # was %s Hz\n",
			plain(limit, rounded(measured * RATE_ROOM, false)),
			text_f64(value, measured));
	} else if (metric->unit == BUDGET_BUSY) {
		fprintf(i->out, "<= %s %%  # was %s %%, of one CPU\n",
			plain(limit, rounded(100 * (measured * TIME_ROOM + 0.001), true)),
			text_f64(value, 100 * measured));
	} else if (measured == 0) {
		fputs("= 0\n", i->out);
	} else {
		fprintf(i->out, "<= %s %%  # was %.0f of %" PRIu64 "\n",
			plain(limit, rounded(100 * by_chance(measured) / (double)count, true)),
			measured, count);
	}
}

static void put_entity(struct init *i, enum summary_kind kind)
{
	const struct budget_metric *metric;
	bool has_time = false;

	i->has_name = false;
	for (unsigned at = 0; (metric = budget_metric_at(at)); at++) {
		if (metric->kind != kind)
			continue;
		/* Of the times, the one that is meant by "p99" alone. */
		if (metric->unit != BUDGET_TIME)
			put_other(i, metric);
		else if (!has_time)
			put_time(i, metric);
		has_time |= metric->unit == BUDGET_TIME;
	}
}

static void put_section(struct init *i, enum summary_kind kind)
{
	i->has_section = false;
	if (kind == BUDGET_WHOLE) {
		i->entity = NULL;
		put_entity(i, kind);
		return;
	}
	for (unsigned at = 0; at < i->run[0]->entities; at++) {
		const struct summary_entity *entity = i->run[0]->entity[at];

		if (entity->kind != kind || entity->is_startup || entity->is_other_clock ||
		    !can_be_named(entity) || !is_in_all(i, entity))
			continue;
		i->entity = entity;
		put_entity(i, kind);
	}
}

unsigned check_init(FILE *out, const struct summary *const *run, unsigned runs, const char *name)
{
	static const enum summary_kind kinds[] = {
		SUMMARY_CHAIN,  SUMMARY_TOPIC, SUMMARY_CALLBACK, SUMMARY_TIMER,   SUMMARY_SERVICE,
		SUMMARY_ACTION, SUMMARY_LOOP,  SUMMARY_SPAN,     SUMMARY_PROCESS, BUDGET_WHOLE,
	};
	struct init i = { .out = out, .run = run, .runs = runs };
	char clean[1024];

	(void)text_clean(clean, sizeof(clean), name);
	fprintf(out,
		"# Budgets, written from %s. Change them to what your robot has to keep.\n"
		"# kymo check -c THIS_FILE TRACE...  exits with 5 if one is violated.\n"
		"#\n"
		"# Times may take half as long again as they took, rates may be a tenth lower.\n"
		"# Names may be globs: \"/perception/*\". Other budgets: docs/answers/check.md.\n\n"
		"confidence: 95 %%  # how sure it must be that a quantile is kept\n"
		"runs: 1 of 1      # 2 of 3: of three runs, two have to keep each budget\n",
		clean);
	for (unsigned k = 0; k < COUNT_OF(kinds); k++)
		put_section(&i, kinds[k]);
	return i.budgets;
}
