/* SPDX-License-Identifier: Apache-2.0 */
/* Draining one process by hand, where a session would not come to the case in time. */
#include "producer.h"

#include "babeltrace.h"
#include "recorder/drain/drain.h"
#include "recorder/drain/sink_list.h"
#include "recorder/trace/sink_ctf.h"

struct bench {
	char run[64], trace[96];
	struct rundir dir;
	struct producer producer;
	struct drained_process process;
	struct drain drain;
	struct sink *sink;
};

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof *bench);
	struct kymo_err err;

	snprintf(bench->run, sizeof bench->run, "/dev/shm/kymo-test-XXXXXX");
	if (!mkdtemp(bench->run))
		return -1;
	snprintf(bench->trace, sizeof bench->trace, "%s/trace", bench->run);
	producer_open_as(&bench->producer, bench->run, getpid(), alive_start_time(getpid()),
			 "1-1.region");
	memset(producer_page(&bench->producer, KYMO_ENABLE_PAGE), 1, KYMO_PAGE);
	*state = bench;
	if (rundir_open(&bench->dir, bench->run, false, &err) ||
	    region_open(&bench->process.region, &bench->dir, "1-1.region", true, &err) ||
	    sink_ctf_create(bench->trace, "0.1.0", 0, 0, NULL, &bench->sink, &err))
		return -1;
	bench->process.alive = ALIVE_YES;
	bench->drain.scratch = malloc(DRAIN_SCRATCH);
	bench->drain.now_ns = producer_now();
	bench->drain.final = true;
	return sinks_add(&bench->drain, bench->sink, NULL, 0) ||
	       sinks_join(&bench->drain, &bench->process);
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	char command[128];
	int rc;

	region_close(&bench->process.region);
	rundir_close(&bench->dir);
	producer_close(&bench->producer);
	snprintf(command, sizeof command, "rm -rf '%s'", bench->run);
	rc = system(command);
	free(bench->drain.scratch);
	sinks_process_free(&bench->process);
	free(bench->process.ring);
	free(bench->process.thread);
	free(bench);
	return rc;
}

static void drain(struct bench *bench)
{
	process_rings(&bench->process, &bench->drain, false);
	assert_int_equal(initlog_drain(&bench->process, &bench->drain), 0);
	for (unsigned i = 0; i < bench->process.ring_count; i++)
		assert_int_equal(ring_drain(&bench->process, i, &bench->drain), 0);
}

static void finish(struct bench *bench, uint64_t events)
{
	struct babeltrace seen;

	for (unsigned i = 0; i < bench->process.ring_count; i++)
		ring_finish(&bench->process, i, &bench->drain);
	sinks_leave(&bench->drain, &bench->process);
	bench->sink->ops->close(bench->sink);
	seen = babeltrace_read(bench->trace, NULL);
	if (seen.status == 77)
		skip();
	assert_string_equal(seen.complaint, "");
	assert_int_equal(seen.status, 0);
	assert_int_equal(seen.events, events);
}

/* Preempted for five seconds between looking at the clock and looking at the ring. */
static void a_starved_recorder_takes_what_is_new(void **state)
{
	struct bench *bench = *state;

	for (unsigned i = 0; i < 100; i++)
		producer_event(&bench->producer, 0, i);
	producer_init(&bench->producer, 1, "symbol");
	bench->sink->start_ns -= 6000000000;
	bench->drain.now_ns -= 5000000000;
	drain(bench);
	assert_int_equal(bench->process.recorded, 100);
	assert_int_equal(bench->process.lost_bytes, 0);
	assert_true(bench->process.at[0]->init.prev_ns > bench->sink->start_ns + 5900000000);
	finish(bench, 101);
}

static void set_time(struct kymo_ring *ring, uint64_t position, uint64_t ns)
{
	memcpy(producer_at(ring, position) + 2, &ns, sizeof ns);
}

/* Two threads' clocks differ by less than a microsecond, and one took the other's ring. */
static void a_small_step_back_is_straightened(void **state)
{
	struct bench *bench = *state;
	struct kymo_ring *ring = bench->producer.ring[0];
	uint64_t position;

	producer_event(&bench->producer, 0, 1);
	drain(bench);
	position = KYMO_WORD_POS(ring->wpos);
	producer_event(&bench->producer, 0, 2);
	set_time(ring, position, bench->process.ring[0].prev_end - 300);
	producer_event(&bench->producer, 0, 3);
	drain(bench);
	assert_int_equal(bench->process.recorded, 3);
	assert_false(bench->process.ring[0].bad);
	finish(bench, 3);
}

static void a_time_in_the_future_is_none(void **state)
{
	struct bench *bench = *state;
	struct kymo_ring *ring = bench->producer.ring[0];
	uint64_t position;

	producer_event(&bench->producer, 0, 1);
	position = KYMO_WORD_POS(ring->wpos);
	producer_event(&bench->producer, 0, 2);
	set_time(ring, position, producer_now() + 60000000000);
	ring->lastts = producer_now() + 60000000000;
	drain(bench);
	assert_int_equal(bench->process.recorded, 1);
	assert_true(bench->process.ring[0].bad);
	finish(bench, 1);
}

static void drain_merged(struct bench *bench)
{
	(void)usleep(1000);		/* what was committed is older than the horizon */
	bench->drain.now_ns = producer_now();
	process_rings(&bench->process, &bench->drain, false);
	assert_int_equal(merged_drain(&bench->process, &bench->drain, bench->drain.now_ns), 0);
}

/* A thread lost its processor inside of an event: it comes when what is younger was merged
 * already. */
