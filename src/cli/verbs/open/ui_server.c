/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread, poll(), and a connection per request: a browser opens six of them, and asks for some
 * twenty files. A connection that asks for nothing gives way when a new one comes and all places
 * are in use.
 */
#include "base/text.h"
#include "cli/verbs/open/ui_server.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/now.h"
#include "cli/verbs/open/ui_reply.h"

#define CONNECTIONS 32
#define REQUEST_MAX 8192
/* Bytes of a file at a time, so that every connection gets its turn. */
#define SEND_MAX (1u << 20)
/* How often *stop is read if a signal came just before poll(). */
#define CHECK_MS 500
/* A page that is loaded again comes back within this time. */
#define AWAY_NS 3000000000

struct ui_connection {
	int socket;     /* -1: free */
	uint64_t since; /* number of the connection: the lowest is the oldest */
	char request[REQUEST_MAX + 1];
	size_t request_size;
	bool replies;
	struct ui_reply reply;
	size_t head_sent;
	off_t body_sent;
};

struct ui_server {
	int listener;
	uint64_t connections; /* so far */
	int64_t begun_ns, wait_ns;
	int64_t busy_ns; /* when the page was last shown or sent */
	bool page_is_all, was_shown;
	struct ui_place place;
	struct ui_connection connection[CONNECTIONS];
};

/* ---- begin ---- */

/* Return: a listening socket; -errno. */
static int listen_on(unsigned port, unsigned *got)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
	socklen_t size = sizeof(address);
	int error;

	if (listener < 0)
		return -errno;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	(void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, CONNECTIONS) ||
	    getsockname(listener, (struct sockaddr *)&address, &size)) {
		error = -errno;
		(void)close(listener);
		return error;
	}
	*got = ntohs(address.sin_port);
	return listener;
}

char *ui_server_name(char name[256], const char *file)
{
	(void)snprintf(name, 256, "%s", text_base_name(file));
	for (char *at = name; *at; at++)
		if (!isascii((unsigned char)*at) ||
		    (!isalnum((unsigned char)*at) && !strchr("._-", *at)))
			*at = '_';
	return name;
}

static int set_folder(struct ui_place *place, const char *folder, struct kymo_err *err)
{
	char index[PATH_MAX];

	if (!realpath(folder, place->folder))
		return err_set(err, KYMO_EXIT_INPUT, "--ui: cannot read %s: %s", folder,
			       strerror(errno));
	if (strlen(place->folder) + sizeof("/index.html") > sizeof(index) ||
	    !strcmp(place->folder, "/"))
		return err_set(err, KYMO_EXIT_INPUT, "--ui: %s is not a folder with a Perfetto UI",
			       folder);
	(void)snprintf(index, sizeof(index), "%.*s/index.html", PATH_MAX - 16, place->folder);
	if (access(index, R_OK))
		return err_set(
			err, KYMO_EXIT_INPUT,
			"--ui: %s has no index.html; name the folder of a Perfetto UI, such as "
			"ui/out/dist of its sources, or an address that begins with http://",
			folder);
	return 0;
}

static int set_place(struct ui_place *place, const struct ui_server_options *options,
		     struct kymo_err *err)
{
	const char *trace = options->trace ? options->trace : "";
	uint64_t key;

	if (options->folder && set_folder(place, options->folder, err))
		return -1;
	if (strlen(trace) >= sizeof(place->trace))
		return err_set(err, KYMO_EXIT_INPUT, "%s: %s", trace, strerror(ENAMETOOLONG));
	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		return err_set(err, KYMO_EXIT_FAILED, "cannot get a random number: %s",
			       strerror(errno));
	(void)snprintf(place->trace, sizeof(place->trace), "%s", trace);
	(void)snprintf(place->key, sizeof(place->key), "%016llx", (unsigned long long)key);
	(void)snprintf(place->name, sizeof(place->name), "%s", options->name ? options->name : "");
	place->page = options->page;
	place->page_size = options->page_size;
	place->page_head = options->page_head;
	return 0;
}

