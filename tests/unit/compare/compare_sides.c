/* SPDX-License-Identifier: Apache-2.0 */
/* Sides of summaries that are made by hand: matching, metrics, verdicts, blame, and what is on one
 * side only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compare/compare.h"
#include "compare/compare_print.h"
#include "compare/rename.h"

#define RUNS 6u
#define SCANS 200u

/* A little of everything, the same in each call. */
static uint32_t chance(void)
{
	static uint32_t seed = 1;

	seed = seed * 1664525 + 1013904223;
	return seed >> 16;
}

static void add_times(struct summary_entity *entity, enum summary_distribution of, int64_t ns,
		      unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(
			histogram_add(&entity->histogram[of],
				      (uint64_t)(ns + ns * (int64_t)chance() / 65536 / 50)),
			0);
	entity->count[SUMMARY_RUNS] += count;
}

static void add_segment(struct summary *summary, struct summary_entity *entity,
			enum summary_what what, const char *who, double ns)
{
	struct summary_segment segment = { .what = what,
					   .who = summary_text(summary, who),
					   .by = "",
					   .ns = (uint64_t)(ns * SCANS) };

	for (unsigned i = 0; i < SUMMARY_QUANTILES; i++)
		segment.quantile[i] = (uint64_t)ns;
	summary_add_segment(summary, entity, &segment);
}

static struct summary *make_run(double slower, uint64_t lost)
{
	struct summary *summary = summary_new();
	struct summary_entity *entity;

	assert_non_null(summary);
	summary->begin_ns = 1;
	summary->end_ns = 5000000001;
	summary->host = "robot";
	entity = summary_entity(summary, SUMMARY_CALLBACK, "/detector /scan", "/detector");
	add_times(entity, SUMMARY_DURATION, (int64_t)(400000 * slower), SCANS);
	entity = summary_entity(summary, SUMMARY_CALLBACK, "/planner /obstacles", "/planner");
	add_times(entity, SUMMARY_DURATION, 300000, SCANS);
	entity = summary_entity(
		summary, SUMMARY_CHAIN,
		"/lidar timer 25 ms -> /scan -> /detector -> /obstacles -> /planner", "");
	add_times(entity, SUMMARY_LATENCY, (int64_t)(400000 * slower) + 500000, SCANS);
	add_segment(summary, entity, SUMMARY_RAN, "/detector /scan", 400000 * slower);
	add_segment(summary, entity, SUMMARY_ON_ITS_WAY, "/obstacles", 500000);
	entity = summary_entity(summary, SUMMARY_TOPIC, "/scan", "");
	entity->count[SUMMARY_PUBLISHED] = SCANS;
	entity->count[SUMMARY_RECEIVED] = SCANS - lost;
	entity->count[SUMMARY_NEVER_RECEIVED] = lost;
	entity = summary_entity(summary, SUMMARY_CALLBACK, "/rosout of everybody", "");
	entity->is_startup = true;
	add_times(entity, SUMMARY_DURATION, (int64_t)(1000000 * slower), SCANS);
	return summary;
}

struct sides {
	const struct summary *base[RUNS], *new[RUNS];
};

static void make_sides(struct sides *sides, double slower, uint64_t lost)
{
	for (unsigned i = 0; i < RUNS; i++) {
		sides->base[i] = make_run(1, 0);
		sides->new[i] = make_run(slower, lost);
	}
}

static void free_sides(struct sides *sides)
{
	for (unsigned i = 0; i < RUNS; i++) {
		summary_free((struct summary *)sides->base[i]);
		summary_free((struct summary *)sides->new[i]);
	}
}

static const struct compare_row *row_of(const struct comparison *c, const char *name,
					const char *metric)
{
	for (unsigned i = 0; i < c->rows; i++)
		if (!strcmp(c->row[i].entity->name, name) && !strcmp(c->row[i].metric, metric))
			return &c->row[i];
	return NULL;
}

static const struct compare_options pairs = {
	.design = { .bases = RUNS, .news = RUNS, .paired = true }
};

/* What people see of it: the chain says where, the callback in which chain it is. */
static void check_text(const struct comparison *c)
{
	const struct compare_print print = { .options = &pairs, .base = "a", .new = "b", .most = 5 };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	compare_print_text(out, c, &print);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "6 runs each, in pairs   a -> b\n"));
	assert_non_null(strstr(text, "            all of it in: /detector /scan runs (+120 us)\n"));
	assert_non_null(strstr(text, "            it is in /lidar timer 25 ms -> /scan"));
	assert_non_null(strstr(text, "            also duration "));
	free(text);
}

