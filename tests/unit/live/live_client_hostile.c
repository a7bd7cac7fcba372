/* SPDX-License-Identifier: Apache-2.0 */
/* The client of the live protocol: what it does not believe. */
#include "live_relay.h"

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
	static const uint32_t statuses[] = { WIRE_ATTACH_ALREADY, WIRE_ATTACH_NOT_LIVE,
					     WIRE_ATTACH_SEEK, 0, 77 };
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
	wire_put_metadata_reply(&test->reply,
				&(struct wire_metadata_reply){ UINT64_MAX, WIRE_METADATA_OK });
	refuses(test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
