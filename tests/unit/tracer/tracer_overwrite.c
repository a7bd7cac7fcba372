/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* Rings that overwrite: what is left is whole and told exactly, and who may be one's own recorder.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "consumer.h"
#include "recorder/runtime/domain.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_process.h"
#include "base/array.h"

#define ID KYMO_POINT_rcl_take
#define ANY UINT64_MAX		/* a record whose value says nothing */

#define OF_ALL (KYMO_REGION_LOCKED | KYMO_REGION_COUNTS | KYMO_REGION_COUNTS_SPANS)

static char *directory;

static bool emit(uint64_t value)
{
	struct kymo_record record;

	if (!kymo_enabled(ID))
		return false;
	if (!kymo_try_reserve_sp(&record, ID, sizeof value) &&
	    !kymo__reserve(&record, ID, sizeof value))
		return false;
	memcpy(record.at, &value, sizeof value);
	kymo_commit_sp(&record);
	return true;
}

/* A ring of its own for the calling thread, in a region that is its own flight recorder. */
static struct kymo_ring *start(struct test_region *region)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);

	kymo_settings.flight = true;
	(void)emit(ANY);
	*region = test_region_open(getpid());
	assert_non_null(region->base);
	for (unsigned i = 0; i < test_head(*region)->ring_count; i++)
		if (test_ring(*region, i)->state == KYMO_RING_OWNED &&
		    test_ring(*region, i)->tid == tid)
			return test_ring(*region, i);
	fail_msg("the thread has no ring");
	return NULL;
}

static const struct kymo_block *block_number(const struct kymo_ring *ring, uint64_t number)
{
	const uint64_t mask = (uint64_t)ring->block_size * ring->block_count - 1;

	return (const void *)((const uint8_t *)ring + KYMO_PAGE +
			      (number * ring->block_size & mask));
}

/* ---- a reader of whole blocks ---- */

/* TSan is right that this races; the second look at seq is what makes it good. */
__attribute__((no_sanitize("thread")))
static void copy(uint64_t *to, const void *from, size_t size)
{
	const volatile uint64_t *words = from;

	for (size_t i = 0; i < size / sizeof *to; i++)
		to[i] = words[i];
}

