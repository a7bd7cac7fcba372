/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying memory that another process writes at the same time.
 *
 * For a block of a ring, its seq is read, then its bytes, then its seq again. The producer stores
 * the next seq before it overwrites the block, so the copy is good if both times seq is the
 * expected one. Blocks are copied from the oldest on, because that is overwritten first. If a later
 * block turns out bad, all before it are given up, so that what is kept has no gap.
 *
 *     |ooooo|ooooo|ooooo|oo   |        o: copied
 *      ^bad  ^begin        ^wpos when it was first read
 */
#include "recorder/session/freeze.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder/drain/drain.h"
#include "recorder/runtime/initlog_cursor.h"

#define TRIES		8	/* to copy a ring in which every block was overwritten meanwhile */

/*
 * @bytes: multiple of 8, like both addresses. Each word is read with acquire, so in order. Writes
 * meanwhile are not prevented, but noticed by stamps and numbers; a race detector cannot know that.
 */
__attribute__((no_sanitize("thread")))
static void copy_words(void *to, const void *from, size_t bytes)
{
	uint64_t *target = to;
	const uint64_t *source = from;

	for (size_t i = 0; i < bytes / 8; i++)
		target[i] = __atomic_load_n(&source[i], __ATOMIC_ACQUIRE);
}

/* ---- rings ---- */

struct frozen_ring {
	const struct region *region, *copy;
	uint32_t page; /* of both rings */
	const struct kymo_ring *from;
	struct kymo_ring *to;
	uint64_t block_size, block_count;
	uint64_t word, end; /* position word, and the position in it, as first read */
	uint64_t first, last,
		begin; /* numbers of blocks: to try, with wpos in it, first good one */
};

/* A producer that was stopped between its stores keeps nseq odd. Then lastts may be later than the
 * position, which is harmless. */
static void read_position(struct frozen_ring *ring)
{
	const struct kymo_ring *from = ring->from;
	uint64_t blocks;

	(void)ring_snapshot(from, &ring->word, &ring->to->lastts);
	ring->to->dropped = __atomic_load_n(&from->dropped, __ATOMIC_RELAXED);
	ring->end = KYMO_WORD_POS(ring->word);
	/* After the position, so these are the places of all blocks before it. */
	ring->to->lent = __atomic_load_n(&from->lent, __ATOMIC_ACQUIRE);
	copy_words(ring->to->place, from->place, sizeof from->place);
	ring->last = ring->end ? (ring->end - 1) / ring->block_size : 0;
	blocks = region_room(ring->region, (uint32_t)ring->block_size, (uint32_t)ring->block_count);
	blocks /= ring->block_size;
	ring->first = ring->last + 1 > blocks ? ring->last + 1 - blocks : 0;
}

/* The place is that of the copy, which does not change. */
static void *block_of(const struct frozen_ring *ring, const struct region *in, uint64_t number)
{
	const uint64_t page =
		region_block_page(in, ring->to, ring->page, number, (uint32_t)ring->block_size,
				  (uint32_t)ring->block_count);

	return in->base + page * KYMO_PAGE;
}

static bool copy_block(const struct frozen_ring *ring, uint64_t number)
{
	const struct kymo_block *from = block_of(ring, ring->region, number);
	struct kymo_block *to = block_of(ring, ring->copy, number);
	uint64_t used = ring->end - number * ring->block_size;

	if (__atomic_load_n(&from->seq, __ATOMIC_ACQUIRE) != number + 1)
		return false;
	copy_words(to, from, sizeof *from);
	if (number < ring->last)
		used = to->used;
	else
		to->used = to->records = 0;	/* open; it may have been closed meanwhile */
	if (used < sizeof *from || used > ring->block_size)
		return false;
	copy_words(to + 1, from + 1, (used - sizeof *from + 7) / 8 * 8);
	__atomic_thread_fence(
		__ATOMIC_ACQUIRE); /* pairs with the producer's between seq and bytes */
	return __atomic_load_n(&from->seq, __ATOMIC_RELAXED) == number + 1 && to->seq == number + 1;
}

