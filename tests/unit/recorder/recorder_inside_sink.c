/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* Sinks that a program implements itself: include/kymo/sink.h, with the real tracer in this
 * process. */
#include <semaphore.h>

#include "inside.h"
#include <kymo/sink.h>

#define VALUES 100000
#define CHUNK 5000

/* What a sink got, in the order of the calls. */
struct got {
	struct kymo_sink *sink;
	sem_t *hold; /* wait here in the first packet with events */
	pthread_t thread;
	unsigned begins, ends, wrong, declared_twice;
	bool declared[4096];
	uint64_t events, lost, facts, next;
	struct kymo_sink_totals totals;
	bool refuses;
};

static void on_begin(void *context, const struct kymo_sink_start *start)
{
	struct got *got = context;

	got->begins++;
	got->wrong += !start->ns || !start->realtime_ns || got->events || got->ends;
	got->thread = pthread_self();
}

static void on_declare(void *context, const struct kymo_sink_class *declared)
{
	struct got *got = context;

	got->wrong += !got->begins || got->ends || declared->pid != getpid();
	got->declared_twice += got->declared[declared->id];
	got->declared[declared->id] = true;
}

static void check_event(struct got *got, const struct kymo_sink_event *event)
{
	struct kymo_sink_value value;

	got->wrong += !got->declared[event->declared->id];
	if (strcmp(event->declared->name, "event") != 0)
		return;
	got->wrong += !kymo_sink_get(event, 0, &value) || value.kind != KYMO_SINK_UNSIGNED ||
		      value.number < got->next ||
		      strcmp(event->declared->field[0].name, "i") != 0 ||
		      kymo_sink_get(event, 1, &value) || event->tid != getpid();
	got->next = value.number + 1;
}

static int on_packet(void *context, const struct kymo_sink_packet *packet)
{
	struct got *got = context;
	struct kymo_sink_event event = { 0 };
	uint64_t count = 0, last = 0;

	got->wrong += got->begins != 1 || got->ends || !pthread_equal(got->thread, pthread_self());
	while (kymo_sink_next(packet, &event)) {
		check_event(got, &event);
		got->wrong += !packet->is_facts && event.ns < last;
		last = event.ns;
		count++;
	}
	got->wrong += count != packet->count;
	got->lost += packet->lost;
	if (got->hold && count && !packet->is_facts) {
		(void)sem_wait(got->hold);
		got->hold = NULL;
	}
	if (got->refuses && !packet->is_facts)
		return -1;
	*(packet->is_facts ? &got->facts : &got->events) += count;
	return 0;
}

static void on_end(void *context, const struct kymo_sink_totals *totals)
{
	struct got *got = context;

	got->ends++;
	got->totals = *totals;
}

static void make(struct got *got, const char *name, int pump, size_t buffer)
{
	const struct kymo_sink_options options = {
		.size = sizeof options,
		.name = name,
		.pump = pump,
		.buffer = buffer,
		.context = got,
		.begin = on_begin,
		.declare = on_declare,
		.packet = on_packet,
		.end = on_end,
	};

	got->sink = kymo_sink_create(&options);
	assert_non_null(got->sink);
}

static void check(const struct got *got, uint64_t events)
{
	assert_int_equal(got->wrong, 0);
	assert_int_equal(got->declared_twice, 0);
	assert_int_equal(got->begins, 1);
	assert_int_equal(got->ends, 1);
	assert_int_equal(got->events + got->totals.lost, events);
	assert_int_equal(got->totals.facts, got->facts);
	assert_true(got->facts > 0);
}

/* ---- tests ---- */

static void a_sink_alone(void **state)
{
	struct got got = { 0 };
	struct kymo_session_options options = { .size = sizeof options, .message = message };
	struct kymo_session_stats stats;
	struct kymo_session *session;

	(void)state;
	make(&got, "own", 0, 0);
	options.sink = got.sink;
	said[0] = 0;
	good(kymo_session_start(NULL, &options, &session));
	running = session;
	emit(100);
	assert_int_equal(kymo_sink_free(got.sink), -1); /* the session still has it */
	good(stop(session, &stats));
	assert_int_equal(kymo_sink_free(got.sink), 0);
	assert_int_equal(stats.recorded, 100);
	assert_int_equal(got.events, 100);
	assert_int_equal(got.totals.lost, 0);
	assert_false(pthread_equal(got.thread, pthread_self()));
	check(&got, 100);
	assert_string_equal(said, "");
}

