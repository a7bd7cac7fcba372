/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/compare_print.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "compare/compare_words.h"

/* ---- words ---- */

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

/* "+22 %", from a logarithm. */
static char *percent(char out[TEXT_QUANTITY_MAX], double log_ratio)
{
	const double value = 100 * expm1(log_ratio);

	(void)snprintf(out, TEXT_QUANTITY_MAX, fabs(value) < 9.95 ? "%+.1f" : "%+.0f", value);
	return out;
}

char *compare_change(char out[COMPARE_CHANGE_MAX], const struct compare_row *row)
{
	const double sign = row->is_less_worse ? -1 : 1;
	const double low = row->is_less_worse ? -row->change.high : row->change.low;
	const double high = row->is_less_worse ? -row->change.low : row->change.high;
	char middle[TEXT_QUANTITY_MAX], from[TEXT_QUANTITY_MAX], to[TEXT_QUANTITY_MAX];

	if (row->unit == COMPARE_PER_RUN)
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%+.2f per run", row->new - row->base);
	else if (row->unit == COMPARE_SHARE)
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%+.2f points",
			       100 * (row->new - row->base));
	else if (isfinite(low) && isfinite(high))
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%s %% (%s to %s %%)",
			       percent(middle, sign * row->change.estimate), percent(from, low),
			       percent(to, high));
	else
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%s %%",
			       percent(middle, sign * row->change.estimate));
	return out;
}

