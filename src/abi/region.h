/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared memory between a traced process and its readers. Layout only, no code.
 *
 * One file per traced process, <runtime dir>/<pid>-<start time>-<pid namespace>[.<n>].region, 0600 in a
 * 0700 directory that programs of several containers may share. The traced process creates it under a name ending in ".new" and renames it when it
 * is complete; it grows by whole segments and never shrinks.
 *
 *   page 0            struct kymo_region            identity, state, clock, counters
 *   page 1            u8 enable[4096]               one byte per event id, written by the recorder (enum kymo_enable)
 *   pages 2-3         u32 ring_page[2048]           page number of each ring, 0 = not there
 *   page 4            u32 log_page[1024]            page number of each init log chunk, by its number
 *   pages 5-8         u64 left_out[2048]            objects whose events are not wanted; see below
 *   pages 9-13        struct kymo_promise_place[16]  what the recorder is writing, one entry a sink
 *   pages 14...       segments in the order of their birth, each one
 *                       an init log chunk           KYMO_LOG_CHUNK bytes
 *                       or a ring                   one page struct kymo_ring, then its blocks
 *
 * Trust: every number here is input for the reader. The traced process reads only the enable
 * bytes, the objects left out, the state words, rpos, log_taken and log_settled, and any value of those is
 * safe for it.
 *
 * Memory order: a word that publishes bytes is stored with release and loaded with acquire. No
 * word below is written by two parties, except `state`, `generation`, `mode`, `enable` (recorder;
 * once by the traced process while it registers), `left_out`, `stirred` and kymo_ring.state.
 */
#ifndef KYMO_ABI_REGION_H
#define KYMO_ABI_REGION_H

#include <assert.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_PAGE		4096u
#define KYMO_LINE		128u	/* two 64-byte lines: the adjacent-line prefetcher pairs them */
#define KYMO_REGION_MAGIC	0x316e6f6967657279ull	/* "yregion1", little endian */
#define KYMO_DOMAIN_MAGIC	0x316e69616d6f6479ull	/* "ydomain1" */
#define KYMO_ABI_VERSION	4u

#define KYMO_ENABLE_PAGE	1u
#define KYMO_RING_DIR_PAGE	2u
#define KYMO_RINGS_MAX		2048u
#define KYMO_STIRS		512u
#define KYMO_LOG_DIR_PAGE	4u
#define KYMO_LOG_CHUNKS_MAX	1024u
#define KYMO_LEFT_OUT_PAGE	5u
#define KYMO_LEFT_OUT_MAX	2048u
#define KYMO_PROMISE_PAGE	9u
#define KYMO_PROMISE_PLACES	16u
#define KYMO_FIRST_SEGMENT_PAGE	14u
#define KYMO_NAME_MAX		16u	/* a Linux thread name with its NUL */

/* A process or domain is in one of CARET's three states. */
enum kymo_state {
	KYMO_STATE_WAIT = 1,	/* init events go to the log; runtime events are off */
	KYMO_STATE_PREPARE = 2,	/* the recorder takes the init log over */
	KYMO_STATE_RECORD = 3,	/* runtime events are kept */
};

/* What a thread does when its ring is full. Only in state RECORD. */
enum kymo_mode {
	KYMO_MODE_DISCARD,	/* drop the event and count it: a consumer empties the rings */
	KYMO_MODE_OVERWRITE,	/* drop the oldest block: rings are read only after something happened */
};

/* Values of an event's enable byte; any other value counts as KYMO_ENABLE_LOOK_UP. */
enum kymo_enable {
	KYMO_ENABLE_NO,
	KYMO_ENABLE_YES,
	KYMO_ENABLE_LOOK_UP,	/* yes, unless the object that it is about is left out */
};

/* ---- page 0 ---- */

/*
 * What the recorder is writing to traces at this moment. If the recorder is killed during the write, the next recorder learns from
 * the files whether the packet was written (recorder/drain/promise.h). The rings in the packet have the promise's number, and the
 * position to which they advance with it. Each sink that keeps files has a place of its own.
 *
 *   kymo_promise.state     | ... | kept |    wanted    |    begun     |
 *                         63     32     31           16 15            0
 */
