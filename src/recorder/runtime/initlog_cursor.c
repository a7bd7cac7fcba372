/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each record has a stamp that depends on its position, and that the process writes last. So a
 * stamp says that the record is complete and was not left there by an earlier use of the memory;
 * where it is missing, the record is being written, and the next stamp says where to go on.
 *
 * The process may clean the log at any time: it moves the head, and uses the memory again. So each
 * look ends with the question whether the head is still in front of what was read. If it is not,
 * what was read does not count.
 *
 * log_collect() begins a reader in the middle of the log's life: it counts the records, keeps those
 * that still hold (abi/life.h), sorts them by origin, and begins anew if it was overtaken.
 */
#include "recorder/runtime/initlog_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/life.h"

#define HEADER	sizeof(struct kymo_log_record)
#define TRIES	8		/* to look at a log that is being cleaned */

struct log_bounds log_bounds(const struct region *region)
{
	const struct kymo_region *header = region_header(region);
	const uint64_t most = (uint64_t)KYMO_LOG_CHUNK * KYMO_LOG_CHUNKS_MAX;
	struct log_bounds bounds = { .head = __atomic_load_n(&header->log_head, __ATOMIC_ACQUIRE) };

	bounds.tail = __atomic_load_n(&header->log_tail, __ATOMIC_ACQUIRE);
	if (bounds.tail < bounds.head || bounds.head % 8 ||
	    bounds.head / KYMO_LOG_CHUNK > UINT32_MAX)
		bounds.tail = bounds.head = 0;
	if (bounds.tail - bounds.head > most)
		bounds.tail = bounds.head + most;
	return bounds;
}

bool log_holds(const struct region *region, uint64_t position)
{
	__atomic_thread_fence(
		__ATOMIC_ACQUIRE); /* pairs with a writer's release fence before its bytes */
	return __atomic_load_n(&region_header(region)->log_head, __ATOMIC_RELAXED) <= position;
}

static const uint8_t *chunk_at(const struct region *region, uint64_t position)
{
	const uint32_t *log_page = region_page(region, KYMO_LOG_DIR_PAGE, 1);
	uint64_t chunk = position / KYMO_LOG_CHUNK;
	uint32_t page;

	if (chunk >= __atomic_load_n(&region_header(region)->log_chunk_count, __ATOMIC_ACQUIRE))
		return NULL;
	page = __atomic_load_n(&log_page[chunk % KYMO_LOG_CHUNKS_MAX], __ATOMIC_ACQUIRE);
	return page < KYMO_FIRST_SEGMENT_PAGE
		       ? NULL
		       : region_page(region, page, KYMO_LOG_CHUNK / KYMO_PAGE);
}

static bool has_stamp(const uint8_t *at, uint64_t position)
{
	const struct kymo_log_record *record = (const void *)at;

	/* Pairs with the release that ends the writing of a record. */
	return __atomic_load_n(&record->stamp, __ATOMIC_ACQUIRE) == (KYMO_LOG_STAMP ^ position);
}

/* Where the log continues behind bytes that cannot be read: at the next record with its stamp, or
 * at the end. */
static uint64_t next_stamp(const uint8_t *chunk, uint64_t position, uint64_t end)
{
	for (position += 8; position + HEADER <= end; position += 8)
		if (has_stamp(chunk + position % KYMO_LOG_CHUNK, position))
			return position;
	return end;
}

/* Fixed part and sizes of a record that has its stamp. */
static enum log_look look_at(const uint8_t *at, uint64_t position, uint64_t room,
			     struct log_place *place)
{
	struct kymo_log_record *head = &place->head;

	memcpy(head, at, sizeof *head);
	place->payload = at + sizeof *head;
	place->next = position + head->size;
	if (head->size < sizeof *head || head->size % 8 || head->size > room)
		return LOG_BAD;
	if (head->id == KYMO_LOG_PAD)
		return LOG_SKIP;
	return head->payload_size <= head->size - sizeof *head && head->origin <= position
		       ? LOG_RECORD
		       : LOG_BAD;
}

enum log_look log_look(const struct region *region, uint64_t position, uint64_t tail,
		       struct log_place *place)
{
	const uint64_t chunk_end = (position / KYMO_LOG_CHUNK + 1) * KYMO_LOG_CHUNK;
	const uint64_t end = tail < chunk_end ? tail : chunk_end;
	enum log_look look = LOG_HOLE;
	const uint8_t *chunk;

	if (position >= tail || position % 8)
		return LOG_END;
	place->next = chunk_end;
	if (chunk_end - position < HEADER)
		return LOG_SKIP;
	chunk = chunk_at(region, position);
	if (!chunk || end - position < HEADER)
		return log_holds(region, position) ? LOG_END : LOG_OVERTAKEN;
	if (has_stamp(chunk + position % KYMO_LOG_CHUNK, position))
		look = look_at(chunk + position % KYMO_LOG_CHUNK, position, end - position, place);
	if (look == LOG_HOLE || look == LOG_BAD)
		place->next = next_stamp(chunk, position, end);
	return log_holds(region, position) ? look : LOG_OVERTAKEN;
}

