/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorder dies at a point of its own choice, another comes: every event is in one of the traces,
 * or counted as dropped, and babeltrace2 has nothing to say about either.
 */
#include "place.h"
#include "producer.h"

#include "recorder/drain/promise.h"
#include "recorder/session/session.h"
#include "base/array.h"

#define NUMBERS		16384
#define TRACES		24

/* Shared with the children that die. */
struct shared {
	uint64_t next;			/* number of the next event */
	uint64_t init_next;
};

struct place {
	char run[PLACE_RUN_SIZE], said[4096];
	char trace[TRACES][96];
	unsigned traces;
	enum session_streams streams;	/* of the recorders that die */
	bool two_sinks;			/* each recorder writes two traces */
	struct producer producer;
	struct shared *shared;
	uint8_t seen[NUMBERS];		/* how often a number is in a trace */
	uint64_t discarded;
};

/* Where a child dies, and what it does to the file before. */
static struct death {
	enum promise_point point;
	int moves;			/* only where this moves */
	bool text;			/* only in metadata */
	unsigned times;			/* the how manieth time */
	/* Bytes that are left of what was being written; -1: as it is. */
	long keep;
	struct kymo_region *region;
} death;

/* Of the sink that has its turn. */
static struct kymo_promise_place *place_in(struct kymo_region *region)
{
	const unsigned begun = (unsigned)(region->promise.state & (KYMO_PROMISE_WANTED(0) - 1));

	return (struct kymo_promise_place *)((uint8_t *)region + KYMO_PROMISE_PAGE * KYMO_PAGE) +
	       (begun ? 31 - (unsigned)__builtin_clz(begun) : 0);
}

static void maybe_die(enum promise_point point)
{
	const struct kymo_promise_place *promise = place_in(death.region);
	const bool is_known = point != PROMISE_ENTERED;		/* what is written next */

	if (point != death.point || (is_known && (int)promise->moves != death.moves) ||
	    (death.text && promise->head_size) || --death.times)
		return;
	if (death.keep >= 0 && truncate(promise->path, (off_t)promise->offset + death.keep) < 0)
		_exit(3);
	_exit(0);
}

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
	for (unsigned i = 0; i < TRACES; i++)
		snprintf(place->trace[i], sizeof place->trace[i], "%s/trace%u", place->run, i);
	place->shared =
		mmap(NULL, KYMO_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	producer_open(&place->producer, place->run);
	*state = place;
	return place->shared == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	producer_close(&place->producer);
	munmap(place->shared, KYMO_PAGE);
	return place_destroy(place);
}

static struct session *begin(struct place *place)
{
	const char *const second = place->trace[place->traces + 1];
	struct session_options options = {
		.runtime_dir = place->run,
		.output = place->trace[place->traces],
		.version = "0.1.0",
		.say = say,
		.context = place,
		.streams = place->streams,
		.more = &second,
		.more_count = place->two_sinks,
	};
	struct session *session = NULL;
	struct kymo_err err = { 0 };

	if (session_begin(&options, &session, &err) < 0)
		fail_msg("%s", err.text);
	place->traces += 1 + place->two_sinks;
	return session;
}

static void emit(struct place *place, unsigned count)
{
	for (unsigned i = 0; i < count; i++, place->shared->next++)
		producer_event(&place->producer, (unsigned)(place->shared->next % PRODUCER_RINGS),
			       place->shared->next);
}

static void poll_all(struct session *session)
{
	session_flush(session);
	(void)session_poll(session);
}

static void end(struct session *session)
{
	struct kymo_err err = { 0 };

	if (session_end(session, &err) < 0)
		fail_msg("%s", err.text);
	session_free(session);
}

/* Some rounds in which each ring gives packets, then the end. */
static void record(struct place *place, struct session *session)
{
	for (unsigned round = 0; round < 4; round++) {
		producer_init(&place->producer, place->shared->init_next++, "symbol");
		emit(place, 100 + round * 120);
		poll_all(session);
	}
	emit(place, 30);
	end(session);
}

/* A recorder that dies as @wanted, or else ends well. Return: whether it died. */
static bool live_and_die(struct place *place, struct death wanted)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		struct session *session = begin(place);

		death = wanted;
		death.region = place->producer.region;
		promise_reached = maybe_die;
		record(place, session);
		_exit(2);
	}
	place->traces += 1 + place->two_sinks;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2)
		fail_msg("the child ended with %d", WEXITSTATUS(status));
	return WEXITSTATUS(status) == 0;
}

