/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets as they are written, and runs that are made by hand: what is violated, kept, not known
 * and not judged. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "check/bound.h"
#include "check/check.h"
#include "check/check_print.h"

#define MS UINT64_C(1000000)
#define RUNS_MAX 6u

/* A run of ten seconds: @count latencies of a topic from 1 to 100 ms, @lost messages. */
static struct summary *make_run(unsigned count, uint64_t lost, uint64_t lost_events)
{
	struct summary *summary = summary_new();
	struct summary_entity *entity;

	assert_non_null(summary);
	summary->begin_ns = 1;
	summary->end_ns = 10000000001;
	summary->events = 1000;
	summary->trust.lost_events = lost_events;
	entity = summary_entity(summary, SUMMARY_TOPIC, "/scan", "");
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(
			histogram_add(&entity->histogram[SUMMARY_LATENCY], MS * (i % 100 + 1)), 0);
	entity->count[SUMMARY_PUBLISHED] = count;
	entity->count[SUMMARY_RECEIVED] = count - lost;
	entity->count[SUMMARY_NEVER_RECEIVED] = lost;
	(void)summary_entity(summary, SUMMARY_CHAIN,
			     "/lidar timer 25 ms -> /scan -> /planner -> /cmd_vel", "");
	return summary;
}

/* ---- a file and its runs ---- */

struct case_of {
	struct summary *run[RUNS_MAX];
	unsigned runs;
	struct budgets budgets;
	struct check check;
};

static int read_text(struct budgets *budgets, const char *text, struct kymo_err *err)
{
	static char path[] = "/tmp/kymo-budgets-XXXXXX";
	int fd, status;

	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	status = budgets_read(budgets, path, err);
	(void)unlink(path);
	return status;
}

/* The verdict of the first row of @text over the runs of @c. */
static enum check_verdict judge(struct case_of *c, const char *text)
{
	const struct check_options options = { 0 };
	struct kymo_err err = { 0 };

	check_free(&c->check);
	budgets_free(&c->budgets);
	if (read_text(&c->budgets, text, &err))
		fail_msg("%s", err.text);
	assert_int_equal(check_judge(&c->check, &c->budgets, (const struct summary *const *)c->run,
				     c->runs, NULL, 0, &options, &err),
			 0);
	return c->check.row[0].verdict;
}

static void done(struct case_of *c)
{
	check_free(&c->check);
	budgets_free(&c->budgets);
	for (unsigned i = 0; i < c->runs; i++)
		summary_free(c->run[i]);
}

static void test_times(void **state)
{
	struct case_of c = { .run = { make_run(1000, 0, 0) }, .runs = 1 };

	(void)state;
	/* The 99th of a hundred values is 99 ms; of ten of each, the upper bound of p90 is 92 ms.
	 */
	assert_int_equal(judge(&c, "topics: {/scan: latency p99 <= 98 ms}"), CHECK_VIOLATED);
	assert_true(fabs(c.check.row[0].value - 99e6) < 0.002 * 99e6);
	assert_int_equal(judge(&c, "topics: {/scan: p90 <= 95ms}"), CHECK_KEPT);
	assert_true(fabs(c.check.row[0].bound - 92e6) < 0.002 * 92e6);
	assert_int_equal(judge(&c, "topics: {/scan: p90 <= 91.5 ms}"), CHECK_UNKNOWN);
	assert_int_equal(judge(&c, "confidence: 50 %\ntopics: {/scan: p90 <= 91.5 ms}"),
			 CHECK_KEPT);
	/* No instance of a thousand says anything of the worst of a hundred thousand. */
	assert_int_equal(judge(&c, "topics: {/scan: p99.999 <= 1 s}"), CHECK_UNKNOWN);
	assert_true(isnan(c.check.row[0].bound));
	assert_non_null(strstr(c.check.row[0].why, "299572"));
	assert_int_equal(judge(&c, "topics: {/scan: latency max <= 100 ms}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "topics: {/scan: latency mean <= 50 ms}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "topics: {/scan: p10 >= 8 ms}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "topics: {/scan: p10 >= 12 ms}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "chains: {/scan -> /cmd_vel: p99 <= 1 s}"), CHECK_UNKNOWN);
	assert_string_equal(c.check.row[0].why, "nothing was measured");
	done(&c);
}

