/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's end of a connection to a relay: looks the host up, connects, does TLS and the token, and
 * then carries bytes both ways, in a loop of the caller.
 *
 *   link_open() ─▶ opened() ─▶ link_write(), received() … ─▶ ended(), or link_close()
 *            └──────────────────────────────────────────────▶ ended(): why it could not be opened
 *
 * What is written goes out at once (TCP_NODELAY). What the other side does not take waits in memory, up
 * to a limit; then link_write() refuses, and the caller keeps it, or counts it as lost.
 *
 * Context of all functions: the loop's thread; none blocks. Callbacks come from the loop, never from
 * within a function here.
 */
#ifndef KYMO_RELAY_LINK_H
#define KYMO_RELAY_LINK_H

#include <stdbool.h>
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
	int family;			/* AF_INET, AF_INET6; AF_UNSPEC: any */
	struct tls_context *tls;	/* NULL: none. Stays the caller's, until the link is gone */
	const struct token *token;	/* NULL or empty: none. The same */
	int64_t timeout_ns;		/* until it is open; 0: LINK_TIMEOUT_NS */
	size_t unsent_max;		/* bytes that wait to be sent; 0: LINK_UNSENT_MAX */

	/* It may be written to now. May be NULL. */
	void (*opened)(void *context);
	/* Bytes came; they are there until it returns. Not NULL. */
	void (*received)(void *context, const uint8_t *bytes, size_t size);
	/* Something was sent, and @unsent bytes are left: 0 says that the other side's machine has all. May be NULL. */
	void (*sent)(void *context, size_t unsent);
	/*
	 * It could not be opened, or broke, or the other side closed it: @err says which, with host, port and what
	 * to do. The link is no more. Not NULL.
	 */
	void (*ended)(void *context, const struct kymo_err *err);
	void *context;
};

/**
 * link_open() - begin to connect to @options->host
 *
 * A token is sent without TLS to this machine only: to another host, @options with a token and without TLS
 * are refused.
 * Return: NULL with @err filled: that, or no memory. Afterwards all failures come to ended().
 */
struct link *link_open(uv_loop_t *loop, const struct link_options *options, struct kymo_err *err);

/**
 * link_write() - send @size bytes, which are copied: all of them or none
 *
 * Return: 0, or -1: it is not open, there is no memory, or too much waits already: sent() says when there is less.
 */
int link_write(struct link *link, const void *bytes, size_t size);

/** link_room() - how many bytes link_write() would take now. */
size_t link_room(const struct link *link);

/** link_unsent() - bytes that wait to be sent. */
size_t link_unsent(const struct link *link);

/** link_peer() - the address of the other side, which it is connected to. Return: 0; -1: it is not. */
int link_peer(const struct link *link, struct sockaddr_storage *peer);

/** link_pause() - leave what comes where it is, until link_pause(link, false). */
void link_pause(struct link *link, bool pause);

/**
 * link_close() - end it: no callback comes any more; what waits to be sent is dropped
 *
 * The memory is freed by the loop, which has to run until uv_close() is done. NULL: nothing.
 */
void link_close(struct link *link);

#endif
