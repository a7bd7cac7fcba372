/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection of the server. There are three kinds: ingest, intake and viewer handle the bytes;
 * each reply is sent with one write. A client that does not read its replies, or a disk that is too
 * slow, stops the reading from those connections that it concerns, and from no others.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay/server/server_internal.h"

#define UNSENT_MAX	((size_t)4 << 20)	/* of replies; with more, requests wait */
#define GREETING_NS	((int64_t)10000000000)	/* for TLS and the token */
/* of silence, then the system asks whether the client still exists: */
#define KEEPALIVE_S	60
/* ten times, at this interval for a producer, every second for a viewer; */
#define PRODUCER_S	60
/* a viewer is also gone if it acknowledges no reply for so long */
#define VIEWER_MS	120000u

static const char *const kind_names[] = { "producer", "producer's data", "viewer" };

/* ---- the end of a connection ---- */

static void on_closed(uv_handle_t *handle)
{
	struct connection *connection = handle->data;

	if (connection->kind == CONTROL)
		ingest_free(connection->ingest);
	else if (connection->kind == DATA)
		intake_free(connection->intake);
	else
		viewer_free(connection->viewer);
	gate_close(connection);
	free(connection);
}

void connection_drop(struct connection *connection)
{
	struct server *server = connection->server;

	connection->closing = true;
	if (connection->gone || connection->at_disk)
		return;			/* it is closed when that is done */
	gate_end(connection);
	connection->gone = true;
	for (struct connection **at = &server->connections; *at; at = &(*at)->next)
		if (*at == connection) {
			*at = connection->next;
			server->count--;
			break;
		}
	uv_close((uv_handle_t *)&connection->tcp, on_closed);
}

/* ---- bytes ---- */

static void go_on(struct connection *connection);

static bool has_room(const struct connection *connection)
{
	return uv_stream_get_write_queue_size((const uv_stream_t *)&connection->tcp) <= UNSENT_MAX;
}

struct reply {
	uv_write_t write;
	struct connection *connection;
	uint8_t *bytes;
};

static void on_sent(uv_write_t *write, int status)
{
	struct reply *reply = write->data;
	struct connection *connection = reply->connection;

	free(reply->bytes);
	free(reply);
	if (connection->gone)
		return;
	if (status < 0 || (connection->closing &&
			   !uv_stream_get_write_queue_size((uv_stream_t *)&connection->tcp)))
		connection_drop(connection);
	else
		go_on(connection);
}

void connection_post(struct connection *connection, struct wire_out *out)
{
	struct reply *reply = out->used && !connection->gone ? calloc(1, sizeof(*reply)) : NULL;
	uv_buf_t buffer = uv_buf_init((char *)out->bytes, (unsigned)out->used);

	if (!reply) {
		if (out->used)
			connection_drop(
				connection); /* after the missing bytes nothing can follow */
		wire_out_free(out);
		return;
	}
	reply->write.data = reply;
	reply->connection = connection;
	reply->bytes = out->bytes;
	*out = (struct wire_out){ 0 };
	if (uv_write(&reply->write, (uv_stream_t *)&connection->tcp, &buffer, 1, on_sent) < 0) {
		free(reply->bytes);
		free(reply);
		connection_drop(connection);
	}
}

void connection_send(struct connection *connection, struct wire_out *out)
{
	if (out->used && !gate_encode(connection, out)) {
		wire_out_free(out);
		connection_drop(connection);
		return;
	}
	connection_post(connection, out);
}

void connection_tell(struct connection *connection)
{
	struct wire_out out = { 0 };

	if (connection->kind != LIVE || connection->closing || connection->gone ||
	    connection->at_disk)
		return;
	viewer_wake(connection->viewer, &out);
	connection_send(connection, &out);
}

void connection_fail(struct connection *connection, const struct kymo_err *err)
{
	server_say(connection->server, "%s %s is disconnected: %s", kind_names[connection->kind], connection->peer, err->text);
	connection->closing = true;
	if (!uv_stream_get_write_queue_size((uv_stream_t *)&connection->tcp))
		connection_drop(connection);
	else
		connection_update(connection);
}

