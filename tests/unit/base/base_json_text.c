/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is written straight into memory is what json-c makes of the same, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "base/array.h"
#include "base/json_text.h"

static const char *const texts[] = { "", "plain", "a \"quoted\" \\ back", "line\x1f", "gr\xc3\xbc\xc3\x9f", NULL };
static const uint64_t numbers[] = { 0,
				    9,
				    10,
				    99,
				    100,
				    999999999,
				    1000000000,
				    1000000001,
				    UINT32_MAX,
				    100000000000000000u,
				    1234567890123456789u,
				    UINT64_MAX };

static void put_members(struct json_text *json)
{
	for (unsigned i = 0; texts[i]; i++)
		json_text_string(json, (char[]){ (char)('a' + (int)i), 0 }, texts[i]);
	for (unsigned i = 0; i < COUNT_OF(numbers); i++)
		json_text_u64(json, (char[]){ (char)('A' + (int)i), 0 }, numbers[i]);
	json_text_i64(json, "least", INT64_MIN);
	json_text_i64(json, "most", INT64_MAX);
	json_text_bool(json, "yes", true);
	json_text_bool(json, "no", false);
}

static void add_members(struct json_object *object)
{
	for (unsigned i = 0; texts[i]; i++)
		json_object_object_add(object, (char[]){ (char)('a' + (int)i), 0 },
				       json_object_new_string(texts[i]));
	for (unsigned i = 0; i < COUNT_OF(numbers); i++)
		json_object_object_add(object, (char[]){ (char)('A' + (int)i), 0 },
				       json_object_new_uint64(numbers[i]));
	json_object_object_add(object, "least", json_object_new_int64(INT64_MIN));
	json_object_object_add(object, "most", json_object_new_int64(INT64_MAX));
	json_object_object_add(object, "yes", json_object_new_boolean(true));
	json_object_object_add(object, "no", json_object_new_boolean(false));
}

static void same(bool one_line)
{
	struct json_object *root = json_object_new_object(), *array = json_object_new_array();
	struct json_text json = { .one_line = one_line };
	const char *expected;

	json_text_open(&json, NULL, '{');
	put_members(&json);
	json_text_open(&json, "array", '[');
	add_members(root);
	for (int i = 0; i < 100; i++) {
		struct json_object *object = json_object_new_object();

		json_text_open(&json, NULL, '{');
		put_members(&json);
		json_text_close(&json, '}');
		add_members(object);
		json_object_array_add(array, object);
	}
	json_text_close(&json, ']');
	json_text_close(&json, '}');
	json_object_object_add(root, "array", array);
	expected = json_object_to_json_string_ext(root, one_line ? JSON_C_TO_STRING_PLAIN
								 : JSON_C_TO_STRING_PRETTY);
	assert_false(json.failed);
	assert_int_equal(json.size, strlen(expected));
	assert_memory_equal(json.text, expected, json.size);
	json_object_put(root);
	free(json.text);
}

static void in_lines(void **state)
{
	(void)state;
	same(false);
}

static void in_one_line(void **state)
{
	(void)state;
	same(true);
}

/* What is no UTF-8, which json-c would pass on, is none afterwards either. */
static void foreign_bytes(void **state)
{
	struct json_text json = { .one_line = true };

	(void)state;
	json_text_open(&json, NULL, '{');
	json_text_string(&json, "k", "a\xff" "b");
	json_text_close(&json, '}');
	assert_int_equal(json.size, strlen("{\"k\":\"a\\ufffdb\"}"));
	assert_memory_equal(json.text, "{\"k\":\"a\\ufffdb\"}", json.size);
	free(json.text);
}

/* No bytes need no memory: a pointer into none is undefined. */
static void no_bytes(void **state)
{
	static struct json_text json;

	(void)state;
	json_text_raw(&json, "", 0);
	assert_false(json.failed);
	assert_null(json.text);
	assert_int_equal(json.size, 0);
}

/* Each place of the nine digits. */
static void fractions(void **state)
{
	static const uint32_t cases[] = {
		0, 1, 9, 10, 99999, 100000, 100001, 987654321, 999999999
	};
	struct json_text json = { 0 };
	char expected[16];

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		json.size = 0;
		json_text_put_fraction(&json, cases[i]);
		(void)snprintf(expected, sizeof expected, ".%09u", cases[i]);
		assert_int_equal(json.size, 10);
		assert_memory_equal(json.text, expected, 10);
	}
	free(json.text);
}

/* Numbers with each count of digits. */
static void digits(void **state)
{
	struct json_text json = { 0 };
	char expected[24];

	(void)state;
	for (uint64_t value = 1; value < UINT64_MAX / 10; value *= 10)
		for (int off = -1; off <= 1; off++) {
			json.size = 0;
			json_text_put_u64(&json, value + (uint64_t)off);
			(void)snprintf(expected, sizeof expected, "%llu", (unsigned long long)(value + (uint64_t)off));
			assert_int_equal(json.size, strlen(expected));
			assert_memory_equal(json.text, expected, json.size);
		}
	free(json.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_lines),
		cmocka_unit_test(in_one_line),
		cmocka_unit_test(foreign_bytes),
		cmocka_unit_test(no_bytes),
		cmocka_unit_test(fractions),
		cmocka_unit_test(digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
