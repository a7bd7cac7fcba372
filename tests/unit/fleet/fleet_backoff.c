/* SPDX-License-Identifier: Apache-2.0 */
/* Waits by chance: within their limits, and not all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>

#include <cmocka.h>

#include "fleet/push/backoff.h"

static void grows_to_a_limit(void **state)
{
	(void)state;
	for (unsigned failures = 1; failures < 40; failures++) {
		const uint64_t most = failures > 11 ? 300000 : 250ull << (failures - 1);
		const unsigned ms = backoff_ms(failures);

		assert_true(ms >= (most < 300000 ? most : 300000) / 2 && ms < most);
	}
}

static void spreads(void **state)
{
	unsigned third[3] = { 0 };

	(void)state;
	assert_int_equal(backoff_spread_ms(0), 0);
	assert_int_equal(backoff_spread_ms(1), 0);
	for (unsigned i = 0; i < 3000; i++) {
		const unsigned ms = backoff_spread_ms(60000);

		assert_true(ms < 60000);
		third[ms / 20000]++;
	}
	for (unsigned i = 0; i < 3; i++)
		assert_in_range(third[i], 700, 1300);	/* 11 standard deviations */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_to_a_limit),
		cmocka_unit_test(spreads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
