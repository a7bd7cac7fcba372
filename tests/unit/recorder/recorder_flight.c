/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder's memory: what a snapshot has of it, what is given up, and when. */
#include "producer.h"

#include "babeltrace.h"
#include "recorder/flight/flight_internal.h"
#include "recorder/session/session.h"

#define EVENTS_MAX 1000000

struct bench {
	char root[64], run[96], said[512];
	struct producer producer;
	struct session *session;
	struct flight *flight;
	uint64_t *time;			/* of each event, in order */
	unsigned events, snapshots, sayings;
	struct flight_report last;
	struct trigger_hit hit;		/* of it */
	char path[256];
	struct kymo_err failed;
};

static int name(void *context, unsigned number, char *path, unsigned size, struct kymo_err *err)
{
	struct bench *bench = context;

	(void)err;
	(void)snprintf(path, size, "%s/%u", bench->root, number);
	return 0;
}

static void written(void *context, const struct flight_report *report)
{
	struct bench *bench = context;

	bench->snapshots++;
	bench->last = *report;
	if (report->hit)
		bench->hit = *report->hit;
	(void)snprintf(bench->path, sizeof bench->path, "%s", report->path);
	if (report->failed)
		bench->failed = *report->failed;
}

static void say(void *context, const char *text)
{
	struct bench *bench = context;

	bench->sayings++;
	(void)snprintf(bench->said, sizeof bench->said, "%s", text);
}

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof *bench);

	bench->time = calloc(EVENTS_MAX, sizeof *bench->time);
	snprintf(bench->root, sizeof bench->root, "/dev/shm/kymo-test-XXXXXX");
	*state = bench;
	if (!mkdtemp(bench->root))
		return -1;
	snprintf(bench->run, sizeof bench->run, "%s/run", bench->root);
	if (mkdir(bench->run, 0700))
		return -1;
	producer_open(&bench->producer, bench->run);
	producer_init(&bench->producer, 7, "void (Some::callback)()");
	return 0;
}

static void begin(struct bench *bench, uint64_t window_ns, uint64_t memory, const char *trigger)
{
	struct flight_options options = {
		.window_ns = window_ns, .memory = memory, .post_ns = 1000000, .version = "0.1.0", .name = name,
		.written = written, .context = bench, .say = say, .say_context = bench,
	};
	struct session_options session = { .runtime_dir = bench->run, .version = "0.1.0" };
	struct kymo_err err;

	if (trigger)
		assert_int_equal(triggers_add(&options.triggers, trigger, &err), 0);
	assert_int_equal(flight_create(&options, &bench->flight, &err), 0);
	session.sink = flight_sink(bench->flight);
	if (session_begin(&session, &bench->session, &err) < 0)
		fail_msg("%s", err.text);
}

static void end(struct bench *bench)
{
	struct kymo_err err;

	if (session_end(bench->session, &err) < 0)
		fail_msg("%s", err.text);
	session_free(bench->session);
	bench->session = NULL;
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	char command[128];
	int rc;

	if (bench->session)
		session_free(bench->session);
	producer_close(&bench->producer);
	snprintf(command, sizeof command, "rm -rf '%s'", bench->root);
	rc = system(command);
	free(bench->time);
	free(bench);
	return rc;
}

/* One round as record_run() has it. Return: whether a snapshot is being written. */
static bool round_of(struct bench *bench, bool flush)
{
	if (flight_due(bench->flight) || flush)
		session_flush(bench->session);
	assert_true(session_poll(bench->session) >= 0);
	return flight_work(bench->flight);
}

static void emit(struct bench *bench, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		producer_event(&bench->producer, 0, bench->events);
		bench->time[bench->events++] = bench->producer.ring[0]->lastts;
	}
}

static void until_written(struct bench *bench, unsigned snapshots)
{
	while (bench->snapshots < snapshots)
		(void)round_of(bench, false);
	if (bench->last.failed)
		fail_msg("%s", bench->failed.text);
}

static unsigned events_from(const struct bench *bench, uint64_t ns)
{
	unsigned count = 0;

	for (unsigned i = 0; i < bench->events; i++)
		count += bench->time[i] >= ns;
	return count;
}

/* The trace has @facts, and exactly the events from its begin on. */
static void check(const struct bench *bench, unsigned facts)
{
	struct babeltrace seen = babeltrace_read(bench->path, "callback_end");

	assert_int_equal(bench->last.events, events_from(bench, bench->last.begin_ns));
	if (seen.status == 77)
		return;
	assert_string_equal(seen.complaint, "");
	assert_int_equal(seen.matching, bench->last.events);
	assert_int_equal(seen.events, bench->last.events + facts);
}

static void wait_ns(uint64_t ns)
{
	const struct timespec pause = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	(void)nanosleep(&pause, NULL);
}

/* ---- tests ---- */

