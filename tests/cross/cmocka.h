/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of cmocka as the tracer's tests use, for machines that are emulated and have no cmocka:
 * a failed assertion ends the program. Include paths choose between this and the real one.
 */
#ifndef KYMO_TEST_CROSS_CMOCKA_H
#define KYMO_TEST_CROSS_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reading two clocks together takes microseconds there. */
#define TEST_CLOCK_NS 1000000

#define cross_assert(condition) do {							\
		if (!(condition)) {							\
			(void)printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);	\
			exit(1);							\
		}									\
	} while (0)

#define assert_true(value) cross_assert(value)
#define assert_false(value) cross_assert(!(value))
#define assert_null(value) cross_assert(!(value))
#define assert_non_null(value) cross_assert(value)
#define assert_int_equal(a, b) cross_assert((uint64_t)(a) == (uint64_t)(b))
#define assert_int_not_equal(a, b) cross_assert((uint64_t)(a) != (uint64_t)(b))
#define assert_ptr_not_equal(a, b) cross_assert((const void *)(a) != (const void *)(b))
#define assert_string_equal(a, b) cross_assert(strcmp(a, b) == 0)
#define assert_in_range(value, low, high) cross_assert((value) >= (low) && (value) <= (high))
#define fail_msg(...) do { (void)printf(__VA_ARGS__); exit(1); } while (0)

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
};

#define cmocka_unit_test(function) { #function, function }

#define cmocka_run_group_tests(tests, setup, teardown)					\
	cross_run(tests, sizeof(tests) / sizeof *(tests))

static inline int cross_run(const struct CMUnitTest *tests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		(void)printf("%s\n", tests[i].name);
		tests[i].run(NULL);
	}
	return 0;
}

#endif
