/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_http.h: connections. */
#include "serve/serve_http_internal.h"

#include <stdlib.h>
#include <string.h>

#define CONNECTIONS 32u
#define REQUEST_MAX 8192u
#define REQUEST_MS 10000u

struct http_connection {
	uv_tcp_t tcp;
	uv_timer_t timer;
	struct serve_http *http; /* NULL: the place is free */
	struct tls *tls;
	unsigned closing; /* handles that are still open */
	bool replied, ending;
	uint64_t since;
	struct wire_out request; /* what arrived, decrypted */
	char received[4096];
};

struct reply {
	uv_write_t write;
	struct wire_out out;
	struct http_connection *connection;
	bool last;
};

struct serve_http {
	struct serve_http_options options;
	uv_loop_t *loop;
	uv_tcp_t listener;
	unsigned port;
	bool loopback;
	uint64_t count;
	struct http_connection connection[CONNECTIONS];
};

/* ---- connections ---- */

static void on_closed(uv_handle_t *handle)
{
	struct http_connection *connection = handle->data;

	if (--connection->closing)
		return;
	tls_free(connection->tls);
	wire_out_free(&connection->request);
	memset(connection, 0, sizeof(*connection));
}

static void drop(struct http_connection *connection)
{
	if (connection->ending)
		return;
	connection->ending = true;
	connection->closing = 2;
	uv_close((uv_handle_t *)&connection->tcp, on_closed);
	uv_close((uv_handle_t *)&connection->timer, on_closed);
}

static void on_time(uv_timer_t *timer)
{
	drop(timer->data);
}

static void on_sent(uv_write_t *write, int status)
{
	struct reply *reply = write->data;
	struct http_connection *connection = reply->connection;
	const bool last = reply->last;

	wire_out_free(&reply->out);
	free(reply);
	if (status || last)
		drop(connection);
}

/* @out becomes empty. */
static void send_out(struct http_connection *connection, struct wire_out *out, bool last)
{
	struct reply *reply = out->failed ? NULL : calloc(1, sizeof(*reply));
	uv_buf_t buffer;

	if (!reply) {
		wire_out_free(out);
		drop(connection);
		return;
	}
	reply->out = *out;
	memset(out, 0, sizeof(*out));
	reply->connection = connection;
	reply->last = last;
	reply->write.data = reply;
	buffer = uv_buf_init((char *)reply->out.bytes, (unsigned)reply->out.used);
	if (uv_write(&reply->write, (uv_stream_t *)&connection->tcp, &buffer, 1, on_sent)) {
		wire_out_free(&reply->out);
		free(reply);
		drop(connection);
	}
}

/* ---- requests ---- */

static void reply(struct http_connection *connection, char *request)
{
	struct serve_http *http = connection->http;
	const char *type = "text/plain; charset=utf-8";
	struct wire_out plain = { 0 }, out = { 0 };
	char *page = NULL, head[512];
	size_t size = 0;
	FILE *file = open_memstream(&page, &size);
	int status = file ? http_answer(&http->options, http->loopback, request, file, &type) : 500;

	if (file && status != 200)
		fprintf(file, "%s\n", http_status_text(status));
	if (!file || fclose(file))
		status = 500;
	snprintf(head, sizeof(head),
		 "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
		 "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s%s\r\n",
		 http_status_text(status), type, size, status == 405 ? "Allow: GET\r\n" : "",
		 status == 401 ? "WWW-Authenticate: Bearer\r\n" : "");
	wire_add_bytes(&plain, head, strlen(head));
	wire_add_bytes(&plain, page, size);
	free(page);
	connection->replied = true;
	if (!connection->tls) {
		send_out(connection, &plain, true);
		return;
	}
	if (plain.failed || tls_send(connection->tls, plain.bytes, plain.used, &out))
		out.failed = true;
	else
		tls_end(connection->tls, &out);
	wire_out_free(&plain);
	send_out(connection, &out, true);
}

static void read_request(struct http_connection *connection)
{
	struct wire_out *request = &connection->request;

	if (request->failed || request->used > REQUEST_MAX ||
	    (request->used && memchr(request->bytes, 0, request->used))) {
		drop(connection);
		return;
	}
	wire_add_bytes(request, "", 1);
	request->used--;
	if (!request->failed && request->used && strstr((char *)request->bytes, "\r\n\r\n"))
		reply(connection, (char *)request->bytes);
}

