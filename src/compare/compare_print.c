/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as text: the biggest change first, and where in its chain it is. */
#include "compare/compare_print.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "compare/compare_words.h"

#define OTHERS_LEAST_NS 10000.0

struct text {
	FILE *out;
	const struct comparison *comparison;
	const struct compare_print *print;
};

static const char *label(const struct summary_entity *entity)
{
	return *entity->label ? entity->label : entity->name;
}

/* " WORSE      callback 3 x /drone timer 10 ms" */
static size_t entity_text(char *line, size_t size, const char *word,
			  const struct summary_entity *entity, unsigned alike)
{
	char clean[1024], number[16] = "";

	text_clean(clean, sizeof(clean), label(entity));
	if (alike > 1)
		(void)snprintf(number, sizeof(number), "%u x ", alike);
	(void)snprintf(line, size, " %-10s %s %s%s", word, summary_kind_name(entity->kind), number,
		       clean);
	return strlen(line);
}

static void entity_line(const struct text *t, const char *word, const struct summary_entity *entity)
{
	char line[1200];

	(void)entity_text(line, sizeof(line), word, entity, entity->alike);
	fprintf(t->out, "%s\n", line);
}

/* What is below the name of an entity. */
#define BELOW "            "

/* A callback is a part of chains: the one of which it is most now. */
static void chain_line(const struct text *t, const struct compare_row *callback)
{
	const struct comparison *c = t->comparison;
	const struct compare_row *chain = NULL;
	char clean[1024], times[COMPARE_CHANGE_MAX];
	double most = 0;

	for (unsigned i = 0; i < c->rows; i++)
		for (unsigned s = 0; s < c->row[i].segments; s++) {
			const struct compare_segment *segment = &c->row[i].segment[s];
			const double share = segment->new / fmax(c->row[i].new, 1);

			if (segment->what != SUMMARY_RAN || share <= most ||
			    (strcmp(segment->who, callback->entity->name) != 0 &&
			     strcmp(segment->who, label(callback->entity)) != 0))
				continue;
			most = share;
			chain = &c->row[i];
		}
	if (!chain)
		return;
	text_clean(clean, sizeof(clean), label(chain->entity));
	fprintf(t->out, BELOW "it is in %s\n" BELOW "    (%s %s: %s)\n", clean, chain->metric,
		compare_from_to(times, chain->unit, chain->base, chain->new),
		verdict_name(chain->verdict.verdict));
}

static void metric_line(const struct text *t, const char *before, const struct compare_row *row)
{
	const struct change_design *design = &t->print->options->design;
	char times[COMPARE_CHANGE_MAX], change[COMPARE_CHANGE_MAX], more[COMPARE_CHANGE_MAX];

	fprintf(t->out, "%s%-12s  %-20s  %s\n", before, row->metric,
		compare_from_to(times, row->unit, row->base, row->new),
		compare_change(change, row));
	if (row->verdict.verdict == VERDICT_UNKNOWN && design->bases > 1)
		fprintf(t->out, BELOW "%-12s  %s\n", "", compare_more(more, row, design));
	if (row->has_others && row->new_others > OTHERS_LEAST_NS)
		fprintf(t->out, BELOW "%-12s  other programs took %s beside it\n", "",
			compare_from_to(times, COMPARE_NS, row->base_others, row->new_others));
}

/* Where the time went, of what became worse. */
static void where_line(const struct text *t, const struct compare_row *row)
{
	char clean[1024], part[COMPARE_PART_MAX];

	if (row->verdict.verdict != VERDICT_WORSE)
		return;
	if (row->entity->kind == SUMMARY_CALLBACK && row->unit == COMPARE_NS)
		chain_line(t, row);
	if (!row->part)
		return;
	compare_part(part, row);
	text_clean(clean, sizeof(clean), part);
	fputs(BELOW, t->out);
	text_fold(t->out, clean, COMPARE_WIDTH, strlen(BELOW), strlen(BELOW) + 4);
	fputc('\n', t->out);
}

static bool is_beside(const struct compare_row *a, const struct compare_row *row)
{
	return a->entity == row->entity && a->verdict.verdict == row->verdict.verdict;
}

