/* SPDX-License-Identifier: Apache-2.0 */
/* A stream file is compressed while the reader lists its directory: the list has both names, and
 * the plain file goes at one of the reader's next looks at it. Each event is given once. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctf/format/packed.h"
#include "ctf/read/reader.h"

#define FRAME 8192u
#define LOOKS 6u

static char place[64], plain[96];
static unsigned looks, last_look;

/* The reader's looks at the plain file. */
int access(const char *path, int mode)
{
	if (strcmp(path, plain) == 0 && ++looks == last_look)
		(void)unlink(plain);
	return faccessat(AT_FDCWD, path, mode, 0);
}

static void run(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
	const bool stopped = false;

	(void)state;
	(void)snprintf(place, sizeof(place), "/dev/shm/kymo-test-XXXXXX");
	assert_non_null(mkdtemp(place));
	run("cp -r '%s'/* '%s' && chmod -R u+w '%s' && cp '%s/ros2_0' '%s/.kept'",
	    KYMO_FIXTURES "/lifecycle/ust/uid/0/64-bit", place, place, place, place);
	assert_int_equal(packed_file(place, "ros2_0", FRAME, &stopped), 0);
	(void)snprintf(plain, sizeof(plain), "%s/ros2_0", place);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	run("rm -rf '%s'", place);
	return 0;
}

static unsigned count(void)
{
	struct kymo_ctf_event event;
	struct kymo_ctf_reader *reader;
	struct kymo_err err;
	unsigned events = 0;

	if (kymo_ctf_open(place, &reader, &err) < 0)
		fail_msg("%s", err.text);
	while (kymo_ctf_next(reader, &event, &err) > 0)
		events++;
	assert_int_equal(kymo_ctf_warning_count(reader), 0);
	kymo_ctf_close(reader);
	return events;
}

static void each_event_once(void **state)
{
	unsigned wanted;

	(void)state;
	last_look = 0;
	wanted = count();
	assert_true(wanted > 0);
	for (unsigned look = 1; look <= LOOKS; look++) {
		run("cp '%s/.kept' '%s'", place, plain);
		looks = 0;
		last_look = look;
		assert_int_equal(count(), wanted);
	}
	assert_true(looks > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_event_once) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
