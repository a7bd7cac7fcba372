/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sinks that come, go and fail while a session records: each is complete from its first byte, and
 * what was produced in its time is in it, or counted for it.
 */
#include <errno.h>

#include "place.h"
#include "producer.h"

#include "babeltrace.h"
#include "recorder/drain/drained_process.h"
#include "recorder/session/session.h"

struct place {
	char run[PLACE_RUN_SIZE], said[4096];
	struct producer producer;
	struct session *session;
};

static void say(void *context, const char *text)
{
	struct place *place = context;
	size_t used = strlen(place->said);

	snprintf(place->said + used, sizeof place->said - used, "%s\n", text);
}

static int setup(void **state)
{
	struct place *place = place_create(sizeof *place);

	if (!place)
		return -1;
	producer_open(&place->producer, place->run);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	producer_close(&place->producer);
	return place_destroy(place);
}

static const char *in(const struct place *place, const char *name)
{
	static char path[4][128];
	static unsigned next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof path[next], "%s/%s", place->run, name);
	return path[next];
}

static void begin(struct place *place, const char *output, struct sink *sink)
{
	struct session_options options = {
		.runtime_dir = place->run, .output = output, .sink = sink, .version = "0.1.0",
		.say = say, .context = place,
	};
	struct kymo_err err = { 0 };

	if (session_begin(&options, &place->session, &err) < 0)
		fail_msg("%s", err.text);
}

static void events(struct place *place, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		producer_event(&place->producer, i % PRODUCER_RINGS, i);
}

static void poll_once(struct place *place)
{
	assert_true(session_poll(place->session) >= 0);
}

/* A little data waits 100 ms for more. */
static void poll_long(struct place *place)
{
	poll_once(place);
	usleep(110000);
	poll_once(place);
}

static struct sink *add(struct place *place, const char *path)
{
	struct sink *sink = NULL;
	struct kymo_err err = { 0 };

	if (session_add_trace(place->session, path, NULL, &sink, &err) < 0)
		fail_msg("%s", err.text);
	return sink;
}

static struct session_stats take_away(struct place *place, struct sink *sink)
{
	struct session_stats stats;
	struct kymo_err err = { 0 };

	if (session_remove_sink(place->session, sink, &stats, &err) < 0)
		fail_msg("%s", err.text);
	return stats;
}

static struct session_stats end(struct place *place)
{
	struct session_stats stats;
	struct kymo_err err = { 0 };

	if (session_end(place->session, &err) < 0)
		fail_msg("%s", err.text);
	session_stats(place->session, &stats);
	session_free(place->session);
	return stats;
}

static void check_trace(const char *path, uint64_t runtime, uint64_t init, uint64_t lost)
{
	struct babeltrace seen = babeltrace_read(path, "callback_end");

	if (seen.status == 77)
		skip();
	if (seen.complaints)
		fail_msg("babeltrace2: %s", seen.complaint);
	assert_int_equal(seen.matching, runtime);
	assert_int_equal(seen.events, runtime + init);
	assert_int_equal(seen.discarded, lost);
}

/* Whether the accounts of the sink at @path hold @text, blanks left out. */
static bool accounts_have(const char *path, const char *text)
{
	static char json[65536];
	char name[160];
	FILE *file;

	snprintf(name, sizeof name, "%s/kymo.json", path);
	file = fopen(name, "r");
	assert_non_null(file);
	json[fread(json, 1, sizeof json - 1, file)] = 0;
	fclose(file);
	for (char *from = json, *to = json; (*to = *from) != 0; from++)
		to += *from != ' ' && *from != '\n';
	return strstr(json, text);
}

/* ---- a sink in memory that does what the test says ---- */

struct counter {
	struct sink sink;
	int refuse;			/* -errno for everything */
	uint64_t records, facts, discarded[PRODUCER_RINGS], calls;
	uint64_t last_fact_ns;
	bool *closed;
};

static int count_facts(struct sink *sink, struct sink_process *at, const struct sink_facts *facts)
{
	struct counter *counter = (struct counter *)sink;

	(void)at;
	if (counter->refuse)
		return counter->refuse;
	for (unsigned i = 0; i < facts->count; i++) {
		const struct sink_fact *fact = (const void *)(facts->bytes + facts->at[i]);

		assert_true(fact->ns >= sink->start_ns && fact->ns >= counter->last_fact_ns);
		assert_int_equal(kymo_points[fact->id].phase, KYMO_PHASE_INIT);
		counter->last_fact_ns = fact->ns;
	}
	counter->facts += facts->count;
	return 0;
}

