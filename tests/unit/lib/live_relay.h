/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client of the live protocol and the other side of its conversation, without a socket: what
 * the client sent is checked, replies are composed, and a sink notes what it gets.
 */
#ifndef KYMO_TESTS_LIVE_RELAY_H
#define KYMO_TESTS_LIVE_RELAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "live/client.h"

#define PATH	"ust/uid/0/64-bit"

/* What the sink got, in order: "S" a session, "M3" metadata of 3 bytes, "B0+4" bytes, "P" a packet, "X" none. */
static char log_text[1024];

static inline void note(const char *format, unsigned long long a, unsigned long long b)
{
	const size_t used = strlen(log_text);

	(void)snprintf(log_text + used, sizeof(log_text) - used, format, a, b);
}

static inline int on_session(void *context, const struct wire_listed_session *session,
			     struct kymo_err *err)
{
	(void)context, (void)err;
	note("S%llu ", session->session, 0);
	return 0;
}

static inline int on_metadata(void *context, struct live_trace *trace, const uint8_t *bytes,
			      size_t size, struct kymo_err *err)
{
	(void)context, (void)trace, (void)bytes, (void)err;
	note("M%llu ", size, 0);
	return 0;
}

static inline int on_bytes(void *context, struct live_stream *stream, uint64_t offset,
			   const uint8_t *bytes, size_t size, struct kymo_err *err)
{
	(void)context, (void)stream, (void)bytes, (void)err;
	note("B%llu+%llu ", offset, size);
	return 0;
}

static inline int on_packet(void *context, struct live_stream *stream, bool complete,
			    struct kymo_err *err)
{
	(void)context, (void)stream, (void)err;
	note(complete ? "P " : "X ", 0, 0);
	return 0;
}

static inline void on_say(void *context, const char *text)
{
	(void)context, (void)text;
}

static const struct client_sink sink = {
	on_session, on_metadata, on_bytes, on_packet, on_say, NULL
};

/* ---- a relay ---- */

struct test {
	struct client_options options;
	struct client *client;
	struct wire_out asked, reply;
	size_t read;			/* of what was asked */
	int64_t now_ns;
	struct kymo_err err;
};

/* The next request must be @cmd; its first number is returned. */
static inline uint64_t expect(struct test *test, uint32_t cmd)
{
	struct wire_in in = { test->asked.bytes + test->read, test->asked.bytes + test->asked.used,
			      false };
	struct wire_viewer_request request;
	uint64_t first;

	assert_true(wire_get_viewer_request(&in, &request));
	assert_int_equal(request.cmd, cmd);
	first = request.data_size ? wire_take(&in, 8) : 0;
	assert_false(in.short_of);
	test->read += WIRE_SIZE_viewer_request + request.data_size;
	return first;
}

static inline void expect_nothing(const struct test *test)
{
	assert_int_equal(test->asked.used, test->read);
}

/* Give what is in test->reply, byte by byte, so that each is cut everywhere. */
static inline int answer(struct test *test)
{
	int rc = 0;

	for (size_t i = 0; i < test->reply.used && rc == 0; i++)
		rc = client_bytes(test->client, test->reply.bytes + i, 1, test->now_ns,
				  &test->asked, &test->err);
	test->reply.used = 0;
	return rc;
}

static inline void answered(struct test *test)
{
	assert_int_equal(answer(test), 0);
}

static inline void tick(struct test *test)
{
	test->now_ns += 1000000000;
	(void)client_tick(test->client, test->now_ns, &test->asked);
}

static inline void put_session(struct test *test, uint64_t id, const char *host, const char *name)
{
	struct wire_listed_session session = { .session = id, .live_timer = 1000000 };

	(void)snprintf(session.host, sizeof(session.host), "%s", host);
	(void)snprintf(session.name, sizeof(session.name), "%s", name);
	wire_put_listed_session(&test->reply, &session);
}

static inline void put_stream(struct test *test, uint64_t id, bool is_metadata, const char *channel)
{
	struct wire_listed_stream stream = {
		.stream = id, .trace = 1, .is_metadata = is_metadata, .path = PATH
	};

	(void)snprintf(stream.channel, sizeof(stream.channel), "%s", channel);
	wire_put_listed_stream(&test->reply, &stream);
}

static inline void put_streams(struct test *test, uint32_t status, uint32_t count)
{
	wire_put_status_count(&test->reply, &(struct wire_status_count){ status, count });
}

static inline void put_index(struct test *test, uint32_t status, uint32_t flags, uint64_t begin,
			     uint64_t end)
{
	const bool packet = status == WIRE_INDEX_OK;

	wire_put_viewer_index(&test->reply,
			      &(struct wire_viewer_index){ .offset = 4096,
							   .packet_size = packet ? 8 * 64 : 0,
							   .content_size = packet ? 8 * 40 : 0,
							   .timestamp_begin = begin,
							   .timestamp_end = end,
							   .status = status,
							   .flags = flags });
}

static inline void put_packet(struct test *test, uint32_t status, uint32_t size, uint32_t flags)
{
	wire_put_packet_reply(&test->reply, &(struct wire_packet_reply){ status, size, flags });
	if (status == WIRE_PACKET_OK)
		memset(wire_room(&test->reply, size), 'p', size);
}

static inline void put_metadata(struct test *test, uint32_t status, const char *text)
{
	wire_put_metadata_reply(&test->reply,
				&(struct wire_metadata_reply){ strlen(text), status });
	wire_add_bytes(&test->reply, text, strlen(text));
}

static inline void connect_now(struct test *test)
{
	test->asked.used = test->read = 0;
	client_connected(test->client, test->now_ns, &test->asked);
	(void)expect(test, WIRE_VIEWER_CONNECT);
	expect_nothing(test);
	wire_put_connect(&test->reply, &(struct wire_connect){ 7, 2, 13, 0 });
	answered(test);
	(void)expect(test, WIRE_VIEWER_LIST);
}

/* Up to ATTACH, of session 5. */
static inline void attach(struct test *test)
{
	connect_now(test);
	wire_add(&test->reply, 3, 4);
	put_session(test, 4, "vm", "walk");
	put_session(test, 5, "vm", "walk");
	put_session(test, 6, "other", "walk");
	answered(test);
	(void)expect(test, WIRE_VIEWER_CREATE);
	wire_add(&test->reply, WIRE_CREATED, 4);
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_ATTACH), 5);
}

/* Running, with stream 1 and metadata stream 2, of which "abc" came. */
static inline void run(struct test *test, uint64_t stream, uint64_t metadata)
{
	attach(test);
	put_streams(test, WIRE_ATTACHED, 2);
	put_stream(test, stream, false, "channel_0");
	put_stream(test, metadata, true, "metadata");
	answered(test);
	assert_int_equal(client_phase(test->client), CLIENT_RUNNING);
	tick(test);
	assert_int_equal(expect(test, WIRE_VIEWER_NEW_STREAMS), 5);
	assert_int_equal(expect(test, WIRE_VIEWER_NEXT_INDEX), stream);
	assert_int_equal(expect(test, WIRE_VIEWER_METADATA), metadata);
	put_streams(test, WIRE_STREAMS_NO_NEW, 0);
	answered(test);
}

static int setup(void **state)
{
	struct test *test = calloc(1, sizeof(*test));

	log_text[0] = 0;
	test->options = (struct client_options){ "vm", "walk", false };
	test->client = client_new(&test->options, &sink);
	*state = test;
	return !test->client;
}

static int teardown(void **state)
{
	struct test *test = *state;

	client_free(test->client);
	wire_out_free(&test->asked);
	wire_out_free(&test->reply);
	free(test);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