static void a_callback_that_takes_longer(void **state)
{
	const struct compare_row *row;
	struct comparison c;
	struct sides sides;

	(void)state;
	make_sides(&sides, 1.3, 0);
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	row = row_of(&c, "/detector /scan", "duration p50");
	assert_non_null(row);
	assert_int_equal(row->verdict.verdict, VERDICT_WORSE);
	assert_true(row->change.estimate > 0.25 &&
		    row->change.estimate < 0.27); /* log 1.3 = 0.262 */
	assert_int_equal(row_of(&c, "/planner /obstacles", "duration p50")->verdict.verdict,
			 VERDICT_NOT_WORSE);
	row = row_of(&c, "/lidar timer 25 ms -> /scan -> /detector -> /obstacles -> /planner",
		     "latency p50");
	assert_int_equal(row->verdict.verdict, VERDICT_WORSE);
	assert_non_null(row->part);
	assert_string_equal(row->part->who, "/detector /scan");
	assert_int_equal(row->part->what, SUMMARY_RAN);
	assert_int_equal(row->segments, 2);
	assert_float_equal(row->part->new - row->part->base, 120000, 1);
	assert_null(row_of(&c, "/rosout of everybody", "duration p50"));
	assert_int_equal(c.row[0].verdict.verdict, VERDICT_WORSE);
	assert_int_equal(c.few, 3); /* 200 instances are too few for p99 */
	check_text(&c);
	compare_free(&c);
	free_sides(&sides);
}

static void sides_that_are_equal(void **state)
{
	struct comparison c;
	struct sides sides;

	(void)state;
	make_sides(&sides, 1, 0);
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	assert_true(c.rows > 5);
	assert_int_equal(c.count[VERDICT_NOT_WORSE], c.rows);
	compare_free(&c);
	free_sides(&sides);
}

/* Six goals a run: the new side waits twice as long for feedback, and aborts half of them. */
static void goals(void **state)
{
	const struct compare_row *row;
	struct comparison c;
	struct sides sides;

	(void)state;
	make_sides(&sides, 1, 0);
	for (unsigned i = 0; i < 2 * RUNS; i++) {
		struct summary *run =
			(struct summary *)(i < RUNS ? sides.base[i] : sides.new[i - RUNS]);
		struct summary_entity *entity = summary_entity(run, SUMMARY_ACTION, "/dock", "");

		for (unsigned goal = 0; goal < 6; goal++) {
			histogram_add(&entity->histogram[SUMMARY_LATENCY],
				      4000000000 + goal * 1000000 + chance() % 1000000);
			histogram_add(&entity->histogram[SUMMARY_PERIOD],
				      (i < RUNS ? 500000000 : 1000000000) + chance() % 1000000);
		}
		entity->count[SUMMARY_RUNS] = 60;
		entity->count[SUMMARY_ABORTED] = i < RUNS ? 0 : 30;
	}
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	assert_int_equal(row_of(&c, "/dock", "total p50")->verdict.verdict, VERDICT_NOT_WORSE);
	assert_int_equal(row_of(&c, "/dock", "silence p50")->verdict.verdict, VERDICT_WORSE);
	row = row_of(&c, "/dock", "aborted");
	assert_int_equal(row->verdict.verdict, VERDICT_WORSE);
	assert_float_equal(row->new, 0.5, 1e-9);
	compare_free(&c);
	free_sides(&sides);
}

static void messages_that_are_lost(void **state)
{
	const struct compare_options one = { .design = { .bases = 1, .news = 1 } };
	struct comparison c;
	struct sides sides;

	(void)state;
	make_sides(&sides, 1, 20);
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	assert_int_equal(row_of(&c, "/scan", "lost")->verdict.verdict, VERDICT_WORSE);
	assert_float_equal(row_of(&c, "/scan", "lost")->new, 0.1, 1e-9);
	assert_int_equal(c.count[VERDICT_WORSE], 1);
	compare_free(&c);
	/* It does not depend on the machine: one run a side is enough. */
	assert_int_equal(compare(&c, sides.base, sides.new, &one, NULL), 0);
	assert_int_equal(row_of(&c, "/scan", "lost")->verdict.verdict, VERDICT_WORSE);
	assert_int_equal(row_of(&c, "/detector /scan", "duration p50")->verdict.verdict,
			 VERDICT_UNKNOWN);
	compare_free(&c);
	free_sides(&sides);
}

static struct summary_entity *detector(const struct summary *run)
{
	return summary_entity((struct summary *)run, SUMMARY_CALLBACK, "/detector /scan",
			      "/detector");
}

