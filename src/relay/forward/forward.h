/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relays in a chain: what a relay has it sends on to another one. Each of its sessions becomes one there, with
 * the same name and host; packets are read from the files as a viewer reads them, so nothing is kept in memory
 * for a relay that is slow or gone, and nothing here waits for it.
 *
 *   producer ─▶ relay ─ files ─▶ forward ─▶ relay ─▶ viewers
 *
 * When the connection is lost it is tried again, and the session begins there anew, from its beginning: the one that is complete is
 * the later one. Sessions that come round in a circle are not sent on a second time, snapshots not at all.
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

/** forward_new() - Return: NULL: no memory. */
struct forward *forward_new(uv_loop_t *loop, struct relay *relay, const struct forward_options *options);

/** forward_look() - send on what is new. Call it every tenth of a second. */
void forward_look(struct forward *forward);

/** forward_forget() - the relay forgets a session, which stays in its files. */
void forward_forget(struct forward *forward, const struct relay_session *session);

/** forward_free() - the loop has to run until its handles are closed. NULL: nothing. */
void forward_free(struct forward *forward);

#endif