static void on_disk_done(uv_work_t *work, int status);

static void ask_disk(uv_work_t *work)
{
	struct connection *connection = work->data;

	if (connection->kind == CONTROL)
		ingest_look(connection->ingest);
	else
		viewer_do_read(connection->reading);
}

/* Passes what requests ask the disk, if they do, to another thread. */
static void begin_at_disk(struct connection *connection, struct viewer_read *read)
{
	connection->reading = read;
	connection->at_disk =
		read || (connection->kind == CONTROL && ingest_looks(connection->ingest));
	if (!connection->at_disk)
		return;
	connection->work.data = connection;
	if (uv_queue_work(&connection->server->loop, &connection->work, ask_disk, on_disk_done) <
	    0) {
		connection->at_disk = false;
		connection->reading = NULL;
		connection_drop(connection);
	}
}

/* Handles waiting requests, and @bytes after them. */
static void take_some(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct viewer_read *read = NULL;
	struct wire_out out = { 0 };
	struct kymo_err err = { 0 };
	int rc;

	if (connection->kind == CONTROL)
		rc = ingest_bytes(connection->ingest, bytes, size, &out, &err);
	else if (connection->kind == DATA)
		rc = intake_bytes(connection->intake, bytes, size, &err);
	else
		rc = viewer_bytes(connection->viewer, bytes, size, &out, &read, &err);
	connection_send(connection, &out);
	if (connection->gone)
		return;
	begin_at_disk(connection, read);
	if (rc < 0)
		connection_fail(connection, &err);
}

/* Handles the waiting requests of a viewer, as long as it reads the replies. */
static void go_on(struct connection *connection)
{
	while (connection->kind == LIVE && !connection->closing && !connection->at_disk &&
	       has_room(connection) && viewer_waits(connection->viewer))
		take_some(connection, NULL, 0);
	connection_update(connection);
}

void connection_take(struct connection *connection, const uint8_t *bytes, size_t size)
{
	take_some(connection, bytes, size);
	go_on(connection);
}

static void on_disk_done(uv_work_t *work, int status)
{
	struct connection *connection = work->data;
	struct wire_out out = { 0 };

	(void)status;
	connection->at_disk = false;
	connection->reading = NULL;
	if (connection->closing) {
		connection_drop(connection);
		return;
	}
	if (connection->kind == CONTROL) {
		connection_take(connection, NULL, 0);
		return;
	}
	viewer_has_read(connection->viewer, &out);
	if (out.failed)
		connection_fail(connection, &(struct kymo_err){ .text = "out of memory" });
	connection_send(connection, &out);
	go_on(connection);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct connection *connection = handle->data;

	(void)suggested;
	*buffer = uv_buf_init(connection->server->buffer, sizeof(connection->server->buffer));
}

static void on_bytes(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
	struct connection *connection = stream->data;

	if (got < 0) {
		connection_drop(connection);
	} else if (got > 0) {
		gate_bytes(connection, (const uint8_t *)buffer->base, (size_t)got);
		server_check_disk(connection->server);
	}
}

void connection_update(struct connection *connection)
{
	uv_stream_t *stream = (uv_stream_t *)&connection->tcp;
	const bool stop = connection->closing || connection->at_disk || !has_room(connection) ||
			  (connection->kind == DATA && connection->server->disk_is_full) ||
			  (connection->kind == CONTROL && connection->server->disk_is_overfull);

	if (connection->gone || stop == connection->stopped)
		return;
	connection->stopped = stop;
	if (stop)
		(void)uv_read_stop(stream);
	else if (uv_read_start(stream, on_room, on_bytes) < 0)
		connection_drop(connection);
}

