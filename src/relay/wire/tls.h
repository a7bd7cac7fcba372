/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS between bytes of a socket and bytes of a protocol. It knows of no socket: what came is given to
 * it, what is to be sent is taken from it.
 *
 *   socket ── tls_receive() ──▶ plain bytes ──▶ protocol
 *          ◀── out ────────────── tls_send() ◀──
 *
 * TLS 1.2 and 1.3, without renegotiation and compression. In a build without OpenSSL, tls_is_built()
 * is false and no context can be made.
 *
 * Context of all functions: a connection belongs to one thread; they allocate and do not block, but for
 * those that read files.
 */
#ifndef KYMO_RELAY_TLS_H
#define KYMO_RELAY_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "relay/wire/wire.h"

#define TLS_PIN_TEXT 65			/* SHA-256 as hexadecimal digits, with the NUL */

struct tls_context;			/* what connections of one side have in common */
struct tls;				/* a connection */

bool tls_is_built(void);

/**
 * tls_serve() - a relay's side
 * @certificate, @key: PEM files; the first is the chain, beginning with the relay's own certificate
 *
 * Return: NULL with @err filled: which file is wrong, and how. Context: reads files.
 */
struct tls_context *tls_serve(const char *certificate, const char *key, struct kymo_err *err);

/**
 * tls_call() - a client's side
 * @ca: PEM file with the certificates that may have signed a relay's; NULL: those that the system trusts
 * @pin: SHA-256 of the relay's certificate, 64 hexadecimal digits (":" between them are skipped); then it is that
 *       certificate and no other, and its signature, name and dates do not matter. NULL: they do
 *
 * Return: NULL with @err filled. Context: reads files.
 */
struct tls_context *tls_call(const char *ca, const char *pin, struct kymo_err *err);

/** tls_context_free() - connections that are there keep what they need. NULL: nothing. */
void tls_context_free(struct tls_context *context);

/** tls_fingerprint() - of the certificate that @context serves, as --tls-pin takes it. */
void tls_fingerprint(const struct tls_context *context, char text[TLS_PIN_TEXT]);

/**
 * tls_new() - a connection
 * @host: of a client: the name or address that the relay's certificate must have; of a relay: NULL
 *
 * Return: NULL: no memory.
 */
struct tls *tls_new(struct tls_context *context, const char *host);
void tls_free(struct tls *tls);

/**
 * tls_receive() - @size bytes came over the socket; none: the client begins
 * @plain: what they say is added to it
 * @out: bytes to be sent are added to it: answers of the handshake
 *
 * Return: 0, or -1 with @err filled: send @out, then close.
 */
int tls_receive(struct tls *tls, const uint8_t *bytes, size_t size, struct wire_out *plain, struct wire_out *out,
		struct kymo_err *err);

/** tls_is_open() - whether the handshake is done, and tls_send() may be called. */
bool tls_is_open(const struct tls *tls);

/** tls_has_ended() - whether the other side said that nothing more will come: no bytes were cut off. */
bool tls_has_ended(const struct tls *tls);

/** tls_send() - @size plain bytes; what is to be sent is added to @out. Return: 0, or -1: no memory. */
int tls_send(struct tls *tls, const void *bytes, size_t size, struct wire_out *out);

/** tls_end() - say that nothing more will come. */
void tls_end(struct tls *tls, struct wire_out *out);

#endif
