/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* Copies of a region that is written, and overwritten, at that moment. */
#include <pthread.h>
#include <sched.h>

#include "producer.h"
#include "recorder/session/freeze.h"

struct bench {
	char run[64];
	struct rundir dir;
	struct producer producer;
	struct region region;
};

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof *bench);
	struct kymo_err err;

	snprintf(bench->run, sizeof bench->run, "/dev/shm/kymo-test-XXXXXX");
	if (!mkdtemp(bench->run))
		return -1;
	producer_open_as(&bench->producer, bench->run, getpid(), alive_start_time(getpid()), "1-1.region");
	memset(producer_page(&bench->producer, KYMO_ENABLE_PAGE), 1, KYMO_PAGE);
	bench->producer.region->mode = KYMO_MODE_OVERWRITE;
	*state = bench;
	return rundir_open(&bench->dir, bench->run, false, &err) ||
	       region_open(&bench->region, &bench->dir, "1-1.region", false, &err);
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	char command[128];
	int rc;

	region_close(&bench->region);
	rundir_close(&bench->dir);
	producer_close(&bench->producer);
	snprintf(command, sizeof command, "rm -rf '%s'", bench->run);
	rc = system(command);
	free(bench);
	return rc;
}

/* ---- a producer that overwrites, from src/abi/region.h ---- */

