/* SPDX-License-Identifier: Apache-2.0 */
/* What the server's files share. Not for others. */
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
	uv_timer_t look, sync;
	uv_udp_t datagrams;
	struct forward *forward;	/* NULL: none */
	struct connection *connections;
	unsigned count;
	bool disk_is_full, disk_is_overfull;
	char buffer[256 << 10];		/* what was read; used up before the next read */
};

struct connection {
	struct server *server;
	struct connection *next;
	enum kind kind;
	uv_tcp_t tcp;
	int64_t since_ns;		/* it came */
	struct tls *tls;		/* NULL: none */
	bool welcome;			/* it was looked whether it begins with a token */
	struct wire_out greeting;	/* as far as it came */
	bool stopped;			/* not read from */
	bool closing;			/* for good, when replies are out and nothing is being read */
	bool gone;
	uv_work_t work;
	struct viewer_read *reading;
	char peer[64];			/* address:port */
	union {
		struct ingest *ingest;
		struct intake *intake;
		struct viewer *viewer;
	};
};

/** server_say() - a sentence to the one who began the server. */
__attribute__((format(printf, 2, 3)))
void server_say(struct server *server, const char *format, ...);

/** server_receive() - take datagrams, at the port that is asked for. Return: it, or 0 with @err. */
uint16_t server_receive(struct server *server, struct kymo_err *err);

/** server_address() - where to listen. Return: 0, or -1 with @err: what is given is no address. */
int server_address(const struct server *server, uint16_t port, struct sockaddr_storage *at, struct kymo_err *err);

/** server_port() - of an address. */
uint16_t server_port(const struct sockaddr_storage *at);

/** server_look_at_disk() - what waits for the disk is in memory: producers wait when it is too much. */
void server_look_at_disk(struct server *server);

/** connection_accept() - of a listener, whose place in server->listener is the kind. */
void connection_accept(uv_stream_t *listener, int status);

/** connection_send() - reply: plain bytes of @out, which are taken. */
void connection_send(struct connection *connection, struct wire_out *out);

/** connection_post() - the same, of bytes as they go over the socket. */
void connection_post(struct connection *connection, struct wire_out *out);

/** connection_take() - plain bytes behind TLS and the token, for the protocol. */
void connection_take(struct connection *connection, const uint8_t *bytes, size_t size);

/** connection_fail() - it ends, with a line that says why, when replies are out. */
void connection_fail(struct connection *connection, const struct kymo_err *err);

/** connection_check_late() - it ends when it was silent where TLS or the token is wanted. */
void connection_check_late(struct connection *connection);

/* ---- connection_gate.c: TLS and the token, between the socket and connection_take() ---- */

/** gate_open() - for a connection that is new. Return: false: no memory. */
bool gate_open(struct connection *connection);

/** gate_bytes() - came over the socket. */
void gate_bytes(struct connection *connection, const uint8_t *bytes, size_t size);

/** gate_encode() - plain bytes become those for the socket, which take their place. Return: false: no memory. */
bool gate_encode(struct connection *connection, struct wire_out *out);

/** gate_misses() - what has not been shown and has to be: "TLS", "token", or NULL. */
const char *gate_misses(const struct connection *connection);

/** gate_end() - the other side is told that nothing more comes; gate_close() - it is gone. */
void gate_end(struct connection *connection);
void gate_close(struct connection *connection);

/** connection_update() - read from it, or leave it, as things are now. */
void connection_update(struct connection *connection);

/** connection_drop() - it ends, at once or when what is being read for it is there. */
void connection_drop(struct connection *connection);

#endif