/* Where the kernel's events tell it, only a callback's own time is judged. */
static void what_other_programs_took(void **state)
{
	const struct compare_row *row;
	struct comparison c;
	struct sides sides;

	(void)state;
	make_sides(&sides, 2, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		add_times(detector(sides.base[i]), SUMMARY_OWN, 400000, SCANS);
		add_times(detector(sides.new[i]), SUMMARY_OWN, 400000, SCANS);
	}
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	assert_null(row_of(&c, "/detector /scan", "duration p50"));
	row = row_of(&c, "/detector /scan", "own p50");
	assert_int_equal(row->verdict.verdict, VERDICT_NOT_WORSE);
	assert_true(row->has_others && row->new_others > 390000 && row->base_others < 5000);
	compare_free(&c);
	free_sides(&sides);
}

#define CHAIN "/lidar timer 25 ms -> /scan -> /detector -> /obstacles -> /planner"

/* What the chain begins with. */
static void add_inputs(const struct summary *run, uint64_t count)
{
	summary_entity((struct summary *)run, SUMMARY_CALLBACK, "/lidar timer 25 ms", "/lidar")
		->count[SUMMARY_RUNS] = count;
}

static void what_happens_in_a_run(void **state)
{
	const struct compare_options one = { .design = { .bases = 1, .news = 1 } };
	struct comparison c;
	struct sides sides;

	(void)state;
	make_sides(&sides, 1, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		add_inputs(sides.base[i], SCANS);
		add_inputs(sides.new[i], SCANS / 2); /* two arrivals of each */
		detector(sides.base[i])->count[SUMMARY_SENT] = SCANS;
		detector(sides.new[i])->count[SUMMARY_SENT] = 2 * SCANS;
		detector(sides.base[i])->count[SUMMARY_COST_RUNS] = SCANS;
		detector(sides.new[i])->count[SUMMARY_COST_RUNS] = SCANS;
		detector(sides.base[i])->count[SUMMARY_ALLOCATIONS] = 130;
		detector(sides.new[i])->count[SUMMARY_ALLOCATIONS] = 170; /* chance, or queues */
	}
	assert_int_equal(compare(&c, sides.base, sides.new, &one, NULL), 0);
	assert_int_equal(row_of(&c, "/detector /scan", "messages")->verdict.verdict, VERDICT_WORSE);
	assert_int_equal(row_of(&c, "/detector /scan", "allocations")->verdict.verdict,
			 VERDICT_UNKNOWN);
	assert_int_equal(row_of(&c, "/scan", "deliveries")->verdict.verdict, VERDICT_NOT_WORSE);
	assert_int_equal(row_of(&c, CHAIN, "arrivals")->verdict.verdict, VERDICT_WORSE);
	assert_null(row_of(&c, "/planner /obstacles", "messages")); /* it sends none */
	compare_free(&c);
	free_sides(&sides);
}

/* scipy.stats.binom.sf(new - 1, base + new, 0.5): 0.00099, 0.00128 and 0.0094. */
static void chance_and_no_chance(void **state)
{
	(void)state;
	assert_false(verdict_is_chance(50, 60, 87, 60));
	assert_true(verdict_is_chance(50, 60, 86, 60));
	assert_true(verdict_is_chance(40, 50, 65, 50));
	assert_true(verdict_is_chance(0, 100, 40, 100)); /* less than half a time more in a run */
	assert_false(verdict_is_chance(0, 20, 20, 20));
	assert_true(verdict_is_chance(20, 20, 0, 20));
	assert_true(verdict_is_chance(0, 0, 5, 10));
	assert_false(verdict_is_chance(1000000, 1000000, 2000000, 1000000));
}

static void entities_of_one_side(void **state)
{
	struct comparison c;
	struct sides sides;

	(void)state;
	make_sides(&sides, 1, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		(void)summary_entity((struct summary *)sides.base[i], SUMMARY_TOPIC, "/old", "");
		(void)summary_entity((struct summary *)sides.new[i], SUMMARY_TOPIC, "/new", "");
	}
	(void)summary_entity((struct summary *)sides.new[2], SUMMARY_TOPIC, "/sometimes", "");
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	assert_int_equal(c.appeareds, 1);
	assert_string_equal(c.appeared[0]->name, "/new");
	assert_int_equal(c.gones, 1);
	assert_string_equal(c.gone[0]->name, "/old");
	assert_int_equal(c.irregular, 1);
	compare_free(&c);
	free_sides(&sides);
}

/*
 * /detector and /scan of the base side are /finder and /cloud of the new side; /planner keeps its
 * name. If not @is_like, callbacks of the new side run twice as often.
 */
