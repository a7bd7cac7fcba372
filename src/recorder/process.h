/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A traced process as a recording session sees it: its region, its rings and init log with what
 * was taken of them, and the accounts. For the recorder's own files; others use session.h.
 *
 *   per ring      produced = recorded + dropped (+ what a corrupt ring cost, in bytes)
 *   per process   the sums, and events of threads that could get no ring
 */
#ifndef KYMO_RECORDER_PROCESS_H
#define KYMO_RECORDER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/writer.h"
#include "recorder/alive.h"
#include "recorder/classes.h"
#include "recorder/region.h"

/* An owner of a ring. Beyond THREADS_MAX of one process, threads share the last entry. */
#define THREADS_MAX 10000
struct thread_account {
	int32_t tid;
	char name[CTF_PROCNAME_SIZE];
	uint64_t recorded, dropped, bytes;
};

struct ring {
	uint32_t page;			/* of its struct kymo_ring */
	uint32_t block_size, block_count;
	bool bad;			/* refused or corrupt: no longer read */
	bool owner_known;
	uint32_t owner_seq;
	uint32_t thread;		/* index of its owner's account */
	uint32_t block_records;		/* records already taken from the block `taken` is in */
	uint64_t taken;			/* byte position up to which all is in the trace */
	uint64_t looked;		/* its end at the last look */
	uint64_t prev_end;		/* end of the stream's last packet */
	uint64_t dropped_base;		/* kymo_ring.dropped when the session began */
	uint64_t dropped_seen;		/* last value that the accounts hold */
	uint64_t discarded;		/* events_discarded of the stream's last packet */
	uint64_t unread_since;		/* when something was first seen waiting, 0: nothing is */
	struct ctf_out *out;
};

struct init_log {
	uint64_t taken;
	uint64_t prev_ns;		/* of the stream's last event or packet end */
	uint64_t discarded;
	uint64_t events;
	uint64_t bad;			/* records that made no sense */
	struct ctf_out *out;
};

enum process_end { PROCESS_RUNS, PROCESS_EXITED, PROCESS_KILLED, PROCESS_REPLACED };

struct process {
	struct region region;
	int host_pid;			/* 0: not found */
	enum alive alive;
	enum process_end end;
	bool finished;			/* all is taken, the region is closed */
	bool declared;			/* its runtime events are in the metadata */
	bool recording;			/* we have switched it to RECORD */
	unsigned replaced_checks;	/* liveness checks that saw it replaced by exec */
	unsigned ordinal;
	unsigned tracetools;
	char tracetools_version[29];
	struct classes classes;
	struct ctf_writer *own_writer;	/* its own trace, once it has declared events; else NULL */
	uint64_t own_bytes;		/* of it, once it is closed */
	struct ring *ring;
	unsigned ring_count;
	struct init_log init;
	struct thread_account *thread;
	unsigned thread_count;
	uint64_t no_ring_base;		/* kymo_region.dropped_no_ring when it joined */
	uint64_t dropped_no_ring, init_dropped;
	uint64_t recorded, dropped, bytes;
	uint64_t lost_bytes;		/* of corrupt rings */
	uint64_t cut_ns;		/* records before this are left out; only where all are walked */
	uint64_t overwritten, outside;	/* of a frozen copy: gone before it was made; before cut_ns */
	uint64_t unwritten;		/* events that the disk did not take */
	uint64_t texts_cut;		/* strings in its own events that were too long */
};

/* What draining needs of its session. */
struct drain {
	struct ctf_writer *writer;	/* of the trace that processes share */
	/* Make the trace of a process that declares events of its own. Return: 0; -errno. */
	int (*make_own_writer)(void *context, struct process *process);
	void *maker;			/* its context */
	uint64_t start_ns;		/* of the session: init events are not before it */
	uint64_t now_ns;		/* when the round began; where it matters drain_look_at_clock() */
	uint64_t patience_ns;		/* how long a little data may wait for more */
	bool final;			/* take everything */
	bool failed;			/* the last ring_drain() before ring_finish() failed */
	unsigned fullest;		/* out: highest fill of a ring met, in 1/256 */
	uint64_t grown;			/* out: most that a ring grew since the last look, in 1/256 */
	void (*say)(void *context, const char *text);
	void *context;
	uint8_t *scratch;		/* DRAIN_SCRATCH bytes */
};
#define DRAIN_SCRATCH (256u << 10)

/** drain_say() - tell the user one sentence. */
__attribute__((format(printf, 2, 3)))
void drain_say(const struct drain *drain, const char *format, ...);

/**
 * drain_look_at_clock() - bring now_ns up to date
 *
 * A recorder that got no processor for seconds meets times later than when its round began.
 */
void drain_look_at_clock(struct drain *drain);

/** ring_shared() - the shared page of a ring that process_rings() took notice of. */
static inline struct kymo_ring *ring_shared(const struct process *process, const struct ring *ring)
{
	return region_page(&process->region, ring->page, 1);
}

/** ring_at() - where byte @position of a sound ring is. */
static inline uint8_t *ring_at(const struct process *process, const struct ring *ring,
			       uint64_t position)
{
	uint64_t size = (uint64_t)ring->block_size * ring->block_count;

	return process->region.base + ((uint64_t)ring->page + 1) * KYMO_PAGE + position % size;
}

/** ring_refuse() - read a ring no further, and say why. */
void ring_refuse(struct process *process, struct ring *ring, const struct drain *drain,
		 const char *what);

/**
 * drain_packet() - write one packet of a stream
 *
 * Readers count lost events from one packet to the next, so a stream that begins with a loss gets
 * an empty packet at the session's start in front.
 * Return: 0; -errno.
 */
int drain_packet(const struct drain *drain, struct ctf_out *out, const struct ctf_packet *packet);

/** process_writer() - where the events of @process go. */
static inline struct ctf_writer *process_writer(const struct process *process,
						const struct drain *drain)
{
	return process->own_writer ? process->own_writer : drain->writer;
}

/**
 * ring_leave_shared() - the process goes on in a trace of its own: end this ring's stream here
 *
 * Its events_discarded begin at 0 again in the new stream.
 */
void ring_leave_shared(struct ring *ring);

/**
 * process_rings() - take notice of rings that came into being
 * @skip_unread: what is in them is not of this session
 */
void process_rings(struct process *process, const struct drain *drain, bool skip_unread);

/**
 * process_first_ns() - time of the oldest unread runtime event, UINT64_MAX without one
 */
uint64_t process_first_ns(const struct process *process);

/**
 * ring_drain() - move what is committed in a ring into the trace
 * Return: 0; -errno of the trace's disk: nothing is lost, call again later.
 */
int ring_drain(struct process *process, unsigned index, struct drain *drain);

/**
 * ring_finish() - after the last ring_drain(): put remaining drops into the trace, count what
 * could not be written, close the stream
 */
void ring_finish(struct process *process, unsigned index, struct drain *drain);

/** ring_account() - bring drop counts up to date. */
void ring_account(struct process *process, unsigned index);

/** init_drain() - move the init log's news into the trace. Return: as ring_drain(). */
int init_drain(struct process *process, struct drain *drain);

/** init_finish() - the same as ring_finish(), for the init log. */
void init_finish(struct process *process, struct drain *drain);

#endif
