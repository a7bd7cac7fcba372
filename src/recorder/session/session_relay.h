/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session inside of a program needs to send to a relay. The sender stands above the
 * recorder: relay/send/send_inside.c has these functions. A program that is linked without them, as
 * unit tests are, cannot send: then their addresses are NULL.
 *
 * Context of all functions: the session's thread.
 */
#ifndef KYMO_RECORDER_SESSION_RELAY_H
#define KYMO_RECORDER_SESSION_RELAY_H

#include <stdint.h>

#include "base/err.h"

struct sink;
struct session_relay;

struct session_relay_options {
	const char *token_file;		/* NULL: no token */
	uint64_t spool_size;		/* bytes; 0: the default */
	uint64_t patience_ns;		/* for what is left, at the end; 0: the default */
	const char *version;		/* of kymo */
	void (*say)(void *context, const char *text);
	void *context;
};

/**
 * session_relay_open() - begin to send to @url
 *
 * The relay need not be reachable yet. Return: 0, *@relay, and *@sink for the session; -1 with
 * @err.
 */
__attribute__((weak)) int session_relay_open(const char *url,
					     const struct session_relay_options *options,
					     struct session_relay **relay, struct sink **sink,
					     struct kymo_err *err);

/**
 * session_relay_end() - free @relay, whose sink is closed
 * @relay: NULL: nothing
 *
 * Return: 0; -1 with @err: what the relay is not known to have.
 */
__attribute__((weak)) int session_relay_end(struct session_relay *relay, struct kymo_err *err);

#endif
