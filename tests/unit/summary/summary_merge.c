/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries: merging equals reading at once, to the last count; and which findings come first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/array.h"
#include "summary/findings.h"
#include "summary/summary_collect.h"

/* ---- equality ---- */

static void same_histogram(const struct histogram *a, const struct histogram *b)
{
	uint64_t middle[2], count[2];
	unsigned at[2] = { 0, 0 };
	bool more;

	assert_int_equal(a->count, b->count);
	assert_int_equal(a->sum, b->sum);
	assert_int_equal(a->squares[0], b->squares[0]);
	assert_int_equal(a->squares[1], b->squares[1]);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	do {
		more = histogram_next(a, &at[0], &middle[0], &count[0]);
		assert_int_equal(histogram_next(b, &at[1], &middle[1], &count[1]), more);
		assert_true(!more || (middle[0] == middle[1] && count[0] == count[1]));
	} while (more);
}

static void same_entity(const struct summary_entity *a, const struct summary_entity *b)
{
	assert_memory_equal(a->count, b->count, sizeof(a->count));
	for (unsigned i = 0; i < SUMMARY_DISTRIBUTIONS; i++)
		same_histogram(&a->histogram[i], &b->histogram[i]);
	assert_int_equal(a->worsts, b->worsts);
	for (unsigned i = 0; i < a->worsts; i++) {
		assert_int_equal(a->worst[i].value_ns, b->worst[i].value_ns);
		assert_int_equal(a->worst[i].begin_ns, b->worst[i].begin_ns);
	}
	assert_int_equal(a->culprits, b->culprits);
	assert_int_equal(a->first_ns, b->first_ns);
	assert_int_equal(a->last_ns, b->last_ns);
}

static struct summary_entity *named(const struct summary *summary, enum summary_kind kind,
				    const char *name, const char *of)
{
	for (unsigned i = 0; i < summary->entities; i++) {
		struct summary_entity *entity = summary->entity[i];

		if (entity->kind == kind && strcmp(entity->name, name) == 0 &&
		    strcmp(entity->of, of) == 0)
			return entity;
	}
	return NULL;
}

/* ---- made by hand ---- */

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return *random >> 20;
}

static void run_of(struct summary *summary, const char *name, int64_t at_ns, uint64_t ns)
{
	struct summary_entity *entity = summary_entity(summary, SUMMARY_CALLBACK, name, "p");
	struct summary_culprit culprit = { .by = summary_text(summary, ns % 3 ? "/a" : "/b"),
					   .count = 1,
					   .ns = ns,
					   .worst_ns = ns };
	struct summary_instance worst = { .begin_ns = at_ns, .value_ns = (int64_t)ns };

	assert_non_null(entity);
	entity->count[SUMMARY_RUNS]++;
	assert_int_equal(histogram_add(&entity->histogram[SUMMARY_DURATION], ns), 0);
	summary_add_culprit(summary, entity, &culprit);
	summary_add_worst(summary, entity, &worst);
}

static void merged_by_hand(void **state)
{
	static const char *const names[] = { "/x /t", "/y timer 10 ms", "/z /t" };
	struct summary *part[3], *whole = summary_new(), *sum = summary_new();
	uint64_t random = 11;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(part); i++)
		part[i] = summary_new();
	for (int64_t i = 0; i < 5000; i++) {
		const char *name = names[next_random(&random) % 3];
		/* Few values, so that the worst are equal. */
		uint64_t ns = (next_random(&random) % 50 + 1) * 1000;

		run_of(whole, name, i, ns);
		run_of(part[next_random(&random) % 2], name, i, ns);
	}
	/* The last part is empty, and comes first. */
	for (unsigned i = COUNT_OF(part); i--;)
		assert_int_equal(summary_merge(sum, part[i]), 0);
	assert_int_equal(sum->entities, whole->entities);
	for (unsigned i = 0; i < whole->entities; i++) {
		const struct summary_entity *a = whole->entity[i];
		const struct summary_entity *b = named(sum, a->kind, a->name, a->of);

		assert_non_null(b);
		same_entity(a, b);
		assert_int_equal(a->culprit[0].count + a->culprit[1].count,
				 b->culprit[0].count + b->culprit[1].count);
	}
	for (unsigned i = 0; i < COUNT_OF(part); i++)
		summary_free(part[i]);
	summary_free(whole);
	summary_free(sum);
}

/* ---- of a trace ---- */

static struct summary *read_trace(int64_t begin_ns, int64_t end_ns)
{
	struct summary *summary = summary_new();
	struct kymo_ctf_reader *reader;
	struct kymo_err err;

	assert_int_equal(kymo_ctf_open(KYMO_FIXTURES "/lifecycle", &reader, &err), 0);
	assert_int_equal(summary_of_trace(summary, reader, begin_ns, end_ns, NULL, &err), 0);
	kymo_ctf_close(reader);
	return summary;
}

