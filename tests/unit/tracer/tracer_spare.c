/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* Spare blocks: rings that fill up grow and keep their order; a quiet ring keeps its own room. */
#include <pthread.h>
#include <sys/resource.h>

#include "consumer.h"
#include "inside/tracer/tracer_process.h"

#define ID KYMO_POINT_rcl_take
#define THREADS 4
#define RECORD_BYTES (KYMO_RECORD_HEADER + 8)
#define ROUNDS 40
#define BURST 6500   /* 117 KB: the four threads fill most of the spare blocks */
#define FLOOD 100000 /* more than there is room for */

struct writer {
	pthread_t thread;
	struct test_reader reader;
	uint64_t produced, recorded, seen, gaps, dropped_before;
	long faults; /* page faults while it wrote */
	unsigned burst;
};

static pthread_barrier_t written, drained;

static bool emit(uint64_t value)
{
	struct kymo_record record;

	if (!kymo_try_reserve_sp(&record, ID, 8) && !kymo__reserve(&record, ID, 8))
		return false;
	memcpy(record.at, &value, sizeof value);
	kymo_commit_sp(&record);
	return true;
}

static void check_number(void *context, unsigned id, uint64_t ns, const uint8_t *payload)
{
	struct writer *writer = context;
	uint64_t value;

	(void)id;
	(void)ns;
	memcpy(&value, payload, sizeof value);
	assert_true(value >= writer->seen);
	writer->gaps += value - writer->seen;
	writer->seen = value + 1;
}

static struct kymo_ring *ring_of(int tid)
{
	const struct test_region region = test_region_open(getpid()); /* with new rings */

	for (unsigned i = 0; i < test_head(region)->ring_count; i++)
		if (test_ring(region, i)->tid == (uint32_t)tid &&
		    test_ring(region, i)->state == KYMO_RING_OWNED)
			return test_ring(region, i);
	return NULL;
}

static long faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_minflt;
}

static void burst(struct writer *writer, unsigned count)
{
	const long before = faults();

	for (unsigned i = 0; i < count; i++)
		writer->recorded += emit(writer->produced++);
	writer->faults += faults() - before;
}

static void *write_main(void *argument)
{
	struct writer *writer = argument;

	writer->recorded += emit(writer->produced++);
	(void)faults();
	writer->reader = (struct test_reader){
		.ring = ring_of(gettid()),
		.payload = 8,
		.check = check_number,
		.context = writer,
	};
	writer->dropped_before = writer->reader.ring->dropped;
	for (int round = 0; round < ROUNDS; round++) {
		burst(writer, writer->burst);
		(void)pthread_barrier_wait(&written);
		(void)pthread_barrier_wait(&drained);
	}
	return NULL;
}

static void begin(struct writer writer[THREADS])
{
	assert_int_equal(pthread_barrier_init(&written, NULL, THREADS + 1), 0);
	assert_int_equal(pthread_barrier_init(&drained, NULL, THREADS + 1), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&writer[i].thread, NULL, write_main, &writer[i]),
				 0);
}

static void drain(struct writer writer[THREADS])
{
	(void)pthread_barrier_wait(&written);
	for (unsigned i = 0; i < THREADS; i++)
		(void)test_drain(&writer[i].reader);
	(void)pthread_barrier_wait(&drained);
}

static void finish(struct writer writer[THREADS])
{
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(writer[i].thread, NULL), 0);
}

/* Nobody reads while each thread writes four times what its ring holds; then all is read. */
static void test_rings_grow(void **state)
{
	struct writer writer[THREADS] = { 0 };

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		writer[i].burst = BURST;
	begin(writer);
	for (int round = 0; round < ROUNDS; round++)
		drain(writer);
	finish(writer);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(writer[i].recorded, writer[i].produced);
		assert_int_equal(writer[i].seen, writer[i].produced);
		assert_int_equal(writer[i].gaps, 0);
/* A sanitizer and an emulator have memory of their own. */
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__ && \
	!defined KYMO_TEST_CROSS_CMOCKA_H
		assert_in_range(writer[i].faults, 0, 8);
#endif
	}
}

/* One thread takes all that is spare, and loses events. The others have the room of their rings. */
static void test_quiet_rings_keep_theirs(void **state)
{
	struct writer writer[THREADS] = { 0 };

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		writer[i].burst =
			i ? (KYMO_LATER_RING_BYTES - KYMO_SPARE_BLOCK) / RECORD_BYTES - 8 : FLOOD;
	begin(writer);
	for (int round = 0; round < ROUNDS; round++)
		drain(writer);
	finish(writer);
	assert_true(writer[0].recorded < writer[0].produced);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(writer[i].recorded, writer[i].reader.records);
		assert_int_equal(writer[i].produced - writer[i].recorded,
				 writer[i].reader.ring->dropped - writer[i].dropped_before);
		assert_true(i == 0 || writer[i].recorded == writer[i].produced);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rings_grow),
		cmocka_unit_test(test_quiet_rings_keep_theirs),
	};
	char *directory = test_directory();
	struct test_region region;
	int failed;

	(void)kymo_thread_slot();
	region = test_region_open(getpid());
	assert_non_null(region.base);
	test_enable(region, ID, true);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	test_directory_remove(directory);
	return failed;
}
