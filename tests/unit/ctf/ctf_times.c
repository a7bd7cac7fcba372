/* SPDX-License-Identifier: Apache-2.0 */
/* Times that a trace cannot have had: those that are returned can be subtracted, and damaged
 * packets are named. */
#include "ctf_bytes.h"

#define EVENT "event { id = 1; name = \"e\"; fields := struct { " U(8) " x; }; };"

static void put_event(uint64_t time)
{
	event_begin(1, time);
	put_u64(1, 1);
}

static void any_two_can_be_subtracted(void **state)
{
	const uint64_t times[] = { 1000, INT64_MAX - 5, (uint64_t)INT64_MIN + 7,
				   UINT64_MAX - 20000000 };
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	int64_t first = INT64_MAX, last = INT64_MIN, difference;
	unsigned events = 0;

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	file_begin("s", 1);
	packet_begin(1000);
	for (unsigned i = 0; i < 4; i++)
		put_event(times[i]);
	packet_end(0);
	file_end();
	reader = open_trace();
	for (; kymo_ctf_next(reader, &event, NULL) > 0; events++) {
		first = event.ns < first ? event.ns : first;
		last = event.ns > last ? event.ns : last;
	}
	assert_int_equal(events, 4);
	assert_false(__builtin_sub_overflow(last, first, &difference));
	assert_false(__builtin_sub_overflow(kymo_ctf_time_of(reader, 0, (uint64_t)INT64_MAX - 9),
					    first, &difference));
	assert_false(__builtin_sub_overflow(kymo_ctf_time_of(reader, 0, (uint64_t)INT64_MIN), last,
					    &difference));
	kymo_ctf_close(reader);
}

/* What a writer makes that subtracts 20 ms from 0. */
static void damaged_packets(void **state)
{
	const struct kymo_ctf_stream_info *info;
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	file_begin("s", 1);
	packet_begin(UINT64_MAX - 20000000);
	packet_end(0);
	packet_begin(5000);
	put_event(5010);
	packet_end(0);
	file_end();
	reader = open_trace();
	NEXT(reader, &event);
	assert_int_equal(event.clock_ns, 5010);
	END(reader, &event);
	info = kymo_ctf_stream(reader, 0);
	assert_int_equal(info->end_ns, 5010);
	assert_true(info->begin_ns <= 5000);
	assert_int_equal(kymo_ctf_warning_count(reader), 1);
	assert_non_null(
		strstr(kymo_ctf_warning(reader, 0), "the times of this packet are damaged"));
	kymo_ctf_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(any_two_can_be_subtracted, clean),
		cmocka_unit_test_teardown(damaged_packets, clean),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
