/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A secret that the two ends of a connection share: who has it may send to the relay, and read from it.
 *
 * It is the first thing on the connection, inside TLS if there is TLS, before the first byte of
 * LTTng's protocols, on all three ports alike; the answer comes before anything else may be sent.
 * Without a token there is nothing: LTTng's own programs do not know of it. No message of theirs
 * begins with its magic number, so a relay takes a greeting also when it asks for none.
 *
 *   client                           relay
 *     │ "KYMO" size:u32 token ────────▶ │
 *     │ ◀──────── "KYMO" status:u32     │     1: welcome; 2: refused, and the connection ends
 *     │ first request ────────────────▶ │
 */
#ifndef KYMO_RELAY_TOKEN_H
#define KYMO_RELAY_TOKEN_H

#include <stdbool.h>
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
 * token_read() - from the file @path: its bytes without the newlines at its end
 *
 * Return: 0, or -1 with @err filled: it cannot be read, it is too short, or others than its owner can
 * read it.
 */
int token_read(const char *path, struct token *token, struct kymo_err *err);

/** token_greet() - add the greeting of a client. */
void token_greet(const struct token *token, struct wire_out *out);

enum token_result { TOKEN_WAIT, TOKEN_WELCOME, TOKEN_REFUSED };

/**
 * token_check() - look at what came first from a client
 * @wanted: what is asked for; without one, everybody is welcome
 * @used: of @bytes, when welcome: what follows is the protocol's
 * @reply: the answer is added to it if there was a greeting
 * @err: filled with TOKEN_REFUSED: why
 *
 * Context: the comparison takes the same time wherever the two differ.
 */
enum token_result token_check(const struct token *wanted, const uint8_t *bytes, size_t size, size_t *used,
			      struct wire_out *reply, struct kymo_err *err);

/** token_answer() - look at what a relay answered; as token_check(). */
enum token_result token_answer(const uint8_t *bytes, size_t size, size_t *used, struct kymo_err *err);

#endif