/* "also: p50 +29 %, p90 +31 %"; of what is not known, that there is more is enough. */
static void others_line(const struct text *t, unsigned at)
{
	const struct comparison *c = t->comparison;
	const bool is_unknown = c->row[at].verdict.verdict == VERDICT_UNKNOWN;
	char size[COMPARE_CHANGE_MAX], one[COMPARE_CHANGE_MAX + 64];
	size_t used = 0;
	unsigned others = 0;

	for (unsigned i = at + 1; i < c->rows; i++) {
		const struct compare_row *row = &c->row[i];

		if (!is_beside(row, &c->row[at]) || (is_unknown && !row->verdict.is_suspect))
			continue;
		others++;
		if (is_unknown)
			continue;
		(void)snprintf(one, sizeof(one), "%s %s", row->metric, compare_size(size, row));
		if (used && used + strlen(one) + 2 > COMPARE_WIDTH)
			used = 0, fputs(",\n", t->out);
		used += (size_t)fprintf(t->out, "%s%s",
					used          ? ", "
					: others == 1 ? BELOW "also "
						      : BELOW "     ",
					one);
	}
	if (used)
		fputc('\n', t->out);
	else if (others)
		fprintf(t->out, BELOW "%-12s  and %u more of its metrics\n", "", others);
}

/* The entity of row @at with those of its metrics that have its verdict, what changed most first.
 * In one line, if it fits. */
static void entity_lines(const struct text *t, unsigned at, const char *word, bool suspects_only)
{
	const struct comparison *c = t->comparison;
	const struct compare_row *row = &c->row[at];
	char line[1200], change[COMPARE_CHANGE_MAX];
	const size_t used = entity_text(line, sizeof(line), word, row->entity,
					 row->new_alike);

	if (used + 3 + 12 + 2 + 20 + 2 + strlen(compare_change(change, row)) <= COMPARE_WIDTH) {
		(void)snprintf(line + used, sizeof(line) - used, "   ");
		metric_line(t, line, row);
	} else {
		fprintf(t->out, "%s\n", line);
		metric_line(t, BELOW, row);
	}
	where_line(t, row);
	if (t->print->most) {
		others_line(t, at);
		return;
	}
	for (unsigned i = at + 1; i < c->rows; i++)
		if (is_beside(&c->row[i], row) &&
		    (!suspects_only || c->row[i].verdict.is_suspect))
			metric_line(t, BELOW, &c->row[i]);
}

/* The entities whose worst verdict is @verdict, each once, what changed most first. */
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
			again = is_beside(&c->row[j], row);
		if (again)
			continue;
		if (t->print->most && shown == t->print->most) {
			left++;
			continue;
		}
		shown++;
		entity_lines(t, i, word, suspects_only);
	}
	if (left)
		fprintf(t->out, " %-10s %u more: --all\n", "", left);
}

/* How many of @count there is room for. */
static unsigned shown_of(const struct text *t, unsigned count)
{
	return t->print->most && count > t->print->most ? t->print->most : count;
}

static void names(const struct text *t, const char *word,
		  const struct summary_entity *const *entity, unsigned count)
{
	const unsigned most = shown_of(t, count);

	for (unsigned i = 0; i < most; i++)
		entity_line(t, word, entity[i]);
	if (most < count)
		fprintf(t->out, " %-10s %u more: --all\n", "", count - most);
}

/* " number     callback /drone timer 10 ms: in 3 processes before, in 2 now" */
static void number_lines(const struct text *t)
{
	const struct comparison *c = t->comparison;
	const unsigned most = shown_of(t, c->numbers);
	char line[1200];

	for (unsigned i = 0; i < most; i++) {
		(void)entity_text(line, sizeof(line), "number", c->number[i].entity, 1);
		fprintf(t->out, "%s\n" BELOW "in %u process%s before, in %u now\n", line,
			c->number[i].base, c->number[i].base == 1 ? "" : "es", c->number[i].new);
	}
	if (most < c->numbers)
		fprintf(t->out, " %-10s %u more: --all\n", "", c->numbers - most);
}

