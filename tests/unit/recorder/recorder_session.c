/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions over regions that the test writes itself: all comes out, loss is exact, crashes cost
 * nothing. */
#include <sys/resource.h>

#include "place.h"
#include "producer.h"

#include "babeltrace.h"
#include "recorder/session/session.h"

struct place {
	char run[PLACE_RUN_SIZE], trace[96], said[4096];
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
	snprintf(place->trace, sizeof place->trace, "%s/trace", place->run);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	return place_destroy(place);
}

static struct session *begin(struct place *place, const char *trace)
{
	struct session_options options = {
		.runtime_dir = place->run, .output = trace, .version = "0.1.0",
		.say = say, .context = place,
	};
	struct session *session = NULL;
	struct kymo_err err = { 0 };

	if (session_begin(&options, &session, &err) < 0)
		fail_msg("%s", err.text);
	return session;
}

static void poll_once(struct session *session)
{
	assert_true(session_poll(session) >= 0);
}

static struct session_stats end(struct session *session)
{
	struct session_stats stats;
	struct kymo_err err = { 0 };

	if (session_end(session, &err) < 0)
		fail_msg("%s", err.text);
	session_stats(session, &stats);
	session_free(session);
	return stats;
}

/* What babeltrace2 finds must be what the session counted. */
static struct babeltrace check_trace(const char *trace, const struct session_stats *stats)
{
	struct babeltrace seen = babeltrace_read(trace, "callback_end");

	if (seen.status == 77)
		skip();
	if (seen.complaints)
		fail_msg("babeltrace2: %s", seen.complaint);
	assert_int_equal(seen.status, 0);
	assert_int_equal(seen.events, stats->recorded + stats->init_events);
	assert_int_equal(seen.matching, stats->recorded);
	assert_int_equal(seen.discarded, stats->dropped + stats->init_dropped + stats->unwritten);
	return seen;
}

static void all_that_is_produced_is_recorded(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session;
	struct session_stats stats;
	uint64_t number = 1;

	producer_open(&producer, place->run);
	producer_init(&producer, 1, "before the session");
	producer_event(&producer, 0, 0);		/* not enabled: no event */
	assert_int_equal(producer.produced, 0);
	session = begin(place, place->trace);
	assert_int_equal(producer.region->state, KYMO_STATE_RECORD);
	srand(1);
	for (unsigned round = 0; round < 300; round++) {
		unsigned burst = (unsigned)rand() % 120;

		for (unsigned i = 0; i < burst; i++, number++)
			producer_event(&producer, number % PRODUCER_RINGS, number);
		producer_init(&producer, number, "during the session");
		if (round % 3 == 0)
			/* So that packets end in different places. */
			usleep((unsigned)rand() % 2000);
		poll_once(session);
	}
	stats = end(session);
	assert_int_equal(producer.region->state, KYMO_STATE_WAIT);
	number = producer.produced;
	producer_event(&producer, 0, 1);		/* not enabled any more */
	assert_int_equal(producer.produced, number);
	assert_int_equal(producer.dropped, 0);
	assert_int_equal(stats.recorded, producer.produced);
	assert_int_equal(stats.init_events, 301);
	assert_int_equal(stats.dropped, 0);
	check_trace(place->trace, &stats);
	assert_string_equal(place->said, "");
	producer_close(&producer);
}

static void contexts_are_where_readers_look(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session;
	struct session_stats stats;
	struct babeltrace seen;
	char wanted[64];

	producer_open(&producer, place->run);
	session = begin(place, place->trace);
	producer_event(&producer, 1, 0xabc);
	stats = end(session);
	seen = check_trace(place->trace, &stats);
	assert_non_null(strstr(seen.first, "ros2:callback_end"));
	snprintf(wanted, sizeof wanted, "vpid = %d, vtid = %d, procname = \"thread1\"", getpid(),
		 getpid() + 1);
	assert_non_null(strstr(seen.first, wanted));
	assert_non_null(strstr(seen.first, "{ callback = 0xABC }"));
	producer_close(&producer);
}

