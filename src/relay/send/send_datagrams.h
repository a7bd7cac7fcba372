/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket that a sender's datagrams go to a relay by: it never waits, and it is paced, because what a relay's
 * socket has no room for is lost.
 *
 * Context of all functions: one thread; none blocks.
 */
#ifndef KYMO_RELAY_SEND_DATAGRAMS_H
#define KYMO_RELAY_SEND_DATAGRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "relay/wire/wire.h"

#define DATAGRAMS_EACH	1024u		/* bytes more that one costs: about what the system keeps beside it */
#define DATAGRAMS_RATE	((uint64_t)32 << 20)	/* bytes a second, with those */
#define DATAGRAMS_BURST	((uint64_t)64 << 10)	/* at once: a third of what a socket of Linux keeps by default */

struct datagrams {
	int fd;				/* -1: closed */
	uint64_t room;			/* bytes that may go now */
	uint64_t since_ns;		/* that was so */
};

/**
 * datagrams_open() - towards the machine of @relay, port @port
 * @relay: an address of it, IPv4 or IPv6, of any port
 *
 * Return: 0; -1 with @err.
 */
int datagrams_open(struct datagrams *datagrams, const struct sockaddr_storage *relay, uint16_t port, struct kymo_err *err);

/**
 * datagrams_send() - as many as may go now, taken out of @queue: u32 size and a datagram, one behind the other
 * @now_ns: CLOCK_MONOTONIC
 *
 * One that the system refuses for good (no route, too large for one) is lost, as on the way.
 * Return: whether some went.
 */
bool datagrams_send(struct datagrams *datagrams, struct wire_out *queue, uint64_t now_ns);

/** datagrams_close() - fine when it is closed. */
void datagrams_close(struct datagrams *datagrams);

#endif
