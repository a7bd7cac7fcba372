/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow: elements are zero until they are written, and stay what they were when the
 * array moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"

static void elements_are_zero_and_stay(void **state)
{
	struct array array = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 10000; i += 7) {
		uint64_t *at = array_at(&array, i, sizeof *at);

		assert_non_null(at);
		assert_int_equal(*at, 0);
		*at = i + 1;
	}
	for (uint32_t i = 0; i < 10000; i++) {
		const uint64_t *at = array_at(&array, i, sizeof *at);

		assert_int_equal(*at, i % 7 ? 0 : i + 1);
	}
	array_free(&array);
	assert_null(array.item);
	assert_int_equal(array.count, 0);
}

static void what_does_not_fit_changes_nothing(void **state)
{
	struct array array = { 0 };
	uint32_t *at = array_at(&array, 3, sizeof *at);

	(void)state;
	*at = 5;
	assert_null(array_at(&array, UINT32_MAX, SIZE_MAX / 8));
	at = array_at(&array, 3, sizeof *at);
	assert_int_equal(*at, 5);
	array_free(&array);
}

static void a_list_grows_with_any_type_of_capacity(void **state)
{
	uint16_t capacity = 0, count = 0;
	int *item = NULL;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		assert_true(ARRAY_ROOM(item, count, capacity));
		item[count++] = i;
	}
	assert_true(capacity >= count);
	while (ARRAY_ROOM(item, count, capacity))
		item[count++] = 0;
	assert_int_equal(count, 1u << 15);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(item[i], i);
	free(item);
}

static void a_buffer_fits_what_is_needed(void **state)
{
	size_t room = 0, had = 0;
	uint8_t *bytes = NULL;

	(void)state;
	assert_true(ARRAY_FIT(bytes, had, room));
	assert_null(bytes);
	for (size_t size = 1; size < 100000; size += 7) {
		had = room;
		assert_true(ARRAY_FIT(bytes, size, room));
		assert_true(room >= size && (room == had || room >= 2 * had));
		bytes[size - 1] = 1;
	}
#ifndef __SANITIZE_ADDRESS__ /* it ends a program that asks for so much */
	had = room;
	assert_false(ARRAY_FIT(bytes, SIZE_MAX / 2 + 2, room));
	assert_int_equal(room, had);
	assert_int_equal(bytes[0], 1);
#endif
	free(bytes);
}

/* Beside a count: a queue gives its elements in their order, and does not grow while it stays
 * short. */
static void a_queue_keeps_its_order(void **state)
{
	unsigned first = 0, count = 0, capacity = 0, in = 0, out = 0;
	unsigned *item = NULL;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		for (unsigned i = 0; i < round % 9; i++) {
			assert_true(QUEUE_ROOM(item, first, count, capacity));
			item[first + count++] = in++;
		}
		for (unsigned i = 0; count && i < 2 + round % 7; i++, count--)
			assert_int_equal(item[first++], out++);
		assert_int_equal(count, in - out);
	}
	assert_true(in > 10000 && capacity <= 128);
	while (count--)
		assert_int_equal(item[first++], out++);
	assert_int_equal(in, out);
	free(item);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_are_zero_and_stay),
		cmocka_unit_test(what_does_not_fit_changes_nothing),
		cmocka_unit_test(a_list_grows_with_any_type_of_capacity),
		cmocka_unit_test(a_buffer_fits_what_is_needed),
		cmocka_unit_test(a_queue_keeps_its_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
