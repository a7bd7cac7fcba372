/* SPDX-License-Identifier: Apache-2.0 */
/* A packed window: each column by itself, buckets in two parts, rows in their order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/window/window.h"

static const struct window_source source = { "r2", "b", "", "{}" };

static size_t find(const char *data, size_t size, const char *what, size_t length)
{
	const char *found = memmem(data, size, what, length);

	assert_non_null(found);
	return (size_t)(found - data);
}

#define FIND(what) find(data, size, what, sizeof(what) - 1)

/* What is sent of @packed, which is freed. */
static char *written(struct window_packed *packed, size_t *size)
{
	char *data;
	FILE *out = open_memstream(&data, size);

	assert_int_equal(window_packed_write(packed, out, &source, 5, 1000000000), 0);
	(void)fclose(out);
	window_packed_free(packed);
	return data;
}

static void test_columns(void **state)
{
	const uint64_t bucket[] = { 1, 300, 0, 70000, 5 };
	const struct window_counts counts = { .published = 9 };
	struct window_row row = { .kind = "topic",
				  .name = "/a",
				  .process = "p",
				  .metric = "latency",
				  .count = 70306,
				  .bucket = bucket,
				  .buckets = 5,
				  .scale = 5,
				  .bucket_offset = -1,
				  .counts = &counts };
	struct window_packed *packed = window_packed_new();
	struct kymo_err err;
	size_t size;
	char *data;

	(void)state;
	assert_non_null(packed);
	assert_int_equal(window_packed_put(packed, &row, &err), 0);
	row.counts = NULL;
	row.metric = "";
	row.buckets = 0;
	row.count = 7;
	assert_int_equal(window_packed_put(packed, &row, &err), 0);
	data = written(packed, &size);
	assert_memory_equal(data, "\2r2\1b\0\2{}\5\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\5\0\0\0\0\0\0\0", 33);
	assert_true(FIND("\2\5topic\5topic\2\2/a\2/a\2\1p\1p\2\0\7latency\2\0\1\2") == 33);
	/* A distribution has as many values as its buckets. */
	FIND("\2\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	/* Offsets, low bytes, and the rest up to the last one that has one. */
	FIND("\2\xff\xff\xff\xff\2\0\5\1\x2c\0\x70\5\2\0\4\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	     "\x11\1\0\0\0\0\0\0");
	FIND("\2\0\0\0\0\0\0\0\0\t\0\0\0\0\0\0\0");
	free(data);
}

/* Rows of one kind and metric are together, in the same order of names; timers come last. */
static void test_order(void **state)
{
	static const char *const rows[][3] = {
		{ "timer", "/a timer 5 ms", "wait" },	 { "callback", "/a timer 5 ms", "duration" },
		{ "callback", "/a timer 5 ms", "wait" }, { "callback", "/b /t", "duration" },
		{ "callback", "/a /t", "duration" },	 { "subscription", "/a /t", "" },
		{ "subscription", "/b /t", "" },
	};
	struct window_packed *packed = window_packed_new();
	struct kymo_err err;
	size_t size;
	char *data;

	(void)state;
	assert_non_null(packed);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct window_row row = {
			.kind = rows[i][0], .name = rows[i][1], .metric = rows[i][2], .process = ""
		};

		assert_int_equal(window_packed_put(packed, &row, &err), 0);
	}
	data = written(packed, &size);
	FIND("\7\5/b /t\5/a /t\xd/a timer 5 ms\xd/a timer 5 ms\5/b /t\5/a /t\xd/a timer 5 ms\7");
	FIND("\7\10duration\10duration\10duration\4wait\0\0\4wait\7");
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_columns),
					    cmocka_unit_test(test_order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