static int count_packet(struct sink *sink, struct sink_process *at,
			const struct sink_packet *packet)
{
	struct counter *counter = (struct counter *)sink;

	(void)at;
	counter->calls++;
	if (counter->refuse)
		return counter->refuse;
	counter->records += packet->records;
	assert_true(packet->discarded >= counter->discarded[packet->ring]);
	counter->discarded[packet->ring] = packet->discarded;
	return 0;
}

static void count_close(struct sink *sink)
{
	*((struct counter *)sink)->closed = true;
}

static const struct sink_ops count_ops = {
	.kind = "count", .facts = count_facts, .packet = count_packet, .close = count_close,
};

static struct counter a_counter(bool *closed)
{
	return (struct counter){ .sink = { .ops = &count_ops, .name = "counter" }, .closed = closed };
}

/* ---- tests ---- */

static void each_holds_what_was_produced_in_its_time(void **state)
{
	struct place *place = *state;
	struct session_stats stats;
	struct sink *second, *third;

	producer_init(&place->producer, 1, "before");
	begin(place, in(place, "a"), NULL);
	events(place, 100);
	second = add(place, in(place, "b"));		/* nothing was drained so far */
	events(place, 20);
	producer_init(&place->producer, 2, "between");
	poll_once(place);
	third = add(place, in(place, "c"));
	events(place, 3);
	stats = take_away(place, second);
	assert_int_equal(stats.recorded, 23);
	assert_int_equal(stats.init_events, 2);
	check_trace(in(place, "b"), 23, 2, 0);
	assert_true(accounts_have(in(place, "b"), "\"totals\":{\"processes\":1,\"threads\":2,\"recorded\":23,"));
	assert_true(accounts_have(in(place, "b"), "\"name\":\"thread0\",\"recorded\":12,\"dropped\":0,"));
	assert_true(accounts_have(in(place, "b"), "\"ended\":true"));
	events(place, 5);
	stats = take_away(place, third);
	assert_int_equal(stats.recorded, 8);
	stats = end(place);
	assert_int_equal(stats.recorded, 128);
	assert_int_equal(stats.recorded, place->producer.produced);
	assert_true(accounts_have(in(place, "a"), "\"threads\":2,\"recorded\":128,"));
	check_trace(in(place, "a"), 128, 2, 0);
	check_trace(in(place, "c"), 8, 2, 0);
	assert_string_equal(place->said, "");
}

static void drops_belong_to_the_sinks_that_were_there(void **state)
{
	struct place *place = *state;
	struct session_stats stats;
	struct sink *second;
	uint64_t before;
	char text[96];

	begin(place, in(place, "a"), NULL);
	events(place, 5000);				/* more than the rings hold */
	before = place->producer.dropped;
	assert_true(before > 0);
	second = add(place, in(place, "b"));
	events(place, 5000);
	poll_once(place);
	events(place, 10);
	stats = take_away(place, second);
	assert_int_equal(stats.dropped, place->producer.dropped - before);
	assert_int_equal(stats.recorded + stats.dropped, 5010);
	check_trace(in(place, "b"), stats.recorded, 0, stats.dropped);
	snprintf(text, sizeof text, "\"recorded\":%" PRIu64 ",\"dropped\":%" PRIu64 ",", stats.recorded, stats.dropped);
	assert_true(accounts_have(in(place, "b"), text));
	stats = end(place);
	assert_int_equal(stats.dropped, place->producer.dropped);
	assert_int_equal(stats.recorded + stats.dropped, place->producer.produced);
	check_trace(in(place, "a"), stats.recorded, 0, stats.dropped);
}

/* Many times, with a new process in between: no state of one sink is left to the next. */
static void sinks_come_and_go(void **state)
{
	struct place *place = *state;
	struct session_stats stats;
	struct producer late;
	char name[16];

	producer_init(&place->producer, 1, "first");
	begin(place, in(place, "a"), NULL);
	for (unsigned i = 0; i < 100; i++) {
		struct sink *sink;

		snprintf(name, sizeof name, "s%u", i);
		sink = add(place, in(place, name));
		events(place, i);
		if (i == 50) {
			producer_open_as(&late, place->run, getpid(), alive_start_time(getpid()), "2-2.region");
			producer_init(&late, 2, "late");
			session_notice(place->session);
		}
		if (i % 3)
			poll_once(place);
		stats = take_away(place, sink);
		assert_int_equal(stats.recorded, i);
		assert_int_equal(stats.init_events, i < 50 ? 1 : 2);
		if (i % 25 == 1)
			check_trace(in(place, name), i, stats.init_events, 0);
	}
	stats = end(place);
	assert_int_equal(stats.recorded, 99 * 50);
	producer_close(&late);
}

