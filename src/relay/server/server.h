/* SPDX-License-Identifier: Apache-2.0 */
/* The relay as a server: three ports, one loop, one thread for the disk. */
#ifndef KYMO_RELAY_SERVER_H
#define KYMO_RELAY_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "relay/forward/forward.h"
#include "relay/wire/tls.h"
#include "relay/wire/token.h"


struct server_ports {
	uint16_t control, data, live, datagram;	/* datagram: 0: closed */
};

struct server_options {
	const char *output;		/* directory; created if it does not exist */
	const char *address;		/* IPv4 or IPv6, numeric */
	uint16_t control, data, live;	/* ports; 0: any free port */
	const struct forward_options *forward;	/* where sessions are sent on to; NULL: nowhere */
	struct relay_limits limits;
	bool datagrams;			/* accept packets as datagrams, too, */
	uint16_t datagram;		/* at this port; 0: any free port */
	unsigned minor;			/* version 2.minor is announced */
	struct tls_context *tls;	/* NULL: none */
	struct token token;		/* that connections must present; empty: none */
	bool sync;			/* packets are on the disk before viewers learn of them */
	int64_t half_expires_ns;	/* how long half a packet waits for the other; 0: 10 s */
	/* Called in the loop, with a sentence about what happened. Not NULL. */
	void (*say)(void *context, const char *text);
	/* Called once, when all ports are open. May be NULL. */
	void (*ready)(void *context, const struct server_ports *ports);
	void *context;
};

/**
 * server_run() - serve until SIGINT or SIGTERM
 *
 * Return: 0; -1 with @err: a port is in use, or the directory cannot be created.
 * Context: blocks; only one at a time in a process.
 */
int server_run(const struct server_options *options, struct kymo_err *err);

#endif
