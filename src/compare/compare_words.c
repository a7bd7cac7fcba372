/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a comparison, for all its formats. */
#include "compare/compare_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

char *compare_value(char out[TEXT_QUANTITY_MAX], enum compare_unit unit, double value)
{
	char number[TEXT_QUANTITY_MAX];

	if (unit == COMPARE_NS || unit == COMPARE_NS_PER_RUN)
		return text_ns(out, (int64_t)(value + 0.5));
	if (unit == COMPARE_SHARE)
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%.2f %%", 100 * value);
	else if (unit == COMPARE_PER_RUN)
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%s", text_f64(number, value));
	else
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%s Hz", text_f64(number, value));
	return out;
}

/* "+0.25"; what rounds to zero has no sign. */
static char *with_sign(char out[TEXT_QUANTITY_MAX], double value, int decimals)
{
	const double half = 0.5 * pow(10, -decimals);

	(void)snprintf(out, TEXT_QUANTITY_MAX, fabs(value) < half ? "%.*f" : "%+.*f", decimals,
		       fabs(value) < half ? 0 : value);
	return out;
}

/* "+22", from a logarithm. */
static char *percent(char out[TEXT_QUANTITY_MAX], double log_ratio)
{
	const double value = 100 * expm1(log_ratio);

	return with_sign(out, value, fabs(value) < 9.95 ? 1 : 0);
}

char *compare_change(char out[COMPARE_CHANGE_MAX], const struct compare_row *row)
{
	const double sign = row->is_less_worse ? -1 : 1;
	const double low = row->is_less_worse ? -row->change.high : row->change.low;
	const double high = row->is_less_worse ? -row->change.low : row->change.high;
	char middle[TEXT_QUANTITY_MAX], from[TEXT_QUANTITY_MAX], to[TEXT_QUANTITY_MAX];

	if (row->unit == COMPARE_PER_RUN)
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%s per run",
			       with_sign(middle, row->new - row->base, 2));
	else if (row->unit == COMPARE_SHARE)
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%s points",
			       with_sign(middle, 100 * (row->new - row->base), 2));
	else if (isfinite(low) && isfinite(high))
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%s %% (%s to %s %%)",
			       percent(middle, sign * row->change.estimate), percent(from, low),
			       percent(to, high));
	else
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%s %%",
			       percent(middle, sign * row->change.estimate));
	return out;
}

char *compare_from_to(char out[COMPARE_CHANGE_MAX], enum compare_unit unit, double from, double to)
{
	char base[TEXT_QUANTITY_MAX], new[TEXT_QUANTITY_MAX];
	const char *base_unit = strchr(compare_value(base, unit, from), ' ');
	const char *new_unit = strchr(compare_value(new, unit, to), ' ');

	if (base_unit && new_unit && !strcmp(base_unit, new_unit))
		base[base_unit - base] = '\0';
	(void)snprintf(out, COMPARE_CHANGE_MAX, "%s -> %s", base, new);
	return out;
}

char *compare_size(char out[COMPARE_CHANGE_MAX], const struct compare_row *row)
{
	char number[TEXT_QUANTITY_MAX];

	if (row->unit == COMPARE_PER_RUN || row->unit == COMPARE_SHARE)
		(void)with_sign(
			out, (row->unit == COMPARE_SHARE ? 100 : 1) * (row->new - row->base), 2);
	else
		(void)snprintf(
			out, COMPARE_CHANGE_MAX, "%s %%",
			percent(number, (row->is_less_worse ? -1 : 1) * row->change.estimate));
	return out;
}

char *compare_more(char out[COMPARE_CHANGE_MAX], const struct compare_row *row,
		   const struct change_design *design)
{
	const char *what = design->paired ? "pairs" : "runs a side";
	const unsigned have = design->bases < design->news ? design->bases : design->news;

	if (row->verdict.runs == have + 1)
		(void)snprintf(out, COMPARE_CHANGE_MAX, "about one more %s would show it",
			       design->paired ? "pair" : "run a side");
	else if (row->verdict.runs > have)
		(void)snprintf(out, COMPARE_CHANGE_MAX, "about %u more %s would show it",
			       row->verdict.runs - have, what);
	else
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%u %s would not show it", VERDICT_RUNS_MAX,
			       what);
	return out;
}

/* "/planner /scan runs" */
static void segment_words(char *out, size_t size, const struct compare_segment *segment)
{
	static const char *const before[SUMMARY_WHATS] = { [SUMMARY_PUBLISHING] = "publishing " };
	static const char *const behind[SUMMARY_WHATS] = {
		[SUMMARY_RAN] = " runs",
		[SUMMARY_KEPT] = " keeps the data",
		[SUMMARY_ON_ITS_WAY] = " on its way",
		[SUMMARY_WAITED_FOR] = " waits for other callbacks",
		[SUMMARY_TAKING] = " takes its message",
		[SUMMARY_BEING_LATE] = " is late",
		[SUMMARY_ACCEPTING] = " accepts",
		[SUMMARY_BEGINNING] = " begins to execute",
		[SUMMARY_EXECUTING] = " executes",
		[SUMMARY_CANCELING] = " cancels",
		[SUMMARY_KEEPING] = " sends the result",
		[SUMMARY_AWAITING] = " waits",
		[SUMMARY_AWAITED] = " awaits",
	};

	(void)snprintf(out, size, "%s%s%s%s%s", before[segment->what] ? before[segment->what] : "",
		       segment->who, behind[segment->what] ? behind[segment->what] : "",
		       *segment->by ? " to " : "", segment->by);
}

char *compare_part(char out[COMPARE_PART_MAX], const struct compare_row *row)
{
	const double grown = row->part->new - row->part->base, all = row->new - row->base;
	char words[COMPARE_PART_MAX - 64], ns[TEXT_QUANTITY_MAX];

	segment_words(words, sizeof(words), row->part);
	(void)snprintf(out, COMPARE_PART_MAX, "%s in: %s (+%s)",
		       grown >= 0.9 * all   ? "all of it"
		       : grown >= 0.6 * all ? "most of it"
					    : "a part of it",
		       words, text_ns(ns, (int64_t)grown));
	return out;
}
