/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the preload library, and LD_PRELOAD's value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recorder/launch/preload.h"

static void found_beside_program(void **state)
{
	char path[4096];
	struct kymo_err err = { 0 };

	(void)state;
	/* This test lies in <build>/tests, the library in <build>/lib. */
	assert_int_equal(preload_find(path, sizeof path, NULL, &err), 0);
	assert_non_null(strstr(path, "/lib/" PRELOAD_LIBRARY));
	assert_int_equal(preload_find(path, 10, NULL, &err), -1);
}

static void chosen_by_environment(void **state)
{
	char path[4096];
	struct kymo_err err = { 0 };

	(void)state;
	setenv("KYMO_PRELOAD", "/proc/self/exe", 1);
	assert_int_equal(preload_find(path, sizeof path, NULL, &err), 0);
	assert_string_equal(path, "/proc/self/exe");
	setenv("KYMO_PRELOAD", "/proc/nonexistent/x.so", 1);
	assert_int_equal(preload_find(path, sizeof path, NULL, &err), -1);
	assert_non_null(strstr(err.text, "/proc/nonexistent/x.so"));
	unsetenv("KYMO_PRELOAD");
}

static void value_keeps_others(void **state)
{
	char value[64];
	struct kymo_err err = { 0 };

	(void)state;
	assert_int_equal(preload_value(value, sizeof value, "/a.so", NULL, &err), 0);
	assert_string_equal(value, "/a.so");
	assert_int_equal(preload_value(value, sizeof value, "/a.so", "", &err), 0);
	assert_string_equal(value, "/a.so");
	assert_int_equal(preload_value(value, sizeof value, "/a.so", "/b.so:/c.so", &err), 0);
	assert_string_equal(value, "/a.so:/b.so:/c.so");
	assert_int_equal(preload_value(value, sizeof value, "/a b.so", NULL, &err), -1);
	assert_int_equal(preload_value(value, 12, "/a.so", "/b.so", &err), 0);
	assert_int_equal(preload_value(value, 11, "/a.so", "/b.so", &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_beside_program),
		cmocka_unit_test(chosen_by_environment),
		cmocka_unit_test(value_keeps_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