static void test_counts(void **state)
{
	struct case_of c = { .run = { make_run(1000, 3, 0) }, .runs = 1 };

	(void)state;
	assert_int_equal(judge(&c, "topics: {/scan: rate >= 100 Hz}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "topics: {/scan: rate >= 101}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "topics: {'/s*': lost = 0}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "topics: {/scan: lost = 3}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "topics: {/scan: lost <= 0.29 %}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "topics: {/scan: lost <= 0.3 %}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "loss: [messages <= 2]"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "loss: [events = 0]"), CHECK_KEPT);
	assert_int_equal(judge(&c, "topics: {/scam: lost = 3}"), CHECK_VIOLATED);
	assert_non_null(strstr(c.check.row[0].why, "did you mean '/scan'"));
	/* The worst one first. */
	assert_int_equal(judge(&c, "topics: {/scan: [lost <= 9, rate >= 500 Hz, lost <= 2]}"),
			 CHECK_VIOLATED);
	assert_string_equal(c.check.row[0].budget->text, "rate >= 500 Hz");
	assert_int_equal(c.check.count[CHECK_VIOLATED], 2);
	assert_int_equal(c.check.count[CHECK_KEPT], 1);
	done(&c);
}

static void test_runs(void **state)
{
	struct case_of c = { .run = { make_run(1000, 0, 0), make_run(1000, 3, 0),
				      make_run(1000, 0, 0) },
			     .runs = 3 };

	(void)state;
	assert_int_equal(judge(&c, "topics: {/scan: lost = 0}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "runs: 2 of 3\ntopics: {/scan: lost = 0}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "runs: 5 of 6\ntopics: {/scan: lost = 0}"), CHECK_VIOLATED);
	done(&c);
}

static void test_losses(void **state)
{
	struct case_of c = { .run = { make_run(1000, 3, 7), make_run(1000, 0, 0) }, .runs = 1 };

	(void)state;
	assert_int_equal(judge(&c, "topics: {/scan: lost = 0}"), CHECK_NOT_JUDGED);
	assert_int_equal(judge(&c, "loss: events = 0"), CHECK_VIOLATED);
	c.runs = 2;
	assert_int_equal(judge(&c, "topics: {/scan: lost = 0}"), CHECK_KEPT);
	assert_int_equal(c.check.row[0].runs[CHECK_NOT_JUDGED], 1);
	assert_int_equal(c.check.runs_with_loss, 1);
	done(&c);
}

