/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the flight recorder: what it keeps, and the writing of a snapshot. Times
 * are CLOCK_MONOTONIC ns.
 *
 * Context of all functions: as flight.h; those of the store make no system calls of their own.
 */
#ifndef KYMO_RECORDER_FLIGHT_INTERNAL_H
#define KYMO_RECORDER_FLIGHT_INTERNAL_H

#include <limits.h>

#include <json-c/json.h>

#include "recorder/drain/drained_process.h"
#include "recorder/flight/flight.h"

/* ---- the store ---- */

/* A packet. All packets are in one list, in the order of arrival; those of one ring are in the
 * order of time. */
struct flight_kept {
	struct flight_kept *next;
	struct flight_process *process;
	unsigned ring, thread;		/* as in struct sink_packet */
	uint64_t begin, end;
	uint64_t lost; /* events of the ring between the packet before and this one */
	uint32_t cpu, records;
	size_t size;
	uint8_t bytes[];
};

/*
 * Facts of one process, in order. They would grow without bound, so a turn begins when new facts
 * are as many as repeated ones: all facts that still hold are repeated ("known"), and after them
 * new ones arrive.
 *
 *     turn 0   new new new new        turn 1   known known new new        turn 2   known new ...
 *              `base`: written                 the known ones are          as before
 *                                              skipped, the rest written
 *
 * When no packet from before the last turn is kept, and all of its known facts have arrived, that
 * turn becomes the base. Facts from before the base are freed: they are repeated, or their objects
 * ended.
 */
struct flight_facts {
	struct flight_facts *next;
	uint32_t turn;
	bool known;    /* repeated: it arrived before the turn and still holds */
	uint64_t lost; /* init events, and events without a ring, since the batch before */
	uint32_t count;
	size_t size;
	uint32_t *at; /* [count] where each struct sink_fact begins; behind the bytes */
	uint8_t bytes[];
};

struct flight_ring {
	struct trigger_lane lane;
	unsigned thread;		/* to which the lane belongs */
	uint64_t discarded;		/* as of the last packet */
};

struct flight_process {
	struct drained_process *process; /* stays until the session ends */
	struct flight_process *next;
	struct flight_ring *ring;
	unsigned ring_count;
	const struct sink_process *at;	/* NULL: it has ended */
	struct flight_facts *facts, *last_facts;
	uint32_t base;			/* from this turn on its facts are complete */
	bool whole;			/* when it ended, all facts of the last turn had arrived */
	uint64_t facts_discarded;
	struct trigger_process *trigger;
	uint8_t declared[CTF_CLASS_COUNT][KYMO_POINTS_MAX / 8];	/* bit by id */
	uint64_t kept;			/* packets in the store */
	uint64_t seen_records;		/* runtime events since it joined */
	uint32_t snapshots_wanted;	/* of its region, as last seen */
	uint64_t left_ns;		/* when it ended; 0: it runs */
};

struct flight_store {
	struct flight_kept *first, *last;
	struct flight_kept *pinned; /* this and later ones are being written; NULL: none */
	uint64_t bytes;             /* of packets with their heads */
	uint64_t facts_bytes;
	uint32_t turn;			/* of facts that arrive now ... */
	uint64_t turn_bytes, turn_known;	/* ... new ones, and known ones so far */
	uint64_t turn_at;		/* value of `came` when it began */
	uint64_t came, gone;		/* packets in all */
	uint64_t limit, window_ns;
	uint64_t shortest_ns; /* the shortest window that the limit left; UINT64_MAX: never */
};

/** flight_store_packet() - keep a copy. Return: the packet; NULL without memory. */
struct flight_kept *flight_store_packet(struct flight_store *store, struct flight_process *process,
					const struct sink_packet *packet, uint64_t lost);

/** flight_store_facts() - keep a copy. Return: 0; -ENOMEM. */
int flight_store_facts(struct flight_store *store, struct flight_process *process,
		       const struct sink_facts *facts, uint64_t lost);

/**
 * flight_store_trim() - drop packets that are older than the window, or too many for the memory
 * Return: true: it is still over the limit, because of packets that are being written.
 */
bool flight_store_trim(struct flight_store *store, uint64_t now_ns);