/* What babeltrace2 said on stderr: losses, or else a failure. */
static void read_complaints(struct place *place, const char *trace, const char *path)
{
	static const char mark[] = "Tracer discarded ";
	FILE *file = fopen(path, "r");
	char line[4096];

	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		const char *discarded = strstr(line, mark);

		if (!discarded)
			fail_msg("%s: babeltrace2: %s", trace, line);
		place->discarded += strtoull(discarded + strlen(mark), NULL, 10);
	}
	fclose(file);
}

/* Adds what babeltrace2 finds in a trace; anything else that it says is a failure. */
static void read_trace(struct place *place, const char *trace)
{
	char command[512], complaints[96], line[4096];
	FILE *out;
	int status;

	snprintf(complaints, sizeof complaints, "%s/complaints", place->run);
	snprintf(command, sizeof command, "command -v babeltrace2 >/dev/null || exit 77; exec babeltrace2 '%s' 2>'%s'",
		 trace, complaints);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof line, out)) {
		const char *number = strstr(line, "{ callback = 0x");

		if (number && strstr(line, "callback_end"))
			place->seen[strtoull(number + strlen("{ callback = "), NULL, 16) % NUMBERS]++;
	}
	status = pclose(out) >> 8;
	if (status == 77)
		skip();
	read_complaints(place, trace, complaints);
	assert_int_equal(status, 0);
}

/* Trace @first, and every @step-th after it. */
static void check_every(struct place *place, unsigned first, unsigned step)
{
	uint64_t missing = 0;

	assert_true(place->shared->next <= NUMBERS);
	memset(place->seen, 0, sizeof place->seen);
	place->discarded = 0;
	for (unsigned i = first; i < place->traces; i += step)
		read_trace(place, place->trace[i]);
	for (uint64_t i = 0; i < place->shared->next; i++) {
		if (place->seen[i] > 1)
			fail_msg("event %u stands in the traces %u times", (unsigned)i, place->seen[i]);
		missing += !place->seen[i];
	}
	assert_int_equal(missing, place->discarded);
}

/* What the traces of each sink have together. */
static void check(struct place *place)
{
	for (unsigned i = 0; i <= place->two_sinks; i++)
		check_every(place, i, 1 + place->two_sinks);
}

/* After a death: the next one records some, and ends well. */
static void come_after(struct place *place)
{
	struct session *session = begin(place);

	emit(place, 50);
	poll_all(session);
	end(session);
}

static void again(void **state)
{
	teardown(state);
	assert_int_equal(setup(state), 0);
}

static void every_event_is_in_one_trace(void **state)
{
	for (enum promise_point point = PROMISE_ENTERED; point < PROMISE_POINTS; point++)
		for (unsigned times = 1; times < 9; times += 3) {
			struct place *place = *state;

			assert_true(live_and_die(place, (struct death){
				point, KYMO_PROMISE_RINGS, false, times, -1, NULL }));
			emit(place, 20);		/* while nobody reads */
			come_after(place);
			check(place);
			assert_string_equal(place->said, "");
			again(state);
		}
}

static void what_was_half_written_is_cut_off(void **state)
{
	static const long keep[] = { 0, 1, 5, 60, 108, 109, 110, 700 };

	for (unsigned i = 0; i < COUNT_OF(keep); i++)
		for (unsigned times = 1; times < 4; times += 2) {
			struct place *place = *state;

			assert_true(live_and_die(place, (struct death){ PROMISE_IN_FILE,
									KYMO_PROMISE_RINGS, false,
									times, keep[i], NULL }));
			come_after(place);
			check(place);
			assert_int_equal(strstr(place->said, "cut off") != NULL, keep[i] != 0);
			again(state);
		}
}

/* The init log's packets, and the metadata. */
static void what_moves_nothing_is_made_whole_too(void **state)
{
	for (unsigned text = 0; text < 2; text++)
		for (long keep = 1; keep < 400; keep += 90) {
			struct place *place = *state;

			place->producer.region->dropped_no_ring = 7;
			assert_true(live_and_die(
				place,
				(struct death){ PROMISE_IN_FILE,
						text ? KYMO_PROMISE_NOTHING : KYMO_PROMISE_NO_RING,
						text, text ? 1 : 2, text ? keep : keep % 100,
						NULL }));
			come_after(place);
			check(place);
			assert_non_null(strstr(place->said, "cut off"));
			again(state);
		}
}

