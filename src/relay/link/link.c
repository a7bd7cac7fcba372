/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a relay. See link.h. */
#include "relay/link/link_internal.h"

#include <stdlib.h>
#include <string.h>

struct link_piece {
	uv_write_t write;
	struct link *link;
	size_t counted;			/* of the caller's bytes */
	struct wire_out out;
};

static int put(struct link *link, struct wire_out *out, size_t counted);

/* ---- the end ---- */

void link_release(struct link *link)
{
	if (--link->handles)
		return;
	uv_freeaddrinfo(link->addresses);
	tls_free(link->tls);
	wire_out_free(&link->answer);
	free(link->buffer);
	free(link);
}

static void on_closed(uv_handle_t *handle)
{
	link_release(handle->data);
}

/* Tells the other side that nothing was cut off. */
static void say_goodbye(struct link *link)
{
	struct wire_out out = { 0 };

	tls_end(link->tls, &out);
	(void)put(link, &out, 0);
}

void link_close(struct link *link)
{
	if (!link || link->state == LINK_GONE)
		return;
	if (link->state == LINK_OPEN && link->tls)
		say_goodbye(link);
	link->state = LINK_GONE;
	if (link->looking)
		(void)uv_cancel((uv_req_t *)&link->lookup); /* if it is already done, its callback
							       finds the link gone */
	if (link->has_tcp)
		uv_close((uv_handle_t *)&link->tcp, on_closed);
	uv_close((uv_handle_t *)&link->timer, on_closed);
}

void link_fail(struct link *link)
{
	if (link->state == LINK_GONE)
		return;
	link_close(link);
	link->options.ended(link->options.context, &link->err);
}

static void fail_open(struct link *link)
{
	(void)err_wrap(&link->err, "%s port %s", link->host, link->port);
	link_fail(link);
}

static void fail_broken(struct link *link, const char *why)
{
	(void)err_set(&link->err, KYMO_EXIT_FAILED, "lost the connection to the relay at %s port %s: %s", link->host, link->port, why);
	link_fail(link);
}

/* ---- out ---- */

static void on_written(uv_write_t *write, int status)
{
	struct link_piece *piece = write->data;
	struct link *link = piece->link;

	link->unsent -= piece->counted;
	wire_out_free(&piece->out);
	free(piece);
	if (link->state == LINK_GONE)
		return;
	if (status < 0)
		fail_broken(link, uv_strerror(status));
	else if (link->state == LINK_OPEN && link->options.sent)
		link->options.sent(link->options.context, link->unsent);
}

/* Sends the bytes of @out, and empties it; @counted of them are the caller's. */
static int put(struct link *link, struct wire_out *out, size_t counted)
{
	struct link_piece *piece = out->failed || !out->used ? NULL : calloc(1, sizeof(*piece));
	uv_buf_t buffer = uv_buf_init((char *)out->bytes, (unsigned)out->used);
	const int nothing = out->failed || out->used ? -1 : 0;

	if (!piece) {
		wire_out_free(out);
		return nothing;
	}
	*piece = (struct link_piece){ .link = link, .counted = counted, .out = *out };
	piece->write.data = piece;
	*out = (struct wire_out){ 0 };
	link->unsent += counted;
	if (uv_write(&piece->write, (uv_stream_t *)&link->tcp, &buffer, 1, on_written) == 0)
		return 0;
	link->unsent -= counted;
	wire_out_free(&piece->out);
	free(piece);
	return -1;
}

size_t link_unsent(const struct link *link)
{
	return link->unsent;
}

size_t link_room(const struct link *link)
{
	if (link->state != LINK_OPEN || link->unsent >= link->options.unsent_max)
		return 0;
	return link->options.unsent_max - link->unsent;
}

/* Adds plain bytes in the form in which they are sent. */
static int encode(struct link *link, const void *bytes, size_t size, struct wire_out *out)
{
	if (link->tls)
		return tls_send(link->tls, bytes, size, out);
	wire_add_bytes(out, bytes, size);
	return out->failed ? -1 : 0;
}

