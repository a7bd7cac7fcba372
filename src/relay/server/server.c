/* SPDX-License-Identifier: Apache-2.0 */
/* The relay's loop: three ports, the disk's thread, a timer and signals; connections are in
 * connection.c. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay/server/server_internal.h"
#include "base/now.h"
#include "relay/wire/datagram.h"

#define SOCKET_BYTES (8 << 20) /* of the datagram socket's buffer, if the system allows it */
#define BACKLOG		128
#define DISK_FULL	((size_t)64 << 20)	/* bytes for the disk; with more, packets wait */
#define DISK_ROOM	((size_t)32 << 20)	/* with less, packets continue */
/* with more, requests of producers wait, too; that should not happen */
#define DISK_OVERFULL	((size_t)256 << 20)
#define POLL_MS		1000
#define SYNC_MS		100		/* synchronisation points of sessions with silent streams */

void server_say(struct server *server, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	server->options->say(server->options->context, text);
}

void server_check_disk(struct server *server)
{
	const size_t waiting = disk_waiting(server->relay.store.disk);
	const bool was_full = server->disk_is_full, was_overfull = server->disk_is_overfull;
	struct connection *next;

	if (was_full)
		server->relay.held_ns = server->relay.now_ns();
	server->disk_is_full = waiting > (was_full ? DISK_ROOM : DISK_FULL);
	server->disk_is_overfull = waiting > (was_overfull ? DISK_FULL : DISK_OVERFULL);
	if (was_full == server->disk_is_full && was_overfull == server->disk_is_overfull)
		return;
	for (struct connection *at = server->connections; at; at = next) {
		next = at->next;
		connection_update(at);
	}
}

/* The address to listen at. Return: 0; -1 with @err: not a numeric address. */
static int server_address(const struct server *server, uint16_t port, struct sockaddr_storage *at,
			  struct kymo_err *err)
{
	const char *address = server->options->address;

	memset(at, 0, sizeof(*at));
	if (uv_ip4_addr(address, port, (struct sockaddr_in *)at) < 0 &&
	    uv_ip6_addr(address, port, (struct sockaddr_in6 *)at) < 0)
		return err_set(err, KYMO_EXIT_USAGE, "'%s' is not a numeric address; pass one such as 127.0.0.1 or ::1", address);
	return 0;
}

uint16_t server_port(const struct sockaddr_storage *at)
{
	return ntohs(at->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)at)->sin6_port :
		     ((const struct sockaddr_in *)at)->sin_port);
}

static int listen_at(struct server *server, enum kind kind, uint16_t wanted, uint16_t *port,
		     struct kymo_err *err)
{
	uv_tcp_t *listener = &server->listener[kind];
	struct sockaddr_storage at;
	int size = sizeof(at), rc;

	listener->data = server;
	if (server_address(server, wanted, &at, err) < 0)
		return -1;
	rc = uv_tcp_bind(listener, (struct sockaddr *)&at, 0);
	if (rc == 0)
		rc = uv_listen((uv_stream_t *)listener, BACKLOG, connection_accept);
	if (rc == 0)
		rc = uv_tcp_getsockname(listener, (struct sockaddr *)&at, &size);
	if (rc < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot listen at %s port %u: %s; choose another port with --%s",
			       server->options->address, wanted, uv_strerror(rc),
			       kind == CONTROL ? "control" : kind == DATA ? "data" : "live");
	*port = server_port(&at);
	return 0;
}

/* ---- datagrams ---- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct server *server = handle->data;

	(void)suggested;
	*buffer = uv_buf_init(server->buffer, sizeof(server->buffer));
}

/* Datagrams that arrive while the disk is too slow are lost, like those that the network loses:
 * nobody waits for them. */
static void on_datagram(uv_udp_t *udp, ssize_t size, const uv_buf_t *buffer,
			const struct sockaddr *from, unsigned flags)
{
	struct server *server = udp->data;

	if (size <= 0 || !from || flags & UV_UDP_PARTIAL || server->disk_is_full)
		return;
	(void)relay_datagram(&server->relay, (const uint8_t *)buffer->base, (size_t)size);
	server_check_disk(server);
}