/* Older facts stand at the session's start and tell their own time. */
static void init_events_do_not_stretch_the_trace(void **state)
{
	struct place *place = *state;
	uint64_t before, at = 0, truth = 0;
	struct producer producer;
	struct session *session;
	struct session_stats stats;
	char command[256], line[1024] = "";
	FILE *out;

	producer_open(&producer, place->run);
	producer_init(&producer, 1, "old");
	usleep(2000);
	before = producer_now();
	session = begin(place, place->trace);
	stats = end(session);
	check_trace(place->trace, &stats);
	snprintf(command, sizeof command, "babeltrace2 --clock-cycles '%s'", place->trace);
	out = popen(command, "r");
	assert_non_null(fgets(line, sizeof line, out));
	pclose(out);
	assert_int_equal(sscanf(line, "[%" SCNu64 "]", &at), 1);
	assert_non_null(strstr(line, "init_timestamp = "));
	assert_int_equal(sscanf(strstr(line, "init_timestamp = "), "init_timestamp = %" SCNu64, &truth), 1);
	assert_true(truth < before);
	assert_true(at >= before);
	producer_close(&producer);
}

static struct kymo_domain read_domain(const struct place *place)
{
	struct kymo_domain domain;
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/domain", place->run);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fread(&domain, sizeof domain, 1, file), 1);
	fclose(file);
	return domain;
}

/* In a child: closing the file here would give up the lock, as POSIX has it. */
static void the_domain_says_what_is_going_on(void **state)
{
	struct place *place = *state;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		struct session *session = begin(place, place->trace);
		struct kymo_domain during = read_domain(place), after;

		(void)end(session);
		after = read_domain(place);
		_exit(during.magic == KYMO_DOMAIN_MAGIC && during.state == KYMO_STATE_RECORD &&
		      during.generation && during.generation % 2 == 0 && !during.session_tag &&
		      during.recorder_pid == (uint32_t)getpid() &&
		      strcmp(during.trace_path, place->trace) == 0 &&
		      after.state == KYMO_STATE_WAIT ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void drops_are_counted_to_the_event(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session;
	struct session_stats stats;

	producer_open(&producer, place->run);
	session = begin(place, place->trace);
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 2000; i++)	/* far more than the ring holds */
			producer_event(&producer, 0, i);
		poll_once(session);
	}
	for (unsigned i = 0; i < 2000; i++)		/* lost after the last record */
		producer_event(&producer, 1, i);
	producer.region->dropped_no_ring = 11;
	stats = end(session);
	assert_true(producer.dropped > 1000);
	assert_int_equal(stats.dropped, producer.dropped + 11);
	assert_int_equal(stats.recorded + stats.dropped, producer.produced + 11);
	check_trace(place->trace, &stats);
	producer_close(&producer);
}

static void a_thread_without_any_room_shows_too(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session;
	struct session_stats stats;

	producer_open(&producer, place->run);
	producer.ring[0]->dropped = 1000;		/* before the session: not its loss */
	session = begin(place, place->trace);
	producer.ring[0]->dropped += 5;
	stats = end(session);
	assert_int_equal(stats.recorded, 0);
	assert_int_equal(stats.dropped, 5);
	check_trace(place->trace, &stats);
	producer_close(&producer);
}

/* Whether the accounts hold @text. */
static bool accounts_have(const struct place *place, const char *text)
{
	static char json[65536];
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/kymo.json", place->trace);
	file = fopen(path, "r");
	assert_non_null(file);
	json[fread(json, 1, sizeof json - 1, file)] = 0;
	fclose(file);
	for (char *from = json, *to = json; (*to = *from) != 0; from++)
		to += *from != ' ' && *from != '\n';
	return strstr(json, text);
}

