/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons for an oracle. Each line of standard input begins with PAIRED BASES NEWS METRICS, and
 * the values of each metric follow; a line of each metric has estimate, low, high, p up, p down, q
 * up, q down.
 */
#include <stdio.h>
#include <stdlib.h>

#include "compare/change.h"

static int one(unsigned paired, unsigned bases, unsigned news, unsigned metrics)
{
	const struct change_design design = { .bases = bases, .news = news, .paired = paired };
	const double **value = calloc(metrics, sizeof(*value));
	struct change *change = calloc(metrics, sizeof(*change));

	for (unsigned m = 0; m < metrics; m++) {
		double *row = calloc(bases + news, sizeof(*row));

		for (unsigned i = 0; i < bases + news; i++)
			if (scanf("%lf", &row[i]) != 1)
				return 1;
		value[m] = row;
	}
	if (change_judge(&design, value, metrics, change))
		return 1;
	for (unsigned m = 0; m < metrics; m++) {
		printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", change[m].estimate,
		       change[m].low, change[m].high, change[m].p_up, change[m].p_down,
		       change[m].q_up, change[m].q_down);
		free((void *)value[m]);
	}
	free(value);
	free(change);
	return 0;
}

int main(void)
{
	unsigned paired, bases, news, metrics;

	while (scanf("%u %u %u %u", &paired, &bases, &news, &metrics) == 4)
		if (one(paired, bases, news, metrics))
			return 1;
	return 0;
}
