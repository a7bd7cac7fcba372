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
	uint16_t control, data, live, datagram;	/* datagram: 0: none */
};

struct server_options {
	const char *output;		/* directory; made if it is not there */
	const char *address;		/* IPv4 or IPv6, numeric */
	uint16_t control, data, live;	/* ports; 0: any that is free */
	const struct forward_options *forward;	/* where sessions are sent on to; NULL: nowhere */
	struct relay_limits limits;
	bool datagrams;			/* packets may come as datagrams, too, */
	uint16_t datagram;		/* at this port; 0: any that is free */
	unsigned minor;			/* version 2.minor for producers */
	struct tls_context *tls;	/* NULL: none */
	struct token token;		/* that connections have to show; empty: none */
	bool sync;			/* packets are on the medium before a viewer hears of them */
	int64_t half_expires_ns;	/* of a packet; 0: 10 s */
	/* Called in the loop: what happens, a sentence each. Not NULL. */
	void (*say)(void *context, const char *text);
	/* Called once, when all ports are open. May be NULL. */
	void (*ready)(void *context, const struct server_ports *ports);
	void *context;
};

/**
 * server_run() - serve until SIGINT or SIGTERM
 *
 * Return: 0, or -1 with @err filled: a port is taken, the directory cannot be made.
 * Context: blocks; one at a time in a process.
 */
int server_run(const struct server_options *options, struct kymo_err *err);

#endif