/* ---- what holds now, for a reader that begins ---- */

struct walker {
	const struct region *region;
	struct log_bounds bounds;
	uint64_t at;
	uint64_t hole;			/* the first record that is being written */
	bool over;			/* nothing is being written any more: a hole stays one */
};

/* Return: LOG_RECORD: @place; LOG_OVERTAKEN; LOG_END: all before walker->at was looked at. */
static enum log_look next_record(struct walker *walker, struct log_place *place)
{
	for (;;) {
		enum log_look look =
			log_look(walker->region, walker->at, walker->bounds.tail, place);

		if (look == LOG_RECORD || look == LOG_OVERTAKEN || look == LOG_END)
			return look;
		if (look == LOG_HOLE && !walker->over && walker->at < walker->hole)
			walker->hole = walker->at;
		walker->at = place->next;
	}
}

static enum log_look count_records(struct walker walker, size_t *records, bool *gone)
{
	struct log_place place;
	enum log_look look;

	*records = 0;
	*gone = false;
	while ((look = next_record(&walker, &place)) == LOG_RECORD) {
		++*records;
		*gone |= place.head.id == KYMO_LOG_GONE;
		walker.at = place.next;
	}
	return look;
}

/*
 * Facts from before @limit may have ended: they go to @lives, which finds out. Later ones belong to
 * the session and go to @facts at once. Behind a hole there may be copies of what is in front of
 * it.
 */
static enum log_look read_facts(struct walker *walker, uint64_t limit, struct kymo_lives *lives,
				struct log_facts *facts, uint64_t from)
{
	struct log_place place;
	enum log_look look = LOG_END;
	size_t room = lives->room;

	while (room && (look = next_record(walker, &place)) == LOG_RECORD) {
		const uint64_t position = walker->at;

		walker->at = place.next;
		room--;
		if (place.head.origin < limit)
			kymo_lives_add(lives, &place.head, place.payload, place.head.payload_size,
				       position);
		else if (place.head.id != KYMO_LOG_GONE && place.head.origin >= from)
			facts->fact[facts->count++] =
				(struct log_fact){ place.head.origin, position };
		if (!log_holds(walker->region, position))
			return LOG_OVERTAKEN;
	}
	return room ? look : LOG_END;	/* no room: more was written meanwhile, and is read later */
}

static int by_origin(const void *a, const void *b)
{
	const struct log_fact *left = a, *right = b;

	return left->origin < right->origin ? -1 : left->origin > right->origin;
}

/* Facts are nearly always in order. A process that died while it cleaned its log leaves some
 * twice. */
static void sort_facts(struct log_facts *facts)
{
	size_t kept = 0, i = 1;

	while (i < facts->count && facts->fact[i - 1].origin < facts->fact[i].origin)
		i++;
	if (i >= facts->count)
		return;
	qsort(facts->fact, facts->count, sizeof *facts->fact, by_origin);
	for (i = 0; i < facts->count; i++)
		if (!kept || facts->fact[kept - 1].origin != facts->fact[i].origin)
			facts->fact[kept++] = facts->fact[i];
	facts->count = kept;
}

static int collect(struct walker *walker, uint64_t from, uint64_t limit, struct log_facts *facts)
{
	struct kymo_lives lives;
	enum log_look look;
	size_t records;
	void *memory;
	bool gone;

	if (count_records(*walker, &records, &gone) == LOG_OVERTAKEN)
		return -EAGAIN;
	memory = calloc(1, kymo_lives_bytes(records, gone));
	facts->fact = malloc((records + 1) * sizeof *facts->fact);
	if (!memory || !facts->fact) {
		free(memory);
		return -ENOMEM;
	}
	kymo_lives_begin(&lives, memory, records, gone);
	look = read_facts(walker, limit, &lives, facts, from);
	kymo_lives_decide(&lives);
	for (size_t i = 0; i < lives.count; i++)
		if (lives.fact[i].origin >= from && kymo_lives_holds(&lives, &lives.fact[i]))
			facts->fact[facts->count++] =
				(struct log_fact){ lives.fact[i].origin, lives.fact[i].position };
	free(memory);
	facts->until = walker->hole < walker->at ? walker->hole : walker->at;
	sort_facts(facts);
	while (facts->count && facts->fact[facts->count - 1].origin >= facts->until)
		facts->count--;
	return look == LOG_OVERTAKEN ? -EAGAIN : 0;
}

int log_collect(const struct region *region, uint64_t from, uint64_t limit, bool over,
		struct log_facts *facts)
{
	int rc = -EAGAIN;

	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
		struct walker walker = { .region = region,
					 .bounds = log_bounds(region),
					 .hole = UINT64_MAX,
					 .over = over };

		*facts = (struct log_facts){ 0 };
		walker.at = walker.bounds.head;
		rc = collect(&walker, from, limit, facts);
		if (rc < 0)
			free(facts->fact);
	}
	if (rc < 0)
		*facts = (struct log_facts){ 0 };
	return rc;
}