static void what_was_dropped_is_told_once(void **state)
{
	for (unsigned times = 1; times < 8; times++) {
		struct place *place = *state;
		struct session *session;
		uint64_t dropped;

		(void)live_and_die(place, (struct death){
			PROMISE_ENTERED + times % 5, KYMO_PROMISE_RINGS, false, times, -1, NULL });
		emit(place, 3000);			/* more than the rings hold */
		place->producer.region->dropped_no_ring += 11;
		session = begin(place);
		poll_all(session);
		emit(place, 3000);
		session_free(session);			/* as if it were killed */
		come_after(place);
		dropped = place->producer.ring[0]->dropped + place->producer.ring[1]->dropped;
		assert_true(dropped > 500);
		/* Events without a ring have no number. */
		for (unsigned i = 0; i < 11; i++)
			place->seen[place->shared->next + i] = 0;
		place->shared->next += 11;
		check(place);
		assert_int_equal(place->discarded, dropped + 11);
		again(state);
	}
}

/* Each recorder takes over from one that died, and dies. */
static void deaths_in_a_row(void **state)
{
	struct place *place = *state;

	for (unsigned i = 0; i < 10; i++)
		assert_true(live_and_die(place, (struct death){
			PROMISE_ENTERED + i % 5, KYMO_PROMISE_RINGS, false, i / 5 + 1,
			i % 5 + 1 == PROMISE_IN_FILE ? 200 : -1, NULL }));
	come_after(place);
	check(place);
}

/* The second time in the second sink. */
static void of_two_sinks_each_has_all(void **state)
{
	for (enum promise_point point = PROMISE_ENTERED; point < PROMISE_POINTS; point++)
		for (unsigned i = 0; i < 6; i++)
			for (unsigned torn = 0; torn < 1 + (point == PROMISE_IN_FILE); torn++) {
				struct place *place = *state;

				place->two_sinks = true;
				place->streams = i % 2 ? STREAMS_PROCESS : STREAMS_THREAD;
				assert_true(live_and_die(
					place, (struct death){ point, KYMO_PROMISE_RINGS, false,
							       1 + i / 2, torn ? 99 : -1, NULL }));
				emit(place, 20);
				come_after(place);
				check(place);
				again(state);
			}
}

/* While another sink has the packet already. */
static void a_death_in_what_is_before_the_packet(void **state)
{
	for (unsigned text = 0; text < 2; text++)
		for (unsigned times = 1; times < 4; times++) {
			struct place *place = *state;

			place->two_sinks = true;
			(void)live_and_die(place, (struct death){
				PROMISE_OPEN, KYMO_PROMISE_NOTHING, text, times, -1, NULL });
			come_after(place);
			check(place);
			again(state);
		}
}

/* What was dropped and no packet told is told to both, or to none. */
static void two_sinks_are_told_of_losses_alike(void **state)
{
	for (unsigned times = 1; times < 24; times += 3) {
		struct place *place = *state;
		pid_t child = fork();
		int status;

		place->two_sinks = true;
		if (child == 0) {
			struct session *session = begin(place);

			emit(place, 6000);		/* more than the rings hold */
			death = (struct death){
				PROMISE_IN_FILE,       KYMO_PROMISE_RINGS, false, times, -1,
				place->producer.region
			};
			promise_reached = maybe_die;
			end(session);
			_exit(0);
		}
		place->traces += 2;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		come_after(place);
		check(place);
		again(state);
	}
}

/* The second file is gone: the first has it, and nothing is given back. */
static void of_two_files_one_cannot_be_asked(void **state)
{
	struct place *place = *state;
	char command[128];

	place->two_sinks = true;
	assert_true(live_and_die(
		place, (struct death){ PROMISE_IN_FILE, KYMO_PROMISE_RINGS, false, 4, -1, NULL }));
	snprintf(command, sizeof command, "rm -r '%.90s'", place->trace[1]);
	assert_int_equal(system(command), 0);
	come_after(place);
	assert_non_null(strstr(place->said, "it is unknown whether"));
	check_every(place, 0, 2);
}

/* A packet is of both rings. */
static void merged_rings_go_on_together(void **state)
{
	for (enum promise_point point = PROMISE_ENTERED; point < PROMISE_POINTS; point++)
		for (unsigned times = 1; times < 4; times++) {
			struct place *place = *state;

			place->streams = STREAMS_PROCESS;
			assert_true(live_and_die(
				place,
				(struct death){ point, KYMO_PROMISE_RINGS, false, times,
						times == 2 && point == PROMISE_IN_FILE ? 150 : -1,
						NULL }));
			emit(place, 20);
			come_after(place);
			check(place);
			again(state);
		}
}

/* Its last drain, when no process is in RECORD any more. */
static void a_death_at_the_very_end(void **state)
{
	for (enum promise_point point = PROMISE_ENTERED; point < PROMISE_POINTS; point++) {
		struct place *place = *state;
		pid_t child = fork();
		int status;

		if (child == 0) {
			struct session *session = begin(place);

			emit(place, 200);
			death = (struct death){ point, KYMO_PROMISE_RINGS, false, 2, -1,
						place->producer.region };
			promise_reached = maybe_die;
			end(session);
			_exit(2);
		}
		place->traces++;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_int_equal(place->producer.region->state, KYMO_STATE_WAIT);
		come_after(place);
		check(place);
		again(state);
	}
}

