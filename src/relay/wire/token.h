/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A secret that the two ends of a connection share: whoever knows it may send to the relay and read
 * from it.
 *
 * The token is the first thing on each connection, on all three ports: inside TLS if there is TLS,
 * and before the first byte of LTTng's protocols. The client waits for the answer before it sends
 * anything else. Without a token none of this is sent, because LTTng's own programs do not know it.
 * No message of theirs begins with the magic number, so a relay that requires no token accepts a
 * greeting with one, too.
 *
 *   client                           relay
 *     │ "KYMO" size:u32 token ────────▶ │
 *     │ ◀──────── "KYMO" status:u32     │     1: welcome; 2: refused, and the connection ends
 *     │ first request ────────────────▶ │
 */
#ifndef KYMO_RELAY_TOKEN_H
#define KYMO_RELAY_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "relay/wire/wire.h"

#define TOKEN_MIN	16u		/* bytes */
#define TOKEN_MAX	1024u

struct token {
	size_t size;			/* 0: there is none */
	uint8_t bytes[TOKEN_MAX];
};

/**
 * token_read() - read it from the file @path, without the newlines at its end
 *
 * Return: 0; -1 with @err: the file cannot be read, the token is too short or too long, or others
 * than the file's owner can read it.
 */
int token_read(const char *path, struct token *token, struct kymo_err *err);

/** token_greet() - add the greeting of a client. */
void token_greet(const struct token *token, struct wire_out *out);

enum token_result { TOKEN_WAIT, TOKEN_WELCOME, TOKEN_REFUSED };

/**
 * token_check() - check the first bytes from a client
 * @wanted: the relay's token; if it is empty, everybody is welcome
 * @used: bytes of the greeting, if welcome: the protocol begins behind them
 * @reply: the answer is added to it if there was a greeting
 * @err: the reason, with TOKEN_REFUSED
 *
 * Context: the comparison takes the same time wherever the two differ.
 */
enum token_result token_check(const struct token *wanted, const uint8_t *bytes, size_t size,
			      size_t *used, struct wire_out *reply, struct kymo_err *err);

/** token_answer() - check a relay's answer; as token_check(). */
enum token_result token_answer(const uint8_t *bytes, size_t size, size_t *used,
			       struct kymo_err *err);

#endif
