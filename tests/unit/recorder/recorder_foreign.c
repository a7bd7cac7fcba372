/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions that are none, or are broken: refused with a sentence, and the sound process beside
 * them is recorded as if they were not there. Whatever the bytes, nothing crashes or hangs.
 */
#include <sys/resource.h>
#include <signal.h>

#include "place.h"
#include "producer.h"

#include "babeltrace.h"
#include "recorder/runtime/region_view.h"
#include "recorder/session/session.h"
#include "recorder/runtime/status.h"
#include "base/array.h"
#include "base/shared_map.h"

struct place {
	char run[PLACE_RUN_SIZE], trace[96], said[65536];
	unsigned sentences;
};

static void say(void *context, const char *text)
{
	struct place *place = context;

	place->sentences++;
	snprintf(place->said, sizeof place->said, "%s", text);
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

static void clear(const char *path)
{
	char command[160];

	snprintf(command, sizeof command, "rm -rf '%s'", path);
	assert_int_equal(system(command), 0);
}

static int teardown(void **state)
{
	struct place *place = *state;

	return place_destroy(place);
}

static int begin(struct place *place, struct session **session, struct kymo_err *err)
{
	struct session_options options = {
		.runtime_dir = place->run, .output = place->trace, .version = "0.1.0",
		.say = say, .context = place,
	};

	return session_begin(&options, session, err);
}

/* Records a sound process beside whatever lies in the directory. */
static struct session_stats record_beside(struct place *place, struct producer *sound)
{
	struct session *session;
	struct session_stats stats;
	struct kymo_err err = { 0 };

	if (begin(place, &session, &err) < 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < 10; i++)
		producer_event(sound, 0, i);
	assert_true(session_poll(session) >= 0);
	assert_int_equal(session_end(session, &err), 0);
	session_stats(session, &stats);
	session_free(session);
	return stats;
}

static void check_refused(struct place *place, const char *why)
{
	struct producer sound;
	struct session_stats stats;

	place->sentences = 0;
	place->said[0] = 0;
	producer_open(&sound, place->run);
	stats = record_beside(place, &sound);
	if (place->sentences != 1 || !strstr(place->said, why))
		fail_msg("%u sentences, wanted '%s', the last is '%s'", place->sentences, why,
			 place->said);
	assert_int_equal(stats.refused, 1);
	assert_int_equal(stats.processes, 1);
	assert_int_equal(stats.recorded, 10);
	unlink(sound.path);
	producer_close(&sound);
	clear(place->trace);
}

static void each_header_field_is_checked(void **state)
{
	static const struct {
		size_t offset;
		const char *why;
	} field[] = {
		{ offsetof(struct kymo_region, magic), "does not begin as a region" },
		{ offsetof(struct kymo_region, abi_version), "layout version" },
		{ offsetof(struct kymo_region, points_table), "other tracepoints" },
		{ offsetof(struct kymo_region, table_hash), "other tracepoints" },
		{ offsetof(struct kymo_region, pid), "names no process" },
		{ offsetof(struct kymo_region, page_count), "pages" },
		{ offsetof(struct kymo_region, page_count), "shorter than it says" },
	};
	struct place *place = *state;

	for (unsigned i = 0; i < COUNT_OF(field); i++) {
		struct producer broken;
		bool is_pid = field[i].offset == offsetof(struct kymo_region, pid);
		uint32_t value = is_pid || strcmp(field[i].why, "pages") == 0 ? 0 : 77777;

		producer_open_as(&broken, place->run, getpid(), 1, "3-3.region");
		memcpy(broken.base + field[i].offset, &value, sizeof value);
		check_refused(place, field[i].why);
		unlink(broken.path);
		producer_close(&broken);
	}
}

static void what_is_no_region_file_is_refused(void **state)
{
	struct place *place = *state;
	struct producer broken;
	char path[128];

	snprintf(path, sizeof path, "%s/4-4.region", place->run);
	producer_open_as(&broken, place->run, getpid(), 1, "4-4.region");
	assert_int_equal(truncate(path, KYMO_PAGE), 0);
	check_refused(place, "bytes");
	assert_int_equal(truncate(path, KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE), 0);
	check_refused(place, "shorter than it says");
	unlink(path);
	producer_close(&broken);

	producer_open_as(&broken, place->run, getpid(), 1, "4-4.region");
	assert_int_equal(chmod(path, 0644), 0);
	check_refused(place, "mode 0644");
	unlink(path);
	producer_close(&broken);

	assert_int_equal(symlink("/etc/passwd", path), 0);
	check_refused(place, "symbolic link");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_refused(place, "regular file");
	unlink(path);
}

/* In a child without privileges: files and directories of others. */
static void other_users_are_refused(void **state)
{
	struct place *place = *state;
	struct producer theirs;
	pid_t child;
	int status;

	if (geteuid() != 0)
		skip();
	producer_open_as(&theirs, place->run, getpid(), 1, "5-5.region");
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct session *session;
		struct kymo_err err = { 0 };
		bool first, second;

		if (chmod(place->run, 0755) != 0 || seteuid(65534) != 0)
			_exit(2);
		first = begin(place, &session, &err) == -1 && strstr(err.text, "belongs to uid 0");
		if (seteuid(0) != 0 || chmod(place->run, 0700) != 0 ||
		    chown(place->run, 65534, 65534) != 0 || seteuid(65534) != 0)
			_exit(3);
		second = begin(place, &session, &err) == 0 && place->sentences == 1;
		_exit(first && second ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	producer_close(&theirs);
}

static void an_open_directory_is_refused(void **state)
{
	struct place *place = *state;
	struct session *session;
	struct kymo_err err;

	assert_int_equal(chmod(place->run, 0755), 0);
	assert_int_equal(begin(place, &session, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_FAILED);
	assert_non_null(strstr(err.text, "chmod 700"));
}

static void count(void *context, const struct process_status *status)
{
	(void)status;
	(*(unsigned *)context)++;
}

#define CORRUPT_ROUNDS		125
#define CORRUPT_REGIONS		8	/* a round: 1000 in all */

/* Mostly where numbers are: headers, directories, ring pages, block heads, the log's beginning. */
static void corrupt(struct producer *producer)
{
	static const uint64_t nasty[] = {
		0,          1,    UINT64_MAX, INT64_MAX,          1ull << 63,
		UINT32_MAX, 4096, 65536,      0x1000000000001ull,
	};
	unsigned bytes = 1 + (unsigned)rand() % 12;

	while (bytes--) {
		uint32_t page = (uint32_t)rand() % 3 ? (uint32_t)rand() % KYMO_FIRST_SEGMENT_PAGE :
				(uint32_t)rand() % PRODUCER_PAGES;
		size_t offset = (size_t)rand() % 4 ? (size_t)rand() % 512 / 8 * 8 :
				(size_t)rand() % (KYMO_PAGE - 8);
		uint8_t *at;

		if (rand() % 4 == 0)
			at = (uint8_t *)producer->ring[rand() % 2] + (rand() % 3 ? 0 : KYMO_PAGE);
		else if (page == 0)
			at = producer->base + (rand() % 8 ? KYMO_PAGE / 4 : 0);
		else
			at = producer->base + (size_t)page * KYMO_PAGE;
		if (rand() % 2)
			memcpy(at + offset, &nasty[(size_t)rand() % 9], 8);
		else
			at[offset] = (uint8_t)rand();
	}
}

static void corrupt_bytes_do_no_harm(void **state)
{
	struct place *place = *state;
	pid_t dead = producer_dead_pid();
	unsigned seen = 0;

	srand(7);
	for (unsigned round = 0; round < CORRUPT_ROUNDS; round++) {
		struct producer sound, broken[CORRUPT_REGIONS];
		struct session_stats stats;
		struct rundir dir;
		struct kymo_err err;

		for (unsigned i = 0; i < CORRUPT_REGIONS; i++) {
			char name[32];

			snprintf(name, sizeof name, "9-%u.region", i);
			producer_open_as(&broken[i], place->run, dead, 1, name);
			broken[i].region->state = KYMO_STATE_RECORD;
			memset(producer_page(&broken[i], KYMO_ENABLE_PAGE), 1, KYMO_PAGE);
			for (unsigned e = 0; e < 500; e++)
				producer_event(&broken[i], e % 2, e);
			producer_init(&broken[i], 1, "symbol");
			producer_init(&broken[i], 2, "other");
			corrupt(&broken[i]);
		}
		assert_int_equal(rundir_open(&dir, place->run, false, &err), 0);
		assert_true(status_read(&dir, count, NULL, &seen, &err) >= 0);
		rundir_close(&dir);
		producer_open(&sound, place->run);
		stats = record_beside(place, &sound);
		assert_true(stats.recorded >= 10);
		if (round % 25 == 0) {
			struct babeltrace bt = babeltrace_read(place->trace, NULL);

			if (bt.status != 77 && (bt.status || bt.complaints))
				fail_msg("round %u: babeltrace2: %s", round, bt.complaint);
		}
		for (unsigned i = 0; i < CORRUPT_REGIONS; i++) {
			unlink(broken[i].path);
			producer_close(&broken[i]);
		}
		unlink(sound.path);
		producer_close(&sound);
		clear(place->trace);
	}
	assert_true(seen > 0);
}

/* What @spoil does to a ring of 20 events, others still read what is left, and what is not is
 * counted. */
static struct session_stats spoilt(struct place *place, void (*spoil)(struct producer *producer),
				   unsigned left)
{
	struct producer producer;
	struct session *session;
	struct session_stats stats;
	struct babeltrace seen;
	struct kymo_err err;

	producer_open(&producer, place->run);
	if (begin(place, &session, &err) < 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < 20; i++)
		producer_event(&producer, 0, i);
	spoil(&producer);
	assert_true(session_poll(session) >= 0);
	assert_int_equal(session_end(session, &err), 0);
	session_stats(session, &stats);
	session_free(session);
	assert_int_equal(stats.recorded, left);
	seen = babeltrace_read(place->trace, "callback_end");
	if (seen.status != 77) {
		assert_string_equal(seen.complaint, "");
		assert_int_equal(seen.status, 0);
		assert_int_equal(seen.matching, left);
		assert_int_equal(seen.discarded, 20 - left);
	}
	unlink(producer.path);
	producer_close(&producer);
	clear(place->trace);
	return stats;
}

/* The tenth event; all have 8 bytes. */
static uint8_t *tenth(const struct producer *producer)
{
	return producer_at(producer->ring[0],
			   sizeof(struct kymo_block) + 9 * (KYMO_RECORD_HEADER + 8));
}

static void unknown_id(struct producer *producer)
{
	memset(tenth(producer), 0xee, 2);
}

static void early(struct producer *producer)
{
	memset(tenth(producer) + 2, 0, 8);
}

static void late(struct producer *producer)
{
	memset(tenth(producer) + 2, 0x7f, 8);
}

static void no_count(struct producer *producer)
{
	producer->ring[0]->dropped = producer->region->log_dropped =
		producer->region->dropped_no_ring = UINT64_MAX - 1;
}

static void a_program_that_spoils_its_ring(void **state)
{
	void (*const spoil[])(struct producer * producer) = { unknown_id, early, late };
	struct place *place = *state;
	struct session_stats stats;

	for (unsigned i = 0; i < COUNT_OF(spoil); i++) {
		stats = spoilt(place, spoil[i], 9);
		assert_int_equal(stats.unwritten, 11);
		assert_non_null(strstr(place->said, "ring 0 is corrupt (invalid records)"));
	}
	stats = spoilt(place, no_count, 20);
	assert_int_equal(stats.dropped, 0);
	assert_int_equal(stats.init_dropped, 0);
}

/* Its pages vanish under the recorder; the sound process beside it notices nothing. */
static void a_region_that_shrinks_harms_nobody(void **state)
{
	struct place *place = *state;

	shared_map_guard();
	for (unsigned pages = 0; pages <= PRODUCER_PAGES; pages += 4) {
		struct producer sound, broken;
		struct session *session;
		struct session_stats stats;
		struct kymo_err err = { 0 };

		producer_open_as(&broken, place->run, getpid(), alive_start_time(getpid()), "6-6.region");
		producer_open(&sound, place->run);
		if (begin(place, &session, &err) < 0)
			fail_msg("%s", err.text);
		for (unsigned i = 0; i < 500; i++)
			producer_event(&broken, i % 2, i);
		assert_int_equal(truncate(broken.path, pages * KYMO_PAGE), 0);
		for (unsigned i = 0; i < 10; i++)
			producer_event(&sound, 0, i);
		assert_true(session_poll(session) >= 0);
		assert_int_equal(session_end(session, &err), 0);
		session_stats(session, &stats);
		session_free(session);
		assert_true(stats.recorded >= 10);
		assert_false(stats.write_failed);
		unlink(sound.path);
		unlink(broken.path);
		producer_close(&sound);
		producer_close(&broken);
		clear(place->trace);
	}
	(void)signal(SIGBUS, SIG_DFL);
}

/* A limit on the size of files stands for a full disk: writes are cut short in the same way. */
static int record_on_a_full_disk(struct place *place)
{
	struct rlimit limit;
	struct producer sound;
	struct session *session;
	struct session_stats stats;
	struct babeltrace bt;
	struct kymo_err err;

	(void)signal(SIGXFSZ, SIG_IGN);
	producer_open(&sound, place->run);
	if (begin(place, &session, &err) < 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 1;
	for (unsigned round = 0; round < 60; round++) {
		struct rlimit small = limit;

		if (round == 20)
			small.rlim_cur = 20000;
		if ((round == 20 || round == 40) && setrlimit(RLIMIT_FSIZE, &small) != 0)
			return 2;
		for (unsigned i = 0; i < 100; i++)
			producer_event(&sound, 0, i);
		if (round == 40)
			usleep(120000);		/* it tries again every 100 ms */
		(void)session_poll(session);
		if (round % 5 == 0)
			usleep(10000);
	}
	if (session_end(session, &err) != -1 || err.status != KYMO_EXIT_FAILED ||
	    !strstr(err.text, place->trace))
		return 4;
	session_stats(session, &stats);
	session_free(session);
	if (!stats.dropped || !stats.write_failed || stats.dropped != sound.dropped ||
	    stats.recorded + stats.dropped + stats.unwritten != sound.produced)
		return 5;
	if (place->sentences != 2)		/* once that it fails, once that it goes on */
		return 6;
	bt = babeltrace_read(place->trace, NULL);
	if (bt.status == 77)
		return 0;
	return bt.status || bt.complaints || bt.events != stats.recorded ||
	       bt.discarded != stats.dropped ? 7 : 0;
}

static void a_full_disk_costs_what_it_must(void **state)
{
	struct place *place = *state;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(record_on_a_full_disk(place));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : 100 + status, 0);
}

static void outputs_that_cannot_be(void **state)
{
	static const struct {
		const char *output, *why;
	} bad[] = {
		{ "/proc/nowhere/trace", "-o DIR" },
		{ "/etc", "already exists" },
		{ "/etc/passwd", "already exists" },
	};
	struct place *place = *state;

	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		struct session_options options = {
			.runtime_dir = place->run, .output = bad[i].output, .version = "0",
		};
		struct session *session;
		struct kymo_err err = { 0 };

		assert_int_equal(session_begin(&options, &session, &err), -1);
		assert_int_equal(err.status, KYMO_EXIT_FAILED);
		assert_non_null(strstr(err.text, bad[i].why));
		assert_non_null(strstr(err.text, bad[i].output));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_header_field_is_checked),
		TEST(what_is_no_region_file_is_refused),
		TEST(other_users_are_refused),
		TEST(an_open_directory_is_refused),
		TEST(corrupt_bytes_do_no_harm),
		TEST(a_program_that_spoils_its_ring),
		TEST(a_region_that_shrinks_harms_nobody),
		TEST(a_full_disk_costs_what_it_must),
		TEST(outputs_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
