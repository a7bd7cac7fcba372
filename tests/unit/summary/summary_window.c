/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries of short intervals while something goes on: together they are the whole, and the oldest
 * are forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "summary/summary_collect.h"
#include "summary/summary_window.h"

static struct summary_entity *named(const struct summary *summary, const struct summary_entity *as)
{
	for (unsigned i = 0; i < summary->entities; i++) {
		struct summary_entity *entity = summary->entity[i];

		if (entity->kind == as->kind && strcmp(entity->name, as->name) == 0 &&
		    strcmp(entity->of, as->of) == 0)
			return entity;
	}
	return NULL;
}

static void same(const struct summary_entity *a, const struct summary_entity *b)
{
	assert_non_null(b);
	assert_memory_equal(a->count, b->count, sizeof(a->count));
	for (unsigned i = 0; i < SUMMARY_DISTRIBUTIONS; i++) {
		const struct histogram *x = &a->histogram[i], *y = &b->histogram[i];

		assert_int_equal(x->count, y->count);
		assert_int_equal(x->sum, y->sum);
		assert_int_equal(x->min, y->min);
		assert_int_equal(x->max, y->max);
		assert_int_equal(histogram_quantile(x, 0.5), histogram_quantile(y, 0.5));
	}
	assert_int_equal(a->worsts, b->worsts);
	for (unsigned i = 0; i < a->worsts; i++)
		assert_int_equal(a->worst[i].value_ns, b->worst[i].value_ns);
	assert_int_equal(a->culprits, b->culprits);
	assert_int_equal(a->first_ns, b->first_ns);
	assert_int_equal(a->last_ns, b->last_ns);
}

/* Reads the trace, with a summary for each @every events; 0: one of all. */
static void read_trace(struct summary_window *window, uint64_t every)
{
	struct summary_sources from = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX };
	struct why_callbacks_options callbacks;
	struct summary_collect *collect;
	struct passes passes = { 0 };
	struct chains_options chains;
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	struct spans *spans;
	struct kymo_err err;
	uint64_t events = 0;
	int more;

	assert_int_equal(kymo_ctf_open(KYMO_FIXTURES "/lifecycle", &reader, &err), 0);
	summary_options(reader, INT64_MIN, INT64_MAX, &chains, &callbacks);
	assert_int_equal(model_create(&from.model, &err), 0);
	assert_int_equal(spans_create(&spans, from.model, &err), 0);
	assert_int_equal(summary_collect_beside(&collect, &from, spans, &chains, &passes, &err), 0);
	assert_int_equal(spans_attach(spans, reader, &err), 0);
	do {
		struct summary *part;

		more = kymo_ctf_next(reader, &event, &err);
		if (more > 0) {
			assert_int_equal(spans_event(spans, &event), 0);
			assert_true(model_event(from.model, &event) >= 0);
		} else {
			spans_finish(spans);
			model_finish(from.model);
		}
		if (more > 0 && (!every || ++events % every))
			continue;
		part = summary_new();
		assert_int_equal(summary_collect_take(collect, part), 0);
		assert_int_equal(summary_window_add(window, part), 0);
		summary_free(part);
		summary_collect_forget(collect);
	} while (more > 0);
	assert_int_equal(more, 0);
	passes_free(&passes);
	model_destroy(from.model);
	spans_destroy(spans);
	kymo_ctf_close(reader);
}

static void parts_are_the_whole(void **state)
{
	struct summary_window *whole = summary_window_new(0), *parts = summary_window_new(0);
	const struct summary *a, *b;
	unsigned compared = 0;

	(void)state;
	assert_null(summary_window_get(whole));
	read_trace(whole, 0);
	read_trace(parts, 50);
	a = summary_window_get(whole);
	b = summary_window_get(parts);
	assert_int_equal(a->windows, 1);
	assert_true(b->windows > 5);
	assert_int_equal(a->events, b->events);
	assert_int_equal(a->ros_events, b->ros_events);
	assert_int_equal(a->begin_ns, b->begin_ns);
	assert_int_equal(a->end_ns, b->end_ns);
	assert_int_equal(a->entities, b->entities);
	for (unsigned i = 0; i < a->entities; i++) {
		same(a->entity[i], named(b, a->entity[i]));
		compared += a->entity[i]->count[SUMMARY_RUNS] > 1;
	}
	assert_true(compared > 2);
	summary_window_free(whole);
	summary_window_free(parts);
}

static void add(struct summary_window *window, uint64_t runs)
{
	struct summary *summary = summary_new();

	summary_entity(summary, SUMMARY_CALLBACK, "/x", "p")->count[SUMMARY_RUNS] = runs;
	summary->trust.unnamed = 3;
	assert_int_equal(summary_window_add(window, summary), 0);
	summary_free(summary);
}

/* Two halves of three intervals each: between three and six are there. */
static void oldest_are_forgotten(void **state)
{
	static const uint64_t sums[] = { 1,   11,   111,   1111,   11111,   111111,
					 1111000, 11111000, 111111000, 1111000000 };
	struct summary_window *window = summary_window_new(3);
	uint64_t runs = 1;

	(void)state;
	for (unsigned i = 0; i < 10; i++, runs *= 10) {
		const struct summary *summary;

		add(window, runs);
		summary = summary_window_get(window);
		assert_ptr_equal(summary, summary_window_get(window));
		assert_int_equal(summary->entity[0]->count[SUMMARY_RUNS], sums[i]);
		assert_int_equal(summary->trust.unnamed, 3);
	}
	summary_window_free(window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_the_whole),
		cmocka_unit_test(oldest_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
