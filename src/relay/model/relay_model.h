/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a relay knows: sessions, their chunks, traces and streams, and which packets of a stream
 * viewers may read. Producers (ingest.h) fill it, viewers (viewer.h) read it. It knows no sockets,
 * and belongs to the loop's thread.
 *
 * A packet has two halves: its bytes from the data connection, its index from the control
 * connection. When both have arrived and are on disk, the packet is published: viewers may read it.
 * A beacon is an index without a packet: it says until when its stream is silent.
 *
 *   producer            relay                                        viewer
 *   packet ──data──▶ half ─┐
 *                          ├─ joined ─▶ on disk ─▶ published ──▶ index, packet
 *   index ─control─▶ half ─┘                                     metadata
 *   beacon ────────────────────▶ until when the stream is silent ──▶ INACTIVE
 *
 * Context of all functions, unless they say more: the loop's thread; the disk's thread writes the
 * files (store.h).
 */
#ifndef KYMO_RELAY_RELAY_H
#define KYMO_RELAY_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "ctf/format/framing.h"
#include "relay/model/declared.h"
#include "relay/store/store.h"
#include "relay/wire/wire.h"

#define RELAY_RECENT	32		/* index entries of a stream that are kept in memory */
#define RELAY_HALVES_MAX 4096u		/* of a stream; beyond it the oldest is given up */
#define RELAY_NO_SEQ	UINT64_MAX	/* -1: before the first packet */

struct relay_session;

/* One directory of a session, from its beginning to the next rotation. */
struct relay_chunk {
	uint64_t id;
	uint64_t created_s;		/* as its producer reports */
	unsigned refs;			/* from the session and from streams */
	char path[];			/* below the root */
};

/* Streams of one path: they share their metadata. */
struct relay_trace {
	struct relay_trace *next;
	struct relay_session *session;
	uint64_t id;
	struct relay_stream *metadata;	/* NULL: not announced yet */
	struct store_file *sync;	/* file with its synchronisation points; NULL: none */
	unsigned unfinished;		/* streams that are not finished */
	char path[];
};

/* One half of a packet, which waits for the other half. */
struct relay_half {
	struct relay_half *older, *newer;
	uint64_t seq;
	bool has_data, has_index;
	int64_t born_ns;
	uint64_t born_poll;		/* datagram_polls at that time */
	struct store_file *file;	/* data: the file that has it */
	uint64_t offset;
	uint32_t size, padding;
	uint8_t head[CTF_PACKET_HEAD_LTTNG]; /* data: its first bytes, and zeros */
	struct ctf_index_entry entry;	/* index: without the offset */
};

/* Packets with consecutive numbers that are in the same file. */
struct relay_part {
	struct store_file *file;
	uint64_t first, count;		/* packet numbers */
	uint64_t entry;			/* index entry of the first packet */
};

/* Indexes and beacons in the order of their arrival, until all before them is readable. */
struct relay_step {
	uint64_t seq, time;		/* time: no older event will come after it */
	bool done;			/* a readable or lost packet, or a beacon */
};

struct relay_stream {
	struct relay_stream *next;	/* of the session, in the order of their arrival */
	uint64_t id;
	struct relay_session *session;
	struct relay_trace *trace;
	int64_t born_ns;
	char *channel;
	bool is_metadata, announced, closing, closed;

	uint64_t file_size, file_count, file_number;	/* rotation of files; 0: none */
	struct relay_chunk *chunk;	/* NULL: none; no packets may come */
	struct relay_chunk *next_chunk;	/* from packet rotate_at on, if rotating */
	bool rotating;
	uint64_t rotate_at;
	struct store_file *file;
	uint64_t opened;		/* files so far */
	uint64_t end;			/* of the file: behind the last whole packet */

	uint64_t data_seq,
		index_seq; /* last received; RELAY_NO_SEQ: none; lost packets count as received */
	uint64_t last_seq; /* if closing */
	struct map halves; /* struct relay_half by sequence number */
	struct relay_half *oldest, *newest;
	struct relay_part *part;
	unsigned part_count, part_room;
	uint64_t published; /* packets, numbered from 0 */
	struct ctf_index_entry
		recent[RELAY_RECENT]; /* of published packets, by number % RELAY_RECENT */
	unsigned writing;             /* jobs that wait for the disk */