/** flight_store_may_turn() - is no packet from before the last turn kept? */
bool flight_store_may_turn(const struct flight_store *store);

/** flight_store_wants_turn() - whether it may, and there are enough new facts. */
bool flight_store_wants_turn(const struct flight_store *store);

/** flight_store_turn() - facts that arrive from now on belong to the next turn. */
void flight_store_turn(struct flight_store *store);

/** flight_store_rebase() - the facts of the last turn are complete: free older facts of
 * @process. */
void flight_store_rebase(struct flight_store *store, struct flight_process *process);

/** flight_store_forget() - free the facts of a process that has no packet left. */
void flight_store_forget(struct flight_store *store, struct flight_process *process);

void flight_store_free(struct flight_store *store);

/* ---- a snapshot being written ---- */

struct flight_writer;

/* What is to be written: all of the store from begin_ns on, as it is now. */
struct flight_part {
	const char *path, *version;
	uint64_t begin_ns, end_ns;
	struct flight_process *processes;
	struct flight_kept *first, *last;	/* of the store; NULL: nothing is kept */
};

/** flight_writer_begin() - create the directory. Return: 0; -1 with @err. */
int flight_writer_begin(const struct flight_part *part, struct flight_writer **writer,
			struct kymo_err *err);

/** flight_writer_step() - write a little. Return: 1: there is more to write; 0: complete;
 * -errno. */
int flight_writer_step(struct flight_writer *writer);

/** flight_writer_cursor() - the packet that is written next; it and all later ones must be kept. */
struct flight_kept *flight_writer_cursor(const struct flight_writer *writer);

/* What was written. */
struct flight_totals {
	uint64_t events, init_events, dropped, bytes;
	unsigned processes, threads;
	int64_t clock_offset_ns;	/* as the metadata have it */
};
void flight_writer_totals(const struct flight_writer *writer, struct flight_totals *totals);

/** flight_writer_path() - absolute path of the trace. */
const char *flight_writer_path(const struct flight_writer *writer);

/**
 * flight_writer_end() - complete the trace and free @writer
 * @accounts: the last accounts of the session, JSON text, or NULL: host, clocks, processes
 * @snapshot: written into kymo.json under that name; taken over
 *
 * Return: 0; -errno of kymo.json.
 */
int flight_writer_end(struct flight_writer *writer, const char *accounts,
		      struct json_object *snapshot);

/* ---- the flight recorder: events are received in flight.c, snapshots in flight_snapshot.c ---- */

/* A requested snapshot. */
struct flight_asked {
	bool any;
	enum flight_cause cause;
	struct trigger_hit hit; /* of a trigger */
	int pid, tid;           /* the process and thread that caused it */
	char procname[KYMO_NAME_MAX + 1], thread[CTF_PROCNAME_SIZE];
	uint64_t asked_ns, due_ns, last_ns;
	char path[PATH_MAX]; /* "": named as usual */
	struct flight_waiter *waiters;
};

struct flight {
	struct sink sink; /* first */
	struct flight_options options;
	struct flight_store store;
	struct flight_process *processes;
	char *accounts;                       /* the last ones of the session; NULL: none yet */
	uint64_t now_ns;                      /* of the last round */
	const struct drained_process *process; /* whose records are being looked at ... */
	const struct thread_account *account; /* ... and of which thread; NULL: of none */
	struct flight_asked asked;            /* waits, or is being written */
	struct flight_asked next;             /* requested while a snapshot is being written */
	bool flushed; /* all records that were committed when it was due have arrived */
	struct flight_writer *writer; /* NULL: none is being written */
	uint64_t begin_ns, end_ns;    /* of it */
	unsigned count;      /* snapshots written or failed; not requests that could not begin */
	uint64_t suppressed; /* since the last one */
	uint64_t rests_until_ns;	/* triggers are only counted */
	bool told_short;
	uint64_t disarmed_ns; /* what is later fires no trigger; 0: not yet */
};

/** flight_fire() - of a listener: a trigger fired on a record of @flight->process, ->account. */
void flight_fire(void *flight, const struct trigger_hit *hit);

/** flight_trim() - drop packets that are too old or too many. */
void flight_trim(struct flight *flight);

/** flight_finish() - no more events will come: write the snapshots that wait. */
void flight_finish(struct flight *flight);

#endif