static void a_retired_ring_is_given_back(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session;
	struct session_stats stats;

	producer_open(&producer, place->run);
	session = begin(place, place->trace);
	producer_event(&producer, 0, 1);
	producer.ring[0]->dropped = producer.dropped = 3;
	producer.ring[0]->state = KYMO_RING_RETIRED;
	poll_once(session);
	assert_int_equal(producer.ring[0]->state, KYMO_RING_FREE);
	producer.ring[0]->state = KYMO_RING_OWNED;
	producer.ring[0]->tid = 4242;
	producer.ring[0]->owner_seq++;
	snprintf(producer.ring[0]->name, sizeof producer.ring[0]->name, "second");
	producer_event(&producer, 0, 2);
	stats = end(session);
	assert_int_equal(stats.recorded, 2);
	assert_int_equal(stats.threads, 2);
	assert_true(accounts_have(place, "\"name\":\"thread0\",\"recorded\":1,\"dropped\":3,"));
	assert_true(accounts_have(place, "\"name\":\"second\",\"recorded\":1,\"dropped\":0,"));
	check_trace(place->trace, &stats);
	assert_int_equal(babeltrace_read(place->trace, "vtid = 4242, procname = \"second\"").matching, 1);
	producer_close(&producer);
}

static void the_next_recorder_goes_on_where_a_dead_one_stopped(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session;
	struct session_stats first, second;
	char trace[128];

	producer_open(&producer, place->run);
	producer_init(&producer, 7, "symbol");
	session = begin(place, place->trace);
	for (unsigned i = 0; i < 500; i++) {
		producer_event(&producer, 0, i);
		if (i % 100 == 0)
			poll_once(session);
	}
	session_stats(session, &first);
	session_free(session);				/* as if it had been killed */
	for (unsigned i = 0; i < 200; i++)
		producer_event(&producer, 0, i);
	snprintf(trace, sizeof trace, "%s-2", place->trace);
	session = begin(place, trace);
	producer_event(&producer, 0, 1);
	second = end(session);
	assert_true(first.recorded < 500);
	assert_int_equal(first.recorded + second.recorded + producer.dropped, producer.produced);
	assert_int_equal(second.dropped, producer.dropped);
	assert_int_equal(second.init_events, 1);	/* names are in every trace */
	check_trace(place->trace, &first);
	check_trace(trace, &second);
	producer_close(&producer);
}

static void what_an_ended_session_left_is_not_in_the_next(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session;
	struct session_stats stats;
	uint8_t *enable;
	char trace[128];

	producer_open(&producer, place->run);
	session = begin(place, place->trace);
	producer_event(&producer, 0, 1);
	(void)end(session);
	enable = (uint8_t *)producer_page(&producer, KYMO_ENABLE_PAGE);
	enable[KYMO_POINT_callback_end] = 1;		/* a thread that was inside its event */
	producer_event(&producer, 0, 2);
	enable[KYMO_POINT_callback_end] = 0;
	snprintf(trace, sizeof trace, "%s-2", place->trace);
	session = begin(place, trace);
	for (unsigned i = 0; i < 3; i++)
		producer_event(&producer, 0, 3);
	stats = end(session);
	assert_int_equal(stats.recorded, 3);
	check_trace(trace, &stats);
	producer_close(&producer);
}

static void open_dead(struct producer *producer, const struct place *place)
{
	producer_open_as(producer, place->run, producer_dead_pid(), 1, "1-1.region");
	producer->region->state = KYMO_STATE_RECORD;
	((uint8_t *)producer_page(producer, KYMO_ENABLE_PAGE))[KYMO_POINT_callback_end] = 1;
}

static void a_dead_process_gives_all_it_committed(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session_stats stats;

	open_dead(&producer, place);
	producer_init(&producer, 1, "symbol");
	for (unsigned i = 0; i < 400; i++)
		producer_event(&producer, i % 2, i);
	producer.ring[0]->nest = 1;
	producer.ring[1]->nseq = 1;			/* died while publishing */
	producer.ring[1]->lastts = 0;
	stats = end(begin(place, place->trace));
	assert_int_equal(stats.recorded, 400);
	assert_int_equal(stats.init_events, 1);
	assert_int_equal(access(producer.path, F_OK), -1);	/* its region is gone */
	check_trace(place->trace, &stats);
	producer_close(&producer);
}