int ui_server_begin(const struct ui_server_options *options, struct ui_server **server,
		    struct kymo_err *err)
{
	struct ui_server *self = calloc(1, sizeof(*self));
	const unsigned port = options->port;
	struct ui_place *place;

	*server = NULL;
	if (!self)
		return err_no_memory(err);
	place = &self->place;
	for (unsigned i = 0; i < CONNECTIONS; i++)
		self->connection[i].socket = -1;
	self->listener = -1;
	self->begun_ns = now_ns();
	self->wait_ns = options->wait_ns;
	self->page_is_all = options->page_is_all;
	if (set_place(place, options, err)) {
		ui_server_end(self);
		return -1;
	}
	self->listener = listen_on(port ? port : UI_SERVER_PORT, &place->port);
	if (self->listener == -EADDRINUSE && !port)
		self->listener = listen_on(0, &place->port);
	if (self->listener < 0) {
		(void)err_set(err, KYMO_EXIT_FAILED,
			      "cannot listen on 127.0.0.1:%u: %s; choose another port with --port",
			      port ? port : UI_SERVER_PORT, strerror(-self->listener));
		ui_server_end(self);
		return -1;
	}
	(void)snprintf(place->address, sizeof(place->address), "http://127.0.0.1:%u/%s",
		       place->port, place->key);
	*server = self;
	return 0;
}

const char *ui_server_address(const struct ui_server *server)
{
	return server->place.address;
}

unsigned ui_server_port(const struct ui_server *server)
{
	return server->place.port;
}

/* ---- connections ---- */

static void drop(struct ui_connection *connection)
{
	if (connection->replies && connection->reply.file >= 0)
		(void)close(connection->reply.file);
	(void)close(connection->socket);
	memset(connection, 0, sizeof(*connection));
	connection->socket = -1;
}

/* A free place, or that of the connection that is oldest and asks for nothing. Return: NULL: every
 * one gets a reply. */
static struct ui_connection *place_for(struct ui_server *server)
{
	struct ui_connection *oldest = NULL;

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		struct ui_connection *connection = &server->connection[i];

		if (connection->socket < 0)
			return connection;
		if (!connection->replies && (!oldest || connection->since < oldest->since))
			oldest = connection;
	}
	if (oldest)
		drop(oldest);
	return oldest;
}

static void take(struct ui_server *server)
{
	const int socket = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ui_connection *connection = socket < 0 ? NULL : place_for(server);

	if (!connection) {
		if (socket >= 0)
			(void)close(socket);
		return;
	}
	connection->socket = socket;
	connection->since = ++server->connections;
}

/* Return: false: the connection is over. */
static bool receive(const struct ui_place *place, struct ui_connection *connection)
{
	const ssize_t size =
		recv(connection->socket, connection->request + connection->request_size,
		     REQUEST_MAX - connection->request_size, 0);

	if (size <= 0)
		return size < 0 && (errno == EAGAIN || errno == EINTR);
	connection->request_size += (size_t)size;
	connection->request[connection->request_size] = 0;
	if (strlen(connection->request) < connection->request_size)
		ui_reply_error("400 Bad Request", &connection->reply);
	else if (strstr(connection->request, "\r\n\r\n"))
		ui_reply(place, connection->request, &connection->reply);
	else if (connection->request_size == REQUEST_MAX)
		ui_reply_error("431 Request Header Fields Too Large", &connection->reply);
	else
		return true;
	connection->replies = true;
	return true;
}

/* Return: false: the connection is over, usually because all was sent. */
static bool send_head(struct ui_connection *connection)
{
	const struct ui_reply *reply = &connection->reply;
	const ssize_t size = send(connection->socket, reply->head + connection->head_sent,
				  reply->head_size - connection->head_sent,
				  MSG_NOSIGNAL | (reply->size ? MSG_MORE : 0));

	if (size > 0)
		connection->head_sent += (size_t)size;
	return size > 0 ? connection->head_sent < reply->head_size || reply->size || reply->stays
			: errno == EAGAIN || errno == EINTR;
}

