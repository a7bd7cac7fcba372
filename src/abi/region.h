/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The region: the shared memory between a traced process and its readers. Layout only, no code.
 *
 * The region has two stores for events. One-time facts, e.g. "this node has this name", go to the
 * init log, which all threads of the process share. Runtime events, e.g. "this callback begins", go
 * to the ring of the thread. The recorder reads both stores, and switches events on and off by the
 * enable bytes.
 *
 * Each traced process has one region, in the file <runtime dir>/<pid>-<start time>-<pid
 * namespace>[.<n>].region. The file has mode 0600, the directory 0700; programs of several
 * containers may share the directory. The traced process creates the file under a name that ends in
 * ".new", and renames the file when it is complete. The file grows by whole segments and never
 * shrinks.
 *
 *   page 0            struct kymo_region            identity, state, clock, counters
 *   page 1            u8 enable[4096]               one byte per event id, written by the recorder (enum kymo_enable)
 *   pages 2-3         u32 ring_page[2048]           page number of each ring; 0: the ring does not exist
 *   page 4            u32 log_page[1024]            page number of each init log chunk, by the chunk's number
 *   pages 5-8         u64 left_out[2048]            objects whose events are not wanted; see below
 *   pages 9-13        struct kymo_promise_place[16]  the writes of the recorder, one entry per sink
 *   pages 14...       segments in the order of their creation, each one
 *                       an init log chunk           KYMO_LOG_CHUNK bytes
 *                       or a ring                   one page struct kymo_ring, then its blocks
 *
 * Trust: the reader checks every number in the region as input. The traced process reads only the
 * enable bytes, the objects left out, the state words, rpos, log_taken and log_settled. Any value
 * of these is safe for the traced process.
 *
 * Memory order: a word that publishes bytes is stored with release and loaded with acquire. Each
 * word has one writer, with these exceptions: `state`, `generation` and `mode` (the recorder, and
 * the traced process while it registers), `enable` (the same, and the traced process when it
 * declares a tracepoint), `left_out`, `stirred` and kymo_ring.state.
 */
#ifndef KYMO_ABI_REGION_H
#define KYMO_ABI_REGION_H

#include <assert.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_PAGE		4096u
/* two 64-byte lines: the adjacent-line prefetcher pairs them */
#define KYMO_LINE		128u
#define KYMO_REGION_MAGIC	0x316e6f6967657279ull	/* "yregion1", little endian */
#define KYMO_DOMAIN_MAGIC	0x316e69616d6f6479ull	/* "ydomain1" */
#define KYMO_ABI_VERSION 5u

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

/* State of a process or domain; the three states are CARET's. */
enum kymo_state {
	KYMO_STATE_WAIT = 1,	/* init events go to the log; runtime events are off */
	KYMO_STATE_PREPARE = 2,	/* the recorder reads the init log; runtime events are off */
	KYMO_STATE_RECORD = 3,	/* runtime events are recorded */
};

/* How a thread handles an event when the thread's ring is full. Used only in state RECORD. */
enum kymo_mode {
	KYMO_MODE_DISCARD, /* drop the event and count it: a consumer empties the rings all the
			    * time */
	KYMO_MODE_OVERWRITE, /* drop the oldest block: a reader reads the rings only after an
				incident */
};

/* Values of an event's enable byte; any other value counts as KYMO_ENABLE_LOOK_UP. */
enum kymo_enable {
	KYMO_ENABLE_NO,
	KYMO_ENABLE_YES,
	KYMO_ENABLE_LOOK_UP,	/* yes, unless the event's object is left out */
	/* Only count it, by its object: see struct kymo_count. Nobody reads the counts of a region
	 * whose KYMO_LOCK_CLAIM nobody holds; whoever finds that, with the lock, writes
	 * KYMO_ENABLE_NO. Only for events of KYMO_COUNTED_AS()
	 * in regions with KYMO_REGION_COUNTS, and for begins of spans with
	 * KYMO_REGION_COUNTS_SPANS. */
	KYMO_ENABLE_COUNT,
};

