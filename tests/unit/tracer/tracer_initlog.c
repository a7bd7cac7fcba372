/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* The init log: nothing lost, log order is time order, growth, and what happens when it cannot
 * grow. */
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include "consumer.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_process.h"
#include "inside/tracer/tracer_ring.h"

#define THREADS 4
#define FACTS_EACH 25000
/* Without LIFE: only what is the same is replaced. */
#define ID KYMO_POINT_message_link_partial_sync

static void *facts(void *argument)
{
	const uint64_t thread = (uint64_t)(uintptr_t)argument;

	for (uint64_t i = 0; i < FACTS_EACH; i++) {
		const size_t size = 16 + i % 200;
		struct kymo_fact fact;

		if (!kymo__log_reserve(&fact, ID, size))
			continue;
		memset(fact.payload, (int)(i & 0xff), size);
		memcpy(fact.payload, &thread, 8);
		memcpy(fact.payload + 8, &i, 8);
		kymo__log_commit(&fact);
	}
	return NULL;
}

static uint8_t *chunk(struct test_region region, uint64_t index)
{
	const uint32_t *page = (const uint32_t *)(region.base + KYMO_LOG_DIR_PAGE * KYMO_PAGE);

	assert_true(index < test_head(region)->log_chunk_count);
	assert_true((size_t)page[index] * KYMO_PAGE + KYMO_LOG_CHUNK <= region.size);
	return region.base + (size_t)page[index] * KYMO_PAGE;
}

/* Walk the log as a reader does. Return: records that are facts. */
static uint64_t walk(struct test_region region, uint64_t from, uint64_t *next_of)
{
	const uint64_t tail = test_head(region)->log_tail;
	uint64_t at = from, count = 0, last_ns = 0;

	while (at < tail) {
		const uint64_t offset = at % KYMO_LOG_CHUNK;
		struct kymo_log_record *record =
			(void *)(chunk(region, at / KYMO_LOG_CHUNK) + offset);
		uint64_t thread, value;

		if (KYMO_LOG_CHUNK - offset < sizeof *record) {
			at += KYMO_LOG_CHUNK - offset;
			continue;
		}
		assert_true(record->stamp == (KYMO_LOG_STAMP ^ at));
		assert_true(record->size % 8 == 0 && offset + record->size <= KYMO_LOG_CHUNK);
		at += record->size;
		if (record->id == KYMO_LOG_PAD)
			continue;
		/* Clocks of threads differ a little. */
		assert_true(record->ns + TEST_CLOCK_NS >= last_ns);
		last_ns = record->ns;
		memcpy(&thread, record->payload, 8);
		memcpy(&value, record->payload + 8, 8);
		assert_true(thread <= THREADS);
		assert_int_equal(value, next_of[thread]);
		next_of[thread]++;
		assert_int_equal(record->payload_size, 16 + value % 200);
		if (record->payload_size > 16)
			assert_int_equal(record->payload[16], value & 0xff);
		count++;
	}
	return count;
}

static void test_many_threads(void **state)
{
	uint64_t next_of[THREADS + 1] = { 0 };
	struct test_region region;
	pthread_t thread[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, facts, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
	region = test_region_open(getpid());
	assert_non_null(region.base);
	assert_int_equal(test_head(region)->log_dropped, 0);
	assert_int_equal(walk(region, 0, next_of), THREADS * FACTS_EACH);
	assert_int_equal((size_t)test_head(region)->page_count * KYMO_PAGE, region.size);
}

/* A limit on file size must neither kill the program (SIGXFSZ) nor lose facts uncounted. */
/* When a full file system got room again, the last growth can be smaller than what must stay free.
 */
static void test_grows_by_too_little(void **state)
{
	struct kymo_process *process = kymo_process;
	const uint32_t spare = process->log_free_count, chunks = process->region->log_chunk_count;
	const uint64_t size = kymo_settings.log_size;

	(void)state;
	kymo_settings.log_size = (process->log_memory + 1ull - KYMO_LOG_SPARE) * KYMO_LOG_CHUNK;
	process->log_free_count = 0;
	assert_true(kymo_region_lock(process));
	assert_int_equal(kymo_region_add_log_chunk(process, KYMO_LOG_SPARE), -ENOSPC);
	kymo_region_unlock(process);
	assert_int_equal(process->region->log_chunk_count, chunks);
	kymo_settings.log_size = size;
	process->log_free_count = spare;
}

static void test_cannot_grow(void **state)
{
	struct test_region region = test_region_open(getpid());
	struct rlimit old, small = { 0 };
	const uint64_t from = test_head(region)->log_tail;
	uint64_t next_of[THREADS + 1] = { 0 }, kept;
	pthread_t thread;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_cur = region.size;
	small.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(pthread_create(&thread, NULL, facts, (void *)THREADS), 0);
	(void)pthread_join(thread, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_true(test_head(region)->log_dropped > 0);
	kept = walk(region, from, next_of);
	assert_int_equal(kept + test_head(region)->log_dropped, FACTS_EACH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_grows_by_too_little),
		cmocka_unit_test(test_cannot_grow),
	};
	char *directory = test_directory();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	test_directory_remove(directory);
	return failed;
}