/* Two halves of a trace, as windows: what began in each. */
static void merged_windows(void **state)
{
	struct summary *whole = read_trace(INT64_MIN, INT64_MAX), *sum = summary_new();
	const int64_t middle_ns = whole->begin_ns / 2 + whole->end_ns / 2;
	struct summary *half[] = { read_trace(INT64_MIN, middle_ns),
				   read_trace(middle_ns + 1, INT64_MAX) };
	unsigned compared = 0;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(half); i++) {
		assert_true(half[i]->entities > 5);
		assert_int_equal(summary_merge(sum, half[i]), 0);
	}
	assert_int_equal(sum->begin_ns, whole->begin_ns);
	assert_int_equal(sum->end_ns, whole->end_ns);
	for (unsigned i = 0; i < whole->entities; i++) {
		const struct summary_entity *a = whole->entity[i];
		const struct summary_entity *b = named(sum, a->kind, a->name, a->of);

		if (a->kind != SUMMARY_CALLBACK && a->kind != SUMMARY_TOPIC &&
		    a->kind != SUMMARY_CHAIN)
			continue;
		assert_non_null(b);
		assert_memory_equal(a->count, b->count, sizeof(a->count));
		same_histogram(&a->histogram[SUMMARY_DURATION], &b->histogram[SUMMARY_DURATION]);
		same_histogram(&a->histogram[SUMMARY_LATENCY], &b->histogram[SUMMARY_LATENCY]);
		assert_true(!a->worsts || a->worst[0].value_ns == b->worst[0].value_ns);
		compared += a->count[SUMMARY_RUNS] > 1;
	}
	assert_true(compared > 2);
	for (unsigned i = 0; i < COUNT_OF(half); i++)
		summary_free(half[i]);
	summary_free(sum);
	summary_free(whole);
}

/* ---- findings ---- */

#define MS 1000000ull

static struct summary_entity *latencies(struct summary *summary, enum summary_kind kind,
					const char *name, unsigned usual, uint64_t worst_ns)
{
	struct summary_entity *entity = summary_entity(summary, kind, name, "p");
	struct summary_instance worst = { .begin_ns = 5, .value_ns = (int64_t)worst_ns };

	for (unsigned i = 0; i < usual; i++)
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], MS), 0);
	assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], worst_ns), 0);
	summary_add_worst(summary, entity, &worst);
	entity->ask = entity->name;
	return entity;
}

static void ranked(void **state)
{
	struct summary *summary = summary_new();
	struct summary_entity *startup, *topic, *subscription;
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	char text[512];

	(void)state;
	assert_int_equal(summary_findings(summary, finding, SUMMARY_FINDINGS_MAX), 0);
	assert_false(summary_slowest(summary, finding));
	/* Too few, not notable, of the start, small beside the first. */
	latencies(summary, SUMMARY_CALLBACK, "/few", SUMMARY_FINDINGS_COUNT_MIN - 2, 500 * MS);
	latencies(summary, SUMMARY_CALLBACK, "/as usual", 100, 2 * MS - 1);
	assert_int_equal(summary_findings(summary, finding, SUMMARY_FINDINGS_MAX), 0);
	assert_true(summary_slowest(summary, finding));
	assert_string_equal(finding[0].entity->name, "/few");
	startup = latencies(summary, SUMMARY_CALLBACK, "/start", 100, 900 * MS);
	startup->is_startup = true;
	latencies(summary, SUMMARY_CALLBACK, "/b", 100, 31 * MS);
	latencies(summary, SUMMARY_CALLBACK, "/a", 100, 31 * MS);
	latencies(summary, SUMMARY_CALLBACK, "/small", 100, 9 * MS);
	/* A chain that explains nine tenths of it comes first. */
	latencies(summary, SUMMARY_CHAIN, "/chain", 100, 29 * MS);
	assert_int_equal(summary_findings(summary, finding, SUMMARY_FINDINGS_MAX), 3);
	assert_string_equal(finding[0].entity->name, "/chain");
	assert_string_equal(finding[1].entity->name, "/a");
	assert_string_equal(finding[2].entity->name, "/b");
	assert_string_equal(summary_finding_text(summary, &finding[0], text, sizeof(text)),
			    "/chain took 29.0 ms, usually 1.00 ms.");
	/* A third of the messages of 10 Hz: ten times a third of 100 ms. */
	topic = summary_entity(summary, SUMMARY_TOPIC, "/t", "");
	topic->count[SUMMARY_PUBLISHED] = 31;
	topic->first_ns = 1;
	topic->last_ns = 1 + 30 * 100 * (int64_t)MS;
	subscription = summary_entity(summary, SUMMARY_SUBSCRIPTION, "/n /t", "/t");
	subscription->count[SUMMARY_RECEIVED] = 20;
	subscription->count[SUMMARY_NEVER_RECEIVED] = 10;
	assert_int_equal(summary_findings(summary, finding, SUMMARY_FINDINGS_MAX), 1);
	assert_int_equal(finding[0].kind, SUMMARY_FINDING_LOSS);
	assert_in_range(finding[0].harm_ns, 333 * MS, 334 * MS);
	/* Of lost events, nothing is known of lost messages. */
	summary->trust.lost_events = 3;
	assert_int_equal(summary_findings(summary, finding, SUMMARY_FINDINGS_MAX), 4);
	assert_string_equal(finding[0].entity->name, "/chain");
	assert_int_equal(finding[3].kind, SUMMARY_FINDING_TRUST);
	summary_free(summary);
}

