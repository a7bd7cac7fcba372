/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A traced process as a recording session sees it: its region, its rings and how far they were
 * drained, what each sink has of it, and the accounts. For sinks and for the recorder's own files;
 * others use session.h.
 *
 *   per ring      produced = recorded + dropped + filtered (+ what a corrupt ring cost, in bytes)
 *   per process   the sums, and events of threads that could get no ring
 */
#ifndef KYMO_RECORDER_DRAINED_PROCESS_H
#define KYMO_RECORDER_DRAINED_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/drain/loud.h"
#include "recorder/drain/sink.h"
#include "recorder/records/classes.h"
#include "recorder/runtime/alive.h"
#include "recorder/runtime/region_view.h"

/* The account of a thread that owns or owned a ring. Threads of a process beyond THREADS_MAX share
 * the last one. */
#define THREADS_MAX 10000
struct thread_account {
	int32_t tid;
	char name[CTF_PROCNAME_SIZE];
	uint64_t recorded, dropped, bytes;
	uint64_t filtered;		/* records that were not wanted, and written all the same */
};

struct ring {
	uint32_t page;			/* of its struct kymo_ring */
	uint32_t block_size, block_count;
	uint64_t room; /* bytes that may be unread: its own, and those of spare blocks */
	bool bad;			/* refused or corrupt: no longer read */
	bool left_out;                  /* then: invalid records were left out and counted */
	bool merged;			/* drained by merged_drain(), with others of its process */
	bool owner_known;
	uint32_t owner_seq;
	uint32_t thread;                  /* index of its owner's account */
	uint32_t block_records;           /* records already taken from the block `taken` is in */
	uint64_t taken;                   /* byte position up to which all is in the sinks */
	uint64_t looked, looked_ns;       /* wpos as it was last read, and when that was */
	uint64_t prev_end;                /* end of the last packet */
	uint64_t dropped_base;            /* kymo_ring.dropped when the session began */
	uint64_t dropped_seen;            /* last value that the accounts hold */
	uint64_t waits_seen, waited_seen; /* of kymo_ring.waits, waited_ns */
	uint64_t dropped_looked;          /* when loud_look() last looked at its records */
	uint64_t taken_ns; /* when something was last taken; from then on, a little data waits for
			      patience_ns */
	uint64_t left_out_message; /* the last message whose object is not wanted
				    * (filter_record()) */
};

enum process_end { PROCESS_RUNS, PROCESS_EXITED, PROCESS_KILLED, PROCESS_REPLACED };

struct home;			/* recorder/session/homes.h */

struct drained_process {
	/* Read in every round, so these come first. */
	bool finished;			/* all is taken, the region is closed */
	enum alive alive;
	unsigned ordinal;
	unsigned ring_count, ring_room;
	struct ring *ring;
	uint64_t look_at;		/* when to drain all of its rings again */
	struct region region;
	struct home *home;		/* where its region is */
	int host_pid;			/* 0: not found */
	enum process_end end;
	bool cut;                 /* its region was shortened: nothing behind the header is read */
	bool recording;           /* this session has switched it to RECORD */
	unsigned replaced_checks; /* liveness checks that saw it replaced by exec */
	unsigned tracetools;
	char tracetools_version[29];
	struct classes classes;
	unsigned counted_classes; /* of those, when they were switched to counting */
	char rmw[64]; /* RMW_IMPLEMENTATION in its environment; "": not set, or not known */
	struct filter_process *filter;      /* what is wanted of it; NULL: everything */
	unsigned merged_rings;              /* of its rings */
	struct sink_process *at[SINKS_MAX]; /* by place in drain.sink */
	unsigned promise_place;             /* the one that is being written for */
	uint64_t init_events;               /* in the sink that has the most */
	uint64_t init_bad;                  /* invalid records of the init log */
	uint64_t init_limit; /* position in the init log: facts that ended before it are not part of
				the session */
	uint64_t log_taken, log_settled;  /* as published in the region */
	uint64_t log_noted, log_noted_ns; /* log_taken some time ago: the next log_settled */
	struct thread_account *thread;
	unsigned thread_count, thread_room;
	uint64_t no_ring_base;		/* kymo_region.dropped_no_ring when it joined */
	uint64_t dropped_no_ring, init_dropped;
	uint32_t no_ring_why; /* kymo_region.no_ring_why */
	uint64_t recorded, dropped, bytes, filtered;
	uint64_t lost_bytes; /* of corrupt rings */
	uint64_t merged_end; /* time of the last record that was merged */
	uint64_t merged_ns;  /* as ring.taken_ns, of all rings that are merged */
	uint64_t cut_ns;     /* records before this are left out; only where all are walked */
	uint64_t overwritten,
		outside;           /* of a frozen copy: gone before it was made; before cut_ns */
	uint64_t unwritten;        /* events that a sink did not take, the sum over all sinks */
	uint64_t texts_cut;        /* strings in its own events that were too long */
	uint64_t waits, waited_ns; /* for room, instead of a drop ($KYMO_BLOCK) */
	struct loud loud;
	struct sink_process filter_at;	/* the filter's place in the init log (drain_filter.c) */
};

/** ring_shared() - the shared page of a ring that process_rings() entered. */
static inline struct kymo_ring *ring_shared(const struct drained_process *process,
					    const struct ring *ring)
{
	return region_page(&process->region, ring->page, 1);
}

/** ring_at() - where byte @position of a sound ring is. */
static inline uint8_t *ring_at(const struct drained_process *process, const struct ring *ring,
			       uint64_t position)
{
	const uint64_t page =
		region_block_page(&process->region, ring_shared(process, ring), ring->page,
				  position / ring->block_size, ring->block_size, ring->block_count);

	return process->region.base + page * KYMO_PAGE + position % ring->block_size;
}

/* Spare blocks are for all rings of a process: one ring may expect a quarter of them. */
static inline uint64_t ring_expected_room(const struct ring *ring)
{
	const uint64_t own = (uint64_t)ring->block_size * ring->block_count;

	return own + (ring->room - own) / 4;
}

/** ring_refuse() - do not read a ring any further, and say why. */
void ring_refuse(struct drained_process *process, struct ring *ring, const struct drain *drain,
		 const char *what);

/**
 * process_rings() - enter the rings that were created since the last call
 * @skip_unread: what is in them is not of this session
 */
void process_rings(struct drained_process *process, struct drain *drain, bool skip_unread);

/**
 * process_first_ns() - time of the oldest runtime event that is committed and not read
 * Return: UINT64_MAX: none. Context: wait-free.
 */
uint64_t process_first_ns(const struct drained_process *process);

/**
 * process_unread_drops() - how many events ring @index dropped behind its first unread record
 * The accounts have them afterwards. Return: 0 without an unread record.
 */
uint64_t process_unread_drops(struct drained_process *process, unsigned index);

#endif
