/* SPDX-License-Identifier: Apache-2.0 */
/* Writing all of some bytes: a file that may not grow accepts a part first, and its reason comes
 * afterwards. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"

#define LIMIT 4096

static char first[3000], second[3000];

/* A file of at most LIMIT bytes. */
static int setup(void **state)
{
	const struct rlimit limit = { LIMIT, LIMIT };
	FILE *file = tmpfile();

	*state = file;
	memset(first, 'a', sizeof(first));
	memset(second, 'b', sizeof(second));
	(void)signal(SIGXFSZ, SIG_IGN);
	return file ? setrlimit(RLIMIT_FSIZE, &limit) : -1;
}

static int teardown(void **state)
{
	return fclose(*state);
}

static void parts_at_an_offset(void **state)
{
	const struct iovec part[] = { { first, 1000 }, { NULL, 0 }, { second, 1000 } };
	const int fd = fileno(*state);
	char got[2000];

	assert_int_equal(pwritev_all(fd, part, 3, 50), 0);
	assert_int_equal(pread(fd, got, sizeof(got), 50), sizeof(got));
	assert_memory_equal(got, first, 1000);
	assert_memory_equal(got + 1000, second, 1000);
}

/* The limit is reached within the second part, within the first one, and before both. */
static void why_the_rest_was_refused(void **state)
{
	const struct iovec part[] = { { first, sizeof(first) }, { second, sizeof(second) } };
	const int fd = fileno(*state);

	for (off_t offset = 0; offset <= 2 * LIMIT; offset += LIMIT / 2)
		assert_int_equal(pwritev_all(fd, part, 2, offset), -EFBIG);
	assert_int_equal(lseek(fd, 0, SEEK_END), LIMIT);
	assert_int_equal(pwrite_all(fd, first, sizeof(first), LIMIT - 1000), -EFBIG);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(write_all(fd, first, sizeof(first)), 0);
	assert_int_equal(write_all(fd, second, sizeof(second)), -EFBIG);
}

static ssize_t takes = -1; /* bytes that pwrite() accepts; -1: all */

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset);
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset);

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
	const struct iovec part = { (void *)(uintptr_t)bytes, size };

	return takes < 0 ? pwritev(fd, &part, 1, offset) : takes;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	return pwrite64(fd, bytes, size, offset);
}

/* A file system with room that accepts nothing is not full. */
static void nothing_was_accepted(void **state)
{
	const int fd = fileno(*state);

	takes = 0;
	assert_int_equal(pwrite_all(fd, "x", 1, 0), -EIO);
	takes = -1;
	assert_int_equal(pwrite_all(fd, "x", 1, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_at_an_offset),
		cmocka_unit_test(why_the_rest_was_refused),
		cmocka_unit_test(nothing_was_accepted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