static void a_bad_tail_is_cut_and_told(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session_stats stats;
	uint64_t word;

	open_dead(&producer, place);
	for (unsigned i = 0; i < 10; i++)
		producer_event(&producer, 0, i);
	word = producer.ring[0]->wpos;
	memset(producer_at(producer.ring[0], KYMO_WORD_POS(word)), 0xee, 18);
	producer.ring[0]->wpos = KYMO_WORD(KYMO_WORD_POS(word) + 18, 11);
	stats = end(begin(place, place->trace));
	assert_int_equal(stats.recorded, 10);
	assert_int_equal(stats.lost_bytes, 18);
	assert_int_equal(stats.unwritten, 1);
	assert_non_null(strstr(place->said, "corrupt"));
	check_trace(place->trace, &stats);
	producer_close(&producer);
}

static void a_hole_in_a_dead_log_hides_nothing_else(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session_stats stats;
	struct kymo_log_record *record;

	open_dead(&producer, place);
	producer_init(&producer, 1, "one");
	record = (void *)(producer.base + KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE +
			  producer.region->log_tail);
	producer_init(&producer, 2, "never finished");
	record->stamp = 0;
	for (unsigned i = 0; i < 1000; i++)		/* and over a chunk's end */
		producer_init(&producer, i, "three");
	stats = end(begin(place, place->trace));
	assert_int_equal(stats.init_events, 1001);
	check_trace(place->trace, &stats);
	producer_close(&producer);
}

static void a_living_log_keeps_its_order(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session;
	struct session_stats stats;
	struct kymo_log_record *record;
	uint64_t stamp;

	producer_open(&producer, place->run);
	session = begin(place, place->trace);
	record = (void *)(producer.base + KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE);
	producer_init(&producer, 1, "being written");
	stamp = record->stamp;
	record->stamp = 0;
	producer_init(&producer, 2, "behind it");
	poll_once(session);
	session_stats(session, &stats);
	assert_int_equal(stats.init_events, 0);
	record->stamp = stamp;
	poll_once(session);
	session_stats(session, &stats);
	assert_int_equal(stats.init_events, 2);
	stats = end(session);
	check_trace(place->trace, &stats);
	producer_close(&producer);
}

/* A thread of it may already wait for room (--block), or drop. */
static void a_new_process_is_drained_at_once(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session = begin(place, place->trace);
	struct session_stats stats;

	assert_true(session_poll(session) > 0);
	producer_open(&producer, place->run);
	producer_event(&producer, 0, 1);
	session_notice(session);
	assert_int_equal(session_poll(session), 0);
	assert_true(session_poll(session) > 0);
	session_stats(session, &stats);
	assert_int_equal(stats.recorded, producer.produced);
	producer_close(&producer);
	(void)end(session);
}