void connection_check_late(struct connection *connection)
{
	const char *missing = gate_misses(connection);
	struct kymo_err err;

	if (!missing || connection->closing ||
	    connection->server->relay.now_ns() - connection->since_ns < GREETING_NS)
		return;
	(void)err_set(&err, KYMO_EXIT_INPUT, "it did not present a %s", missing);
	connection_fail(connection, &err);
}

/* ---- the beginning ---- */

static void name_peer(struct connection *connection)
{
	struct sockaddr_storage address = { 0 };
	int size = sizeof(address), port = 0;
	char ip[46] = "?";

	if (uv_tcp_getpeername(&connection->tcp, (struct sockaddr *)&address, &size) == 0) {
		if (address.ss_family == AF_INET6)
			(void)uv_ip6_name((struct sockaddr_in6 *)&address, ip, sizeof(ip));
		else
			(void)uv_ip4_name((struct sockaddr_in *)&address, ip, sizeof(ip));
		port = server_port(&address);
	}
	(void)snprintf(connection->peer, sizeof(connection->peer), "%s:%d", ip, port);
}

/* A producer may be a robot behind a wall: lttng-consumerd does not reconnect when its connection
 * has ended. */
static void detect_vanished(struct connection *connection)
{
	const int distance_s = PRODUCER_S;
	const unsigned viewer_ms = VIEWER_MS;
	uv_os_fd_t fd;

	(void)uv_tcp_keepalive(&connection->tcp, 1, KEEPALIVE_S);
	if (uv_fileno((uv_handle_t *)&connection->tcp, &fd) < 0)
		return;
	if (connection->kind == LIVE)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &viewer_ms, sizeof(viewer_ms));
	else
		(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &distance_s, sizeof(distance_s));
}

/* Connections from the same address, including this one. */
static unsigned count_peer(const struct connection *connection)
{
	const size_t length = (size_t)(strrchr(connection->peer, ':') - connection->peer);
	unsigned count = 0;

	for (const struct connection *at = connection->server->connections; at; at = at->next)
		count += strncmp(at->peer, connection->peer, length + 1) == 0;
	return count;
}

/* Return: false: it was dropped. */
static bool is_admitted(struct connection *connection)
{
	struct server *server = connection->server;
	const struct relay_limits *limits = &server->relay.limits;
	const bool full = server->count > limits->connections;

	if (!full && (limits->connections_each >= limits->connections ||
		      count_peer(connection) <= limits->connections_each))
		return true;
	server_say(server, "%s %s is disconnected: the limit of %" PRIu64 " connections%s is reached", kind_names[connection->kind],
		   connection->peer, full ? limits->connections : limits->connections_each, full ? "" : " from this address");
	connection_drop(connection);
	return false;
}

static bool make_inside(struct connection *connection)
{
	struct server *server = connection->server;

	switch (connection->kind) {
	case CONTROL:
		return (connection->ingest = ingest_new(&server->relay, server->options->minor)) !=
		       NULL;
	case DATA:
		return (connection->intake = intake_new(&server->relay)) != NULL;
	default:
		return (connection->viewer = viewer_new(&server->relay, server->options->minor)) !=
		       NULL;
	}
}

void connection_accept(uv_stream_t *listener, int status)
{
	struct server *server = listener->data;
	struct connection *connection;

	if (status < 0)
		return;
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		return;			/* it waits in the backlog */
	connection->server = server;
	connection->kind = (enum kind)((uv_tcp_t *)listener - server->listener);
	connection->tcp.data = connection;
	connection->stopped = true;
	connection->since_ns = server->relay.now_ns();
	if (uv_tcp_init(&server->loop, &connection->tcp) < 0) {
		free(connection);
		return;
	}
	connection->next = server->connections;
	server->connections = connection;
	server->count++;
	if (uv_accept(listener, (uv_stream_t *)&connection->tcp) < 0 || !make_inside(connection) ||
	    !gate_open(connection)) {
		connection_drop(connection);
		return;
	}
	(void)uv_tcp_nodelay(&connection->tcp, 1);
	detect_vanished(connection);
	name_peer(connection);
	if (is_admitted(connection))
		connection_update(connection);
}
