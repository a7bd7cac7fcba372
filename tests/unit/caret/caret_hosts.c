/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the hosts of a domain, from news in any order and of any kind. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "caret/agent/hosts.h"

static const uint8_t key[3][HOSTS_KEY] = { { 1 }, { 2 }, { 3 } };
static struct hosts hosts;

static int begin(void **state)
{
	(void)state;
	hosts_init(&hosts);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hosts_free(&hosts);
	return 0;
}

static void graph(unsigned which, const char *one, const char *two)
{
	const char *const names[] = { one, two };

	hosts_graph(&hosts, key[which], names, two ? 2 : one ? 1 : 0);
}

/* A node of a process may be known before the host that it belongs to, and only who listens is
 * one. */
static void test_any_order(void **state)
{
	struct hosts_tally all;

	(void)state;
	graph(0, "caret_trace_a", "talker");
	graph(1, "talker", NULL);
	assert_int_equal(hosts.count, 1);
	all = hosts_tally(&hosts, NULL);
	assert_int_equal(all.hosts, 0);
	assert_int_equal(all.processes, 0);
	hosts_listens(&hosts, key[0], NULL);
	assert_string_equal(hosts_state(&hosts.host[0]), "unknown");
	hosts_listens(&hosts, key[0], "robot\x1b[2J");
	assert_null(strchr(hosts.host[0].name, '\x1b'));
	hosts_listens(&hosts, key[1], "laptop");
	assert_string_equal(hosts_state(&hosts.host[1]), "idle");
	hosts_status(&hosts, key[1], "caret_trace_b", MACHINE_WAIT, 12, 3);	/* before its graph */
	all = hosts_tally(&hosts, NULL);
	assert_int_equal(all.hosts, 2);
	assert_int_equal(all.processes, 2);
	assert_int_equal(all.state[MACHINE_UNINITIALIZED], 1);
	assert_int_equal(all.state[MACHINE_WAIT], 1);
	assert_int_equal(hosts.host[1].process[0].pid, 12);
	assert_int_equal(hosts.host[1].process[0].nodes, 3);
}

static void test_answers(void **state)
{
	struct hosts_tally all;

	(void)state;
	hosts_listens(&hosts, key[0], "robot");
	graph(0, "caret_trace_a", "caret_trace_b");
	hosts_status(&hosts, key[0], "caret_trace_a", MACHINE_RECORD, 1, 0);
	assert_false(hosts.host[0].process[0].recorded);	/* nobody has asked it to */
	hosts_asked(&hosts);
	all = hosts_tally(&hosts, &hosts.host[0]);
	assert_int_equal(all.answered, 0);
	hosts_status(&hosts, key[0], "caret_trace_a", MACHINE_RECORD, 1, 0);
	hosts_status(&hosts, key[0], "caret_trace_b", MACHINE_PREPARE, 2, 0);
	assert_string_equal(hosts_state(&hosts.host[0]), "mixed");
	hosts_status(&hosts, key[0], "caret_trace_b", MACHINE_RECORD, 2, 0);
	assert_string_equal(hosts_state(&hosts.host[0]), "record");
	all = hosts_tally(&hosts, NULL);
	assert_int_equal(all.answered, 2);
	assert_int_equal(all.recorded, 2);
	hosts_asked(&hosts);
	hosts_status(&hosts, key[0], "caret_trace_a", MACHINE_WAIT, 1, 0);
	all = hosts_tally(&hosts, NULL);
	assert_int_equal(all.answered, 1);
	assert_int_equal(all.recorded, 2);		/* it did */
}

static void test_leaving(void **state)
{
	struct hosts_tally all;

	(void)state;
	hosts_gone(&hosts, key[2]);			/* who was never there */
	assert_int_equal(hosts.count, 0);
	hosts_listens(&hosts, key[0], "robot");
	graph(0, "caret_trace_a", "caret_trace_b");
	hosts_asked(&hosts);
	hosts_status(&hosts, key[0], "caret_trace_b", MACHINE_RECORD, 1, 0);
	graph(0, "caret_trace_a", NULL);		/* b ended */
	all = hosts_tally(&hosts, NULL);
	assert_int_equal(all.processes, 1);
	assert_int_equal(all.state[MACHINE_RECORD], 0);
	assert_int_equal(all.recorded, 1);
	hosts_gone(&hosts, key[0]);
	assert_string_equal(hosts_state(&hosts.host[0]), "gone");
	all = hosts_tally(&hosts, NULL);
	assert_int_equal(all.hosts, 0);
	assert_int_equal(all.processes, 0);
	hosts_listens(&hosts, key[0], "robot");		/* and is back */
	graph(0, "caret_trace_a", NULL);
	all = hosts_tally(&hosts, NULL);
	assert_int_equal(all.hosts, 1);
	assert_int_equal(all.processes, 1);
}

static void test_hostile(void **state)
{
	char name[4096], key_of[HOSTS_KEY] = { 9 };
	const unsigned before = hosts.changes;

	(void)state;
	hosts_listens(&hosts, key[0], "robot");
	for (int wrong = -128; wrong < 128; wrong++)
		if (wrong < MACHINE_WAIT || wrong > MACHINE_RECORD)
			hosts_status(&hosts, key[0], "caret_trace_a", wrong, 1, 0);
	hosts_status(&hosts, key[0], "talker", MACHINE_RECORD, 1, 0);
	hosts_status(&hosts, key[0], "", MACHINE_RECORD, 1, 0);
	assert_int_equal(hosts.host[0].count, 0);
	assert_int_equal(hosts.changes, before + 1);
	memset(name, 'x', sizeof name);
	memcpy(name, HOSTS_MARK, sizeof HOSTS_MARK - 1);
	name[sizeof name - 1] = 0;
	hosts_status(&hosts, key[0], name, MACHINE_RECORD, -5, 0);
	hosts_status(&hosts, key[0], name, MACHINE_RECORD, -5, 0);
	assert_int_equal(hosts.host[0].count, 1);
	assert_int_equal(hosts.host[0].process[0].pid, 0);
	for (unsigned i = 0; i < HOSTS_PROCESS_MAX + 10; i++) {
		(void)snprintf(name, sizeof name, HOSTS_MARK "%u", i);
		hosts_status(&hosts, key[0], name, MACHINE_WAIT, 1, 0);
	}
	assert_int_equal(hosts.host[0].count, HOSTS_PROCESS_MAX);
	for (unsigned i = 0; i < HOSTS_MAX + 10; i++) {
		memcpy(key_of + 1, &i, sizeof i);
		hosts_listens(&hosts, (const uint8_t *)key_of, "robot");
	}
	assert_int_equal(hosts.count, HOSTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_any_order, begin, end),
		cmocka_unit_test_setup_teardown(test_answers, begin, end),
		cmocka_unit_test_setup_teardown(test_leaving, begin, end),
		cmocka_unit_test_setup_teardown(test_hostile, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