/* Opens the datagram port. Return: its number; 0 with @err. */
static uint16_t receive_datagrams(struct server *server, struct kymo_err *err)
{
	uv_udp_t *udp = &server->datagrams;
	struct sockaddr_storage at;
	int size = sizeof(at), bytes = SOCKET_BYTES, rc;

	udp->data = server;
	if (server_address(server, server->options->datagram, &at, err) < 0)
		return 0;
	rc = uv_udp_bind(udp, (struct sockaddr *)&at, 0);
	if (rc == 0)
		rc = uv_udp_recv_start(udp, on_room, on_datagram);
	if (rc == 0)
		rc = uv_udp_getsockname(udp, (struct sockaddr *)&at, &size);
	if (rc == 0) {
		(void)uv_recv_buffer_size((uv_handle_t *)udp, &bytes);
		return server_port(&at);
	}
	(void)err_set(
		err, KYMO_EXIT_FAILED,
		"cannot receive datagrams at %s port %u: %s; choose another port with --datagram",
		server->options->address, server->options->datagram, uv_strerror(rc));
	return 0;
}

/* ---- callbacks ---- */

static void on_disk_did(uv_async_t *async)
{
	struct server *server = async->data;

	disk_reap(server->relay.store.disk);
	server_check_disk(server);
}

static void wake(void *context)
{
	struct server *server = context;

	(void)uv_async_send(&server->disk_did);
}

static void on_poll(uv_timer_t *timer)
{
	struct server *server = timer->data;

	struct connection *next;

	server_check_disk(server);
	relay_expire(&server->relay);
	relay_end_left(&server->relay);
	for (struct connection *at = server->connections; at; at = next) {
		next = at->next;
		connection_check_late(at);
	}
	on_disk_did(&server->disk_did);
}

static void on_sync(uv_timer_t *timer)
{
	struct server *server = timer->data;

	relay_expire_datagrams(&server->relay);
	relay_synchronise(&server->relay);
	if (server->forward)
		forward_poll(server->forward);
}

static void on_forget(void *watcher, const struct relay_session *session)
{
	forward_forget(watcher, session);
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

		if (connection->at_disk) { /* freed when that is done; the rest of the loop
					      waits for it */
			server->connections = connection->next;
			connection->closing = true;
			continue;
		}
		connection_drop(connection);
	}
	server->relay.forgets = NULL;
	forward_free(server->forward);
	server->forward = NULL;
	for (unsigned i = 0; i < KINDS; i++)
		close_handle((uv_handle_t *)&server->listener[i], NULL);
	close_handle((uv_handle_t *)&server->poll, NULL);
	close_handle((uv_handle_t *)&server->sync, NULL);
	close_handle((uv_handle_t *)&server->news, NULL);
	close_handle((uv_handle_t *)&server->datagrams, NULL);
	close_handle((uv_handle_t *)&server->signal[0], NULL);
	close_handle((uv_handle_t *)&server->signal[1], NULL);
	uv_unref((uv_handle_t *)&server->disk_did);
}

/* ---- viewers that wait for news ---- */

/* Before the loop sleeps, whatever changed the model. */
static void on_news(uv_prepare_t *handle)
{
	struct server *server = handle->data;

	if (server->told == server->relay.changes)
		return;
	server->told = server->relay.changes;
	for (struct connection *connection = server->connections, *next; connection;
	     connection = next) {
		next = connection->next;
		connection_tell(connection);
	}
}

/* ---- life ---- */

static int open_root(const char *path, struct kymo_err *err)
{
	int fd;

	for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
		char *part = strndup(path, (size_t)(slash - path));

		if (part)
			(void)mkdir(part, 0777);	/* open() reports a failure */
		free(part);
	}
	(void)mkdir(path, 0777);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create the directory %s: %s; choose another one with -o", path,
			       strerror(errno));
	return fd;
}