int link_write(struct link *link, const void *bytes, size_t size)
{
	struct wire_out out = { 0 };

	if (!size)
		return link->state == LINK_OPEN ? 0 : -1;
	if (size > link_room(link))
		return -1;
	if (encode(link, bytes, size, &out) < 0) {
		wire_out_free(&out);
		return -1;
	}
	return put(link, &out, size);
}

/* ---- in ---- */

static void open_now(struct link *link)
{
	link->state = LINK_OPEN;
	(void)uv_timer_stop(&link->timer);
	if (link->options.opened)
		link->options.opened(link->options.context);
}

/* After TLS, or without it: the token is the first thing to send. */
static void greet(struct link *link)
{
	struct wire_out plain = { 0 }, out = { 0 };
	int rc;

	if (!link->options.token || !link->options.token->size) {
		open_now(link);
		return;
	}
	link->state = LINK_GREETING;
	token_greet(link->options.token, &plain);
	rc = plain.failed ? -1 : encode(link, plain.bytes, plain.used, &out);
	wire_out_free(&plain);
	if (rc < 0 || put(link, &out, 0) < 0)
		fail_broken(link, "cannot send the token");
}

static void take_answer(struct link *link, const uint8_t *bytes, size_t size)
{
	struct wire_out answer;
	size_t used;

	wire_add_bytes(&link->answer, bytes, size);
	switch (token_answer(link->answer.bytes, link->answer.used, &used, &link->err)) {
	case TOKEN_WAIT:
		return;
	case TOKEN_REFUSED:
		fail_open(link);
		return;
	case TOKEN_WELCOME:
		break;
	}
	answer = link->answer;
	link->answer = (struct wire_out){ 0 };
	open_now(link);
	if (link->state == LINK_OPEN && answer.used > used)
		link->options.received(link->options.context, answer.bytes + used,
				       answer.used - used);
	wire_out_free(&answer);
}

static void take_plain(struct link *link, const uint8_t *bytes, size_t size)
{
	if (!size || link->state == LINK_GONE)
		return;
	if (link->state == LINK_GREETING)
		take_answer(link, bytes, size);
	else
		link->options.received(link->options.context, bytes, size);
}

static void take_tls(struct link *link, const uint8_t *bytes, size_t size)
{
	struct wire_out plain = { 0 }, out = { 0 };
	const int rc = tls_receive(link->tls, bytes, size, &plain, &out, &link->err);
	const int sent = put(link, &out, 0);

	if (rc < 0)
		fail_open(link);
	else if (sent < 0)
		fail_broken(link, "out of memory");
	else if (link->state == LINK_SHAKING_HANDS && tls_is_open(link->tls))
		greet(link);
	take_plain(link, plain.bytes, plain.used);
	wire_out_free(&plain);
	if (link->state != LINK_GONE && tls_has_ended(link->tls))
		fail_broken(link, "the relay closed it");
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct link *link = handle->data;

	(void)suggested;
	*buffer = uv_buf_init(link->buffer, LINK_READ_SIZE);
}

static void on_bytes(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
	struct link *link = stream->data;

	if (got < 0)
		fail_broken(link, got != UV_EOF ? uv_strerror((int)got) : link->heard ? "the relay closed it" :
			    "the relay closed it without an answer; does it require TLS (nets://) or a token "
			    "(--token-file)?");
	link->heard |= got > 0;
	if (got > 0 && link->tls)
		take_tls(link, (const uint8_t *)buffer->base, (size_t)got);
	else if (got > 0)
		take_plain(link, (const uint8_t *)buffer->base, (size_t)got);
}

int link_peer(const struct link *link, struct sockaddr_storage *peer)
{
	int size = sizeof(*peer);

	return uv_tcp_getpeername(&link->tcp, (struct sockaddr *)peer, &size) == 0 ? 0 : -1;
}

void link_begin(struct link *link)
{
	link->state = LINK_SHAKING_HANDS;
	if (uv_read_start((uv_stream_t *)&link->tcp, on_room, on_bytes) < 0)
		fail_broken(link, "cannot read from it");
	else if (link->tls)
		take_tls(link, NULL, 0);
	else
		greet(link);
}