#define KYMO_PROMISE_BEGUN(place)	(1ull << (place))		/* the file may have something of it */
#define KYMO_PROMISE_WANTED(place)	(0x10000ull << (place))		/* the rings go on when it has it */
#define KYMO_PROMISE_KEPT		0x100000000ull			/* all have it; the rings that have its number go on */
#define KYMO_PROMISE_ALL_WANTED		0xffff0000ull

struct kymo_promise {
	uint64_t state;			/* see above; release, after the rest */
	uint64_t number;		/* grows; of the promise that is open, or of the next one */
};

enum kymo_promise_moves {
	KYMO_PROMISE_NOTHING,		/* only the file is repaired */
	KYMO_PROMISE_RINGS,		/* the rings that have the number */
	KYMO_PROMISE_NO_RING,		/* kymo_region.no_ring_told */
};

#define KYMO_PROMISE_HEAD_MAX	128u
#define KYMO_PROMISE_PATH_MAX	1024u

/* One write to one file. */
struct kymo_promise_place {
	uint64_t no_ring;		/* no_ring_told with it */
	uint64_t offset, size;		/* of the packet in the file, bytes */
	uint32_t moves;			/* enum kymo_promise_moves */
	uint32_t head_size;		/* 0: it is text, the trace's metadata */
	uint8_t head[KYMO_PROMISE_HEAD_MAX];	/* the packet's first bytes */
	char path[KYMO_PROMISE_PATH_MAX];	/* of the file, absolute; "" when it is longer */
};
static_assert(KYMO_PROMISE_PAGE * KYMO_PAGE + KYMO_PROMISE_PLACES * sizeof(struct kymo_promise_place) <=
	      KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE, "as drawn");

struct kymo_region {
	/* Identity: complete before the file gets its final name, constant afterwards. */
	uint64_t magic;
	uint32_t abi_version;
	uint32_t points_table;		/* KYMO_POINTS_TABLE of the writer */
	uint64_t table_hash;		/* of tracepoints.def as the writer knows it */
	uint32_t pid;			/* in the process's own pid namespace */
	uint32_t uid;
	uint64_t start_time;		/* /proc/<pid>/stat field 22, clock ticks since boot */
	uint64_t pid_ns;		/* inode of /proc/self/ns/pid */
	uint64_t birth_ns;		/* CLOCK_MONOTONIC of the registration */
	uint64_t session_tag;		/* $KYMO_SESSION of the process, 0 without */
	char procname[KYMO_NAME_MAX];	/* name of the main thread */
	char exe[256];			/* truncated path of the executable */
	uint32_t ros_domain;		/* KYMO_ROS_...: by $ROS_DOMAIN_ID, as it was started */
	char reserved0[KYMO_PAGE / 4 - 340];

	/* Set once when the first ROS 2 event shows which tracetools it is. */
	alignas(KYMO_LINE)
	uint32_t tracetools;		/* KYMO_V(major, minor), 0 = no ROS 2 event yet */
	char tracetools_version[28];	/* as in rcl_init's version field */
	uint32_t flags;			/* KYMO_REGION_* */

	/* Switched by the recorder. */
	alignas(KYMO_LINE)
	uint32_t state;			/* enum kymo_state */
	uint32_t generation;		/* of the session that set the state */
	uint32_t mode;			/* enum kymo_mode */
	uint32_t owed;			/* 1: a recorder has begun with it and not ended: what is unread is to be taken */
	uint32_t recorder_pid;		/* in its own pid namespace; means something while byte 0 is locked */
	uint64_t no_ring_told;		/* part of dropped_no_ring that a trace reports already */
	uint64_t recorded;		/* runtime events in the session so far, told a few times a second */
	uint64_t lost;			/* dropped, in the session so far */
	uint64_t log_taken;		/* init log: what is before this position is in the trace ... */
	uint64_t log_settled;		/* ... and here, the ring's records of that time are, too */

