/* SPDX-License-Identifier: Apache-2.0 */
/* TLS by OpenSSL with two memory BIOs a connection. See tls.h. */
#include "relay/wire/tls.h"

#include <arpa/inet.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIN_BYTES	32u
#define PIECE		16384u		/* plain bytes of a record */

struct tls_context {
	SSL_CTX *ssl;
	bool has_pin;
	uint8_t pin[PIN_BYTES];		/* the relay's that is expected, or our own certificate's */
};

struct tls {
	SSL *ssl;
	BIO *in, *out;			/* owned by the SSL */
	bool is_client, ended, has_pin;
	uint8_t pin[PIN_BYTES];
	char host[256];
};

bool tls_is_built(void)
{
	return true;
}

/* OpenSSL's reason for the last failure; its queue is empty afterwards. */
static const char *reason(void)
{
	const unsigned long error = ERR_peek_last_error();
	const char *text = error ? ERR_reason_error_string(error) : NULL;

	ERR_clear_error();
	return text ? text : "unknown reason";
}

/* ---- contexts ---- */

static struct tls_context *context_new(const SSL_METHOD *method, struct kymo_err *err)
{
	struct tls_context *context = calloc(1, sizeof(*context));

	if (context && (context->ssl = SSL_CTX_new(method)) &&
	    SSL_CTX_set_min_proto_version(context->ssl, TLS1_2_VERSION)) {
		(void)SSL_CTX_set_options(context->ssl, SSL_OP_NO_RENEGOTIATION |
								SSL_OP_NO_COMPRESSION |
								SSL_OP_NO_TICKET);
		(void)SSL_CTX_set_session_cache_mode(context->ssl, SSL_SESS_CACHE_OFF);
		/* An idle connection keeps no buffers. */
		(void)SSL_CTX_set_mode(context->ssl, SSL_MODE_RELEASE_BUFFERS);
		return context;
	}
	tls_context_free(context);
	(void)err_set(err, KYMO_EXIT_FAILED, "cannot use TLS: %s", reason());
	return NULL;
}

void tls_context_free(struct tls_context *context)
{
	if (!context)
		return;
	SSL_CTX_free(context->ssl);
	free(context);
}

static bool fingerprint(const X509 *certificate, uint8_t pin[PIN_BYTES])
{
	unsigned size = PIN_BYTES;

	return certificate && X509_digest(certificate, EVP_sha256(), pin, &size) &&
	       size == PIN_BYTES;
}

struct tls_context *tls_serve(const char *certificate, const char *key, struct kymo_err *err)
{
	struct tls_context *context = context_new(TLS_server_method(), err);

	if (!context)
		return NULL;
	if (SSL_CTX_use_certificate_chain_file(context->ssl, certificate) != 1)
		(void)err_set(err, KYMO_EXIT_INPUT, "cannot use '%s' as certificate: not a PEM certificate chain: %s",
			      certificate, reason());
	else if (SSL_CTX_use_PrivateKey_file(context->ssl, key, SSL_FILETYPE_PEM) != 1)
		(void)err_set(err, KYMO_EXIT_INPUT, "cannot use '%s' as private key: not a PEM key of the certificate '%s': %s",
			      key, certificate, reason());
	else if (!fingerprint(SSL_CTX_get0_certificate(context->ssl), context->pin))
		(void)err_set(err, KYMO_EXIT_FAILED, "%s: %s", certificate, reason());
	else
		return context;
	tls_context_free(context);
	return NULL;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_pin(const char *text, uint8_t pin[PIN_BYTES])
{
	unsigned used = 0;

	for (; *text; text++) {
		if (*text == ':')
			continue;
		if (used == 2 * PIN_BYTES || digit(*text) < 0)
			return false;
		pin[used / 2] = (uint8_t)(pin[used / 2] << 4 | digit(*text));
		used++;
	}
	return used == 2 * PIN_BYTES;
}

struct tls_context *tls_call(const char *ca, const char *pin, struct kymo_err *err)
{
	struct tls_context *context = context_new(TLS_client_method(), err);

