/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much did numbers change from one side to the other, when each side has several runs?
 *
 * The run is the unit: thousands of latencies of one run share that run's luck, so each run gives
 * one value of each metric. Values are natural logarithms, so a difference is a ratio: 0.095 is +10
 * %.
 *
 * Three answers for each metric, all from the same rearrangements. If the sides do not differ, any
 * of the runs could as well have been on the other side; paired, each pair could as well have been
 * the other way round. change_judge() goes through all rearrangements, or through CHANGE_DRAWS
 * random ones where there are more than CHANGE_ALL, always the same.
 *
 *   interval   Each rearrangement moves some runs across. The mean of those that leave "new" less
 *              the mean of those that come in is a value that the change could have. The k-th
 *              smallest and the k-th largest of these values are the bounds of the exact
 *              permutation test of the difference of means, turned round (Hartigan 1969, typical
 *              values). Each bound is wrong in at most 5 of 100 comparisons. The estimate is their
 *              median.
 *
 *   p          The share of these values on the other side of zero: the same test, of one
 *              direction.
 *
 *   q          p for all metrics together (Westfall and Young 1993, step-down maxT). The metrics
 *              are taken in the order in which they stand out, up or down. If nothing changed, the
 *              one that stands out most has q_up of at most 0.02 in 2 of 100 comparisons, and
 *              q_down of at most 0.02 in 2 of 100. It takes the largest statistic of a metric and
 *              of all that stand out less in each rearrangement, so it needs no assumption of how
 *              metrics hang together, and 6 pairs are enough for any number of metrics. The rule of
 *              Benjamini and Hochberg is not: with 6 pairs no p is below 1/64, so with 40 metrics
 *              no q could be below 0.05 unless a dozen changed.
 *
 * Both directions share one order, so that a metric that is far better hides no metric that is
 * worse. In the rearrangement in which all runs change sides, the better metric is far worse, and
 * its statistic is larger than that of every metric that is truly worse. In one order the better
 * metric is judged first, and is no longer among the metrics that are compared afterwards.
 *
 * Context of all functions: reentrant; they allocate and do not block.
 */
#ifndef KYMO_COMPARE_CHANGE_H
#define KYMO_COMPARE_CHANGE_H

#include <stdbool.h>

#define CHANGE_ALL 5000u   /* with up to so many rearrangements, all are looked at ... */
#define CHANGE_DRAWS 2000u /* ... with more, so many */
#define CHANGE_ERROR 0.05  /* of each bound */
/* Of the smallest q: a finding among equal sides. 6 pairs reach 1/64, 4 runs a side 1/70. */
#define CHANGE_ALARM 0.02

/* The runs of a comparison. */
struct change_design {
	unsigned bases, news;
	bool paired; /* base run i and new run i belong together; bases == news */
	/* What this look at the runs may spend of CHANGE_ALARM and CHANGE_ERROR (looks.h); 0: all.
	 */
	double alarm, error;
};

static inline double change_alarm(const struct change_design *design)
{
	return design->alarm > 0 ? design->alarm : CHANGE_ALARM;
}

static inline double change_error(const struct change_design *design)
{
	return design->error > 0 ? design->error : CHANGE_ERROR;
}

/* Of one metric; logarithms of new / base. */
struct change {
	double estimate;
	double low, high;    /* -INFINITY, INFINITY: too few runs for a bound */
	double p_up, p_down; /* that it did not go up; that it did not go down */
	double q_up, q_down; /* the same, for all metrics together */
};

/**
 * change_judge() - judge all metrics of a comparison
 * @value: [metrics] arrays of [bases + news] finite logarithms, the base runs first
 * @out: [metrics]
 *
 * Return: 0; -ENOMEM.
 */
int change_judge(const struct change_design *design, const double *const *value, unsigned metrics,
		 struct change *out);

#endif
