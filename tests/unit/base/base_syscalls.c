/* SPDX-License-Identifier: Apache-2.0 */
/* Names of system calls (base/syscalls.h). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sys/syscall.h>

#include "base/syscalls.h"

/* Those of the kernel's functions, as LTTng has them. */
static void names_are_lttngs(void **state)
{
	(void)state;
	assert_string_equal(syscall_name(SYS_read), "read");
	assert_string_equal(syscall_name(SYS_futex), "futex");
	assert_string_equal(syscall_name(SYS_fstat), "newfstat");
	assert_string_equal(syscall_name(SYS_uname), "newuname");
	assert_string_equal(syscall_name(SYS_sendfile), "sendfile64");
	assert_string_equal(syscall_name(SYS_umount2), "umount");
	assert_string_equal(syscall_name(SYS_newfstatat), "newfstatat");
}

static void numbers_and_names_are_of_each_other(void **state)
{
	unsigned named = 0;

	(void)state;
	for (unsigned i = 0; i < syscall_count(); i++)
		if (syscall_name(i)) {
			named++;
			assert_int_equal(syscall_number(syscall_name(i)), i);
		}
	assert_true(named > 250);
}

static void others_have_none(void **state)
{
	(void)state;
	assert_null(syscall_name(-1));
	assert_null(syscall_name(syscall_count()));
	assert_null(syscall_name(INT64_MAX));
	assert_null(syscall_name(INT64_MIN));
	assert_int_equal(syscall_number("no_such_call"), -1);
	assert_int_equal(syscall_number("fstat"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_lttngs),
		cmocka_unit_test(numbers_and_names_are_of_each_other),
		cmocka_unit_test(others_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
