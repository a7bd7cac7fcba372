/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* A link and a server of one connection in one loop: plain, with TLS, with tokens, and all that can
 * go wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "relay/link/link.h"
#include "base/array.h"

#define BULK ((size_t)3 << 20)

static char certificate[64], key[64], other[64], other_key[64], directory[40];

/* What one test has: a listener, the server's end, the link, and what came of them. */
struct world {
	uv_loop_t loop;
	uv_tcp_t listener, peer;
	uint16_t port;
	struct tls_context *serving;
	struct tls *tls;
	struct token token;
	bool welcome, deaf, greets_late;
	struct wire_out in;		/* plain, of the server */
	char buffer[65536];

	struct link *link;
	struct wire_out got;		/* of the link */
	size_t sent_left;
	bool opened, ended;
	struct kymo_err err;
	struct kymo_err server_err;
};

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct world *world = handle->data;

	(void)suggested;
	*buffer = uv_buf_init(world->buffer, sizeof(world->buffer));
}

static void server_send(struct world *world, struct wire_out *out)
{
	uv_buf_t buffer = uv_buf_init((char *)out->bytes, (unsigned)out->used);

	if (out->used)
		assert_int_equal(uv_try_write((uv_stream_t *)&world->peer, &buffer, 1),
				 (int)out->used);
	wire_out_free(out);
}

static void server_close(struct world *world)
{
	if (!uv_is_closing((uv_handle_t *)&world->peer))
		uv_close((uv_handle_t *)&world->peer, NULL);
}

static void on_peer(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
	struct world *world = stream->data;
	struct wire_out out = { 0 }, reply = { 0 };
	size_t used = 0;
	int rc = 0;

	if (got < 0) {
		server_close(world);
		return;
	}
	if (world->tls)
		rc = tls_receive(world->tls, (const uint8_t *)buffer->base, (size_t)got, &world->in,
				 &out, &world->server_err);
	else
		wire_add_bytes(&world->in, buffer->base, (size_t)got);
	if (rc == 0 && world->in.used && !world->welcome) {
		const enum token_result result =
			token_check(&world->token, world->in.bytes, world->in.used, &used, &reply,
				    &world->server_err);

		world->welcome = result == TOKEN_WELCOME;
		rc = result == TOKEN_REFUSED ? -1 : 0;
		memmove(world->in.bytes, world->in.bytes + used, world->in.used - used);
		world->in.used -= used;
		if (world->greets_late)		/* behind the answer comes what could be a push */
			wire_add_bytes(&reply, "more", 4);
		if (world->tls)
			assert_int_equal(tls_send(world->tls, reply.bytes, reply.used, &out), 0);
		else
			wire_add_bytes(&out, reply.bytes, reply.used);
		wire_out_free(&reply);
	}
	server_send(world, &out);
	if (rc < 0)
		server_close(world);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct world *world = listener->data;

	assert_int_equal(status, 0);
	(void)uv_tcp_init(&world->loop, &world->peer);
	world->peer.data = world;
	assert_int_equal(uv_accept(listener, (uv_stream_t *)&world->peer), 0);
	if (!world->deaf)
		assert_int_equal(uv_read_start((uv_stream_t *)&world->peer, on_room, on_peer), 0);
}

static void on_opened(void *context)
{
	struct world *world = context;

	assert_false(world->opened);
	world->opened = true;
}

static void on_received(void *context, const uint8_t *bytes, size_t size)
{
	struct world *world = context;

	assert_true(world->opened && size);
	wire_add_bytes(&world->got, bytes, size);
}

static void on_sent(void *context, size_t unsent)
{
	((struct world *)context)->sent_left = unsent;
}

static void on_ended(void *context, const struct kymo_err *err)
{
	struct world *world = context;

	assert_false(world->ended);
	world->ended = true;
	world->err = *err;
	world->link = NULL;
}

static void begin(struct world *world, bool tls)
{
	struct sockaddr_in at;
	int size = sizeof(at);
	struct kymo_err err;

	memset(world, 0, sizeof(*world));
	(void)uv_loop_init(&world->loop);
	(void)uv_tcp_init(&world->loop, &world->listener);
	world->listener.data = world;
	(void)uv_ip4_addr("127.0.0.1", 0, &at);
	assert_int_equal(uv_tcp_bind(&world->listener, (struct sockaddr *)&at, 0), 0);
	assert_int_equal(uv_listen((uv_stream_t *)&world->listener, 1, on_connection), 0);
	(void)uv_tcp_getsockname(&world->listener, (struct sockaddr *)&at, &size);
	world->port = ntohs(at.sin_port);
	if (tls) {
		world->serving = tls_serve(certificate, key, &err);
		assert_non_null(world->serving);
		world->tls = tls_new(world->serving, NULL);
	}
}

