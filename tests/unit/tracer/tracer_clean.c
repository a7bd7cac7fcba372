/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/*
 * Cleaning the init log, in one of the least size: what holds is there, the rest is forgotten when
 * nobody may need it, counted when somebody did, and nothing stops it for good.
 */
#include <pthread.h>

#include "abi/life.h"
#include "consumer.h"
#include "inside/tracer/tracer_initlog_internal.h"

#define ID KYMO_POINT_rcl_timer_init	/* its first field is its key */
#define PAYLOAD 64
#define KEYS 200
#define THREADS 4
#define ROUNDS 20000
#define RECORD_BYTES (sizeof(struct kymo_log_record) + PAYLOAD)

static void put(uint64_t key, uint64_t value)
{
	struct kymo_fact fact;

	if (!kymo__log_reserve(&fact, ID, PAYLOAD))
		return;
	memset(fact.payload, 0, PAYLOAD);
	memcpy(fact.payload, &key, 8);
	memcpy(fact.payload + 8, &value, 8);
	kymo__log_commit(&fact);
}

static struct kymo_region *region(void)
{
	return kymo_process->region;
}

/* What the log has: newest value and number of facts of each key, by origin. */
struct contents {
	uint64_t value[KEYS + 1], origin[KEYS + 1], facts[KEYS + 1], all;
};

static void look(struct contents *contents)
{
	struct test_region mapped = test_region_open(getpid());
	const uint32_t *page = (const uint32_t *)(mapped.base + KYMO_LOG_DIR_PAGE * KYMO_PAGE);
	uint64_t at = region()->log_head;

	memset(contents, 0, sizeof *contents);
	while (at < region()->log_tail) {
		const uint64_t chunk = at / KYMO_LOG_CHUNK % KYMO_LOG_CHUNKS_MAX,
			       rest = KYMO_LOG_CHUNK - at % KYMO_LOG_CHUNK;
		const struct kymo_log_record *record =
			(const void *)(mapped.base + (size_t)page[chunk] * KYMO_PAGE +
				       at % KYMO_LOG_CHUNK);
		uint64_t key, value;

		if (rest < sizeof *record) {
			at += rest;
			continue;
		}
		if (record->stamp != (KYMO_LOG_STAMP ^ at)) {	/* a hole */
			at += 8;
			continue;
		}
		assert_true(record->size <= rest && record->origin <= at);
		at += record->size;
		if (record->id != ID)
			continue;
		memcpy(&key, record->payload, 8);
		memcpy(&value, record->payload + 8, 8);
		assert_true(key <= KEYS);
		contents->all++;
		contents->facts[key]++;
		if (record->origin >= contents->origin[key]) {
			contents->origin[key] = record->origin;
			contents->value[key] = value;
		}
	}
	(void)munmap(mapped.base, mapped.size);
}

static void in_state(enum kymo_state state, enum kymo_mode mode, uint64_t taken)
{
	region()->mode = mode;
	region()->log_taken = region()->log_settled = taken;
	__atomic_store_n(&region()->state, state, __ATOMIC_RELEASE);
}

/* As if nobody had been there before: everything is forgotten. */
static void empty(void)
{
	in_state(KYMO_STATE_WAIT, KYMO_MODE_DISCARD, 0);
	for (uint64_t key = 0; key < KEYS; key++)
		kymo__log_gone(KYMO_ENTITY_TIMER, key);
	for (unsigned i = 0; i < 4000; i++)
		put(0, 0);
	kymo__log_gone(KYMO_ENTITY_TIMER, 0);
	region()->log_dropped = 0;
}

static uint64_t used(void)
{
	return region()->log_tail - region()->log_head;
}

static void the_latest_of_each(void **state)
{
	struct contents contents;
	uint32_t pages = 0;

	(void)state;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		put(i % KEYS, i);
		if (i == ROUNDS / 2)
			pages = region()->page_count;
		assert_true(used() <= KYMO_LOG_SIZE_MIN + KYMO_LOG_SPARE * KYMO_LOG_CHUNK);
	}
	assert_int_equal(region()->page_count, pages);
	assert_int_equal(region()->log_dropped, 0);
	assert_true(region()->log_head > 0);
	look(&contents);
	assert_int_equal(contents.facts[KEYS], 1);
	/* Copied often: it still says where it was first. */
	assert_int_equal(contents.origin[KEYS], 0);
	for (uint64_t key = 0; key < KEYS; key++)
		assert_int_equal(contents.value[key], ROUNDS - KEYS + key);
	empty();
	look(&contents);
	assert_true(contents.all < 3000);
}