static void acquire_fence(void)
{
#ifndef KYMO_PLAIN_ATOMICS		/* TSan knows none */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

struct snapshot {
	uint64_t bytes[KYMO_BLOCK_MAX / sizeof(uint64_t)];
	atomic_uint_fast64_t blocks, refused;
	uint64_t records, bad;		/* cmocka's assertions are for the main thread */
};

/* Block @number below @word; values are the records' numbers. Return: false when the producer was
 * there meanwhile. */
static bool take(struct snapshot *to, const struct kymo_ring *ring, uint64_t number, uint64_t word)
{
	const struct kymo_block *shared = block_number(ring, number),
				*block = (const void *)to->bytes;
	const uint8_t *at = (const uint8_t *)to->bytes + sizeof *block;
	uint64_t before, value, ns, last = 0, count = KYMO_WORD_COUNT(word);
	size_t used = KYMO_WORD_POS(word) - number * ring->block_size;

	before = __atomic_load_n(&shared->seq, __ATOMIC_ACQUIRE);
	copy(to->bytes, shared, ring->block_size);
	acquire_fence();
	if (before != number + 1 || __atomic_load_n(&shared->seq, __ATOMIC_RELAXED) != before) {
		to->refused++;
		return false;
	}
	if (KYMO_WORD_POS(word) / ring->block_size != number) {
		used = block->used;
		count = block->records;
	}
	if (used != sizeof *block + count * (KYMO_RECORD_HEADER + sizeof value)) {
		to->bad++;
		return false;
	}
	for (uint64_t i = 0; i < count; i++, at += KYMO_RECORD_HEADER + sizeof value) {
		memcpy(&ns, at + 2, sizeof ns);
		memcpy(&value, at + KYMO_RECORD_HEADER, sizeof value);
		to->bad += ns < last || (value != ANY && value != block->records_before + i);
		last = ns;
	}
	to->blocks++;
	to->records += count;
	return true;
}

/* All that is left of the ring. Return: records in it. */
static uint64_t take_all(struct snapshot *to, const struct kymo_ring *ring)
{
	const uint64_t word = __atomic_load_n(&ring->wpos, __ATOMIC_ACQUIRE);
	const uint64_t last = KYMO_WORD_POS(word) / ring->block_size;
	uint64_t records = 0;

	for (uint64_t n = last >= ring->block_count ? last - ring->block_count + 1 : 0; n <= last;
	     n++) {
		const uint64_t before = to->records;

		if (take(to, ring, n, word))
			records += to->records - before;
	}
	return records;
}

/* ---- tests ---- */

/* Nothing is dropped, the latest is there without a gap, and what is gone is known to the event. */
static void test_the_latest_stays(void **state)
{
	struct snapshot *snapshot = calloc(1, sizeof *snapshot);
	struct test_region region;
	struct kymo_ring *ring = start(&region);
	uint64_t produced = 1, left, bytes = (uint64_t)ring->block_size * ring->block_count;
	const struct kymo_block *last;

	(void)state;
	assert_int_equal(test_head(region)->flags & ~OF_ALL,
			 KYMO_REGION_FLIGHT);
	assert_int_equal(test_head(region)->state, KYMO_STATE_RECORD);
	assert_int_equal(test_head(region)->mode, KYMO_MODE_OVERWRITE);
	while (produced < 100000) {
		assert_true(emit(produced++));
		if (produced % 10007)
			continue;
		left = take_all(snapshot, ring);
		last = block_number(ring, KYMO_WORD_POS(ring->wpos) / ring->block_size);
		assert_int_equal(last->records_before + KYMO_WORD_COUNT(ring->wpos), produced);
		/* All but the oldest block's worth, and what ends of blocks are too short for. */
		assert_true(left >= produced ||
			    left > (bytes - ring->block_size) / 18 - 8 * ring->block_count);
	}
	assert_int_equal(snapshot->refused, 0);
	assert_int_equal(snapshot->bad, 0);
	assert_int_equal(ring->dropped, 0);
	assert_int_equal(ring->rpos, 0);
	free(snapshot);
}

struct watcher {
	const struct kymo_ring *ring;
	struct snapshot snapshot;
	atomic_bool stop;
};

static void *watch(void *argument)
{
	struct watcher *watcher = argument;

	while (!watcher->stop) {
		(void)take_all(&watcher->snapshot, watcher->ring);
		(void)sched_yield();
	}
	return NULL;
}

static void test_reader_beside_producer(void **state)
{
	struct watcher *watcher = calloc(1, sizeof *watcher);
	struct test_region region;
	struct kymo_ring *ring = start(&region);
	uint64_t value =
		block_number(ring, KYMO_WORD_POS(ring->wpos) / ring->block_size)->records_before +
		KYMO_WORD_COUNT(ring->wpos);
	pthread_t thread;

	(void)state;
	watcher->ring = ring;
	assert_int_equal(pthread_create(&thread, NULL, watch, watcher), 0);
	/* Until it was overtaken as well, if that comes about: two cores that are free are not
	 * sure. */
	for (int i = 0; i < 2000000 || (watcher->snapshot.blocks < 100 && i < 200000000) ||
	     (!watcher->snapshot.refused && i < 20000000); i++)
		if (!emit(value++))
			break;
	watcher->stop = true;
	(void)pthread_join(thread, NULL);
	assert_true(watcher->snapshot.blocks >= 100);
	assert_int_equal(watcher->snapshot.bad, 0);
	assert_int_equal(ring->dropped, 0);
	free(watcher);
}

/* A handler that fills the ring while an outer record waits must not come round onto it. */
static void test_outer_record_is_not_overwritten(void **state)
{
	struct test_region region;
	struct kymo_ring *ring = start(&region);
	const uint64_t blocks = KYMO_WORD_POS(ring->wpos) / ring->block_size;
	uint64_t value = UINT64_MAX - 1, found, kept = 0, produced = 0;
	struct kymo_record outer;
	const uint8_t *at;

	(void)state;
	assert_int_equal(ring->dropped, 0);
	assert_true(kymo_try_reserve_sp(&outer, ID, sizeof value) ||
		    kymo__reserve(&outer, ID, sizeof value));
	memcpy(outer.at, &value, sizeof value);
	at = outer.at;
	for (int i = 0; i < 100000 && !ring->dropped; i++, produced++)
		kept += emit(1);
	assert_int_equal(ring->dropped, 1);
	for (int i = 0; i < 100; i++, produced++)
		kept += emit(1);
	memcpy(&found, at, sizeof found);
	assert_true(found == value);
	assert_true(KYMO_WORD_POS(ring->wpos) / ring->block_size <= blocks + 1);
	kymo_commit_sp(&outer);
	assert_int_equal(ring->wpos, kymo__thread->word);
	assert_int_equal(produced, kept + ring->dropped);
	assert_int_equal(ring->dropped, 101);
	memcpy(&found, at, sizeof found);
	assert_true(found == value);
	assert_true(emit(2));		/* and now there is room again */
}

static void *one_event(void *argument)
{
	(void)argument;
	(void)prctl(PR_SET_NAME, "one event");
	(void)emit(7);
	return NULL;
}

/* Threads that come and go: their last records stay, memory does not grow, and blocks have
 * owners. */
static void test_rings_of_ended_threads(void **state)
{
	struct test_region region;
	unsigned named = 0;

	(void)state;
	(void)start(&region);
	for (int i = 0; i < 500; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, one_event, NULL), 0);
		(void)pthread_join(thread, NULL);
	}
	region = test_region_open(getpid());
	assert_int_equal(test_head(region)->dropped_no_ring, 0);
	assert_true(test_head(region)->ring_count <= 2 + KYMO_RETIRED_KEPT);
	for (unsigned i = 0; i < test_head(region)->ring_count; i++) {
		const struct kymo_ring *ring = test_ring(region, i);

		if (ring->state != KYMO_RING_RETIRED)
			continue;
		for (uint64_t n = 0; n < ring->block_count; n++) {
			const struct kymo_block *block = block_number(ring, n);
			const struct kymo_owner *owner =
				&ring->owner[block->owner_seq % KYMO_OWNERS];

			if (!block->seq)
				continue;
			assert_int_equal(owner->seq, block->owner_seq);
			assert_int_not_equal(owner->tid, 0);
			assert_string_equal(owner->name, "one event");
			named++;
		}
	}
	assert_true(named >= 4 * KYMO_RETIRED_KEPT);
}