static struct link_options options_of(struct world *world, struct tls_context *tls,
				      const struct token *token)
{
	return (struct link_options){
		.host = "localhost",
		.port = world->port,
		.family = AF_INET,
		.tls = tls,
		.token = token,
		.timeout_ns = 60000000000,
		.opened = on_opened,
		.received = on_received,
		.sent = on_sent,
		.ended = on_ended,
		.context = world,
	};
}

static void open_link(struct world *world, const struct link_options *options)
{
	struct kymo_err err;

	world->link = link_open(&world->loop, options, &err);
	assert_non_null(world->link);
	while (!world->opened && !world->ended)
		(void)uv_run(&world->loop, UV_RUN_ONCE);
}

static void close_any(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void end(struct world *world)
{
	link_close(world->link);
	(void)uv_run(&world->loop, UV_RUN_NOWAIT);
	uv_walk(&world->loop, close_any, NULL);
	(void)uv_run(&world->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&world->loop), 0);
	tls_free(world->tls);
	tls_context_free(world->serving);
	wire_out_free(&world->in);
	wire_out_free(&world->got);
}

static void carry_both_ways(struct world *world, bool tls)
{
	uint8_t *bulk = malloc(BULK);
	struct wire_out out = { 0 };

	assert_non_null(bulk);
	for (size_t i = 0; i < BULK; i++)
		bulk[i] = (uint8_t)(i * 31 >> 3);
	assert_int_equal(link_write(world->link, bulk, BULK), 0);
	assert_int_equal(link_write(world->link, bulk, BULK), -1);	/* 4 MiB is the limit */
	while (world->in.used < BULK || link_unsent(world->link))
		(void)uv_run(&world->loop, UV_RUN_ONCE);
	assert_int_equal(world->sent_left, 0);
	assert_memory_equal(world->in.bytes, bulk, BULK);
	if (tls)
		assert_int_equal(tls_send(world->tls, "answer", 6, &out), 0);
	else
		wire_add_bytes(&out, "answer", 6);
	server_send(world, &out);
	while (world->got.used < 6)
		(void)uv_run(&world->loop, UV_RUN_ONCE);
	assert_memory_equal(world->got.bytes, "answer", 6);
	free(bulk);
}

static void plain(void **state)
{
	struct link_options options;
	struct world world;

	(void)state;
	begin(&world, false);
	options = options_of(&world, NULL, NULL);
	open_link(&world, &options);
	assert_true(world.opened && !world.ended);
	carry_both_ways(&world, false);
	server_close(&world);
	while (!world.ended)
		(void)uv_run(&world.loop, UV_RUN_ONCE);
	assert_non_null(strstr(world.err.text, "localhost port"));
	end(&world);
}

static void with_tls_and_token(void **state)
{
	const struct token token = { 16, "0123456789abcdef" }, wrong = { 16, "0123456789abcdeg" };
	char pin[TLS_PIN_TEXT];
	struct kymo_err err;

	(void)state;
	for (unsigned way = 0; way < 6; way++) {
		struct tls_context *tls;
		struct link_options options;
		struct world world;

		begin(&world, true);
		world.token = token;
		world.greets_late = way == 4;
		tls_fingerprint(world.serving, pin);
		if (way == 3)			/* another one's pin */
			pin[0] = pin[0] == '0' ? '1' : '0';
		tls = way == 0 || way == 5 ? tls_call(certificate, NULL, &err)
		      : way == 1           ? tls_call(other, NULL, &err)
					   : tls_call(NULL, pin, &err);
		assert_non_null(tls);
		options = options_of(&world, tls, way == 5 ? &wrong : &token);
		open_link(&world, &options);
		switch (way) {
		case 0:
		case 2:
			assert_true(world.opened);
			carry_both_ways(&world, true);
			break;
		case 1:
			assert_false(world.opened);
			assert_non_null(strstr(world.err.text, "--tls-ca"));
			break;
		case 3:
			assert_false(world.opened);
			assert_non_null(strstr(world.err.text, "--tls-pin"));
			break;
		case 4:
			while (world.got.used < 4)
				(void)uv_run(&world.loop, UV_RUN_ONCE);
			assert_memory_equal(world.got.bytes, "more", 4);
			break;
		default:
			assert_false(world.opened);
			assert_non_null(strstr(world.err.text, "token"));
		}
		end(&world);
		tls_context_free(tls);
	}
}

