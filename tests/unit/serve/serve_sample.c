/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of windows: whatever the times of the calls, they follow each other, do not overlap, and
 * each window of the sample is inside one window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "serve/serve_sample.h"

#define SECOND 1000000000ll
#define WINDOW (60 * SECOND)
#define SAMPLE (10 * SECOND)

static int64_t window_of(int64_t ns)
{
	return ns / WINDOW * WINDOW;
}

/* What kymo serve does: a part from counters at the end of each window and before each sample. */
static void parts_follow_each_other(void **state)
{
	struct serve_sample sample = { .window_ns = WINDOW, .sample_ns = SAMPLE };
	const int64_t start = 1000 * WINDOW + 55 * SECOND;
	int64_t now = start, end = start, window = window_of(start), sampled = 0;
	unsigned samples = 0;

	(void)state;
	srand(1);
	serve_sample_begin(&sample, now);
	assert_true(sample.begin_ns == window + WINDOW);	/* no room for it */
	while (now < start + 500 * WINDOW) {
		now += rand() % (2 * SECOND);
		if (sample.phase != SERVE_SAMPLE_RECORDS && window_of(now) != window) {
			int64_t begin = window, length = serve_sample_part(&sample, true, &begin);

			assert_true(sample.phase == SERVE_SAMPLE_READS || begin == end);
			if (sample.phase == SERVE_SAMPLE_COUNTS)
				end = begin + length;
			window = window_of(now);
		}
		if (!serve_sample_is_due(&sample, now))
			continue;
		if (sample.phase == SERVE_SAMPLE_COUNTS) {
			int64_t begin = window, length;

			serve_sample_next(&sample, now);
			length = serve_sample_part(&sample, true, &begin);
			assert_true(begin == end && begin + length == now);
			end = now;
			assert_true(serve_sample_has(&sample, now) &&
				    !serve_sample_has(&sample, now - 1));
		} else if (sample.phase == SERVE_SAMPLE_RECORDS) {
			serve_sample_next(&sample, now);
			assert_true(!serve_sample_has(&sample, now) &&
				    serve_sample_has(&sample, now - 1));
		} else {
			int64_t begin = window_of(sample.begin_ns);
			const int64_t length = serve_sample_part(&sample, false, &begin);

			assert_true(begin == end);
			end = begin + length;
			sampled += length;
			samples++;
			serve_sample_next(&sample, now);
			assert_true(window_of(sample.begin_ns) == window_of(sample.end_ns - 1));
			assert_false(serve_sample_has(&sample, begin));
			window = window_of(end);
		}
	}
	assert_in_range(samples, 480, 501);
	assert_in_range(sampled / SECOND, samples * 9, samples * 13);
}

static void begins_at_once(void **state)
{
	struct serve_sample sample = { .window_ns = WINDOW, .sample_ns = SAMPLE };

	(void)state;
	serve_sample_begin(&sample, 1000 * WINDOW + 5);
	assert_true(serve_sample_is_due(&sample, 1000 * WINDOW + 5));
}

static void without_samples(void **state)
{
	struct serve_sample sample = { .window_ns = WINDOW };

	(void)state;
	serve_sample_begin(&sample, 1000 * WINDOW);
	assert_false(serve_sample_is_due(&sample, 2000 * WINDOW));
}

static void clock_set_back(void **state)
{
	struct serve_sample sample = { .window_ns = WINDOW, .sample_ns = SAMPLE };
	const int64_t now = 1000 * WINDOW, before = 10 * WINDOW;

	(void)state;
	serve_sample_begin(&sample, now);
	assert_false(serve_sample_is_due(&sample, before));
	assert_true(serve_sample_is_due(&sample, before + WINDOW));
	serve_sample_next(&sample, now);
	assert_true(serve_sample_is_due(&sample, before));	/* it would last for ever */
	serve_sample_next(&sample, before);
	assert_true(sample.end_ns > sample.begin_ns);
	/* Else no sample would come until the clock is there again. */
	assert_true(serve_sample_is_due(&sample, before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_follow_each_other),
		cmocka_unit_test(begins_at_once),
		cmocka_unit_test(without_samples),
		cmocka_unit_test(clock_set_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
