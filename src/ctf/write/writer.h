/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a CTF 1.8 trace directory that readers accept as one of LTTng's:
 *
 *   DIR/metadata           TSDL text; grows by whole event declarations, always before data needs
 *                          them
 *   DIR/<stream>           packets; each is one writev, so a crash leaves whole packets
 *   DIR/index/<stream>.idx LTTng index 1.1. Written as <stream>.part and renamed when the stream
 *                          is closed, so that no reader finds an index that does not cover its
 *                          stream
 *   DIR/index/sync         with ctf_writer_share(): see lock.h
 *
 * Callers pass events as they are stored (u16 id, u64 ns, packed payload). The stream classes are
 * those of enum ctf_class; ids are those of tracepoints.def in all of them.
 *
 * At most CTF_WRITER_OPEN_MAX stream and index files, or a fifth of what RLIMIT_NOFILE allows, are
 * open at a time in the whole program, whatever the number of streams and writers; fewer where
 * others need descriptors. As many directories are open, in the lower half of the descriptors. A
 * writer that is shared with readers holds two more, which a fifth of all may be.
 *
 * Context of all functions: allocate and block; all writers of a program belong to one thread.
 */
#ifndef KYMO_CTF_WRITER_H
#define KYMO_CTF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "abi/points.h"
#include "base/err.h"
#include "ctf/format/index.h"
#include "ctf/format/framing.h"

#define CTF_WRITER_OPEN_MAX 200		/* leaves room below `ulimit -n 1024` */

struct ctf_writer;
struct ctf_out;

/*
 * Writes TSDL to @out in another form: @text[@size], of which the first @head bytes were written
 * before. Return: 0; -errno.
 */
typedef int ctf_form_fn(const char *text, size_t head, size_t size, FILE *out);

/* What the metadata says about the trace as a whole. */
struct ctf_trace_desc {
	const char *name;		/* trace_name */
	const char *hostname;
	const char *boot_id;		/* UUID text of this boot, names the clock; "" when unknown */
	int64_t clock_offset_ns;	/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	int64_t created_s;		/* seconds since the epoch */
	uid_t uid;
	unsigned version_major, version_minor;
	const char *rules;		/* by which events were left out, for people; NULL: none */
	ctf_form_fn *form;		/* of the metadata; NULL: TSDL, CTF 1.8 */
};

/* One packet. Times are CLOCK_MONOTONIC ns; packets of a stream follow each other in time. */
struct ctf_packet {
	uint64_t begin, end; /* begin <= first event, last event <= end */
	uint64_t discarded;  /* events lost in this stream so far, up to the end of this packet */
	uint32_t cpu;
	int32_t vpid, vtid; /* CTF_CLASS_RUN only, like procname; vpid also CTF_CLASS_MERGED */
	char procname[CTF_PROCNAME_SIZE];
	const void *events;
	size_t size;			/* bytes of events, may be 0 */
	uint32_t count;                 /* of events; 0: not known */
};

/* A write that is about to begin. */
struct ctf_place {
	const char *dir, *name; /* the writer's directory, the file in it */
	uint64_t offset, size;  /* in the file, bytes */
	const void *head;       /* how the packet begins; NULL: it is text, for the metadata */
	size_t head_size;
};

/* Called for each write, before its first byte is in the file. */
typedef void ctf_watch_fn(void *context, const struct ctf_place *place);

/* A complete packet, of a trace that is not a directory. */
struct ctf_framed {
	const char *name;		/* of the stream */
	enum ctf_class class;
	void **stream;			/* the store's own, for this stream; NULL at first */
	const struct ctf_index_entry *entry;	/* but for the offset */
	const void *head, *events;	/* the packet is both, one after the other */
	size_t head_size, size;
	uint32_t count;			/* of events, if it is known */
	ctf_watch_fn *watch;		/* to be called before it is written; may be NULL */
	void *watch_context;
};

/* The place of a trace that is not a directory. Functions return 0; or -errno, and have kept
 * nothing. */
struct ctf_store {
	/* What follows the text so far. @uuid: of the trace, as in its packets. */
	int (*metadata)(void *context, const uint8_t uuid[16], const char *text, size_t size);
	int (*packet)(void *context, const struct ctf_framed *packet);
	void (*end)(void *context, void *stream);	/* of a stream that had packets */
	void *context;
};

/**
 * ctf_writer_create_in() - begin a trace in @store, which outlives the writer
 * Return: as ctf_writer_create().
 */
int ctf_writer_create_in(const struct ctf_store *store, const struct ctf_trace_desc *desc,
			 struct ctf_writer **writer, struct kymo_err *err);

/**
 * ctf_writer_create() - begin a trace in the existing, empty directory @dir
 *
 * A directory that is a trace has at least the head of its metadata, complete.
 * Return: 0 and *@writer; -1 with errno, and @err (KYMO_EXIT_FAILED) naming path and cause.
 */
