/* SPDX-License-Identifier: Apache-2.0 */
/* Which facts still hold: rule by rule, and in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "abi/life.h"

#define RECORDS_MAX 64

/* A story: records in the order of their origins, 8 apart. */
static struct told {
	uint64_t word[3];
	size_t size;
	struct kymo_log_record head;	/* last: its payload has no size */
} story[RECORDS_MAX];
static size_t told;

static void tell(uint16_t id, uint64_t a, uint64_t b, uint64_t c)
{
	story[told] = (struct told){
		.head = { .origin = 8 * told, .id = id, .payload_size = 24 },
		.word = { a, b, c },
		.size = 24,
	};
	told++;
}

static void gone(enum kymo_entity entity, uint64_t handle)
{
	tell(KYMO_LOG_GONE, handle, entity, 0);
}

/* One bit for each record that holds, whatever the order in which they are looked at. */
static uint64_t holds(void)
{
	uint64_t first = 0;

	for (int way = 0; way < 20; way++) {
		struct kymo_lives lives;
		uint64_t bits = 0;
		bool any_gone = false;
		void *memory;

		for (size_t i = 0; i < told; i++)
			any_gone |= story[i].head.id == KYMO_LOG_GONE;
		memory = calloc(1, kymo_lives_bytes(told, any_gone));
		assert_non_null(memory);
		kymo_lives_begin(&lives, memory, told, any_gone);
		for (size_t i = 0; i < told; i++) {
			const size_t at = way == 0   ? i
					  : way == 1 ? told - 1 - i
						     : (i * 37 + (size_t)way) % told;

			kymo_lives_add(&lives, &story[at].head, (const uint8_t *)story[at].word,
				       story[at].size, 8 * at);
		}
		kymo_lives_decide(&lives);
		for (size_t i = 0; i < lives.count; i++)
			if (kymo_lives_holds(&lives, &lives.fact[i]))
				bits |= 1ull << lives.fact[i].position / 8;
		free(memory);
		if (!way)
			first = bits;
		else if (told % 37)
			assert_int_equal(bits, first);
	}
	told = 0;
	return first;
}

static void a_later_one_replaces(void **state)
{
	(void)state;
	tell(KYMO_POINT_rcl_node_init, 1, 10, 0);
	tell(KYMO_POINT_rcl_node_init, 2, 10, 0);
	tell(KYMO_POINT_rcl_node_init, 1, 11, 0);
	tell(KYMO_POINT_rcl_timer_init, 1, 0, 0);		/* another kind, the same address */
	tell(KYMO_POINT_message_link_partial_sync, 1, 0, 0);
	/* Without a row: all of it counts. */
	tell(KYMO_POINT_message_link_partial_sync, 1, 1, 0);
	tell(KYMO_POINT_message_link_partial_sync, 1, 0, 0);
	assert_int_equal(holds(), 0x6e);
}

static void an_object_takes_with_it_what_it_has(void **state)
{
	(void)state;
	tell(KYMO_POINT_rmw_subscription_init, 33, 0, 0);
	tell(KYMO_POINT_rcl_subscription_init, 3, 1, 33);
	tell(KYMO_POINT_rclcpp_construct_ring_buffer, 7, 10, 0);
	tell(KYMO_POINT_rclcpp_buffer_to_ipb, 7, 6, 0);
	tell(KYMO_POINT_rclcpp_ipb_to_subscription, 6, 4, 0);
	/* Before the receiver is told of. */
	tell(KYMO_POINT_rclcpp_subscription_callback_added, 4, 5, 0);
	tell(KYMO_POINT_rclcpp_callback_register, 5, 0, 0);
	tell(KYMO_POINT_rclcpp_subscription_init, 3, 4, 0);
	/* A publisher at that address stays. */
	tell(KYMO_POINT_rcl_publisher_init, 3, 1, 34);
	gone(KYMO_ENTITY_SUBSCRIPTION, 3);
	tell(KYMO_POINT_rcl_subscription_init, 3, 1, 35);	/* and so does what comes later */
	assert_int_equal(holds(), 1u << 8 | 1u << 10);
}

