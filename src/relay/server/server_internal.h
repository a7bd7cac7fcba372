/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server's files share.
 *
 * Context of all functions: the loop's thread.
 */
#ifndef KYMO_RELAY_SERVER_INTERNAL_H
#define KYMO_RELAY_SERVER_INTERNAL_H

#include <uv.h>

#include "relay/ingest/ingest.h"
#include "relay/server/server.h"
#include "relay/viewer/viewer.h"

enum kind { CONTROL, DATA, LIVE, KINDS };

struct server {
	const struct server_options *options;
	struct relay relay;
	uv_loop_t loop;
	uv_tcp_t listener[KINDS];
	uv_signal_t signal[2];
	uv_async_t disk_did;
	uv_timer_t poll, sync;
	uv_prepare_t news;
	uint64_t told;			/* relay.changes when viewers were told */
	uv_udp_t datagrams;
	struct forward *forward;	/* NULL: none */
	struct connection *connections;
	unsigned count;
	bool disk_is_full, disk_is_overfull;
	char buffer[256 << 10];		/* for one read at a time */
};

struct connection {
	struct server *server;
	struct connection *next;
	enum kind kind;
	uv_tcp_t tcp;
	int64_t since_ns;		/* when it was accepted */
	struct tls *tls;		/* NULL: none */
	bool welcome;			/* the token was checked, if there is one */
	struct wire_out greeting;	/* as far as it arrived */
	bool stopped;			/* not read from at present */
	bool closing;			/* it ends when replies are sent and no read is under way */
	bool gone;
	uv_work_t work;
	bool at_disk;                /* a thread works for it: ingest_look() or viewer_do_read() */
	struct viewer_read *reading; /* a viewer's */
	char peer[64];			/* address:port */
	union {
		struct ingest *ingest;
		struct intake *intake;
		struct viewer *viewer;
	};
};

/** server_say() - report to the server's caller. */
__attribute__((format(printf, 2, 3)))
void server_say(struct server *server, const char *format, ...);

/** server_port() - of an address. */
uint16_t server_port(const struct sockaddr_storage *at);

/** server_check_disk() - bytes that wait for the disk are in memory: if there are too many,
 * producers wait. */
void server_check_disk(struct server *server);

/** connection_accept() - from a listener, whose index in server->listener is the connection's
 * kind. */
void connection_accept(uv_stream_t *listener, int status);

/** connection_send() - reply with the plain bytes of @out, which is emptied. */
void connection_send(struct connection *connection, struct wire_out *out);

/** connection_post() - the same, with bytes in the form in which they are sent. */
void connection_post(struct connection *connection, struct wire_out *out);

/** connection_take() - plain bytes for the protocol, after TLS and the token. */
void connection_take(struct connection *connection, const uint8_t *bytes, size_t size);

/** connection_tell() - answer a viewer that waits for news. */
void connection_tell(struct connection *connection);

/** connection_fail() - report why, and end it when replies are sent. */
void connection_fail(struct connection *connection, const struct kymo_err *err);

/** connection_check_late() - end it if it did not present TLS or a token in time. */
void connection_check_late(struct connection *connection);

/* ---- connection_gate.c: TLS and the token, between the socket and connection_take() ---- */

/** gate_open() - of a new connection. Return: false: out of memory. */
bool gate_open(struct connection *connection);

/** gate_bytes() - bytes arrived on the socket. */
void gate_bytes(struct connection *connection, const uint8_t *bytes, size_t size);

/** gate_encode() - replaces plain bytes by those to be sent. Return: false: out of memory. */
bool gate_encode(struct connection *connection, struct wire_out *out);

/** gate_misses() - what the client must still present: "TLS", "token", or NULL. */
const char *gate_misses(const struct connection *connection);

/** gate_end() - tell the other side that nothing more comes. gate_close() - free. */
void gate_end(struct connection *connection);
void gate_close(struct connection *connection);

/** connection_update() - read from it or not, as conditions allow now. */
void connection_update(struct connection *connection);

/** connection_drop() - end it, at once or when its read is done. */
void connection_drop(struct connection *connection);

#endif
