/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading an init log that is cleaned meanwhile: every fact once, whatever comes between; what is
 * gone is not told to who comes late; and nothing that stands in a region leads the reader astray.
 *
 * The log is written and cleaned here, from src/abi/region.h alone.
 */
#include "place.h"
#include "producer.h"

#include "abi/life.h"
#include "recorder/runtime/initlog_cursor.h"
#include "recorder/session/session.h"
#include "base/array.h"

#define ID KYMO_POINT_rcl_timer_init
#define FACTS_MAX 20000
#define KEYS 12

struct place {
	char run[PLACE_RUN_SIZE], trace[96];
	struct producer producer;
	/* What is in the log, in its order. */
	struct entry {
		uint64_t position, origin, key;
		bool gone;
	} entry[FACTS_MAX];
	unsigned entries, first;	/* first: the head is there */
	uint64_t told;			/* facts so far, copies not counted */
};

static int setup(void **state)
{
	struct place *place = place_create(sizeof *place);

	if (!place)
		return -1;
	snprintf(place->trace, sizeof place->trace, "%s/trace", place->run);
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

static void ignore(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static struct session *begin(struct place *place)
{
	struct session_options options = {
		.runtime_dir = place->run, .output = place->trace, .version = "0.1.0", .say = ignore,
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

/* Return: init events in the trace. */
static uint64_t end(struct session *session)
{
	struct session_stats stats;
	struct kymo_err err = { 0 };

	if (session_end(session, &err) < 0)
		fail_msg("%s", err.text);
	session_stats(session, &stats);
	session_free(session);
	assert_int_equal(stats.init_dropped, 0);
	return stats.init_events;
}

/* ---- a process that writes and cleans ---- */

/* Two chunks' memory in turn. */
static uint8_t *at(struct place *place, uint64_t position)
{
	const uint64_t chunk = position / KYMO_LOG_CHUNK;
	struct kymo_region *region = place->producer.region;
	uint32_t *page = producer_page(&place->producer, KYMO_LOG_DIR_PAGE);

	if (chunk >= region->log_chunk_count) {
		assert_true(region->log_head / KYMO_LOG_CHUNK + 2 > chunk);
		page[chunk % KYMO_LOG_CHUNKS_MAX] =
			KYMO_FIRST_SEGMENT_PAGE + (uint32_t)(chunk % 2) * PRODUCER_LOG_PAGES;
		region->log_chunk_count = (uint32_t)chunk + 1;
	}
	return place->producer.base + (size_t)page[chunk % KYMO_LOG_CHUNKS_MAX] * KYMO_PAGE +
	       position % KYMO_LOG_CHUNK;
}

/* @from: NULL: a new fact, or that @key is gone; else what is copied. */
static struct kymo_log_record *put(struct place *place, const struct entry *from, uint64_t key,
				   bool gone)
{
	const uint64_t size = sizeof(struct kymo_log_record) + 16;
	struct kymo_region *region = place->producer.region;
	uint64_t position = region->log_tail, rest = KYMO_LOG_CHUNK - position % KYMO_LOG_CHUNK;
	const uint64_t payload[2] = { key, gone ? KYMO_ENTITY_TIMER : place->told };
	struct kymo_log_record *record;

	if (rest < size) {
		if (rest >= sizeof *record) {
			record = (void *)at(place, position);
			record->size = (uint32_t)rest;
			record->id = KYMO_LOG_PAD;
			record->stamp = KYMO_LOG_STAMP ^ position;
		}
		position += rest;
	}
	record = (void *)at(place, position);
	*record = (struct kymo_log_record){
		.origin = from ? from->origin : position,
		.size = (uint32_t)size,
		.tid = 1,
		.ns = producer_now(),
		.id = gone ? KYMO_LOG_GONE : ID,
		.payload_size = sizeof payload,
		.name = "main",
	};
	memcpy(record->payload, payload, sizeof payload);
	record->stamp = KYMO_LOG_STAMP ^ position;
	assert_true(place->entries < FACTS_MAX);
	place->entry[place->entries++] = (struct entry){ position, record->origin, key, gone };
	place->told += !from && !gone;
	__atomic_store_n(&region->log_tail, position + size, __ATOMIC_RELEASE);
	return record;
}

static bool holds(const struct place *place, unsigned index, uint64_t limit)
{
	const struct entry *fact = &place->entry[index];

	for (unsigned i = place->first; i < place->entries; i++)
		if (place->entry[i].key == fact->key && place->entry[i].origin > fact->origin &&
		    place->entry[i].origin < limit)
			return false;
	return !fact->gone;
}

/* Facts that hold, each once. */
static uint64_t held(const struct place *place)
{
	uint64_t count = 0;

	for (unsigned i = place->first; i < place->entries; i++) {
		bool again = false;

		for (unsigned j = place->first; j < i; j++)
			again |= place->entry[j].origin == place->entry[i].origin;
		count += !again && holds(place, i, UINT64_MAX);
	}
	return count;
}

/* @stop: after so many copies, as if it were killed there, or only slow. */
static void clean(struct place *place, uint64_t limit, unsigned stop)
{
	struct kymo_region *region = place->producer.region;
	unsigned i = place->first;
	const unsigned last = place->entries;

	while (i < last && place->entry[i].position < limit && stop) {
		const struct entry from = place->entry[i];

		if (holds(place, i, limit)) {
			(void)put(place, &from, from.key, false);
			stop--;
		}
		i++;
	}
	if (!stop)
		return;
	place->first = i;
	__atomic_store_n(&region->log_head, i < last ? place->entry[i].position : limit,
			 __ATOMIC_SEQ_CST);
}

static uint64_t used(const struct place *place)
{
	return place->producer.region->log_tail - place->producer.region->log_head;
}

/* ---- tests ---- */

static void who_comes_late_is_told_what_is(void **state)
{
	struct place *place = *state;

	for (uint64_t i = 0; i < 100; i++)
		(void)put(place, NULL, i % KEYS, false);
	(void)put(place, NULL, 3, true);
	assert_int_equal(held(place), KEYS - 1);
	assert_int_equal(end(begin(place)), KEYS - 1);
}

/* Copies and originals both: the process died, or is at it, while it cleaned. */
static void twice_in_the_log_is_once_in_the_trace(void **state)
{
	struct place *place = *state;

	for (uint64_t i = 0; i < 20; i++)
		(void)put(place, NULL, i, false);
	clean(place, place->producer.region->log_tail, 7);
	(void)put(place, NULL, 100, false);
	assert_int_equal(end(begin(place)), 21);
}

static void what_happens_in_a_session_is_told_though_it_is_gone(void **state)
{
	struct place *place = *state;
	struct session *session;

	(void)put(place, NULL, 1, false);
	session = begin(place);
	for (uint64_t i = 0; i < 50; i++)
		(void)put(place, NULL, 2, false);
	(void)put(place, NULL, 2, true);
	(void)put(place, NULL, 1, true);
	assert_int_equal(end(session), 51);
}

/* The process did not wait: the head is behind the reader, or what it has not read is in copies. */
static void overtaken(void **state)
{
	struct place *place = *state;
	struct session *session;

	for (uint64_t i = 0; i < 30; i++)
		(void)put(place, NULL, i, false);
	session = begin(place);
	poll_once(session);
	for (uint64_t i = 30; i < 60; i++)
		(void)put(place, NULL, i, false);
	clean(place, place->producer.region->log_tail, UINT32_MAX);
	for (uint64_t i = 60; i < 70; i++)
		(void)put(place, NULL, i, false);
	poll_once(session);
	clean(place, place->producer.region->log_tail, UINT32_MAX);
	poll_once(session);
	assert_int_equal(end(session), 70);
}

/* Behind a record that is being written there are copies of facts in front of it, whose originals
 * are gone. */
static void copies_behind_a_hole(void **state)
{
	struct place *place = *state;
	struct kymo_log_record *writing;
	struct session *session;
	struct session_stats stats;
	uint64_t stamp;

	for (uint64_t i = 0; i < 10; i++)
		(void)put(place, NULL, i, false);
	writing = put(place, NULL, 10, false);
	stamp = writing->stamp;
	clean(place, place->entry[10].position, UINT32_MAX);
	(void)put(place, NULL, 11, false);
	writing->stamp = 0;
	session = begin(place);
	poll_once(session);
	session_stats(session, &stats);
	assert_int_equal(stats.init_events, 10);
	writing->stamp = stamp;
	poll_once(session);
	session_stats(session, &stats);
	assert_int_equal(stats.init_events, 12);
	assert_int_equal(end(session), 12);
}

/* A record that was never finished hides nothing behind it from who comes when its process is
 * dead. */
static void a_hole_for_ever(void **state)
{
	struct place *place = *state;
	struct log_facts facts;
	struct region region = { .fd = -1, .base = place->producer.base, .pages = PRODUCER_PAGES };

	put(place, NULL, 1, false)->stamp = 0;
	(void)put(place, NULL, 2, false);
	assert_int_equal(log_collect(&region, 0, UINT64_MAX, false, &facts), 0);
	assert_int_equal(facts.count, 0);
	assert_int_equal(facts.until, 0);
	free(facts.fact);
	assert_int_equal(log_collect(&region, 0, UINT64_MAX, true, &facts), 0);
	assert_int_equal(facts.count, 1);
	free(facts.fact);
}

/* Anything in any order, the log being cleaned as far as the reader allows. */
static void at_random(void **state)
{
	struct place *place = *state;

	srand(7);
	for (unsigned round = 0; round < 12; round++) {
		struct session *session = NULL;
		uint64_t expected = 0, before = 0;
		char command[128];

		for (unsigned i = 0; i < 800; i++) {
			struct kymo_region *region = place->producer.region;
			const unsigned what = (unsigned)rand() % 100;
			const uint64_t limit = session ? region->log_taken : region->log_tail;

			if (i == 300) {
				expected = held(place);
				before = place->told;
				session = begin(place);
			}
			if (what < 85)
				(void)put(place, NULL, (uint64_t)rand() % KEYS, what < 10);
			else if (session && what < 93)
				poll_once(session);
			else if (limit > region->log_head)
				clean(place, limit, what < 97 ? UINT32_MAX : (unsigned)rand() % 4);
			if (used(place) > KYMO_LOG_CHUNK / 2 && session)
				poll_once(session);
			if (used(place) > KYMO_LOG_CHUNK / 2)
				clean(place, session ? region->log_taken : region->log_tail,
				      UINT32_MAX);
		}
		assert_int_equal(end(session), expected + place->told - before);
		memmove(place->entry, place->entry + place->first,
			(place->entries - place->first) * sizeof *place->entry);
		place->entries -= place->first;
		place->first = 0;
		snprintf(command, sizeof command, "rm -rf '%s'", place->trace);
		assert_int_equal(system(command), 0);
	}
}

/* Bytes of header, directory and log changed at random: it comes to an end, and stays inside. */
static void nonsense(void **state)
{
	struct place *place = *state;
	struct kymo_region *header = place->producer.region;
	struct region region = { .fd = -1, .base = place->producer.base, .pages = PRODUCER_PAGES };
	uint8_t *log = place->producer.base + KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE;
	uint8_t *directory = place->producer.base + KYMO_LOG_DIR_PAGE * KYMO_PAGE;
	static const uint64_t numbers[] = {
		0,          8,          13,         KYMO_LOG_CHUNK - 8, KYMO_LOG_CHUNK, 1ull << 32,
		1ull << 47, 1ull << 48, 1ull << 62, UINT64_MAX - 7,     UINT64_MAX,
	};

	srand(3);
	for (unsigned i = 0; i < 400; i++)
		(void)put(place, NULL, i % 50, i % 9 == 0);
	for (unsigned i = 0; i < 1500; i++) {
		struct log_facts facts;
		uint8_t kept_log[4096], kept_directory[64];
		const uint64_t head = header->log_head, tail = header->log_tail;
		const uint32_t count = header->log_chunk_count;
		const size_t where = (size_t)rand() % (400 * 72 - sizeof kept_log) & ~7ull;

		memcpy(kept_log, log + where, sizeof kept_log);
		memcpy(kept_directory, directory, sizeof kept_directory);
		for (unsigned n = (unsigned)rand() % 8; n; n--)
			log[where + (size_t)rand() % sizeof kept_log] ^= (uint8_t)(1 << rand() % 8);
		if (rand() % 4 == 0)
			header->log_head = numbers[(size_t)rand() % COUNT_OF(numbers)];
		if (rand() % 4 == 0)
			header->log_tail = numbers[(size_t)rand() % COUNT_OF(numbers)];
		if (rand() % 8 == 0)
			header->log_chunk_count =
				(uint32_t)numbers[(size_t)rand() % COUNT_OF(numbers)];
		if (rand() % 8 == 0)
			directory[rand() % 64] ^= (uint8_t)rand();
		if (log_collect(&region, 0, (uint64_t)rand() * 8, rand() & 1, &facts) == 0) {
			assert_true(facts.count <= 2 * KYMO_LOG_CHUNK *
							   (uint64_t)KYMO_LOG_CHUNKS_MAX /
							   sizeof(struct kymo_log_record));
			free(facts.fact);
		}
		memcpy(log + where, kept_log, sizeof kept_log);
		memcpy(directory, kept_directory, sizeof kept_directory);
		header->log_head = head;
		header->log_tail = tail;
		header->log_chunk_count = count;
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_comes_late_is_told_what_is),
		TEST(twice_in_the_log_is_once_in_the_trace),
		TEST(what_happens_in_a_session_is_told_though_it_is_gone),
		TEST(overtaken),
		TEST(copies_behind_a_hole),
		TEST(a_hole_for_ever),
		TEST(at_random),
		TEST(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
