/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* kymo_thread_prepare(): a burst that the usual ring loses fits into the ring that the thread asked
 * for. */
#include <errno.h>
#include <pthread.h>

#include "consumer.h"
#include "inside/tracer/tracer_process.h"
#include "kymo/thread.h"

#define ID KYMO_POINT_rcl_take
#define RECORD_BYTES (KYMO_RECORD_HEADER + 8)
#define RING (2u << 20)
#define BURST \
	(RING / RECORD_BYTES / 10 * 9) /* 1.9 MB: more than the usual ring and all spare blocks */

struct burst {
	struct kymo_thread_options options;
	int prepared, again;
	uint64_t produced, recorded, read;
	uint32_t ring, blocks;
};

static struct test_region region;

static bool emit(uint64_t value)
{
	struct kymo_record record;

	if (!kymo_try_reserve_sp(&record, ID, 8) && !kymo__reserve(&record, ID, 8))
		return false;
	memcpy(record.at, &value, sizeof value);
	kymo_commit_sp(&record);
	return true;
}

/* Events that are recorded come whole and in order. */
static void check_number(void *context, unsigned id, uint64_t ns, const uint8_t *payload)
{
	const struct burst *burst = context;
	uint64_t value;

	(void)ns;
	memcpy(&value, payload, sizeof value);
	assert_int_equal(id, ID);
	assert_true(value < burst->produced);
}

/* Nobody reads while the thread writes. */
static void *burst_main(void *argument)
{
	struct burst *burst = argument;
	struct test_reader reader = { .payload = 8, .check = check_number, .context = burst };
	uint64_t dropped;

	burst->prepared = kymo_thread_prepare(&burst->options);
	burst->produced++;
	burst->recorded += emit(0);
	burst->again = kymo_thread_prepare(&burst->options);
	reader.ring = test_ring(test_region_open(getpid()), kymo__thread->number);
	dropped = reader.ring->dropped;
	while (burst->produced < BURST)
		burst->recorded += emit(burst->produced++);
	assert_int_equal(burst->produced - burst->recorded, reader.ring->dropped - dropped);
	burst->ring = reader.ring->number;
	burst->blocks = reader.ring->block_count * reader.ring->block_size;
	burst->read = test_drain(&reader);
	return NULL;
}

static struct burst in_thread(uint64_t bytes, bool own_only)
{
	struct burst burst = { .options = { sizeof(struct kymo_thread_options), bytes, own_only } };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, burst_main, &burst), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(burst.read, burst.recorded);
	assert_int_equal(burst.again, -EALREADY);
	return burst;
}

static void test_burst(void **state)
{
	const struct burst usual = in_thread(0, false), asked = in_thread(RING - 5000, false);

	(void)state;
	assert_int_equal(usual.prepared, 0);
	assert_true(usual.recorded < usual.produced / 2);
	assert_int_equal(asked.prepared, 0);
	assert_int_equal(asked.blocks, RING);
	assert_int_equal(asked.recorded, asked.produced);
}

/* What is full does not take what the others share. */
static void test_own_only(void **state)
{
	const struct burst usual = in_thread(32 << 10, false), own = in_thread(32 << 10, true);
	const uint64_t room = (32u << 10) / RECORD_BYTES;

	(void)state;
	assert_int_equal(own.prepared, 0);
	assert_in_range(own.recorded, room / 2, room);
	assert_true(usual.recorded > own.recorded * 8);
}

/* The ring waits for the next thread that asks; others get the usual rings. */
static void test_given_again(void **state)
{
	const struct burst first = in_thread(RING, false), other = in_thread(0, false),
			   second = in_thread(RING, false);

	(void)state;
	assert_int_equal(first.ring, second.ring);
	assert_int_not_equal(first.ring, other.ring);
	assert_int_equal(second.recorded, second.produced);
}

static void test_refused(void **state)
{
	const struct kymo_thread_options old = { .size = sizeof old - 4 },
					 huge = { .size = sizeof huge, .ring_bytes = 2ull << 30 };
	const uint32_t rings = test_head(region)->ring_count;
	struct burst burst;

	(void)state;
	assert_int_equal(kymo_thread_prepare(NULL), -EINVAL);
	assert_int_equal(kymo_thread_prepare(&old), -EINVAL);
	assert_int_equal(kymo_thread_prepare(&huge), -EINVAL);
	burst = in_thread(128 << 20, true); /* more than $KYMO_RING_MEMORY */
	assert_int_equal(burst.prepared, -ENOMEM);
	assert_int_equal(test_head(region)->ring_count, rings);
	assert_true(burst.recorded > 1000); /* with the usual ring, which grows */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_own_only),
		cmocka_unit_test(test_given_again),
		cmocka_unit_test(test_refused),
	};
	char *directory = test_directory();
	int failed;

	(void)kymo_thread_slot();
	region = test_region_open(getpid());
	assert_non_null(region.base);
	test_enable(region, ID, true);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	test_directory_remove(directory);
	return failed;
}
