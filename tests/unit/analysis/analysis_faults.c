/* SPDX-License-Identifier: Apache-2.0 */
/* Page faults by thread: as kymo, LTTng and machines without the tracepoint tell them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/system/system_faults.h"

#define HOST 0
#define PAGE 0x1000u

struct seen {
	struct fault fault[16];
	unsigned count;
};

static void take(void *context, const struct fault *fault)
{
	struct seen *seen = context;

	assert_true(seen->count < 16);
	seen->fault[seen->count++] = *fault;
}

static void check(const struct fault *fault, int32_t tid, int64_t start_ns, int64_t end_ns)
{
	assert_int_equal(fault->tid, tid);
	assert_int_equal(fault->start_ns, start_ns);
	assert_int_equal(fault->end_ns, end_ns);
}

static void test_whole(void **state)
{
	struct seen seen = { .count = 0 };
	struct faults faults;

	(void)state;
	faults_init(&faults, take, &seen);
	faults_entry(&faults, HOST, 0, 0, 5, PAGE);		/* nobody knows whose */
	faults_handled(&faults, HOST, 0, -1, 6, PAGE, false);
	faults_entry(&faults, HOST, 0, 100, 1000, PAGE);
	faults_entry(&faults, HOST, 1, 200, 1100, PAGE);
	/* 100 waits for a disk, and goes on where 200 was. */
	faults_handled(&faults, HOST, 1, -1, 1300, PAGE, false);
	faults_entry(&faults, HOST, 1, 200, 1700, 2 * PAGE);
	faults_handled(&faults, HOST, 1, 200, 1800, 2 * PAGE, false);
	faults_handled(&faults, HOST, 1, 100, 9000, PAGE, true);
	assert_int_equal(seen.count, 3);
	check(&seen.fault[0], 200, 1100, 1300);
	check(&seen.fault[1], 200, 1700, 1800);
	check(&seen.fault[2], 100, 1000, 9000);
	assert_true(seen.fault[2].is_major && seen.fault[2].is_handled && !seen.fault[0].is_major);
	assert_int_equal(faults_around_ns(&faults), 400);
	faults_free(&faults);
}

/* Without an end; and of nobody knows whom. */
static void test_entries_only(void **state)
{
	struct seen seen = { .count = 0 };
	struct faults faults;

	(void)state;
	faults_init(&faults, take, &seen);
	faults_entry(&faults, HOST, 0, 100, 10, PAGE);
	faults_entry(&faults, HOST, 0, 100, 20, PAGE);
	faults_entry(&faults, HOST, 0, 300, 25, PAGE);
	faults_entry(&faults, HOST, 0, -1, 30, PAGE);
	faults_entry(&faults, HOST, 0, 0, 40, PAGE);
	faults_finish(&faults);
	assert_int_equal(seen.count, 3);
	check(&seen.fault[0], 100, 10, 10);
	assert_int_equal(seen.fault[1].tid + seen.fault[2].tid, 400);
	assert_false(seen.fault[0].is_handled);
	assert_int_equal(faults_around_ns(&faults), 0);
	faults_free(&faults);
}

/* Of another machine than x86, or in a system call. */
static void test_ends_only(void **state)
{
	struct seen seen = { .count = 0 };
	struct faults faults;

	(void)state;
	faults_init(&faults, take, &seen);
	faults_handled(&faults, HOST, 3, 100, 10, PAGE, true);
	faults_entry(&faults, HOST, 3, 100, 20, PAGE);
	/* That of another page: the first one has no end. */
	faults_handled(&faults, HOST, 3, 100, 30, 7 * PAGE, false);
	assert_int_equal(seen.count, 3);
	check(&seen.fault[0], 100, 10, 10);
	assert_true(seen.fault[0].is_major);
	check(&seen.fault[1], 100, 20, 20);
	assert_false(seen.fault[1].is_handled);
	check(&seen.fault[2], 100, 30, 30);
	faults_finish(&faults);
	assert_int_equal(seen.count, 3);
	faults_free(&faults);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_entries_only),
		cmocka_unit_test(test_ends_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