/* 26 ms at the start, 9 ms later: the finding is about the 9 ms, and the maximum stays. */
static struct summary *started(bool is_startup)
{
	struct summary *summary = summary_new();
	struct summary_entity *entity = latencies(summary, SUMMARY_CALLBACK, "/b /x", 30, 9 * MS);
	struct summary_instance first = { .begin_ns = 1,
					  .value_ns = (int64_t)(26 * MS),
					  .is_startup = is_startup };
	struct histogram startup = { 0 };

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(histogram_add(&startup, 26 * MS), 0);
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_LATENCY], 26 * MS), 0);
	}
	summary_add_worst(summary, entity, &first);
	if (is_startup) {
		summary_startup(summary, entity)->steady_ns[SUMMARY_LATENCY] = 9 * MS;
		summary_startup_set(summary, entity, SUMMARY_LATENCY, &startup, 9 * MS);
	}
	histogram_free(&startup);
	return summary;
}

static void startup_is_no_finding(void **state)
{
	struct summary *summary[] = { started(true), started(false), summary_new() };
	struct summary_finding finding;

	(void)state;
	assert_int_equal(summary_findings(summary[0], &finding, 1), 1);
	assert_int_equal(finding.worst_ns, 9 * MS);
	assert_int_equal(finding.instance->value_ns, 9 * MS);
	assert_int_equal(finding.times, 1);
	assert_int_equal(finding.entity->histogram[SUMMARY_LATENCY].max, 26 * MS);
	assert_int_equal(summary_hidden(summary[0]), 3);
	/* The same without the rule. */
	assert_int_equal(summary_findings(summary[1], &finding, 1), 1);
	assert_int_equal(finding.worst_ns, 26 * MS);
	assert_int_equal(finding.times, 3);
	assert_int_equal(summary_hidden(summary[1]), 0);
	/* Windows with and without it: also when the one without comes first. */
	latencies(summary[2], SUMMARY_CALLBACK, "/b /x", 30, 11 * MS);
	assert_int_equal(summary_merge(summary[2], summary[0]), 0);
	assert_int_equal(summary_merge(summary[0], summary[2]), 0);
	for (unsigned i = 0; i < 3; i += 2) {
		assert_int_equal(summary_findings(summary[i], &finding, 1), 1);
		assert_int_equal(finding.worst_ns, 11 * MS);
		assert_int_equal(summary_hidden(summary[i]), i ? 3 : 6);
	}
	for (unsigned i = 0; i < COUNT_OF(summary); i++)
		summary_free(summary[i]);
}

/* 30 of 1 ms, and one of @worst_ns that begins at @begin_ns. */
static struct summary_entity *span(struct summary *summary, const char *name, int64_t begin_ns,
				   uint64_t worst_ns)
{
	struct summary_entity *entity = summary_entity(summary, SUMMARY_SPAN, name, "p");
	struct summary_instance worst = { .begin_ns = begin_ns, .value_ns = (int64_t)worst_ns };

	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_DURATION], MS), 0);
	assert_int_equal(histogram_add(&entity->histogram[SUMMARY_DURATION], worst_ns), 0);
	summary_add_worst(summary, entity, &worst);
	return entity;
}

/* @outer took so long because of @inner. */
static void because(struct summary_entity *outer, const struct summary_entity *inner)
{
	outer->worst[0].parts = 1;
	outer->worst[0].part[0] = (struct summary_part){
		.what = SUMMARY_RAN,
		.who = inner->name,
		.by = "",
		.ns = inner->worst[0].value_ns,
		.at_ns = inner->worst[0].begin_ns - outer->worst[0].begin_ns,
	};
}

static void spans_in_spans(void **state)
{
	struct summary *summary = summary_new();
	struct summary_entity *step = span(summary, "c:step", 100, 30 * MS),
			      *plan = span(summary, "c:plan", 200, 29 * MS),
			      *wait = span(summary, "c:wait", 300, 28 * MS);
	struct summary_finding finding[4];
	char text[512];

	(void)state;
	assert_int_equal(summary_findings(summary, finding, 4), 3);
	because(step, wait);
	because(plan, wait);
	assert_int_equal(summary_findings(summary, finding, 4), 1);
	assert_string_equal(summary_finding_text(summary, &finding[0], text, sizeof(text)),
			    "c:wait inside c:plan took 28.0 ms, usually 1.00 ms.");
	/* The longest of it is another one now: two findings. */
	wait->worst[0].begin_ns = 5 * (int64_t)MS;
	assert_int_equal(summary_findings(summary, finding, 4), 3);
	summary_free(summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged_by_hand),
		cmocka_unit_test(merged_windows),
		cmocka_unit_test(ranked),
		cmocka_unit_test(startup_is_no_finding),
		cmocka_unit_test(spans_in_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
