/* SPDX-License-Identifier: Apache-2.0 */
/* TLS in a build without OpenSSL: every use of it fails. See tls.h. */
#include "relay/wire/tls.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* of nearly all functions here */

bool tls_is_built(void)
{
	return false;
}

static struct tls_context *none(struct kymo_err *err)
{
	(void)err_set(err, KYMO_EXIT_USAGE, "cannot use TLS: this kymo was built without OpenSSL; install libssl-dev and build again");
	return NULL;
}

struct tls_context *tls_serve(const char *certificate, const char *key, struct kymo_err *err)
{
	return none(err);
}

struct tls_context *tls_call(const char *ca, const char *pin, struct kymo_err *err)
{
	return none(err);
}

void tls_context_free(struct tls_context *context)
{
}

void tls_fingerprint(const struct tls_context *context, char text[TLS_PIN_TEXT])
{
	text[0] = 0;
}

struct tls *tls_new(struct tls_context *context, const char *host)
{
	return NULL;
}

void tls_free(struct tls *tls)
{
}

int tls_receive(struct tls *tls, const uint8_t *bytes, size_t size, struct wire_out *plain,
		struct wire_out *out, struct kymo_err *err)
{
	return none(err) ? 0 : -1;
}

bool tls_is_open(const struct tls *tls)
{
	return false;
}

bool tls_has_ended(const struct tls *tls)
{
	return true;
}

int tls_send(struct tls *tls, const void *bytes, size_t size, struct wire_out *out)
{
	return -1;
}

void tls_end(struct tls *tls, struct wire_out *out)
{
}
