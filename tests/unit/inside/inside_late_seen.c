/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that were seen in a process to which kymo was attached: a thread that has an entry
 * while all are forgotten, because kymo is attached again, still finds the address in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "inside/ros2/late/ros2_late_seen.h"

#define GROUP ((uintptr_t)0x7f0000001000)

static void test_forget(void **state)
{
	struct kymo_seen *seen = kymo_seen_add(GROUP, SEEN_GROUP);

	(void)state;
	assert_non_null(seen);
	assert_true(kymo_seen_take(seen));
	assert_false(kymo_seen_take(seen));
	kymo_seen_forget();
	assert_int_equal(seen->address, GROUP);
	assert_null(kymo_seen_find(GROUP));
	assert_false(kymo_seen_known(seen));
	/* The next object at the address, of another kind. */
	assert_ptr_equal(kymo_seen_add(GROUP, SEEN_TIMER), seen);
	assert_int_equal(kymo_seen_kind(seen), SEEN_TIMER);
	assert_true(kymo_seen_take(seen));
}

static void test_gone(void **state)
{
	struct kymo_seen *seen = kymo_seen_add(GROUP + 64, SEEN_NODE);

	(void)state;
	kymo_seen_gone(GROUP + 64);
	assert_int_equal(seen->address, GROUP + 64);
	assert_null(kymo_seen_find(GROUP + 64));
	assert_null(kymo_seen_add(0, SEEN_NODE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
