/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The init log of the region, for one-time facts: any thread writes to it, in any state. Layout
 * only; see region.h.
 */
#ifndef KYMO_ABI_REGION_LOG_H
#define KYMO_ABI_REGION_LOG_H

#include <assert.h>
#include <stdint.h>

#include "abi/region_page.h"

/*
 * The init log holds one-time facts: which nodes, publishers, callbacks, ... the process has. A
 * recorder that starts later than the process reads the facts from the log. Writers append facts at
 * the tail. Some facts cease to hold when objects are destroyed; a writer cleans the log, so that
 * the log stays small.
 *
 *                     log_head                                  log_tail
 *   ··forgotten·······|ooo|··|ooo|··|oo|··|ccc|oooo|c|oooooooooo|
 *                      ^ o: written here first  ^ c: copied from the forgotten part
 *
 *   | stamp u64 | origin u64 | size u32 | tid u32 | ns u64 | thread name 16 | id u16 | key u16 | payload_size u32 |
 *   | payload | 0-7 pad |
 *
 * Positions never wrap. Position p is in chunk p / KYMO_LOG_CHUNK; chunk n is at page log_page[n %
 * KYMO_LOG_CHUNKS_MAX], for n < log_chunk_count. When log_head has passed a chunk, the chunk's
 * memory is reused for a later chunk.
 *
 * Records are aligned to 8 bytes and do not cross a chunk's end. A writer
 *
 *   1. loads log_tail, then reads the clock (so the order of positions is the order of times);
 *   2. moves log_tail with a compare-exchange: the bytes in between are reserved;
 *   3. fills the record;
 *   4. stores the stamp, with release: the record is complete.
 *
 * The stamp is KYMO_LOG_STAMP ^ position. A reader that finds an incomplete record, e.g. after a
 * crash, searches for the next valid stamp. If the next record does not fit into a chunk, a record
 * with the id KYMO_LOG_PAD fills the chunk's end; an end shorter than a header stays unused.
 *
 * Objects are created and destroyed, so facts cease to hold (src/abi/life.h). A writer that finds
 * that the log has grown cleans it: the writer copies each fact at the head that still holds to the
 * tail, then moves the head past it. The other facts are forgotten. A copy keeps its origin: the
 * position where the fact was written first. So
 *
 *   - a reader that has read everything up to a position skips every record whose origin is not the
 *     record's own position;
 *   - a reader that begins at the head, or that the head has overtaken, reads facts by their
 *     origin, each origin once: a process that dies while it cleans leaves some facts twice, but
 *     loses none;
 *   - bytes that were read at a position are valid if log_head has not passed that position
 *     afterwards.
 *
 * A fact is kept while a reader may still read events about it. A process forgets facts that ceased
 * to hold before
 *
 *     WAIT                    log_tail
 *     otherwise, DISCARD      log_settled; in a log that is half full, log_taken; in a log that is three quarters full,
 *                             log_tail: unread facts that are forgotten count as dropped
 *     otherwise, OVERWRITE    log_tail - KYMO_LOG_KEEP
 *
 * A hole is a record that a writer is still writing. After KYMO_LOG_PATIENCE_NS, readers and
 * cleaners skip the hole: its writer has stopped for good (the thread was cancelled, or left a
 * signal handler by a long jump).
 */
#define KYMO_LOG_CHUNK		65536u
#define KYMO_LOG_STAMP		0x9e3779b97f4a7c15ull
#define KYMO_LOG_PAD		0xffffu
#define KYMO_LOG_DECLARE	0xfffeu	/* payload: struct kymo_declaration */
#define KYMO_LOG_GONE		0xfffdu	/* payload: struct kymo_gone */
#define KYMO_LOG_KEEP		(1u << 20)
#define KYMO_LOG_PATIENCE_NS	10000000000ull

/* The key of a fact: of two facts with the same id and key, the later one replaces the earlier
 * one. */
enum kymo_log_key {
	KYMO_LOG_KEY_TABLE,  /* the field that src/abi/tracepoints.def names; without a row, the
				whole payload */
	KYMO_LOG_KEY_THREAD, /* the thread: the fact is about the thread, and holds until the thread
				ends */
};

struct kymo_log_record {
	uint64_t stamp;
	uint64_t origin;	/* position where the fact was written first */
	uint32_t size;		/* whole record, multiple of 8 */
	uint32_t tid;
	uint64_t ns;
	char name[KYMO_NAME_MAX];	/* of the thread */
	uint16_t id;
	uint16_t key;		/* enum kymo_log_key */
	uint32_t payload_size;
	uint8_t payload[];
};
static_assert(sizeof(struct kymo_log_record) == 56, "as drawn");

/* An object was destroyed: older facts about it no longer hold. */
struct kymo_gone {
	uint64_t handle;
	uint64_t entity;	/* enum kymo_entity */
};

/*
 * A process declares its own tracepoints in the init log. A declaration describes an event class,
 * and its id is the id in the ring records of that class. Ids begin at KYMO_POINTS_TABLE and are
 * valid only within the region. The declaration comes before the first record with its id.
 *
 *   | id u16 | shape u8 | field_count u8 | line u32 | category 0 | name 0 | file 0 | function 0 | fields... |
 *   a field:  | kind u8 (enum kymo_kind) | name 0 |
 *
 * All texts end with a NUL and have at most KYMO_DECLARED_TEXT_MAX bytes, the NUL included.
 */
enum kymo_shape {
	KYMO_SHAPE_POINT,	/* a tracepoint with fields */
	KYMO_SHAPE_BEGIN,	/* a span begins on the thread */
	KYMO_SHAPE_END,		/* the innermost open span of that category and name ends */
	KYMO_SHAPE_INSTANT,	/* an event without a duration */
	KYMO_SHAPE_COUNTER,	/* the first field is the value from now on */
	KYMO_SHAPES
};
#define KYMO_DECLARED_TEXT_MAX	256u
#define KYMO_DECLARED_FIELDS_MAX 16u

struct kymo_declaration {
	uint16_t id;
	uint8_t shape;		/* enum kymo_shape */
	uint8_t field_count;
	uint32_t line;
	char text[];
};
static_assert(sizeof(struct kymo_declaration) == 8, "as drawn");

#endif