char *compare_more(char out[COMPARE_CHANGE_MAX], const struct compare_row *row,
		   const struct change_design *design)
{
	const char *what = design->paired ? "pairs" : "runs a side";
	const unsigned have = design->bases < design->news ? design->bases : design->news;

	if (row->verdict.runs > have)
		(void)snprintf(out, COMPARE_CHANGE_MAX, "about %u more %s would tell",
			       row->verdict.runs - have, what);
	else
		(void)snprintf(out, COMPARE_CHANGE_MAX, "%u %s would not tell", VERDICT_RUNS_MAX,
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

/* ---- text ---- */

#define OTHERS_LEAST_NS 10000.0

struct text {
	FILE *out;
	const struct comparison *comparison;
	const struct compare_print *print;
};

static void head(const struct text *t)
{
	const struct change_design *design = &t->print->options->design;

	if (design->paired)
		fprintf(t->out, "%u pairs of runs", design->bases);
	else if (design->bases == design->news)
		fprintf(t->out, "%u run%s a side", design->bases, design->bases == 1 ? "" : "s");
	else
		fprintf(t->out, "%u and %u runs", design->bases, design->news);
	fprintf(t->out, "   %s -> %s\n", t->print->base, t->print->new);
	if (t->print->left_out_base + t->print->left_out_new)
		fprintf(t->out,
			"Left out, because events were lost: %u of the base runs, %u of the new "
			"ones.\n",
			t->print->left_out_base, t->print->left_out_new);
	fputc('\n', t->out);
}

static const char *label(const struct summary_entity *entity)
{
	return *entity->label ? entity->label : entity->name;
}

static void entity_line(const struct text *t, const char *word, const struct summary_entity *entity)
{
	char clean[1024];

	text_clean(clean, sizeof(clean), label(entity));
	fprintf(t->out, " %-10s %s %s\n", word, summary_kind_name(entity->kind), clean);
}

static void metric_line(const struct text *t, const struct compare_row *row)
{
	char base[TEXT_QUANTITY_MAX], new[TEXT_QUANTITY_MAX], change[COMPARE_CHANGE_MAX],
		more[COMPARE_CHANGE_MAX];
	char clean[1024], part[COMPARE_PART_MAX];

	fprintf(t->out, "            %-12s  %8s -> %-8s  %s\n", row->metric,
		compare_value(base, row->unit, row->base), compare_value(new, row->unit, row->new),
		compare_change(change, row));
	if (row->verdict.verdict == VERDICT_UNKNOWN && t->print->options->design.bases > 1)
		fprintf(t->out, "            %-12s  %s\n", "",
			compare_more(more, row, &t->print->options->design));
	if (row->has_others && row->new_others > OTHERS_LEAST_NS)
		fprintf(t->out, "            %-12s  other programs took %s -> %s beside it\n", "",
			text_ns(base, (int64_t)row->base_others),
			text_ns(new, (int64_t)row->new_others));
	if (!row->part || row->verdict.verdict != VERDICT_WORSE)
		return;
	compare_part(part, row);
	text_clean(clean, sizeof(clean), part);
	fprintf(t->out, "            %s\n", clean);
}

/* Those metrics of the entity of row @at that have its verdict; of what is not known the one that
 * changed most tells enough. */
static void metric_lines(const struct text *t, unsigned at, bool suspects_only)
{
	const struct comparison *c = t->comparison;
	const struct compare_row *row = &c->row[at];
	unsigned left = 0;

	for (unsigned i = at; i < c->rows; i++) {
		if (c->row[i].entity != row->entity ||
		    c->row[i].verdict.verdict != row->verdict.verdict ||
		    (suspects_only && !c->row[i].verdict.is_suspect))
			continue;
		if (i > at && suspects_only && t->print->most)
			left++;
		else
			metric_line(t, &c->row[i]);
	}
	if (left)
		fprintf(t->out, "            %-12s  and %u more of its metrics\n", "", left);
}

/* The entities whose worst verdict is @verdict, each once, with those of its metrics that have it.
 */
static void of_verdict(const struct text *t, enum verdict verdict, const char *word,
		       bool suspects_only)
{
	const struct comparison *c = t->comparison;
	unsigned shown = 0, left = 0;

	for (unsigned i = 0; i < c->rows; i++) {
		const struct compare_row *row = &c->row[i];
		bool again = false;

		if (row->verdict.verdict != verdict || (suspects_only && !row->verdict.is_suspect))
			continue;
		for (unsigned j = 0; j < i && !again; j++)
			again = c->row[j].entity == row->entity &&
				c->row[j].verdict.verdict == verdict;
		if (again)
			continue;
		if (t->print->most && shown == t->print->most) {
			left++;
			continue;
		}
		shown++;
		entity_line(t, word, row->entity);
		metric_lines(t, i, suspects_only);
	}
	if (left)
		fprintf(t->out, " %-10s %u more: --all\n", "", left);
}

static void names(const struct text *t, const char *word,
		  const struct summary_entity *const *entity, unsigned count)
{
	const unsigned most = t->print->most && count > t->print->most ? t->print->most : count;

	for (unsigned i = 0; i < most; i++)
		entity_line(t, word, entity[i]);
	if (most < count)
		fprintf(t->out, " %-10s %u more: --all\n", "", count - most);
}

/* One sentence: what of it all is. */
static void verdict_line(const struct text *t)
{
	const struct comparison *c = t->comparison;
	const struct change_design *design = &t->print->options->design;

	if (!c->rows)
		fprintf(t->out, "Nothing can be compared: no entity is in all runs with enough "
				"instances.\n");
	else if (c->count[VERDICT_WORSE])
		fprintf(t->out, "Worse: %u of %u metrics. ", c->count[VERDICT_WORSE], c->rows);
	else if (design->bases == 1 && design->news == 1)
		fprintf(t->out,
			"One run a side cannot tell what is slower: record 6 of each, in turn.\n");
	else if (c->count[VERDICT_UNKNOWN])
		fprintf(t->out, "Nothing is known to be worse. ");
	else
		fprintf(t->out, "Nothing is worse. ");
	if (c->rows)
		fprintf(t->out, "Not worse: %u, better: %u, not known: %u.\n",
			c->count[VERDICT_NOT_WORSE], c->count[VERDICT_BETTER],
			c->count[VERDICT_UNKNOWN]);
	if (c->few)
		fprintf(t->out,
			"Too few instances for %u metrics: record longer runs for their p90 and "
			"p99.\n",
			c->few);
	if (c->irregular)
		fprintf(t->out, "In some runs of a side only: %u entities.\n", c->irregular);
}

void compare_print_text(FILE *out, const struct comparison *comparison,
			const struct compare_print *print)
{
	const struct text t = { out, comparison, print };

	head(&t);
	of_verdict(&t, VERDICT_WORSE, "WORSE", false);
	of_verdict(&t, VERDICT_BETTER, "better", false);
	of_verdict(&t, VERDICT_UNKNOWN, "not known", true);
	if (comparison->count[VERDICT_NOT_WORSE])
		fprintf(out, " the same   %u metrics\n", comparison->count[VERDICT_NOT_WORSE]);
	names(&t, "new", comparison->appeared, comparison->appeareds);
	names(&t, "gone", comparison->gone, comparison->gones);
	verdict_line(&t);
}
