/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes before the protocols: TLS if the relay has a certificate, and the token if it requires
 * one.
 *
 *   socket ─▶ gate_bytes() ─ TLS ─▶ token ─▶ connection_take()
 *          ◀─ gate_encode() ◀─ TLS ◀────────── connection_send()
 */
#include <string.h>

#include "relay/server/server_internal.h"

bool gate_open(struct connection *connection)
{
	const struct server_options *options = connection->server->options;

	if (options->tls)
		connection->tls = tls_new(options->tls, NULL);
	return !options->tls || connection->tls;
}

const char *gate_misses(const struct connection *connection)
{
	if (connection->tls && !tls_is_open(connection->tls))
		return "TLS";
	return connection->server->options->token.size && !connection->welcome ? "token" : NULL;
}

void gate_end(struct connection *connection)
{
	struct wire_out out = { 0 };
	uv_buf_t buffer;

	if (!connection->tls)
		return;
	tls_end(connection->tls, &out);
	buffer = uv_buf_init((char *)out.bytes, (unsigned)out.used);
	if (out.used)			/* a courtesy: it is closed in any case */
		(void)uv_try_write((uv_stream_t *)&connection->tcp, &buffer, 1);
	wire_out_free(&out);
}

void gate_close(struct connection *connection)
{
	tls_free(connection->tls);
	wire_out_free(&connection->greeting);
}

bool gate_encode(struct connection *connection, struct wire_out *out)
{
	struct wire_out encoded = { 0 };

	if (!connection->tls)
		return true;
	if (tls_send(connection->tls, out->bytes, out->used, &encoded) < 0) {
		wire_out_free(&encoded);
		return false;
	}
	wire_out_free(out);
	*out = encoded;
	return true;
}

/* Checks the token; @bytes continue what arrived before. */
static void greet(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct wire_out reply = { 0 }, greeting;
	enum token_result result;
	struct kymo_err err;
	size_t used;

	wire_add_bytes(&connection->greeting, bytes, size);
	if (connection->greeting.failed) {
		connection_drop(connection);
		return;
	}
	result = token_check(&connection->server->options->token, connection->greeting.bytes,
			     connection->greeting.used, &used, &reply, &err);
	connection->welcome = result == TOKEN_WELCOME;
	connection_send(connection, &reply);
	if (connection->gone)
		return;
	if (result == TOKEN_REFUSED)
		connection_fail(connection, &err);
	if (result != TOKEN_WELCOME)
		return;
	greeting = connection->greeting;
	connection->greeting = (struct wire_out){ 0 };
	if (greeting.used > used)
		connection_take(connection, greeting.bytes + used, greeting.used - used);
	wire_out_free(&greeting);
}

static void take_plain(struct connection *connection, const uint8_t *bytes, size_t size)
{
	if (!size || connection->closing)
		return;
	if (connection->welcome)
		connection_take(connection, bytes, size);
	else
		greet(connection, bytes, size);
}

void gate_bytes(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct wire_out plain = { 0 }, out = { 0 };
	struct kymo_err err;
	int rc;

	if (!connection->tls) {
		take_plain(connection, bytes, size);
		return;
	}
	rc = tls_receive(connection->tls, bytes, size, &plain, &out, &err);
	connection_post(connection, &out);
	if (rc < 0 && !connection->gone)
		connection_fail(connection, &err);
	take_plain(connection, plain.bytes, plain.used);
	wire_out_free(&plain);
	if (!connection->closing && tls_has_ended(connection->tls))
		connection_drop(connection);
}
