/* SPDX-License-Identifier: Apache-2.0 */
/* Files of processes that were killed while they registered: who is dead by the rule for regions
 * goes. */
#include <sys/wait.h>

#include "consumer.h"
#include "recorder/runtime/domain.h"
#define KYMO_REGISTER_LATE	/* not before there is a directory */
#include "kymo/kymo.h"
#include "inside/tracer/tracer_process.h"

static char *directory;

__attribute__((format(printf, 3, 4)))
static void leave(char *name, size_t size, const char *format, ...)
{
	char path[512];
	va_list args;
	int fd;

	va_start(args, format);
	(void)vsnprintf(name, size, format, args);
	va_end(args);
	(void)snprintf(path, sizeof path, "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
}

static bool is_there(const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof path, "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

/* A child that does what @run says, and ends. */
static pid_t child(int (*run)(void))
{
	const pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(run ? run() : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return pid;
}

static int registers(void)
{
	return kymo_thread_ready() ? 0 : 1;
}

static void check_sweep(void)
{
	const unsigned long long own = kymo_own_pid_ns(), start = kymo_own_start_time();
	const pid_t dead = child(NULL);
	char gone[3][64], kept[4][64];

	leave(gone[0], sizeof gone[0], "%d-%llu-%llx.region.new", dead, start, own);
	leave(gone[1], sizeof gone[1], "%d-%llu-%llx.1.region.new", dead, start, own);
	leave(gone[2], sizeof gone[2], "%d-%llu-%llx.region.new", getpid(), start - 1, own);
	leave(kept[0], sizeof kept[0], "%d-%llu-%llx.region.new", getpid(), start, own);
	leave(kept[1], sizeof kept[1], "%d-%llu-%llx.region.new", dead, start, own + 1);
	leave(kept[2], sizeof kept[2], "%d-%llu.region.new", dead, start);
	leave(kept[3], sizeof kept[3], "%d-%llu-%llx.new", dead, start, own);
	(void)child(registers);
	for (unsigned i = 0; i < 3; i++)
		assert_false(is_there(gone[i]));
	for (unsigned i = 0; i < 4; i++)
		assert_true(is_there(kept[i]));
	test_directory_empty(directory);
}

static void test_nobody_records(void **state)
{
	(void)state;
	check_sweep();
}

static void test_somebody_records(void **state)
{
	struct rundir dir;
	struct domain domain;
	struct kymo_err err;

	(void)state;
	assert_int_equal(rundir_open(&dir, NULL, true, &err), 0);
	assert_int_equal(domain_claim(&domain, &dir, &err), 0);
	domain_announce(&domain, KYMO_STATE_RECORD, false, 0, 1, "/tmp/trace");
	check_sweep();
	domain_switch(&domain, KYMO_STATE_WAIT);
	domain_release(&domain);
	rundir_close(&dir);
}

/* What exec() left of the very process, in the middle of its registration, is not in its way. */
static int registers_again(void)
{
	char name[64];

	leave(name, sizeof name, "%d-%llu-%llx.region.new", getpid(), (unsigned long long)kymo_own_start_time(),
	      (unsigned long long)kymo_own_pid_ns());
	return !kymo_thread_ready() || is_there(name) || !test_region_open(getpid()).base;
}

static void test_own_earlier_image(void **state)
{
	(void)state;
	(void)child(registers_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_records),
		cmocka_unit_test(test_somebody_records),
		cmocka_unit_test(test_own_earlier_image),
	};
	int failed;

	directory = test_directory();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	test_directory_remove(directory);
	return failed;
}