	/* Counted by the traced process. */
	alignas(KYMO_LINE)
	uint64_t log_tail;		/* init log: bytes reserved so far, position = chunk * size + offset */
	uint64_t log_head;		/* what is before this position is gone; release */
	uint64_t log_dropped;		/* init events that found the log full, or no reader in time */
	uint64_t dropped_no_ring;	/* runtime events of threads that could get no ring, or without an id */
	uint32_t ring_count;		/* entries of ring_page[] in use; release */
	uint32_t log_chunk_count;	/* chunks of the log so far, gone ones too; release */
	uint32_t page_count;		/* length of the file in pages; release */
	uint32_t snapshots_wanted;	/* calls of kymo_snapshot() */
	uint64_t texts_cut;		/* strings in events of kymo.h that were too long, recorded or not */

	/* Written by the recorder. */
	alignas(KYMO_LINE)
	struct kymo_promise promise;

	/*
	 * Set by a thread that begins a block, cleared by the recorder: ring r is r % KYMO_STIRS. So he sees at a
	 * glance which of very many rings may be filling up.
	 */
	alignas(KYMO_LINE)
	uint8_t stirred[KYMO_STIRS];
};

/*
 * ROS domains as a set of 256 bits: kymo_region.ros_domain is the number of one, that of domain N is N + 1. An
 * empty set means all.
 */
#define KYMO_ROS_UNKNOWN	0u	/* $ROS_DOMAIN_ID is no domain; or an older writer */
#define KYMO_ROS_DOMAIN_MAX	232u	/* as ROS 2 has it */
#define KYMO_ROS_EVERY		255u	/* of none in particular: whatever is recorded, it is */
#define KYMO_ROS_WORDS		4u

#define KYMO_REGION_EXITED	1u	/* the process goes through exit(): little more will come */
#define KYMO_REGION_REPLACED	2u	/* the process called exec: this image is gone */
#define KYMO_REGION_FLIGHT	4u	/* without a recorder it is in RECORD and OVERWRITE ($KYMO_FLIGHT) */
#define KYMO_REGION_LOCKED	8u	/* KYMO_LOCK_ALIVE is locked as long as the process, or a child of it, lives */

/*
 * Locks of the open file description on bytes of the region file. The descriptions live on in
 * mappings, so no process keeps a descriptor for them, and they hold across pid namespaces.
 */
#define KYMO_LOCK_CLAIM		0	/* the recorder; the domain file has the same lock */
#define KYMO_LOCK_ALIVE		1	/* the traced process, from before the file has its name */

static_assert(sizeof(struct kymo_region) <= KYMO_PAGE, "the header is one page");
static_assert(offsetof(struct kymo_region, tracetools) == KYMO_PAGE / 4, "identity is a quarter");

/* ---- objects that are left out: a set of addresses, open addressing ---- */

/*
 * An address is in one of the KYMO_LEFT_OUT_PROBES slots from KYMO_LEFT_OUT_SLOT(address) on, wrapping
 * at the end, with no free slot before it. Odd addresses are never in it.
 *
 *     0               free
 *     1               was used: the recorder may use it again, readers skip it
 *     address | 1     proposed by the recorder: without effect yet
 *     address         the events of this object are left out
 *
 * An address may be given to a new object at any moment, whose events are wanted until the recorder
 * has decided about it. So both sides write, and then look at what the other one wrote:
 *
 *   recorder         propose, full fence, read the init log to its end without meeting a hole; nothing
 *                    about the address is new: compare-exchange to `address`, else to 1
 *   traced process   commit the init event, full fence, compare-exchange every slot that holds a
 *                    pointer of the event, with or without | 1, to 1
 *
 * If the recorder did not see the event, the traced process sees the proposal, and ends it.
 */
