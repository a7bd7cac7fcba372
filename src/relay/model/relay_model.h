/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a relay knows: sessions, their chunks, traces and streams, and which packets of a stream a
 * viewer may be told of. Producers (ingest.h) fill it, viewers (viewer.h) read it; neither knows of
 * sockets, and all of it belongs to one thread, the loop's.
 *
 *   producer            relay                                        viewer
 *   packet ──data──▶ half ─┐
 *                          ├─ joined ─▶ on disk ─▶ published ──▶ index, packet
 *   index ─control─▶ half ─┘                                     metadata
 *   beacon ────────────────────▶ until when the stream is silent ──▶ INACTIVE
 */
#ifndef KYMO_RELAY_RELAY_H
#define KYMO_RELAY_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "relay/model/declared.h"
#include "relay/store/store.h"
#include "relay/wire/wire.h"

#define RELAY_RECENT	32		/* index entries of a stream that are kept in memory */
#define RELAY_HALVES_MAX 4096u		/* of a stream; then the oldest expire */
#define RELAY_NO_SEQ	UINT64_MAX	/* -1: before the first packet */

struct relay_session;

/* One directory of a session, from its beginning to the next rotation. */
struct relay_chunk {
	uint64_t id;
	uint64_t created_s;		/* as its producer says */
	unsigned refs;			/* of the session and of streams */
	char path[];			/* below the root */
};

/* Streams of one path: they have their metadata in common. */
struct relay_trace {
	struct relay_trace *next;
	struct relay_session *session;
	uint64_t id;
	struct relay_stream *metadata;	/* NULL: not announced yet */
	struct store_file *sync;	/* where its synchronisation points stand; NULL: nowhere */
	unsigned unfinished;		/* streams that are */
	char path[];
};

/* What came of a packet so far, waiting for the other half. */
struct relay_half {
	struct relay_half *older, *newer;
	uint64_t seq;
	bool has_data, has_index;
	int64_t born_ns;
	uint64_t born_look;		/* datagram_looks, then */
	struct store_file *file;	/* data: where it is */
	uint64_t offset;
	uint32_t size, padding;
	struct ctf_index_entry entry;	/* index: but for the offset */
};

/* Packets with consecutive numbers that are in one file. */
struct relay_part {
	struct store_file *file;
	uint64_t first, count;		/* numbers */
	uint64_t entry;			/* of the first of them in the file's index */
};

/* Indexes and beacons in the order of their coming, while one before them is not readable yet. */
struct relay_step {
	uint64_t seq, time;		/* time: with it, nothing older can come */
	bool done;			/* it is readable, or lost, or a beacon */
};

struct relay_stream {
	struct relay_stream *next;	/* of the session, in the order of their coming */
	uint64_t id;
	struct relay_session *session;
	struct relay_trace *trace;
	int64_t born_ns;
	char *channel;
	bool is_metadata, announced, closing, closed;

	uint64_t file_size, file_count, file_number;	/* rotation of files; 0: none */
	struct relay_chunk *chunk;	/* NULL: it is in none, and nothing may come */
	struct relay_chunk *next_chunk;	/* from packet rotate_at on, if rotating */
	bool rotating;
	uint64_t rotate_at;
	struct store_file *file;
	uint64_t opened;		/* files so far */
	uint64_t end;			/* of the file, behind the last whole packet */

	uint64_t data_seq, index_seq;	/* last received, RELAY_NO_SEQ: none; lost ones count as received */
	uint64_t last_seq;		/* if closing */
	struct map halves;		/* struct relay_half by sequence number */
	struct relay_half *oldest, *newest;
	struct relay_part *part;
	unsigned part_count;
	uint64_t published;		/* packets; their numbers are 0 and so on */
	struct ctf_index_entry recent[RELAY_RECENT];	/* of published packets, by number % RELAY_RECENT */
	unsigned writing;		/* jobs that are not done */

	bool has_class, has_safe;
	bool moved;			/* safe is another than at the last synchronisation point */
	bool finished;			/* closed, and all that came is readable */
	uint64_t class;			/* of the CTF stream */
	uint64_t safe;			/* what is before this time is readable, and nothing more of it will come */
	uint64_t until;			/* the latest end of a published packet */
	uint64_t begin;			/* of the first packet, if one is published */
	struct relay_step *step;	/* a ring */
	unsigned first_step, step_count, step_room;

	/* Metadata, bytes: that came; on disk; of these, as far as viewers may read, because it can be understood. */
	uint64_t received, written, stored;
	uint64_t classes;		/* of streams, that are declared in what is stored: bits, DECLARED_ALL: any */
	int64_t written_ns;
	unsigned begun;			/* times that they came from their beginning */
	struct declared declared;	/* in what came */
	uint64_t lost;			/* packets of which a half never came, or that could not be written */
	struct relay_window *window;	/* of datagrams; NULL: none came */
	struct {			/* the packet that is coming */
		bool active;
		uint64_t seq, got, at;
		uint32_t size, padding;
	} coming;
};