static void one_that_fails_loses_alone(void **state)
{
	struct place *place = *state;
	bool closed = false;
	struct counter counter = a_counter(&closed);
	struct session_stats stats;
	struct kymo_err err = { 0 };

	producer_init(&place->producer, 1, "first");
	begin(place, in(place, "a"), &counter.sink);
	events(place, 10);
	poll_long(place);
	assert_int_equal(counter.records, 10);
	counter.refuse = -ENOSPC;
	producer_init(&place->producer, 2, "while it fails");
	events(place, 200);
	poll_long(place);
	assert_int_equal(counter.records, 10);
	assert_non_null(strstr(place->said, "cannot write to counter: No space left"));
	counter.refuse = 0;
	usleep(110000);
	poll_once(place);				/* tries again */
	events(place, 7);
	poll_long(place);
	assert_non_null(strstr(place->said, "counter can be written again"));
	events(place, 4);
	session_sink_stats(place->session, &counter.sink, &stats);
	assert_int_equal(session_remove_sink(place->session, &counter.sink, &stats, &err), -1);
	assert_non_null(strstr(err.text, "200 not written"));
	assert_true(closed);
	assert_int_equal(stats.recorded, 21);
	assert_int_equal(stats.unwritten, 200);
	assert_int_equal(stats.dropped, 0);
	assert_int_equal(counter.records, 21);
	assert_int_equal(counter.facts, 2);		/* late, but not lost */
	assert_int_equal(counter.discarded[0] + counter.discarded[1], 200);
	stats = end(place);
	assert_int_equal(stats.recorded, 221);
	check_trace(in(place, "a"), 221, 2, 0);
}

static void the_only_one_holds_the_programs_back(void **state)
{
	struct place *place = *state;
	bool closed = false;
	struct counter counter = a_counter(&closed);
	struct kymo_err err = { 0 };
	uint64_t rpos;

	counter.refuse = -ENOSPC;
	begin(place, NULL, &counter.sink);
	rpos = place->producer.ring[0]->rpos;
	events(place, 5000);
	poll_once(place);
	usleep(110000);
	poll_once(place);
	assert_int_equal(place->producer.ring[0]->rpos, rpos);
	counter.refuse = 0;
	usleep(110000);
	poll_once(place);
	assert_true(place->producer.ring[0]->rpos > rpos);
	assert_int_equal(session_remove_sink(place->session, &counter.sink, NULL, &err), -1);
	assert_non_null(strstr(err.text, "the only sink"));
	assert_int_equal(session_end(place->session, &err), -1);
	assert_non_null(strstr(err.text, "0 not written"));
	assert_int_equal(counter.records + place->producer.dropped, 5000);
	assert_int_equal(counter.discarded[0] + counter.discarded[1], place->producer.dropped);
	session_free(place->session);
}

static void a_removed_directory_is_made_again(void **state)
{
	struct place *place = *state;
	struct session_stats stats;
	struct sink *second;
	struct kymo_err err = { 0 };
	char command[256];
	uint64_t gone;

	begin(place, in(place, "a"), NULL);
	second = add(place, in(place, "b"));
	events(place, 10);
	session_flush(place->session);
	poll_once(place);
	snprintf(command, sizeof command, "rm -rf %s", in(place, "b"));
	assert_int_equal(system(command), 0);
	events(place, 3);		/* before it is noticed, or after */
	poll_long(place);
	assert_non_null(strstr(place->said, "was removed while recording"));
	assert_int_equal(second->removed.times, 1);
	events(place, 10);
	gone = second->removed.events;
	assert_in_range(gone, 10, 13);
	assert_int_equal(session_remove_sink(place->session, second, &stats, &err), -1);
	assert_int_equal(stats.unwritten, 0);
	assert_int_equal(stats.recorded, 23);
	check_trace(in(place, "b"), 23 - gone, 0, 0);
	stats = end(place);
	assert_int_equal(stats.recorded, 23);
	check_trace(in(place, "a"), 23, 0, 0);
}

static void one_without_events_leaves_nothing(void **state)
{
	struct place *place = *state;
	struct sink *second;

	begin(place, in(place, "a"), NULL);
	events(place, 1);
	second = add(place, in(place, "b"));
	assert_int_equal(access(in(place, "b/ust/metadata"), F_OK), 0);
	(void)take_away(place, second);
	assert_int_equal(access(in(place, "b"), F_OK), -1);
	(void)end(place);
	assert_int_equal(access(in(place, "a"), F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_holds_what_was_produced_in_its_time),
		TEST(drops_belong_to_the_sinks_that_were_there),
		TEST(sinks_come_and_go),
		TEST(one_that_fails_loses_alone),
		TEST(the_only_one_holds_the_programs_back),
		TEST(a_removed_directory_is_made_again),
		TEST(one_without_events_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