#define KYMO_LEFT_OUT_PROBES	16u
#define KYMO_LEFT_OUT_FREE	0ull
#define KYMO_LEFT_OUT_USED	1ull
#define KYMO_LEFT_OUT_SLOT(address) ((uint32_t)((uint64_t)(address) * 0x9e3779b97f4a7c15ull >> 53))
static_assert(KYMO_LEFT_OUT_MAX == 1u << (64 - 53), "a slot for every hash");
static_assert(KYMO_LEFT_OUT_PAGE + KYMO_LEFT_OUT_MAX * 8 / KYMO_PAGE == KYMO_PROMISE_PAGE, "as drawn");

/* ---- rings: one per thread, one producer (and its signal handlers), one consumer ---- */

/*
 * Positions never wrap. One 64-bit word holds a position and the number of records since the
 * start of its block, so that one compare-exchange moves both and any cut knows its event count:
 *
 *     63                                             13 12           0
 *     | byte position since the ring was made (51 bits) | records (13) |
 *
 * The block of position p is p / block_size, its place in memory p % (block_size * block_count).
 *
 * A block of block_size bytes:   | struct kymo_block (64 B) | records ... | unused |
 * A record, final CTF bytes:     | u16 id | u64 ns | payload |, never across a block's end.
 *
 * Records never reach a block's last byte, so a position always says which block it is in. A block
 * that the producer has left (wpos is in a later one) is complete and its header's `used` and
 * `records` are valid. In the block wpos is in, the records end at wpos and their number is in
 * the word. A fresh ring has wpos 0: no block has begun.
 *
 * rpos is the consumer's position in the same count. When the consumer has read all of a complete block, it moves rpos to the
 * start of the next block: then the producer may reuse the block.
 *
 * In KYMO_MODE_OVERWRITE the producer does not look at rpos: it begins any block but the one that
 * wpos is in. A reader copies a block: seq, the bytes, seq again; the copy is valid if
 * both are the number it expected (the producer stores the new seq before it touches the bytes,
 * with a release fence between; the reader has an acquire fence before its second look).
 *
 * The producer looks at `mode` when it begins a block, so one that is switched to DISCARD may still
 * begin one block, the one after wpos's, over older records. A reader that switches the mode and then reads from wpos is not
 * affected; a reader of older blocks copies them as above.
 *
 * records_before + records (in the block of wpos: the word's count) is the number of records ever
 * committed to the ring up to there, so a reader knows exactly how many were overwritten unread.
 *
 * A thread that ends leaves its ring RETIRED, with its records. In OVERWRITE mode the oldest such
 * ring may get a new owner, which continues after the records in it: each block names its owner.
 */
#define KYMO_WORD_COUNT_BITS	13
#define KYMO_WORD_POS(word)	((word) >> KYMO_WORD_COUNT_BITS)
#define KYMO_WORD_COUNT(word)	((word) & ((1u << KYMO_WORD_COUNT_BITS) - 1))
#define KYMO_WORD(pos, count)	((uint64_t)(pos) << KYMO_WORD_COUNT_BITS | (count))

#define KYMO_BLOCK_MAX		65536u		/* bytes; smaller rings have smaller blocks */
#define KYMO_BLOCK_MIN		4096u
#define KYMO_RECORD_HEADER	10u		/* u16 id, u64 timestamp */
static_assert(KYMO_BLOCK_MAX / KYMO_RECORD_HEADER < 1u << KYMO_WORD_COUNT_BITS, "count fits");

enum kymo_ring_state {
	KYMO_RING_FREE,		/* anyone may take it */
	KYMO_RING_OWNED,	/* a thread writes it */
	KYMO_RING_RETIRED,	/* its thread ended; the consumer frees it once it is empty */
};

/* The owner of the ring; read as seq, the other fields, seq again. */
struct kymo_owner {
	uint32_t seq;		/* kymo_block.owner_seq of its blocks; 0 while the entry changes */
	uint32_t tid;
	char name[KYMO_NAME_MAX];
};
#define KYMO_OWNERS	64u	/* entry of owner n: n % KYMO_OWNERS; an older one is forgotten */