/* ---- page 0 ---- */

/*
 * A promise: a note in the region of the packet that the recorder is writing to its traces. If the
 * recorder is killed during the write, the next recorder compares the promise with the files, and
 * so knows whether the traces have the packet (recorder/drain/promise.h). Each ring with records in
 * the packet stores the promise's number, and the position to which the ring advances when the
 * traces have the packet. Each sink that keeps files has its own place, with its own bits in the
 * state:
 *
 *   kymo_promise.state     | ... | kept |    wanted    |    begun     |
 *                         63     32     31           16 15            0
 */
/* the file may contain a part of the packet */
#define KYMO_PROMISE_BEGUN(place)	(1ull << (place))
/* the rings wait until this sink has the packet */
#define KYMO_PROMISE_WANTED(place)	(0x10000ull << (place))
/* all sinks have the packet; the rings with its number advance */
#define KYMO_PROMISE_KEPT		0x100000000ull
#define KYMO_PROMISE_ALL_WANTED		0xffff0000ull

struct kymo_promise {
	uint64_t state;			/* see above; release, after the other fields */
	uint64_t number;		/* number of the open promise, or of the next one; grows */
};

/* The positions that advance when the write is in the file. */
enum kymo_promise_moves {
	KYMO_PROMISE_NOTHING,		/* none; the next recorder only repairs the file */
	KYMO_PROMISE_RINGS,		/* those of the rings that have the promise's number */
	KYMO_PROMISE_NO_RING,		/* kymo_region.no_ring_told */
};

#define KYMO_PROMISE_HEAD_MAX	128u
#define KYMO_PROMISE_PATH_MAX	1024u

/* One write to one file. */
struct kymo_promise_place {
	uint64_t no_ring;      /* value of no_ring_told after the write */
	uint64_t offset, size; /* of the packet in the file, bytes */
	uint32_t moves;        /* enum kymo_promise_moves */
	uint32_t head_size; /* bytes used in head; 0: the write is text of the trace's metadata */
	uint8_t head[KYMO_PROMISE_HEAD_MAX]; /* the packet's first bytes */
	char path[KYMO_PROMISE_PATH_MAX]; /* absolute path of the file; "": the path is too long */
};
static_assert(KYMO_PROMISE_PAGE * KYMO_PAGE +
			      KYMO_PROMISE_PLACES * sizeof(struct kymo_promise_place) <=
		      KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE,
	      "as drawn");

struct kymo_region {
	/* Identity: complete before the file gets its final name, constant afterwards. */
	uint64_t magic;
	uint32_t abi_version;
	uint32_t points_table;		/* KYMO_POINTS_TABLE of the writer */
	uint64_t table_hash;		/* kymo_table_hash() of the writer */
	uint32_t pid;			/* in the process's own pid namespace */
	uint32_t uid;
	uint64_t start_time;          /* /proc/<pid>/stat field 22, clock ticks since boot */
	uint64_t pid_ns;              /* inode of /proc/self/ns/pid */
	uint64_t birth_ns;            /* CLOCK_MONOTONIC of the registration */
	uint64_t session_tag;         /* $KYMO_SESSION of the process; 0: not set */
	char procname[KYMO_NAME_MAX]; /* name of the main thread */
	char exe[256];                /* truncated path of the executable */
	uint32_t ros_domain;  /* KYMO_ROS_...: from $ROS_DOMAIN_ID at the start of the process */
	uint32_t spare_page;  /* of the first spare block */
	uint32_t spare_count; /* spare blocks, one after the other; 0: none */
	uint64_t time_ns;     /* inode of /proc/self/ns/time: whose CLOCK_MONOTONIC; 0: unknown */
	char reserved0[KYMO_PAGE / 4 - 360];

	/* Set once, with the first ROS 2 event of the process. */
	alignas(KYMO_LINE) uint32_t
		tracetools; /* version of tracetools, KYMO_V(major, minor); 0: no ROS 2 event yet */
	char tracetools_version[28]; /* the version as the field "version" of rcl_init has it */
	uint32_t flags;              /* KYMO_REGION_* */

