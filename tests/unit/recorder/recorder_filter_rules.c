/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as people write them, files of them, and CARET's variables with what its regular
 * expressions find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "caret/filter/caret_filter.h"
#include "recorder/filter/filter_rules.h"
#include "base/array.h"

static struct filter_rules rules_of(const char *text)
{
	struct filter_rules rules = { 0 };
	struct kymo_err err = { 0 };

	if (filter_rules_text(&rules, text, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return rules;
}

static void what_rules_want(void **state)
{
	static const struct {
		const char *rules;
		enum filter_kind kind;
		const char *name, *other;
		bool wanted;
	} row[] = {
		{ "", FILTER_NODE, "/a", NULL, true },
		{ "", FILTER_TOPIC, NULL, NULL, true },
		{ "node /a", FILTER_NODE, "/a", NULL, true },
		{ "node a", FILTER_NODE, "/a", NULL, true },		/* without the first slash */
		{ "node /a", FILTER_NODE, "/b", NULL, false },
		{ "node /a", FILTER_NODE, NULL, NULL, false },
		{ "node /a", FILTER_TOPIC, "/b", NULL, true },		/* each kind for itself */
		{ "node !/a", FILTER_NODE, "/a", NULL, false },
		{ "node !/a", FILTER_NODE, "/b", NULL, true },
		{ "node !/a", FILTER_NODE, NULL, NULL, true },
		{ "node /p*; node !/p/x", FILTER_NODE, "/p/y", NULL, true },
		{ "node /p*; node !/p/x", FILTER_NODE, "/p/x", NULL, false },
		{ "node !/p/x; node /p*", FILTER_NODE, "/p/x", NULL, false },	/* in any order */
		{ "node /p*; node !/p/x", FILTER_NODE, "/q", NULL, false },
		{ "topic /scan?", FILTER_TOPIC, "/scan1", NULL, true },
		{ "topic /scan?", FILTER_TOPIC, "/scan", NULL, false },
		{ "topic *scan", FILTER_TOPIC, "/front/scan", NULL, true },
		{ "topic [ab]", FILTER_TOPIC, "/b", NULL, true },
		{ "event callback_*", FILTER_EVENT, "ros2:callback_end", "callback_end", true },
		{ "event ros2:callback_*", FILTER_EVENT, "ros2:callback_end", "callback_end", true },
		{ "event callback", FILTER_EVENT, "ros2:callback_end", "callback_end", false },
		{ "category !control", FILTER_CATEGORY, "control", NULL, false },
		{ "process !rviz*", FILTER_PROCESS, "rviz2", "python3", false },
		{ "process !rviz*", FILTER_PROCESS, "python3", "rviz2", false },
		{ "process rviz*", FILTER_PROCESS, "python3", "rviz2", true },
	};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(row); i++) {
		struct filter_rules rules = rules_of(row[i].rules);

		if (filter_rules_want(&rules, row[i].kind, row[i].name, row[i].other) !=
		    row[i].wanted)
			fail_msg("row %u: '%s' of %s should be %s", i, row[i].rules, row[i].name, row[i].wanted ? "wanted" : "left out");
		filter_rules_free(&rules);
	}
}

static void texts(void **state)
{
	struct filter_rules rules = rules_of("# one\n\n  node   /a \n\ttopic !/b c\t\n;event x;"), copy;
	char text[FILTER_TEXT_MAX], *joined;

	(void)state;
	assert_int_equal(rules.count, 3);
	assert_string_equal(filter_rule_text(&rules.rule[0], text), "node /a");
	assert_string_equal(filter_rule_text(&rules.rule[1], text), "topic !/b c");
	assert_true(filter_rules_copy(&copy, &rules));
	filter_rules_free(&rules);
	assert_int_equal(rules.count, 0);
	joined = filter_rules_join(&copy);
	assert_string_equal(joined, "node /a; topic !/b c; event x");
	free(joined);
	assert_false(filter_rules_want(&copy, FILTER_TOPIC, "/b c", NULL));
	filter_rules_free(&copy);
	joined = filter_rules_join(&copy);
	assert_string_equal(joined, "");
	free(joined);
}

static void wrong(const char *line, const char *said)
{
	struct filter_rules rules = { 0 };
	struct kymo_err err = { 0 };

	assert_int_equal(filter_rules_line(&rules, line, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_USAGE);
	if (!strstr(err.text, said))
		fail_msg("'%s' gave: %s", line, err.text);
	filter_rules_free(&rules);
}

static void mistakes(void **state)
{
	char long_line[FILTER_TEXT_MAX + 64];
	struct filter_rules rules = { 0 };
	struct kymo_err err = { 0 };

	(void)state;
	wrong("process talker;node x", "write ? for that character");
	wrong("nodes /a", "'nodes' is not a kind of rule");
	wrong("/a", "is node, topic, process, event or category");
	wrong("node", "needs a name");
	wrong("topic !", "!/name");
	wrong("event  ", "needs a name");
	memset(long_line, 'x', sizeof long_line - 1);
	long_line[sizeof long_line - 1] = 0;
	memcpy(long_line, "node ", 5);
	wrong(long_line, "characters");
	for (unsigned i = 0; i < FILTER_RULES_MAX; i++)
		assert_int_equal(filter_rules_line(&rules, "node /a", &err), 0);
	assert_int_equal(filter_rules_line(&rules, "node /a", &err), -1);
	assert_int_equal(rules.count, FILTER_RULES_MAX);
	filter_rules_free(&rules);
}

static void files(void **state)
{
	static const char good[] = "# what nobody needs\nnode !/rviz*\r\n\n  topic !/clock", bad[] = "node /a\n\nevnt x\nnode";
	char path[] = "/tmp/kymo-test-XXXXXX";
	struct filter_rules rules = { 0 };
	struct kymo_err err = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, good, sizeof good - 1), sizeof good - 1);
	assert_int_equal(filter_rules_file(&rules, path, &err), 0);
	assert_int_equal(rules.count, 2);
	assert_string_equal(rules.rule[0].glob, "/rviz*");
	assert_string_equal(rules.rule[1].glob, "/clock");
	filter_rules_free(&rules);

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bad, sizeof bad - 1, 0), sizeof bad - 1);
	assert_int_equal(filter_rules_file(&rules, path, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_INPUT);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, ":3: 'evnt' is not a kind of rule"));
	filter_rules_free(&rules);

	assert_int_equal(pwrite(fd, "node /a\0b", 9, 0), 9);	/* no text */
	assert_int_equal(filter_rules_file(&rules, path, &err), -1);
	filter_rules_free(&rules);
	close(fd);
	unlink(path);
	assert_int_equal(filter_rules_file(&rules, path, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_INPUT);
	assert_non_null(strstr(err.text, "No such file"));
}

