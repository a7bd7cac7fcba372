/* SPDX-License-Identifier: Apache-2.0 */
/* The client of the live protocol, without a socket: what it asks, what it makes of replies, what it does not believe. */
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

static void note(const char *format, unsigned long long a, unsigned long long b)
{
	const size_t used = strlen(log_text);

	(void)snprintf(log_text + used, sizeof(log_text) - used, format, a, b);
}

static int on_session(void *context, const struct wire_listed_session *session, struct kymo_err *err)
{
	(void)context, (void)err;
	note("S%llu ", session->session, 0);
	return 0;
}

static int on_metadata(void *context, struct live_trace *trace, const uint8_t *bytes, size_t size, struct kymo_err *err)
{
	(void)context, (void)trace, (void)bytes, (void)err;
	note("M%llu ", size, 0);
	return 0;
}

static int on_bytes(void *context, struct live_stream *stream, uint64_t offset, const uint8_t *bytes, size_t size,
		    struct kymo_err *err)
{
	(void)context, (void)stream, (void)bytes, (void)err;
	note("B%llu+%llu ", offset, size);
	return 0;
}

static int on_packet(void *context, struct live_stream *stream, bool complete, struct kymo_err *err)
{
	(void)context, (void)stream, (void)err;
	note(complete ? "P " : "X ", 0, 0);
	return 0;
}

static void on_say(void *context, const char *text)
{
	(void)context, (void)text;
}

static const struct client_sink sink = { on_session, on_metadata, on_bytes, on_packet, on_say, NULL };

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
static uint64_t expect(struct test *test, uint32_t cmd)
{
	struct wire_in in = { test->asked.bytes + test->read, test->asked.bytes + test->asked.used, false };
	struct wire_viewer_request request;
	uint64_t first;

	assert_true(wire_get_viewer_request(&in, &request));
	assert_int_equal(request.cmd, cmd);
	first = request.data_size ? wire_take(&in, 8) : 0;
	assert_false(in.short_of);
	test->read += WIRE_SIZE_viewer_request + request.data_size;
	return first;
}

static void expect_nothing(const struct test *test)
{
	assert_int_equal(test->asked.used, test->read);
}

/* Give what is in test->reply, byte by byte, so that each is cut everywhere. */
static int answer(struct test *test)
{
	int rc = 0;

	for (size_t i = 0; i < test->reply.used && rc == 0; i++)
		rc = client_bytes(test->client, test->reply.bytes + i, 1, test->now_ns, &test->asked, &test->err);
	test->reply.used = 0;
	return rc;
}

static void answered(struct test *test)
{
	assert_int_equal(answer(test), 0);
}

static void tick(struct test *test)
{
	test->now_ns += 1000000000;
	(void)client_tick(test->client, test->now_ns, &test->asked);
}

static void put_session(struct test *test, uint64_t id, const char *host, const char *name)
{
	struct wire_listed_session session = { .session = id, .live_timer = 1000000 };

	(void)snprintf(session.host, sizeof(session.host), "%s", host);
	(void)snprintf(session.name, sizeof(session.name), "%s", name);
	wire_put_listed_session(&test->reply, &session);
}

static void put_stream(struct test *test, uint64_t id, bool is_metadata, const char *channel)
{
	struct wire_listed_stream stream = { .stream = id, .trace = 1, .is_metadata = is_metadata, .path = PATH };

	(void)snprintf(stream.channel, sizeof(stream.channel), "%s", channel);
	wire_put_listed_stream(&test->reply, &stream);
}

static void put_streams(struct test *test, uint32_t status, uint32_t count)
{
	wire_put_status_count(&test->reply, &(struct wire_status_count){ status, count });
}