static void make_renamed(struct sides *sides, bool is_like)
{
	make_sides(sides, 1, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		struct compare_renames renames = { .count = 0 };
		struct kymo_err err;

		(void)summary_entity((struct summary *)sides->base[i], SUMMARY_TOPIC, "/old", "");
		(void)summary_entity((struct summary *)sides->new[i], SUMMARY_TOPIC, "/new", "");
		(void)summary_entity((struct summary *)sides->base[i], SUMMARY_EXECUTOR,
				     "p: /detector, /planner", "p");
		(void)summary_entity((struct summary *)sides->new[i], SUMMARY_EXECUTOR,
				     "p: /finder, /planner", "p");
		for (unsigned e = 0; !is_like && e < sides->new[i]->entities; e++)
			sides->new[i]->entity[e]->count[SUMMARY_RUNS] *= 2;
		assert_int_equal(compare_renames_add(&renames, "/detector=/finder", &err), 0);
		assert_int_equal(compare_renames_add(&renames, "/scan=/cloud", &err), 0);
		assert_int_equal(compare_rename((struct summary *)sides->new[i], &renames, &err),
				 0);
		compare_renames_free(&renames);
	}
}

static void what_looks_renamed(void **state)
{
	const struct compare_print print = { .options = &pairs, .base = "a", .new = "b" };
	struct comparison c;
	struct sides sides;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	make_renamed(&sides, true);
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	assert_int_equal(c.gones, 5); /* a callback, a chain, /scan, /old, an executor */
	assert_null(row_of(&c, "/finder /cloud", "duration p50"));
	assert_int_equal(c.likelies, 2);
	assert_string_equal(c.likely[0].old, "/detector");
	assert_string_equal(c.likely[0].new, "/finder");
	assert_int_equal(c.likely[0].of, 3);
	assert_int_equal(c.likely[0].found, 3);
	assert_string_equal(c.likely[1].old, "/scan");
	assert_string_equal(c.likely[1].new, "/cloud");
	assert_int_equal(c.likely[1].found, 3);
	compare_print_text(out, &c, &print);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "/finder looks like /detector:\n"
				     "    3 of 3 gone entities match, at similar rates.\n"
				     "    To compare them: --rename /detector=/finder\n"));
	free(text);
	compare_free(&c);
	free_sides(&sides);
	make_renamed(&sides, false);
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	assert_int_equal(c.likelies, 0);
	compare_free(&c);
	free_sides(&sides);
}

/* Of two nodes that could be the old one, neither is named. */
static void two_that_look_alike(void **state)
{
	struct comparison c;
	struct sides sides;

	(void)state;
	make_sides(&sides, 1, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		struct summary *base = (struct summary *)sides.base[i];
		struct summary *new = (struct summary *)sides.new[i];

		add_times(summary_entity(base, SUMMARY_CALLBACK, "/log /scan", "/log"),
			  SUMMARY_DURATION, 100000, SCANS);
		add_times(summary_entity(new, SUMMARY_CALLBACK, "/one /scan", "/one"),
			  SUMMARY_DURATION, 100000, SCANS);
		add_times(summary_entity(new, SUMMARY_CALLBACK, "/two /scan", "/two"),
			  SUMMARY_DURATION, 100000, SCANS);
	}
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	assert_int_equal(c.gones, 1);
	assert_int_equal(c.likelies, 0);
	compare_free(&c);
	free_sides(&sides);
}

/* Once the user says so, what was renamed is judged: here it is worse. */
static void what_was_renamed_is_judged(void **state)
{
	struct compare_renames renames = { .count = 0 };
	struct comparison c;
	struct kymo_err err;
	struct sides sides;

	(void)state;
	make_sides(&sides, 1.3, 0);
	assert_int_equal(compare_renames_add(&renames, "/detector=/finder", &err), 0);
	assert_int_equal(compare_renames_check(&renames, sides.base, RUNS, sides.new, RUNS, &err),
			 -1);
	for (unsigned i = 0; i < RUNS; i++)
		assert_int_equal(compare_rename((struct summary *)sides.new[i], &renames, &err), 0);
	assert_int_equal(compare_renames_check(&renames, sides.base, RUNS, sides.new, RUNS, &err),
			 0);
	for (unsigned i = 0; i < RUNS; i++)
		assert_int_equal(compare_rename((struct summary *)sides.base[i], &renames, &err),
				 0);
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	assert_int_equal(c.gones + c.appeareds + c.likelies, 0);
	assert_int_equal(row_of(&c, "/finder /scan", "duration p50")->verdict.verdict,
			 VERDICT_WORSE);
	assert_string_equal(row_of(&c,
				   "/lidar timer 25 ms -> /scan -> /finder -> /obstacles -> "
				   "/planner",
				   "latency p50")
				    ->part->who,
			    "/finder /scan");
	compare_free(&c);
	free_sides(&sides);
	compare_renames_free(&renames);
}

