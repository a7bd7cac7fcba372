/* SPDX-License-Identifier: Apache-2.0 */
/* A flood of names: the first ones have room in all summaries, and the others count together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "summary/findings.h"
#include "summary/summary_limit.h"

#define MOST 100u
#define NAMES 20000u

/* Names from @first on, each with one run, of 1 us. */
static struct summary *flood(struct summary_limit *limit, enum summary_kind kind, unsigned first)
{
	struct summary *summary = summary_new();
	char name[32];

	summary->limit = limit;
	for (unsigned i = first; i < first + NAMES; i++) {
		struct summary_entity *entity;

		(void)snprintf(name, sizeof(name), "/n%u", i);
		entity = summary_entity(summary, kind, name, "p");
		assert_non_null(entity);
		entity->count[SUMMARY_RUNS]++;
		entity->period_ns = 5;
		entity->is_startup = entity->is_other_clock = true;
		entity->ask = "x";
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_DURATION], 1000), 0);
	}
	summary_limit_end(summary);
	assert_false(summary->failed);
	return summary;
}

static void others_count_together(void **state)
{
	struct summary_limit *limit = summary_limit_new(MOST);
	struct summary *summary = flood(limit, SUMMARY_CALLBACK, 0);
	const struct summary_entity *other =
		summary_find(summary, SUMMARY_CALLBACK, SUMMARY_OTHER, "");

	(void)state;
	assert_true(summary->over);
	assert_int_equal(summary->entities, MOST + 1);
	for (unsigned i = 0; i < MOST; i++) {
		assert_int_equal(summary->entity[i]->count[SUMMARY_RUNS], 1);
		assert_int_equal(summary->entity[i]->period_ns, 5);
		assert_true(summary->entity[i]->is_startup);
	}
	assert_true(summary_is_other(other) && !summary_is_other(summary->entity[0]));
	assert_int_equal(other->count[SUMMARY_RUNS], NAMES - MOST);
	assert_int_equal(other->histogram[SUMMARY_DURATION].count, NAMES - MOST);
	assert_int_equal(other->period_ns, 0);
	assert_string_equal(other->ask, "");
	assert_false(other->is_startup || other->is_other_clock);
	summary_free(summary);
	summary_limit_free(limit);
}

/* In the next window, too, and whatever comes there first; another kind has room of its own. */
static void the_first_keep_their_room(void **state)
{
	struct summary_limit *limit = summary_limit_new(MOST);
	struct summary *first = flood(limit, SUMMARY_CALLBACK, 0);
	struct summary *next = flood(limit, SUMMARY_CALLBACK, MOST / 2);
	struct summary *topics = flood(limit, SUMMARY_TOPIC, NAMES);

	(void)state;
	assert_int_equal(next->entities, MOST / 2 + 1);
	assert_string_equal(next->entity[0]->name, "/n50");
	assert_int_equal(summary_find(next, SUMMARY_CALLBACK, SUMMARY_OTHER, "")->count[SUMMARY_RUNS],
			 NAMES - MOST / 2);
	assert_int_equal(topics->entities, MOST + 1);
	assert_int_equal(summary_merge(first, next), 0);
	assert_int_equal(first->entities, MOST + 1);
	summary_free(first);
	summary_free(next);
	summary_free(topics);
	summary_limit_free(limit);
}

/* The longest run of one callback among the runs of others is not unusual. */
static void others_are_no_finding(void **state)
{
	struct summary_limit *limit = summary_limit_new(1);
	struct summary *summary = summary_new();
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	struct summary_entity *entity = NULL;
	char name[32];

	(void)state;
	summary->limit = limit;
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "/n%u", i);
		entity = summary_entity(summary, SUMMARY_CALLBACK, name, "p");
		assert_non_null(entity);
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY],
					       i < 99 ? 1000000 : 500000000), 0);
	}
	summary_limit_end(summary);
	assert_int_equal(summary_findings(summary, finding, SUMMARY_FINDINGS_MAX), 0);
	entity->name = "of one name";
	assert_int_equal(summary_findings(summary, finding, SUMMARY_FINDINGS_MAX), 1);
	summary_free(summary);
	summary_limit_free(limit);
}

static void few_are_whole(void **state)
{
	struct summary_limit *limit = summary_limit_new(NAMES);
	struct summary *summary = flood(limit, SUMMARY_SPAN, 0),
		       *all = flood(NULL, SUMMARY_SPAN, 0);

	(void)state;
	assert_false(summary->over || all->over);
	assert_int_equal(summary->entities, NAMES);
	assert_int_equal(all->entities, NAMES);
	summary_free(summary);
	summary_free(all);
	summary_limit_free(limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_count_together),
		cmocka_unit_test(the_first_keep_their_room),
		cmocka_unit_test(others_are_no_finding),
		cmocka_unit_test(few_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
