/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of LTTng's relay protocols as bytes. wire.def has their layouts; this file has their
 * structs, functions and numbers, and two cursors. Reading checks bounds: read a whole message,
 * then ask once whether all of it was present (short_of). Writing allocates as needed: write all,
 * then ask once whether memory sufficed (failed).
 *
 * Context of all functions: not thread-safe per cursor; writing allocates.
 */
#ifndef KYMO_RELAY_WIRE_H
#define KYMO_RELAY_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAJOR	2u
#define WIRE_MINOR	15u		/* what kymo speaks */
#define WIRE_MINOR_FORMAT 15u		/* the first version that says which CTF a session is */
#define WIRE_MINOR_LEAST 4u		/* the first version with live reading */

#define WIRE_GREETING	0x4b594d4fu	/* "KYMO" */
enum { WIRE_WELCOME = 1, WIRE_REFUSED };

enum wire_command {
	WIRE_ADD_STREAM = 1,
	WIRE_CREATE_SESSION = 2,
	WIRE_VERSION = 5,
	WIRE_SEND_METADATA = 6,
	WIRE_CLOSE_STREAM = 7,
	WIRE_DATA_PENDING = 8,
	WIRE_QUIESCENT_CONTROL = 9,
	WIRE_BEGIN_DATA_PENDING = 10,
	WIRE_END_DATA_PENDING = 11,
	WIRE_SEND_INDEX = 13,
	WIRE_STREAMS_SENT = 16,
	WIRE_RESET_METADATA = 17,
	WIRE_ROTATE_STREAMS = 18,
	WIRE_CREATE_CHUNK = 19,
	WIRE_CLOSE_CHUNK = 20,
	WIRE_CHUNK_EXISTS = 21,
	WIRE_GET_CONFIGURATION = 22,
	/* kymo's own, for relays whose answer to WIRE_QUERY_KYMO names them. */
	WIRE_SYNC = 0x4b590001,
	WIRE_DATAGRAMS = 0x4b590002,
	WIRE_STORED = 0x4b590003,
	WIRE_LOST = 0x4b590004,
	WIRE_LOST_COUNT = 0x4b590005,
};

enum wire_ret {
	WIRE_OK = 10, WIRE_ERR_UNKNOWN = 11, WIRE_ERR_FATAL = 25, WIRE_ERR_INVALID = 97,
	WIRE_ERR_PROTOCOL = 152,
};
enum wire_format { WIRE_CTF_1_8, WIRE_CTF_2 };

/*
 * GET_CONFIGURATION: flags of the reply. lttng-relayd answers WIRE_ERR_PROTOCOL to a query that is
 * not 0, and the connection goes on; a kymo relay answers WIRE_QUERY_KYMO with the flags of those
 * that it understands.
 */
#define WIRE_CLEAR_ALLOWED 1u
#define WIRE_QUERY_KYMO	0x4b594d4fu	/* "KYMO": which of kymo's own requests do you understand? */
#define WIRE_HAS_SYNC	((uint64_t)1 << 32)
#define WIRE_HAS_DATAGRAMS ((uint64_t)1 << 33)
#define WIRE_HAS_STORED	((uint64_t)1 << 34)
#define WIRE_HAS_COUNTS ((uint64_t)1 << 35)     /* it accepts SEND_INDEX with wire_index_counts */
#define WIRE_HAS_LOST_COUNT ((uint64_t)1 << 36) /* it counts what it cannot store */
#define WIRE_NOT_YET	1u			/* result of WIRE_STORED: ask again */
/* answer to DATA_PENDING: nothing is pending, but datagrams were lost: ask WIRE_LOST */
#define WIRE_SOME_LOST	2u
#define WIRE_LOST_MAX	4096u			/* numbers in a reply to WIRE_LOST */

enum wire_chunk_command { WIRE_CHUNK_COMPLETED, WIRE_CHUNK_NOTHING, WIRE_CHUNK_DELETE };