/* Whether a connection that stays is still open; what the browser sends on it means nothing. */
static bool is_open(const struct ui_connection *connection)
{
	char text[256];
	const ssize_t size = recv(connection->socket, text, sizeof(text), 0);

	return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool stays_now(const struct ui_connection *connection)
{
	return connection->replies && connection->reply.stays &&
	       connection->head_sent == connection->reply.head_size;
}

static bool reply(struct ui_server *server, struct ui_connection *connection)
{
	const struct ui_reply *reply = &connection->reply;
	const uint64_t rest = reply->size - (uint64_t)connection->body_sent;
	const size_t part = rest < SEND_MAX ? (size_t)rest : SEND_MAX;
	ssize_t size;

	if (connection->head_sent < reply->head_size)
		return send_head(connection);
	if (reply->stays)
		return is_open(connection);
	if (!rest)
		return false;
	if (reply->file >= 0)
		size = sendfile(connection->socket, reply->file, &connection->body_sent, part);
	else
		size = send(connection->socket, reply->text + connection->body_sent, part,
			    MSG_NOSIGNAL);
	if (size > 0 && reply->file < 0)
		connection->body_sent += size;
	if (size > 0 && (uint64_t)connection->body_sent == reply->size && reply->is_page &&
	    server->page_is_all) {
		server->was_shown = true;
		server->busy_ns = now_ns();
	}
	if (size > 0)
		return (uint64_t)connection->body_sent < reply->size;
	return size < 0 && (errno == EAGAIN || errno == EINTR);
}

static void serve(struct ui_server *server, const struct pollfd *waited, const unsigned *of,
		  unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct ui_connection *connection = &server->connection[of[i]];

		if (!waited[i].revents)
			continue;
		if (!(connection->replies ? reply(server, connection)
					  : receive(&server->place, connection)))
			drop(connection);
	}
}

/* Whether the browser has all that it needs, or is gone. */
static bool is_done(struct ui_server *server)
{
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		const struct ui_connection *connection = &server->connection[i];

		if (connection->socket >= 0 && stays_now(connection)) {
			server->was_shown = true;
			server->busy_ns = now_ns();
		}
	}
	return server->was_shown && now_ns() - server->busy_ns > AWAY_NS;
}

static int check_patience(const struct ui_server *server, struct kymo_err *err)
{
	if (server->was_shown || now_ns() - server->begun_ns < server->wait_ns)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED,
		       "no browser opened the address in time; run it again, with --wait for more time");
}

int ui_server_run(struct ui_server *server, const volatile sig_atomic_t *stop, struct kymo_err *err)
{
	struct pollfd waited[1 + CONNECTIONS];
	unsigned of[CONNECTIONS];

	(void)signal(SIGPIPE, SIG_IGN); /* sendfile() has no MSG_NOSIGNAL */
	while (!*stop && !is_done(server)) {
		unsigned count = 0;

		if (check_patience(server, err))
			return -1;

		waited[0] = (struct pollfd){ .fd = server->listener, .events = POLLIN };
		for (unsigned i = 0; i < CONNECTIONS; i++) {
			const struct ui_connection *connection = &server->connection[i];

			if (connection->socket < 0)
				continue;
			of[count++] = i;
			waited[count] = (struct pollfd){
				.fd = connection->socket,
				.events = connection->replies && !stays_now(connection) ? POLLOUT
											: POLLIN
			};
		}
		if (poll(waited, 1 + count, CHECK_MS) < 0) {
			if (errno == EINTR)
				continue;
			return err_set(err, KYMO_EXIT_FAILED, "cannot wait for the browser: %s",
				       strerror(errno));
		}
		serve(server, waited + 1, of, count);
		if (waited[0].revents)
			take(server);
	}
	return 0;
}

void ui_server_end(struct ui_server *server)
{
	if (!server)
		return;
	for (unsigned i = 0; i < CONNECTIONS; i++)
		if (server->connection[i].socket >= 0)
			drop(&server->connection[i]);
	if (server->listener >= 0)
		(void)close(server->listener);
	free(server);
}
