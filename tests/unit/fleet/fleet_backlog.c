/* SPDX-License-Identifier: Apache-2.0 */
/* A spool of windows: order, limit, restarts, times that come twice, files that are damaged. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fleet/push/backlog.h"

#define SECOND 1000000000ll

static char directory[] = "/tmp/kymo-backlog-XXXXXX";
static const struct window_source of = { "r2d2", "b1", "1.4", "" };

static void put(struct backlog *backlog, int64_t begin_ns, uint64_t runs)
{
	struct summary *summary = summary_new();
	struct summary_entity *entity = summary_entity(summary, SUMMARY_CALLBACK, "/a /b", "p");
	struct kymo_err err;

	entity->count[SUMMARY_RUNS] = runs;
	summary->over = 1;
	summary->left_objects = runs;
	summary->left_events = 2 * runs;
	for (uint64_t i = 0; i < runs; i++)
		assert_int_equal(histogram_add(&entity->histogram[SUMMARY_DURATION], 1000 + i * i),
				 0);
	assert_int_equal(backlog_put(backlog, &of, summary, begin_ns, SECOND, &err), 0);
	summary_free(summary);
}

static struct backlog *open_it(uint64_t limit)
{
	struct backlog *backlog;
	struct kymo_err err;

	if (backlog_open(&backlog, directory, limit, &err))
		fail_msg("%s", err.text);
	return backlog;
}

/* Remove all, and count what was in it. */
static uint64_t drain(struct backlog *backlog, unsigned *windows, unsigned *files)
{
	struct backlog_item item;
	int64_t last_ns = 0;
	uint64_t runs = 0;

	*windows = *files = 0;
	while (backlog_first(backlog, &item)) {
		struct backlog_window window;

		assert_true(item.begin_ns > last_ns);
		last_ns = item.begin_ns;
		assert_int_equal(backlog_load(backlog, &item, &window), 0);
		assert_string_equal(window.of.robot, "r2d2");
		runs += window.summary->entity[0]->count[SUMMARY_RUNS];
		assert_int_equal(window.summary->over, item.windows);
		assert_int_equal(window.summary->left_objects,
				 window.summary->entity[0]->count[SUMMARY_RUNS]);
		assert_int_equal(window.summary->left_events,
				 2 * window.summary->left_objects);
		assert_int_equal(window.summary->entity[0]->histogram[SUMMARY_DURATION].count,
				 window.summary->entity[0]->count[SUMMARY_RUNS]);
		backlog_unload(&window);
		backlog_done(backlog, &item, false);
		*windows += item.windows;
		++*files;
	}
	return runs;
}

static void restart(void **state)
{
	struct backlog *backlog = open_it(0);
	struct backlog_item item;
	unsigned windows, files;

	(void)state;
	put(backlog, 100 * SECOND, 3);
	put(backlog, 99 * SECOND, 4);  /* the clock was set back */
	put(backlog, 100 * SECOND, 5); /* a second part */
	assert_true(backlog_first(backlog, &item));
	assert_int_equal(backlog_phase(backlog, &item, 2), 0);
	backlog_close(backlog);
	backlog = open_it(0);
	assert_true(backlog_first(backlog, &item));
	assert_int_equal(item.phase, 2);
	put(backlog, 100 * SECOND, 6); /* once more, by the next process */
	assert_int_equal(drain(backlog, &windows, &files), 18);
	assert_int_equal(windows, 4);
	put(backlog, 100 * SECOND, 7); /* ... and when nothing is left */
	assert_true(backlog_first(backlog, &item));
	assert_true(item.begin_ns > 100 * SECOND);
	(void)drain(backlog, &windows, &files);
	backlog_close(backlog);
}

static void limit(void **state)
{
	struct backlog *backlog = open_it(0);
	struct backlog_counts counts;
	unsigned windows, files;

	(void)state;
	for (int i = 0; i < 100; i++)
		put(backlog, (1000 + i) * SECOND, 10);
	backlog_counts(backlog, &counts);
	assert_int_equal(counts.waiting, 100);
	backlog_close(backlog);
	backlog = open_it(counts.waiting_bytes / 4);
	backlog_counts(backlog, &counts);
	assert_int_equal(counts.waiting, 100);
	assert_int_equal(counts.dropped, 0);
	assert_true(counts.merged > 50);
	assert_int_equal(drain(backlog, &windows, &files), 1000);
	assert_int_equal(windows, 100);
	assert_true(files < 50);
	backlog_close(backlog);
	backlog = open_it(1);
	for (int i = 0; i < 5; i++)
		put(backlog, (2000 + i) * SECOND, 10);
	backlog_counts(backlog, &counts);
	assert_int_equal(counts.waiting, 0);
	assert_int_equal(counts.dropped, 5);
	backlog_close(backlog);
	backlog = open_it(1); /* what is gone stays counted */
	backlog_counts(backlog, &counts);
	assert_int_equal(counts.dropped, 5);
	assert_true(counts.merged > 50);
	assert_int_equal(counts.put,
			 counts.sent + counts.refused + counts.dropped + counts.waiting);
	assert_int_equal(counts.sent, 105);
	backlog_close(backlog);
}

