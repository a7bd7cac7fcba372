/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* The ring from both ends: order, exact loss, signals inside tracepoints, crash-free reuse. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "consumer.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_ring.h"

#define ID KYMO_POINT_rcl_take

static char *directory;

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One event whose payload is @value. Return: whether it was recorded. */
static bool emit(unsigned id, uint64_t value)
{
	struct kymo_record record;

	if (!kymo_enabled(id))
		return false;
	if (!kymo_try_reserve_sp(&record, id, sizeof value) &&
	    !kymo__reserve(&record, id, sizeof value))
		return false;
	memcpy(record.at, &value, sizeof value);
	kymo_commit_sp(&record);
	return true;
}

/* Registers the process by an init event, as ROS 2 programs do. */
static struct test_region start(void)
{
	struct kymo_fact fact;
	struct test_region region;

	assert_true(kymo__log_reserve(&fact, KYMO_POINT_rcl_init, 9));
	memcpy(fact.payload, "\1\2\3\4\5\6\7\10", 9);
	kymo__log_commit(&fact);
	region = test_region_open(getpid());
	assert_non_null(region.base);
	assert_true(test_head(region)->magic == KYMO_REGION_MAGIC);
	return region;
}

/* The ring of the calling thread, which must have emitted. */
static struct kymo_ring *own_ring(struct test_region region)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);

	for (unsigned i = 0; i < test_head(region)->ring_count; i++)
		if (test_ring(region, i)->state == KYMO_RING_OWNED &&
		    test_ring(region, i)->tid == tid)
			return test_ring(region, i);
	fail_msg("the thread has no ring");
	return NULL;
}

/* Values come in order; gaps are losses. */
struct sequence {
	uint64_t next, gaps;
};

static void check_sequence(void *context, unsigned id, uint64_t ns, const uint8_t *payload)
{
	struct sequence *sequence = context;
	uint64_t value;

	(void)ns;
	assert_int_equal(id, ID);
	memcpy(&value, payload, sizeof value);
	assert_true(value >= sequence->next);
	sequence->gaps += value - sequence->next;
	sequence->next = value + 1;
}

static void test_disabled_costs_no_ring(void **state)
{
	struct test_region region = start();

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_false(emit(ID, 1));
	for (unsigned i = 0; i < test_head(region)->ring_count; i++)
		assert_int_equal(test_ring(region, i)->state, KYMO_RING_FREE);
	assert_int_equal(test_head(region)->state, KYMO_STATE_WAIT);
	assert_true(test_head(region)->page_count * KYMO_PAGE <= 1u << 20);
}

/* A full ring drops and counts; the place of the loss stands in the next block; nothing else is
 * lost. */
static void test_exact_loss(void **state)
{
	struct test_region region = start();
	struct sequence sequence = { 0 };
	struct test_reader reader = { .payload = 8, .check = check_sequence, .context = &sequence };
	uint64_t produced = 0, recorded = 0, dropped_before;

	(void)state;
	test_enable(region, ID, true);
	recorded += emit(ID, produced++);
	reader.ring = own_ring(region);
	dropped_before = reader.ring->dropped;
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 60000; i++)
			recorded += emit(ID, produced++);
		(void)test_drain(&reader);
	}
	test_enable(region, ID, false);
	(void)test_drain(&reader);
	assert_int_equal(reader.records, recorded);
	assert_int_equal(produced, recorded + reader.ring->dropped - dropped_before);
	assert_true(sequence.gaps > 0);
	assert_int_equal(sequence.gaps + (produced - sequence.next),
			 reader.ring->dropped - dropped_before);
	assert_int_equal(reader.ring->nest, 0);
}

