/* SPDX-License-Identifier: Apache-2.0 */
/*
* Where a relay is, in LTTng's notation with some additions:
 *
 *   SCHEME://HOST[:PORT[:PORT]][/PATH]      HOST: a name, an address, an IPv6 address in brackets
 *
 *   net, tcp      plain TCP over IPv4          net6, tcp6    over IPv6
 *   nets, nets6   TLS over TCP
*   udp, udp6     packets as datagrams, the rest over TCP    udps, udps6: the rest over TLS
 *
 * A producer's URL has two ports, for control and data. A viewer's URL has one port, and its path
 * is host/TARGET[/SESSION], or SESSION alone.
 */
#ifndef KYMO_RELAY_URL_H
#define KYMO_RELAY_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define URL_HOST_MAX	256
#define URL_PATH_MAX	1024

/* Ports of a URL without one. */
#define URL_CONTROL_PORT 5342u
#define URL_DATA_PORT	5343u
#define URL_LIVE_PORT	5344u

enum url_role { URL_PRODUCER, URL_INSIDE, URL_VIEWER }; /* URL_INSIDE: a producer without TLS */

struct url {
	int family;			/* AF_INET or AF_INET6 */
	bool tls, datagrams;
	char host[URL_HOST_MAX]; /* without brackets */
	uint16_t port;           /* control port, or the viewer's; never 0 */
	uint16_t data_port; /* 0: a viewer's URL, or datagrams to the port that the relay names */
	char path[URL_PATH_MAX];    /* a producer's, without its first slash; may be "" */
	char target[URL_HOST_MAX];  /* a viewer's: the traced host, or "" for any */
	char session[URL_PATH_MAX]; /* a viewer's: its session, or "" for any */
};

/**
 * url_parse() - parse @text
 * @role: producer or viewer: which ports and which path it has
 *
 * Return: 0; -1 with @err: what is wrong, and an example of a valid URL.
 * Context: no allocation, no look-up of names.
 */
int url_parse(const char *text, enum url_role role, struct url *url, struct kymo_err *err);

/** url_is_one() - whether @text begins like a URL: SCHEME://, with any scheme. */
bool url_is_one(const char *text);

#endif
