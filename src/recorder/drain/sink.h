/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a session's data go. Each ring is drained once, and what comes out is handed to every sink:
 *
 *                                      ┌─ declare(event class) ─┐
 *   init log ── a cursor per sink ─────┼─ facts(batch) ─────────┼──▶ sink 0   a CTF directory
 *   rings ───── one cursor, taken once ┴─ packet(slice) ────────┼──▶ sink 1   the last N seconds
 *                                                               └──▶ ...
 *
 * Sinks can be added and removed while the session records. Each is complete from its first byte:
 * it gets the whole init log of every process that runs (older facts get the time of the sink's
 * start, and have their true time in init_timestamp), the classes of the events that processes
 * declare, and the packets from the moment on at which it was added.
 *
 * Order of calls for one process: join; then declare, facts and packet, a class always before its
 * first event; then leave. The calls of a round stop when one failed: a sink never gets data
 * without the declarations or facts that they need.
 *
 * When a sink cannot take something (a full disk), it returns -errno and keeps nothing of it. It is
 * called again after RETRY_NS. What happens meanwhile depends on the other sinks:
 *
 *   no sink took the packet   nothing is consumed: the rings fill, the programs drop and count
 *   another sink took it      it is lost for this sink: counted in `unwritten`, and in the
 *                             `discarded` of the stream's next packet
 *   facts, classes            the sink's position in the init log stays: they are given again
 *
 * Context of all functions: on the session's thread only; allocate and block.
 */
#ifndef KYMO_RECORDER_SINK_H
#define KYMO_RECORDER_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctf/format/framing.h"

#define SINKS_MAX 16			/* of one session */

struct json_object;
struct ctf_store;		/* ctf/write/writer.h */
struct drained_process;
struct drain;
struct thread_account;
struct sink;
struct sink_process;

/* What became of events, summed up: of a session, or of what is in one of its sinks. */
struct session_stats {
	uint64_t recorded;        /* runtime events in the trace */
	uint64_t init_events;     /* init events in the trace */
	uint64_t dropped;         /* runtime events for which the traced processes had no room */
	uint64_t dropped_no_ring; /* of these, in threads that got no ring */
	uint32_t no_ring_why;     /* errno of a process with such threads; 0: unknown */
	uint64_t init_dropped;
	uint64_t filtered;    /* runtime events that were not wanted, but produced all the same */
	uint64_t unwritten;   /* events that a sink did not take; the sum over all sinks */
	uint64_t before;      /* of a sink: events before it was added */
	uint64_t lost_bytes;  /* in corrupt rings */
	uint64_t overwritten; /* frozen: runtime events overwritten before the copy was made */
	uint64_t outside;     /* frozen: events older than last_ns, which are left out */
	uint64_t waits;       /* of threads for room (--block), ... */
	uint64_t waited_ns;   /* ... and how long, in all */
	uint64_t bytes;       /* of stream files */
	uint64_t duration_ns;
	unsigned processes; /* seen in this session */
	unsigned unwanted;  /* of them: the rules leave out the whole process */
	unsigned alive;     /* of them */
	unsigned refused;   /* region files that were refused */
	unsigned foreign;   /* regions of another recorder */
	unsigned threads;
	bool write_failed; /* at least once */
	/* Of the rings that dropped events: the size of the largest one, and their most frequent
	 * event. */
	uint64_t full_ring;
	char loudest[96];       /* "ros2:rclcpp_executor_wait_for_work"; "": not known */
	unsigned loudest_share; /* per cent of the events in these rings, at least */
	uint32_t loudest_of;    /* events that were looked at */
};

/* ---- what a sink gets; valid during the call ---- */