/* ---- CARET ---- */

/* What std::regex_search() of libstdc++ says, -1: it throws. */
static const struct {
	const char *pattern, *text;
	int found;
} regex[] = {
	{ "/rviz", "/rviz2", 1 }, { "/rviz*", "/rvi", 1 }, { "/rviz*", "/rvizzz/x", 1 }, { "^/scan$", "/scan", 1 },
	{ "^/scan$", "/scan2", 0 }, { "scan", "/front/scan_raw", 1 }, { "/caret_trace_.*", "/caret_trace_17", 1 },
	{ "^/[a-z]+/[0-9]{2,3}$", "/abc/123", 1 }, { "^/[a-z]+/[0-9]{2,3}$", "/abc/1234", 0 },
	{ "(/a|/b)/c", "/x/b/c", 1 }, { "a.c", "a\nc", 0 }, { "^/x$", "/x\n", 0 }, { "\\d+", "/topic7", 1 },
	{ "\\bnode\\b", "/my/node/x", 1 }, { "\\bnode\\b", "/mynode", 0 }, { "[[]", "a[b", 1 }, { "[^/]+$", "/a/b", 1 },
	{ "(?=.*left)(?=.*right)", "/right/left", 1 }, { "(?!.*debug)^/", "/x/debug", 0 },
	{ "(?!.*debug)^/", "/x/info", 1 }, { "a{2}", "caat", 1 }, { "a{2}", "cat", 0 }, { "x*", "abc", 1 },
	{ "/parameter_events", "/parameter_events", 1 }, { "\\.", "/a.b", 1 }, { "\\.", "/ab", 0 },
	{ "/AGNOCAST_SRV_*", "/AGNOCAST_SRV", 1 }, { "[", "/x", -1 }, { "*abc", "/abc", -1 }, { "(", "/x", -1 },
	{ "+", "/x", -1 }, { "\\u0061b", "/ab", 1 }, { "\\x61b", "/ab", 1 }, { "[]", "/x", 0 }, { "[^]", "/x", 1 },
	{ "$", "/x", 1 }, { "a|", "/x", 1 }, { "\\w+_\\d", "/ab_1", 1 }, { "[\\w]+-", "/ab-", 1 }, { ".*?b$", "/aab", 1 },
	{ "A", "/a", 0 }, { "\\/x", "/x", 1 }, { "\\-", "a-b", 1 }, { "\xc3\xa9", "/caf\xc3\xa9", 1 },
};

static void regular_expressions(void **state)
{
	char error[128];

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(regex); i++) {
		void *compiled = filter_regex_pcre2.compile(regex[i].pattern, error);
		int found = compiled ? filter_regex_pcre2.found(compiled, regex[i].text) : -1;

		if (found != regex[i].found)
			fail_msg("'%s' in '%s': %d instead of %d", regex[i].pattern, regex[i].text, found, regex[i].found);
		filter_regex_pcre2.free(compiled);
	}
	/* One that would take for ever is not found. */
	{
		void *compiled = filter_regex_pcre2.compile("(a*)*(b*)*(a|b)*c$", error);

		assert_non_null(compiled);
		assert_false(filter_regex_pcre2.found(compiled, "abababababababababababababababababababababab"));
		filter_regex_pcre2.free(compiled);
	}
}

static char said[1024];