/* An entry that was being changed is invalid. */
static void check_owners(const struct frozen_ring *ring)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < KYMO_OWNERS; i++)
		if (__atomic_load_n(&ring->from->owner[i].seq, __ATOMIC_RELAXED) !=
		    ring->to->owner[i].seq)
			ring->to->owner[i].seq = 0;
}

/* Return: false: every block was overwritten meanwhile. */
static bool copy_ring(struct frozen_ring *ring, uint64_t taken)
{
	for (int i = 0; i < TRIES; i++) {
		copy_words(ring->to, ring->from, sizeof *ring->to / 8 * 8);
		check_owners(ring);
		read_position(ring);
		if (ring->end <= taken)
			return true;
		if (taken / ring->block_size > ring->first)
			ring->first = taken / ring->block_size;
		ring->begin = ring->first;
		for (uint64_t number = ring->first; number <= ring->last; number++)
			if (!copy_block(ring, number))
				ring->begin = number + 1;
		if (ring->begin <= ring->last)
			return true;
	}
	return false;
}

/* @overwrite: rpos has no meaning; else what is before it is in some trace. */
static void freeze_ring(const struct region *from, const struct region *copy, uint32_t page,
			bool overwrite, struct freeze_stats *stats)
{
	struct frozen_ring ring = {
		.region = from,
		.copy = copy,
		.page = page,
		.from = region_page(from, page, 1),
		.to = region_page(copy, page, 1),
	};
	uint64_t taken = 0;
	bool copied;

	if (page < KYMO_FIRST_SEGMENT_PAGE || !ring.from) {
		stats->refused++;
		return;
	}
	ring.block_size = ring.from->block_size;
	ring.block_count = ring.from->block_count;
	if (!region_has_ring(from, page, ring.block_size, ring.block_count)) {
		stats->refused++;
		copy_words(ring.to, ring.from,
			   sizeof *ring.to / 8 * 8); /* draining refuses it again */
		return;
	}
	if (!overwrite)
		taken = __atomic_load_n(&ring.from->rpos, __ATOMIC_ACQUIRE);
	copied = copy_ring(&ring, taken);
	ring.to->block_size = (uint32_t)ring.block_size;
	ring.to->block_count = (uint32_t)ring.block_count;
	ring.to->wpos = ring.word;
	ring.to->nest = ring.to->nseq = 0;
	ring.to->rpos = ring.end;
	if (overwrite)
		ring.to->told = ring.to->dropped;
	if (!copied) {
		stats->missed++;
	} else if (ring.end > taken) {
		const struct kymo_block *begin = block_of(&ring, ring.copy, ring.begin);
		uint64_t start = ring.begin * ring.block_size;

		ring.to->rpos = start > taken ? start : taken;
		if (overwrite)
			ring.to->told = begin->dropped_at_start;
		stats->overwritten += overwrite ? begin->records_before : 0;
		stats->bytes += ring.end - ring.to->rpos;
		stats->rings++;
	}
}

/* ---- the whole region ---- */

static void freeze_rings(const struct region *from, const struct region *copy,
			 struct freeze_stats *stats)
{
	struct kymo_region *header = region_header(copy);
	uint32_t count = __atomic_load_n(&region_header(from)->ring_count, __ATOMIC_ACQUIRE);
	const uint32_t *from_page = region_page(from, KYMO_RING_DIR_PAGE, 2);
	uint32_t *to_page = region_page(copy, KYMO_RING_DIR_PAGE, 2);
	bool overwrite = header->mode == KYMO_MODE_OVERWRITE;
	uint32_t used = 0;