	bool has_class, has_safe;
	bool moved;     /* safe has changed since the last synchronisation point */
	bool finished;  /* closed, and everything that arrived is readable */
	uint64_t class; /* of the CTF stream */
	uint64_t safe;  /* all before this time is readable, and nothing earlier will come */
	uint64_t until; /* the latest end of a published packet */
	uint64_t begin; /* of the first packet, if one is published */
	struct relay_step *step; /* [step_count] from first_step on */
	unsigned first_step, step_count, step_room;

	/* Metadata in bytes: received; on disk; on disk and whole, so that viewers may read it. */
	uint64_t received, written, stored;
	uint64_t classes; /* stream classes declared in what viewers may read: bits, DECLARED_ALL:
			     all */
	bool unstored;    /* metadata: the disk did not take all of it */
	int64_t written_ns;
	unsigned begun;           /* how often the metadata began again */
	struct declared declared; /* in what was received */
	uint64_t lost; /* packets with a half that never arrived, or that could not be written */
	struct relay_window *window; /* of datagrams; NULL: none arrived */
	struct {                     /* the packet that is arriving */
		bool active;
		uint64_t seq, got, at;
		uint32_t size, padding;
		uint8_t head[CTF_PACKET_HEAD_LTTNG]; /* its first bytes, and zeros */
	} coming;
};

/* Synchronisation points of a session, see sync.c. */
struct relay_sync {
	struct ctf_sync point; /* the last one written */
	unsigned unmoved;      /* streams with packets that have not moved since then, and are not
				  finished */
	unsigned writing;      /* jobs that wait for the disk */
	bool due;              /* a stream has moved since then */
};

struct relay_session {
	struct relay_session *next;
	struct relay *relay;
	uint64_t id;
	char *name, *host,
		*path; /* path: below the root; NULL: the streams bring it (before 2.11) */
	uint32_t live_timer;
	unsigned entry_size;		/* of index files; 0: there are none */
	bool snapshot, ended;
	bool needs_chunk; /* 2.11 or newer */
	uint32_t format;  /* enum wire_format */
	uint8_t uuid[16]; /* of its recorder */
	bool is_ours; /* a kymo recorder: packets arrive in order, or its connection ends; no half
			 expires */
	bool cut_off; /* its recorder asked on another connection what is stored */
	struct relay_chunk *chunk, *closing_chunk;
	struct relay_stream *streams, **last_stream;
	unsigned stream_count;
	int64_t newest_ns;		/* when the last of them arrived */
	int64_t data_ns;		/* when bytes of packets last arrived; 0: never */
	unsigned viewers;		/* attached */
	unsigned producers;		/* its connections; it ends with the last one */
	int64_t left_ns;		/* when the last of them ended, with strays; else 0 */
	unsigned users;			/* connections that use it; it is not forgotten */
	struct relay_trace *traces;
	uint64_t version; /* grows when streams are announced */
	uint64_t changes; /* grows with everything that viewers may see: relay_changed() */
	struct relay_sync sync;
	bool has_horizon; /* its recorder says up to where nothing more comes, in no stream: */
	uint64_t horizon; /* no event before this time will come, also in streams that are not known
			     yet */
	uint64_t cookie;  /* of its datagrams; 0: none */
	size_t datagram_bytes; /* in windows of its streams */
	bool told;             /* how many packets were lost */
	/* What could not be stored, and is not in an index of lost packets: WIRE_LOST_COUNT. */
	uint64_t unstored_packets, unstored_events, unstored_facts;
};

/* What all clients together, or one of them, may use of a relay. 0: the default, which each comment
 * names. */
struct relay_limits {
	uint64_t connections;      /* 4096 */
	uint64_t connections_each; /* from one address: as many as connections */
	uint64_t sessions; /* 1024; the oldest that ended and has no viewer is forgotten for a new
			      one */
	uint64_t streams;  /* of a session: 16384 */
	uint64_t request;  /* bytes of a request: 16 MiB. The largest ones are metadata packets */
	uint64_t files; /* descriptors of files, without limit; with more, sessions that ended and
			   have no viewer are forgotten, the oldest first */
	uint64_t requests; /* bytes of all large requests that are incomplete: 96 MiB */
};

