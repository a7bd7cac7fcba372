/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* The program's own switches and flags, seen from the hooks' side and from the region's. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "consumer.h"
#define KYMO_REGISTER_LATE	/* not before there is a directory */
#include "kymo/kymo.h"
#include "inside/tracer/tracer_process.h"

#define ID KYMO_POINT_rcl_take

/* As a hook does it. */
static bool emit(void)
{
	struct kymo_record record;

	if (!kymo_enabled(ID))
		return false;
	if (!kymo_try_reserve_sp(&record, ID, 8) && !kymo__reserve(&record, ID, 8))
		return false;
	memset(record.at, 1, 8);
	kymo_commit_sp(&record);
	return true;
}

static void test_before_registration(void **state)
{
	struct test_region region;

	(void)state;
	kymo_set_enabled(false);
	kymo_snapshot();
	kymo_snapshot();
	assert_false(emit());		/* does not even register */
	assert_null(test_region_open(getpid()).base);
	assert_true(kymo_thread_ready());
	region = test_region_open(getpid());
	assert_non_null(region.base);
	assert_int_equal(test_head(region)->snapshots_wanted, 2);
	kymo_snapshot();
	assert_int_equal(test_head(region)->snapshots_wanted, 3);
	test_enable(region, ID, true);
	assert_false(emit());
	kymo_set_enabled(true);
	assert_true(emit());
	test_enable(region, ID, false);
	kymo_set_enabled(false);
	kymo_set_enabled(true);
	assert_false(emit());
}

static void test_children(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	kymo_set_enabled(false);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct test_region region;

		kymo_snapshot();
		if (!kymo_thread_ready() || emit())
			_exit(1);
		region = test_region_open(getpid());
		_exit(region.base && test_head(region)->snapshots_wanted == 1 ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	kymo_set_enabled(true);
	assert_int_equal(test_head(test_region_open(getpid()))->snapshots_wanted, 3);
}

/* Whatever comes together, the last word counts. */
static void *flip(void *argument)
{
	atomic_bool *stop = argument;

	for (unsigned i = 0; !*stop; i++)
		kymo_set_enabled(i & 1);
	return NULL;
}

static void test_together(void **state)
{
	struct test_region region = test_region_open(getpid());
	const uint8_t *bytes = kymo_recorder_bytes;
	atomic_bool stop = false;
	pthread_t thread[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, flip, &stop), 0);
	for (unsigned i = 0; i < 100000; i++) {
		kymo_switch_bytes(bytes);
		kymo_set_enabled(i & 1);
	}
	stop = true;
	for (unsigned i = 0; i < 2; i++)
		(void)pthread_join(thread[i], NULL);
	test_enable(region, ID, true);
	assert_int_equal(emit(), !kymo_switch_off());
	kymo_set_enabled(false);
	assert_false(emit());
	kymo_set_enabled(true);
	assert_true(emit());
	test_enable(region, ID, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_registration),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_together),
	};
	char *directory = test_directory();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	test_directory_remove(directory);
	return failed;
}