static void who_comes_late_has_a_stream_of_his_own(void **state)
{
	struct bench *bench = *state;
	struct kymo_ring *ring = bench->producer.ring[1];
	const struct sink_process *at = bench->process.at[0];
	uint64_t position, ns;

	bench->drain.final = false;
	bench->drain.flush = true;
	bench->drain.streams = STREAMS_PROCESS;
	producer_event(&bench->producer, 1, 1);
	ns = ring->lastts;
	(void)usleep(1000);
	for (unsigned i = 0; i < 5; i++)
		producer_event(&bench->producer, 0, i);
	drain_merged(bench);
	assert_int_equal(bench->process.recorded, 6);
	assert_int_equal(bench->process.merged_end, bench->producer.ring[0]->lastts);
	assert_true(at->ring_count < 2 || !at->ring[1].stream);
	position = KYMO_WORD_POS(ring->wpos);
	producer_event(&bench->producer, 1, 2);
	set_time(ring, position, ns + 1000);
	producer_event(&bench->producer, 1, 3);
	producer_event(&bench->producer, 0, 5);
	drain_merged(bench);
	assert_int_equal(bench->process.recorded, 9);
	assert_int_equal(bench->process.lost_bytes, 0);
	assert_non_null(at->ring[1].stream);
	assert_null(at->ring[0].stream);
	merged_free(&bench->drain);
	finish(bench, 9);
}

/* All of block @number is taken; then comes an event that does not fit behind its last record. */
static void next_block(struct bench *bench, unsigned number, const void *payload, uint16_t id,
		       size_t size, uint8_t rest)
{
	const struct kymo_ring *ring = bench->producer.ring[0];
	const uint64_t end = (number + 1) * (uint64_t)ring->block_size;
	const uint64_t record = KYMO_RECORD_HEADER + size;
	uint64_t position;

	do
		producer_emit(&bench->producer, 0, id, payload, size);
	while (KYMO_WORD_POS(ring->wpos) + record < end);
	drain(bench);
	position = KYMO_WORD_POS(ring->wpos);
	assert_int_equal(bench->process.ring[0].taken, position);
	memset(producer_at(ring, position), rest, end - position);
	assert_true(process_first_ns(&bench->process) == UINT64_MAX);
	producer_emit(&bench->producer, 0, id, payload, size);
	assert_true(KYMO_WORD_POS(ring->wpos) > end);
	assert_true(process_first_ns(&bench->process) == ring->lastts);
	drain(bench);
}

/* All of a block was taken, then the next block was begun: what is between is not a record. */
static void bytes_behind_a_block_are_no_time(void **state)
{
	static const uint64_t handles[2] = { 1, 2 };
	struct bench *bench = *state;

	next_block(bench, 0, handles, KYMO_POINT_callback_end, 8, 0);
	next_block(bench, 1, handles, KYMO_POINT_callback_end, 8, 0xff);
	/* The rest is shorter than the header of a record. */
	next_block(bench, 2, handles, KYMO_POINT_rcl_publish, 16, 1);
	finish(bench, bench->producer.produced);
}

/* A horizon near the clock's begin moves no fact into the far future. */
static void a_horizon_does_not_wrap(void **state)
{
	struct bench *bench = *state;
	const uint64_t now = bench->drain.now_ns;

	bench->sink->ops->horizon(bench->sink, 0);
	bench->sink->ops->horizon(bench->sink, 1000);
	producer_init(&bench->producer, 1, "symbol");
	bench->drain.now_ns = producer_now();
	drain(bench);
	assert_in_range(bench->process.at[0]->init.prev_ns, now, bench->drain.now_ns);
	finish(bench, 1);
}

static void emit(struct bench *bench, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		producer_event(&bench->producer, 0, i);
}

/* Between draining and adding a sink, the recorder lost its processor, and the ring is full. */
static void unread_records_bring_their_drops(void **state)
{
	struct bench *bench = *state;
	struct drained_process *process = &bench->process;
	struct sink_without thread;
	struct sink_counts counts;
	struct sink *second;
	struct kymo_err err;
	char path[128];

	emit(bench, 2000); /* more than the ring has room for */
	drain(bench);
	emit(bench, 2000);
	assert_true(bench->producer.dropped > 1500);
	snprintf(path, sizeof path, "%s/second", bench->run);
	assert_int_equal(sink_ctf_create(path, "0.1.0", 0, 0, NULL, &second, &err), 0);
	assert_int_equal(sinks_add(&bench->drain, second, &process, 1), 0);
	drain(bench);
	emit(bench, 10);
	drain(bench);
	initlog_update_counts(process);
	sink_counts(process->at[1], &counts);
	assert_int_equal(counts.before + counts.recorded + counts.dropped,
			 bench->producer.produced);
	assert_int_equal(counts.recorded + counts.dropped, 2010);
	sink_thread_counts(process->at[1], 0, &thread);
	assert_int_equal(thread.recorded, counts.recorded);
	assert_int_equal(thread.dropped, counts.dropped);
	assert_int_equal(process->at[1]->ring[0].discarded, counts.dropped);
	finish(bench, bench->producer.produced - bench->producer.dropped);
	second->ops->close(second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_starved_recorder_takes_what_is_new),
		TEST(a_small_step_back_is_straightened),
		TEST(a_time_in_the_future_is_none),
		TEST(who_comes_late_has_a_stream_of_his_own),
		TEST(bytes_behind_a_block_are_no_time),
		TEST(a_horizon_does_not_wrap),
		TEST(unread_records_bring_their_drops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