struct kymo_ring {
	/* Written by the producer with every event. */
	alignas(KYMO_LINE)
	uint64_t wpos;		/* committed word (KYMO_WORD); release */
	uint64_t lastts;	/* timestamp no later than any record at or past wpos, no earlier than any below */
	uint32_t nest;		/* tracepoints in progress on the thread: 0 between events */
	uint32_t nseq;		/* odd while wpos and lastts change together (nested records) */

	/* Written by the producer rarely. */
	alignas(KYMO_LINE)
	uint64_t dropped;	/* events that found no room, since the ring was created */
	uint32_t tid;		/* of the owner, in its own pid namespace */
	uint32_t owner_seq;	/* grows with every new owner; release, after tid and name */
	char name[KYMO_NAME_MAX];	/* thread name when it took the ring */

	/* Written by the consumer. */
	alignas(KYMO_LINE)
	uint64_t rpos;		/* byte position up to which the consumer has taken; release */
	uint64_t told;		/* part of kymo_ring.dropped that a trace reports already */
	uint64_t promise;	/* number of the promise that moves rpos and told to ... */
	uint64_t promised_rpos, promised_told;
	uint64_t promised_records;

	/* Written on take and free. */
	alignas(KYMO_LINE)
	uint32_t state;		/* enum kymo_ring_state */

	/* Constant. */
	uint32_t block_size;	/* power of two, KYMO_BLOCK_MIN..KYMO_BLOCK_MAX */
	uint32_t block_count;	/* power of two, at least 2 */
	uint32_t number;	/* index in ring_page[] */

	/* Written with every new owner, before owner_seq. */
	alignas(KYMO_LINE)
	struct kymo_owner owner[KYMO_OWNERS];
};
static_assert(sizeof(struct kymo_ring) <= KYMO_PAGE, "one page, then the blocks");

struct kymo_block {
	uint64_t seq;		/* number of the block, 1 for the first; stored before its records */
	uint32_t used;		/* bytes with header, 0 while open; stored before wpos leaves the block */
	uint32_t records;	/* stored with used */
	uint64_t ts_first;	/* not after its first record */
	uint64_t dropped_at_start;	/* kymo_ring.dropped when the block was begun */
	uint32_t owner_seq;	/* owner when it was begun; an owner's records end at its block's end */
	uint32_t cpu;		/* CPU it was begun on */
	uint64_t records_before;	/* records in all blocks before this one, since the ring was made */
	uint64_t reserved[2];
};
static_assert(sizeof(struct kymo_block) == 64, "one line");

/* ---- init log: any thread, any state ---- */

/*
 *                     log_head                                  log_tail
 *   ··gone············|ooo|··|ooo|··|oo|··|ccc|oooo|c|oooooooooo|
 *                      ^ first written here    ^ copied from what is gone now
 *
 *   | stamp u64 | origin u64 | size u32 | tid u32 | ns u64 | thread name 16 | id u16 | key u16 | payload_size u32 |
 *   | payload | 0-7 pad |
 *
 * Positions never wrap. Position p is in chunk p / KYMO_LOG_CHUNK; chunk n is at page log_page[n %
 * KYMO_LOG_CHUNKS_MAX], for n < log_chunk_count. When head has left a chunk its memory becomes a later one.
 *
 * Records are 8-aligned and do not cross a chunk. A writer reserves by moving log_tail with a
 * compare-exchange, reads the clock between loading log_tail and moving it (so the order of origins is
 * time order), fills the record and stores the stamp last, with release. A stamp is
 * KYMO_LOG_STAMP ^ position: after a crash a reader finds the next record behind a hole. The
 * rest of a chunk that cannot take the next record is skipped with a record whose id is
 * KYMO_LOG_PAD, or, if even that does not fit, is shorter than a header.
 *
 * What the facts are about comes and goes (src/abi/life.h). A writer that finds the log grown cleans it:
 * it copies each fact at the head that still holds to the tail, moves the head past it, and forgets the
 * others. A copy keeps its origin, the position where the fact was written first. So
 *
 *   - a reader that has read everything up to a position skips every record whose origin is not its own position;
 *   - a reader that begins at the head, or that the head has overtaken, reads facts by their origin, each origin once: a process
 *     that dies while it cleans leaves some facts twice, but loses none;
 *   - bytes that were read at a position are valid if log_head has not passed that position afterwards.
 *
 * A fact is kept while its events may still be read. A process forgets facts that ceased to hold before
 *
 *     WAIT                    log_tail
 *     otherwise, DISCARD      log_settled; log_taken in a log that is half full; log_tail in one that is
 *                             three quarters full; facts that were not read by then count as dropped
 *     otherwise, OVERWRITE    log_tail - KYMO_LOG_KEEP
 *
 * A hole is a record that is being written. After KYMO_LOG_PATIENCE_NS it is none any more: its writer was
 * stopped for good (its thread was cancelled, or left a handler by a long jump).
 */