/* A second sink, with a pump: it has the events of its time, and all facts. */
static void a_sink_that_is_pumped(void **state)
{
	struct got got = { 0 };
	struct kymo_session_stats stats;
	struct kymo_session *session;

	(void)state;
	make(&got, "pumped", 1, 0);
	assert_int_equal(kymo_sink_pump(got.sink, 0), 0); /* no session has it */
	session = start(in("t-a"));
	emit(10);
	good(kymo_session_attach(session, got.sink));
	bad(kymo_session_attach(session, got.sink), "already");
	emit(20);
	good(kymo_session_statistics(session, "pumped", &stats));
	assert_int_equal(got.events, 0); /* nobody pumped */
	good(kymo_session_remove_sink(session, "pumped", &stats));
	assert_int_equal(stats.recorded, 20);
	emit(5);
	while (kymo_sink_pump(got.sink, 100))
		;
	assert_int_equal(kymo_sink_pump(got.sink, 0), 0);
	assert_true(pthread_equal(got.thread, pthread_self()));
	bad(kymo_session_attach(session, got.sink), "before");
	assert_int_equal(kymo_sink_free(got.sink), 0);
	good(stop(session, &stats));
	assert_int_equal(got.events, 20);
	check(&got, 20);
	check_trace(in("t-a"), 35, 0);
}

/* A sink whose functions hang: it loses events, which are counted, and the others lose none. */
static void a_slow_sink_loses(void **state)
{
	struct got got = { 0 };
	struct kymo_session_stats stats, own;
	struct kymo_session *session;
	sem_t hold;

	(void)state;
	assert_int_equal(sem_init(&hold, 0, 0), 0);
	got.hold = &hold;
	make(&got, "slow", 0, 64 << 10);
	session = start(in("t-a"));
	good(kymo_session_attach(session, got.sink));
	for (unsigned i = 0; i < VALUES / CHUNK; i++) {
		for (unsigned j = 0; j < CHUNK; j++)
			KYMO_INSTANT("inside", "event", ("i", i * CHUNK + j));
		wait_until(session, in("t-a"), (i + 1) * CHUNK);
	}
	assert_true(has_said("slow"));
	assert_int_equal(sem_post(&hold), 0);
	(void)kymo_session_remove_sink(session, "slow", &own); /* it has lost events: -1 */
	assert_true(own.unwritten > 0);
	assert_int_equal(own.recorded + own.dropped + own.unwritten, VALUES);
	assert_int_equal(kymo_sink_free(got.sink), 0);
	good(stop(session, &stats));
	assert_int_equal(stats.recorded, VALUES);
	check(&got, VALUES);
	assert_int_equal(got.totals.lost, own.unwritten + own.dropped);
}

static void refused_packets_count_as_lost(void **state)
{
	struct got got = { .refuses = true };
	struct kymo_session *session;

	(void)state;
	make(&got, "refuses", 0, 0);
	session = start(in("t-a"));
	good(kymo_session_attach(session, got.sink));
	emit(50);
	good(stop(session, NULL));
	assert_int_equal(kymo_sink_free(got.sink), 0);
	assert_int_equal(got.totals.lost, 50);
	check(&got, 50);
}

static void bad_options(void **state)
{
	struct kymo_sink_options options = { .size = sizeof options,
					     .name = "x",
					     .packet = on_packet };
	struct kymo_session *session;

	(void)state;
	options.size--;
	assert_null(kymo_sink_create(&options));
	options.size++;
	options.name = "";
	assert_null(kymo_sink_create(&options));
	options.name = "x";
	options.packet = NULL;
	assert_null(kymo_sink_create(&options));
	assert_null(kymo_sink_create(NULL));
	assert_int_equal(kymo_sink_free(NULL), 0);
	assert_int_equal(kymo_sink_pump(NULL, 0), -1);
	bad(kymo_session_start(NULL, NULL, &session), "NULL");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_sink_alone, clear),
		cmocka_unit_test_teardown(a_sink_that_is_pumped, clear),
		cmocka_unit_test_teardown(a_slow_sink_loses, clear),
		cmocka_unit_test_teardown(refused_packets_count_as_lost, clear),
		cmocka_unit_test(bad_options),
	};
	inside_begin(argc, argv);
	(void)kymo_track("a fact", 0);
	return inside_end(cmocka_run_group_tests(tests, NULL, NULL));
}
