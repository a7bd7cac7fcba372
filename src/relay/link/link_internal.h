/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a link share. Not for others.
 *
 * Context of all functions: the loop's thread.
 */
#ifndef KYMO_RELAY_LINK_INTERNAL_H
#define KYMO_RELAY_LINK_INTERNAL_H

#include "relay/link/link.h"
#include "relay/wire/url.h"

#define LINK_READ_SIZE ((size_t)64 << 10)

enum link_state {
	LINK_LOOKING_UP,
	LINK_CONNECTING,
	LINK_SHAKING_HANDS,
	LINK_GREETING,
	LINK_OPEN,
	LINK_GONE
};

struct link {
	struct link_options options;
	uv_loop_t *loop;
	enum link_state state;
	uv_tcp_t tcp;
	uv_timer_t timer;
	uv_getaddrinfo_t lookup;
	uv_connect_t connect;
	struct addrinfo *addresses, *address;	/* all of the host, and the one that is tried */
	struct tls *tls;
	struct wire_out answer;		/* to the token, as far as it arrived */
	size_t unsent;
	bool looking, has_tcp;
	bool heard;			/* bytes arrived */
	unsigned handles;		/* handles that are not closed, and the look-up */
	struct kymo_err err;
	char host[URL_HOST_MAX], port[8];
	char *buffer;
};

/** link_release() - a handle is closed; the last one frees the link. */
void link_release(struct link *link);

/** link_fail() - end it with link->err: calls ended(), unless it has ended already. Its memory
 * stays until the loop has closed the handles. */
void link_fail(struct link *link);

/** link_begin() - TCP is connected: begin with TLS, then the token; then it is open. */
void link_begin(struct link *link);

#endif
