/* SPDX-License-Identifier: Apache-2.0 */
/* The latest runs of a thread, whose room grows, against a list of all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/executors/busy.h"

#define RUNS 1000u

static int64_t between(const struct busy_run *run, unsigned runs, int64_t from_ns, int64_t to_ns)
{
	int64_t sum_ns = 0;

	for (unsigned i = runs > BUSY_RUNS ? runs - BUSY_RUNS : 0; i < runs; i++) {
		const int64_t begin_ns = run[i].start_ns > from_ns ? run[i].start_ns : from_ns;
		const int64_t end_ns = run[i].end_ns < to_ns ? run[i].end_ns : to_ns;

		sum_ns += end_ns > begin_ns ? end_ns - begin_ns : 0;
	}
	return sum_ns;
}

static void grows(void **state)
{
	static struct busy_run run[RUNS];
	struct busy busy = { 0 };
	unsigned runs = 0;

	(void)state;
	assert_int_equal(busy_between(&busy, 0, INT64_MAX), 0);
	for (unsigned i = 0; i < RUNS; i++) {
		/* Each seventh run has the one before it inside. */
		const int64_t start_ns = 10 * (int64_t)i - (i % 7 == 6 ? 10 : 0);

		while (runs && run[runs - 1].start_ns >= start_ns)
			runs--;
		run[runs++] = (struct busy_run){ start_ns, 10 * (int64_t)i + 3 + i % 5 };
		assert_true(busy_add(&busy, start_ns, run[runs - 1].end_ns));
		assert_true(busy.size <= BUSY_RUNS && busy.size < 2 * runs + 8);
		for (int64_t back_ns = 1; back_ns < 7000; back_ns *= 3)
			assert_int_equal(busy_between(&busy, start_ns - back_ns, start_ns + 2),
					 between(run, runs, start_ns - back_ns, start_ns + 2));
	}
	busy_free(&busy);
	assert_int_equal(busy_between(&busy, 0, INT64_MAX), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(grows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
