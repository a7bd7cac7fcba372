/* SPDX-License-Identifier: Apache-2.0 */
/* Packets whose times cannot be true are reported, and their events are read. */
#include "ctf_bytes.h"

#define CLOCK                                                                            \
	"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { " U(   \
		32) " magic; " U(32) " stream_id; " U(64) " stream_instance_id; }; };\n" \
							  "clock { name = m; offset = "  \
							  "1795204104943873910; };\n"
#define EVENT "event { id = 1; name = \"e\"; fields := struct { " U(8) " x; }; };"
#define S UINT64_C(1000000000)

static void put_packet(uint64_t begin, uint64_t end)
{
	packet_begin(begin);
	event_begin(1, end);
	put_u64(1, 1);
	p.end = end;
	packet_end(0);
}

/* The warnings of a trace with these packets, which must all be read. */
static unsigned warnings_of(const uint64_t times[][2], unsigned count, const char *text)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	unsigned events = 0, warnings;

	metadata(CLOCK "stream { " PACKET PLAIN " };" EVENT);
	file_begin("s", 1);
	for (unsigned i = 0; i < count; i++)
		put_packet(times[i][0], times[i][1]);
	file_end();
	reader = open_trace();
	while (kymo_ctf_next(reader, &event, NULL) > 0)
		events++;
	assert_int_equal(events, count);
	warnings = kymo_ctf_warning_count(reader);
	for (unsigned i = 0; i < warnings; i++)
		assert_non_null(strstr(kymo_ctf_warning(reader, i), text));
	kymo_ctf_close(reader);
	return warnings;
}

static void whole_packets(void **state)
{
	/* The third one begins a little before the second: clocks of two CPUs. */
	const uint64_t times[][2] = { { S, S }, { 2 * S, 3 * S }, { 2 * S - 1000, 4 * S } };

	(void)state;
	assert_int_equal(warnings_of(times, 3, ""), 0);
}

static void packets_that_go_back(void **state)
{
	const uint64_t times[][2] = { { 5 * S, 6 * S }, { 2 * S, 7 * S }, { 8 * S, 9 * S } };

	(void)state;
	assert_int_equal(warnings_of(times, 3, "damaged: it begins before the packet"), 1);
}

static void a_packet_that_ends_before_it_begins(void **state)
{
	const uint64_t times[][2] = { { S, 2 * S }, { 4 * S, 3 * S } };

	(void)state;
	assert_int_equal(warnings_of(times, 2, "damaged: it ends before it begins"), 1);
}

static void a_packet_of_the_boot(void **state)
{
	const uint64_t times[][2] = { { 0, S }, { 2 * S, 2 * S } };

	(void)state;
	assert_int_equal(warnings_of(times, 2, "damaged: it begins at the boot"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(whole_packets, clean),
		cmocka_unit_test_teardown(packets_that_go_back, clean),
		cmocka_unit_test_teardown(a_packet_that_ends_before_it_begins, clean),
		cmocka_unit_test_teardown(a_packet_of_the_boot, clean),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
