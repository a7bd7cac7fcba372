/* SPDX-License-Identifier: Apache-2.0 */
/* Order: of numbers at the ends of their types, and what binary search finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/order.h"

static void numbers_have_an_order(void **state)
{
	const uint64_t most = UINT64_MAX, least = 1;

	(void)state;
	assert_int_equal(ORDER(INT64_MIN, INT64_MAX), -1);
	assert_int_equal(ORDER(most, least), 1);
	assert_int_equal(ORDER(7, 7), 0);
	assert_true(lesser(INT64_MIN, INT64_MAX) == INT64_MIN);
	assert_true(lesser(3, 2) == 2);
	assert_true(larger(INT64_MIN, INT64_MAX) == INT64_MAX);
	assert_true(larger(3, 2) == 3);
}

static int by_value(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return ORDER(*x, *y);
}

static void search_finds_the_first_and_the_one_behind(void **state)
{
	static const int32_t value[] = { -5, 1, 1, 1, 4 };
	static const struct {
		int32_t key;
		size_t first, after;
	} want[] = { { -6, 0, 0 }, { -5, 0, 1 }, { 0, 1, 1 }, { 1, 1, 4 },
		     { 2, 4, 4 },  { 4, 4, 5 },  { 5, 5, 5 } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		assert_int_equal(
			order_first(&want[i].key, value, COUNT_OF(value), sizeof(*value), by_value),
			want[i].first);
		assert_int_equal(
			order_after(&want[i].key, value, COUNT_OF(value), sizeof(*value), by_value),
			want[i].after);
	}
	assert_int_equal(order_first(&want[0].key, NULL, 0, sizeof(*value), by_value), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_an_order),
		cmocka_unit_test(search_finds_the_first_and_the_one_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
