/* SPDX-License-Identifier: Apache-2.0 */
/* Words for changes: how many digits, and no sign of what rounds to zero. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compare/compare.h"
#include "compare/compare_words.h"

static struct compare_row row_of(enum compare_unit unit, double base, double new)
{
	struct compare_row row = { .unit = unit, .base = base, .new = new };

	row.change.estimate = log(new / base);
	row.change.low = row.change.estimate - 0.0004;
	row.change.high = row.change.estimate + 0.0011;
	return row;
}

static void assert_words(const struct compare_row *row, const char *change, const char *size)
{
	char out[COMPARE_CHANGE_MAX];

	assert_string_equal(compare_change(out, row), change);
	assert_string_equal(compare_size(out, row), size);
}

static void test_grown(void **state)
{
	struct compare_row row = row_of(COMPARE_NS, 100, 122);

	(void)state;
	assert_words(&row, "+22 % (+22 to +22 %)", "+22 %");
	row = row_of(COMPARE_NS, 100, 98);
	assert_words(&row, "-2.0 % (-2.0 to -1.9 %)", "-2.0 %");
	row = row_of(COMPARE_PER_RUN, 0.5, 0.25);
	assert_words(&row, "-0.25 per run", "-0.25");
	row = row_of(COMPARE_SHARE, 0.5, 0.5125);
	assert_words(&row, "+1.25 points", "+1.25");
}

static void test_zero_has_no_sign(void **state)
{
	struct compare_row row = row_of(COMPARE_NS, 10000, 9999);

	(void)state;
	assert_words(&row, "0.0 % (0.0 to +0.1 %)", "0.0 %");
	row.is_less_worse = true;
	assert_words(&row, "0.0 % (-0.1 to +0.1 %)", "0.0 %");
	row = row_of(COMPARE_PER_RUN, 1, 0.999);
	assert_words(&row, "0.00 per run", "0.00");
	row = row_of(COMPARE_SHARE, 0.5, 0.49999);
	assert_words(&row, "0.00 points", "0.00");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grown),
		cmocka_unit_test(test_zero_has_no_sign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
