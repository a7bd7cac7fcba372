/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of the region, for runtime events: one per thread, one producer (and its signal
 * handlers), one consumer. And the counts of events that are not recorded. Layout only; see
 * region.h.
 */
#ifndef KYMO_ABI_REGION_RING_H
#define KYMO_ABI_REGION_RING_H

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>

#include "abi/region_page.h"

/*
 * A ring is a circle of blocks. The thread appends records to a block; a full block is complete,
 * and the thread begins the next block. wpos is the position up to which the thread has published
 * records, rpos the position up to which the consumer has read them.
 *
 * Positions never wrap: they count the bytes since the ring was created. One 64-bit word holds a
 * position and the number of records since the start of the position's block. So one
 * compare-exchange moves both, and a reader that stops at any word knows the number of events
 * before it:
 *
 *     63                                                13 12           0
 *     | byte position since the ring was created (51 bits) | records (13) |
 *
 * Position p is in block p / block_size, and in memory at p % (block_size * block_count).
 *
 * A block of block_size bytes:   | struct kymo_block (64 B) | records ... | unused |
 * A record, final CTF bytes:     | u16 id | u64 ns | payload |, never across a block's end.
 *
 * Records never reach a block's last byte, so a position belongs to exactly one block. When wpos is
 * in a later block, a block is complete, and `used` and `records` in its header are valid. In the
 * block of wpos, the records end at wpos, and the word holds their number. A new ring has wpos 0:
 * no block has begun.
 *
 * When the consumer has read all of a complete block, it moves rpos to the start of the next block.
 * After that the producer may reuse the block.
 *
 * In KYMO_MODE_OVERWRITE the producer ignores rpos: the producer may reuse any block but that of
 * wpos. So a reader copies a block in three steps: read seq, copy the bytes, read seq again. The
 * copy is valid if both values are the expected number. Why: the producer stores the new seq, then
 * a release fence, then the new bytes; the reader has an acquire fence before the second read of
 * seq.
 *
 * The producer reads `mode` when it begins a block. So after a switch to DISCARD, the producer may
 * still begin one block, the one after that of wpos, over older records. A reader that switches the
 * mode and then reads from wpos on is not affected; a reader of older blocks copies them as above.
 *
 * records_before + records (in the block of wpos: the word's count) is the number of records ever
 * committed to the ring up to there. So a reader knows exactly how many records were overwritten
 * unread.
 *
 * When a thread ends, its ring becomes RETIRED and keeps the records. In OVERWRITE mode, the oldest
 * retired ring may get a new owner, whose records follow the old ones. Each block header names the
 * owner of the block.
 */

/*
 * A ring that fills up grows: its blocks of KYMO_SPARE_BLOCK bytes may also be in spare blocks,
 * which all rings of the process share. They are in the first segment, behind its rings.
 *
 * A block is at home, at the place above, unless the consumer has not read an older block there
 * yet. Then the thread begins the block in a spare block, and enters it in
 *
 *     kymo_ring.place[number of the block % KYMO_PLACES]    0: at home; else pages from the ring
 *     kymo_ring.lent                                        a position: later blocks are at home
 *
 * A spare block contains one block of a ring. When the ring's rpos is past that block, any thread
 * may take the spare block: nobody gives it back.
 */

#define KYMO_WORD_COUNT_BITS	13
#define KYMO_WORD_POS(word)	((word) >> KYMO_WORD_COUNT_BITS)
#define KYMO_WORD_COUNT(word)	((word) & ((1u << KYMO_WORD_COUNT_BITS) - 1))
#define KYMO_WORD(pos, count)	((uint64_t)(pos) << KYMO_WORD_COUNT_BITS | (count))

#define KYMO_BLOCK_MAX		65536u		/* bytes; smaller rings have smaller blocks */
#define KYMO_BLOCK_MIN		4096u
#define KYMO_SPARE_BLOCK 16384u /* bytes; a ring that uses spare blocks has blocks of that size */
#define KYMO_PLACES 512u        /* a ring never has more unread blocks */
#define KYMO_SPARES_MAX 504u    /* the first rings have at most 8 blocks at home */
#define KYMO_RECORD_HEADER	10u		/* u16 id, u64 timestamp */
static_assert(KYMO_BLOCK_MAX / KYMO_RECORD_HEADER < 1u << KYMO_WORD_COUNT_BITS, "count fits");

enum kymo_ring_state {
	KYMO_RING_FREE,		/* any thread may become its owner */
	KYMO_RING_OWNED,	/* a thread writes to it */
	KYMO_RING_RETIRED,	/* its thread ended; the consumer frees the ring once it is empty */
};

/* The owner of the ring; read as seq, the other fields, seq again. */
struct kymo_owner {
	uint32_t seq;		/* kymo_block.owner_seq of its blocks; 0 while the entry changes */
	uint32_t tid;
	char name[KYMO_NAME_MAX];
};
/* owner n has entry n % KYMO_OWNERS; the older owner of that entry is forgotten */
#define KYMO_OWNERS	64u