/* Else who sweeps left-overs away would take it for one that has nothing left. */
static void a_dead_process_is_owed_until_all_is_told(void **state)
{
	struct place *place = *state;
	struct kymo_region *region = place->producer.region;

	region->pid = (uint32_t)producer_dead_pid();
	region->start_time = 1;
	region->state = KYMO_STATE_RECORD;
	memset(producer_page(&place->producer, KYMO_ENABLE_PAGE), 1, KYMO_PAGE);
	emit(place, 3000);
	assert_true(live_and_die(place, (struct death){
		PROMISE_MOVED, KYMO_PROMISE_RINGS, false, 1, -1, NULL }));
	assert_int_equal(region->owed, 1);
	come_after(place);
	check(place);
}

/* Nobody can say whether it was written. */
static void a_file_that_cannot_be_asked(void **state)
{
	for (unsigned how = 0; how < 3; how++) {
		struct place *place = *state;
		const struct kymo_promise_place *promise = place_in(place->producer.region);
		char command[2600], path[sizeof promise->path];

		assert_true(live_and_die(place, (struct death){
			PROMISE_IN_FILE, KYMO_PROMISE_RINGS, false, 3, -1, NULL }));
		memcpy(path, promise->path, sizeof path);
		snprintf(command, sizeof command, how == 0 ? "rm '%s'" : how == 1 ? "rm -r '%.90s'" :
			 "head -c 99999 /dev/zero | tr '\\0' x >'%s'", how == 1 ? place->trace[0] : path);
		assert_int_equal(system(command), 0);
		come_after(place);
		assert_non_null(strstr(place->said, "counted as dropped"));
		if (how == 2)
			assert_int_equal(truncate(path, 99999), 0);	/* it is there as it was */
		/* What the second trace has, and what it says it has not, is all that came after
		 * what it began with. */
		place->trace[0][0] = 0;
		read_trace(place, place->trace[1]);
		for (uint64_t i = place->shared->next - 50; i < place->shared->next; i++)
			assert_int_equal(place->seen[i], 1);
		assert_true(place->discarded > 0);
		again(state);
	}
}

/* A region says what it likes. */
static void only_a_trace_is_ever_cut(void **state)
{
	static const char text[] = "not a trace";
	struct place *place = *state;
	struct kymo_region *region = place->producer.region;
	struct kymo_promise_place *promise = place_in(region);
	const uint32_t magic = CTF_PACKET_MAGIC;
	char path[128], found[64] = "";
	FILE *file;

	for (unsigned how = 0; how < 4; how++) {
		snprintf(path, sizeof path, "%s/other", place->run);
		file = fopen(path, "w");
		fwrite(text, 1, sizeof text, file);
		fclose(file);
		region->promise =
			(struct kymo_promise){ KYMO_PROMISE_BEGUN(0) | KYMO_PROMISE_WANTED(0), 1 };
		*promise = (struct kymo_promise_place){
			.moves = KYMO_PROMISE_RINGS,
			.offset = how,
			.size = 1000,
			.head_size = how == 3   ? 0
				     : how == 2 ? UINT32_MAX
						: 11,
		};
		memcpy(promise->head, how == 1 ? (const void *)(text + 1) : &magic,
		       how == 1 ? 11 : sizeof magic);
		snprintf(promise->path, sizeof promise->path, "%s", path);
		place->traces = 0;
		come_after(place);
		file = fopen(path, "r");
		assert_int_equal(fread(found, 1, sizeof found, file), sizeof text);
		fclose(file);
		assert_string_equal(found, text);
		snprintf(path, sizeof path, "rm -r '%s'", place->trace[0]);
		assert_int_equal(system(path), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_event_is_in_one_trace),
		TEST(what_was_half_written_is_cut_off),
		TEST(what_moves_nothing_is_made_whole_too),
		TEST(what_was_dropped_is_told_once),
		TEST(deaths_in_a_row),
		TEST(of_two_sinks_each_has_all),
		TEST(a_death_in_what_is_before_the_packet),
		TEST(two_sinks_are_told_of_losses_alike),
		TEST(of_two_files_one_cannot_be_asked),
		TEST(merged_rings_go_on_together),
		TEST(a_death_at_the_very_end),
		TEST(a_dead_process_is_owed_until_all_is_told),
		TEST(a_file_that_cannot_be_asked),
		TEST(only_a_trace_is_ever_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
