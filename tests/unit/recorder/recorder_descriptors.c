/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions without a descriptor left: every event is recorded later, or counted. */
#include <signal.h>
#include <sys/resource.h>

#include "place.h"
#include "producer.h"

#include "recorder/session/session.h"

#define ROUNDS 300 /* of 10 ms */

struct place {
	char run[PLACE_RUN_SIZE], trace[96];
	struct rlimit limit;
};

/* From now on nothing can be opened. */
static void close_off(const struct place *place)
{
	const int lowest = dup(STDERR_FILENO);
	const struct rlimit limit = { (rlim_t)lowest, place->limit.rlim_max };

	assert_true(lowest > 0);
	close(lowest);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void open_up(const struct place *place)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &place->limit), 0);
}

static int setup(void **state)
{
	struct place *place = place_create(sizeof *place);

	if (!place || getrlimit(RLIMIT_NOFILE, &place->limit) != 0)
		return -1;
	snprintf(place->trace, sizeof place->trace, "%s/trace", place->run);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	open_up(place);
	return place_destroy(place);
}

static void say(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static struct session *begin(struct place *place)
{
	struct session_options options = {
		.runtime_dir = place->run, .output = place->trace, .version = "0.1.0", .say = say,
	};
	struct session *session = NULL;
	struct kymo_err err = { 0 };

	if (session_begin(&options, &session, &err) < 0)
		fail_msg("%s", err.text);
	return session;
}

static void poll_for(struct session *session, const char *gone, unsigned rounds)
{
	for (unsigned i = 0; i < rounds && (!gone || access(gone, F_OK) == 0); i++) {
		assert_true(session_poll(session) >= 0);
		usleep(10000);
	}
}

static struct session_stats end(struct session *session)
{
	struct session_stats stats;
	struct kymo_err err = { 0 };

	(void)session_end(session, &err); /* it says that files could not be opened */
	session_stats(session, &stats);
	session_free(session);
	return stats;
}

/* /proc does not answer: that does not mean that the process has ended. */
static void a_process_that_cannot_be_looked_up_lives(void **state)
{
	struct place *place = *state;
	struct session_stats stats;
	struct producer producer;
	struct session *session;

	producer_open(&producer, place->run);
	session = begin(place);
	producer_event(&producer, 0, 1);
	close_off(place);
	assert_int_equal(alive_check(getpid(), alive_start_time(getpid())), ALIVE_UNKNOWN);
	poll_for(session, NULL, 30);
	assert_int_equal(access(producer.path, F_OK), 0);
	open_up(place);
	producer_event(&producer, 0, 2);
	stats = end(session);
	assert_int_equal(stats.processes, 1);
	assert_int_equal(stats.alive, 1);
	assert_int_equal(stats.recorded, 2);
	producer_close(&producer);
}

/* What cannot be written at the moment is kept, also of a process that has ended. */
static void what_the_dead_left_is_written_later(void **state)
{
	struct place *place = *state;
	struct session_stats stats;
	struct producer producer;
	struct session *session;
	const pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		for (;;)
			pause();
	producer_open_as(&producer, place->run, child, alive_start_time(child), "2-2.region");
	session = begin(place);
	close_off(place);
	producer_event(&producer, 0, 1);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	poll_for(session, producer.path, 30);
	assert_int_equal(access(producer.path, F_OK), 0);
	open_up(place);
	poll_for(session, producer.path, ROUNDS);
	assert_int_equal(access(producer.path, F_OK), -1);
	stats = end(session);
	assert_int_equal(stats.recorded, 1);
	assert_int_equal(stats.unwritten, 0);
	producer_close(&producer);
}

/* There is never a descriptor for the process, only the one that the session has saved for the
 * end. */
static void what_cannot_be_written_is_counted(void **state)
{
	struct place *place = *state;
	struct session_stats stats;
	struct producer producer;
	struct session *session;

	session = begin(place);
	producer_open(&producer, place->run);
	/* As one that started while a session records. */
	producer.region->state = KYMO_STATE_RECORD;
	memset(producer_page(&producer, KYMO_ENABLE_PAGE), 1, KYMO_PAGE);
	producer_event(&producer, 0, 1);
	producer_event(&producer, 0, 2);
	close_off(place);
	poll_for(session, NULL, 10);
	stats = end(session);
	assert_int_equal(stats.processes, 1);
	assert_int_equal(stats.refused, 0);
	assert_int_equal(stats.recorded, 0);
	assert_int_equal(stats.unwritten, 2);
	producer_close(&producer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_process_that_cannot_be_looked_up_lives),
		TEST(what_the_dead_left_is_written_later),
		TEST(what_cannot_be_written_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
