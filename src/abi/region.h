/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The region: the shared memory between a traced process and its readers. Layout only, no code.
 *
 * The region has two stores for events. One-time facts, e.g. "this node has this name", go to the
 * init log (region_log.h), which all threads of the process share. Runtime events, e.g. "this
 * callback begins", go to the ring of the thread (region_ring.h). The recorder reads both stores,
 * and switches events on and off by the enable bytes.
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

#include "abi/region_log.h"
#include "abi/region_page.h"
#include "abi/region_ring.h"

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
 *                    no new fact about the address, compare-exchange the slot to `address`, else
 *                    to 1
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