struct kymo_ring {
	/* Written by the producer with every event. */
	alignas(KYMO_LINE) uint64_t wpos; /* committed word (KYMO_WORD); release */
	uint64_t lastts; /* a time: no record before wpos is later, no record from wpos on is
			    earlier */
	uint32_t nest;   /* tracepoints in progress on the thread: 0 between events */
	uint32_t nseq;   /* odd while wpos and lastts change together (nested records) */
	uint64_t lent;   /* blocks from this position on are at home; release, after their place */

	/* Written by the producer rarely. */
	alignas(KYMO_LINE)
	uint64_t dropped;	/* events dropped for lack of room, since the ring was created */
	uint32_t tid;		/* of the owner, in its own pid namespace */
	uint32_t owner_seq;	/* grows with every new owner; release, after tid and name */
	char name[KYMO_NAME_MAX];	/* name of the owner when it got the ring */
	uint64_t waits,
		waited_ns; /* times that a thread waited for room, and how long ($KYMO_BLOCK) */

	/* Written by the consumer. */
	alignas(KYMO_LINE)
	uint64_t rpos;		/* byte position up to which the consumer has read; release */
	uint64_t told;		/* part of kymo_ring.dropped that a trace already reports */
	uint64_t promise;	/* number of the last promise with records of this ring */
	uint64_t promised_rpos, promised_told;	/* rpos and told after that promise */
	uint64_t promised_records;	/* records of this ring in that promise's packet */

	/* Written when the ring gets or loses an owner. */
	alignas(KYMO_LINE)
	uint32_t state;		/* enum kymo_ring_state */

	/* Constant. */
	uint32_t block_size;	/* power of two, KYMO_BLOCK_MIN..KYMO_BLOCK_MAX */
	uint32_t block_count;	/* power of two, at least 2 */
	uint32_t number;	/* index in ring_page[] */

	uint32_t count_page; /* of the thread's table of counts; 0: none yet; release */

	/* Written with every new owner, before owner_seq. */
	alignas(KYMO_LINE)
	struct kymo_owner owner[KYMO_OWNERS];

	/* Written by the producer when it begins a block. */
	alignas(KYMO_LINE) int32_t place[KYMO_PLACES];
};
static_assert(sizeof(struct kymo_ring) <= KYMO_PAGE, "one page, then the blocks");

struct kymo_block {
	uint64_t seq;     /* number of the block, 1 for the first; stored before its records */
	uint32_t used;    /* bytes with header, 0 while open; stored before wpos leaves the block */
	uint32_t records; /* stored with used */
	uint64_t ts_first;         /* a time, not after the first record of the block */
	uint64_t dropped_at_start; /* kymo_ring.dropped at the start of the block */
	uint32_t owner_seq;        /* owner of all records of the block */
	uint32_t cpu;              /* CPU of the thread at the start of the block */
	uint64_t records_before;   /* records in all blocks before this one, since the ring was
				      created */
	uint64_t reserved[2];
};
static_assert(sizeof(struct kymo_block) == 64, "one line");

/* ---- counts: one table per ring, written by the ring's owner ---- */

/*
 * An event with KYMO_ENABLE_COUNT is not recorded: the thread adds one to the count of the event's
 * object. The table has KYMO_COUNTS entries. An object is in one of the KYMO_COUNT_PROBES entries
 * from KYMO_COUNT_SLOT(key) on, wrapping at the end; no free entry comes before it. Counts only
 * grow, and stay when the ring gets another owner: a reader adds up the tables of all rings, and
 * takes the difference of two readings. A key whose object was destroyed stays in the table.
 */
struct kymo_count {
	uint64_t key; /* KYMO_COUNT_KEY(); 0: free */
	uint64_t count;
};
#define KYMO_COUNTS 512u
#define KYMO_COUNT_PAGES (KYMO_COUNTS * 16 / KYMO_PAGE)
#define KYMO_COUNT_PROBES 16u
#define KYMO_COUNT_SLOT(key) ((uint32_t)((uint64_t)(key) * 0x9e3779b97f4a7c15ull >> 55))
#define KYMO_COUNT_KEY(address, kind) ((uint64_t)(address) << 2 | (kind))
static_assert(KYMO_COUNTS == 1u << (64 - 55), "an entry for every hash");
static_assert(sizeof(struct kymo_count) == 16, "as KYMO_COUNT_PAGES has it");

/* What is counted, in the key. */
enum kymo_count_kind {
	KYMO_COUNT_NOT,           /* in a key: the begin of a span of kymo.h, by its event id */
	KYMO_COUNT_CALLBACK,      /* callback_start, by its callback */
	KYMO_COUNT_PUBLISH,       /* rcl_publish, by its publisher */
	KYMO_COUNT_PUBLISH_INTRA, /* rclcpp_intra_publish, by its publisher */
};

#endif
