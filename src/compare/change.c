/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How change_judge() computes interval, p and q; see change.h for what they mean.
 *
 * The idea: each metric needs one sum for each rearrangement, and everything follows from it. The
 * total of the values, and of their squares, is the same in all rearrangements. So the sum of what
 * counts as new gives the means of both sides and the variance within them. rearrange.c computes
 * these sums quickly.
 *
 * The statistic of q is Student's t with ERROR_FLOOR added to its denominator, as in Tusher,
 * Tibshirani and Chu 2001 (their s0). q needs the largest statistic of a metric and of all that
 * stand out less. So the metrics are taken from the one that stands out least, and one array keeps
 * the largest statistic of each rearrangement until then.
 */
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

/* Rounding: sums of equal values differ by less. */
#define TIE 1e-12

static void exchange(double *a, double *b)
{
	const double kept = *a;

	*a = *b;
	*b = kept;
}

/*
 * The @at-th smallest of @value, as if it were sorted; the smaller ones are before it then, the
 * larger ones behind (Hoare's selection).
 */
static double select_one(double *value, unsigned count, unsigned at)
{
	unsigned first = 0, last = count - 1;

	while (first < last) {
		const double middle = value[first + (last - first) / 2];
		unsigned low = first, high = last;

		for (;;) {
			while (value[low] < middle)
				low++;
			while (value[high] > middle)
				high--;
			if (low >= high)
				break;
			exchange(&value[low++], &value[high--]);
		}
		if (at <= high)
			last = high;
		else
			first = high + 1;
	}
	return value[at];
}

/*
 * @sum: for each rearrangement, the sum of what counts as new; paired: of the differences that are
 * turned round. A typical value is the mean of what leaves "new" less the mean of what comes in;
 * paired: the mean of the pairs that are turned round. Return: how many there are.
 */
static unsigned typical_values(const struct change_design *design,
			       const struct rearrangements *all, const double *sum, double *typical)
{
	unsigned count = 0;

	for (unsigned i = 0; i < all->count; i++) {
		const double moved = design->paired ? sum[i] : sum[0] - sum[i];

		if (all->moves[i])
			typical[count++] = fabs(moved) < TIE ? 0 : moved / all->moves[i];
	}
	return count;
}