/* ---- sessions, forks, left-overs: each in a child, as a process of its own ---- */

static struct kymo_region head_of(pid_t pid)
{
	struct test_region region = test_region_open(pid);
	struct kymo_region head = { 0 };

	if (region.base) {
		head = *test_head(region);
		(void)munmap(region.base, region.size);
	}
	return head;
}

/* Registers as a flight recorder and dies. Return: its pid. */
static pid_t flight(bool exits)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		(void)emit(1);
		(void)emit(2);
		if (exits)
			exit(0);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return pid;
}

static void test_child_and_left_over(void **state)
{
	pid_t killed, exited, pid;

	(void)state;
	kymo_settings.flight = true;
	killed = flight(false);
	exited = flight(true);		/* its registration sweeps */
	assert_int_equal(head_of(killed).mode, KYMO_MODE_OVERWRITE);
	assert_int_equal(head_of(killed).flags & ~OF_ALL, KYMO_REGION_FLIGHT);
	assert_int_equal(head_of(exited).flags & ~OF_ALL, KYMO_REGION_FLIGHT | KYMO_REGION_EXITED);
	kymo_settings.flight = false;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct kymo_region head;

		(void)emit(1);
		head = head_of(getpid());
		_exit(head.state == KYMO_STATE_WAIT && head.mode == KYMO_MODE_DISCARD &&
				      !(head.flags & KYMO_REGION_FLIGHT) && head_of(killed).magic &&
				      head_of(exited).magic
			      ? 0
			      : 1);
	}
	{
		int status;

		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

/* A session that runs wins; one of others does not concern us. */
static void test_session_wins(void **state)
{
	static const struct { uint64_t tag; uint32_t mode; } expected[] = {
		{ 0, KYMO_MODE_DISCARD }, { 5, KYMO_MODE_OVERWRITE },
	};
	struct rundir dir;
	struct domain domain;
	struct kymo_err err;

	(void)state;
	kymo_settings.flight = true;
	assert_int_equal(rundir_open(&dir, NULL, true, &err), 0);
	assert_int_equal(domain_claim(&domain, &dir, &err), 0);
	for (unsigned i = 0; i < COUNT_OF(expected); i++) {
		struct kymo_region head;

		domain_announce(&domain, KYMO_STATE_RECORD, false, expected[i].tag, 1, "/tmp/trace");
		head = head_of(flight(false));
		assert_int_equal(head.state, KYMO_STATE_RECORD);
		assert_int_equal(head.mode, expected[i].mode);
	}
	domain_switch(&domain, KYMO_STATE_WAIT);
	domain_release(&domain);
	rundir_close(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_latest_stays),
		cmocka_unit_test(test_reader_beside_producer),
		cmocka_unit_test(test_outer_record_is_not_overwritten),
		cmocka_unit_test(test_rings_of_ended_threads),
		cmocka_unit_test(test_child_and_left_over),
		cmocka_unit_test(test_session_wins),
	};
	int failed;

	directory = test_directory();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	test_directory_remove(directory);
	return failed;
}
