/* SPDX-License-Identifier: Apache-2.0 */
/* When a trace directory is read, and up to which time, by a clock of the test: a complete trace
 * was recorded on another machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/watch.h"

#define SECOND INT64_C(1000000000)

static char directory[64], trace[96];

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
	(void)state;
	(void)snprintf(directory, sizeof(directory), "/tmp/kymo-watch-XXXXXX");
	assert_non_null(mkdtemp(directory));
	(void)snprintf(trace, sizeof(trace), "%s/trace", directory);
	run("cp -r '%s' '%s' && chmod -R u+w '%s'", KYMO_FIXTURES "/lifecycle/ust", trace, trace);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	run("rm -r '%s'", directory);
	return 0;
}

static struct kymo_ctf_reader *open_trace(void)
{
	struct kymo_ctf_reader *reader = NULL;
	struct kymo_err err;

	if (kymo_ctf_open(trace, &reader, &err) < 0)
		fail_msg("%s", err.text);
	kymo_ctf_growing(reader, true);
	return reader;
}

/* The first two looks, at 1 and 1.1 s of this machine's clock, long before the events by the clock
 * of the other one. */
static void look_twice(struct watch *watch, struct kymo_ctf_reader *reader)
{
	watch_check(watch, NULL, SECOND);
	assert_true(watch->due);
	watch_done(watch, reader, true, SECOND);
	watch_check(watch, reader, SECOND + SECOND / 10);
	watch_done(watch, reader, false, SECOND + SECOND / 10);
}

/* Nobody wrote for minutes: all of it is read, whatever this machine's clock shows. */
static void old_trace(void **state)
{
	struct kymo_ctf_reader *reader;
	struct watch watch = { 0 };

	(void)state;
	run("find '%s' -exec touch -d '2 minutes ago' {} +", trace);
	reader = open_trace();
	look_twice(&watch, reader);
	assert_true(watch.over);
	assert_true(watch.until == INT64_MAX);
	kymo_ctf_close(reader);
}

/* Just written: it may grow. After a second without growth all of it is read. */
static void new_trace(void **state)
{
	struct kymo_ctf_reader *reader;
	struct watch watch = { 0 };

	(void)state;
	reader = open_trace();
	look_twice(&watch, reader);
	assert_false(watch.over);
	assert_true(watch.until < INT64_MAX);
	watch_check(&watch, reader, 3 * SECOND);
	assert_false(watch.over);
	assert_true(watch.until == INT64_MAX);
	kymo_ctf_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(old_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(new_trace, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
