/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about goals of actions: what they are, and what they leave of the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "summary/findings.h"

#define MS 1000000ll

/* @goals that took 10 ms, and one that took @worst_ns, of which it executed @executed_ns. */
static struct summary_entity *goals(struct summary *summary, const char *name, unsigned goals,
				    int64_t worst_ns, int64_t executed_ns)
{
	struct summary_entity *entity = summary_entity(summary, SUMMARY_ACTION, name, "");
	struct summary_instance worst = {
		.begin_ns = 5,
		.value_ns = worst_ns,
		.part = { { .what = SUMMARY_ON_ITS_WAY,
			    .who = entity->name,
			    .by = "/server",
			    .ns = worst_ns - executed_ns,
			    .usual_ns = MS },
			  { .what = SUMMARY_EXECUTING,
			    .who = "/server",
			    .by = "",
			    .ns = executed_ns,
			    .usual_ns = 9 * MS } },
		.parts = 2,
	};

	for (unsigned i = 0; i < goals; i++)
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], 10 * MS), 0);
	assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], (uint64_t)worst_ns), 0);
	entity->count[SUMMARY_RUNS] = goals + 1;
	summary_add_worst(summary, entity, &worst);
	return entity;
}

static void callback(struct summary *summary, const char *name, int64_t worst_ns)
{
	struct summary_entity *entity = summary_entity(summary, SUMMARY_CALLBACK, name, "p");

	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], MS), 0);
	assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], (uint64_t)worst_ns), 0);
	summary_add_worst(summary, entity,
			  &(struct summary_instance){ .begin_ns = 5, .value_ns = worst_ns });
}

static unsigned find(const struct summary *summary, struct summary_finding *finding)
{
	return summary_findings(summary, finding, SUMMARY_FINDINGS_MAX);
}

static void longer(void **state)
{
	struct summary *summary = summary_new();
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	struct summary_entity *started;
	char text[512];

	(void)state;
	goals(summary, "/few", SUMMARY_FINDINGS_COUNT_MIN - 2, 500 * MS, 490 * MS);
	goals(summary, "/as usual", 100, 19 * MS, 18 * MS);
	started = goals(summary, "/started", 100, 500 * MS, 490 * MS);
	summary_startup(summary, started)->steady_ns[SUMMARY_LATENCY] = 10 * MS;
	assert_int_equal(find(summary, finding), 0);
	goals(summary, "/count", 100, 60 * MS, 58 * MS);
	assert_int_equal(find(summary, finding), 1);
	assert_string_equal(summary_finding_kind_name(finding[0].kind), "goal");
	/* It executed that long: half. */
	assert_in_range(finding[0].harm_ns, 25 * MS - MS / 10, 25 * MS);
	assert_string_equal(summary_finding_text(summary, &finding[0], text, sizeof(text)),
			    "A goal of /count took 60.0 ms, usually 10.0 ms: /server executed it "
			    "for 58.0 ms.");
	goals(summary, "/way", 100, 60 * MS, 10 * MS);
	assert_int_equal(find(summary, finding), 2);
	assert_string_equal(finding[0].entity->name, "/way");
	assert_in_range(finding[0].harm_ns, 50 * MS - MS / 10, 50 * MS);
	summary_finding_text(summary, &finding[0], text, sizeof(text));
	assert_string_equal(text, "A goal of /way took 60.0 ms, usually 10.0 ms: it was 50.0 ms on "
				  "its way to /server.");
	summary_free(summary);
}

/* Three of 31 in vain, of 10 ms each: ten times that share of 10 ms. */
static void aborted(void **state)
{
	struct summary *summary = summary_new();
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	struct summary_entity *entity = goals(summary, "/count", 30, 10 * MS, 9 * MS);
	struct summary_entity *few = goals(summary, "/few", 10, 10 * MS, 9 * MS);
	char text[512];

	(void)state;
	few->count[SUMMARY_ABORTED] = 11;
	entity->count[SUMMARY_ABORTED] = 2;
	entity->count[SUMMARY_CANCELED] = 20;
	assert_int_equal(find(summary, finding), 0);
	entity->count[SUMMARY_ABORTED] = 3;
	assert_int_equal(find(summary, finding), 1);
	assert_string_equal(summary_finding_kind_name(finding[0].kind), "aborted");
	assert_int_equal(finding[0].times, 3);
	assert_in_range(finding[0].harm_ns, 96 * MS / 10, 97 * MS / 10);
	assert_string_equal(summary_finding_text(summary, &finding[0], text, sizeof(text)),
			    "3 of 31 goals of /count (9.7 %) were aborted by its server.");
	summary_free(summary);
}

/* A goal takes minutes: it comes first, and does not make the callbacks look small. */
static void beside_others(void **state)
{
	struct summary *summary = summary_new();
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];

	(void)state;
	goals(summary, "/navigate", 100, 60000 * MS, 59000 * MS);
	callback(summary, "/scan", 40 * MS);
	callback(summary, "/odom", 30 * MS);
	callback(summary, "/small", 5 * MS);
	assert_int_equal(find(summary, finding), 3);
	assert_string_equal(finding[0].entity->name, "/navigate");
	assert_string_equal(finding[1].entity->name, "/scan");
	assert_string_equal(finding[2].entity->name, "/odom");
	summary_free(summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longer),
		cmocka_unit_test(aborted),
		cmocka_unit_test(beside_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