/* Committed records of one ring: final CTF event bytes, u16 id, u64 ns, payload. */
struct sink_packet {
	unsigned ring;                        /* index in process->ring and sink_process.ring */
	unsigned thread;                      /* index of its owner in process->thread */
	const struct thread_account *account; /* the owner: tid and name; NULL without memory */
	uint64_t begin, end; /* CLOCK_MONOTONIC ns; not before the end of the ring's last packet */
	uint64_t discarded; /* events of this ring that are not in the sink, from its start to
			     * `end` */
	uint32_t cpu;
	uint32_t records;     /* 0: only `discarded` has grown */
	bool promised;        /* taken from the ring for good: promise_enter() was called */
	const uint8_t *bytes; /* in shared memory, or in scratch: copy what you need later */
	size_t size;
};

/*
 * Records of many rings of one process, merged by time: the parts that came of each ring, and all
 * records as CTF_CLASS_MERGED. No time in a batch is before those of the batch before.
 */
struct sink_batch {
	struct sink_packet *part;	/* [count] those of one ring in their order */
	const uint64_t *dropped;	/* [count] kymo_ring.dropped up to the end of each part */
	unsigned count;
	uint64_t begin, end;
	uint64_t discarded; /* events of these rings that are not in the sink, and that no packet
			       reports */
	uint32_t cpu;       /* of the first record */
	uint32_t records;
	const uint8_t *bytes;
	size_t size;
};

/* Event header and event context of CTF_CLASS_INIT, as the metadata declares them. */
struct sink_fact {
	uint16_t id;
	uint64_t ns;             /* never before the sink's start nor before the previous fact */
	uint64_t init_timestamp; /* when it happened */
	int32_t vpid, vtid;
	char procname[CTF_PROCNAME_SIZE];
	/* the payload follows */
} __attribute__((packed));

/* Facts out of one process's init log: a packet of CTF_CLASS_INIT. */
struct sink_facts {
	uint64_t begin, end;
	uint64_t discarded; /* init events and events without a ring that are not in the sink */
	bool known;         /* the sink had them before its last turn */
	uint32_t count;     /* 0: only `discarded` has grown */
	bool promised;      /* with this packet, `discarded` is reported for good */
	const uint32_t *at; /* [count] where in bytes each struct sink_fact begins */
	const uint8_t *bytes;
	size_t size;
};

/* ---- what the recorder keeps for each sink ---- */

/* Of one ring. */
struct sink_ring {
	uint64_t dropped_base; /* kymo_ring.dropped when the sink or the ring came */
	uint64_t lost;         /* records that this sink did not take and another did */
	uint64_t discarded;    /* as of the last packet that it took */
	void *stream;          /* the sink's own */
	uint64_t stream_base;  /* the sink's own: the part of `discarded` that the stream does not
				  report */
	uint64_t offered;      /* `discarded` as of the batch that is being handed over */
};

/* Of one thread: what its account counts and the sink does not have. */
struct sink_without {
	uint64_t recorded, dropped, bytes, filtered;
};

/* Of one process, from join to the end of the session. */
struct sink_process {
	struct drained_process *process;
	struct sink_ring *ring;		/* [ring_count] */
	unsigned ring_count, ring_room;
	struct sink_without *thread;	/* [thread_count]; later threads are complete in the sink */
	unsigned thread_count;
	struct sink_without without;	/* the process's sums */
	uint64_t without_no_ring;
	uint64_t before;		/* runtime events, taken or dropped, before the sink came */
	uint64_t unwritten;		/* records that another sink took and this one did not */
	struct {
		uint64_t taken; /* position in the init log: the sink has all facts before it */
		uint64_t known; /* position up to which the sink had facts before its last turn */
		bool begun;     /* it has the facts that held when it was added */
		uint64_t limit; /* facts that ended before this position are not for it; 0:
				   process->init_limit */
		uint64_t hole,
			hole_ns;    /* 1 + position of a record that is being written, since when */
		uint64_t prev_ns;   /* time of the last fact */
		uint64_t discarded; /* as of the last batch */
		uint64_t events, bytes, bad;
		void *stream;		/* the sink's own, and ... */
		uint64_t stream_base;	/* ... `discarded` when it began */
	} init;
	struct {
		uint64_t discarded;	/* as of the last batch */
		uint64_t end;		/* time of its end */
		void *stream;		/* the sink's own */
		uint64_t stream_base;	/* the sink's own: `discarded` when the stream began */
	} merged;
	bool own;			/* the process has declared events of its own */
	bool left;			/* nothing more comes */
	bool listed;			/* ended() was called */
	void *data;			/* the sink's own */
};