static void the_window_and_nothing_older(void **state)
{
	struct bench *bench = *state;

	begin(bench, 50000000, 64 << 20, NULL);
	for (unsigned i = 1; i <= 8; i++) {
		emit(bench, 123);
		(void)round_of(bench, i % 2);
		wait_ns(10000000);
		if (i % 3)
			continue;
		flight_request(bench->flight, FLIGHT_REQUEST, i == 6 ? 15000000 : 0, NULL, NULL);
		until_written(bench, i / 3);
		assert_true(bench->last.end_ns - bench->last.begin_ns <=
			    (i == 6 ? 15000000 : 50000000));
		check(bench, 1);
	}
	/* One packet in which the window begins. */
	(void)round_of(bench, true);
	for (unsigned i = 0; i < 8; i++) {
		emit(bench, 20);
		wait_ns(10000000);
	}
	flight_request(bench->flight, FLIGHT_REQUEST, 45000000, NULL, NULL);
	until_written(bench, 3);
	assert_true(bench->last.events < 160);
	check(bench, 1);
	end(bench);
	assert_int_equal(bench->snapshots, 3);
}

/* As much as fits, the latest; it is said once. */
static void a_limit_of_memory(void **state)
{
	struct bench *bench = *state;

	begin(bench, 3600000000000, 20000, NULL);
	for (unsigned i = 0; i < 100; i++) {
		emit(bench, 50);
		(void)round_of(bench, true);
		assert_true(flight_sink(bench->flight)->ops->bytes(flight_sink(bench->flight)) <
			    20000 + 2000);
	}
	assert_int_equal(bench->sayings, 1);
	assert_non_null(strstr(bench->said, "--flight-memory"));
	flight_request(bench->flight, FLIGHT_SIGNAL, 0, NULL, NULL);
	until_written(bench, 1);
	assert_true(bench->last.events > 300 && bench->last.events < 1200);
	check(bench, 1);
	end(bench);
}

/* What comes in while it is written is not in it, and what is given up meanwhile was written
 * before. */
static void a_snapshot_while_events_come_and_go(void **state)
{
	struct bench *bench = *state;
	unsigned slices = 0;

	begin(bench, 3600000000000, 4 << 20, NULL);
	for (unsigned i = 0; i < 20000; i++) {
		emit(bench, 10);
		(void)round_of(bench, true);
	}
	flight_request(bench->flight, FLIGHT_REQUEST, 0, NULL, NULL);
	while (!round_of(bench, false))
		;
	while (bench->snapshots < 1) {
		emit(bench, 200);
		(void)round_of(bench, true);
		slices++;
	}
	assert_false(bench->last.failed);
	/* Ends where the writing began. */
	for (unsigned i = bench->events; i-- > 0 && bench->time[i] >= bench->last.end_ns;)
		bench->events--;
	check(bench, 1);
	print_message("%u slices\n", slices);
	assert_true(slices > 2);
	end(bench);
}

/* Who died within the window is in it with its facts; later it is not. */
static void processes_that_died(void **state)
{
	struct bench *bench = *state;
	struct producer dead;

	producer_open_as(&dead, bench->run, producer_dead_pid(), 12345, "99999-12345.region");
	memset(producer_page(&dead, KYMO_ENABLE_PAGE), 1, KYMO_PAGE);
	dead.region->state = KYMO_STATE_RECORD;
	producer_init(&dead, 1, "f");
	producer_init(&dead, 2, "g");
	producer_event(&dead, 0, 5);
	begin(bench, 2000000000, 1 << 20, "died(fake)");
	emit(bench, 10);
	while (access(dead.path, F_OK) == 0)
		(void)round_of(bench, false);
	until_written(bench, 1);
	assert_non_null(bench->last.trigger);
	assert_int_equal(bench->last.processes, 2);
	assert_int_equal(bench->last.events, 11);
	wait_ns(2100000000);
	emit(bench, 10);
	(void)round_of(bench, true);
	flight_request(bench->flight, FLIGHT_REQUEST, 0, NULL, NULL);
	until_written(bench, 2);
	assert_int_equal(bench->last.processes, 1);
	check(bench, 1);
	end(bench);
	producer_close(&dead);
}

/* A loss is of the window it happens in, and of no later one. */
static void losses(void **state)
{
	struct bench *bench = *state;

	begin(bench, 3600000000000, 1 << 20, "loss");
	emit(bench, 10);
	(void)round_of(bench, true);
	while (!bench->producer.dropped)
		producer_event(&bench->producer, 0, 1);
	(void)round_of(bench, true);
	producer_event(&bench->producer, 0, 1);	/* whose packet tells of it */
	until_written(bench, 1);
	assert_int_equal(bench->last.trigger->kind, TRIGGER_LOSS);
	assert_int_equal(bench->last.dropped, bench->producer.dropped);
	assert_int_equal(bench->hit.value, bench->producer.dropped);
	/* A second snapshot of a window that begins after the loss, however long each step takes.
	 */
	wait_ns(20000000);
	bench->events = 0;
	emit(bench, 10);
	(void)round_of(bench, true);
	flight_request(bench->flight, FLIGHT_REQUEST, 1000000, NULL, NULL);
	until_written(bench, 2);
	assert_int_equal(bench->last.dropped, 0);
	check(bench, 1);
	end(bench);
}

