/* SPDX-License-Identifier: Apache-2.0 */
/* One run a side: the interval of its blocks holds what two runs of the same program differ by,
 * also where latencies that follow each other are alike. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "chance.h"
#include "compare/blocks.h"

enum { BLOCKS = 20, INSTANCES = 2000, CASES = 100 };

static void add(struct summary *summary, uint64_t ns)
{
	struct summary_entity *span = summary_entity(summary, SUMMARY_SPAN, "control:step", "r");

	assert_int_equal(histogram_add(&span->histogram[SUMMARY_DURATION], ns), 0);
	span->count[SUMMARY_RUNS]++;
}

/*
 * A run of spans of about 1 ms, each of which keeps 0.9 of what the one before it was off.
 * @blocks: the run's time in parts; NULL: not cut
 */
static struct summary *make_run(struct blocks *blocks, unsigned count, double factor)
{
	struct summary *run = summary_new();
	double off = chance_normal();

	assert_true(count <= BLOCKS_MAX);
	blocks->count = count;
	for (unsigned b = 0; b < count; b++)
		blocks->block[b] = summary_new();
	for (unsigned i = 0; i < INSTANCES; i++) {
		const uint64_t ns = (uint64_t)(1e6 * factor * exp(0.2 * off));

		/* In turn, each block would have a part of every stretch: as if there were none. */
		add((struct summary *)blocks->block[i / (INSTANCES / count)], ns);
		add(run, ns);
		off = 0.9 * off + sqrt(1 - 0.81) * chance_normal();
	}
	return run;
}

static void free_run(struct summary *run, struct blocks *blocks)
{
	for (unsigned b = 0; b < blocks->count; b++)
		summary_free((struct summary *)blocks->block[b]);
	summary_free(run);
}

struct answer {
	double low, estimate, high;
	bool is_suspect;
	enum verdict verdict;
};

static struct answer judge_median(unsigned count, double factor)
{
	const struct compare_options options = { .design = { 1, 1, false, 0, 0 } };
	struct blocks base, new;
	struct summary *base_run = make_run(&base, count, 1);
	struct summary *new_run = make_run(&new, count, factor);
	struct comparison comparison;
	struct kymo_err err = { 0 };
	struct answer answer = { 0 };

	assert_int_equal(compare(&comparison, (const struct summary *const *)&base_run,
				 (const struct summary *const *)&new_run, &options, &err),
			 0);
	assert_int_equal(blocks_judge(&comparison, &options, &base, &new, &err), 0);
	for (unsigned i = 0; i < comparison.rows; i++)
		if (!__builtin_strcmp(comparison.row[i].metric, "duration p50"))
			answer = (struct answer){ comparison.row[i].change.low,
						  comparison.row[i].change.estimate,
						  comparison.row[i].change.high,
						  comparison.row[i].verdict.is_suspect,
						  comparison.row[i].verdict.verdict };
	compare_free(&comparison);
	free_run(base_run, &base);
	free_run(new_run, &new);
	return answer;
}

/*
 * Of intervals of 90 of 100, with 20 blocks a few less hold. The standard error that independent
 * values would have is 0.2 * 1.25 / sqrt(2000) for each side; its interval is 4 times too narrow.
 */
static void intervals_hold_what_equal_runs_differ_by(void **state)
{
	const double independent = 1.645 * sqrt(2) * 0.2 * 1.2533 / sqrt(INSTANCES);
	unsigned hold = 0, naive = 0, suspect = 0;

	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		const struct answer answer = judge_median(BLOCKS, 1);

		assert_true(answer.low <= answer.estimate && answer.estimate <= answer.high);
		hold += answer.low <= 0 && answer.high >= 0;
		naive += fabs(answer.estimate) <= independent;
		suspect += answer.is_suspect;
	}
	print_message("%u of %u hold, %u if values were independent\n", hold, CASES, naive);
	assert_in_range(hold, 78, 98);
	assert_true(naive < 60);
	assert_in_range(suspect, 0, 5);
}

/* Twice as slow is suspect, and no more than that. */
static void one_run_makes_suspects_only(void **state)
{
	const struct answer answer = judge_median(BLOCKS, 2);

	(void)state;
	assert_true(answer.is_suspect && answer.verdict == VERDICT_UNKNOWN);
	assert_true(answer.low > 0.4 && answer.high < 1.0);
	assert_true(isinf(judge_median(BLOCKS_LEAST / 2, 2).low));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_hold_what_equal_runs_differ_by),
		cmocka_unit_test(one_run_makes_suspects_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
