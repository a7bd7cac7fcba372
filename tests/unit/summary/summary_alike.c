/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about entities of one name, in processes of one name: one finding about the worst. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "summary/findings.h"

#define MS 1000000ll

/* One that took 1 ms, and once @worst_ns at @begin_ns, because @who ran so long. */
static struct summary_entity *slow(struct summary *summary, enum summary_kind kind,
				   const char *name, const char *of, int64_t begin_ns,
				   int64_t worst_ns, const char *who)
{
	struct summary_entity *entity = summary_entity(summary, kind, name, of);
	struct summary_instance worst = {
		.begin_ns = begin_ns,
		.value_ns = worst_ns,
		.part = { { .what = SUMMARY_RAN,
			    .who = summary_text(summary, who),
			    .by = "",
			    .ns = worst_ns - MS,
			    .usual_ns = MS / 2 } },
		.parts = 1,
	};

	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], MS), 0);
	assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], (uint64_t)worst_ns), 0);
	summary_add_worst(summary, entity, &worst);
	return entity;
}

static unsigned find(const struct summary *summary, struct summary_finding *finding)
{
	return summary_findings(summary, finding, SUMMARY_FINDINGS_MAX);
}

/* Of four chains of one name three are slow, each at a time of its own and for another reason. */
static void chains(void **state)
{
	struct summary *summary = summary_new();
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	struct summary_entity *worst;
	char text[512];

	(void)state;
	slow(summary, SUMMARY_CHAIN, "/a -> /b", "", 100 * MS, 50 * MS, "/a");
	worst = slow(summary, SUMMARY_CHAIN, "/a -> /b", "p #2, p", 200 * MS, 60 * MS, "/b");
	worst->label = "/b (p 2, p 1)";
	slow(summary, SUMMARY_CHAIN, "/a -> /b", "p, p #2", 300 * MS, 40 * MS, "/c");
	slow(summary, SUMMARY_CHAIN, "/a -> /b", "p #2", 400 * MS, MS, "/a");
	assert_int_equal(find(summary, finding), 1);
	assert_ptr_equal(finding[0].entity, worst);
	assert_int_equal(finding[0].alike, 4);
	assert_int_equal(finding[0].affected, 3);
	assert_string_equal(summary_finding_text(summary, &finding[0], text, sizeof(text)),
			    "/b (p 2, p 1) took 60.0 ms, usually 1.00 ms: /b ran 59.0 ms. "
			    "Affected: 3 of 4 such chains.");

	/* At the time of the second one, and for its reason. */
	slow(summary, SUMMARY_CHAIN, "/x -> /y", "", 110 * MS, 55 * MS, "/a");
	assert_int_equal(find(summary, finding), 1);
	/* Another reason. */
	slow(summary, SUMMARY_CHAIN, "/x -> /z", "", 110 * MS, 55 * MS, "/z");
	assert_int_equal(find(summary, finding), 2);
	assert_string_equal(finding[1].entity->name, "/x -> /z");
	assert_int_equal(finding[1].alike, 1);
	assert_non_null(summary_finding_text(summary, &finding[1], text, sizeof(text)));
	assert_null(strstr(text, "Affected"));
	summary_free(summary);
}

/* Callbacks are alike if their processes have one name. */
static void callbacks(void **state)
{
	struct summary *summary = summary_new();
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];

	(void)state;
	slow(summary, SUMMARY_CALLBACK, "/n /t", "filter", 100 * MS, 50 * MS, "/a");
	slow(summary, SUMMARY_CALLBACK, "/n /t", "filter #12", 200 * MS, 40 * MS, "/b");
	slow(summary, SUMMARY_CALLBACK, "/n /t", "filter#3", 300 * MS, 45 * MS, "/c");
	slow(summary, SUMMARY_CALLBACK, "/n /t", "filters", 400 * MS, 35 * MS, "/d");
	slow(summary, SUMMARY_CALLBACK, "/n /u", "filter", 500 * MS, 30 * MS, "/e");
	assert_int_equal(find(summary, finding), 4);
	assert_string_equal(finding[0].entity->of, "filter");
	assert_int_equal(finding[0].alike, 2);
	assert_int_equal(finding[0].affected, 2);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(finding[i].alike, 1);
	summary_free(summary);
}

static struct summary_entity *runs_of(struct summary *summary, enum summary_kind kind,
				      const char *name, const char *of, unsigned runs, uint64_t ns)
{
	struct summary_entity *entity = summary_entity(summary, kind, name, of);

	entity->count[SUMMARY_RUNS] = runs;
	for (unsigned i = 0; i < runs; i++)
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_DURATION], ns), 0);
	return entity;
}

/* Folded, twins are one: with the name that they have together, and all that happened in them. */
static void folded(void **state)
{
	struct summary *summary = summary_new(), *one;
	const struct summary_entity *entity;
	unsigned at = 0;

	(void)state;
	assert_false(summary_has_alike(summary));
	runs_of(summary, SUMMARY_SPAN, "arm:step", "robot", 10, MS)->label = "arm:step (robot 4711)";
	assert_false(summary_has_alike(summary));
	entity = runs_of(summary, SUMMARY_SPAN, "arm:step", "robot #2", 20, 3 * MS);
	runs_of(summary, SUMMARY_SPAN, "arm:step", "other", 5, MS);
	runs_of(summary, SUMMARY_CHAIN, "/a -> /b", "p, q #2", 7, MS)->label = "/b (p 1, q 2)";
	assert_true(summary_has_alike(summary));
	one = summary_folded(summary);
	assert_non_null(one);
	assert_false(summary_has_alike(one));
	assert_int_equal(one->entities, 3);
	assert_ptr_equal(summary_next_alike(one, entity, &at), one->entity[0]);
	assert_null(summary_next_alike(one, entity, &at));
	entity = one->entity[0];
	assert_string_equal(entity->of, "robot");
	assert_string_equal(entity->label, "arm:step");
	assert_int_equal(entity->alike, 2);
	assert_int_equal(entity->count[SUMMARY_RUNS], 30);
	assert_int_equal(entity->histogram[SUMMARY_DURATION].count, 30);
	assert_int_equal(entity->histogram[SUMMARY_DURATION].sum, 70 * MS);
	assert_int_equal(summary_find(one, SUMMARY_SPAN, "arm:step", "other")->alike, 1);
	entity = summary_find(one, SUMMARY_CHAIN, "/a -> /b", "");
	assert_non_null(entity);
	assert_string_equal(entity->label, "/b");
	summary_free(one);
	summary_free(summary);
}

/* Timers of one name: they follow another clock if each of them seems to. */
static void folded_clocks(void **state)
{
	struct summary *summary = summary_new(), *one;

	(void)state;
	runs_of(summary, SUMMARY_TIMER, "/a timer", "p", 10, MS)->is_other_clock = true;
	runs_of(summary, SUMMARY_TIMER, "/a timer", "p #2", 10, MS);
	runs_of(summary, SUMMARY_TIMER, "/a timer", "p #3", 10, MS)->is_other_clock = true;
	runs_of(summary, SUMMARY_TIMER, "/b timer", "p", 10, MS)->is_other_clock = true;
	runs_of(summary, SUMMARY_TIMER, "/b timer", "p #2", 10, MS)->is_other_clock = true;
	one = summary_folded(summary);
	assert_non_null(one);
	assert_int_equal(one->entities, 2);
	assert_false(one->entity[0]->is_other_clock);
	assert_true(one->entity[1]->is_other_clock);
	summary_free(one);
	summary_free(summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains),
		cmocka_unit_test(callbacks),
		cmocka_unit_test(folded),
		cmocka_unit_test(folded_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