/* What nobody has read is kept as long as there is room for it, and counted then. */
static void a_reader_that_lags(void **state)
{
	struct contents contents;
	uint64_t from;

	(void)state;
	empty();
	look(&contents);
	from = contents.all;
	in_state(KYMO_STATE_RECORD, KYMO_MODE_DISCARD, region()->log_tail);
	for (uint64_t i = 0; i < ROUNDS; i++)
		put(i % KEYS, i);
	look(&contents);
	assert_true(region()->log_dropped > 0);
	assert_in_range(contents.all + region()->log_dropped, ROUNDS, ROUNDS + from);
	for (uint64_t key = 0; key < KEYS; key++)
		assert_int_equal(contents.value[key], ROUNDS - KEYS + key);
}

static void a_reader_that_keeps_up(void **state)
{
	struct contents contents;

	(void)state;
	empty();
	for (uint64_t i = 0; i < ROUNDS; i++) {
		if (i % 100 == 0)
			in_state(KYMO_STATE_RECORD, KYMO_MODE_DISCARD, region()->log_tail);
		put(i % KEYS, i);
	}
	assert_int_equal(region()->log_dropped, 0);
	look(&contents);
	for (uint64_t key = 0; key < KEYS; key++)
		assert_int_equal(contents.value[key], ROUNDS - KEYS + key);
}

/* Whose events lie in rings that overwrite, keeps its facts: all of the last quarter of the log. */
static void a_flight_recorder(void **state)
{
	const uint64_t kept = KYMO_LOG_SIZE_MIN / 4 / RECORD_BYTES;
	struct contents contents;

	(void)state;
	empty();
	in_state(KYMO_STATE_RECORD, KYMO_MODE_OVERWRITE, 0);
	for (uint64_t i = 0; i < ROUNDS; i++)
		put(i % 2, i);
	assert_int_equal(region()->log_dropped, 0);
	look(&contents);
	assert_true(contents.facts[0] >= kept / 2 - 1 && contents.facts[1] >= kept / 2 - 1);
	assert_int_equal(contents.value[0], ROUNDS - 2);
	in_state(KYMO_STATE_WAIT, KYMO_MODE_DISCARD, 0);
}

/* It is being written by this very thread, as if a signal handler had interrupted it: nobody waits
 * for it, and then there is no room. */
static void a_slow_writer(void **state)
{
	struct kymo_fact slow;

	(void)state;
	empty();
	assert_true(kymo__log_reserve(&slow, ID, PAYLOAD));
	memset(slow.payload, 0, PAYLOAD);
	for (uint64_t i = 0; i < ROUNDS; i++)
		put(i % KEYS, i);
	assert_true(region()->log_head <= slow.position);
	assert_true(region()->log_dropped > 0);
	kymo__log_commit(&slow);
	region()->log_dropped = 0;
	for (uint64_t i = 0; i < 4096; i++)	/* the first may find it full still */
		put(i % KEYS, i);
	assert_true(region()->log_head > slow.position);
}

static void *put_many(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < ROUNDS; i++)
		put(i % KEYS, i);
	return NULL;
}

/* It is being written by a thread that was preempted: the others wait for it when the log is full,
 * and lose nothing. */
static void a_preempted_writer(void **state)
{
	struct contents contents;
	struct kymo_fact slow;
	pthread_t thread[2];

	(void)state;
	empty();
	assert_true(kymo__log_reserve(&slow, ID, PAYLOAD));
	memset(slow.payload, 0, PAYLOAD);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, put_many, NULL), 0);
	while (!__atomic_load_n(&kymo_process->log_blocked, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&region()->log_tail, __ATOMIC_RELAXED) -
			       __atomic_load_n(&region()->log_head, __ATOMIC_RELAXED) <
		       KYMO_LOG_SIZE_MIN - KYMO_LOG_CHUNK)
		(void)usleep(1000);
	(void)usleep(20000); /* one that does not wait loses facts by now */
	kymo__log_commit(&slow);
	for (unsigned i = 0; i < 2; i++)
		(void)pthread_join(thread[i], NULL);
	assert_true(region()->log_head > slow.position);
	assert_int_equal(region()->log_dropped, 0);
	look(&contents);
	for (uint64_t key = 0; key < KEYS; key++)
		assert_int_equal(contents.value[key], ROUNDS - KEYS + key);
}

/* Its writer left it unfinished: what is behind it is cleaned all the same, and it comes too
 * late. */
static void a_hole(void **state)
{
	struct contents contents;
	struct kymo_fact lost;

	(void)state;
	empty();
	assert_true(kymo__log_reserve(&lost, ID, PAYLOAD));
	memset(lost.payload, 0, PAYLOAD);
	for (uint64_t i = 0; i < KEYS; i++)
		put(i, i);
	kymo_log_patience_ns = 0;
	for (uint64_t i = 0; i < ROUNDS; i++)
		put(i % KEYS, i);
	assert_true(region()->log_head > lost.position);
	assert_int_equal(region()->log_dropped, 0);
	look(&contents);
	for (uint64_t key = 0; key < KEYS; key++)
		assert_int_equal(contents.value[key], ROUNDS - KEYS + key);
	kymo__log_commit(&lost);
	assert_int_equal(region()->log_dropped, 1);
	kymo_log_patience_ns = KYMO_LOG_PATIENCE_NS;
}

