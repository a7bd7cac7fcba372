/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relays in a chain: this relay sends its sessions on to another relay. Each session becomes a
 * session there, with the same name and host. Packets are read from the files, as for a viewer. So
 * nothing is kept in memory for a relay that is slow or gone, and nothing here waits for it.
 *
 *   producer ─▶ relay ─ files ─▶ forward ─▶ relay ─▶ viewers
 *
 * When the connection is lost, a new one is opened, and the session begins there anew with its
 * first packet: of two sessions there, the later one is complete. A session that returns through a
 * circle of relays is not sent a second time. Snapshots are not sent on.
 *
 * Context of all functions: the loop's thread; files are read in libuv's.
 */
#ifndef KYMO_RELAY_FORWARD_H
#define KYMO_RELAY_FORWARD_H

#include <uv.h>

#include "relay/model/relay_model.h"
#include "relay/wire/tls.h"
#include "relay/wire/token.h"
#include "relay/wire/url.h"

struct forward;

struct forward_options {
	struct url url;
	struct tls_context *tls;	/* outlives it; NULL: none */
	const struct token *token;	/* the same */
};

/** forward_new() - Return: NULL: out of memory. */
struct forward *forward_new(uv_loop_t *loop, struct relay *relay,
			    const struct forward_options *options);

/** forward_poll() - send what is new. Call it every tenth of a second. */
void forward_poll(struct forward *forward);

/** forward_forget() - the relay forgets a session; its files stay. */
void forward_forget(struct forward *forward, const struct relay_session *session);

/** forward_free() - the loop has to run until its handles are closed. NULL: nothing. */
void forward_free(struct forward *forward);

#endif
