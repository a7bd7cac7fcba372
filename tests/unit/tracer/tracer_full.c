/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/*
 * A runtime directory that fills up: no SIGBUS, every event that found no place is counted.
 * Needs to mount a tmpfs of its own; skipped where that is not permitted.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mount.h>

#include "consumer.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_ring.h"

#define ID KYMO_POINT_rcl_take
#define THREADS 8

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

static uint64_t facts(unsigned count)
{
	uint64_t kept = 0;

	for (unsigned i = 0; i < count; i++) {
		struct kymo_fact fact;

		if (!kymo__log_reserve(&fact, KYMO_POINT_rcl_init, 1000))
			continue;
		memset(fact.payload, 2, 1000);
		kymo__log_commit(&fact);
		kept++;
	}
	return kept;
}

static void *thread_main(void *argument)
{
	uint64_t *recorded = argument;

	for (int i = 0; i < 10; i++)
		*recorded += emit();
	return NULL;
}

/* More threads at once than rings that fit: each event is recorded or counted. */
static void test_no_room_for_rings(void **state)
{
	uint64_t recorded[THREADS] = { 0 }, dropped, sum = 0;
	struct test_region region;
	pthread_t thread[THREADS];

	(void)state;
	assert_int_equal(facts(1), 1);
	region = test_region_open(getpid());
	test_enable(region, ID, true);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, thread_main, &recorded[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
	test_enable(region, ID, false);
	dropped = test_head(region)->dropped_no_ring;
	for (unsigned i = 0; i < THREADS; i++)
		sum += recorded[i];
	/* No third one fits into this tmpfs. */
	assert_true(test_head(region)->ring_count == 2);
	assert_int_equal(sum + dropped, THREADS * 10);
	assert_true(sum > 0);
}

static void test_no_room_for_facts(void **state)
{
	struct test_region region = test_region_open(getpid());
	uint64_t kept;

	(void)state;
	kept = facts(1000);
	assert_true(kept > 0);
	assert_int_equal(kept + test_head(region)->log_dropped, 1000);
	assert_true(test_head(region)->log_dropped > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_room_for_rings),
		cmocka_unit_test(test_no_room_for_facts),
	};
	char *directory = test_directory();
	int failed;

	if (mount("tmpfs", directory, "tmpfs", 0, "size=348k,mode=0700")) {
		(void)printf("skipped: mounting a tmpfs: %s\n", strerror(errno));
		(void)rmdir(directory);
		return 77;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)umount2(directory, MNT_DETACH);
	(void)rmdir(directory);
	return failed;
}