enum wire_viewer_command {
	WIRE_VIEWER_CONNECT = 1, WIRE_VIEWER_LIST, WIRE_VIEWER_ATTACH, WIRE_VIEWER_NEXT_INDEX,
	WIRE_VIEWER_PACKET, WIRE_VIEWER_METADATA, WIRE_VIEWER_NEW_STREAMS, WIRE_VIEWER_CREATE,
	WIRE_VIEWER_DETACH,
	WIRE_VIEWER_WAIT = 0x6b01,	/* kymo's own: answered when there is something new */
};
/* In the high half of kymo relay's viewer_session: it knows WIRE_VIEWER_WAIT. */
#define WIRE_TELLS ((uint64_t)0x6b796d6f << 32)
enum { WIRE_WAIT_NEWS = 1, WIRE_WAIT_NONE };
enum { WIRE_CREATED = 1, WIRE_CREATE_FAILED };
enum { WIRE_ATTACHED = 1, WIRE_ATTACH_ALREADY, WIRE_ATTACH_UNKNOWN, WIRE_ATTACH_NOT_LIVE,
       WIRE_ATTACH_SEEK, WIRE_ATTACH_NO_SESSION };
/* NOW is kymo relay's: streams of facts from their beginning, the others from their last packet. */
enum { WIRE_SEEK_BEGINNING = 1, WIRE_SEEK_LAST, WIRE_SEEK_NOW };
enum { WIRE_INDEX_OK = 1, WIRE_INDEX_RETRY, WIRE_INDEX_HUP, WIRE_INDEX_ERR, WIRE_INDEX_INACTIVE,
       WIRE_INDEX_EOF };
enum { WIRE_NEW_METADATA = 1, WIRE_NEW_STREAM = 2 };
enum { WIRE_PACKET_OK = 1, WIRE_PACKET_RETRY, WIRE_PACKET_ERR, WIRE_PACKET_EOF };
enum { WIRE_METADATA_OK = 1, WIRE_METADATA_NO_NEW, WIRE_METADATA_ERR };
enum { WIRE_STREAMS_OK = 1, WIRE_STREAMS_NO_NEW, WIRE_STREAMS_ERR, WIRE_STREAMS_HUP };
enum { WIRE_DETACHED = 1, WIRE_DETACH_UNKNOWN, WIRE_DETACH_ERR };

/* Bytes that were received and not read yet. */
struct wire_in {
	const uint8_t *at, *end;
	bool short_of;			/* more was read than is present */
};

/* Bytes to be sent. Zeroed: empty. */
struct wire_out {
	uint8_t *bytes;
	size_t used, room;
	bool failed;			/* out of memory: the bytes are incomplete */
};

static inline size_t wire_left(const struct wire_in *in)
{
	return (size_t)(in->end - in->at);
}

uint64_t wire_take(struct wire_in *in, unsigned bytes);

/** wire_bytes() - the next @size bytes, in place. Return: NULL: fewer are left. */
const uint8_t *wire_bytes(struct wire_in *in, size_t size);

/**
 * wire_name() - a text of @size bytes, with one NUL at its end
 *
 * Return: NULL with @in->short_of: it is not such a text.
 */
const char *wire_name(struct wire_in *in, size_t size);

void wire_add(struct wire_out *out, uint64_t value, unsigned bytes);
void wire_add_bytes(struct wire_out *out, const void *bytes, size_t size);

/** wire_room() - @size more bytes, which the caller fills. Return: NULL: out of memory. */
uint8_t *wire_room(struct wire_out *out, size_t size);
void wire_out_free(struct wire_out *out);

/**
 * wire_is_facts() - is it a stream of facts of a kymo recording, by the name of its channel?
 *
 * Such a name ends in "_init", or in "_known" for facts that an earlier chunk has, too.
 */
bool wire_is_facts(const char *channel);

/* ---- the messages ---- */

/* wire_get_X() - read a message; false: it is incomplete. wire_put_X() - write one. */
#define U8(field) uint8_t field;
#define U32(field) uint32_t field;
#define U64(field) uint64_t field;
#define BYTES(field, size) uint8_t field[size];
#define CHARS(field, size) char field[size];
#define MESSAGE(name, fields)                                                  \
	struct wire_##name {                                                   \
		fields                                                         \
	};                                                                     \
	bool wire_get_##name(struct wire_in *in, struct wire_##name *message); \
	void wire_put_##name(struct wire_out *out, const struct wire_##name *message);
#include "relay/wire/wire.def"

#define U8(field) +1
#define U32(field) +4
#define U64(field) +8
#define BYTES(field, size) +(size)
#define CHARS(field, size) +(size)
#define MESSAGE(name, fields) WIRE_SIZE_##name = 0 fields,
enum {
#include "relay/wire/wire.def"
};

#endif
