/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's end of a connection to a relay, in the caller's event loop: it looks up the host,
 * connects, does TLS and the token, and then carries bytes in both directions.
 *
 *   link_open() ─▶ opened() ─▶ link_write(), received() … ─▶ ended(), or link_close()
 *            └──────────────────────────────────────────────▶ ended(): why it could not be opened
 *
 * Written bytes are sent at once (TCP_NODELAY). What the other side does not accept yet waits in
 * memory, up to a limit. Beyond the limit link_write() refuses; the caller keeps the bytes, or
 * counts them as lost.
 *
 * Context of all functions: the loop's thread; none blocks. Callbacks come from the loop, never
 * from within a function of this file.
 */
#ifndef KYMO_RELAY_LINK_H
#define KYMO_RELAY_LINK_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "relay/wire/tls.h"
#include "relay/wire/token.h"

#define LINK_TIMEOUT_NS	((int64_t)10000000000)
#define LINK_UNSENT_MAX	((size_t)4 << 20)

struct link;

struct link_options {
	const char *host;		/* as in struct url; copied, as all strings here */
	uint16_t port;
	int family;                /* AF_INET, AF_INET6; AF_UNSPEC: any */
	struct tls_context *tls;   /* NULL: no TLS. The caller keeps it until the link has ended */
	const struct token *token; /* NULL or empty: no token. The caller keeps it, too */
	int64_t timeout_ns;        /* until it is open; 0: LINK_TIMEOUT_NS */
	size_t unsent_max;         /* bytes that wait to be sent; 0: LINK_UNSENT_MAX */

	/* link_write() works from now on. May be NULL. */
	void (*opened)(void *context);
	/* @bytes arrived; they are valid until it returns. Not NULL. */
	void (*received)(void *context, const uint8_t *bytes, size_t size);
	/* Some bytes were sent, and @unsent are left; 0: the other side's machine has all. May be
	 * NULL. */
	void (*sent)(void *context, size_t unsent);
	/*
	 * The link could not be opened, or broke, or the other side closed it: @err says which,
	 * with host, port and what to do. The link is freed. Not NULL.
	 */
	void (*ended)(void *context, const struct kymo_err *err);
	void *context;
};

/**
 * link_open() - begin to connect to @options->host
 *
 * A token is sent without TLS only to this machine: with another host, a token and no TLS it fails.
 * Return: NULL with @err: that, or out of memory. All later failures are reported by ended().
 */
struct link *link_open(uv_loop_t *loop, const struct link_options *options, struct kymo_err *err);

/**
 * link_write() - send @size bytes, which are copied: all of them or none
 *
 * Return: 0; -1: the link is not open, or out of memory, or too much waits to be sent; sent() says
 * when there is less.
 */
int link_write(struct link *link, const void *bytes, size_t size);

/** link_room() - how many bytes link_write() would accept now. */
size_t link_room(const struct link *link);

/** link_unsent() - bytes that wait to be sent. */
size_t link_unsent(const struct link *link);

/** link_peer() - the address of the other side. Return: 0; -1: not connected. */
int link_peer(const struct link *link, struct sockaddr_storage *peer);

/**
 * link_close() - end it: no more callbacks; what waits to be sent is dropped
 *
 * The loop frees the memory: it has to run until uv_close() is done. NULL: nothing.
 */
void link_close(struct link *link);

#endif
