/* SPDX-License-Identifier: Apache-2.0 */
/* The lengths of a queue are the same, whether they are counted at the end or in between; and the
 * longest slices are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "report/page/page_cpus.h"

#define THREADS 5
#define UNTIL 4000

static void levels(void **state)
{
	struct page_queue queue = { 0 };

	(void)state;
	assert_true(page_queue_add(&queue, 10, 20));
	assert_true(page_queue_add(&queue, 12, 18));
	assert_true(page_queue_add(&queue, 18, 25));
	assert_true(page_queue_count(&queue, INT64_MAX));
	assert_true(queue.levels >= 3 && queue.waits == 0);
	assert_int_equal(queue.ns[1], 2 + 5);
	assert_int_equal(queue.ns[2], 6 + 2);
	assert_true(page_queue_count(&queue, INT64_MAX));
	assert_int_equal(queue.ns[2], 8);
	page_queue_free(&queue);
}

/* Waits of some threads come when they end; what began before the oldest one in progress is final.
 */
static void in_between(void **state)
{
	struct page_queue queue = { 0 };
	int64_t wanted[THREADS + 1] = { 0 }, since[THREADS] = { 0 };
	unsigned counted = 0;

	(void)state;
	srand(1);
	for (int64_t ns = 1; ns < UNTIL; ns++) {
		const unsigned thread = (unsigned)rand() % THREADS;
		unsigned waiting = 0;
		int64_t oldest = ns;

		if (since[thread])
			assert_true(page_queue_add(&queue, since[thread], ns));
		since[thread] = since[thread] ? 0 : ns;
		for (unsigned i = 0; i < THREADS; i++) {
			waiting += since[i] != 0;
			if (since[i] && since[i] < oldest)
				oldest = since[i];
		}
		wanted[waiting]++;
		if (ns % 50)
			continue;
		assert_true(page_queue_count(&queue, oldest));
		counted += queue.waits < 25;
	}
	for (unsigned i = 0; i < THREADS; i++)
		if (since[i])
			assert_true(page_queue_add(&queue, since[i], UNTIL));
	assert_true(page_queue_count(&queue, INT64_MAX));
	for (unsigned i = 1; i <= THREADS; i++)
		assert_int_equal(i < queue.levels ? queue.ns[i] : 0, wanted[i]);
	assert_true(counted > 10);
	page_queue_free(&queue);
}

static void longest(void **state)
{
	struct page_slices slices = { .window = { 0, 10000000 } };
	struct page_slice slice = { .cpu = 1 };

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		slice.from_ns = i * 1000;
		slice.to_ns = slice.from_ns + 1 + i % 7000;
		assert_true(page_slices_add(&slices, &slice));
		assert_true(slices.count <= 4 * PAGE_INSTANCE_RUNS);
	}
	slice.from_ns = 10000000;
	slice.to_ns = slice.from_ns + 100000;
	assert_true(page_slices_add(&slices, &slice));
	assert_true(slices.count >= 2 * PAGE_INSTANCE_RUNS && slices.least_ns > 1000);
	for (unsigned i = 0; i < slices.count; i++)
		assert_true(slices.slice[i].to_ns - slices.slice[i].from_ns >= slices.least_ns &&
			    slices.slice[i].from_ns < 10000000);
	free(slices.slice);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(levels), cmocka_unit_test(in_between),
					    cmocka_unit_test(longest) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
