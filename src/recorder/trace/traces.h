/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traces and streams of a sink that writes CTF into a directory (sink_ctf.h) or to a relay:
 *
 *   ust          one trace for all processes, a stream for each ring and for each init log
 *   PID-ORDINAL  one more for each process that declares events of its own, from then on
 *
 * A stream is created with its first packet. Every write is promised (promise.h).
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
	/* Creates trace @name. Return: 0 and *@writer; -1 with @err, which may be NULL. */
	int (*begin)(void *context, const char *name, struct ctf_writer **writer,
		     struct kymo_err *err);
	void *context;
	bool fronts; /* every stream begins with an empty packet, not only those that begin with a
			loss */
	uint64_t front_ns;   /* time of that packet; at most that of the packet that follows */
	uint64_t horizon_ns; /* readers may have read on to here: earlier facts get this time. 0: no
				reader */
	uint8_t *moved;      /* [moved_room] buffer for such facts */
	size_t moved_room;
	struct ctf_writer *shared;	/* "ust" */
	uint64_t shared_events;		/* in it */
	struct traces_process *processes;	/* those that have not left */
	struct traces_process *look_at;	/* where traces_look() continues; NULL: at the first */
	uint64_t bytes, disk;		/* of traces that are closed: packets; all */
	uint64_t known;			/* bytes of facts that the sink had before its last turn */
	uint64_t events;		/* in packets and batches */
	bool news;			/* something new came, not only known facts */
	/* Of desc: */
	char boot_id[64], hostname[HOST_NAME_MAX + 1];
};

/**
 * traces_describe() - what all traces have in common
 * @name: of the trace; it and the others stay the caller's
 * @version: of kymo: "0.1.0"
 * @monotonic, @realtime: ns, of one moment
 */
void traces_describe(struct traces *traces, struct ctf_trace_desc *desc, const char *name,
		     const char *version, uint64_t monotonic, uint64_t realtime);

/* As in struct sink_ops. They use at->data. */
int traces_join(struct traces *traces, struct sink_process *at);
int traces_declare(struct traces *traces, struct sink_process *at, enum ctf_class class,
		   unsigned id);
int traces_facts(struct traces *traces, struct sink_process *at, const struct sink_facts *facts);
int traces_packet(struct traces *traces, struct sink_process *at, const struct sink_packet *packet);
int traces_batch(struct traces *traces, struct sink_process *at, const struct sink_batch *batch);
void traces_leave(struct traces *traces, struct sink_process *at);

/**
 * traces_point() - a synchronisation point in all traces: nothing before @ns will come any more
 *
 * From now on, earlier facts get that time. Return: about how many system calls it took.
 */
unsigned traces_point(struct traces *traces, uint64_t ns);

/** traces_free() - free memory, after traces_complete(). */
void traces_free(struct traces *traces);

/** traces_complete() - end all streams and traces; the next packets of the processes begin new
 * ones. */
void traces_complete(struct traces *traces);

/**
 * traces_gone() - whether somebody removed one of the traces that are not closed
 * @events: grows by the runtime events in them; may be NULL
 */
bool traces_gone(const struct traces *traces, uint64_t *events);

/**
 * traces_look() - the same of the shared trace, and of those of TRACES_PER_LOOK processes in turn
 *
 * Finding out whether a file still exists costs a few us: with hundreds of processes, more than
 * writing.
 */
bool traces_look(struct traces *traces);
#define TRACES_PER_LOOK 16

/** traces_bytes(), traces_disk() - bytes of packets; bytes of all files. The caller may set the
 * counts back. */
uint64_t traces_bytes(const struct traces *traces);
uint64_t traces_disk(const struct traces *traces);

#endif
