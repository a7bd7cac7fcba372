/* SPDX-License-Identifier: Apache-2.0 */
/* The map against a plain array, with keys that collide on purpose; the pool's edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/pool.h"
#include "base/map.h"

#define KEYS 512

static void against_array(void **state)
{
	struct map map = MAP_INIT;
	void *truth[KEYS] = { NULL };
	uint64_t random = 7;
	const struct map_slot *slot;
	size_t at, count;
	unsigned i, round;

	(void)state;
	for (round = 0; round < 200000; round++) {
		unsigned k;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		k = (random >> 33) % KEYS;
		if (random >> 63) {
			truth[k] = &truth[(random >> 40) % KEYS];
			assert_int_equal(map_put(&map, k * 16, k % 3, truth[k]), 0);
		} else if (random >> 62 & 1) {
			map_del_if(&map, k * 16, k % 3, &truth[KEYS]);
			assert_ptr_equal(map_get(&map, k * 16, k % 3), truth[k]);
			map_del_if(&map, k * 16, k % 3, truth[k]);
			truth[k] = NULL;
		} else {
			assert_ptr_equal(map_del(&map, k * 16, k % 3), truth[k]);
			truth[k] = NULL;
		}
		k = (random >> 20) % KEYS;
		assert_ptr_equal(map_get(&map, k * 16, k % 3), truth[k]);
	}
	for (i = 0, count = 0; i < KEYS; i++)
		count += truth[i] != NULL;
	assert_int_equal(map.count, count);
	for (at = 0; (slot = map_next(&map, &at)); count--)
		assert_ptr_equal(slot->value, truth[slot->key / 16]);
	assert_int_equal(count, 0);
	map_free(&map);
	assert_null(map_get(&map, 0, 0));
	assert_null(map_del(&map, 0, 0));
	map_del_if(&map, 0, 0, truth);
}

static void pool(void **state)
{
	struct pool a = POOL_INIT;
	char *text, *large;
	unsigned i;

	(void)state;
	text = pool_text(&a, "abc", 2);
	assert_string_equal(text, "ab");
	large = pool_new(&a, 1000000);
	assert_non_null(large);
	memset(large, 1, 1000000);
	for (i = 0; i < 10000; i++) {
		unsigned char *p = pool_new(&a, i % 300);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		if (i % 300) {
			assert_int_equal(p[i % 300 - 1], 0);
			memset(p, 0xff, i % 300);
		}
	}
	assert_string_equal(text, "ab");
	assert_null(pool_new(&a, SIZE_MAX));
	pool_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_array), cmocka_unit_test(pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