static void put_index(struct test *test, uint32_t status, uint32_t flags, uint64_t begin, uint64_t end)
{
	const bool packet = status == WIRE_INDEX_OK;

	wire_put_viewer_index(&test->reply, &(struct wire_viewer_index){
		.offset = 4096, .packet_size = packet ? 8 * 64 : 0, .content_size = packet ? 8 * 40 : 0,
		.timestamp_begin = begin, .timestamp_end = end, .status = status, .flags = flags });
}

static void put_packet(struct test *test, uint32_t status, uint32_t size, uint32_t flags)
{
	wire_put_packet_reply(&test->reply, &(struct wire_packet_reply){ status, size, flags });
	if (status == WIRE_PACKET_OK)
		memset(wire_room(&test->reply, size), 'p', size);
}

static void put_metadata(struct test *test, uint32_t status, const char *text)
{
	wire_put_metadata_reply(&test->reply, &(struct wire_metadata_reply){ strlen(text), status });
	wire_add_bytes(&test->reply, text, strlen(text));
}

static void connect_now(struct test *test)
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
static void attach(struct test *test)
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
static void run(struct test *test, uint64_t stream, uint64_t metadata)
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

/* ---- tests ---- */

static void sessions_are_listed(void **state)
{
	struct test *test = *state;

	test->options = (struct client_options){ NULL, NULL, false };
	connect_now(test);
	wire_add(&test->reply, 2, 4);
	put_session(test, 1, "vm", "walk");
	put_session(test, 2, "vm", "run");
	answered(test);
	assert_string_equal(log_text, "S1 S2 ");
	assert_int_equal(client_phase(test->client), CLIENT_ENDED);
}

static void a_session_is_waited_for(void **state)
{
	struct test *test = *state;

	connect_now(test);
	wire_add(&test->reply, 0, 4);
	answered(test);
	assert_true(client_waits(test->client));
	expect_nothing(test);
	tick(test);
	(void)expect(test, WIRE_VIEWER_LIST);
	wire_add(&test->reply, 1, 4);
	put_session(test, 9, "vm", "walk");
	answered(test);
	(void)expect(test, WIRE_VIEWER_CREATE);
	wire_add(&test->reply, WIRE_CREATED, 4);
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_ATTACH), 9);
	put_streams(test, WIRE_ATTACH_UNKNOWN, 0);	/* it has ended since it was listed */
	answered(test);
	tick(test);
	(void)expect(test, WIRE_VIEWER_LIST);
}

static void metadata_come_before_packets(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	put_index(test, WIRE_INDEX_OK, WIRE_NEW_METADATA, 10, 20);
	answered(test);
	expect_nothing(test);		/* the question for metadata is on its way, the packet waits */
	put_metadata(test, WIRE_METADATA_OK, "abc");
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_METADATA), 2);
	expect_nothing(test);
	put_metadata(test, WIRE_METADATA_OK, "");	/* which is no error, but no end either */
	answered(test);
	expect_nothing(test);
	tick(test);
	(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
	assert_int_equal(expect(test, WIRE_VIEWER_METADATA), 2);
	put_streams(test, WIRE_STREAMS_OK, 0);
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_PACKET), 1);
	put_packet(test, WIRE_PACKET_OK, 30, 0);	/* less than asked for is no error */
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_PACKET), 1);
	put_packet(test, WIRE_PACKET_OK, 10, 0);
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_NEXT_INDEX), 1);
	assert_string_equal(log_text, "M3 B0+30 B30+10 P ");
	assert_int_equal(client_streams(test->client)->bound, 20);
}