static void only_one_recorder_at_a_time(void **state)
{
	struct place *place = *state;
	struct session *session = begin(place, place->trace);
	char pid_text[16];
	pid_t child;
	int status;

	snprintf(pid_text, sizeof pid_text, "%d", getpid());
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct session_options options = {
			.runtime_dir = place->run, .output = "/proc/nonexistent/x", .version = "0",
		};
		struct session *other = NULL;
		struct kymo_err err = { 0 };

		_exit(session_begin(&options, &other, &err) == -1 &&
				      err.status == KYMO_EXIT_FAILED &&
				      strstr(err.text, pid_text) &&
				      strstr(err.text, place->trace) && strstr(err.text, "KYMO_DIR")
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	(void)end(session);
}

/* Only processes of the session's tag, and they are left alone again. */
static void others_are_left_alone(void **state)
{
	struct place *place = *state;
	struct session_options options = {
		.runtime_dir = place->run, .output = place->trace, .version = "0.1.0", .tag = 99,
	};
	struct producer mine, other;
	struct session *session;
	struct session_stats stats;
	struct kymo_err err;

	producer_open(&mine, place->run);
	mine.region->session_tag = 99;
	producer_open_as(&other, place->run, getpid(), alive_start_time(getpid()), "2-2.region");
	assert_int_equal(session_begin(&options, &session, &err), 0);
	assert_int_equal(mine.region->state, KYMO_STATE_RECORD);
	assert_int_equal(other.region->state, KYMO_STATE_WAIT);
	producer_event(&mine, 0, 1);
	producer_event(&other, 0, 1);
	stats = end(session);
	assert_int_equal(stats.recorded, 1);
	assert_int_equal(stats.processes, 1);
	producer_close(&mine);
	producer_close(&other);
}

/* After exec, pid and start time are those of the new program. */
static void a_replaced_image_is_finished(void **state)
{
	struct place *place = *state;
	struct producer producer;
	struct session *session;
	struct session_stats stats;

	producer_open(&producer, place->run);
	session = begin(place, place->trace);
	producer_event(&producer, 0, 1);
	producer.region->flags = KYMO_REGION_REPLACED;
	for (unsigned i = 0; i < 100 && access(producer.path, F_OK) == 0; i++) {
		poll_once(session);
		usleep(20000);
	}
	assert_int_equal(access(producer.path, F_OK), -1);
	stats = end(session);
	assert_int_equal(stats.recorded, 1);
	assert_int_equal(stats.alive, 0);
	check_trace(place->trace, &stats);
	producer_close(&producer);
}

#define MANY 300

static int record_many(struct place *place, struct producer *producer)
{
	struct rlimit limit = { .rlim_cur = 600, .rlim_max = 600 };
	struct session *session;
	struct session_stats stats;

	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 1;
	for (unsigned i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof name, "%u-1.region", i + 1);
		producer_open_as(&producer[i], place->run, getpid(), alive_start_time(getpid()),
				 name);
		producer_init(&producer[i], i, "symbol");
	}
	session = begin(place, place->trace);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < MANY; i++) {
			producer_event(&producer[i], 0, round);
			producer_event(&producer[i], 1, round);
		}
		usleep(2000);
		poll_once(session);
	}
	stats = end(session);
	return stats.processes == MANY && stats.recorded == 6 * MANY && stats.init_events == MANY &&
	       !place->said[0] ? 0 : 2;
}

static void many_processes_need_few_descriptors(void **state)
{
	static struct producer producer[MANY];
	struct place *place = *state;
	struct babeltrace seen;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(record_many(place, producer));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	seen = babeltrace_read(place->trace, NULL);
	if (seen.status == 77)
		skip();
	assert_string_equal(seen.complaint, "");
	assert_int_equal(seen.events, 7 * MANY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_that_is_produced_is_recorded),
		TEST(contexts_are_where_readers_look),
		TEST(init_events_do_not_stretch_the_trace),
		TEST(the_domain_says_what_is_going_on),
		TEST(drops_are_counted_to_the_event),
		TEST(a_thread_without_any_room_shows_too),
		TEST(a_retired_ring_is_given_back),
		TEST(the_next_recorder_goes_on_where_a_dead_one_stopped),
		TEST(what_an_ended_session_left_is_not_in_the_next),
		TEST(a_dead_process_gives_all_it_committed),
		TEST(a_bad_tail_is_cut_and_told),
		TEST(a_hole_in_a_dead_log_hides_nothing_else),
		TEST(a_living_log_keeps_its_order),
		TEST(a_new_process_is_drained_at_once),
		TEST(only_one_recorder_at_a_time),
		TEST(others_are_left_alone),
		TEST(a_replaced_image_is_finished),
		TEST(many_processes_need_few_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
