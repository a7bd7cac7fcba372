/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine did while a run was recorded, read from files as the kernel writes them. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "compare/disturbed.h"

static char root[64];
static const struct disturbed_rule rule = { 0.25, 0.05, 0.02 };

static void put(const char *path, const char *text)
{
	char whole[PATH_MAX];
	FILE *file;

	for (const char *at = path + 1; (at = strchr(at, '/')); at++) {
		(void)snprintf(whole, sizeof(whole), "%s%.*s", root, (int)(at - path), path);
		(void)mkdir(whole, 0700);
	}
	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* A machine of two CPUs after @idle, @busy and @stolen seconds. */
static struct machine machine_at(unsigned idle, unsigned busy, unsigned stolen, unsigned hot,
				 unsigned held_ms)
{
	const long hz = sysconf(_SC_CLK_TCK);
	struct machine machine;
	char text[256];

	(void)snprintf(text, sizeof(text), "cpu  %ld 0 0 %ld 0 0 0 %ld 0 0\ncpu0 1 1 1\n",
		       busy * hz, idle * hz, stolen * hz);
	put("/proc/stat", text);
	(void)snprintf(text, sizeof(text), "%u\n", hot);
	put("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", text);
	put("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "7\n");
	put("/proc/self/cgroup", "12:cpu:/old\n0::/robot\n");
	(void)snprintf(text, sizeof(text), "usage_usec 1\nnr_throttled 3\nthrottled_usec %u000\n",
		       held_ms);
	put("/sys/fs/cgroup/robot/cpu.stat", text);
	machine_read(&machine, root);
	machine.now_s = machine.ours_s = 0;
	return machine;
}

static bool between(const struct machine *from, const struct machine *to, const char *says)
{
	struct meanwhile meanwhile;
	char why[128] = "";
	bool is;

	machine_between(&meanwhile, from, to);
	is = disturbed(&rule, &meanwhile, why, sizeof(why));
	if (!strstr(why, says))
		fail_msg("'%s' does not say '%s'", why, says);
	return is;
}

static void each_kind_is_found(void **state)
{
	const struct machine before = machine_at(100, 100, 5, 3, 500);
	struct machine after = machine_at(115, 105, 5, 3, 500);

	(void)state;
	after.now_s = 10;
	/* 5 of 20 s busy is a quarter, which is not more than a quarter. */
	assert_false(between(&before, &after, ""));
	after = machine_at(110, 110, 5, 3, 500);
	after.now_s = 10;
	assert_true(between(&before, &after, "other programs took 50 %"));
	after.ours_s = 9; /* it was the run itself */
	assert_false(between(&before, &after, ""));
	after = machine_at(118, 100, 7, 3, 500);
	assert_true(between(&before, &after, "other machines of the host took 10 %"));
	after = machine_at(120, 100, 5, 4, 500);
	assert_true(between(&before, &after, "too hot"));
	after = machine_at(120, 100, 5, 3, 1500);
	after.now_s = 10;
	assert_true(between(&before, &after, "for 10 % of the run"));
}

/* A machine that says nothing is not disturbed. */
static void without_any_file(void **state)
{
	struct machine before, after;

	(void)state;
	machine_read(&before, "/nonexistent");
	machine_read(&after, "/nonexistent");
	after.ours_s = before.ours_s;
	assert_false(between(&before, &after, ""));
	assert_true(after.now_s >= before.now_s);
}

static void this_machine(void **state)
{
	struct machine machine;

	(void)state;
	machine_read(&machine, "");
	assert_true(machine.all_s > 0 && machine.busy_s > 0 && machine.busy_s <= machine.all_s);
}

static int begin(void **state)
{
	(void)state;
	(void)snprintf(root, sizeof(root), "/tmp/kymo-disturbed-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_found),
		cmocka_unit_test(without_any_file),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