static void judge_one(const struct change_design *design, const struct rearrangements *all,
		      const double *sum, double *typical, struct change *out)
{
	const unsigned count = typical_values(design, all, sum, typical);
	unsigned down = 0, up = 0, bound;

	*out = (struct change){
		.low = -INFINITY, .high = INFINITY, .p_up = 1, .p_down = 1, .q_up = 1, .q_down = 1
	};
	if (!count)
		return;
	for (unsigned i = 0; i < count; i++) {
		down += typical[i] <= 0;
		up += typical[i] >= 0;
	}
	out->p_up = (1.0 + down) / (1.0 + count);
	out->p_down = (1.0 + up) / (1.0 + count);
	out->estimate = (select_one(typical, count, (count - 1) / 2) +
			 select_one(typical, count, count / 2)) /
			2;
	bound = (unsigned)(change_error(design) * (count + 1) + 1e-9);
	if (bound) {
		out->low = select_one(typical, count, bound - 1);
		out->high = select_one(typical, count, count - bound);
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
	struct fixed *fixed; /* [metrics], largest absolute observed statistic first */
	double *sum;         /* [rearrangements] of a metric */
	double *largest, *smallest; /* [rearrangements] statistic of the metrics until now */
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

/* The statistic where @chosen is the sum of what counts as new; paired: is turned round. */
static double statistic(const struct together *t, const struct fixed *fixed, double chosen)
{
	const double bases = t->design->bases, news = t->design->news;
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
	const double x = fabs(a->observed), y = fabs(b->observed);

	if (x != y)
		return x < y ? 1 : -1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

/* Centres the values of metric @m. */
static void centre(struct together *t, const double *value, unsigned m)
{
	const unsigned bases = t->design->bases, runs = bases + t->design->news;
	double *centred = t->centred + (size_t)m * t->width, mean = 0;
	struct fixed *fixed = &t->fixed[m];

	*fixed = (struct fixed){ .metric = m };
	for (unsigned i = 0; i < runs; i++)
		mean += value[i] / runs;
	for (unsigned i = 0; t->design->paired && i < t->width; i++) {
		const double both = value[i] + value[bases + i] - 2 * mean;

		fixed->shared += both * both / 2;
	}
	for (unsigned i = 0; i < t->width; i++) {
		centred[i] = t->design->paired ? value[bases + i] - value[i] : value[i] - mean;
		fixed->sum += centred[i];
		fixed->squares += centred[i] * centred[i];
	}
}

/*
 * Sets q_up of a metric: the share of rearrangements in which the largest statistic of this metric
 * and of all before it is at least the observed one; q_down: in which the smallest is at most that.
 * Call it for the metric with the smallest absolute observed statistic first.
 */
static void share_beaten(struct together *t, const struct fixed *fixed, struct change *out)
{
	unsigned up = 0, down = 0;

	rearrangements_sums(t->all, t->centred + (size_t)fixed->metric * t->width, t->sum);
	for (unsigned i = 0; i < t->all->count; i++) {
		const double now = statistic(t, fixed, t->sum[i]);

		t->largest[i] = now > t->largest[i] ? now : t->largest[i];
		t->smallest[i] = now < t->smallest[i] ? now : t->smallest[i];
		up += t->largest[i] >= fixed->observed - TIE;
		down += t->smallest[i] <= fixed->observed + TIE;
	}
	out->q_up = (double)up / t->all->count;
	out->q_down = (double)down / t->all->count;
}

/*
 * Sets q_up and q_down of each metric. Step-down: neither is smaller than the smaller one of the
 * two of a metric with a larger absolute observed statistic.
 */
static void judge_together(struct together *t, struct change *out)
{
	double least = 0;

	qsort(t->fixed, t->metrics, sizeof(*t->fixed), by_observed);
	for (unsigned i = 0; i < t->all->count; i++) {
		t->largest[i] = -INFINITY;
		t->smallest[i] = INFINITY;
	}
	for (unsigned m = t->metrics; m-- > 0;)
		share_beaten(t, &t->fixed[m], &out[t->fixed[m].metric]);
	for (unsigned m = 0; m < t->metrics; m++) {
		struct change *one = &out[t->fixed[m].metric];

		one->q_up = fmax(one->q_up, least);
		one->q_down = fmax(one->q_down, least);
		least = fmin(one->q_up, one->q_down);
	}
}

static void judge_all(struct together *t, const double *const *value, double *typical,
		      struct change *out)
{
	for (unsigned m = 0; m < t->metrics; m++) {
		centre(t, value[m], m);
		rearrangements_sums(t->all, t->centred + (size_t)m * t->width, t->sum);
		t->fixed[m].observed = statistic(t, &t->fixed[m], t->sum[0]);
		judge_one(t->design, t->all, t->sum, typical, &out[m]);
	}
	if (t->metrics)
		judge_together(t, out);
}

int change_judge(const struct change_design *design, const double *const *value, unsigned metrics,
		 struct change *out)
{
	struct together t = { .design = design,
			      .metrics = metrics,
			      .width = design->paired ? design->bases
						      : design->bases + design->news };
	struct rearrangements all = { 0 };
	double *typical = NULL;
	int rc = rearrangements_make(&all, design);

	if (rc == 0) {
		t.all = &all;
		typical = calloc(all.count + 1, sizeof(*typical));
		t.centred = calloc((size_t)metrics * t.width + 1, sizeof(*t.centred));
		t.fixed = calloc(metrics + 1, sizeof(*t.fixed));
		t.sum = calloc(all.count + 1, sizeof(*t.sum));
		t.largest = calloc(all.count + 1, sizeof(*t.largest));
		t.smallest = calloc(all.count + 1, sizeof(*t.smallest));
		rc = typical && t.centred && t.fixed && t.sum && t.largest && t.smallest ? 0
											 : -ENOMEM;
	}
	if (rc == 0)
		judge_all(&t, value, typical, out);
	free(typical);
	free(t.centred);
	free(t.fixed);
	free(t.sum);
	free(t.largest);
	free(t.smallest);
	rearrangements_free(&all);
	return rc;
}