/* Nothing to forget: it is full, and says so; when objects are gone there is room again. */
static void a_full_log(void **state)
{
	struct kymo_fact fact;
	uint64_t key = 0, kept = 0;

	(void)state;
	empty();
	while (!region()->log_dropped) {
		if (kymo__log_reserve(&fact, ID, PAYLOAD)) {
			memset(fact.payload, 0, PAYLOAD);
			memcpy(fact.payload, &key, 8);
			kymo__log_commit(&fact);
			kept++;
		}
		key++;
	}
	assert_true(kept > KYMO_LOG_SIZE_MIN / 2 / RECORD_BYTES);
	for (uint64_t i = 0; i < key; i++)
		kymo__log_gone(KYMO_ENTITY_TIMER, i);
	region()->log_dropped = 0;
	for (uint64_t i = 0; i < 4096; i++)	/* the first may find it full still */
		put(i % KEYS, i);
	region()->log_dropped = 0;
	for (uint64_t i = 0; i < ROUNDS; i++)
		put(i % KEYS, i);
	assert_int_equal(region()->log_dropped, 0);
}

/* Two threads cleaned one after the other, and the second had nothing to free: the log that is full
 * later is cleaned all the same, however many found it full. */
static void cleaned_too_early(void **state)
{
	(void)state;
	empty();
	for (unsigned i = 0; i < 2; i++)
		assert_true(kymo_log_clean_if_full(kymo_process, kymo__thread));
	kymo_process->log_failed = 2;
	kymo_process->log_clean_at = UINT64_MAX;
	for (uint64_t i = 0; i < ROUNDS; i++)
		put(i % KEYS, i);
	assert_int_equal(region()->log_dropped, 0);
}

/* Put facts until there is no room, without cleaning. */
static void fill_up(void)
{
	region()->log_dropped = 0;
	kymo_process->log_clean_at = UINT64_MAX;
	while (!region()->log_dropped) {
		kymo_process->log_futile = 1 + region()->log_tail;
		kymo_process->log_failed = 2;
		put(0, 0);
	}
	kymo_process->log_futile = 0;
}

/* The cleaner's room is its own: facts that are written beside it do not use it up. Else a fact
 * that holds at the head could not be copied, and the log would stay full for good. */
static void room_to_copy(void **state)
{
	uint64_t ns, at = 0, first;

	(void)state;
	empty();
	put(KEYS - 1, 1);
	assert_true(kymo_log_clean_if_full(kymo_process, kymo__thread));
	fill_up();
	first = region()->log_tail;
	/* as the cleaner copies a chunk, and begins another */
	while (at < first + KYMO_LOG_CHUNK)
		at = kymo_log_take(kymo_process, kymo__thread, RECORD_BYTES, LOG_CLEANER, &ns);
	assert_true(at != UINT64_MAX);
	fill_up();
	for (uint64_t i = 0; i < 4096; i++)
		put(0, i);
	region()->log_dropped = 0;
	for (uint64_t i = 0; i < ROUNDS; i++)
		put(0, i);
	assert_int_equal(region()->log_dropped, 0);
}

static void *writer(void *argument)
{
	const uint64_t key = (uint64_t)(uintptr_t)argument;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		put(key, i);
		if (i % 16 == 0 && i < ROUNDS)
			kymo__log_gone(KYMO_ENTITY_TIMER, key);
	}
	return NULL;
}

static void many_writers(void **state)
{
	struct contents contents;
	pthread_t thread[THREADS];

	(void)state;
	empty();
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, writer, (void *)(i + 1)), 0);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
	assert_int_equal(region()->log_dropped, 0);
	look(&contents);
	for (uint64_t key = 1; key <= THREADS; key++)
		assert_int_equal(contents.value[key], ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_of_each),
		cmocka_unit_test(a_reader_that_lags),
		cmocka_unit_test(a_reader_that_keeps_up),
		cmocka_unit_test(a_flight_recorder),
		cmocka_unit_test(a_slow_writer),
		cmocka_unit_test(a_preempted_writer),
		cmocka_unit_test(a_hole),
		cmocka_unit_test(a_full_log),
		cmocka_unit_test(cleaned_too_early),
		cmocka_unit_test(room_to_copy),
		cmocka_unit_test(many_writers),
	};
	char *directory = test_directory();
	int failed;

	kymo_settings.log_size = KYMO_LOG_SIZE_MIN;
	put(KEYS, 0);			/* the first fact of all */
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	test_directory_remove(directory);
	return failed;
}