	for (; used < count && used < KYMO_RINGS_MAX; used++) {
		to_page[used] = __atomic_load_n(&from_page[used], __ATOMIC_ACQUIRE);
		if (!to_page[used])
			break;		/* counted before it was entered: it is empty */
		freeze_ring(from, copy, to_page[used], overwrite, stats);
	}
	header->ring_count = used;
	header->mode = KYMO_MODE_DISCARD;
}

/* The chunks between head and tail. Return: the head did not move meanwhile. */
static bool copy_log(const struct region *from, const struct region *copy)
{
	const struct log_bounds bounds = log_bounds(from);
	const uint32_t *from_page = region_page(from, KYMO_LOG_DIR_PAGE, 1);
	uint32_t *to_page = region_page(copy, KYMO_LOG_DIR_PAGE, 1);
	const uint64_t first = bounds.head / KYMO_LOG_CHUNK;
	struct kymo_region *header = region_header(copy);

	header->log_head = bounds.head;
	header->log_tail = bounds.tail;
	header->log_chunk_count =
		__atomic_load_n(&region_header(from)->log_chunk_count, __ATOMIC_ACQUIRE);
	for (uint64_t i = first; i < first + KYMO_LOG_CHUNKS_MAX; i++) {
		const uint64_t at = i % KYMO_LOG_CHUNKS_MAX;
		uint32_t page = __atomic_load_n(&from_page[at], __ATOMIC_ACQUIRE);
		const void *chunk = region_page(from, page, KYMO_LOG_CHUNK / KYMO_PAGE);

		to_page[at] = 0;
		if (page < KYMO_FIRST_SEGMENT_PAGE || !chunk || i * KYMO_LOG_CHUNK >= bounds.tail)
			continue;
		to_page[at] = page;
		copy_words(region_page(copy, page, KYMO_LOG_CHUNK / KYMO_PAGE), chunk,
			   KYMO_LOG_CHUNK);
	}
	return log_holds(from, bounds.head);
}

/*
 * The stamp is the first word of a record and copied first: a record with a stamp in the copy is
 * whole there. While the process cleans its log, facts move; then the log is copied again.
 */
static void freeze_log(const struct region *from, const struct region *copy)
{
	for (int i = 0; i < TRIES && !copy_log(from, copy); i++)
		;
}

/* Memory that nobody else has, and that is there: a file in memory would mean SIGBUS where there is
 * no room for one of its pages. */
static int make_copy(const struct region *from, struct region *copy, struct kymo_err *err)
{
	void *base = mmap(NULL, from->pages * KYMO_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return err_set(err, KYMO_EXIT_FAILED,
			       "cannot copy %s (%llu MiB): %s; end other programs, or choose "
			       "fewer processes with -p",
			       from->name, (unsigned long long)(from->pages * KYMO_PAGE >> 20),
			       strerror(errno));
	*copy = *from;
	copy->fd = -1;
	copy->base = base;
	return 0;
}

int freeze_region(struct region *from, struct region *copy, struct freeze_stats *stats,
		  struct kymo_err *err)
{
	struct region result;

	*stats = (struct freeze_stats){ 0 };
	if (region_grow(from) < 0)
		return err_set(err, KYMO_EXIT_INPUT, "%s is shorter than it says; remove it if no program uses it",
			       from->name);
	if (make_copy(from, &result, err) < 0)
		return -1;
	copy_words(result.base, from->base, sizeof(struct kymo_region));
	region_header(&result)->page_count = (uint32_t)from->pages;
	region_header(&result)->promise = (struct kymo_promise){ 0 };	/* of another trace */
	copy_words(region_page(&result, KYMO_ENABLE_PAGE, 1),
		   region_page(from, KYMO_ENABLE_PAGE, 1), KYMO_PAGE);
	/* Rings first: what their records need is in the log before them. */
	freeze_rings(from, &result, stats);
	freeze_log(from, &result);
	if (!region_intact(from)) {
		region_close(&result);
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s of process %u (%s) was truncated while it was being copied; "
			       "restart the program",
			       from->name, from->pid, from->procname);
	}
	*copy = result;
	return 0;
}
