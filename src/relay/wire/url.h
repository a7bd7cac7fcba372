/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a relay is, as LTTng writes it, and a bit more:
 *
 *   SCHEME://HOST[:PORT[:PORT]][/PATH]      HOST: a name, an address, an IPv6 address in brackets
 *
 *   net, tcp      plain TCP over IPv4          net6, tcp6    over IPv6
 *   nets, nets6   TLS over TCP
 *   udp, udp6     packets as datagrams, all else over TCP    udps, udps6: all else over TLS
 *
 * A producer's ports are those for control and data, a viewer's is one; its path is
 * host/TARGET[/SESSION], or SESSION alone.
 */
#ifndef KYMO_RELAY_URL_H
#define KYMO_RELAY_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define URL_HOST_MAX	256
#define URL_PATH_MAX	1024

/* The ports when none is said. */
#define URL_CONTROL_PORT 5342u
#define URL_DATA_PORT	5343u
#define URL_LIVE_PORT	5344u

enum url_role { URL_PRODUCER, URL_VIEWER };

struct url {
	int family;			/* AF_INET or AF_INET6 */
	bool tls, datagrams;
	char host[URL_HOST_MAX];	/* without brackets */
	uint16_t port;			/* control, or a viewer's; never 0 */
	uint16_t data_port;		/* with datagrams: that for them, 0: as the relay says. 0 of a viewer */
	char path[URL_PATH_MAX];	/* of a producer: without the first slash; may be "" */
	char target[URL_HOST_MAX];	/* of a viewer: the traced host, or "": any */
	char session[URL_PATH_MAX];	/* of a viewer: its session, or "": any */
};

/**
 * url_parse() - take @text apart
 * @role: whose it is: which ports and which path it has
 *
 * Return: 0, or -1 with @err filled: what is wrong in it, and how one looks.
 * Context: no allocation, no look-up of names.
 */
int url_parse(const char *text, enum url_role role, struct url *url, struct kymo_err *err);

/** url_is_one() - whether @text begins as one: SCHEME://, whatever the scheme. */
bool url_is_one(const char *text);

/** url_is_loopback() - whether @host, a name or a numeric address, is this machine for certain. */
bool url_is_loopback(const char *host);

#endif
