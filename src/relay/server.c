/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets of the relay. A connection is one of three kinds; its bytes go to ingest, intake or viewer, its
 * replies back in one write each. Who does not take replies, and a disk that does not keep up, stop the reading
 * of those who are concerned, and of nobody else.
 */
#include "relay/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "relay/ingest.h"
#include "relay/viewer.h"

#define BACKLOG		128
#define CONNECTIONS_MAX	4096u
#define UNSENT_MAX	((size_t)4 << 20)	/* of replies; then requests wait */
#define DISK_FULL	((size_t)64 << 20)	/* waiting for the disk; then packets wait */
#define DISK_ROOM	((size_t)32 << 20)	/* and go on */
#define DISK_OVERFULL	((size_t)256 << 20)	/* then requests of producers, too, which nobody wants */
#define LOOK_MS		1000
#define KEEPALIVE_S	60			/* then who vanished is looked for */

enum kind { CONTROL, DATA, LIVE, KINDS };

struct server {
	const struct server_options *options;
	struct relay relay;
	uv_loop_t loop;
	uv_tcp_t listener[KINDS];
	uv_signal_t signal[2];
	uv_async_t disk_did;
	uv_timer_t look;
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
	bool stopped;			/* not read from */
	bool closing;			/* for good, when replies are out and nothing is being read */
	bool gone;
	uv_work_t work;
	struct viewer_read *reading;
	char peer[64];
	union {
		struct ingest *ingest;
		struct intake *intake;
		struct viewer *viewer;
	};
};

static const char *const kind_names[] = { "producer", "producer's data", "viewer" };

__attribute__((format(printf, 2, 3)))
static void say(struct server *server, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	server->options->say(server->options->context, text);
}

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
	free(connection);
}

static void drop(struct connection *connection)
{
	struct server *server = connection->server;

	connection->closing = true;
	if (connection->gone || connection->reading)
		return;			/* closed when that is done */
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

static void update(struct connection *connection);

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
	if (status < 0 || (connection->closing && !uv_stream_get_write_queue_size((uv_stream_t *)&connection->tcp)))
		drop(connection);
	else
		update(connection);
}

/* Takes the bytes of @out. */
static void send_reply(struct connection *connection, struct wire_out *out)
{
	struct reply *reply = out->used ? calloc(1, sizeof(*reply)) : NULL;
	uv_buf_t buffer = uv_buf_init((char *)out->bytes, (unsigned)out->used);

	if (!reply) {
		wire_out_free(out);
		return;
	}
	reply->write.data = reply;
	reply->connection = connection;
	reply->bytes = out->bytes;
	if (uv_write(&reply->write, (uv_stream_t *)&connection->tcp, &buffer, 1, on_sent) < 0) {
		free(reply->bytes);
		free(reply);
		drop(connection);
	}
}

static void fail(struct connection *connection, const struct err *err)
{
	say(connection->server, "%s %s is disconnected: %s", kind_names[connection->kind], connection->peer, err->text);
	connection->closing = true;
	if (!uv_stream_get_write_queue_size((uv_stream_t *)&connection->tcp))
		drop(connection);
	else
		update(connection);
}

static void on_read_done(uv_work_t *work, int status);

static void do_read(uv_work_t *work)
{
	struct connection *connection = work->data;

	viewer_do_read(connection->reading);
}

static void begin_read(struct connection *connection, struct viewer_read *read)
{
	connection->reading = read;
	if (!read)
		return;
	connection->work.data = connection;
	if (uv_queue_work(&connection->server->loop, &connection->work, do_read, on_read_done) < 0) {
		connection->reading = NULL;
		drop(connection);
	}
}

static void on_read_done(uv_work_t *work, int status)
{
	struct connection *connection = work->data;
	struct viewer_read *read = NULL;
	struct wire_out out = { 0 };
	struct err err = { 0 };
	int rc;

	(void)status;
	connection->reading = NULL;
	if (connection->closing) {
		drop(connection);
		return;
	}
	rc = viewer_has_read(connection->viewer, &out, &read, &err);
	send_reply(connection, &out);
	if (connection->gone)
		return;
	begin_read(connection, read);
	if (rc < 0)
		fail(connection, &err);
	else
		update(connection);
}

static void take(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct viewer_read *read = NULL;
	struct wire_out out = { 0 };
	struct err err = { 0 };
	int rc;

	if (connection->kind == CONTROL)
		rc = ingest_bytes(connection->ingest, bytes, size, &out, &err);
	else if (connection->kind == DATA)
		rc = intake_bytes(connection->intake, bytes, size, &err);
	else
		rc = viewer_bytes(connection->viewer, bytes, size, &out, &read, &err);
	send_reply(connection, &out);
	if (connection->gone)
		return;
	begin_read(connection, read);
	if (rc < 0)
		fail(connection, &err);
	else
		update(connection);
}