static void news_make_unsure(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	assert_false(client_is_unsure(test->client));
	put_index(test, WIRE_INDEX_INACTIVE, WIRE_NEW_STREAM, 0, 50);
	answered(test);
	assert_true(client_is_unsure(test->client));
	assert_int_equal(client_streams(test->client)->bound, 50);
	(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	put_streams(test, WIRE_STREAMS_OK, 1);
	put_stream(test, 3, false, "channel_1");
	answered(test);
	assert_false(client_is_unsure(test->client));
	assert_false(client_streams(test->client)->next->has_bound);
}

/* Also where there is no packet: that of a stream that is silent may be the last answer for long. */
static void news_come_with_any_status(void **state)
{
	static const uint32_t statuses[] = { WIRE_INDEX_OK, WIRE_INDEX_RETRY, WIRE_INDEX_INACTIVE, WIRE_INDEX_HUP };
	struct test *test = *state;

	for (unsigned i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		run(test, 1, 2);
		put_index(test, WIRE_INDEX_RETRY, 0, 0, 0);
		put_metadata(test, WIRE_METADATA_OK, "abc");
		put_metadata(test, WIRE_METADATA_NO_NEW, "");
		answered(test);
		test->read = test->asked.used;
		tick(test);
		assert_int_equal(expect(test, WIRE_VIEWER_NEW_STREAMS), 5);
		assert_int_equal(expect(test, WIRE_VIEWER_NEXT_INDEX), 1);
		put_streams(test, WIRE_STREAMS_OK, 0);
		put_index(test, statuses[i], WIRE_NEW_METADATA | WIRE_NEW_STREAM, 10, 20);
		answered(test);
		assert_int_equal(expect(test, WIRE_VIEWER_METADATA), 2);
		assert_int_equal(expect(test, WIRE_VIEWER_NEW_STREAMS), 5);
	}
}

/* Of a session that is rotated just now, lttng-relayd tells no streams. */
static void streams_that_come_later(void **state)
{
	struct test *test = *state;

	attach(test);
	put_streams(test, WIRE_ATTACHED, 0);
	answered(test);
	assert_int_equal(client_phase(test->client), CLIENT_RUNNING);
	for (unsigned i = 0; i < 5; i++) {
		tick(test);
		assert_int_equal(expect(test, WIRE_VIEWER_NEW_STREAMS), 5);
		expect_nothing(test);
		put_streams(test, WIRE_STREAMS_OK, 0);
		answered(test);
	}
	tick(test);
	(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
	put_streams(test, WIRE_STREAMS_OK, 2);
	put_stream(test, 1, false, "channel_0");
	put_stream(test, 2, true, "metadata");
	answered(test);
	tick(test);
	assert_non_null(client_streams(test->client));
	assert_int_equal(client_streams(test->client)->id, 1);
}

/* All streams have ended, and the relay says for a while that there are no new ones. */
static void the_end_is_asked_for_again(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	put_index(test, WIRE_INDEX_HUP, 0, 0, 0);
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	answered(test);
	for (unsigned i = 0; i < 5; i++) {
		tick(test);
		(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
		(void)expect(test, WIRE_VIEWER_METADATA);
		put_streams(test, WIRE_STREAMS_OK, 0);
		put_metadata(test, WIRE_METADATA_NO_NEW, "");
		answered(test);
		assert_int_equal(client_phase(test->client), CLIENT_RUNNING);
	}
	tick(test);
	(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
	(void)expect(test, WIRE_VIEWER_METADATA);
	put_streams(test, WIRE_STREAMS_HUP, 0);
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_DETACH), 5);
}

static void ends_when_all_has_ended(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	put_index(test, WIRE_INDEX_HUP, 0, 0, 0);
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	answered(test);
	tick(test);
	(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
	(void)expect(test, WIRE_VIEWER_METADATA);
	put_streams(test, WIRE_STREAMS_HUP, 0);
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_DETACH), 5);
	assert_int_equal(client_phase(test->client), CLIENT_DETACHING);
}

/* One packet came; the connection breaks in the middle of the second. On the next one other ids. */
static void goes_on_where_it_was(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	put_index(test, WIRE_INDEX_OK, 0, 10, 20);
	put_metadata(test, WIRE_METADATA_OK, "abc");
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	put_packet(test, WIRE_PACKET_OK, 40, 0);
	put_index(test, WIRE_INDEX_OK, 0, 20, 30);
	put_packet(test, WIRE_PACKET_OK, 20, 0);
	answered(test);
	assert_string_equal(log_text, "M3 B0+40 P B0+20 ");
	log_text[0] = 0;
	run(test, 11, 12);
	put_index(test, WIRE_INDEX_OK, WIRE_NEW_METADATA, 10, 20);
	put_metadata(test, WIRE_METADATA_OK, "abcdef");
	put_index(test, WIRE_INDEX_OK, 0, 20, 30);
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	put_packet(test, WIRE_PACKET_OK, 40, 0);
	answered(test);
	assert_string_equal(log_text, "M3 B0+40 P ");
}

static void another_session_is_not_the_same(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	put_index(test, WIRE_INDEX_RETRY, 0, 0, 0);
	put_metadata(test, WIRE_METADATA_OK, "abc");
	answered(test);
	run(test, 1, 2);
	put_index(test, WIRE_INDEX_RETRY, 0, 0, 0);
	put_metadata(test, WIRE_METADATA_OK, "abX");
	assert_int_equal(answer(test), -1);
	assert_non_null(strstr(test->err.text, "not the same"));
}

static void a_packet_that_is_gone(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	put_index(test, WIRE_INDEX_OK, 0, 10, 20);
	put_metadata(test, WIRE_METADATA_OK, "abc");
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	put_packet(test, WIRE_PACKET_ERR, 0, 0);
	answered(test);
	assert_string_equal(log_text, "M3 X ");
	assert_int_equal(client_streams(test->client)->missed, 1);
	assert_int_equal(client_streams(test->client)->bound, 20);
}

static void from_now(void **state)
{
	struct test *test = *state;

	test->options.from_now = true;
	run(test, 1, 2);
	put_index(test, WIRE_INDEX_OK, 0, 10, 20);
	put_metadata(test, WIRE_METADATA_OK, "abc");
	put_index(test, WIRE_INDEX_OK, 0, 20, 30);
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	put_index(test, WIRE_INDEX_RETRY, 0, 0, 0);	/* that was the last that was there */
	answered(test);
	assert_string_equal(log_text, "M3 ");
	test->read = test->asked.used;
	tick(test);
	(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
	assert_int_equal(expect(test, WIRE_VIEWER_NEXT_INDEX), 1);
	put_streams(test, WIRE_STREAMS_NO_NEW, 0);
	put_index(test, WIRE_INDEX_OK, 0, 40, 50);
	put_packet(test, WIRE_PACKET_OK, 40, 0);
	answered(test);
	assert_string_equal(log_text, "M3 B0+40 P ");
}

/* What lttng-relayd does not know is asked for with what it knows. */
static void from_now_of_lttng(void **state)
{
	struct test *test = *state;

	test->options.from_now = true;
	attach(test);
	put_streams(test, WIRE_ATTACH_SEEK, 0);
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_DETACH), 5);
	wire_add(&test->reply, WIRE_DETACH_UNKNOWN, 4);
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_ATTACH), 5);
	put_streams(test, WIRE_ATTACHED, 3);
	put_stream(test, 1, false, "7-0_0");
	put_stream(test, 2, true, "metadata");
	put_stream(test, 3, false, "7-0_init");
	answered(test);
	tick(test);
	assert_int_equal(expect(test, WIRE_VIEWER_NEXT_INDEX), 3); /* facts only */
	assert_int_equal(expect(test, WIRE_VIEWER_METADATA), 2);
	expect_nothing(test);
	assert_true(client_catches_up(test->client));
	put_index(test, WIRE_INDEX_OK, 0, 10, 20);
	put_metadata(test, WIRE_METADATA_OK, "abc");
	answered(test);
	(void)expect(test, WIRE_VIEWER_METADATA);
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_PACKET), 3);
	put_packet(test, WIRE_PACKET_OK, 40, 0);
	answered(test);
	(void)expect(test, WIRE_VIEWER_NEXT_INDEX);
	put_index(test, WIRE_INDEX_INACTIVE, 0, 0, 30);
	answered(test);
	tick(test);
	assert_int_equal(expect(test, WIRE_VIEWER_DETACH), 5);
	assert_true(client_catches_up(test->client));
	wire_add(&test->reply, WIRE_DETACHED, 4);
	answered(test);
	assert_int_equal(expect(test, WIRE_VIEWER_ATTACH), 5);
	put_streams(test, WIRE_ATTACHED, 3);
	put_stream(test, 1, false, "7-0_0");
	put_stream(test, 2, true, "metadata");
	put_stream(test, 3, false, "7-0_init");
	answered(test);
	assert_int_equal(client_phase(test->client), CLIENT_RUNNING);
	assert_false(client_catches_up(test->client));
	tick(test);
	(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
	assert_int_equal(expect(test, WIRE_VIEWER_NEXT_INDEX), 1);
	assert_string_equal(log_text, "M3 B0+40 P ");
}