static void test_word_counts_records(void **state)
{
	struct test_region region = start();
	struct kymo_ring *ring;
	uint64_t size;

	(void)state;
	test_enable(region, ID, true);
	(void)emit(ID, 0);
	ring = own_ring(region);
	size = ring->block_size;
	ring->rpos = KYMO_WORD_POS(ring->wpos) / size * size;
	for (int i = 0; i < 10000; i++) {
		uint64_t before = ring->wpos, after;

		ring->rpos = KYMO_WORD_POS(before) / size * size;
		assert_true(emit(ID, 0));
		after = ring->wpos;
		if (KYMO_WORD_POS(after) / size == KYMO_WORD_POS(before) / size) {
			assert_int_equal(KYMO_WORD_COUNT(after), KYMO_WORD_COUNT(before) + 1);
		} else {
			const uint64_t old = KYMO_WORD_POS(before) / size * size;
			const struct kymo_block *block =
				(const void *)((uint8_t *)ring + KYMO_PAGE +
					       (old & (size * ring->block_count - 1)));

			assert_int_equal(KYMO_WORD_COUNT(after), 1);
			assert_int_equal(block->records, KYMO_WORD_COUNT(before));
			assert_int_equal(block->used, KYMO_WORD_POS(before) - old);
		}
	}
	test_enable(region, ID, false);
	ring->rpos = KYMO_WORD_POS(ring->wpos);
}

/* Event time is CLOCK_MONOTONIC: between two looks at it, give or take what one anchor may err. */
static void check_time(void *context, unsigned id, uint64_t ns, const uint8_t *payload)
{
	uint64_t *bounds = context;

	(void)id;
	(void)payload;
	assert_in_range(ns, bounds[0] - TEST_CLOCK_NS, bounds[1] + TEST_CLOCK_NS);
}

static void test_time_is_monotonic_clock(void **state)
{
	struct test_region region = start();
	uint64_t bounds[2];
	struct test_reader reader = { .payload = 8, .check = check_time, .context = bounds };

	(void)state;
	test_enable(region, ID, true);
	(void)emit(ID, 0);
	reader.ring = own_ring(region);
	reader.ring->rpos = KYMO_WORD_POS(reader.ring->wpos);
	for (int i = 0; i < 300; i++) {
		struct timespec pause = { .tv_nsec = i % 10 ? 20000 : 2000000 };

		bounds[0] = monotonic_ns();
		assert_true(emit(ID, 0));
		bounds[1] = monotonic_ns();
		assert_int_equal(test_drain(&reader), 1);
		(void)nanosleep(&pause, NULL);
	}
	test_enable(region, ID, false);
}

/* ---- signals inside tracepoints ---- */

static _Atomic uint64_t handler_recorded, handler_produced;

static void handler(int number)
{
	(void)number;
	handler_produced++;
	handler_recorded += emit(ID, UINT64_MAX);
}

struct storm {
	pthread_t target;
	atomic_bool stop;
};

static void *storm_thread(void *argument)
{
	struct storm *storm = argument;

	while (!storm->stop) {
		(void)pthread_kill(storm->target, SIGUSR1);
		for (volatile int i = 0; i < 300; i++)
			;
	}
	return NULL;
}

static void check_storm(void *context, unsigned id, uint64_t ns, const uint8_t *payload)
{
	struct sequence *sequence = context;
	uint64_t value;

	(void)ns;
	assert_int_equal(id, ID);
	memcpy(&value, payload, sizeof value);
	if (value == UINT64_MAX)
		return;
	/* An unwritten record would show an older lap's value. */
	assert_true(value >= sequence->next);
	sequence->next = value + 1;
}

/* A consumer that looks at any moment must never see a record that is not wholly written. */
struct drainer {
	struct test_reader reader;
	atomic_bool stop;
};

static void *drain_thread(void *argument)
{
	struct drainer *drainer = argument;

	while (!drainer->stop) {
		(void)test_drain(&drainer->reader);
		(void)sched_yield();
	}
	(void)test_drain(&drainer->reader);
	return NULL;
}

/* With signals held off, all that was reserved must be published. */
static void check_published(const struct kymo_ring *ring)
{
	sigset_t usr1, old;

	(void)sigemptyset(&usr1);
	(void)sigaddset(&usr1, SIGUSR1);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &usr1, &old), 0);
	assert_int_equal(ring->wpos, kymo__thread->word);
	assert_int_equal(ring->nest, 0);
	assert_int_equal(ring->nseq & 1, 0);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
}