/*
 * Somebody else's trace beside those of the sink, for example kernel/: it moves with the sink. The
 * functions are called on the session's thread; bytes() and events() count what is in the present
 * place.
 */
struct sink_beside {
	/* Continue in @place, an existing directory; the present one is complete then. NULL: this
	 * was the last place. */
	void (*place)(void *context, const char *place);
	uint64_t (*bytes)(void *context);
	uint64_t (*events)(void *context);
	/* Members of a JSON object for the accounts of the place, malloc'ed; NULL: none. */
	char *(*tell)(void *context);
	void *context;
};

/*
 * Where a sink writes, for sinks to which that can happen: it begins anew elsewhere, its place is
 * taken away, or somebody else's trace lies beside its own. Each may be NULL.
 */
struct sink_place_ops {
	/*
	 * A sink that begins anew from time to time, in a place that is complete in itself: due()
	 * says whether it is time, turn() does it. From then on the sink knows nothing of the
	 * processes that have not left: their declarations and facts are given again, from
	 * @begin_ns on, with `known`. Return: 0; -errno, and the sink is as it was.
	 */
	bool (*due)(const struct sink *sink, uint64_t now_ns);
	int (*turn)(struct sink *sink, uint64_t begin_ns, uint64_t now_ns);
	/*
	 * Whether what the sink wrote last was taken away, so that it has to turn before it is
	 * given anything: turn() enters it in sink.removed then. Called ten times a second: unless
	 * it is to check @all of its files, it may check a part each time, and all of them in turn.
	 */
	bool (*gone)(struct sink *sink, bool all);
	/* A trace beside its own, in its directories; up to two. Its place() is called at once.
	 * @beside stays the caller's. */
	void (*beside)(struct sink *sink, const struct sink_beside *beside);
	/* The same for a sink without directories: a store for trace @name, until place(NULL).
	 * Return: NULL without memory. */
	const struct ctf_store *(*store)(struct sink *sink, const char *name,
					 const struct sink_beside *beside);
	/* Nothing in that store is before @ns any more; UINT64_MAX: nothing comes any more. Viewers
	 * see nothing later than that. */
	void (*bound)(struct sink *sink, uint64_t ns);
};

/*
 * What a sink does with data. Functions return 0 or -errno if nothing else is said. All but packet,
 * facts and close may be NULL. After leave(), a sink does not read the region of a process: it is
 * gone.
 */
