/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which trace and which stream what comes out of a process goes to, for sinks that write CTF: into a
 * directory (sink_ctf.h), or to a relay.
 *
 *   ust          one trace for all processes, a stream for each ring and for each init log
 *   PID-ORDINAL  one more for each process that declares events of its own, from then on
 *
 * A stream is made with its first packet. What is written is promised (promise.h).
 *
 * Context of all functions: on the session's thread; allocate and block.
 */
#ifndef KYMO_RECORDER_TRACES_H
#define KYMO_RECORDER_TRACES_H

#include <limits.h>

#include "ctf/write/writer.h"
#include "recorder/drain/sink.h"

struct traces_process;

/* Zeroed, then begin, context and desc are set, and shared by traces_begin(). */
struct traces {
	/* Makes trace @name. Return: 0 and *@writer; -1 with @err, which may be NULL. */
	int (*begin)(void *context, const char *name, struct ctf_writer **writer, struct kymo_err *err);
	void *context;
	bool fronts;			/* each stream begins with an empty packet, not only who has lost something */
	uint64_t front_ns;		/* its time; at most that of the packet that follows */
	uint64_t horizon_ns;		/* readers may have seen what is before it: facts are given that time. 0: none has */
	uint8_t *moved;			/* such facts, [moved_room] */
	size_t moved_room;
	struct ctf_writer *shared;	/* "ust" */
	uint64_t shared_events;		/* in it */
	struct traces_process *processes;	/* those that have not left */
	struct traces_process *look_at;	/* next of them in traces_look(); NULL: the first */
	uint64_t bytes, disk;		/* of traces that are closed: packets; all */
	uint64_t known;			/* bytes of facts that the sink had before its last turn */
	uint64_t events;		/* in packets and batches */
	bool news;			/* something else than those came */
	/* Of desc: */
	char boot_id[64], hostname[HOST_NAME_MAX + 1];
};

/**
 * traces_describe() - what all traces have in common
 * @name: of the trace; it and the others stay the caller's
 * @version: of kymo: "0.1.0"
 * @monotonic, @realtime: ns, of one moment
 */
void traces_describe(struct traces *traces, struct ctf_trace_desc *desc, const char *name, const char *version,
		     uint64_t monotonic, uint64_t realtime);

/* As those of struct sink_ops; the process's data are theirs. */
int traces_join(struct traces *traces, struct sink_process *at);
int traces_declare(struct traces *traces, struct sink_process *at, enum ctf_class class, unsigned id);
int traces_facts(struct traces *traces, struct sink_process *at, const struct sink_facts *facts);
int traces_packet(struct traces *traces, struct sink_process *at, const struct sink_packet *packet);
int traces_batch(struct traces *traces, struct sink_process *at, const struct sink_batch *batch);
void traces_leave(struct traces *traces, struct sink_process *at);

/**
 * traces_point() - a synchronisation point in all traces: nothing before @ns will come any more
 *
 * Facts of before it are given that time from now on. Return: about how many system calls it took.
 */
unsigned traces_point(struct traces *traces, uint64_t ns);

/** traces_free() - when they are complete: memory. */
void traces_free(struct traces *traces);

/** traces_complete() - end all streams and traces; the next packets of the processes begin new ones. */
void traces_complete(struct traces *traces);

/**
 * traces_gone() - whether a trace was taken away of those that are not closed
 * @events: grows by the runtime events in them; may be NULL
 */
bool traces_gone(const struct traces *traces, uint64_t *events);

/**
 * traces_look() - the same of the shared trace, and of those of TRACES_PER_LOOK processes in turn
 *
 * Looking whether a file is still there costs a few us, and with hundreds of processes more than writing does.
 */
bool traces_look(struct traces *traces);
#define TRACES_PER_LOOK 16

/** traces_bytes(), traces_disk() - of packets; of all files, as long as the counts were not set back. */
uint64_t traces_bytes(const struct traces *traces);
uint64_t traces_disk(const struct traces *traces);

#endif