int ctf_writer_create(const char *dir, const struct ctf_trace_desc *desc,
		      struct ctf_writer **writer, struct kymo_err *err);

/**
 * ctf_writer_declare() - make sure that the metadata declares event @id (below KYMO_POINTS_TABLE)
 * Return: 0; -errno: it could not be written, and nothing is declared; try again later.
 */
int ctf_writer_declare(struct ctf_writer *writer, unsigned id);

#define CTF_NO_TRACETOOLS 0x10000u	/* is no KYMO_V() */

/**
 * ctf_writer_declare_version() - declare the runtime events that tracetools @version emits
 * @class: CTF_CLASS_RUN or CTF_CLASS_MERGED
 * @version: KYMO_V(major, minor); 0: unknown, all runtime events; CTF_NO_TRACETOOLS: those that
 * need none
 * Return: as ctf_writer_declare().
 */
int ctf_writer_declare_version(struct ctf_writer *writer, enum ctf_class class, unsigned version);

/**
 * ctf_writer_declare_own() - declare an event that the traced process declared itself
 * @id: KYMO_POINTS_TABLE or more, below KYMO_POINTS_MAX; the same again is ignored
 * @point: its description
 * Return: as ctf_writer_declare().
 */
int ctf_writer_declare_own(struct ctf_writer *writer, enum ctf_class class, unsigned id,
			   const struct kymo_point *point);

/**
 * ctf_writer_share() - from now on others may read the trace while it is written, packet by packet,
 * as lock.h says
 *
 * Call it before the first stream. It holds one descriptor more then, and a packet costs a system
 * call more.
 */
void ctf_writer_share(struct ctf_writer *writer);

/**
 * ctf_writer_point() - a synchronisation point: no packet, of any stream, will bring an event
 * before @ns
 * @ns: CLOCK_MONOTONIC, not before the last one's
 *
 * Afterwards the index files have all entries so far. Return: number of streams that had new ones.
 * Does nothing without ctf_writer_share(). Context: some system calls for each such stream.
 */
unsigned ctf_writer_point(struct ctf_writer *writer, uint64_t ns);

/**
 * ctf_writer_yield() - close a file until it is needed, for somebody who needs a descriptor
 *
 * Return: false: few are open. Context: a system call.
 */
bool ctf_writer_yield(void);

/** ctf_writer_watch() - call @before for each write from now on; NULL: no function. */
void ctf_writer_watch(struct ctf_writer *writer, ctf_watch_fn *before, void *context);

/** ctf_writer_bytes() - bytes of stream data written so far. */
uint64_t ctf_writer_bytes(const struct ctf_writer *writer);

/** ctf_writer_disk() - bytes of all its files: streams, indexes when they are finished,
 * metadata. */
uint64_t ctf_writer_disk(const struct ctf_writer *writer);

/** ctf_writer_is_gone() - whether its directory, or the metadata in it, was removed or replaced.
 * Context: blocks. */
bool ctf_writer_is_gone(const struct ctf_writer *writer);

/** ctf_writer_close() - close what is open, finish all indexes, free everything. NULL is fine. */
void ctf_writer_close(struct ctf_writer *writer);

/**
 * ctf_out_create() - a new stream; its file is created with its first packet
 * @name: file name, unique in the trace
 * Return: the stream, owned by @writer; NULL without memory.
 */
struct ctf_out *ctf_out_create(struct ctf_writer *writer, enum ctf_class class, const char *name);

/**
 * ctf_out_packet() - append one packet
 *
 * All or nothing: after a failed write the file is truncated again, and the same packet can be
 * passed again later.
 * Return: 0; -errno (-ENOSPC, -EFBIG, -EDQUOT, -EIO ...).
 */
int ctf_out_packet(struct ctf_out *out, const struct ctf_packet *packet);

/**
 * ctf_packet_entry() - what the head of a packet says for its index
 * @head: of the packet, as LTTng and these writers frame it
 * @entry: without the offset, and without the number of events
 *
 * Return: false: it is another packet.
 */
bool ctf_packet_entry(const uint8_t head[CTF_PACKET_HEAD_LTTNG], struct ctf_index_entry *entry);

/**
 * ctf_packet_front() - create an empty packet that can precede @packet in its stream
 * @packet: [@size] of a stream of @class, as one of these writers framed it
 * @entry: times, number and loss of the empty one; its sizes are filled in
 *
 * Return: its size in @head; 0: @packet is too short.
 */
size_t ctf_packet_front(enum ctf_class class, const void *packet, size_t size,
			struct ctf_index_entry *entry, uint8_t head[CTF_PACKET_HEAD_MAX]);

/** ctf_out_close() - no more packets: finish the index, free @out. */
void ctf_out_close(struct ctf_out *out);

/** ctf_out_packets() - packets written so far. */
uint64_t ctf_out_packets(const struct ctf_out *out);

#endif