static void a_node_takes_all_of_it(void **state)
{
	(void)state;
	tell(KYMO_POINT_rcl_publisher_init, 2, 1, 22);		/* rcl's order */
	tell(KYMO_POINT_rcl_node_init, 1, 0, 0);
	tell(KYMO_POINT_rcl_service_init, 5, 1, 55);
	tell(KYMO_POINT_rclcpp_service_callback_added, 5, 50, 0);
	tell(KYMO_POINT_rclcpp_callback_register, 50, 0, 0);
	tell(KYMO_POINT_rcl_node_init, 9, 0, 0);
	gone(KYMO_ENTITY_NODE, 1);
	assert_int_equal(holds(), 1u << 5);
}

static void a_new_node_does_not_take_its_own_publisher(void **state)
{
	(void)state;
	tell(KYMO_POINT_rcl_node_init, 1, 0, 0);
	tell(KYMO_POINT_rcl_publisher_init, 2, 1, 22);
	tell(KYMO_POINT_rcl_node_init, 1, 0, 0);
	assert_int_equal(holds(), 1u << 1 | 1u << 2);
}

static void what_was_made_anew_stays(void **state)
{
	(void)state;
	tell(KYMO_POINT_rmw_publisher_init, 22, 0, 0);
	tell(KYMO_POINT_rcl_publisher_init, 2, 1, 22);
	/* Of another, whose own fact is still to come. */
	tell(KYMO_POINT_rmw_publisher_init, 22, 0, 0);
	gone(KYMO_ENTITY_PUBLISHER, 2);
	assert_int_equal(holds(), 1u << 2);

	tell(KYMO_POINT_rclcpp_subscription_init, 3, 4, 0);
	tell(KYMO_POINT_rclcpp_subscription_callback_added, 4, 5, 0);
	tell(KYMO_POINT_rclcpp_callback_register, 5, 0, 0);
	/* The same address, another subscription. */
	tell(KYMO_POINT_rclcpp_subscription_init, 6, 4, 0);
	tell(KYMO_POINT_rclcpp_subscription_callback_added, 4, 7, 0);
	tell(KYMO_POINT_rclcpp_callback_register, 7, 0, 0);
	gone(KYMO_ENTITY_SUBSCRIPTION, 3);
	assert_int_equal(holds(), 1u << 3 | 1u << 4 | 1u << 5);
}

static void a_thread_has_one_name_until_it_ends(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		tell(1000, i, 0, 0);
		story[i].head.key = KYMO_LOG_KEY_THREAD;
		story[i].head.tid = i & 1 ? 77 : 78;
	}
	gone(KYMO_ENTITY_THREAD, 77);
	assert_int_equal(holds(), 1u << 2);
}

/* Payloads that are too short, unknown objects, the highest numbers: something is answered. */
static void nonsense(void **state)
{
	(void)state;
	srand(1);
	for (unsigned i = 0; i < 2000; i++) {
		for (size_t n = 1 + (size_t)rand() % (RECORDS_MAX - 1); n; n--) {
			tell((uint16_t)(rand() & 1 ? rand() : rand() % KYMO_POINTS_TABLE),
			     (uint64_t)rand() % 8, (uint64_t)rand() % 16, (uint64_t)rand() % 8);
			story[told - 1].size = (size_t)rand() % 25;
			story[told - 1].head.key = (uint16_t)(rand() % 3);
			if (rand() % 8 == 0)
				story[told - 1].head.origin = (uint64_t)rand() << 31;
			if (rand() % 8 == 0)
				story[told - 1].head.id = KYMO_LOG_GONE;
		}
		(void)holds();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_later_one_replaces),
		cmocka_unit_test(an_object_takes_with_it_what_it_has),
		cmocka_unit_test(a_node_takes_all_of_it),
		cmocka_unit_test(a_new_node_does_not_take_its_own_publisher),
		cmocka_unit_test(what_was_made_anew_stays),
		cmocka_unit_test(a_thread_has_one_name_until_it_ends),
		cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