struct sink_ops {
	const char *kind;		/* "ctf": for messages and accounts */
	const struct sink_place_ops *place;	/* NULL: none of them */
	/* A process comes; @at->data is the sink's own. */
	int (*join)(struct sink *sink, struct sink_process *at);
	/*
	 * Events of class @id may come: below KYMO_POINTS_TABLE an init event of the table, about
	 * to be in `facts`; else one that the process declared, classes_get() describes it. The
	 * same class may be declared again.
	 */
	int (*declare)(struct sink *sink, struct sink_process *at, enum ctf_class class,
		       unsigned id);
	int (*facts)(struct sink *sink, struct sink_process *at, const struct sink_facts *facts);
	int (*packet)(struct sink *sink, struct sink_process *at, const struct sink_packet *packet);
	/* All of @batch or nothing; without this function its parts are given one by one. */
	int (*batch)(struct sink *sink, struct sink_process *at, const struct sink_batch *batch);
	/* Nothing more of this process: finish its streams. */
	void (*leave)(struct sink *sink, struct sink_process *at);
	/* The present accounts, JSON text: every second or so, and once at the end, as @last. */
	int (*accounts)(struct sink *sink, const char *json, bool last);
	/*
	 * No event before @ns will come any more; facts of before it may, and the sink gives them a
	 * later time. Called horizon_every_ns apart, or less often. @ns grows, unless a process
	 * stays inside an event for long.
	 */
	void (*horizon)(struct sink *sink, uint64_t ns);
	/*
	 * A process that left long ago is forgotten: from now on the accounts have only sums of it.
	 * @json,
	 * @size bytes with a newline at the end, is its entry. On a failure it is given again
	 * later.
	 */
	int (*ended)(struct sink *sink, const char *json, size_t size);
	/* Whether a process that left is still needed: it is not forgotten then. */
	bool (*holds)(const struct sink *sink, const struct drained_process *process);
	/* After every round of draining, at most some ms apart. */
	void (*round)(struct sink *sink, uint64_t now_ns);
	/* Adds what else the sink knows to the accounts before they are written. */
	void (*tell)(const struct sink *sink, struct json_object *root);
	/* Bytes of event data that are kept in it. */
	uint64_t (*bytes)(const struct sink *sink);
	/*
	 * Every process has left: whether close() need not wait for anything. Called again and
	 * again, and meanwhile the session goes on; the first call begins the end, and nothing more
	 * is given to the sink.
	 */
	bool (*ending)(struct sink *sink);
	/* Free @sink and what it holds; the last call. Every process has left. May wait if `ending`
	 * did not return true. */
	void (*close)(struct sink *sink);
};

/* Embedded at the start of the sink's own struct, which zeroes it and sets ops and name. */
struct sink {
	const struct sink_ops *ops;
	const char *name;     /* for messages: a path; stays valid until close */
	uint64_t patience_ns; /* how long a little data may wait for more; 0: as the other sinks
				 wish */
	uint64_t horizon_every_ns; /* with `horizon`; more with many threads; 0: a few ms */
	/* ---- set by the recorder ---- */
	uint64_t id;			/* grows with every sink of the session, 1 for the first */
	uint64_t added_ns;
	uint64_t start_ns; /* facts are not before it; moves back for older left-overs only */
	uint64_t end_ns;   /* when it was completed; 0: it is not complete yet */
	int64_t start_realtime_ns;
	struct session_stats earlier;	/* of processes that are forgotten */
	int rc;				/* of this round: the first failure */
	uint64_t retry_at;
	bool rests; /* it is left out of this round because it failed a moment ago: rc says why */
	bool fails; /* as of the last round that tried */
	bool told;  /* the last report said that it fails */
	uint64_t told_ns; /* when that was */
	uint64_t look_at; /* when to check next whether its files were taken away */
	bool gone; /* its files were taken away, and it could not begin anew yet: it gets nothing */
	struct {   /* set by the sink: what was in it and was taken away */
		uint64_t times, events, until_ns;
		uint64_t last;		/* events, the last time */
	} removed;
	bool failed;			/* at least once */
	bool turn_failed;		/* the last turn failed, and that was reported */
	char error[128];		/* of the last failure */
};

/** sink_is_gone() - whether what @sink wrote last was taken away; @all: as in struct
 * sink_place_ops. */
static inline bool sink_is_gone(struct sink *sink, bool all)
{
	return sink->ops->place && sink->ops->place->gone && sink->ops->place->gone(sink, all);
}

/** sink_remedy() - what the user can do about a write that failed with @rc, -errno. */
const char *sink_remedy(int rc);

/* ---- counts ---- */

/* What a sink has of one process. Up to its end: produced = before + recorded + dropped +
 * unwritten. */
struct sink_counts {
	uint64_t before;
	uint64_t recorded, dropped, dropped_no_ring, bytes;
	uint64_t filtered;		/* not wanted */
	uint64_t init_events, init_dropped, unwritten;
};

/** sink_counts() - of one process. */
void sink_counts(const struct sink_process *at, struct sink_counts *counts);

/** sink_thread_counts() - of thread @index of the process: recorded, dropped, bytes. */
void sink_thread_counts(const struct sink_process *at, unsigned index, struct sink_without *counts);

#endif
