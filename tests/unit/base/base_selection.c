/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of globs: which names are selected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/selection.h"

/* Globs and names separated by blanks; "-" is a name that is not known. */
static void check(const char *globs, const char *name, bool wanted)
{
	struct opt_list list = { .count = 0 };
	char *copy = strdup(globs), *save, *glob;

	for (glob = strtok_r(copy, " ", &save); glob; glob = strtok_r(NULL, " ", &save))
		list.item[list.count++] = glob;
	if (selection_matches(&list, strcmp(name, "-") ? name : NULL) != wanted)
		fail_msg("'%s' should %sselect '%s'", globs, wanted ? "" : "not ", name);
	free(copy);
}

static void names(void **state)
{
	(void)state;
	check("", "/a", true);
	check("", "-", true);
	check("/a", "/a", true);
	check("/a", "/ab", false);
	check("a", "/a", true);			/* the first slash may be left out */
	check("/perception/*", "/perception/filter/raw", true);
	check("perception/*", "/perception/filter", true);
	check("*filter", "/perception/filter", true);
	check("/a /b", "/b", true);
	check("/a /b", "/c", false);
	check("/a", "-", false);
	check("*", "-", false);			/* one is asked for */
}

static void left_out(void **state)
{
	(void)state;
	check("!/a", "/a", false);
	check("!a", "/a", false);
	check("!/a", "/b", true);
	check("!/a", "-", true);
	check("!*", "/a", false);
	check("!*", "-", true);
	check("/p/* !/p/x", "/p/y", true);
	check("/p/* !/p/x", "/p/x", false);
	check("!/p/x /p/*", "/p/x", false);	/* in any order */
	check("/p/* !/p/x", "/q", false);
	check("!/a !/b", "/b", false);
	check("!/a !/b", "/c", true);
}

static void processes(void **state)
{
	struct selection by_name = { .process = { { "plan*" }, 1 } };
	struct selection by_pid = { .process = { { "17" }, 1 } };
	struct selection not_pid = { .process = { { "!17" }, 1 } };
	struct selection not_name = { .process = { { "1*", "!planner" }, 2 } };

	(void)state;
	assert_true(selection_process(NULL, "planner", 17));
	assert_true(selection_process(&by_name, "planner", 17));
	assert_false(selection_process(&by_name, "driver", 17));
	assert_true(selection_process(&by_pid, "driver", 17));
	assert_false(selection_process(&by_pid, "driver", 171));
	assert_false(selection_process(&not_pid, "driver", 17));
	assert_true(selection_process(&not_pid, "driver", 18));
	assert_false(selection_process(&not_name, "planner", 17));
	assert_true(selection_process(&not_name, "driver", 17));
	assert_false(selection_process(&not_name, "driver", 27));
}

static void any(void **state)
{
	struct selection nothing = { .node.count = 0 };
	struct selection process = { .process = { { "a" }, 1 } };
	struct selection topic = { .topic = { { "a" }, 1 } };

	(void)state;
	assert_false(selection_any(NULL) || selection_any(&nothing) || selection_objects(&process));
	assert_true(selection_any(&process) && selection_any(&topic) && selection_objects(&topic));
	assert_true(selection_leaves_out(&(struct opt_list){ { "!a*" }, 1 }, "/ab"));
	assert_false(selection_leaves_out(&(struct opt_list){ { "a*", "!b" }, 2 }, "/ab"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(left_out),
		cmocka_unit_test(processes),
		cmocka_unit_test(any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
