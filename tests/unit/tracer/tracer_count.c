/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/*
 * Events that are only counted: every one is in a table or in the number of those that found no
 * place, also those of signal handlers and of threads that ended.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "consumer.h"
#include "inside/tracer/tracer_count.h"
#include "inside/tracer/tracer_process.h"

#define EVENTS 200000u
#define OBJECTS 40u

static struct test_region region;

static uint64_t key_of(unsigned number)
{
	return KYMO_COUNT_KEY(0x7f0000001000ull + number * 0x40ull, KYMO_COUNT_CALLBACK);
}

/* What all tables have of @key; 0: of all keys. */
static uint64_t counted(uint64_t key)
{
	const struct kymo_process *process = kymo_process;
	uint64_t sum = 0;

	for (unsigned i = 0; i < KYMO_RINGS_MAX; i++)
		for (unsigned k = 0; process->counts[i] && k < KYMO_COUNTS; k++)
			if (!key || process->counts[i][k].key == key)
				sum += __atomic_load_n(&process->counts[i][k].count,
						       __ATOMIC_RELAXED);
	return sum;
}

static void test_table_is_found(void **state)
{
	const struct kymo_region *header = (const struct kymo_region *)region.base;

	(void)state;
	kymo_count(key_of(0));
	kymo_count(key_of(0));
	kymo_count(key_of(1));
	assert_int_equal(counted(key_of(0)), 2);
	assert_int_equal(counted(key_of(1)), 1);
	assert_int_equal(kymo__thread->ring->count_page + KYMO_COUNT_PAGES, header->page_count);
	assert_true(header->flags & KYMO_REGION_COUNTS);
	assert_int_equal(KYMO_WORD_COUNT(kymo__thread->ring->wpos), 0); /* nothing is recorded */
}

static void *count_all(void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < EVENTS; i++)
		kymo_count(key_of(10 + i % OBJECTS));
	return NULL;
}

/* The second pair of threads gets the rings and tables of the first one. */
static void test_threads(void **state)
{
	pthread_t thread[2];

	(void)state;
	for (unsigned round = 1; round <= 2; round++) {
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, count_all, NULL), 0);
		for (unsigned i = 0; i < 2; i++)
			(void)pthread_join(thread[i], NULL);
		for (unsigned i = 0; i < OBJECTS; i++)
			assert_int_equal(counted(key_of(10 + i)), 2 * round * EVENTS / OBJECTS);
	}
}

static volatile unsigned handled;

static void on_signal(int number)
{
	(void)number;
	/* New objects in the middle of counting. */
	kymo_count(key_of(100 + handled % 30));
	handled = handled + 1;
}

static void test_handlers(void **state)
{
	const struct sigaction action = { .sa_handler = on_signal };
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	const uint64_t before = counted(0);
	uint64_t mine = 0;

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	while (handled < 2000) {
		kymo_count(key_of(100 + mine % 50));
		mine++;
	}
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(counted(0) - before, mine + handled);
}

/* A table is full at some time; what finds no place is a number of its own. */
static void test_full(void **state)
{
	const struct kymo_region *header = (const struct kymo_region *)region.base;
	const uint64_t before = counted(0);

	(void)state;
	assert_int_equal(header->uncounted, 0);
	for (unsigned i = 0; i < 3 * KYMO_COUNTS; i++)
		kymo_count(key_of(1000 + i));
	assert_true(header->uncounted > KYMO_COUNTS);
	assert_int_equal(counted(0) - before + header->uncounted, 3 * KYMO_COUNTS);
}

static void *count_one(void *argument)
{
	(void)argument;
	kymo_count(key_of(0));
	return NULL;
}

/* A new thread, which takes the ring and the table of the one before. */
static void count_in_thread(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, count_one, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* As a recorder does, with a lock like that of its claim, or without: it was killed. */
static void count_for_recorder(uint32_t state, bool lives, uint8_t enable, uint32_t after)
{
	struct kymo_region *header = kymo_process->region;
	uint8_t *byte = (uint8_t *)header + KYMO_ENABLE_PAGE * KYMO_PAGE;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = KYMO_LOCK_CLAIM,
			      .l_len = 1 };
	const int fd = open(kymo_process->path, O_RDWR | O_CLOEXEC);
	const uint64_t before = counted(key_of(0));

	assert_true(fd >= 0);
	if (lives)
		assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	byte[100] = KYMO_ENABLE_COUNT;
	byte[101] = KYMO_ENABLE_YES;
	header->state = state;
	count_in_thread();
	assert_int_equal(byte[100], enable);
	assert_int_equal(byte[101], KYMO_ENABLE_YES);
	assert_int_equal(header->state, after);
	assert_int_equal(counted(key_of(0)), before + 1);
	/* Its own lock is gone: a recorder may claim the region. */
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	assert_int_equal(close(fd), 0);
}

/* A thread that begins to count finds that nobody reads it. */
static void test_left_behind(void **state)
{
	(void)state;
	count_for_recorder(KYMO_STATE_PREPARE, true, KYMO_ENABLE_COUNT, KYMO_STATE_PREPARE);
	count_for_recorder(KYMO_STATE_RECORD, false, KYMO_ENABLE_COUNT, KYMO_STATE_RECORD);
	count_for_recorder(KYMO_STATE_PREPARE, false, KYMO_ENABLE_NO, KYMO_STATE_WAIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_found),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_handlers),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_left_behind),
	};
	char *directory = test_directory();
	int failed;

	if (!kymo_thread_slot())
		return 1;
	region = test_region_open(getpid());
	if (!region.base)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	test_directory_remove(directory);
	return failed;
}