/* What waits for the disk is in memory: producers wait when it is too much. */
static void look_at_disk(struct server *server)
{
	const size_t waiting = disk_waiting(server->relay.store.disk);
	const bool was_full = server->disk_is_full, was_overfull = server->disk_is_overfull;
	struct connection *next;

	server->disk_is_full = waiting > (was_full ? DISK_ROOM : DISK_FULL);
	server->disk_is_overfull = waiting > (was_overfull ? DISK_FULL : DISK_OVERFULL);
	if (was_full == server->disk_is_full && was_overfull == server->disk_is_overfull)
		return;
	for (struct connection *at = server->connections; at; at = next) {
		next = at->next;
		update(at);
	}
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
		drop(connection);
	} else if (got > 0) {
		take(connection, (const uint8_t *)buffer->base, (size_t)got);
		look_at_disk(connection->server);
	}
}

/* Reads, or leaves it, as things are now. */
static void update(struct connection *connection)
{
	uv_stream_t *stream = (uv_stream_t *)&connection->tcp;
	const bool stop = connection->closing || connection->reading ||
			  uv_stream_get_write_queue_size(stream) > UNSENT_MAX ||
			  (connection->kind == DATA && connection->server->disk_is_full) ||
			  (connection->kind == CONTROL && connection->server->disk_is_overfull);

	if (connection->gone || stop == connection->stopped)
		return;
	connection->stopped = stop;
	if (stop)
		(void)uv_read_stop(stream);
	else if (uv_read_start(stream, on_room, on_bytes) < 0)
		drop(connection);
}

/* ---- the beginning ---- */

static void name_peer(struct connection *connection)
{
	struct sockaddr_storage address = { 0 };
	int size = sizeof(address), port = 0;
	char ip[46] = "?";

	if (uv_tcp_getpeername(&connection->tcp, (struct sockaddr *)&address, &size) == 0) {
		(void)uv_ip_name((struct sockaddr *)&address, ip, sizeof(ip));
		port = ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port :
			     ((struct sockaddr_in *)&address)->sin_port);
	}
	(void)snprintf(connection->peer, sizeof(connection->peer), "%s:%d", ip, port);
}

static bool make_inside(struct connection *connection)
{
	struct server *server = connection->server;

	switch (connection->kind) {
	case CONTROL:
		return (connection->ingest = ingest_new(&server->relay, server->options->minor)) != NULL;
	case DATA:
		return (connection->intake = intake_new(&server->relay)) != NULL;
	default:
		return (connection->viewer = viewer_new(&server->relay)) != NULL;
	}
}

static void on_connection(uv_stream_t *listener, int status)
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
	if (uv_tcp_init(&server->loop, &connection->tcp) < 0) {
		free(connection);
		return;
	}
	connection->next = server->connections;
	server->connections = connection;
	server->count++;
	if (uv_accept(listener, (uv_stream_t *)&connection->tcp) < 0 || !make_inside(connection)) {
		drop(connection);
		return;
	}
	(void)uv_tcp_nodelay(&connection->tcp, 1);
	(void)uv_tcp_keepalive(&connection->tcp, 1, KEEPALIVE_S);
	name_peer(connection);
	if (server->count > CONNECTIONS_MAX) {
		say(server, "%s %s is disconnected: there are %u connections already", kind_names[connection->kind],
		    connection->peer, CONNECTIONS_MAX);
		drop(connection);
		return;
	}
	update(connection);
}

static int listen_at(struct server *server, enum kind kind, uint16_t wanted, uint16_t *port, struct err *err)
{
	const char *address = server->options->address;
	uv_tcp_t *listener = &server->listener[kind];
	struct sockaddr_storage at = { 0 };
	int size = sizeof(at), rc;

	listener->data = server;
	if (uv_ip4_addr(address, wanted, (struct sockaddr_in *)&at) < 0 &&
	    uv_ip6_addr(address, wanted, (struct sockaddr_in6 *)&at) < 0)
		return err_set(err, EXIT_USAGE, "'%s' is no address: numbers like 127.0.0.1 or ::1 are wanted", address);
	rc = uv_tcp_bind(listener, (struct sockaddr *)&at, 0);
	if (rc == 0)
		rc = uv_listen((uv_stream_t *)listener, BACKLOG, on_connection);
	if (rc == 0)
		rc = uv_tcp_getsockname(listener, (struct sockaddr *)&at, &size);
	if (rc < 0)
		return err_set(err, EXIT_FAILED, "cannot listen at %s port %u: %s; another port is chosen with --%s", address,
			       wanted, uv_strerror(rc), kind == CONTROL ? "control" : kind == DATA ? "data" : "live");
	*port = ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port :
		      ((struct sockaddr_in *)&at)->sin_port);
	return 0;
}