/* Two names may change places; names that only begin alike are others. */
static void parts_of_names(void **state)
{
	struct compare_renames renames = { .count = 0 };
	struct summary *run = summary_new();
	struct kymo_err err;

	(void)state;
	(void)summary_entity(run, SUMMARY_CALLBACK, "/a /b", "/a");
	(void)summary_entity(run, SUMMARY_CALLBACK, "/a2 /b/a", "/a2");
	(void)summary_entity(run, SUMMARY_CALLBACK, "/c timer 25 ms", "/c");
	(void)summary_entity(run, SUMMARY_EXECUTOR, "/a: /a2, /a, /c", "/a");
	assert_int_equal(compare_renames_add(&renames, "/a=/b", &err), 0);
	assert_int_equal(compare_renames_add(&renames, "/b=/a", &err), 0);
	assert_int_equal(compare_renames_add(&renames, "timer 25 ms=timer 50 ms", &err), 0);
	assert_int_equal(compare_renames_add(&renames, "/a=/x", &err), -1);
	assert_int_equal(compare_renames_add(&renames, "/c=/b", &err), -1);
	assert_int_equal(compare_renames_add(&renames, "/a", &err), -1);
	assert_int_equal(compare_renames_add(&renames, "=/a", &err), -1);
	assert_int_equal(compare_renames_add(&renames, "/q=", &err), -1);
	assert_int_equal(renames.count, 3);
	assert_int_equal(compare_rename(run, &renames, &err), 0);
	assert_string_equal(run->entity[0]->name, "/b /a");
	assert_string_equal(run->entity[0]->of, "/b");
	assert_string_equal(run->entity[1]->name, "/a2 /b/a");
	assert_string_equal(run->entity[2]->name, "/c timer 50 ms");
	assert_string_equal(run->entity[3]->name, "/b: /a2, /b, /c");
	compare_renames_free(&renames);
	summary_free(run);
}

static void names_are_text(void **state)
{
	struct compare_print print = { .options = &pairs, .base = "base", .new = "new", .most = 5 };
	struct comparison c;
	struct sides sides;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct ci_suite suite = { .name = "kymo: x, y", .file = "new" };

	(void)state;
	make_sides(&sides, 1, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		add_times(summary_entity((struct summary *)sides.base[i], SUMMARY_SPAN,
					 "<&\"\x1b[2J>", ""),
			  SUMMARY_DURATION, 100000, 30);
		add_times(summary_entity((struct summary *)sides.new[i], SUMMARY_SPAN,
					 "<&\"\x1b[2J>", ""),
			  SUMMARY_DURATION, 200000, 30);
	}
	assert_int_equal(compare(&c, sides.base, sides.new, &pairs, NULL), 0);
	compare_cases(&suite, &c, &print);
	ci_put_junit(&suite, out);
	ci_put_github(&suite, out);
	ci_put_gitlab(&suite, out);
	ci_free(&suite);
	compare_print_text(out, &c, &print);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "&lt;&amp;&quot;"));
	assert_non_null(strstr(text, "<failure message=\"duration p50: 10"));
	assert_non_null(
		strstr(text, "::error title=kymo%3A x%2C y::span <&\"\\x1b[2J> duration p50: 10"));
	assert_non_null(strstr(text, "%25 ("));
	assert_non_null(strstr(text, "\"description\": \"span <&\\\"\\\\x1b[2J> duration p50: 10"));
	assert_null(strchr(text, '\x1b'));
	free(text);
	compare_free(&c);
	free_sides(&sides);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_callback_that_takes_longer),
		cmocka_unit_test(sides_that_are_equal),
		cmocka_unit_test(goals),
		cmocka_unit_test(messages_that_are_lost),
		cmocka_unit_test(what_other_programs_took),
		cmocka_unit_test(what_happens_in_a_run),
		cmocka_unit_test(chance_and_no_chance),
		cmocka_unit_test(entities_of_one_side),
		cmocka_unit_test(what_looks_renamed),
		cmocka_unit_test(two_that_look_alike),
		cmocka_unit_test(what_was_renamed_is_judged),
		cmocka_unit_test(parts_of_names),
		cmocka_unit_test(names_are_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