/* Synchronisation points of a session, see sync.c. */
struct relay_sync {
	struct ctf_sync point;		/* the last one */
	unsigned unmoved;		/* streams with packets that have not moved since and are not finished */
	unsigned writing;		/* jobs that are not done */
	bool due;			/* a stream has moved since */
};

struct relay_session {
	struct relay_session *next;
	struct relay *relay;
	uint64_t id;
	char *name, *host, *path;	/* path: below the root; NULL: the streams bring it (before 2.11) */
	uint32_t live_timer;
	unsigned entry_size;		/* of index files; 0: there are none */
	bool snapshot, ended;
	bool needs_chunk;		/* since 2.11 */
	uint8_t uuid[16];		/* whose it is */
	bool is_ours;			/* its packets come in order, or its connection ends: no half expires */
	bool cut_off;			/* who sent it asks on another connection what of it is stored */
	struct relay_chunk *chunk, *closing_chunk;
	struct relay_stream *streams, **last_stream;
	unsigned stream_count;
	int64_t newest_ns;		/* when the last of them came */
	unsigned viewers;		/* attached */
	unsigned producers;		/* connections that it comes over: it ends with the last */
	unsigned users;			/* connections that have it: it is not forgotten */
	struct relay_trace *traces;
	uint64_t version;		/* grows when streams are announced */
	struct relay_sync sync;
	uint64_t cookie;		/* of its datagrams; 0: it sends none */
	size_t datagram_bytes;		/* in windows of its streams */
};

/* What all clients together, or one of them, may ask of a relay; 0: as it stands behind it. */
struct relay_limits {
	uint64_t connections;		/* 4096 */
	uint64_t connections_each;	/* of these, from one address: all of them */
	uint64_t sessions;		/* 1024; ended ones without a viewer go first */
	uint64_t streams;		/* of a session: 16384 */
	uint64_t request;		/* bytes of one: 16 MiB. The largest are metadata packets */
	uint64_t requests;		/* bytes of all large ones that are not all there yet: 96 MiB */
};

struct relay {
	struct store store;
	struct relay_limits limits;	/* relay_init() fills in those that are 0 */
	struct map streams;		/* by id */
	struct relay_session *sessions;	/* newest first */
	unsigned session_count;
	uint64_t next_session, next_stream, next_trace, next_viewer;
	size_t held;			/* memory of large requests that are not all there yet */
	int64_t half_expires_ns;
	uint16_t datagram_port;		/* 0: none */
	size_t datagram_bytes;		/* in windows of all streams */
	uint64_t datagram_looks;	/* calls of relay_expire_datagrams() */
	int64_t (*now_ns)(void);
	void (*forgets)(void *watcher, const struct relay_session *session);	/* it goes; may be NULL */
	void *watcher;
	void (*say)(void *context, const char *text);
	void *context;
};

/** relay_init() - @store is filled by the caller. relay_free() - streams are closed before the disk stops. */
void relay_init(struct relay *relay);
void relay_free(struct relay *relay);

/* ---- session.c ---- */

struct relay_create {
	const char *name, *host, *base;	/* base: a path, or "" */
	uint32_t live_timer;
	bool snapshot, name_has_time;
	uint64_t created_s;
	uint8_t uuid[16];		/* whose it is */
	bool is_ours;			/* a recorder of kymo's */
	unsigned minor;
};

/** relay_create_session() - Return: NULL: its names are no names, there are too many, or no memory. */
struct relay_session *relay_create_session(struct relay *relay, const struct relay_create *create);
struct relay_session *relay_find_session(const struct relay *relay, uint64_t id);

/**
 * relay_join_session(), relay_leave_session() - a connection of its producer comes, goes
 *
 * With the last the session has ended: what was joined stays readable.
 */
void relay_join_session(struct relay_session *session);
void relay_leave_session(struct relay_session *session);

/* Results are of enum wire_ret. */
uint32_t relay_create_chunk(struct relay_session *session, uint64_t id, uint64_t created_s, const char *name);
/* @path: where it is now, or if it stays where it is, the session's. */
uint32_t relay_close_chunk(struct relay_session *session, const struct wire_close_chunk *close, char path[STORE_PATH_MAX]);
bool relay_chunk_exists(const struct relay_session *session, uint64_t id);
void relay_chunk_unref(struct relay_chunk *chunk);

/** relay_cut_off() - nothing more of @session is taken, whatever comes over its connections. */
void relay_cut_off(struct relay_session *session);

/** relay_is_written() - nothing of @session waits for the disk. */
bool relay_is_written(const struct relay_session *session);

/** relay_announce() - viewers may know of all streams that came so far. */
void relay_announce(struct relay_session *session);

/* ---- stream.c ---- */

struct relay_add {
	const char *channel, *path;
	uint64_t file_size, file_count;
};

/** relay_add_stream() - Return: NULL: a name that is none, no chunk, too many, or no memory. */
struct relay_stream *relay_add_stream(struct relay_session *session, const struct relay_add *add);
struct relay_stream *relay_find_stream(const struct relay *relay, uint64_t id);
void relay_free_stream(struct relay_stream *stream);

