/* SPDX-License-Identifier: Apache-2.0 */
/* A packed window: each column by itself, buckets in two parts. */
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
	char *data;
	size_t size;
	FILE *out = open_memstream(&data, &size);

	(void)state;
	assert_non_null(packed);
	assert_int_equal(window_packed_put(packed, &row, &err), 0);
	row.counts = NULL;
	row.metric = "";
	row.buckets = 0;
	row.count = 7;
	assert_int_equal(window_packed_put(packed, &row, &err), 0);
	assert_int_equal(window_packed_write(packed, out, &source, 5, 1000000000), 0);
	(void)fclose(out);
	assert_memory_equal(data, "\2r2\1b\0\2{}\5\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\5\0\0\0\0\0\0\0", 33);
	assert_true(FIND("\2\5topic\5topic\2\2/a\2/a\2\1p\1p\2\7latency\0\2\1\0\2") == 33);
	/* A distribution has as many values as its buckets. */
	FIND("\2\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0");
	/* Offsets, low bytes, and the rest up to the last one that has one. */
	FIND("\2\xff\xff\xff\xff\2\5\1\x2c\0\x70\5\0\2\4\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	     "\x11\1\0\0\0\0\0\0\0");
	FIND("\2\t\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	window_packed_free(packed);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_columns) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
