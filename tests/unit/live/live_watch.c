/* SPDX-License-Identifier: Apache-2.0 */
/* When a trace directory is read, and up to which time, by a clock of the test: a complete trace
 * was recorded on another machine. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctf/format/lock.h"
#include "live/watch.h"

#define SECOND INT64_C(1000000000)

#define POINT	UINT64_C(5000000000)	/* ns of the trace's clock */

static char directory[64], trace[96];
static int writer[4];			/* index/sync of the traces */

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

/* Chunk @number, or a trace beside the chunks (0), that somebody writes; its last point is at
 * @time. */
static void begin_trace(unsigned number, uint64_t time)
{
	char path[192];

	if (number)
		(void)snprintf(path, sizeof(path), "%s/archives/20261120T202357+0000-%u/ust", trace, number);
	else
		(void)snprintf(path, sizeof(path), "%s/beside", trace);
	run("mkdir -p '%s' && cp -r '%s'/* '%s' && chmod -R u+w '%s'", path, KYMO_FIXTURES "/lifecycle/ust/uid/0/64-bit", path, path);
	(void)strncat(path, "/index/sync", sizeof(path) - strlen(path) - 1);
	writer[number] = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(writer[number] >= 0);
	assert_int_equal(ctf_sync_begin(writer[number]), 0);
	assert_int_equal(ctf_sync_write(writer[number], &(struct ctf_sync){ 1, time, 2 }), 0);
}

static void end_chunk(unsigned number)
{
	assert_int_equal(ctf_lock_ready(writer[number], CTF_LOCK_ALIVE, 1), 0);
	assert_int_equal(close(writer[number]), 0);
}

/* A look, while which @found begins. */
static void look(struct watch *watch, struct kymo_ctf_reader *reader, unsigned found)
{
	struct kymo_err err;

	watch_check(watch, reader, SECOND);
	begin_trace(found, 3 * POINT);
	assert_true(kymo_ctf_refresh(reader, &err) >= 0);
	watch_done(watch, reader, true, SECOND);
}

/* A new chunk at each look, as on a slow machine: what was before the last point of the chunk
 * before is complete. If that had no writer any more, or if another trace begins, nothing is. */
static void next_chunk(void **state)
{
	struct kymo_ctf_reader *reader;
	struct watch watch = { 0 };
	int64_t last;

	(void)state;
	run("rm -r '%s' && mkdir '%s'", trace, trace);
	begin_trace(1, POINT);
	reader = open_trace();
	watch_check(&watch, NULL, SECOND);
	watch_done(&watch, reader, true, SECOND);
	assert_true(watch.until == INT64_MIN);
	look(&watch, reader, 2);
	assert_true(watch.until > INT64_MIN && watch.until < INT64_MAX);
	last = watch.until;
	end_chunk(1);
	look(&watch, reader, 3);
	assert_true(watch.until == last + 2 * (int64_t)POINT);
	end_chunk(2);
	look(&watch, reader, 0);
	assert_true(watch.until == INT64_MIN);
	kymo_ctf_close(reader);
}

static void chunk_after_the_end_of_one(void **state)
{
	struct kymo_ctf_reader *reader;
	struct watch watch = { 0 };

	(void)state;
	run("rm -r '%s' && mkdir '%s'", trace, trace);
	begin_trace(1, POINT);
	reader = open_trace();
	watch_check(&watch, NULL, SECOND);
	watch_done(&watch, reader, true, SECOND);
	end_chunk(1);
	look(&watch, reader, 2);
	assert_true(watch.until == INT64_MIN && !watch.over);
	kymo_ctf_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(old_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(new_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(next_chunk, setup, teardown),
		cmocka_unit_test_setup_teardown(chunk_after_the_end_of_one, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