/* Further triggers are counted; what waits when the session ends is written. */
static void triggers_while_one_waits(void **state)
{
	struct bench *bench = *state;

	begin(bench, 3600000000000, 1 << 20, "event(callback_end)");
	emit(bench, 30);
	(void)round_of(bench, true);
	until_written(bench, 1);
	assert_int_equal(bench->last.suppressed, 29);
	assert_int_equal(bench->last.tid, bench->producer.ring[0]->tid);
	check(bench, 1);
	emit(bench, 5);
	end(bench);
	assert_int_equal(bench->snapshots, 2);
	assert_int_equal(bench->last.suppressed, 4);
	check(bench, 1);
}

/* The recording ends: what was before may fire, what comes later does not. */
static void triggers_at_the_end(void **state)
{
	struct bench *bench = *state;

	begin(bench, 3600000000000, 1 << 20, "event(callback_end)");
	emit(bench, 1);
	wait_ns(1000000);
	flight_disarm(bench->flight);
	wait_ns(1000000);
	emit(bench, 4);
	end(bench);
	assert_int_equal(bench->snapshots, 1);
	check(bench, 1);
	begin(bench, 3600000000000, 1 << 20, "event(callback_end)");
	flight_disarm(bench->flight);
	wait_ns(1000000);
	emit(bench, 4);
	end(bench);
	assert_int_equal(bench->snapshots, 1);
}

static void a_place_that_cannot_be_written(void **state)
{
	struct bench *bench = *state;

	begin(bench, 3600000000000, 1 << 20, NULL);
	emit(bench, 3);
	flight_request(bench->flight, FLIGHT_REQUEST, 0, "/proc/none/there", NULL);
	while (!bench->snapshots)
		(void)round_of(bench, false);
	assert_non_null(bench->last.failed);
	assert_non_null(strstr(bench->failed.text, "/proc/none/there"));
	assert_int_equal(bench->last.number, 0);	/* who waits for N did not get one */
	flight_request(bench->flight, FLIGHT_REQUEST, 0, NULL, NULL);
	until_written(bench, 2);
	check(bench, 1);
	end(bench);
}

/* ---- facts that ended ---- */

static void keep_packet(struct flight_store *store, struct flight_process *process, uint64_t at)
{
	const uint8_t bytes[64] = { 0 };

	assert_non_null(flight_store_packet(store, process, &(struct sink_packet){
		.begin = at, .end = at, .records = 1, .bytes = bytes, .size = sizeof bytes }, 0));
}

static void keep_facts(struct flight_store *store, struct flight_process *process, bool known,
		       unsigned count)
{
	static const uint8_t bytes[100000];
	const uint32_t at = 0;

	for (unsigned i = 0; i < count; i++)
		assert_int_equal(flight_store_facts(store, process,
						    &(struct sink_facts){ .known = known,
									  .count = 1,
									  .at = &at,
									  .bytes = bytes,
									  .size = sizeof bytes },
						    0),
				 0);
}

/* They go with the last packet from before the turn, and not earlier; no turn in between. */
static void facts_go_with_the_oldest_packet(void **state)
{
	struct flight_store store = { .limit = UINT64_MAX,
				      .window_ns = 100,
				      .shortest_ns = UINT64_MAX };
	struct flight_process process = { 0 };

	(void)state;
	keep_packet(&store, &process, 1000);
	keep_facts(&store, &process, false, 10);
	assert_false(flight_store_wants_turn(&store));
	keep_facts(&store, &process, false, 10);
	assert_true(flight_store_wants_turn(&store));
	flight_store_turn(&store);
	keep_packet(&store, &process, 1050);
	keep_facts(&store, &process, true, 2);
	keep_facts(&store, &process, false, 30);
	assert_false(flight_store_may_turn(&store));
	assert_false(flight_store_wants_turn(&store));
	(void)flight_store_trim(&store, 1100);
	assert_false(flight_store_may_turn(&store));
	(void)flight_store_trim(&store, 1101);
	assert_true(flight_store_may_turn(&store));
	assert_int_equal(process.kept, 1);
	flight_store_rebase(&store, &process);
	assert_int_equal(process.base, store.turn);
	assert_int_equal(store.facts_bytes, 3200000);
	assert_true(flight_store_wants_turn(&store));
	flight_store_turn(&store);
	keep_facts(&store, &process, true, 32);
	(void)flight_store_trim(&store, 1151);
	flight_store_rebase(&store, &process);
	keep_facts(&store, &process, false, 32);
	/* None had ended: when they have doubled again. */
	assert_false(flight_store_wants_turn(&store));
	keep_facts(&store, &process, false, 11);
	assert_true(flight_store_wants_turn(&store));
	flight_store_forget(&store, &process);
	assert_int_equal(store.facts_bytes, 0);
	flight_store_free(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(the_window_and_nothing_older),
		TEST(a_limit_of_memory),
		TEST(a_snapshot_while_events_come_and_go),
		TEST(processes_that_died),
		TEST(losses),
		TEST(triggers_while_one_waits),
		TEST(triggers_at_the_end),
		TEST(a_place_that_cannot_be_written),
		cmocka_unit_test(facts_go_with_the_oldest_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