static void test_signals_inside_tracepoints(void **state)
{
	struct test_region region = start();
	struct sequence sequence = { 0 };
	struct drainer drainer = {
		.reader = { .payload = 8, .check = check_storm, .context = &sequence },
	};
	struct storm storm = { .target = pthread_self() };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
	uint64_t produced = 0, recorded = 0, dropped_before;
	pthread_t signaller, consumer;
	struct kymo_ring *ring;

	(void)state;
	test_enable(region, ID, true);
	(void)emit(ID, 0);
	ring = drainer.reader.ring = own_ring(region);
	ring->rpos = KYMO_WORD_POS(ring->wpos);
	dropped_before = ring->dropped;
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	assert_int_equal(pthread_create(&consumer, NULL, drain_thread, &drainer), 0);
	assert_int_equal(pthread_create(&signaller, NULL, storm_thread, &storm), 0);
	for (int round = 0; round < 300000 || (handler_produced < 500 && round < 30000000);
	     round++) {
		for (int i = 0; i < 5; i++)
			recorded += emit(ID, produced++);
		check_published(ring);
	}
	storm.stop = true;
	(void)pthread_join(signaller, NULL);
	test_enable(region, ID, false);
	assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
	drainer.stop = true;
	(void)pthread_join(consumer, NULL);
	assert_true(handler_produced > 100);
	assert_int_equal(drainer.reader.records, recorded + handler_recorded);
	assert_int_equal(produced + handler_produced - recorded - handler_recorded,
			 ring->dropped - dropped_before);
}

/* ---- threads ---- */

static void *one_event(void *argument)
{
	(void)argument;
	(void)emit(ID, 7);
	return NULL;
}

/* Short-lived threads hand their rings on; with a consumer, none is lost and memory stays flat. */
static void test_ring_reuse(void **state)
{
	struct test_region region = start();
	uint64_t taken = 0;

	(void)state;
	test_enable(region, ID, true);
	for (int i = 0; i < 500; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, one_event, NULL), 0);
		(void)pthread_join(thread, NULL);
		for (unsigned r = 0; r < test_head(region)->ring_count; r++) {
			struct kymo_ring *ring = test_ring(region, r);

			if (ring->state != KYMO_RING_RETIRED)
				continue;
			taken++;
			ring->rpos = KYMO_WORD_POS(ring->wpos);
			__atomic_store_n(&ring->state, KYMO_RING_FREE, __ATOMIC_RELEASE);
		}
	}
	test_enable(region, ID, false);
	assert_int_equal(taken, 500);
	assert_true(test_head(region)->ring_count <= 4);
	assert_int_equal(test_head(region)->dropped_no_ring, 0);
}

/* ---- fork ---- */

static void test_fork_gets_its_own_region(void **state)
{
	struct test_region region = start();
	struct kymo_ring *ring;
	uint64_t wpos;
	int status;
	pid_t pid;

	(void)state;
	test_enable(region, ID, true);
	assert_true(emit(ID, 1));
	ring = own_ring(region);
	wpos = ring->wpos;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct test_region own;

		(void)emit(ID, 2);	/* registers the child, whose state is its own: WAIT */
		own = test_region_open(getpid());
		_exit(own.base && test_head(own)->pid == (uint32_t)getpid() ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(ring->wpos, wpos);
	test_enable(region, ID, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disabled_costs_no_ring),
		cmocka_unit_test(test_exact_loss),
		cmocka_unit_test(test_word_counts_records),
		cmocka_unit_test(test_time_is_monotonic_clock),
		cmocka_unit_test(test_signals_inside_tracepoints),
		cmocka_unit_test(test_ring_reuse),
		cmocka_unit_test(test_fork_gets_its_own_region),
	};
	int failed;

	directory = test_directory();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	test_directory_remove(directory);
	return failed;
}