/** relay_metadata() - append to the trace's metadata. Return: -1: the stream has no file or is none of metadata. */
int relay_metadata(struct relay_stream *stream, const uint8_t *bytes, size_t size, uint32_t padding);

/** relay_reset_metadata() - they come again from the beginning. */
void relay_reset_metadata(struct relay_stream *stream);

/** relay_show_metadata() - all that is written, whether it can be understood or not: nothing more comes, or not in time. */
void relay_show_metadata(struct relay_stream *stream);

/** relay_is_declared() - whether the class of @stream is declared in metadata that viewers may read, if there are any. */
bool relay_is_declared(const struct relay_stream *stream);

/** relay_rotate() - packets from @seq on belong to @chunk, or to none if NULL. */
void relay_rotate(struct relay_stream *stream, uint64_t seq, struct relay_chunk *chunk);

/** relay_close_stream() - no packet behind @last_seq will come. */
void relay_close_stream(struct relay_stream *stream, uint64_t last_seq);

/** relay_close_if_complete() - it was to be closed behind the packet that has come, or was lost, now. */
void relay_close_if_complete(struct relay_stream *stream);

/** relay_pending() - whether packets up to @seq are still to come, or to be written. */
bool relay_pending(const struct relay_stream *stream, uint64_t seq);

/* A packet that comes in pieces. -1: the stream cannot have it, and its connection is to be closed. */
int relay_data_begin(struct relay_stream *stream, const struct wire_data *header);
int relay_data_bytes(struct relay_stream *stream, const uint8_t *bytes, size_t size);
int relay_data_end(struct relay_stream *stream);
void relay_data_abort(struct relay_stream *stream);

/* ---- join.c ---- */

/** relay_index() - the other half of a packet, or a beacon. -1: no memory. */
int relay_index(struct relay_stream *stream, const struct wire_index_2_4 *index, const struct wire_index_2_8 *more);
int relay_join_data(struct relay_stream *stream, uint64_t seq, uint64_t offset, uint32_t size, uint32_t padding);

/** relay_give_up() - the halves that are from @before_ns or older. */
void relay_give_up(struct relay_stream *stream, int64_t before_ns);

/** relay_expire() - give up halves that are older than half_expires_ns. Call it every second or so. */
void relay_expire(struct relay *relay);

/**
 * relay_is_late() - whether there is an index that came at look @look or before, and whose bytes did not
 * @end: the sequence number behind the last one
 */
bool relay_is_late(const struct relay_stream *stream, uint64_t look, uint64_t *end);

/** relay_lose_before() - packets before @seq of which only the index came are lost: their bytes do not come any more. */
void relay_lose_before(struct relay_stream *stream, uint64_t seq);

/** relay_packet() - packet @number of the stream, which was published. Return: NULL: its file is no more. */
const struct relay_part *relay_packet(const struct relay_stream *stream, uint64_t number);

/** relay_first() - number of the first packet that is still there. */
uint64_t relay_first(const struct relay_stream *stream);

/** relay_drop_parts() - packets in the directory @path, or in the file @path, are no more. */
void relay_drop_parts(struct relay_stream *stream, const char *path);

/* ---- datagram_join.c ---- */

/** relay_begin_datagrams() - the session gets its cookie. Return: -1: there are no random numbers. */
int relay_begin_datagrams(struct relay_session *session);

/** relay_datagram() - one came. Return: -1: it is dropped: it is none, it has not the cookie, it came twice or too late. */
int relay_datagram(struct relay *relay, const uint8_t *bytes, size_t size);

/** relay_expire_datagrams() - packets that wait for one that does not come go to the disk. Call it every tenth of a second. */
void relay_expire_datagrams(struct relay *relay);

/** relay_end_datagrams() - nothing more comes: what is whole goes to the disk. */
void relay_end_datagrams(struct relay_stream *stream);
void relay_free_datagrams(struct relay_stream *stream);

/** relay_is_skipped() - whether the bytes of packet @seq are of no use any more. */
bool relay_is_skipped(const struct relay_stream *stream, uint64_t seq);

/* ---- sync.c ---- */

/** relay_step() - an index came. Return: -1: no memory. */
int relay_step(struct relay_stream *stream, uint64_t seq, uint64_t time);

/** relay_step_done() - its packet is readable, or lost. */
void relay_step_done(struct relay_stream *stream, uint64_t seq);

/** relay_beacon() - behind what came of @stream, no event before @time will come. Return: -1: no memory. */
int relay_beacon(struct relay_stream *stream, uint64_t time);

/** relay_sync_add() - @stream is new; its trace has a place for points, from now on. */
void relay_sync_add(struct relay_stream *stream);

/** relay_sync_rotate() - the trace goes on in @chunk; NULL: in none. */
void relay_sync_rotate(struct relay_trace *trace, const struct relay_chunk *chunk);

/** relay_sync_close() - the stream is closed: nothing more comes. */
void relay_sync_close(struct relay_stream *stream);

/**
 * relay_synchronise() - make a synchronisation point of each session that has moved
 *
 * Call it every tenth of a second or so: it is for sessions of which some streams are silent. Where all have moved
 * a point is made at once.
 */
void relay_synchronise(struct relay *relay);

#endif