#define KYMO_LOG_CHUNK		65536u
#define KYMO_LOG_STAMP		0x9e3779b97f4a7c15ull
#define KYMO_LOG_PAD		0xffffu
#define KYMO_LOG_DECLARE	0xfffeu	/* payload: struct kymo_declaration */
#define KYMO_LOG_GONE		0xfffdu	/* payload: struct kymo_gone */
#define KYMO_LOG_KEEP		(1u << 20)
#define KYMO_LOG_PATIENCE_NS	10000000000ull

/* What makes two facts with the same id one and the same: the later one holds. */
enum kymo_log_key {
	KYMO_LOG_KEY_TABLE,	/* as src/abi/tracepoints.def has it; else the whole payload */
	KYMO_LOG_KEY_THREAD,	/* the thread: it is about it, and holds until it ends */
};

struct kymo_log_record {
	uint64_t stamp;
	uint64_t origin;	/* position where it was written first */
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
 * A process declares its own tracepoints: an event class with the id that its ring records carry.
 * Ids begin at KYMO_POINTS_TABLE and mean something only within the region. The declaration comes
 * before the first record that needs it.
 *
 *   | id u16 | shape u8 | field_count u8 | line u32 | category 0 | name 0 | file 0 | function 0 | fields... |
 *   a field:  | kind u8 (enum kymo_kind) | name 0 |
 *
 * All texts end with a NUL and are not longer than KYMO_DECLARED_TEXT_MAX with it.
 */
enum kymo_shape {
	KYMO_SHAPE_POINT,	/* a tracepoint with fields */
	KYMO_SHAPE_BEGIN,	/* a span begins on the thread */
	KYMO_SHAPE_END,		/* the innermost open span of that category and name ends */
	KYMO_SHAPE_INSTANT,	/* something happened */
	KYMO_SHAPE_COUNTER,	/* first field: the value from now on */
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

/* ---- <runtime dir>/domain: what a process that starts now should do ---- */

/*
 * The recorder holds a write lock on KYMO_LOCK_CLAIM of this file (of the open file description) as long as
 * it lives; a domain in RECORD or PREPARE without that lock is the leftover of a dead recorder and counts as
 * WAIT. So it does in each region that it records: a program may record itself beside it.
 *
 * A process that starts takes the domain's state, if it belongs to the session: in PREPARE, a paused
 * one, its runtime events are off.
 */
struct kymo_domain {
	uint64_t magic;
	uint32_t abi_version;
	uint32_t state;			/* enum kymo_state */
	uint32_t generation;		/* odd while the fields below change */
	uint32_t recorder_pid;		/* in its own pid namespace, see recorder_pid_ns */
	uint64_t session_tag;		/* 0: all processes; else only those with this tag */
	uint64_t started_ns;		/* CLOCK_MONOTONIC */
	char trace_path[1024];		/* where the session is written */
	uint64_t recorder_pid_ns;	/* inode of the recorder's /proc/self/ns/pid */
	uint32_t armed;			/* 1 in PREPARE: it has not recorded yet and waits to be told, by kymo agent */
	uint32_t reserved;
	uint64_t ros_domains[KYMO_ROS_WORDS];	/* in RECORD: only processes of these do, others are in PREPARE */
};

#endif