	/* Switched by the recorder. */
	alignas(KYMO_LINE) uint32_t state; /* enum kymo_state */
	uint32_t generation;               /* of the session that set the state */
	uint32_t mode;                     /* enum kymo_mode */
	uint32_t owed; /* 1: a recorder began to record this region and has not ended: unread
			  records are still wanted */
	uint32_t recorder_pid; /* in the recorder's own pid namespace; valid while KYMO_LOCK_CLAIM
				  is locked */
	uint64_t no_ring_told; /* part of dropped_no_ring that a trace already reports */
	uint64_t recorded;  /* runtime events recorded in the session so far; updated a few times a
			       second */
	uint64_t lost;      /* events dropped in the session so far */
	uint64_t log_taken; /* init log: the trace has the facts before this position */
	uint64_t log_settled; /* init log: the trace has the facts before this position, and the
				 ring records of that time */

	/* Counted by the traced process. */
	alignas(KYMO_LINE) uint64_t
		log_tail;  /* init log: bytes reserved so far; position = chunk * size + offset */
	uint64_t log_head; /* init log: facts before this position are forgotten; release */
	uint64_t log_dropped; /* init events dropped because the log was full, or forgotten before
				 the recorder read them */
	uint64_t dropped_no_ring; /* runtime events dropped because the thread had no ring, or the
				     event no id */
	uint32_t ring_count;      /* entries of ring_page[] in use; release */
	uint32_t log_chunk_count; /* chunks of the log so far, forgotten chunks included; release */
	uint32_t page_count;      /* length of the file in pages; release */
	uint32_t snapshots_wanted; /* calls of kymo_snapshot() */
	uint64_t texts_cut;   /* strings in events of kymo.h that were too long, whether recorded or
				 not */
	uint32_t no_ring_why; /* errno of the last attempt to add a ring; 0: none failed; an older
				 process: unknown */
	uint64_t uncounted; /* events that were to be counted and found no place */

	/* Written by the recorder. */
	alignas(KYMO_LINE)
	struct kymo_promise promise;

	/*
	 * Hints for the recorder: which of very many rings may be filling up. A thread that begins
	 * a block in ring r sets byte r % KYMO_STIRS; the recorder clears the byte.
	 */
	alignas(KYMO_LINE)
	uint8_t stirred[KYMO_STIRS];
};

/*
 * ROS domains are a set of 256 bits; domain N has bit N + 1. An empty set means all domains.
 * kymo_region.ros_domain is the number of a bit.
 */
#define KYMO_ROS_UNKNOWN	0u	/* $ROS_DOMAIN_ID is not a domain, or the writer is older */
#define KYMO_ROS_DOMAIN_MAX	232u	/* largest domain of ROS 2 */
/* the process belongs to every domain: it is recorded whatever the set */
#define KYMO_ROS_EVERY		255u
#define KYMO_ROS_WORDS		4u

#define KYMO_REGION_EXITED	1u	/* the process runs exit(): few more events will follow */
/* the process called exec: the region's program no longer runs */
#define KYMO_REGION_REPLACED	2u
/* without a recorder, the process is in RECORD and OVERWRITE ($KYMO_FLIGHT) */
#define KYMO_REGION_FLIGHT	4u
#define KYMO_REGION_COUNTS 16u           /* the program knows KYMO_ENABLE_COUNT */
#define KYMO_REGION_COUNTS_SPANS 32u     /* also of spans of kymo.h */
/* KYMO_LOCK_ALIVE is locked as long as the process, or a child of it, lives */
#define KYMO_REGION_LOCKED	8u

/*
 * Locks on single bytes of the region file, held by an open file description (OFD locks). A mapping
 * keeps the description alive, so no process keeps a descriptor for the lock. The locks also work
 * across pid namespaces.
 */
/* held by the recorder; the domain file has the same lock */
#define KYMO_LOCK_CLAIM		0
/* held by the traced process, already before the file has its final name */
#define KYMO_LOCK_ALIVE		1

