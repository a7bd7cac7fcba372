/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often is `kymo bench` right if it stops early, and after how many pairs does it stop?
 *
 * usage: looks_rates [COMPARISONS]
 *
 * Simulated pairs: a robot with 40 metrics. The runs of a pair share a drift of the machine of 5 %,
 * all metrics of a run share 1 %, and each metric varies by its own. Limit +10 %. On equal sides
 * any metric that is called worse is a false alarm; on unequal ones, the first metric is 15 %
 * slower. Each comparison is judged in four ways: after all pairs; as kymo bench does; with
 * --quick; and by somebody who looks after each pair from the sixth on with the full error of one
 * look.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/looks.h"
#include "compare/verdict.h"

enum { METRICS = 40, PAIRS_MAX = 12 };
#define BASE_NS 1e6

static const struct verdict_limit limit = { .ratio = 0.10, .least = 10000 };

struct pairs {
	double value[METRICS][2][PAIRS_MAX];
};

/* What a way to look found. */
struct outcome {
	bool is_worse[METRICS];
	bool is_known; /* all metrics are worse or not worse */
	unsigned pairs;
};

enum way { AT_THE_END, PLANNED, QUICK, EACH_PAIR, WAYS };
static const char *const way_name[WAYS] = { "one look at the end", "kymo bench",
					    "kymo bench --quick", "each pair, no plan" };

static uint64_t state = 88172645463325252u;

/* About normal: the sum of 12 uniform numbers. */
static double normal(void)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		sum += (double)(state >> 11) / 9007199254740992.0;
	}
	return sum;
}

static void draw(struct pairs *pairs, double noise, double slower, double faster)
{
	for (unsigned i = 0; i < PAIRS_MAX; i++) {
		const double drift = 0.05 * normal();

		for (unsigned side = 0; side < 2; side++) {
			const double run = 0.01 * normal();

			for (unsigned m = 0; m < METRICS; m++)
				pairs->value[m][side][i] = drift + run + noise * normal() +
							   (side && m == 0 ? log1p(slower) : 0) +
							   (side && m == 1 ? log1p(-faster) : 0);
		}
	}
}

static void judge(const struct pairs *pairs, const struct look *look, struct outcome *out)
{
	const struct change_design design = { look->pairs, look->pairs, true, look->alarm,
					      look->error };
	double value[METRICS][2 * PAIRS_MAX];
	const double *values[METRICS];
	struct change change[METRICS];

	for (unsigned m = 0; m < METRICS; m++) {
		for (unsigned side = 0; side < 2; side++)
			memcpy(value[m] + side * look->pairs, pairs->value[m][side],
			       look->pairs * sizeof(double));
		values[m] = value[m];
	}
	if (change_judge(&design, values, METRICS, change))
		exit(1);
	*out = (struct outcome){ .is_known = true, .pairs = look->pairs };
	for (unsigned m = 0; m < METRICS; m++) {
		const enum verdict is = verdict(&design, &change[m], BASE_NS, &limit).verdict;

		out->is_worse[m] = is == VERDICT_WORSE;
		out->is_known &= is != VERDICT_UNKNOWN;
	}
}

static bool any(const struct outcome *outcome)
{
	bool is_any = false;

	for (unsigned m = 0; m < METRICS; m++)
		is_any |= outcome->is_worse[m];
	return is_any;
}

static bool is_closed(const struct pairs *pairs, const struct looks *looks, unsigned have)
{
	for (unsigned m = 0; m < METRICS; m++) {
		double difference[PAIRS_MAX];

		for (unsigned i = 0; i < have; i++)
			difference[i] = pairs->value[m][1][i] - pairs->value[m][0][i];
		if (looks_are_open(looks, difference, have, log1p(limit.ratio)))
			return false;
	}
	return true;
}

static void look_as(enum way way, const struct pairs *pairs, unsigned asked, struct outcome *out)
{
	struct looks looks;

	looks_plan(&looks, asked);
	for (unsigned have = 2; have <= asked; have++) {
		const struct look all = { have, CHANGE_ALARM, CHANGE_ERROR };
		const struct look *look = looks_at(&looks, have);

		if (way == AT_THE_END || way == EACH_PAIR)
			look = have == asked || (way == EACH_PAIR && have >= 6) ? &all : NULL;
		if (look) {
			judge(pairs, look, out);
			if (have == asked || any(out) || out->is_known)
				return;
		}
		if (way == QUICK && is_closed(pairs, &looks, have)) {
			*out = (struct outcome){ .pairs = have };
			return;
		}
	}
}

static void simulate(unsigned asked, double noise, double slower, double faster,
		     unsigned comparisons)
{
	unsigned alarms[WAYS] = { 0 }, found[WAYS] = { 0 }, recorded[WAYS] = { 0 }, lost = 0;

	for (unsigned i = 0; i < comparisons; i++) {
		struct pairs pairs;
		struct outcome outcome[WAYS];

		draw(&pairs, noise, slower, faster);
		for (enum way way = 0; way < WAYS; way++) {
			look_as(way, &pairs, asked, &outcome[way]);
			recorded[way] += outcome[way].pairs;
			found[way] += outcome[way].is_worse[0];
			if (slower > 0)
				outcome[way].is_worse[0] = false;
			alarms[way] += any(&outcome[way]);
		}
		lost += any(&outcome[PLANNED]) != any(&outcome[QUICK]);
	}
	for (enum way way = 0; way < WAYS; way++) {
		printf("%5u  %3.0f %%  %+3.0f %%  %+3.0f %%  %-20s  %7.2f  %6.2f %%", asked,
		       100 * noise, 100 * slower, -100 * faster, way_name[way],
		       (double)recorded[way] / comparisons, 100.0 * alarms[way] / comparisons);
		if (slower > 0)
			printf("  %6.1f %%", 100.0 * found[way] / comparisons);
		printf("\n");
	}
	if (lost)
		printf("--quick changed %u verdicts\n", lost);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const unsigned comparisons = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
	static const unsigned asked[] = { 6, 8, 12 };
	static const double noise[] = { 0.02, 0.05, 0.10 };

	printf("%u comparisons each\npairs  noise   one  another  way      pairs recorded  false"
	       " alarms  found\n",
	       comparisons);
	for (unsigned a = 0; a < sizeof(asked) / sizeof(*asked); a++)
		for (unsigned n = 0; n < sizeof(noise) / sizeof(*noise); n++) {
			simulate(asked[a], noise[n], 0, 0, comparisons);
			simulate(asked[a], noise[n], 0.15, 0, comparisons);
			simulate(asked[a], noise[n], 0, 0.3, comparisons);
			simulate(asked[a], noise[n], 0.15, 0.3, comparisons);
		}
	return 0;
}