static int begin(struct server *server, struct kymo_err *err)
{
	const struct server_options *options = server->options;
	const uint16_t wanted[KINDS] = { options->control, options->data, options->live };
	uint16_t port[KINDS];

	if (options->forward) {
		server->forward = forward_new(&server->loop, &server->relay, options->forward);
		if (!server->forward)
			return err_no_memory(err);
		server->relay.watcher = server->forward;
		server->relay.forgets = on_forget;
	}
	if (options->datagrams && !(server->relay.datagram_port = receive_datagrams(server, err)))
		return -1;
	for (unsigned i = 0; i < KINDS; i++)
		if (listen_at(server, (enum kind)i, wanted[i], &port[i], err) < 0)
			return -1;
	(void)uv_signal_start(&server->signal[0], on_signal, SIGINT);
	(void)uv_signal_start(&server->signal[1], on_signal, SIGTERM);
	(void)uv_timer_start(&server->poll, on_poll, POLL_MS, POLL_MS);
	(void)uv_timer_start(&server->sync, on_sync, SYNC_MS, SYNC_MS);
	(void)uv_prepare_start(&server->news, on_news);
	if (options->ready)
		options->ready(options->context,
			       &(struct server_ports){ port[CONTROL], port[DATA], port[LIVE],
						       server->relay.datagram_port });
	return 0;
}

static int serve(struct server *server, struct kymo_err *err)
{
	int rc;

	(void)signal(SIGPIPE, SIG_IGN);	/* a write reports that a viewer is gone */
	(void)uv_loop_init(&server->loop);
	for (unsigned i = 0; i < KINDS; i++)
		(void)uv_tcp_init(&server->loop, &server->listener[i]);
	for (unsigned i = 0; i < 2; i++) {
		(void)uv_signal_init(&server->loop, &server->signal[i]);
		server->signal[i].data = server;
	}
	(void)uv_timer_init(&server->loop, &server->poll);
	(void)uv_timer_init(&server->loop, &server->sync);
	(void)uv_prepare_init(&server->loop, &server->news);
	(void)uv_udp_init(&server->loop, &server->datagrams);
	(void)uv_async_init(&server->loop, &server->disk_did, on_disk_did);
	server->poll.data = server->sync.data = server->news.data = server->disk_did.data = server;
	server->relay.store.disk = disk_start(wake, server);
	rc = server->relay.store.disk ? begin(server, err) : err_set(err, KYMO_EXIT_FAILED, "cannot start a thread");
	if (rc == 0)
		(void)uv_run(&server->loop, UV_RUN_DEFAULT);
	server->relay.forgets = NULL;
	forward_free(server->forward);
	server->forward = NULL;
	if (server->relay.store.disk)
		disk_drain(server->relay.store.disk);
	relay_free(&server->relay);
	disk_stop(server->relay.store.disk);
	uv_walk(&server->loop, close_handle, NULL);
	(void)uv_run(&server->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&server->loop);
	return rc;
}

/* Each stream has two files, each client a socket. Return: how many files the streams may have. */
static uint64_t allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);		/* on failure the limit stays */
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	return limit.rlim_cur / 2 + 1;
}

int server_run(const struct server_options *options, struct kymo_err *err)
{
	struct server *server = calloc(1, sizeof(*server));
	int rc;

	if (!server)
		return err_no_memory(err);
	server->options = options;
	server->relay = (struct relay){
		.store = { .root_path = options->output,
			   .sync = options->sync,
			   .say = options->say,
			   .context = options->context },
		.limits = options->limits,
		.half_expires_ns = options->half_expires_ns,
		.now_ns = now_ns,
		.say = options->say,
		.context = options->context,
	};
	server->relay.limits.files = allow_many_files();
	relay_init(&server->relay);
	server->relay.store.root = open_root(options->output, err);
	rc = server->relay.store.root < 0 ? -1 : serve(server, err);
	if (server->relay.store.root >= 0)
		(void)close(server->relay.store.root);
	free(server);
	return rc;
}
