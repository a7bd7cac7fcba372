/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket that sends a sender's datagrams. It never waits. It is paced, because datagrams that find the relay's
 * socket full are lost.
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

#define DATAGRAMS_EACH	1024u		/* what a datagram costs in addition: about what the kernel stores beside it */
#define DATAGRAMS_RATE	((uint64_t)32 << 20)	/* bytes a second, including that */
#define DATAGRAMS_BURST	((uint64_t)64 << 10)	/* bytes at once: a third of what a Linux socket stores by default */

struct datagrams {
	int fd;				/* -1: closed */
	uint64_t room;			/* bytes that may be sent now */
	uint64_t since_ns;		/* when room was computed */
};

/**
 * datagrams_open() - to port @port of the relay's machine
 * @relay: its address, IPv4 or IPv6, with any port
 *
 * Return: 0; -1 with @err.
 */
int datagrams_open(struct datagrams *datagrams, const struct sockaddr_storage *relay, uint16_t port, struct kymo_err *err);

/**
 * datagrams_send() - send as many as the pace allows, and remove them from @queue: u32 size, datagram, u32 size, ...
 * @now_ns: CLOCK_MONOTONIC
 *
 * A datagram that the kernel refuses for good (no route, too large) is lost.
 * Return: whether some were sent.
 */
bool datagrams_send(struct datagrams *datagrams, struct wire_out *queue, uint64_t now_ns);

/** datagrams_close() - does nothing if it is closed. */
void datagrams_close(struct datagrams *datagrams);

#endif
