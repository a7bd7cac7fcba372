/* SPDX-License-Identifier: Apache-2.0 */
/* The text behind kymo_table_hash() begins and is built as its comment says. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "abi/hash.h"
#include "abi/points.h"

static void the_hash_is_stable_and_not_trivial(void **state)
{
	(void)state;
	assert_int_equal(kymo_table_hash(), kymo_table_hash());
	assert_int_not_equal(kymo_table_hash(), 0);
	assert_int_not_equal(kymo_table_hash(), 0xcbf29ce484222325ull);	/* the empty text */
}

static void a_field_is_spelled_kind_and_argument(void **state)
{
	(void)state;
	assert_string_equal(EACH(KYMO_HASH_FIELD, (PTR, handle), (STR, symbol, name)),
			    "PTR handle;STR symbol;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hash_is_stable_and_not_trivial),
		cmocka_unit_test(a_field_is_spelled_kind_and_argument),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