	if (!context)
		return NULL;
	if (pin && !read_pin(pin, context->pin)) {
		(void)err_set(err, KYMO_EXIT_USAGE, "'%.100s' is not a fingerprint: pass 64 hexadecimal digits, as printed by the relay or "
			      "by openssl x509 -fingerprint -sha256 -noout -in CERTIFICATE", pin);
	} else if (pin) {
		context->has_pin = true;
		SSL_CTX_set_verify(context->ssl, SSL_VERIFY_NONE,
				   NULL); /* the certificate is compared instead */
		return context;
	} else if (ca && SSL_CTX_load_verify_file(context->ssl, ca) != 1) {
		(void)err_set(err, KYMO_EXIT_INPUT, "cannot use '%s' for --tls-ca: no PEM certificates in it: %s", ca, reason());
	} else if (!ca && SSL_CTX_set_default_verify_paths(context->ssl) != 1) {
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot read the certificates that this system trusts: %s", reason());
	} else {
		SSL_CTX_set_verify(context->ssl, SSL_VERIFY_PEER, NULL);
		return context;
	}
	tls_context_free(context);
	return NULL;
}

void tls_fingerprint(const struct tls_context *context, char text[TLS_PIN_TEXT])
{
	for (unsigned i = 0; i < PIN_BYTES; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", context->pin[i]);
}

/* ---- connections ---- */

static bool name_host(struct tls *tls, const char *host)
{
	X509_VERIFY_PARAM *wanted = SSL_get0_param(tls->ssl);
	struct in6_addr address;

	(void)snprintf(tls->host, sizeof(tls->host), "%s", host);
	if (inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1)
		return X509_VERIFY_PARAM_set1_ip_asc(wanted, host) == 1;
	X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return X509_VERIFY_PARAM_set1_host(wanted, host, 0) == 1 &&
	       SSL_set_tlsext_host_name(tls->ssl, host) == 1;
}

static bool set_up(struct tls *tls, struct tls_context *context, const char *host)
{
	tls->ssl = SSL_new(context->ssl);
	tls->in = BIO_new(BIO_s_mem());
	tls->out = BIO_new(BIO_s_mem());
	if (!tls->ssl || !tls->in || !tls->out) {
		BIO_free(tls->in);
		BIO_free(tls->out);
		return false;
	}
	(void)BIO_set_mem_eof_return(tls->in, -1); /* an empty buffer means: later; not: the end */
	SSL_set_bio(tls->ssl, tls->in, tls->out);
	if (!host) {
		SSL_set_accept_state(tls->ssl);
		return true;
	}
	tls->is_client = true;
	tls->has_pin = context->has_pin;
	memcpy(tls->pin, context->pin, sizeof(tls->pin));
	SSL_set_connect_state(tls->ssl);
	return name_host(tls, host);
}

struct tls *tls_new(struct tls_context *context, const char *host)
{
	struct tls *tls = calloc(1, sizeof(*tls));

	if (tls && set_up(tls, context, host))
		return tls;
	tls_free(tls);
	ERR_clear_error();
	return NULL;
}

void tls_free(struct tls *tls)
{
	if (!tls)
		return;
	SSL_free(tls->ssl);
	free(tls);
}

bool tls_is_open(const struct tls *tls)
{
	return SSL_is_init_finished(tls->ssl);
}

bool tls_has_ended(const struct tls *tls)
{
	return tls->ended;
}

static void take_out(struct tls *tls, struct wire_out *out)
{
	const size_t size = BIO_ctrl_pending(tls->out);
	uint8_t *room = size ? wire_room(out, size) : NULL;

	if (room && BIO_read(tls->out, room, (int)size) != (int)size)
		out->failed = true;
}

/* The reason of a failed handshake, for people. Return: -1. */
static int say_failure(struct tls *tls, struct kymo_err *err)
{
	const long verified = SSL_get_verify_result(tls->ssl);

	if (tls->is_client && verified != X509_V_OK && !tls->has_pin)
		return err_set(err, KYMO_EXIT_FAILED, "the certificate of %s is not trusted: %s; pass the certificate that signed it with "
			       "--tls-ca, or the fingerprint that the relay prints with --tls-pin", tls->host,
			       X509_verify_cert_error_string(verified));
	return err_set(err, KYMO_EXIT_FAILED, "TLS failed: %s; do both sides use it%s?", reason(),
		       tls->is_client ? " (nets://, kymo relay --tls-cert)" : "");
}

/* Return: 1: complete; 0: more bytes are needed; -1 with @err. */
static int shake_hands(struct tls *tls, struct kymo_err *err)
{
	const int rc = SSL_do_handshake(tls->ssl);
	uint8_t theirs[PIN_BYTES];
	X509 *certificate;
	bool same;

	if (rc != 1)
		return SSL_get_error(tls->ssl, rc) == SSL_ERROR_WANT_READ ? 0
									  : say_failure(tls, err);
	if (!tls->has_pin)
		return 1;
	certificate = SSL_get1_peer_certificate(tls->ssl);
	same = fingerprint(certificate, theirs) && memcmp(theirs, tls->pin, sizeof(theirs)) == 0;
	X509_free(certificate);
	return same ? 1 : err_set(err, KYMO_EXIT_FAILED, "the certificate of %s is not the one of --tls-pin: either the relay has "
				  "a new one, and prints its fingerprint, or somebody intercepts the connection", tls->host);
}

static int take_plain(struct tls *tls, struct wire_out *plain, struct kymo_err *err)
{
	for (;;) {
		uint8_t *room = wire_room(plain, PIECE);
		const int got = room ? SSL_read(tls->ssl, room, PIECE) : 0;

		if (!room)
			return err_no_memory(err);
		plain->used -= PIECE - (size_t)(got > 0 ? got : 0);
		if (got > 0)
			continue;
		switch (SSL_get_error(tls->ssl, got)) {
		case SSL_ERROR_WANT_READ:
			return 0;
		case SSL_ERROR_ZERO_RETURN:
			tls->ended = true;
			return 0;
		default:
			return err_set(err, KYMO_EXIT_FAILED, "TLS failed: %s", reason());
		}
	}
}

int tls_receive(struct tls *tls, const uint8_t *bytes, size_t size, struct wire_out *plain,
		struct wire_out *out, struct kymo_err *err)
{
	int rc = 1;

	ERR_clear_error();
	if (size > INT_MAX || (size && BIO_write(tls->in, bytes, (int)size) != (int)size))
		return err_no_memory(err);
	if (!tls_is_open(tls))
		rc = shake_hands(tls, err);
	if (rc > 0)
		rc = take_plain(tls, plain, err);
	take_out(tls, out);
	return rc < 0 ? -1 : 0;
}

int tls_send(struct tls *tls, const void *bytes, size_t size, struct wire_out *out)
{
	const uint8_t *at = bytes;

	ERR_clear_error();
	while (size) {
		const size_t some = size < PIECE ? size : PIECE;

		if (SSL_write(tls->ssl, at, (int)some) != (int)some)
			return -1;
		at += some;
		size -= some;
	}
	take_out(tls, out);
	return out->failed ? -1 : 0;
}

void tls_end(struct tls *tls, struct wire_out *out)
{
	if (tls_is_open(tls))
		(void)SSL_shutdown(tls->ssl);
	ERR_clear_error();
	take_out(tls, out);
}