/* kymo relay: one ATTACH, all facts, and the others from their last packet on. */
static void from_now_with_facts(void **state)
{
	struct test *test = *state;

	test->options.from_now = true;
	attach(test);
	put_streams(test, WIRE_ATTACHED, 3);
	put_stream(test, 1, false, "7-0_0");
	put_stream(test, 2, true, "metadata");
	put_stream(test, 3, false, "7-0_known");
	answered(test);
	tick(test);
	(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
	assert_int_equal(expect(test, WIRE_VIEWER_NEXT_INDEX), 1);
	assert_int_equal(expect(test, WIRE_VIEWER_NEXT_INDEX), 3);
	(void)expect(test, WIRE_VIEWER_METADATA);
	put_streams(test, WIRE_STREAMS_NO_NEW, 0);
	put_index(test, WIRE_INDEX_OK, 0, 90, 99);
	put_index(test, WIRE_INDEX_OK, 0, 10, 20);
	put_metadata(test, WIRE_METADATA_OK, "abc");
	put_index(test, WIRE_INDEX_RETRY, 0, 0, 0);
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	put_packet(test, WIRE_PACKET_OK, 40, 0);
	answered(test);
	assert_true(client_catches_up(test->client));
	put_index(test, WIRE_INDEX_RETRY, 0, 0, 0);
	answered(test);
	assert_false(client_catches_up(test->client));
	assert_string_equal(log_text, "M3 B0+40 P ");
}

/* Without metadata its packets are asked for all the same, or the relay would never see the end. */
static void metadata_that_never_come(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	put_index(test, WIRE_INDEX_OK, 0, 10, 20);
	put_metadata(test, WIRE_METADATA_ERR, "");
	answered(test);
	for (unsigned i = 0; i < 200 && !client_streams(test->client)->trace->gone; i++) {
		tick(test);
		(void)expect(test, WIRE_VIEWER_NEW_STREAMS);
		(void)expect(test, WIRE_VIEWER_METADATA);
		put_streams(test, WIRE_STREAMS_NO_NEW, 0);
		put_metadata(test, WIRE_METADATA_ERR, "");
		answered(test);
	}
	assert_true(client_streams(test->client)->trace->gone);
	assert_int_equal(expect(test, WIRE_VIEWER_NEXT_INDEX), 1);
	put_index(test, WIRE_INDEX_HUP, 0, 0, 0);
	answered(test);
	assert_int_equal(client_streams(test->client)->state, STREAM_ENDED);
	assert_string_equal(log_text, "");
}

/* ---- what is not believed ---- */

static void refuses(struct test *test)
{
	assert_int_equal(answer(test), -1);
	assert_true(test->err.text[0]);
}

static void too_many_sessions(void **state)
{
	struct test *test = *state;

	connect_now(test);
	wire_add(&test->reply, 65537, 4);
	refuses(test);
}

static void too_many_streams(void **state)
{
	struct test *test = *state;

	attach(test);
	put_streams(test, WIRE_ATTACHED, UINT32_MAX);
	refuses(test);
}

static void names_without_end(void **state)
{
	struct test *test = *state;

	connect_now(test);
	wire_add(&test->reply, 1, 4);
	memset(wire_room(&test->reply, WIRE_SIZE_listed_session), 'x', WIRE_SIZE_listed_session);
	refuses(test);
}

static void another_major(void **state)
{
	struct test *test = *state;

	client_connected(test->client, 0, &test->asked);
	wire_put_connect(&test->reply, &(struct wire_connect){ 7, 3, 0, 0 });
	refuses(test);
}

static void what_was_not_asked_for(void **state)
{
	struct test *test = *state;

	attach(test);
	put_streams(test, WIRE_ATTACHED, 0);
	answered(test);
	wire_add(&test->reply, 0, 1);
	refuses(test);
}

static void refusals(void **state)
{
	static const uint32_t statuses[] = { WIRE_ATTACH_ALREADY, WIRE_ATTACH_NOT_LIVE, WIRE_ATTACH_SEEK, 0, 77 };
	struct test *test = *state;

	for (unsigned i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		attach(test);
		put_streams(test, statuses[i], 5);
		refuses(test);
		assert_int_equal(strstr(test->err.text, "another viewer") != NULL, statuses[i] == WIRE_ATTACH_ALREADY);
	}
}

/* Each of these indexes is nonsense. */
static void senseless_indexes(void **state)
{
	static const struct wire_viewer_index bad[] = {
		{ .packet_size = 0, .content_size = 0 },
		{ .packet_size = 64, .content_size = 128 },
		{ .packet_size = 65, .content_size = 64 },
		{ .packet_size = UINT64_MAX - 7, .content_size = 64 },
		{ .packet_size = 64, .content_size = 64, .offset = UINT64_MAX },
		{ .packet_size = 64, .content_size = 64, .timestamp_begin = 2, .timestamp_end = 1 },
	};
	struct test *test = *state;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct wire_viewer_index index = bad[i];

		index.status = WIRE_INDEX_OK;
		run(test, 1, 2);
		wire_put_viewer_index(&test->reply, &index);
		refuses(test);
	}
}