/* What may have arrived stays as it is; the rest is merged. */
static void tried(void **state)
{
	struct backlog *backlog = open_it(0);
	struct backlog_item item, first;
	struct backlog_counts counts;

	(void)state;
	for (int i = 0; i < 20; i++)
		put(backlog, (3000 + i) * SECOND, 10);
	assert_true(backlog_first(backlog, &item));
	assert_int_equal(backlog_phase(backlog, &item, 1), 0);
	backlog_counts(backlog, &counts);
	backlog_close(backlog);
	backlog = open_it(counts.waiting_bytes / 4);
	assert_true(backlog_first(backlog, &first));
	assert_int_equal(first.begin_ns, item.begin_ns);
	assert_int_equal(first.windows, 1);
	backlog_close(backlog);
}

static void damaged(void **state)
{
	struct backlog *backlog = open_it(0);
	struct backlog_item item;
	struct backlog_window window;
	struct backlog_counts before, counts;
	char path[512];
	unsigned windows, files;
	FILE *file;

	(void)state;
	(void)drain(backlog, &windows, &files);
	backlog_counts(backlog, &before);
	backlog_close(backlog);
	snprintf(path, sizeof(path), "%s/00000000005000000000-1000000000-3-0.kymo", directory);
	file = fopen(path, "we");
	fputs("this is not zstd", file);
	assert_int_equal(fclose(file), 0);
	backlog = open_it(0);
	assert_true(backlog_first(backlog, &item));
	assert_int_equal(backlog_load(backlog, &item, &window), -1);
	assert_false(backlog_first(backlog, &item));
	backlog_counts(backlog, &counts);
	assert_int_equal(counts.damaged - before.damaged, 1);
	assert_int_equal(counts.dropped - before.dropped, 3);
	backlog_close(backlog);
}

static void shell(const char *command)
{
	char text[1024];

	snprintf(text, sizeof(text), "cd %s && %s", directory, command);
	assert_int_equal(system(text), 0);
}

/* Two windows became one, and the process was killed before the two were gone, or the one had its
 * name. */
static void killed(void **state)
{
	static const char *const moments[] = {
		"true",                                  /* before the one had its name */
		"mv $ONE.new $ONE",                      /* after it */
		"mv $ONE.new $ONE && rm *-1000000000-*", /* when the two were gone */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
		struct backlog *backlog = open_it(0);
		struct backlog_counts counts;
		unsigned windows, files;
		char command[900];

		(void)drain(backlog, &windows, &files);
		put(backlog, 5000 * SECOND, 10);
		put(backlog, 5001 * SECOND, 10);
		backlog_counts(backlog, &counts);
		backlog_close(backlog);
		shell("mkdir two && cp *.kymo two");
		backlog_close(open_it(counts.waiting_bytes - 1));
		snprintf(command, sizeof(command),
			 "set -- *.kymo && ONE=$1 && TWO=$(cd two && ls) && mv $ONE $ONE.new && cp two/* . && rm -r two && "
			 "{ printf '0 0\\n2 2 0 0 0 0\\n' && for i in $TWO; do echo $i | sed 's/^0*/going /;s/-/ /g;s/.kymo//'; done && "
			 "echo $ONE | sed 's/^0*/coming /;s/-/ /g;s/.kymo//'; } > state && %s",
			 moments[i]);
		shell(command);
		backlog = open_it(0);
		assert_int_equal(drain(backlog, &windows, &files), 20);
		assert_int_equal(windows, 2);
		assert_int_equal(files, 1);
		backlog_close(backlog);
	}
}

static int clean(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restart),
		cmocka_unit_test(limit),
		cmocka_unit_test(tried),
		cmocka_unit_test(damaged),
		cmocka_unit_test(killed),
	};

	if (!mkdtemp(directory))
		return 1;
	return cmocka_run_group_tests(tests, NULL, clean);
}
