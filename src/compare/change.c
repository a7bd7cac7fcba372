/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "compare/rearrange.h"

/*
 * Added to the standard error of a difference: without it, a metric that varies by nothing at all
 * would win against every other one. It is half a percent, which nobody gates on.
 */
#define ERROR_FLOOR 0.005

/*
 * Of few pairs, some metric among a hundred has differences that are nearly equal by chance, and
 * beats every true change. So a share of how much the runs of a side vary among themselves counts,
 * too: it is known better, and it is little where pairs share a drift of the machine only in part.
 */
#define WITHIN_SHARE (1.0 / 9)

/* ---- one metric: interval and p ---- */

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Four sums at once: one alone would wait for each addition to end. */
static double dot(const double *a, const double *b, unsigned count)
{
	double sum[4] = { 0 };
	unsigned i;

	for (i = 0; i + 4 <= count; i += 4)
		for (unsigned k = 0; k < 4; k++)
			sum[k] += a[i + k] * b[i + k];
	for (; i < count; i++)
		sum[0] += a[i] * b[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/*
 * @value: of the runs; paired: the differences of the pairs. A typical value is the mean of what
 * leaves "new" less the mean of what comes in; paired: the mean of the pairs that are turned round.
 */
static void judge_one(const struct change_design *design, const struct rearrangements *all,
		      const double *value, double *typical, struct change *out)
{
	unsigned count = 0, down = 0, up = 0, bound;

	for (unsigned i = 0; i < all->count; i++) {
		double one;

		if (!all->moves[i])
			continue;
		one = dot(rearrangements_moved(all, i), value, all->width) / all->moves[i];
		typical[count++] = one;
		down += one <= 0;
		up += one >= 0;
	}
	*out = (struct change){
		.low = -INFINITY, .high = INFINITY, .p_up = 1, .p_down = 1, .q_up = 1, .q_down = 1
	};
	if (!count)
		return;
	qsort(typical, count, sizeof(*typical), by_value);
	out->estimate = (typical[(count - 1) / 2] + typical[count / 2]) / 2;
	out->p_up = (1.0 + down) / (1.0 + count);
	out->p_down = (1.0 + up) / (1.0 + count);
	bound = (unsigned)(change_error(design) * (count + 1) + 1e-9);
	if (bound) {
		out->low = typical[bound - 1];
		out->high = typical[count - bound];
	}
}

/* ---- all metrics together: q ---- */

/* What of a metric is the same in all rearrangements. */
struct fixed {
	unsigned metric;
	double observed;     /* its statistic as the runs were */
	double sum, squares; /* of its values less their mean; paired: of the differences */
	double shared;       /* paired: half the squares of the sums of a pair, less their mean */
};

struct together {
	const struct change_design *design;
	const struct rearrangements *all;
	double *centred;     /* [metrics][runs], or [metrics][pairs] of differences */
	struct fixed *fixed; /* [metrics], largest observed statistic first */
	/* [metrics] of the rearrangements: how often the largest statistic from here on is as
	 * large, or, towards the front, the smallest as small */
	unsigned *beaten_up, *beaten_down;
	double *now; /* [metrics] the statistics of a rearrangement */
	unsigned metrics, width;
};

static double student(double difference, double squares, double freedom, double share)
{
	const double error = squares > 0 && freedom > 0 ? sqrt(squares / freedom * share) : 0;

	return difference / (error + ERROR_FLOOR);
}

/* The squares that the error of @pairs pairs with a mean difference of @mean comes from. */
static double pairs_squares(const struct fixed *fixed, double pairs, double mean)
{
	const double between = fixed->squares - pairs * mean * mean;

	/* Of both sides, about the mean of each. */
	return between + WITHIN_SHARE * (fixed->shared + between / 2);
}

/* The statistic of metric @at in rearrangement @row; 1 in @row: new, paired: turned round. */
static double statistic(const struct together *t, const struct fixed *fixed, const double *row)
{
	const double *value = t->centred + (size_t)fixed->metric * t->width;
	const double bases = t->design->bases, news = t->design->news;
	const double chosen = dot(row, value, t->width);
	double mean, others;

	if (t->design->paired) {
		mean = (fixed->sum - 2 * chosen) / bases;
		return student(mean, pairs_squares(fixed, bases, mean), bases - 1, 1 / bases);
	}
	mean = chosen / news;
	others = (fixed->sum - chosen) / bases;
	return student(mean - others, fixed->squares - news * mean * mean - bases * others * others,
		       bases + news - 2, 1 / bases + 1 / news);
}

static int by_observed(const void *left, const void *right)
{
	const struct fixed *a = left, *b = right;

	if (a->observed != b->observed)
		return a->observed < b->observed ? 1 : -1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

/* Centres the values of all metrics. */
static void prepare(struct together *t, const double *const *value)
{
	const unsigned runs = t->design->bases + t->design->news;

	for (unsigned m = 0; m < t->metrics; m++) {
		double *centred = t->centred + (size_t)m * t->width, mean = 0;
		struct fixed *fixed = &t->fixed[m];

		*fixed = (struct fixed){ .metric = m };
		for (unsigned i = 0; i < runs; i++)
			mean += value[m][i] / runs;
		for (unsigned i = 0; t->design->paired && i < t->width; i++) {
			const double both = value[m][i] + value[m][t->design->bases + i] - 2 * mean;

			fixed->shared += both * both / 2;
		}
		for (unsigned i = 0; i < t->width; i++) {
			centred[i] = t->design->paired
					     ? value[m][t->design->bases + i] - value[m][i]
					     : value[m][i] - mean;
			fixed->sum += centred[i];
			fixed->squares += centred[i] * centred[i];
		}
		fixed->observed = statistic(t, fixed, rearrangements_row(t->all, 0));
	}
	qsort(t->fixed, t->metrics, sizeof(*t->fixed), by_observed);
}

/* One rearrangement; had every value gone the other way, so had every statistic. */
static void count_one(struct together *t, const double *row)
{
	double most = -INFINITY, least = INFINITY;

	for (unsigned m = 0; m < t->metrics; m++)
		t->now[m] = statistic(t, &t->fixed[m], row);
	for (unsigned m = t->metrics; m-- > 0;) {
		most = t->now[m] > most ? t->now[m] : most;
		t->beaten_up[m] += most >= t->fixed[m].observed - 1e-12;
	}
	for (unsigned m = 0; m < t->metrics; m++) {
		least = t->now[m] < least ? t->now[m] : least;
		t->beaten_down[m] += least <= t->fixed[m].observed + 1e-12;
	}
}

/* Sets q of each metric. */
static void judge_together(struct together *t, const double *const *value, struct change *out)
{
	double up = 0, down = 0;

	prepare(t, value);
	for (unsigned i = 0; i < t->all->count; i++)
		count_one(t, rearrangements_row(t->all, i));
	for (unsigned m = 0; m < t->metrics; m++) {
		const unsigned last = t->metrics - 1 - m;

		up = fmax(up, (double)t->beaten_up[m] / t->all->count);
		out[t->fixed[m].metric].q_up = up;
		down = fmax(down, (double)t->beaten_down[last] / t->all->count);
		out[t->fixed[last].metric].q_down = down;
	}
}

static int judge_all(struct together *t, const double *const *value, double *typical,
		     double *difference, struct change *out)
{
	const unsigned bases = t->design->bases;

	for (unsigned m = 0; m < t->metrics; m++) {
		for (unsigned i = 0; t->design->paired && i < bases; i++)
			difference[i] = value[m][bases + i] - value[m][i];
		judge_one(t->design, t->all, t->design->paired ? difference : value[m], typical,
			  &out[m]);
	}
	if (t->metrics)
		judge_together(t, value, out);
	return 0;
}

int change_judge(const struct change_design *design, const double *const *value, unsigned metrics,
		 struct change *out)
{
	struct together t = { .design = design,
			      .metrics = metrics,
			      .width = design->paired ? design->bases
						      : design->bases + design->news };
	struct rearrangements all = { 0 };
	double *typical = NULL, *difference = NULL;
	int rc = rearrangements_make(&all, design);

	if (rc == 0) {
		typical = calloc(all.count + 1, sizeof(*typical));
		difference = calloc(t.width + 1, sizeof(*difference));
		t.all = &all;
		t.centred = calloc((size_t)metrics * t.width + 1, sizeof(*t.centred));
		t.fixed = calloc(metrics + 1, sizeof(*t.fixed));
		t.beaten_up = calloc(metrics + 1, sizeof(*t.beaten_up));
		t.beaten_down = calloc(metrics + 1, sizeof(*t.beaten_down));
		t.now = calloc(metrics + 1, sizeof(*t.now));
		rc = typical && difference && t.centred && t.fixed && t.beaten_up &&
				     t.beaten_down && t.now
			     ? judge_all(&t, value, typical, difference, out)
			     : -ENOMEM;
	}
	free(typical);
	free(difference);
	free(t.centred);
	free(t.fixed);
	free(t.beaten_up);
	free(t.beaten_down);
	free(t.now);
	rearrangements_free(&all);
	return rc;
}