/* The name in the certificate counts when it is trusted for its signature. */
static void another_name(void **state)
{
	struct link_options options;
	struct tls_context *tls;
	struct world world;
	struct kymo_err err;

	(void)state;
	begin(&world, true);
	tls = tls_call(certificate, NULL, &err);
	options = options_of(&world, tls, NULL);
	options.host = "127.0.0.1";
	open_link(&world, &options);
	assert_false(world.opened);
	assert_non_null(strstr(world.err.text, "not trusted"));
	end(&world);
	tls_context_free(tls);
}

static void nobody_there(void **state)
{
	struct link_options options;
	struct world world;
	struct kymo_err err;

	(void)state;
	begin(&world, false);
	options = options_of(&world, NULL, NULL);
	uv_close((uv_handle_t *)&world.listener, NULL);
	(void)uv_run(&world.loop, UV_RUN_DEFAULT);
	open_link(&world, &options);
	assert_false(world.opened);
	assert_non_null(strstr(world.err.text, "check that a relay runs there"));
	world.ended = false;
	options.host = "no such name";
	open_link(&world, &options);
	assert_true(world.ended);
	/* Closed while it is being looked up, or connecting: nothing is called any more. */
	for (unsigned i = 0; i < 3; i++) {
		world.ended = false;
		options.host = "localhost";
		world.link = link_open(&world.loop, &options, &err);
		if (i)
			(void)uv_run(&world.loop, i == 1 ? UV_RUN_NOWAIT : UV_RUN_ONCE);
		link_close(world.link);
		world.link = NULL;
		(void)uv_run(&world.loop, UV_RUN_DEFAULT);
	}
	end(&world);
}

static void no_answer(void **state)
{
	const struct token token = { 16, "0123456789abcdef" };
	struct link_options options;
	struct tls_context *tls;
	struct world world;
	struct kymo_err err;

	(void)state;
	for (unsigned way = 0; way < 2; way++) {	/* to TLS, to the token */
		begin(&world, false);
		world.deaf = true;
		tls = way ? NULL : tls_call(certificate, NULL, &err);
		options = options_of(&world, tls, &token);
		options.timeout_ns = 50000000;
		open_link(&world, &options);
		assert_false(world.opened);
		assert_non_null(strstr(world.err.text, "it does not answer"));
		end(&world);
		tls_context_free(tls);
	}
}

/* Something else than TLS speaks on the other side; and a token does not go in the open. */
static void strangers(void **state)
{
	const struct token token = { 16, "0123456789abcdef" };
	struct link_options options;
	struct tls_context *tls;
	struct world world;
	struct kymo_err err;

	(void)state;
	begin(&world, false);
	world.token = token;
	tls = tls_call(NULL, NULL, &err);
	assert_non_null(tls);
	options = options_of(&world, tls, &token);
	open_link(&world, &options);
	assert_false(world.opened);
	world.ended = false;
	options.tls = NULL;
	options.host = "192.0.2.1";
	assert_null(link_open(&world.loop, &options, &err));
	assert_non_null(strstr(err.text, "nets://"));
	end(&world);
	tls_context_free(tls);
	assert_null(tls_call("/proc/no/such/file", NULL, &err));
	assert_null(tls_call(key, NULL, &err));
	assert_null(tls_call(NULL, "0011", &err));
	assert_null(tls_serve(key, key, &err));
	assert_null(tls_serve(certificate, other_key, &err));
}

/* ---- certificates ---- */

static int make(const char *name, char *certificate_path, char *key_path)
{
	char command[512];

	(void)snprintf(certificate_path, 64, "%s/%s.pem", directory, name);
	(void)snprintf(key_path, 64, "%s/%s.key", directory, name);
	(void)snprintf(command, sizeof(command), "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
		       "-days 30 -subj /CN=%s -addext subjectAltName=DNS:localhost -keyout %s -out %s 2>/dev/null", name,
		       key_path, certificate_path);
	return system(command);
}

static int remove_all(void **state)
{
	const char *const paths[] = { certificate, key, other, other_key };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		(void)unlink(paths[i]);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),        cmocka_unit_test(with_tls_and_token),
		cmocka_unit_test(another_name), cmocka_unit_test(nobody_there),
		cmocka_unit_test(no_answer),    cmocka_unit_test(strangers),
	};

	if (!tls_is_built()) {
		puts("skipped: kymo was built without OpenSSL");
		return 77;
	}
	(void)snprintf(directory, sizeof(directory), "/tmp/kymo-link-XXXXXX");
	if (!mkdtemp(directory) || make("one", certificate, key) || make("two", other, other_key)) {
		puts("skipped: openssl cannot create a certificate");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, remove_all);
}