static void say(void *context, const char *text)
{
	(void)context;
	snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

static struct filter_caret *caret(const char *select_nodes, const char *ignore_nodes,
				  const char *select_topics, const char *ignore_topics)
{
	const char *const value[CARET_LISTS] = {
		[CARET_SELECT_NODES] = select_nodes, [CARET_IGNORE_NODES] = ignore_nodes,
		[CARET_SELECT_TOPICS] = select_topics, [CARET_IGNORE_TOPICS] = ignore_topics,
	};

	said[0] = 0;
	return filter_caret_create(&filter_regex_pcre2, value, say, NULL);
}

/* Of a publisher of @topic in @node; of a timer, service or client with @topic NULL. */
static bool wants(const struct filter_caret *filter, const char *node, const char *topic)
{
	return filter_caret_wants(filter, filter_caret_node(filter, node),
				  topic ? filter_caret_topic(filter, topic) : 0);
}

static void caret_selects_and_ignores(void **state)
{
	static const struct {
		const char *select_nodes, *ignore_nodes, *select_topics, *ignore_topics, *node,
			*topic;
		bool wanted;
	} row[] = {
		{ "/a", NULL, NULL, NULL, "/a", "/t", true },
		{ "/a", NULL, NULL, NULL, "/b", "/t", false },
		{ "/a", NULL, NULL, NULL, "/x/a2", "/t", true },	/* found anywhere */
		{ "/a", NULL, NULL, NULL, "/a", NULL, true },
		{ "/a", NULL, "/t", NULL, "/b", "/t", true },		/* one of both is enough */
		{ "/a", NULL, "/t", NULL, "/a", "/u", true },
		{ "/a", NULL, "/t", NULL, "/b", "/u", false },
		{ NULL, NULL, "/t", NULL, "/b", NULL, false },		/* selected topics: no timer */
		{ NULL, "/a", NULL, NULL, "/a", "/t", false },
		{ NULL, "/a", NULL, NULL, "/a", NULL, false },
		{ NULL, "/a", NULL, NULL, "/b", "/t", true },
		{ NULL, "/a", NULL, "/t", "/b", "/t", false },		/* one of both is enough */
		{ NULL, "/a", NULL, "/t", "/b", NULL, true },
		{ "/a", "/a", NULL, NULL, "/a", "/t", true },		/* who selects, does not ignore */
		{ "/a", NULL, NULL, "/t", "/a", "/t", true },
		{ NULL, "*", NULL, NULL, "/b", "/t", false },		/* the star alone */
		{ "*", NULL, NULL, NULL, "/b", "/t", true },
		{ NULL, "secret::zzz", NULL, NULL, "/b", "/t", true },	/* nothing between colons is nothing */
		{ NULL, ":secret", NULL, NULL, "/b", "/t", true },
		{ NULL, "secret:", NULL, NULL, "/b", "/t", true },
		{ NULL, "x:secret:", NULL, NULL, "/secret/b", "/t", false },
		{ "[", NULL, NULL, NULL, "/b", "/t", false },		/* none that could match: nothing is selected */
		{ NULL, "[:/b", NULL, NULL, "/b", "/t", false },	/* what is good counts */
	};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(row); i++) {
		struct filter_caret *filter = caret(row[i].select_nodes, row[i].ignore_nodes,
						    row[i].select_topics, row[i].ignore_topics);

		assert_non_null(filter);
		if (wants(filter, row[i].node, row[i].topic) != row[i].wanted)
			fail_msg("row %u", i);
		filter_caret_free(filter);
	}
}

static void caret_nothing_and_nonsense(void **state)
{
	const char *const processes[CARET_LISTS] = { [CARET_IGNORE_PROCESSES] = "^rviz:record$" };
	struct filter_caret *filter;

	(void)state;
	assert_null(caret(NULL, NULL, NULL, NULL));
	assert_null(caret("", "::", NULL, NULL));
	filter = caret(NULL, "[:(", NULL, NULL);
	assert_non_null(strstr(said, "CARET_IGNORE_NODES: '[' is not a regular expression"));
	assert_non_null(strstr(said, "'(' is not a regular expression"));
	assert_true(wants(filter, "/[", "/("));
	assert_true(filter_caret_objects(filter));
	assert_string_equal(filter_caret_value(filter, CARET_IGNORE_NODES), "[:(");
	assert_null(filter_caret_value(filter, CARET_SELECT_NODES));
	filter_caret_free(filter);

	filter = filter_caret_create(&filter_regex_pcre2, processes, say, NULL);
	assert_false(filter_caret_wants_process(filter, "rviz2"));
	assert_false(filter_caret_wants_process(filter, "bag_record"));
	assert_true(filter_caret_wants_process(filter, "recorder"));
	assert_true(wants(filter, "/a", "/t"));
	assert_false(filter_caret_objects(filter));
	filter_caret_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_rules_want),
		cmocka_unit_test(texts),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(files),
		cmocka_unit_test(regular_expressions),
		cmocka_unit_test(caret_selects_and_ignores),
		cmocka_unit_test(caret_nothing_and_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