/* ---- what happens by itself ---- */

static void on_disk_did(uv_async_t *async)
{
	struct server *server = async->data;

	disk_reap(server->relay.store.disk);
	look_at_disk(server);
}

static void wake(void *context)
{
	struct server *server = context;

	(void)uv_async_send(&server->disk_did);
}

static void on_look(uv_timer_t *timer)
{
	struct server *server = timer->data;

	relay_expire(&server->relay);
	on_disk_did(&server->disk_did);
}

static void close_handle(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void on_signal(uv_signal_t *signal, int number)
{
	struct server *server = signal->data;

	(void)number;
	while (server->connections) {
		struct connection *connection = server->connections;

		if (connection->reading) {	/* it ends by itself; the rest of the loop waits for it */
			server->connections = connection->next;
			connection->closing = true;
			continue;
		}
		drop(connection);
	}
	for (unsigned i = 0; i < KINDS; i++)
		close_handle((uv_handle_t *)&server->listener[i], NULL);
	close_handle((uv_handle_t *)&server->look, NULL);
	close_handle((uv_handle_t *)&server->signal[0], NULL);
	close_handle((uv_handle_t *)&server->signal[1], NULL);
	uv_unref((uv_handle_t *)&server->disk_did);
}

/* ---- life ---- */

static int64_t now_ns(void)
{
	return (int64_t)uv_hrtime();
}

static int open_root(const char *path, struct err *err)
{
	int fd;

	for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
		char *part = strndup(path, (size_t)(slash - path));

		if (part)
			(void)mkdir(part, 0777);	/* if it is not there now, open() says so */
		free(part);
	}
	(void)mkdir(path, 0777);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, EXIT_FAILED, "cannot make the directory %s: %s; another one is chosen with -o", path,
			       strerror(errno));
	return fd;
}

static int begin(struct server *server, struct err *err)
{
	const struct server_options *options = server->options;
	const uint16_t wanted[KINDS] = { options->control, options->data, options->live };
	uint16_t port[KINDS];

	for (unsigned i = 0; i < KINDS; i++)
		if (listen_at(server, (enum kind)i, wanted[i], &port[i], err) < 0)
			return -1;
	(void)uv_signal_start(&server->signal[0], on_signal, SIGINT);
	(void)uv_signal_start(&server->signal[1], on_signal, SIGTERM);
	(void)uv_timer_start(&server->look, on_look, LOOK_MS, LOOK_MS);
	if (options->ready)
		options->ready(options->context, port[CONTROL], port[DATA], port[LIVE]);
	return 0;
}

static int serve(struct server *server, struct err *err)
{
	int rc;

	(void)uv_loop_init(&server->loop);
	for (unsigned i = 0; i < KINDS; i++)
		(void)uv_tcp_init(&server->loop, &server->listener[i]);
	for (unsigned i = 0; i < 2; i++) {
		(void)uv_signal_init(&server->loop, &server->signal[i]);
		server->signal[i].data = server;
	}
	(void)uv_timer_init(&server->loop, &server->look);
	(void)uv_async_init(&server->loop, &server->disk_did, on_disk_did);
	server->look.data = server->disk_did.data = server;
	server->relay.store.disk = disk_start(wake, server);
	rc = server->relay.store.disk ? begin(server, err) : err_set(err, EXIT_FAILED, "cannot start a thread");
	if (rc == 0)
		(void)uv_run(&server->loop, UV_RUN_DEFAULT);
	if (server->relay.store.disk)
		disk_drain(server->relay.store.disk);
	relay_free(&server->relay);
	disk_stop(server->relay.store.disk);
	uv_walk(&server->loop, close_handle, NULL);
	(void)uv_run(&server->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&server->loop);
	return rc;
}

int server_run(const struct server_options *options, struct err *err)
{
	struct server *server = calloc(1, sizeof(*server));
	int rc;

	if (!server)
		return err_set(err, EXIT_FAILED, "no memory");
	server->options = options;
	server->relay = (struct relay){
		.store = { .root_path = options->output, .sync = options->sync, .say = options->say,
			   .context = options->context },
		.half_expires_ns = options->half_expires_ns, .now_ns = now_ns, .say = options->say,
		.context = options->context,
	};
	relay_init(&server->relay);
	server->relay.store.root = open_root(options->output, err);
	rc = server->relay.store.root < 0 ? -1 : serve(server, err);
	if (server->relay.store.root >= 0)
		(void)close(server->relay.store.root);
	free(server);
	return rc;
}
