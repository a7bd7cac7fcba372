/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/change.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* The mean of the pairs that are turned round in @row; NAN: none is. */
static double pairs_mean(const struct change_design *design, const double *value,
			 const uint8_t *row)
{
	double sum = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < design->bases; i++)
		if (row[i]) {
			sum += value[design->bases + i] - value[i];
			count++;
		}
	return count ? sum / count : NAN;
}

/* The mean of what leaves "new" in @row less the mean of what comes in; NAN: nothing moves. */
static double moved_mean(const struct change_design *design, const double *value,
			 const uint8_t *row)
{
	double out = 0, in = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < design->bases; i++)
		if (row[i]) {
			in += value[i];
			count++;
		}
	for (unsigned i = design->bases; i < design->bases + design->news; i++)
		if (!row[i])
			out += value[i];
	return count ? (out - in) / count : NAN;
}

static void judge_one(const struct change_design *design, const struct rearrangements *all,
		      const double *value, double *typical, struct change *out)
{
	unsigned count = 0, down = 0, up = 0, bound;

	for (unsigned i = 0; i < all->count; i++) {
		const uint8_t *row = rearrangements_row(all, i);
		const double one = design->paired ? pairs_mean(design, value, row)
						  : moved_mean(design, value, row);

		if (isnan(one))
			continue;
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
	unsigned *beaten; /* [metrics] rearrangements whose largest statistic, from here on, is as
			     large */
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
static double statistic(const struct together *t, const struct fixed *fixed, const uint8_t *row)
{
	const double *value = t->centred + (size_t)fixed->metric * t->width;
	const double bases = t->design->bases, news = t->design->news;
	double chosen = 0, mean, others;

	for (unsigned i = 0; i < t->width; i++)
		chosen += row[i] ? value[i] : 0;
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

/* Centres the values of all metrics; @sign -1: as if every value had gone the other way. */
static void prepare(struct together *t, const double *const *value, double sign)
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
			centred[i] = sign * (t->design->paired
						     ? value[m][t->design->bases + i] - value[m][i]
						     : value[m][i] - mean);
			fixed->sum += centred[i];
			fixed->squares += centred[i] * centred[i];
		}
		fixed->observed = statistic(t, fixed, rearrangements_row(t->all, 0));
		t->beaten[m] = 0;
	}
	qsort(t->fixed, t->metrics, sizeof(*t->fixed), by_observed);
}

/* Sets q of each metric for a change in the direction of @sign. */
static void judge_together(struct together *t, const double *const *value, double sign,
			   struct change *out)
{
	double least = 0;

	prepare(t, value, sign);
	for (unsigned i = 0; i < t->all->count; i++) {
		const uint8_t *row = rearrangements_row(t->all, i);
		double largest = -INFINITY;

		for (unsigned m = t->metrics; m-- > 0;) {
			const double one = statistic(t, &t->fixed[m], row);

			if (one > largest)
				largest = one;
			t->beaten[m] += largest >= t->fixed[m].observed - 1e-12;
		}
	}
	for (unsigned m = 0; m < t->metrics; m++) {
		const double q = (double)t->beaten[m] / t->all->count;

		if (q > least)
			least = q;
		if (sign > 0)
			out[t->fixed[m].metric].q_up = least;
		else
			out[t->fixed[m].metric].q_down = least;
	}
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
		typical = calloc(all.count + 1, sizeof(*typical));
		t.all = &all;
		t.centred = calloc((size_t)metrics * t.width + 1, sizeof(*t.centred));
		t.fixed = calloc(metrics + 1, sizeof(*t.fixed));
		t.beaten = calloc(metrics + 1, sizeof(*t.beaten));
		rc = typical && t.centred && t.fixed && t.beaten ? 0 : -ENOMEM;
	}
	for (unsigned m = 0; rc == 0 && m < metrics; m++)
		judge_one(design, &all, value[m], typical, &out[m]);
	if (rc == 0 && metrics) {
		judge_together(&t, value, 1, out);
		judge_together(&t, value, -1, out);
	}
	free(typical);
	free(t.centred);
	free(t.fixed);
	free(t.beaten);
	rearrangements_free(&all);
	return rc;
}
