/* SPDX-License-Identifier: Apache-2.0 */
/* The client of the live protocol: what it asks, and what it makes of replies. */
#include "live_relay.h"

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
	/* The question for metadata is on its way, the packet waits. */
	expect_nothing(test);
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

/* Also where there is no packet: that of a stream that is silent may be the last answer for
 * long. */
static void news_come_with_any_status(void **state)
{
	static const uint32_t statuses[] = { WIRE_INDEX_OK, WIRE_INDEX_RETRY, WIRE_INDEX_INACTIVE,
					     WIRE_INDEX_HUP };
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
