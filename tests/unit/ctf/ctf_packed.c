/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed files: what went in comes out, at any offset; what is cut off or changed anywhere gives
 * what can be had of it and never anything else.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctf/format/packed.h"
#include "base/array.h"

#define BYTES 100000u
#define FRAME 8192u

static char place[64];
static uint8_t plain[BYTES];
static uint64_t seed = 1;

static uint32_t chance(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static const char *in(const char *name)
{
	static char path[4][160];
	static unsigned next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof path[next], "%s/%s", place, name);
	return path[next];
}

static void put(const char *name, const void *bytes, size_t size)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	snprintf(place, sizeof place, "/dev/shm/kymo-test-XXXXXX");
	if (!mkdtemp(place))
		return -1;
	for (unsigned i = 0; i < BYTES; i++)
		plain[i] = (uint8_t)(i % 26 == 3 ? chance(256) : i / 2600);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", place);
	return system(command);
}

static void pack(size_t bytes)
{
	const bool stopped = false;

	put("stream", plain, bytes);
	assert_int_equal(packed_file(place, "stream", FRAME, &stopped), 0);
	assert_int_equal(access(in("stream"), F_OK), -1);
	assert_int_equal(access(in(".stream.zst"), F_OK), -1);
}

static size_t packed_bytes(uint8_t *bytes, size_t room)
{
	FILE *file = fopen(in("stream.zst"), "r");
	size_t size;

	assert_non_null(file);
	size = fread(bytes, 1, room, file);
	fclose(file);
	return size;
}

/* How much of @name can be read; all of it is what was packed. -1: it is no such file. */
static long readable(const char *name, bool *cut)
{
	static uint8_t got[BYTES + 1];
	struct packed *packed;
	struct kymo_err err;
	ssize_t size = 0, part;
	int fd = open(in(name), O_RDONLY);

	assert_true(fd >= 0);
	if (packed_open(fd, &packed, &err)) {
		assert_true(err.text[0]);
		close(fd);
		return -1;
	}
	*cut = packed_is_cut(packed);
	while ((part = packed_read(packed, fd, got + size, sizeof got - (size_t)size,
				   (uint64_t)size)) > 0)
		size += part;
	packed_close(packed);
	close(fd);
	assert_true((size_t)size <= BYTES);
	assert_memory_equal(got, plain, (size_t)size);
	return size;
}

static void what_went_in_comes_out(void **state)
{
	static const size_t sizes[] = { 1000, FRAME, FRAME + 1, 3 * FRAME, BYTES };
	bool cut;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(sizes); i++) {
		uint64_t size;

		pack(sizes[i]);
		assert_int_equal(readable("stream.zst", &cut), sizes[i]);
		assert_false(cut);
		assert_true(packed_stat(in("stream.zst"), &size));
		assert_int_equal(size, sizes[i]);
	}
}

static void at_any_offset(void **state)
{
	struct packed *packed;
	uint8_t part[3 * FRAME];
	struct kymo_err err;
	int fd;

	(void)state;
	pack(BYTES);
	fd = open(in("stream.zst"), O_RDONLY);
	assert_int_equal(packed_open(fd, &packed, &err), 0);
	for (unsigned i = 0; i < 2000; i++) {
		uint32_t from = chance(BYTES + 10), size = chance(sizeof part);
		size_t wanted = from >= BYTES ? 0 : BYTES - from < size ? BYTES - from : size;

		assert_int_equal(packed_read(packed, fd, part, size, from), wanted);
		assert_memory_equal(part, plain + (wanted ? from : 0), wanted);
	}
	assert_int_equal(packed_read(packed, fd, part, 1, UINT64_MAX), 0);
	packed_close(packed);
	close(fd);
}

static void cut_off_anywhere(void **state)
{
	static uint8_t bytes[BYTES];
	size_t size;
	long last = -1;

	(void)state;
	pack(BYTES);
	size = packed_bytes(bytes, sizeof bytes);
	for (size_t left = 0; left < size; left += 1 + chance(97)) {
		bool cut = true;
		long got;

		put("cut.zst", bytes, left);
		got = readable("cut.zst", &cut);
		assert_true(cut);
		assert_true(got >= last && (got < 0 || got % FRAME == 0 || got == (long)BYTES));
		last = got;
	}
	assert_int_equal(last, BYTES);		/* only the table was missing */
}

static void changed_anywhere(void **state)
{
	static uint8_t bytes[BYTES], changed[BYTES];
	size_t size;

	(void)state;
	pack(BYTES);
	size = packed_bytes(bytes, sizeof bytes);
	for (unsigned i = 0; i < 1500; i++) {
		size_t table = size - 130;	/* every second one there */
		bool cut;

		memcpy(changed, bytes, size);
		for (unsigned k = 0; k <= chance(3); k++)
			changed[i % 2 ? table + chance((uint32_t)(size - table))
				      : chance((uint32_t)size)] ^= (uint8_t)(1 + chance(255));
		put("changed.zst", changed, size);
		(void)readable("changed.zst", &cut);	/* whatever there is, is right */
	}
}

static void what_is_no_packed_file(void **state)
{
	const bool stopped = true;
	uint8_t random[4096];
	uint64_t size;
	bool cut;

	(void)state;
	put("none.zst", plain, 5000);
	assert_int_equal(readable("none.zst", &cut), -1);
	put("empty.zst", "", 0);
	assert_int_equal(readable("empty.zst", &cut), -1);
	assert_true(packed_is_name("x.zst") && !packed_is_name(".zst") && !packed_is_name("zst"));
	assert_int_equal(packed_plain_length("stream.zst"), 6);
	assert_false(packed_stat(in("not there.zst"), &size));
	/* Who is stopped, or makes nothing smaller, leaves everything as it was. */
	put("stream", plain, BYTES);
	assert_int_equal(packed_file(place, "stream", FRAME, &stopped), -ECANCELED);
	assert_int_equal(access(in("stream"), F_OK), 0);
	assert_int_equal(access(in(".stream.zst"), F_OK), -1);
	for (unsigned i = 0; i < sizeof random; i++)
		random[i] = (uint8_t)chance(256);
	put("random", random, sizeof random);
	assert_int_equal(packed_file(place, "random", FRAME, &(bool){ false }), 0);
	assert_int_equal(access(in("random"), F_OK), 0);
	assert_int_equal(access(in("random.zst"), F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_went_in_comes_out), cmocka_unit_test(at_any_offset),
		cmocka_unit_test(cut_off_anywhere), cmocka_unit_test(changed_anywhere),
		cmocka_unit_test(what_is_no_packed_file),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
