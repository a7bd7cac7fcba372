/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a link: the host is looked up, and its addresses are tried one after the other. See
 * link.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "relay/link/link_internal.h"

#define KEEPALIVE_S	60

static void try_next(struct link *link, int why);

static void fail_connect(struct link *link, const char *why)
{
	(void)err_set(&link->err, KYMO_EXIT_FAILED, "cannot connect to %s port %s: %s; check that a relay runs there and listens "
		      "at an address that this machine can reach", link->host, link->port, why);
	link_fail(link);
}

static void on_connected(uv_connect_t *connect, int status)
{
	struct link *link = connect->data;

	if (link->state == LINK_GONE)
		return;
	if (status < 0) {
		try_next(link, status);
		return;
	}
	(void)uv_tcp_nodelay(&link->tcp, 1);
	(void)uv_tcp_keepalive(&link->tcp, 1, KEEPALIVE_S);
	link_begin(link);
}

/* A socket that failed to connect can't be used again: create a new one. */
static void on_tcp_closed(uv_handle_t *handle)
{
	struct link *link = handle->data;
	int rc;

	if (link->state == LINK_GONE) {
		link_release(link);
		return;
	}
	(void)uv_tcp_init(link->loop, &link->tcp);
	link->has_tcp = true;
	rc = uv_tcp_connect(&link->connect, &link->tcp, link->address->ai_addr, on_connected);
	if (rc < 0)
		try_next(link, rc);
}

/* Tries the address after the one that failed for @why. */
static void try_next(struct link *link, int why)
{
	link->address = link->address->ai_next;
	if (!link->address) {
		fail_connect(link, uv_strerror(why));
		return;
	}
	link->has_tcp = false;
	uv_close((uv_handle_t *)&link->tcp, on_tcp_closed);
}

static void on_looked_up(uv_getaddrinfo_t *lookup, int status, struct addrinfo *addresses)
{
	struct link *link = lookup->data;
	int rc;

	link->looking = false;
	link->addresses = addresses;
	if (link->state != LINK_GONE && status < 0) {
		fail_connect(link, uv_strerror(status));
	} else if (link->state != LINK_GONE) {
		link->state = LINK_CONNECTING;
		link->address = addresses;
		rc = uv_tcp_connect(&link->connect, &link->tcp, addresses->ai_addr, on_connected);
		if (rc < 0)
			try_next(link, rc);
	}
	link_release(link);
}

/* An address needs no look-up, and so none of the loop's threads. Return: whether it connects. */
static bool connect_address(struct link *link, const struct addrinfo *hints)
{
	struct addrinfo address = *hints;

	address.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
	if (getaddrinfo(link->host, link->port, &address, &link->addresses) != 0)
		return false;
	link->address = link->addresses;
	if (uv_tcp_connect(&link->connect, &link->tcp, link->address->ai_addr, on_connected) == 0) {
		link->state = LINK_CONNECTING;
		return true;
	}
	freeaddrinfo(link->addresses);
	link->addresses = NULL;
	return false;
}

static void on_late(uv_timer_t *timer)
{
	struct link *link = timer->data;

	if (link->state < LINK_SHAKING_HANDS)
		fail_connect(link, "it does not answer");
	else
		fail_connect(link, "connected, but it does not answer; perhaps only one side uses TLS (nets://) or "
			     "a token (--token-file)");
}

static struct link *link_new(uv_loop_t *loop, const struct link_options *options)
{
	struct link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->options = *options;
	link->loop = loop;
	link->buffer = malloc(LINK_READ_SIZE);
	link->tls = options->tls ? tls_new(options->tls, options->host) : NULL;
	if (!link->buffer || (options->tls && !link->tls)) {
		tls_free(link->tls);
		free(link->buffer);
		free(link);
		return NULL;
	}
	if (!link->options.unsent_max)
		link->options.unsent_max = LINK_UNSENT_MAX;
	(void)snprintf(link->host, sizeof(link->host), "%s", options->host);
	link->options.host = link->host;
	(void)snprintf(link->port, sizeof(link->port), "%u", options->port);
	link->tcp.data = link->timer.data = link->lookup.data = link->connect.data = link;
	return link;
}

struct link *link_open(uv_loop_t *loop, const struct link_options *options, struct kymo_err *err)
{
	const struct addrinfo hints = { .ai_family = options->family, .ai_socktype = SOCK_STREAM,
					.ai_protocol = IPPROTO_TCP };
	const int64_t timeout = options->timeout_ns ? options->timeout_ns : LINK_TIMEOUT_NS;
	struct link *link;

	if (options->token && options->token->size && !options->tls &&
	    !host_is_loopback(options->host)) {
		(void)err_set(err, KYMO_EXIT_USAGE, "the token would be sent to %s unencrypted; use TLS (nets://)",
			      options->host);
		return NULL;
	}
	link = link_new(loop, options);
	if (!link) {
		(void)err_no_memory(err);
		return NULL;
	}
	(void)uv_timer_init(loop, &link->timer);
	(void)uv_tcp_init(loop, &link->tcp);
	link->has_tcp = true;
	link->handles = 2;
	(void)uv_timer_start(&link->timer, on_late, (uint64_t)(timeout / 1000000), 0);
	if (connect_address(link, &hints))
		return link;
	link->handles++;
	if (uv_getaddrinfo(loop, &link->lookup, on_looked_up, link->host, link->port, &hints) ==
	    0) {
		link->looking = true;
		return link;
	}
	link->handles--;
	link_close(link);
	(void)err_set(err, KYMO_EXIT_FAILED, "cannot look up the host '%.255s'", options->host);
	return NULL;
}