/* Ten goals: they took 1 to 10 s, were accepted within 2 ms, and one was silent for 3 s. */
static void test_goals(void **state)
{
	struct case_of c = { .run = { make_run(10, 0, 0) }, .runs = 1 };
	struct summary_entity *entity = summary_entity(c.run[0], SUMMARY_ACTION, "/navigate", "");

	(void)state;
	for (unsigned i = 1; i <= 10; i++) {
		histogram_add(&entity->histogram[SUMMARY_LATENCY], 1000 * MS * i);
		histogram_add(&entity->histogram[SUMMARY_DURATION], 900 * MS * i);
		histogram_add(&entity->histogram[SUMMARY_WAIT], 2 * MS);
		histogram_add(&entity->histogram[SUMMARY_PERIOD], i == 7 ? 3000 * MS : 500 * MS);
	}
	entity->count[SUMMARY_RUNS] = 10;
	entity->count[SUMMARY_ABORTED] = 1;
	entity->count[SUMMARY_REJECTED] = 2;
	assert_int_equal(judge(&c, "actions: {/navigate: total max <= 10 s}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "actions: {/navigate: total max <= 9 s}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "actions: {/navigate: p50 <= 9.1 s}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "actions: {/navigate: execution max <= 9 s}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "actions: {/navigate: accept max <= 1 ms}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "actions: {'/n*': silence max <= 2 s}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "actions: {'/n*': silence p50 <= 2 s}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "actions: {/navigate: aborted <= 10 %}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "actions: {/navigate: aborted = 0}"), CHECK_VIOLATED);
	assert_int_equal(judge(&c, "actions: {/navigate: rejected <= 17 %}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "actions: {/navigate: canceled = 0}"), CHECK_KEPT);
	assert_int_equal(judge(&c, "actions: {/navigte: canceled = 0}"), CHECK_VIOLATED);
	assert_non_null(strstr(c.check.row[0].why, "did you mean '/navigate'"));
	done(&c);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *says;
	} mistakes[] = {
		{ "topcs: {}", ":1: 'topcs' is not known; did you mean 'topics'?" },
		{ "zebras: {}", "write chains, callbacks" },
		{ "topics:\n  /scan:\n  - latncy p99 <= 2 ms",
		  ":3: 'latncy' is not known; did you mean" },
		{ "topics: {/scan: latency <= 2 ms}", "which latency?" },
		{ "topics: {/scan: latency p99 <= 2}", "not a time with its unit" },
		{ "topics: {/scan: latency p100 <= 2 ms}", "is not known" },
		{ "topics: {/scan: latency p99 = 2 ms}", "never equals" },
		{ "topics: {/scan: lost p99 = 0}", "leave it out" },
		{ "topics: {/scan: lost = none}", "not a count" },
		{ "topics: {/scan: rate >= -1}", "not a rate" },
		{ "topics: {/scan: rate}", "has no limit" },
		{ "topics: {/scan: <= 3}", "" },
		{ "base: x\ntopics: {/scan: latency max within 10 %}", "'within' compares" },
		{ "topics: 3", "expected names" },
		{ "runs: 0 of 3", "'2 of 3'" },
		{ "confidence: 95", "'95 %'" },
		{ "topics: [", "not YAML" },
		{ "", "expected sections" },
		{ "runs: 1 of 1", "has no budget" },
	};

	struct budgets relative;
	struct kymo_err missing = { 0 };

	(void)state;
	assert_int_equal(read_text(&relative, "topics: {/scan: p50 within 10 %}", &missing), 0);
	assert_int_equal(budgets_need_base(&relative, true, &missing), 1);
	assert_int_equal(budgets_need_base(&relative, false, &missing), -1);
	assert_non_null(strstr(missing.text, ":1: 'within' needs a base line"));
	budgets_free(&relative);
	for (unsigned i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
		struct budgets budgets;
		struct kymo_err err = { 0 };

		if (read_text(&budgets, mistakes[i].text, &err) != -1)
			fail_msg("'%s' is no mistake", mistakes[i].text);
		if (!strstr(err.text, mistakes[i].says))
			fail_msg("'%s': %s", mistakes[i].text, err.text);
		assert_int_equal(err.status, KYMO_EXIT_INPUT);
		budgets_free(&budgets);
	}
}

/* What --init writes holds for the runs that it was written from, also of a name with quotes. */
static void test_init(void **state)
{
	struct case_of c = { .run = { make_run(1000, 3, 0), make_run(40, 1, 0) }, .runs = 2 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	for (unsigned i = 0; i < c.runs; i++)
		summary_entity(c.run[i], SUMMARY_TOPIC, "/\"a: b\" #", "")
			->count[SUMMARY_PUBLISHED] = 50;
	assert_non_null(out);
	assert_int_equal(check_init(out, (const struct summary *const *)c.run, c.runs, "a run"), 6);
	(void)fclose(out);
	assert_int_equal(judge(&c, text), CHECK_KEPT);
	assert_int_equal(c.check.count[CHECK_KEPT], 6);
	assert_int_equal(c.check.rows, 6);
	free(text);
	done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_runs),  cmocka_unit_test(test_losses),
		cmocka_unit_test(test_goals), cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_init),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