/* TSan knows no fences; it runs on x86-64, where an exchange is one. */
static void store_before(uint64_t *word, uint64_t value)
{
	(void)__atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

/* callback_end(@value), every third with a symbol instead, so that records differ in size. */
static void overwrite(struct kymo_ring *ring, uint64_t value)
{
	const uint16_t id =
		value % 3 ? KYMO_POINT_callback_end : KYMO_POINT_rclcpp_executor_wait_for_work;
	uint64_t word = ring->wpos, position = KYMO_WORD_POS(word),
		 number = position / ring->block_size;
	uint64_t ns = producer_now(), count = KYMO_WORD_COUNT(word);
	const size_t size = KYMO_RECORD_HEADER + sizeof value;
	uint8_t *at;

	if (!position || position % ring->block_size + size >= ring->block_size) {
		struct kymo_block *block = (void *)producer_at(ring, number * ring->block_size);
		uint64_t before = 0;

		if (position) {
			block->used = (uint32_t)(position % ring->block_size);
			block->records = (uint32_t)count;
			before = block->records_before + count;
			number++;
		}
		block = (void *)producer_at(ring, number * ring->block_size);
		store_before(&block->seq, number + 1);
		block->used = block->records = 0;
		block->ts_first = ring->lastts;
		block->records_before = before;
		block->owner_seq = ring->owner_seq;
		position = number * ring->block_size + sizeof *block;
		count = 0;
	}
	at = producer_at(ring, position);
	memcpy(at, &id, sizeof id);
	memcpy(at + 2, &ns, sizeof ns);
	memcpy(at + KYMO_RECORD_HEADER, &value, sizeof value);
	__atomic_store_n(&ring->lastts, ns, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->wpos, KYMO_WORD(position + size, count + 1), __ATOMIC_RELEASE);
}

/* ---- what a copy holds ---- */

struct content {
	uint64_t first, records, bytes;
};

static uint64_t u64_at(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

/* Walks a ring of the copy by the ABI: every record is whole and one more than its predecessor. */
static struct content check_ring(const struct region *copy, unsigned index)
{
	const uint32_t *page = region_page(copy, KYMO_RING_DIR_PAGE, 2);
	const struct kymo_ring *ring = region_page(copy, page[index], 1);
	const uint64_t size = ring->block_size, end = KYMO_WORD_POS(ring->wpos);
	struct content content = { .first = UINT64_MAX };
	uint64_t last_ns = 0;

	assert_true(ring->rpos <= end && end - ring->rpos <= size * ring->block_count);
	for (uint64_t at = ring->rpos; at < end; at = (at / size + 1) * size) {
		const uint64_t start = at / size * size;
		const struct kymo_block *block = (const void *)producer_at(ring, start);
		const uint64_t stop = end < start + size ? end : start + block->used;
		uint64_t in_block = content.records;

		assert_int_equal(block->seq, start / size + 1);
		assert_true(stop <= start + size);
		if (at == start)
			at += sizeof *block;
		for (; at < stop; at += KYMO_RECORD_HEADER + 8) {
			const uint8_t *record = producer_at(ring, at);
			const uint64_t value = u64_at(record + KYMO_RECORD_HEADER),
				       ns = u64_at(record + 2);
			uint16_t id;

			memcpy(&id, record, sizeof id);
			if (!content.records)
				content.first = value;
			assert_int_equal(value, content.first + content.records);
			assert_int_equal(id, value % 3 ? KYMO_POINT_callback_end :
					 KYMO_POINT_rclcpp_executor_wait_for_work);
			assert_true(ns >= last_ns && ns <= ring->lastts);
			last_ns = ns;
			content.records++;
			content.bytes += KYMO_RECORD_HEADER + 8;
		}
		assert_int_equal(at, stop);
		in_block = content.records - in_block;
		if (start + sizeof *block >= ring->rpos)
			assert_int_equal(in_block, end < start + size ? KYMO_WORD_COUNT(ring->wpos)
								      : block->records);
		at = start;
	}
	return content;
}

struct running {
	struct kymo_ring *ring;
	uint64_t produced;		/* complete so far */
	bool stop;
};

static void *produce(void *argument)
{
	struct running *running = argument;

	for (uint64_t i = 0; !__atomic_load_n(&running->stop, __ATOMIC_RELAXED); i++) {
		overwrite(running->ring, i);
		__atomic_store_n(&running->produced, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void a_ring_that_is_overwritten_at_full_speed(void **state)
{
	const char *longer = getenv("KYMO_TEST_COPIES");
	const unsigned copies = longer ? (unsigned)atoi(longer) : 3000;
	struct bench *bench = *state;
	struct running running = { .ring = bench->producer.ring[0] };
	uint64_t last = 0, most = 0, least = UINT64_MAX;
	unsigned empty = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, produce, &running), 0);
	while (__atomic_load_n(&running.produced, __ATOMIC_ACQUIRE) < 5000)
		(void)sched_yield();
	for (unsigned i = 0; i < copies; i++) {
		uint64_t before = __atomic_load_n(&running.produced, __ATOMIC_ACQUIRE);
		struct freeze_stats stats;
		struct content content;
		struct region copy;
		struct kymo_err err;

		assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
		content = check_ring(&copy, 0);
		assert_int_equal(stats.rings + stats.missed, 1);
		assert_int_equal(region_header(&copy)->mode, KYMO_MODE_DISCARD);
		empty += !content.records;
		if (content.records) {
			assert_int_equal(stats.overwritten, content.first);
			/* What had been committed before we began is there or was overwritten
			 * since. */
			assert_true(content.first + content.records >= before);
			assert_true(content.first + content.records >= last);
			last = content.first + content.records;
			most = content.records > most ? content.records : most;
			least = content.records < least ? content.records : least;
		}
		region_close(&copy);
	}
	__atomic_store_n(&running.stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	print_message("%u copies, %u of them empty, %llu to %llu records each, %llu produced\n",
		      copies, empty, (unsigned long long)least, (unsigned long long)most,
		      (unsigned long long)running.produced);
	assert_true(empty < copies / 2);
	assert_true(most > 500);
}

/* At rest the copy holds everything that a ring has room for. */
static void all_of_a_ring_that_rests(void **state)
{
	struct bench *bench = *state;
	const unsigned in_block =
		(PRODUCER_BLOCK - sizeof(struct kymo_block) - 1) / (KYMO_RECORD_HEADER + 8);
	struct freeze_stats stats;
	struct content content;
	struct region copy;
	struct kymo_err err;

	for (unsigned i = 0; i < 10 * in_block; i++) {
		uint64_t full = i / in_block + 1, expected = i + 1;

		overwrite(bench->producer.ring[1], i);
		if (full > PRODUCER_BLOCKS)
			expected -= (full - PRODUCER_BLOCKS) * in_block;
		assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
		content = check_ring(&copy, 1);
		assert_int_equal(content.records, expected);
		assert_int_equal(stats.overwritten, i + 1 - expected);
		assert_int_equal(stats.rings, 1);
		region_close(&copy);
	}
}

/* In DISCARD somebody reads: what he has taken is not taken again. */
static void what_is_unread_of_a_ring_with_a_reader(void **state)
{
	struct bench *bench = *state;
	struct kymo_ring *ring = bench->producer.ring[0];
	struct freeze_stats stats;
	struct region copy;
	struct kymo_err err;

	bench->producer.region->mode = KYMO_MODE_DISCARD;
	for (unsigned i = 0; i < 300; i++)
		overwrite(ring, i);
	ring->rpos = sizeof(struct kymo_block) + 100 * (KYMO_RECORD_HEADER + 8);
	assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
	assert_int_equal(check_ring(&copy, 0).first, 100);
	assert_int_equal(check_ring(&copy, 0).records, 200);
	assert_int_equal(stats.overwritten, 0);
	region_close(&copy);
	ring->rpos = KYMO_WORD_POS(ring->wpos);
	assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
	assert_int_equal(check_ring(&copy, 0).records, 0);
	assert_int_equal(stats.rings, 0);
	region_close(&copy);
}

/* A producer that died between a block's beginning and its first record, or between two stores. */
static void a_producer_that_stands_still_anywhere(void **state)
{
	struct bench *bench = *state;
	struct kymo_ring *ring = bench->producer.ring[0];
	struct freeze_stats stats;
	struct kymo_block *next;
	struct region copy;
	struct kymo_err err;
	uint64_t i = 0, kept;

	while (KYMO_WORD_POS(ring->wpos) < 6 * PRODUCER_BLOCK - 20)
		overwrite(ring, i++);
	next = (void *)producer_at(ring, 6 * PRODUCER_BLOCK);
	assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
	kept = check_ring(&copy, 0).records;
	region_close(&copy);
	next->seq = 7;			/* the oldest block's place: it is gone with this store */
	ring->nseq = 1;
	ring->nest = 1;
	assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
	assert_true(check_ring(&copy, 0).records < kept);
	assert_int_equal(check_ring(&copy, 0).first + check_ring(&copy, 0).records, i);
	region_close(&copy);
}

/* Whatever stands in the region, the copy is made or refused, and nothing is read beyond it. */
static void numbers_that_make_no_sense(void **state)
{
	struct bench *bench = *state;
	struct kymo_ring *ring = bench->producer.ring[0];
	uint32_t *page = producer_page(&bench->producer, KYMO_RING_DIR_PAGE);
	struct freeze_stats stats;
	struct region copy;
	struct kymo_err err;

	for (unsigned i = 0; i < 1000; i++)
		overwrite(ring, i);
	ring->block_size = 12345;
	page[1] = 1u << 30;
	bench->producer.region->ring_count = UINT32_MAX;
	bench->producer.region->log_chunk_count = UINT32_MAX;
	producer_page(&bench->producer, KYMO_LOG_DIR_PAGE)[1] = UINT32_MAX;
	bench->producer.region->log_tail = UINT64_MAX;
	assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
	assert_int_equal(stats.refused, 2);
	region_close(&copy);
	ring->block_size = PRODUCER_BLOCK;
	ring->block_count = 1u << 20;
	ring->wpos = UINT64_MAX;
	assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
	region_close(&copy);
	ring->block_count = PRODUCER_BLOCKS;
	assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
	assert_int_equal(stats.missed, 1);
	region_close(&copy);
	bench->producer.region->page_count = UINT32_MAX;
	assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), -1);
	assert_non_null(strstr(err.text, "1-1.region"));
}

static void all_of_an_init_log(void **state)
{
	struct bench *bench = *state;
	struct freeze_stats stats;
	struct region copy;
	struct kymo_err err;

	for (unsigned i = 0; i < 1000; i++)
		producer_init(&bench->producer, i, "void (Some::callback)(With, A, Long, List, Of, Arguments)");
	assert_int_equal(freeze_region(&bench->region, &copy, &stats, &err), 0);
	assert_int_equal(region_header(&copy)->log_tail, bench->producer.region->log_tail);
	assert_memory_equal(copy.base + KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE,
			    bench->producer.base + KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE,
			    bench->producer.region->log_tail);
	region_close(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_ring_that_is_overwritten_at_full_speed),
		TEST(all_of_a_ring_that_rests),
		TEST(what_is_unread_of_a_ring_with_a_reader),
		TEST(a_producer_that_stands_still_anywhere),
		TEST(numbers_that_make_no_sense),
		TEST(all_of_an_init_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