/* A word for a shell: '/a b=/c d' in quotes. */
static void put_rename(const struct text *t, const struct compare_likely *likely)
{
	char both[1024], word[2100], clean[2100];

	(void)snprintf(both, sizeof(both), "%s=%s", likely->old, likely->new);
	text_clean(clean, sizeof(clean), text_shell(word, sizeof(word), both));
	fprintf(t->out, "--rename %s", clean);
}

/* Likely renames, and the option that compares them. */
static void likely_lines(const struct text *t)
{
	const struct comparison *c = t->comparison;
	const unsigned most = shown_of(t, c->likelies);
	char old[512], new[512];

	for (unsigned i = 0; i < most; i++) {
		const struct compare_likely *likely = &c->likely[i];

		text_clean(old, sizeof(old), likely->old);
		text_clean(new, sizeof(new), likely->new);
		fprintf(t->out,
			"%s looks like %s:\n"
			"    %u of %u gone entities match, at similar rates.\n"
			"    To compare them: ",
			new, old, likely->found, likely->of);
		put_rename(t, likely);
		fputc('\n', t->out);
	}
	if (most < c->likelies)
		fprintf(t->out, "%u more names look alike: --all\n", c->likelies - most);
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
			"One run a side does not show what is slower: record 6 of each, in turn.\n%s",
			c->has_blocks ? "Intervals: what each run varies within itself, and nothing "
					"else.\n"
				      : "");
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

/* What "3 x" means, with the number of a line above. */
static void alike_line(const struct text *t)
{
	const struct comparison *c = t->comparison;
	unsigned alike = 0;

	for (unsigned i = 0; i < c->rows && alike < 2; i++)
		if (c->row[i].verdict.verdict != VERDICT_NOT_WORSE &&
		    (c->row[i].verdict.verdict != VERDICT_UNKNOWN || c->row[i].verdict.is_suspect))
			alike = c->row[i].new_alike;
	if (alike > 1)
		fprintf(t->out,
			"\"%u x\" is what happened in all processes of one name; a rate is that of "
			"one.\n",
			alike);
}

/* What made the duration of a callback longer, but is not its own. */
static void others_taken_line(const struct text *t)
{
	const struct comparison *c = t->comparison;
	const struct compare_row *most = NULL;
	char clean[1024], times[COMPARE_CHANGE_MAX], text[1536];

	for (unsigned i = 0; i < c->rows; i++) {
		const struct compare_row *row = &c->row[i];
		const double more = row->new_others - row->base_others;

		if (row->has_others && more > OTHERS_LEAST_NS &&
		    (!most || more > most->new_others - most->base_others))
			most = row;
	}
	if (!most)
		return;
	text_clean(clean, sizeof(clean), label(most->entity));
	(void)snprintf(text, sizeof(text),
		       "Other programs took more beside callbacks than before, most beside %s (%s: %s). "
		       "It is not the callbacks' own time, and not judged.",
		       clean, strrchr(most->metric, ' ') + 1,
		       compare_from_to(times, COMPARE_NS, most->base_others, most->new_others));
	text_fold(t->out, text, COMPARE_WIDTH, 0, 0);
	fputc('\n', t->out);
}

void compare_print_text(FILE *out, const struct comparison *comparison,
			const struct compare_print *print)
{
	const struct text t = { out, comparison, print };
	const struct change_design *design = &print->options->design;
	const bool is_one = design->bases == 1 && design->news == 1;

	compare_print_head(out, print);
	of_verdict(&t, VERDICT_WORSE, "WORSE", false);
	of_verdict(&t, VERDICT_BETTER, "better", false);
	of_verdict(&t, VERDICT_UNKNOWN, is_one ? "suspect" : "not known", true);
	if (comparison->count[VERDICT_NOT_WORSE])
		fprintf(out, " the same   %u metrics\n", comparison->count[VERDICT_NOT_WORSE]);
	names(&t, "new", comparison->appeared, comparison->appeareds);
	names(&t, "gone", comparison->gone, comparison->gones);
	number_lines(&t);
	likely_lines(&t);
	verdict_line(&t);
	alike_line(&t);
	others_taken_line(&t);
}
