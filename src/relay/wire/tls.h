/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS between the bytes of a socket and the bytes of a protocol. It uses no socket: the caller
 * passes in what it received, and sends what is put into @out.
 *
 *   socket ── tls_receive() ──▶ plain bytes ──▶ protocol
 *          ◀── out ────────────── tls_send() ◀──
 *
 * TLS 1.2 and 1.3, without renegotiation and compression. In a build without OpenSSL tls_is_built()
 * is false, and no context can be created.
 *
 * Context of all functions: a connection belongs to one thread. They allocate and do not block,
 * except those that read files.
 */
#ifndef KYMO_RELAY_TLS_H
#define KYMO_RELAY_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "relay/wire/wire.h"

#define TLS_PIN_TEXT 65			/* SHA-256 as hexadecimal digits, with the NUL */

struct tls_context;			/* what all connections of one side share */
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
 * @ca: PEM file with the certificates that may have signed the relay's; NULL: those that the system
 * trusts
 * @pin: SHA-256 of the relay's certificate, 64 hexadecimal digits (":" between them are skipped).
 * The relay must have
 *       exactly this certificate; its signature, name and dates are not checked. NULL: they are
 *       checked
 *
 * Return: NULL with @err filled. Context: reads files.
 */
struct tls_context *tls_call(const char *ca, const char *pin, struct kymo_err *err);

/** tls_context_free() - existing connections keep what they need. NULL: nothing. */
void tls_context_free(struct tls_context *context);

/** tls_fingerprint() - of the certificate that @context serves, in the form that --tls-pin
 * accepts. */
void tls_fingerprint(const struct tls_context *context, char text[TLS_PIN_TEXT]);

/**
 * tls_new() - a connection
 * @host: for a client the name or address that the relay's certificate must have; for a relay NULL
 *
 * Return: NULL: no memory.
 */
struct tls *tls_new(struct tls_context *context, const char *host);
void tls_free(struct tls *tls);

/**
 * tls_receive() - @size bytes arrived on the socket; 0: the client begins
 * @plain: the decrypted bytes are added to it
 * @out: bytes that are to be sent are added to it: the handshake's answers
 *
 * Return: 0, or -1 with @err filled: send @out, then close.
 */
int tls_receive(struct tls *tls, const uint8_t *bytes, size_t size, struct wire_out *plain,
		struct wire_out *out, struct kymo_err *err);

/** tls_is_open() - whether the handshake is complete, and tls_send() may be called. */
bool tls_is_open(const struct tls *tls);

/** tls_has_ended() - whether the other side announced its end: no bytes were cut off. */
bool tls_has_ended(const struct tls *tls);

/** tls_send() - encrypt @size bytes and add them to @out. Return: 0; -1: out of memory. */
int tls_send(struct tls *tls, const void *bytes, size_t size, struct wire_out *out);

/** tls_end() - announce to the other side that nothing more will come. */
void tls_end(struct tls *tls, struct wire_out *out);

#endif