struct relay {
	struct store store;
	struct relay_limits limits;	/* relay_init() fills in the defaults */
	struct map streams;		/* by id */
	struct relay_session *sessions;	/* newest first */
	unsigned session_count;
	uint64_t next_session, next_stream, next_trace, next_viewer;
	size_t held;			/* bytes of large requests that are incomplete */
	unsigned strays;		/* data connections without a packet: of any session */
	uint64_t changes;		/* of all sessions */
	int64_t half_expires_ns;
	int64_t held_ns;		/* when packets were last left in their connections,
					 * because the disk was too slow; 0: never */
	uint16_t datagram_port;		/* 0: none */
	size_t datagram_bytes;		/* in windows of all streams */
	uint64_t datagram_polls;	/* calls of relay_expire_datagrams() */
	int64_t (*now_ns)(void);
	void (*forgets)(
		void *watcher,
		const struct relay_session *session); /* a session is forgotten; may be NULL */
	void *watcher;
	uint64_t forgotten;            /* sessions, so far */
	uint64_t lost, lossy_sessions; /* packets that were lost, of those that were told */
	void (*say)(void *context, const char *text);
	void *context;
};

/** relay_init() - the caller fills in @store. relay_free() - closes the streams, says what was
 * lost, then stops the disk. */
void relay_init(struct relay *relay);
void relay_free(struct relay *relay);

struct relay_create {
	const char *name, *host, *base;	/* base: a path, or "" */
	uint32_t live_timer;
	bool snapshot, name_has_time;
	uint64_t created_s;
	uint8_t uuid[16];		/* of its recorder */
	bool is_ours;			/* a kymo recorder */
	unsigned minor;
	uint32_t format;		/* enum wire_format */
};

/* ---- relay_place.c ---- */

#define PLACE_NUMBER 16

/*
 * The search for the directory of a new session: <host>/<name>-<date>, or <host>/<base path>, with
 * a number behind it if a session has that path already: one of this relay, or one on the disk. A
 * relay that is restarted within a second must not write over what it stored before.
 */
struct relay_place {
	const struct store *store;
	uint64_t forgotten; /* relay->forgotten when the search began */
	unsigned number;
	size_t length; /* of the path without its number; 0: it is too long */
	char path[STORE_PATH_MAX + PLACE_NUMBER]; /* "": there is none */
};

void relay_place_begin(struct relay_place *place, const struct relay *relay,
		       const struct relay_create *create);

/** relay_place_search() - ask the disk for the next free path. Context: any thread; blocks. */
void relay_place_search(struct relay_place *place);

/** relay_place_is_free() - does no session of @relay have the path that was found? If not, search
 * again. True also if none was found. */
bool relay_place_is_free(struct relay_place *place, const struct relay *relay);

/* ---- relay_session.c ---- */

/**
 * relay_create_session() -
 * @path: its directory, from relay_place_search(); "": there is none. Unused before 2.11
 *
 * Return: NULL: invalid names, no directory, too many sessions, or out of memory.
 */
struct relay_session *relay_create_session(struct relay *relay, const struct relay_create *create,
					   const char *path);

/** relay_room_for_files() - @count more files are opened: forget sessions if there are too many. */
void relay_room_for_files(struct relay *relay, unsigned count);

struct relay_session *relay_find_session(const struct relay *relay, uint64_t id);

/**
 * relay_join_session(), relay_leave_session() - a connection of the producer begins, ends
 *
 * The session ends with the last one; published packets stay readable.
 */
void relay_join_session(struct relay_session *session);
void relay_leave_session(struct relay_session *session);

/**
 * relay_stray_begins(), relay_stray_ends() - a data connection without a packet begins; it ended,
 * or joined its session
 *
 * A producer's control connection may end before its data connection's first packet arrives. So
 * while a data connection has no packet yet, a session that lost its last connection stays open,
 * for five seconds at most.
 */