static void more_than_was_asked_for(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	put_index(test, WIRE_INDEX_OK, 0, 10, 20);
	put_metadata(test, WIRE_METADATA_OK, "abc");
	put_metadata(test, WIRE_METADATA_NO_NEW, "");
	put_packet(test, WIRE_PACKET_OK, 41, 0);
	refuses(test);
}

static void endless_metadata(void **state)
{
	struct test *test = *state;

	run(test, 1, 2);
	put_index(test, WIRE_INDEX_RETRY, 0, 0, 0);
	wire_put_metadata_reply(&test->reply, &(struct wire_metadata_reply){ UINT64_MAX, WIRE_METADATA_OK });
	refuses(test);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sessions_are_listed),
		TEST(a_session_is_waited_for),
		TEST(metadata_come_before_packets),
		TEST(news_make_unsure),
		TEST(news_come_with_any_status),
		TEST(streams_that_come_later),
		TEST(the_end_is_asked_for_again),
		TEST(ends_when_all_has_ended),
		TEST(goes_on_where_it_was),
		TEST(another_session_is_not_the_same),
		TEST(a_packet_that_is_gone),
		TEST(from_now),
		TEST(from_now_of_lttng),
		TEST(from_now_with_facts),
		TEST(metadata_that_never_come),
		TEST(too_many_sessions),
		TEST(too_many_streams),
		TEST(names_without_end),
		TEST(another_major),
		TEST(what_was_not_asked_for),
		TEST(refusals),
		TEST(senseless_indexes),
		TEST(more_than_was_asked_for),
		TEST(endless_metadata),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