static_assert(sizeof(struct kymo_region) <= KYMO_PAGE, "the header is one page");
static_assert(offsetof(struct kymo_region, tracetools) == KYMO_PAGE / 4, "identity is a quarter");

/* ---- objects that are left out: a set of addresses, open addressing ---- */

/*
 * A hash set of addresses. An address is in one of the KYMO_LEFT_OUT_PROBES slots from
 * KYMO_LEFT_OUT_SLOT(address) on, wrapping at the end of the set; no free slot comes before it. The
 * set never contains odd addresses. Values of a slot:
 *
 *     0               free
 *     1               was used: the recorder may use the slot again, readers skip it
 *     address | 1     proposed by the recorder, without effect yet
 *     address         the events of this object are left out
 *
 * At any moment, the traced process may create a new object at an address of the set. The events of
 * the new object are wanted until the recorder has decided about it. To detect this, each side
 * writes first, and then reads the other side's writes:
 *
 *   recorder         1. write the proposal; 2. full fence; 3. read the init log to its end, where no hole may be; 4. if the log has
 *                    no new fact about the address, compare-exchange the slot to `address`, else to 1
 *   traced process   1. commit the init event; 2. full fence; 3. compare-exchange each slot that holds a pointer of the
 *                    event, with or without | 1, to 1
 *
 * So either the recorder reads the new init event, or the traced process sees the proposal and
 * removes it.
 */
#define KYMO_LEFT_OUT_PROBES	16u
#define KYMO_LEFT_OUT_FREE	0ull
#define KYMO_LEFT_OUT_USED	1ull
#define KYMO_LEFT_OUT_SLOT(address) ((uint32_t)((uint64_t)(address) * 0x9e3779b97f4a7c15ull >> 53))
static_assert(KYMO_LEFT_OUT_MAX == 1u << (64 - 53), "a slot for every hash");
static_assert(KYMO_LEFT_OUT_PAGE + KYMO_LEFT_OUT_MAX * 8 / KYMO_PAGE == KYMO_PROMISE_PAGE, "as drawn");

/* ---- rings: one per thread, one producer (and its signal handlers), one consumer ---- */

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

/* ---- init log: any thread, any state ---- */

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
 *   - a reader that has read everything up to a position skips every record whose origin is not the record's own position;
 *   - a reader that begins at the head, or that the head has overtaken, reads facts by their origin, each origin once: a process
 *     that dies while it cleans leaves some facts twice, but loses none;
 *   - bytes that were read at a position are valid if log_head has not passed that position afterwards.
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

/* ---- <runtime dir>/domain: the state for processes that start now ---- */

/*
 * A process that starts sets its own state to the domain's state, if the process belongs to the
 * session. In PREPARE, e.g. in a paused session, the runtime events of the process are off.
 *
 * The recorder holds a write lock on byte KYMO_LOCK_CLAIM of this file (an OFD lock) as long as the
 * recorder lives. A domain in RECORD or PREPARE without that lock was left by a dead recorder and
 * counts as WAIT. The recorder also locks that byte of each region that it records: a program may
 * record itself at the same time.
 */
struct kymo_domain {
	uint64_t magic;
	uint32_t abi_version;
	uint32_t state;        /* enum kymo_state */
	uint32_t generation;   /* odd while the fields below change */
	uint32_t recorder_pid; /* in its own pid namespace, see recorder_pid_ns */
	uint64_t session_tag;  /* 0: all processes belong to the session; else only those with this
				  tag */
	uint64_t started_ns;   /* CLOCK_MONOTONIC */
	char trace_path[1024]; /* path of the session's trace */
	uint64_t recorder_pid_ns; /* inode of the recorder's /proc/self/ns/pid */
	uint32_t armed; /* 1, in PREPARE: the session has not recorded yet and waits for a Start
			   (kymo agent) */
	uint32_t reserved;
	uint64_t ros_domains[KYMO_ROS_WORDS]; /* in RECORD: processes of these ROS domains record,
						 others are in PREPARE */
};

#endif