void relay_stray_begins(struct relay *relay);
void relay_stray_ends(struct relay *relay);

/** relay_end_left() - end sessions that waited long enough for such a connection. */
void relay_end_left(struct relay *relay);

/* These return an enum wire_ret. */
uint32_t relay_create_chunk(struct relay_session *session, uint64_t id, uint64_t created_s,
			    const char *name);
/* @path: the chunk's new directory; if it did not move, the session's. */
uint32_t relay_close_chunk(struct relay_session *session, const struct wire_close_chunk *close,
			   char path[STORE_PATH_MAX]);
bool relay_chunk_exists(const struct relay_session *session, uint64_t id);
void relay_chunk_unref(struct relay_chunk *chunk);

/** relay_cut_off() - accept nothing more of @session, whatever arrives on its connections. */
void relay_cut_off(struct relay_session *session);

/** relay_tell_losses() - say of each session that has ended how many packets it lost. Call it every
 * second. */
void relay_tell_losses(struct relay *relay);

/** relay_is_written() - no job of @session waits for the disk. */
bool relay_is_written(const struct relay_session *session);

/** relay_announce() - viewers may know all streams of the session so far. */
void relay_announce(struct relay_session *session);

/* ---- relay_stream.c ---- */

struct relay_add {
	const char *channel, *path;
	uint64_t file_size, file_count;
};

/** relay_add_stream() - Return: NULL: invalid name, no chunk, too many streams, or out of
 * memory. */
struct relay_stream *relay_add_stream(struct relay_session *session, const struct relay_add *add);
struct relay_stream *relay_find_stream(const struct relay *relay, uint64_t id);
void relay_free_stream(struct relay_stream *stream);

/** relay_rotate() - packets from @seq on belong to @chunk; NULL: to none. */
void relay_rotate(struct relay_stream *stream, uint64_t seq, struct relay_chunk *chunk);

/** relay_close_stream() - the packet @last_seq is the last. */
void relay_close_stream(struct relay_stream *stream, uint64_t last_seq);

/** relay_close_if_complete() - a packet arrived or was lost: close the stream if it was the last
 * one. */
void relay_close_if_complete(struct relay_stream *stream);

/** relay_pending() - whether a packet up to @seq has not arrived, or waits for the disk. */
bool relay_pending(const struct relay_stream *stream, uint64_t seq);

/* A packet, in pieces. Return: -1: the stream does not accept it; close the connection. */
int relay_data_begin(struct relay_stream *stream, const struct wire_data *header);
int relay_data_bytes(struct relay_stream *stream, const uint8_t *bytes, size_t size);
int relay_data_end(struct relay_stream *stream);
void relay_data_abort(struct relay_stream *stream);

/** relay_job_done() - a store_done for a struct relay_stream, which counts its jobs. */
void relay_job_done(void *stream, bool stored);

/* ---- relay_metadata.c ---- */

/** relay_metadata() - append to the trace's metadata. Return: -1: not a metadata stream, or it has
 * no file. */
int relay_metadata(struct relay_stream *stream, const uint8_t *bytes, size_t size,
		   uint32_t padding);

/** relay_reset_metadata() - the metadata begins again. */
void relay_reset_metadata(struct relay_stream *stream);

/**
 * relay_end_metadata() - no more comes. If the session of a kymo recorder was cut off in the middle
 * of it, the file is cut back to what readers can parse; the packets that are stored need no more.
 * Otherwise viewers may read all that is written.
 */
void relay_end_metadata(struct relay_stream *stream);

/** relay_show_metadata() - viewers may read all that is written, whole or not: no more comes, or it
 * comes too late. */
void relay_show_metadata(struct relay_stream *stream);

/** relay_is_declared() - viewers may read metadata that declares the class of @stream, or there is
 * no metadata. */
bool relay_is_declared(const struct relay_stream *stream);

/** relay_metadata_again() - they begin again in a new file. */
void relay_metadata_again(struct relay_stream *stream);

/* ---- what viewers see ---- */

/** relay_changed() - viewers of @session may see something new. Context: wait-free. */
static inline void relay_changed(struct relay_session *session)
{
	session->changes++;
	session->relay->changes++;
}

#endif
