/* SPDX-License-Identifier: Apache-2.0 */
/* A model with a limit: what comes first is as without one, and the rest is counted. */
#include <stdio.h>

#include "feed_as.h"

#define MOST 3u
#define NAMES 20u

static void run_as(struct feed *f, int64_t ns, uint64_t callback)
{
	EV(ns, "callback_start", "callback", callback, "is_intra_process", P(0));
	EV(ns + 5, "callback_end", "callback", callback);
}

/* A pair of publisher and subscription on each of NAMES topics; each message is received. */
static void flood(struct feed *f, unsigned most)
{
	model_limit(f->model, most);
	on(f, 10, 10);
	for (unsigned i = 0; i < NAMES; i++) {
		const uint64_t base = 0x1000 * (i + 1);
		char topic[32];

		snprintf(topic, sizeof(topic), "/t%u", i);
		node_as(f, 10 * i + 1, base, topic + 1, "/");
		publisher_as(f, 10 * i + 2, base + 0x10, base + 0x20, base, topic);
		subscription_as(f, 10 * i + 3, base + 0x30, base + 0x40, base, topic, base + 0x50);
	}
	for (unsigned i = 0; i < NAMES; i++) {
		const uint64_t base = 0x1000 * (i + 1);
		const int64_t ns = 1000 + 100 * (int64_t)i;

		publish_as(f, ns, base + 0x10, base + 0x20, 7000 + i);
		take_as(f, ns + 10, base + 0x40, 7000 + i);
		run_as(f, ns + 20, base + 0x50);
	}
}

static void all_without_limit(void **state)
{
	struct feed *f = *state;
	const struct model_left *left = &model_facts(f->model)->left;

	flood(f, 0);
	assert_int_equal(model_count(f->model, MODEL_TOPIC), NAMES);
	assert_int_equal(f->instances, NAMES);
	assert_int_equal(left->objects + left->runs + left->published + left->events, 0);
}

static void rest_is_counted(void **state)
{
	struct feed *f = *state;
	const struct model_left *left = &model_facts(f->model)->left;

	flood(f, MOST);
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		assert_true(model_count(f->model, kind) <= MOST);
	assert_int_equal(model_count(f->model, MODEL_CALLBACK), MOST);
	/* Those that have room have their messages, and nobody else's. */
	assert_int_equal(f->instances, MOST);
	assert_int_equal(f->publisheds, MOST);
	for (unsigned i = 0; i < MOST; i++) {
		assert_int_equal(f->instance[i].duration_ns, 5);
		assert_int_equal(f->with[i].source_ns, 7000 + i);
		assert_ptr_equal(f->with[i].topic, model_topic(f->model, i));
	}
	assert_int_equal(left->objects, 3 * (NAMES - MOST));
	assert_int_equal(left->runs, NAMES - MOST);
	assert_int_equal(left->published, NAMES - MOST);
	assert_int_equal(model_facts(f->model)->internal_publishes, 0);
	assert_int_equal(model_facts(f->model)->ends_without_start, 0);
	model_finish(f->model);
	assert_int_equal(f->droppeds, 0);
}

/* A program that creates and destroys: what is left out is not the object that had its address. */
static void address_without_room(void **state)
{
	struct feed *f = *state;

	flood(f, MOST);
	f->instances = f->publisheds = 0;
	publisher_as(f, 5000, 0x1010, 0x1020, 0x1000, "/late");
	subscription_as(f, 5001, 0x1030, 0x1040, 0x1000, "/late", 0x1050);
	publish_as(f, 6000, 0x1010, 0x1020, 9000);
	take_as(f, 6010, 0x1040, 9000);
	run_as(f, 6020, 0x1050);
	assert_int_equal(f->publisheds, 0);
	assert_int_equal(f->instances, 0);
	assert_int_equal(model_facts(f->model)->left.runs, NAMES - MOST + 1);
	/* A message that a run without room was called with is not the next one's. */
	publish_as(f, 7000, 0x2010, 0x2020, 9100);
	take_as(f, 7010, 0x2040, 9100);
	run_as(f, 7020, 0x1050);
	run_as(f, 7040, 0x2050);
	assert_int_equal(f->instances, 1);
	assert_int_equal(f->with[0].id, 0);
	assert_int_equal(f->takens, MOST + 1);
}

static void threads(void **state)
{
	struct feed *f = *state;

	model_limit(f->model, MOST);
	for (int i = 0; i < (int)NAMES; i++) {
		on(f, 10, 10 + i);
		run_as(f, 100 * (i + 1), 0x50);
	}
	assert_int_equal(model_count(f->model, MODEL_THREAD), MOST);
	assert_int_equal(f->instances, MOST);
	assert_int_equal(model_facts(f->model)->left.events, 2 * (NAMES - MOST));
	assert_int_equal(model_facts(f->model)->left.runs, NAMES - MOST);
	for (int i = 0; i < (int)NAMES; i++) {
		on(f, 100 + i, 100 + i);
		run_as(f, 10000 + 100 * i, 0x50);
	}
	assert_true(model_count(f->model, MODEL_PROCESS) <= MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_without_limit),
		TEST(rest_is_counted),
		TEST(address_without_room),
		TEST(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