static void receive(struct http_connection *connection, const char *bytes, size_t size)
{
	struct wire_out out = { 0 };
	struct kymo_err err;
	int rc;

	if (!connection->tls) {
		wire_add_bytes(&connection->request, bytes, size);
		read_request(connection);
		return;
	}
	rc = tls_receive(connection->tls, (const uint8_t *)bytes, size, &connection->request, &out,
			 &err);
	if (out.used)
		send_out(connection, &out, rc < 0);
	else if (rc < 0)
		drop(connection);
	if (rc == 0 && !connection->ending && connection->request.used)
		read_request(connection);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct http_connection *connection = handle->data;

	(void)suggested;
	*buffer = uv_buf_init(connection->received, sizeof(connection->received));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct http_connection *connection = stream->data;

	if (size < 0)
		drop(connection);
	else if (size && !connection->replied && !connection->ending)
		receive(connection, buffer->base, (size_t)size);
}

/* A free place; without one, the oldest connection ends, and its place is free for the next one. */
static struct http_connection *place_for(struct serve_http *http)
{
	struct http_connection *oldest = NULL;

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		struct http_connection *connection = &http->connection[i];

		if (!connection->http)
			return connection;
		if (!connection->ending && (!oldest || connection->since < oldest->since))
			oldest = connection;
	}
	if (oldest)
		drop(oldest);
	return NULL;
}

static void on_refused(uv_handle_t *handle)
{
	free(handle);
}

static void refuse(struct serve_http *http)
{
	uv_tcp_t *tcp = calloc(1, sizeof(*tcp));

	if (!tcp || uv_tcp_init(http->loop, tcp)) {
		free(tcp);
		return;
	}
	(void)uv_accept((uv_stream_t *)&http->listener, (uv_stream_t *)tcp);
	uv_close((uv_handle_t *)tcp, on_refused);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct serve_http *http = listener->data;
	struct http_connection *connection = status ? NULL : place_for(http);

	if (status)
		return;
	if (!connection) {
		refuse(http);
		return;
	}
	if (uv_tcp_init(http->loop, &connection->tcp))
		return;
	(void)uv_timer_init(http->loop, &connection->timer);
	connection->http = http;
	connection->since = ++http->count;
	connection->tcp.data = connection->timer.data = connection;
	(void)uv_timer_start(&connection->timer, on_time, REQUEST_MS, 0);
	if (http->options.tls)
		connection->tls = tls_new(http->options.tls, NULL);
	if ((http->options.tls && !connection->tls) ||
	    uv_accept(listener, (uv_stream_t *)&connection->tcp) ||
	    uv_read_start((uv_stream_t *)&connection->tcp, on_room, on_read))
		drop(connection);
}

/* ---- life cycle ---- */

static int address_of(const struct serve_http_options *options, struct sockaddr_storage *address,
		      bool *loopback)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;

	if (!uv_ip4_addr(options->address, (int)options->port, v4)) {
		*loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
		return 0;
	}
	if (uv_ip6_addr(options->address, (int)options->port, v6))
		return -1;
	*loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
	return 0;
}

static int listen_on(struct serve_http *http, const struct sockaddr_storage *address)
{
	struct sockaddr_storage bound;
	int size = sizeof(bound), rc;

	rc = uv_tcp_bind(&http->listener, (const struct sockaddr *)address, 0);
	if (!rc)
		rc = uv_listen((uv_stream_t *)&http->listener, CONNECTIONS, on_connection);
	if (!rc)
		rc = uv_tcp_getsockname(&http->listener, (struct sockaddr *)&bound, &size);
	if (!rc)
		http->port = ntohs(bound.ss_family == AF_INET
					   ? ((struct sockaddr_in *)&bound)->sin_port
					   : ((struct sockaddr_in6 *)&bound)->sin6_port);
	return rc;
}

int serve_http_begin(struct serve_http **out, uv_loop_t *loop,
		     const struct serve_http_options *options, struct kymo_err *err)
{
	struct serve_http *http = calloc(1, sizeof(*http));
	struct sockaddr_storage address;
	int rc;

	if (!http)
		return err_no_memory(err);
	http->options = *options;
	http->loop = loop;
	if (address_of(options, &address, &http->loopback)) {
		free(http);
		return err_set(err, KYMO_EXIT_USAGE,
			       "--listen: %s is not a numeric address, such as 127.0.0.1",
			       options->address);
	}
	(void)uv_tcp_init(loop, &http->listener);
	http->listener.data = http;
	rc = listen_on(http, &address);
	*out = http;
	if (!rc)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED,
		       "cannot listen on %s:%u: %s; choose another place with --listen",
		       options->address, options->port, uv_strerror(rc));
}

unsigned serve_http_port(const struct serve_http *http)
{
	return http->port;
}

void serve_http_end(struct serve_http *http)
{
	for (unsigned i = 0; i < CONNECTIONS; i++)
		if (http->connection[i].http)
			drop(&http->connection[i]);
	if (!uv_is_closing((uv_handle_t *)&http->listener))
		uv_close((uv_handle_t *)&http->listener, NULL);
}

void serve_http_free(struct serve_http *http)
{
	free(http);
}
