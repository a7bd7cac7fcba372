/* SPDX-License-Identifier: Apache-2.0 */
/* SQL that wants to do harm, that breaks off, and that is interrupted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "query/query.h"

static struct tables *tables;
static struct query *query;

/* Run all statements; the value of the first column of the first row, or INT64_MIN. */
static int run(const char *sql, int64_t *first, struct kymo_err *err)
{
	struct query_statement *statement;
	struct tables_value value;
	int more;

	*first = INT64_MIN;
	while ((more = query_begin(query, sql, &sql, &statement, err)) > 0) {
		while ((more = query_step(statement, err)) > 0)
			for (unsigned i = 0; i < query_columns(statement); i++) {
				query_value(statement, i, &value);
				if (!i && *first == INT64_MIN && value.is == TABLES_VALUE_INTEGER)
					*first = value.integer;
			}
		query_end(statement);
		if (more)
			break;
	}
	return more;
}

static int64_t number(const char *sql)
{
	struct kymo_err err = { 0 };
	int64_t first;

	if (run(sql, &first, &err))
		fail_msg("%s: %s", sql, err.text);
	return first;
}

static void refuses(const char *sql, const char *text)
{
	struct kymo_err err = { 0 };
	int64_t first;

	if (run(sql, &first, &err) != -1 || !strstr(err.text, text))
		fail_msg("%s: %s", sql, err.text);
}

static void hostile(void **state)
{
	char *nested = malloc(20000);

	(void)state;
	refuses("ATTACH ':memory:' AS x", "authorized");
	refuses("CREATE TABLE a(b)", "authorized");
	refuses("CREATE TEMP VIEW a AS SELECT 1", "authorized");
	refuses("PRAGMA writable_schema = 1", "authorized");
	refuses("PRAGMA hard_heap_limit = 1", "authorized");
	refuses("SELECT load_extension('x')", "load_extension");
	refuses("INSERT INTO nodes VALUES (1)", "");
	refuses("DELETE FROM sqlite_master", "");
	refuses("SELECT length(randomblob(300 * 1024 * 1024))", "too big");
	refuses("SELECT length(replace(hex(zeroblob(200000)), '0', hex(zeroblob(200000))))", "too big");
	memset(nested, '(', 19998);
	memcpy(nested, "SELECT ", 7);
	nested[19998] = 0;
	refuses(nested, "");
	free(nested);
	refuses("SELECT percentile(1)", "arguments");
	refuses("SELECT percentile(t.id, n.id) FROM threads t, nodes n", "same for all rows");
	refuses("SELECT * FROM nodes(1, 2)", "");
	refuses("\xff\xfe'", "");
	assert_int_equal(number("SELECT count(*) FROM nodes WHERE rowid = 1"), 1);
	assert_int_equal(number("; ;-- nothing\n"), INT64_MIN);
}

static void places(void **state)
{
	struct kymo_err err = { 0 };
	int64_t first;

	(void)state;
	assert_int_equal(run("SELECT 1;\nSELECT id\nFROM nodes\nWHER id = 1", &first, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_USAGE);
	if (!strstr(err.text, "\n  WHER id = 1\n       ^"))
		fail_msg("%s", err.text);
	/* The end of the text is a place, too; tabs and signs beside ASCII are one column wide. */
	assert_int_equal(run("SELECT '\xc3\xa4',\t(1", &first, &err), -1);
	assert_non_null(strstr(err.text, "incomplete input"));
}

/* A join that reads a table again gets what a plain reading gets. */
static void kept(void **state)
{
	(void)state;
	assert_int_equal(number("SELECT count(*) FROM callback_instances"), 46);
	assert_int_equal(number("SELECT count(*) FROM callback_instances a, callback_instances b"), 46 * 46);
	assert_int_equal(number("SELECT count(*) FROM callback_instances a JOIN callback_instances b"
				" ON a.id = b.id AND a.node IS b.node"), 46);
	assert_int_equal(number("SELECT count(*) FROM callback_instances a JOIN callback_instances b"
				" ON a.start_ns > b.start_ns"), 46 * 45 / 2);
	assert_int_equal(number("SELECT sum(a.rowid) = sum(b.rowid) FROM callback_instances a"
				" JOIN callback_instances b ON a.id = b.id"), 1);
	/* More columns than were kept the first time. */
	assert_int_equal(number("SELECT count(DISTINCT b.callback || b.tid || b.duration_ns) = "
				"(SELECT count(DISTINCT callback || tid || duration_ns) FROM callback_instances)"
				" FROM callback_instances a JOIN callback_instances b ON a.id = b.id"), 1);
}

/* ---- interrupts ---- */

static void on_alarm(int signal)
{
	(void)signal;
	query_interrupt(query);
}

static void interrupted(void **state)
{
	struct sigaction action = { .sa_handler = on_alarm }, before;
	struct itimerval soon = { .it_value = { .tv_usec = 50000 } };

	(void)state;
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &soon, NULL);
	refuses("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c",
		"interrupted");
	sigaction(SIGALRM, &before, NULL);
	/* And it goes on afterwards. */
	assert_int_equal(number("SELECT count(*) FROM nodes"), 2);
}

static int stop(void *context, uint64_t events, double done)
{
	(void)context, (void)events, (void)done;
	return 1;
}

static void set_up(const char *trace)
{
	struct kymo_err err = { 0 };

	if (tables_open(&tables, (const char *const[]){ trace }, 1, &err) ||
	    query_open(&query, tables, &err))
		fail_msg("%s", err.text);
}

static void closed_early(void **state)
{
	struct query_statement *statement;
	struct kymo_err err = { 0 };
	const char *rest;

	(void)state;
	assert_int_equal(query_begin(query, "SELECT * FROM events", &rest, &statement, &err), 1);
	assert_int_equal(query_step(statement, &err), 1);
	query_end(statement);
	/* The query has the place of tables_watch(); without it others may take it. */
	tables_watch(tables, stop, NULL);
	assert_int_equal(number("SELECT count(*) FROM events"), 596);	/* too short for a tick */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile), cmocka_unit_test(places), cmocka_unit_test(kept),
		cmocka_unit_test(interrupted), cmocka_unit_test(closed_early),
	};
	int status;

	set_up(KYMO_FIXTURES "/lifecycle");
	status = cmocka_run_group_tests(tests, NULL, NULL);
	query_close(query);
	tables_close(tables);
	return status;
}
