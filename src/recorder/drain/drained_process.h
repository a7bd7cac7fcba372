/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A traced process as a recording session sees it: its region, its rings with what was taken of
 * them, what its sinks have, and the accounts. For the recorder's own files; others use session.h.
 *
 *   per ring      produced = recorded + dropped + filtered (+ what a corrupt ring cost, in bytes)
 *   per process   the sums, and events of threads that could get no ring
 */
#ifndef KYMO_RECORDER_PROCESS_H
#define KYMO_RECORDER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/write/writer.h"
#include "recorder/runtime/alive.h"
#include "recorder/records/classes.h"
#include "recorder/runtime/region_view.h"
#include "recorder/session/session.h"
#include "recorder/drain/sink.h"

/* An owner of a ring. Beyond THREADS_MAX of one process, threads share the last entry. */
#define THREADS_MAX 10000
struct thread_account {
	int32_t tid;
	char name[CTF_PROCNAME_SIZE];
	uint64_t recorded, dropped, bytes;
	uint64_t filtered;		/* records that were not wanted */
};

struct ring {
	uint32_t page;			/* of its struct kymo_ring */
	uint32_t block_size, block_count;
	bool bad;			/* refused or corrupt: no longer read */
	bool merged;			/* drained by merged_drain(), with others of its process */
	bool owner_known;
	uint32_t owner_seq;
	uint32_t thread;		/* index of its owner's account */
	uint32_t block_records;		/* records already taken from the block `taken` is in */
	uint64_t taken;			/* byte position up to which all is in the sinks */
	uint64_t looked, looked_ns;	/* its end at the last look, and when that was */
	uint64_t prev_end;		/* end of the last packet */
	uint64_t dropped_base;		/* kymo_ring.dropped when the session began */
	uint64_t dropped_seen;		/* last value that the accounts hold */
	uint64_t taken_ns;		/* when something was last taken; a little more waits for its patience_ns from then on */
	uint64_t left_out_message;	/* of the last record with an object that is not wanted */
};

enum process_end { PROCESS_RUNS, PROCESS_EXITED, PROCESS_KILLED, PROCESS_REPLACED };

struct home;			/* recorder/session/homes.h */

struct process {
	/* Looked at in every round, so they are in front. */
	bool finished;			/* all is taken, the region is closed */
	enum alive alive;
	unsigned ordinal;
	unsigned ring_count;
	struct ring *ring;
	uint64_t look_at;		/* when to look at all its rings again */
	struct region region;
	struct home *home;		/* where its region is */
	int host_pid;			/* 0: not found */
	enum process_end end;
	bool cut;			/* its region was shortened: nothing behind the header is read */
	bool recording;			/* we have switched it to RECORD */
	unsigned replaced_checks;	/* liveness checks that saw it replaced by exec */
	unsigned tracetools;
	char tracetools_version[29];
	struct classes classes;
	struct filter_process *filter;	/* what is wanted of it; NULL: everything */
	unsigned merged_rings;		/* of its rings */
	struct sink_process *at[SINKS_MAX];	/* by place in drain.sink */
	unsigned promise_place;		/* the one that is being written for */
	uint64_t init_events;		/* in the sink that has most of them */
	uint64_t init_bad;		/* records of the init log that made no sense */
	uint64_t init_limit;		/* position in it: what ceased to hold before is not of the session */
	uint64_t log_taken, log_settled;	/* as told to the process */
	uint64_t log_noted, log_noted_ns;	/* log_taken some time ago: to be told as settled */
	struct thread_account *thread;
	unsigned thread_count;
	uint64_t no_ring_base;		/* kymo_region.dropped_no_ring when it joined */
	uint64_t dropped_no_ring, init_dropped;
	uint64_t recorded, dropped, bytes, filtered;
	uint64_t lost_bytes;		/* of corrupt rings */
	uint64_t merged_end;		/* time of the last record that was merged */
	uint64_t merged_ns;		/* as ring.taken_ns, of all rings that are merged */
	uint64_t cut_ns;		/* records before this are left out; only where all are walked */
	uint64_t overwritten, outside;	/* of a frozen copy: gone before it was made; before cut_ns */
	uint64_t unwritten;		/* events that a sink did not take; for each sink again */
	uint64_t texts_cut;		/* strings in its own events that were too long */
};

#define STREAMS_OWN_MAX 256		/* with two files each, 300 processes more open under `ulimit -n 1024` */

/* What draining needs of its session. */
struct drain {
	struct sink *sink[SINKS_MAX];
	unsigned sink_count;
	uint64_t now_ns;		/* when the round began; where it matters drain_look_at_clock() */
	uint64_t patience_ns;		/* from one packet with little data to the next, at least */
	bool flush;			/* take everything that is committed */
	bool final;			/* the same, and nothing more will come */
	bool failed;			/* the last ring_drain() before ring_finish() failed */
	unsigned fullest;		/* out: highest fill of a ring met, in 1/256 */
	uint64_t grown;			/* out: most that a ring grew in a millisecond since the last look, in 1/256 */
	void (*say)(void *context, const char *text);
	void *context;
	uint8_t *scratch;		/* DRAIN_SCRATCH bytes */
	enum session_streams streams;
	unsigned stream_count;		/* rings so far that have a stream of their own */
	struct merged *merged;		/* of drain_merged.c, made on need */
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
 * process_rings() - take notice of rings that came into being
 * @skip_unread: what is in them is not of this session
 */
void process_rings(struct process *process, struct drain *drain, bool skip_unread);

/**
 * process_first_ns() - time of the oldest unread runtime event, UINT64_MAX without one
 */
uint64_t process_first_ns(const struct process *process);

/**
 * ring_drain() - hand what is committed in a ring to the sinks
 * Return: 0; -errno of a sink, when no sink took it: nothing is lost, call again later.
 */
int ring_drain(struct process *process, unsigned index, struct drain *drain);

/**
 * merged_drain() - hand what is committed in those rings of a process that are merged to the sinks
 * @clock_ns: a look at the clock before process_rings(): a ring that was not there then has nothing older
 *
 * What is merged is not younger than what may still be committed: an event that is being written holds
 * back those after it, but not for long. What comes too late in spite of it goes to a stream of the
 * ring's own.
 *
 * Return: as ring_drain().
 */
int merged_drain(struct process *process, struct drain *drain, uint64_t clock_ns);

/**
 * process_is_stirred() - whether a ring of it is filling up, seen from those that began a block since the last call
 *
 * Costs a line of memory for 64 rings, where looking at all of them costs several for each.
 */
bool process_is_stirred(struct process *process, struct drain *drain);

/** process_ask_ahead() - have the processor fetch what process_is_stirred() is going to look at first. */
static inline void process_ask_ahead(const struct process *process)
{
	if (!process->finished)
		__builtin_prefetch(region_header(&process->region)->stirred);
}

/** merged_let_settle() - before a round that takes everything: what is committed now is older than its horizon. */
void merged_let_settle(struct drain *drain);

/** merged_free() - what merged_drain() has made. */
void merged_free(struct drain *drain);

/** ring_finish() - after the last ring_drain(): bring the accounts up to date, count what no sink took. */
void ring_finish(struct process *process, unsigned index, struct drain *drain);

/** ring_account() - bring drop counts up to date. */
void ring_account(struct process *process, unsigned index);

/** init_is_pending() - has no sink got all of the init log? */
bool init_is_pending(const struct process *process, const struct drain *drain);

/**
 * init_drain() - hand the init log's news to each sink
 * Return: 0; -errno when every sink fails: call again later.
 */
int init_drain(struct process *process, struct drain *drain);

/**
 * init_drain_to() - hand the init log's news to @sink, which is none of the session's
 * @at: its place in the log
 */
int init_drain_to(struct process *process, struct drain *drain, struct sink *sink, struct sink_process *at);

/** init_is_complete() - @at has all of the log. */
bool init_is_complete(const struct process *process, const struct sink_process *at);

/** init_counters() - bring the counts of lost init events, and of events without a ring, up to date. */
void init_counters(struct process *process);

/* ---- sink.c: handing over ---- */

/** sink_ring_of() - what is kept of ring @index; NULL without memory. What came after the sink is complete. */
struct sink_ring *sink_ring_of(struct sink_process *at, unsigned index);

/** sink_threads_grow() - make an entry for each thread; those added are complete. Return: false: no memory. */
bool sink_threads_grow(struct sink_process *at);

/** init_discarded() - init events, and events of threads without a ring, that the sink has not. */
static inline uint64_t init_discarded(const struct sink_process *at)
{
	return at->process->init_dropped + at->process->dropped_no_ring - at->without_no_ring;
}

/** sink_is_up() - it may be asked in this round. */
static inline bool sink_is_up(const struct sink *sink)
{
	return sink->rc >= 0;
}

/** sink_failed() - @sink answered @rc: it is asked no more in this round. Return: @rc. */
int sink_failed(struct sink *sink, int rc);

/** sinks_round_begin() - who rests since a failure is left out of the round, unless @all. */
void sinks_round_begin(struct drain *drain, bool all);

/** sinks_round_end() - tell who fails from now on, and who works again. */
void sinks_round_end(struct drain *drain);

/** sinks_rc() - 0 when some sink is up; -errno of a failing one else. */
int sinks_rc(const struct drain *drain);

/** sinks_take_batches() - all of them do: none is given parts, which hold what rules leave out, too. */
bool sinks_take_batches(const struct drain *drain);

/** sinks_up() - bit i: the one at place i is up. */
uint32_t sinks_up(const struct drain *drain);

/**
 * sinks_packet() - hand @packet to all sinks
 * @dropped: kymo_ring.dropped up to the packet's end
 *
 * Return: 0: some sink has it, and for the others it is counted; -errno: none has it; -EFAULT: its
 * memory is gone.
 */
int sinks_packet(struct drain *drain, struct process *process, struct sink_packet *packet,
		 uint64_t dropped);

/**
 * sinks_batch() - hand @batch to all sinks
 * @taken: set to the number of parts, from the first on, that some sink has; for the others it is counted
 *
 * Return: 0: all; -errno: the rest has none.
 */
int sinks_batch(struct drain *drain, struct process *process, struct sink_batch *batch, unsigned *taken);

/** sink_batch_drops() - tell @sink what was dropped in a ring that is merged, as of @packet. Return: 0; -errno. */
int sink_batch_drops(struct sink *sink, struct sink_process *at, struct sink_packet *packet, uint64_t dropped);

/** sink_packet_offer() - give @sink one packet. Return: 0; -errno. */
int sink_packet_offer(struct sink *sink, struct sink_process *at, struct sink_packet *packet, uint64_t dropped);

/** sink_packet_missed() - @packet is taken from its ring, and the sink has it not. */
void sink_packet_missed(struct sink_process *at, const struct sink_packet *packet);

/** sink_ring_discarded() - events of a ring that the sink has not, when kymo_ring.dropped is @dropped. */
uint64_t sink_ring_discarded(const struct sink_ring *ring, uint64_t dropped);

/**
 * sinks_forget_drops() - of ring @index, what was dropped up to the count @dropped is before the trace
 *
 * Without effect once a sink was told of drops.
 */
void sinks_forget_drops(struct process *process, unsigned index, uint64_t dropped);

/** sinks_lose() - @records of ring @index are taken by no sink any more: count them. */
void sinks_lose(struct drain *drain, struct process *process, unsigned index, uint64_t records);

/** sinks_leave() - @process is finished: remaining drops, the ends of its streams in all sinks. */
void sinks_leave(struct drain *drain, struct process *process);

/** sinks_reach_back() - left-overs from @first_ns on are going to be taken: the sinks begin there. */
void sinks_reach_back(struct drain *drain, uint64_t first_ns);

#endif
