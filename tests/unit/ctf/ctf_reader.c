/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader on small traces made here byte by byte: bindings, contexts, clocks that go around,
 * loss, rotation, merging, windows, and files that are not what they should be.
 */
#include "ctf_bytes.h"

/* ---- clocks ---- */

#define LTTNG(bits, low, last, al) "event.header := struct { enum : integer { size = " #bits "; align = " #al "; } " \
	"{ compact = 0 ... " #last ", extended } id; variant <id> { struct { integer { size = " #low \
	"; align = " #al "; map = clock.m.value; } timestamp; } compact; struct { " U(32) " id; " TIME(64) \
	" timestamp; } extended; } v; } align(8);"

static void expect_times(const uint64_t *times, unsigned count)
{
	for (int only = 0; only < 2; only++) {
		static const struct kymo_ctf_bind table[] = { { "c", { NULL } } };
		struct kymo_ctf_reader *reader = open_trace();
		struct kymo_ctf_event event;

		/* Times behind events that are passed over must be right as well. */
		kymo_ctf_bind(reader, table, 1, NULL);
		kymo_ctf_only_bound(reader, only);
		for (unsigned i = 0; i < count; i++) {
			if (only && i + 1 < count)
				continue;
			NEXT(reader, &event);
			assert_int_equal(event.clock_ns, times[i]);
		}
		assert_int_equal(event.bound, 0);
		END(reader, &event);
		assert_int_equal(kymo_ctf_warning_count(reader), 0);
		kymo_ctf_close(reader);
	}
}

static void large_header(void **state)
{
	static const uint64_t times[] = { 0x1fffffff0, 0x200000001,     0x2ffffffff,
					  0x300000000, 0x900000000,     0x900000001,
					  0xa00000000, 0xb00000000 - 1, 0xb00000000 };

	(void)state;
	metadata(BEGIN "stream { " PACKET LTTNG(16, 32, 65534, 8) " };\n"
		 "event { name = a; id = 0; }; event { name = b; id = 70000; }; event { name = c; id = 1; };");
	file_begin("s", 1);
	packet_begin(0x1f0000000);
	for (unsigned i = 0; i < 4; i++) {
		put_u64(0, 2);
		put_u64((uint32_t)times[i], 4);
	}
	put_u64(65535, 2);
	put_u64(0, 4);
	put_u64(times[4], 8);
	put_u64(65535, 2);
	put_u64(70000, 4);
	put_u64(times[5], 8);
	for (unsigned i = 6; i < 9; i++) {
		put_u64(i == 8, 2);
		put_u64((uint32_t)times[i], 4);
	}
	p.end = times[8];
	packet_end(0);
	file_end();
	expect_times(times, 9);
}

static void compact_header(void **state)
{
	static const uint64_t times[] = { 0x7fffff0, 0x8000001, 0xfffffff, 0x10000000, 0x900000001,
		0x908000000, 0x910000000 - 1, 0x910000000, 0xa07ffffff, 0xa08000000 };

	(void)state;
	metadata(BEGIN "stream { " PACKET LTTNG(5, 27, 30, 1) " };\n"
		 "event { name = a; id = 30; }; event { name = b; id = 70000; }; event { name = c; id = 1; };");
	file_begin("s", 1);
	packet_begin(0x7f00000);
	for (unsigned i = 0; i < 4; i++)
		put_u64(30 | (times[i] & 0x7ffffff) << 5, 4);
	put_u64(31, 1);
	put_u64(70000, 4);
	put_u64(times[4], 8);
	for (unsigned i = 5; i < 8; i++)
		put_u64(30 | (times[i] & 0x7ffffff) << 5, 4);
	p.end = times[7];
	packet_end(0);
	packet_begin(0xa07fffff0);	/* where the first event has its high bits from */
	for (unsigned i = 8; i < 10; i++)
		put_u64((i == 9 ? 1 : 30) | (times[i] & 0x7ffffff) << 5, 4);
	p.end = times[9];
	packet_end(0);
	file_end();
	expect_times(times, 10);
}

static void slow_clock(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	metadata("trace { major = 1; minor = 8; byte_order = le; packet.header := struct { " U(32) " magic; "
		 U(32) " stream_id; " U(64) " stream_instance_id; }; };\n"
		 "clock { name = m; freq = 3; offset_s = 10; offset = 1; }; stream { " PACKET PLAIN " };\n"
		 "event { name = a; };");
	file_begin("s", 1);
	packet_begin(6);
	event_begin(0, 6000000000000000001);	/* 64 bits are not enough for the product */
	packet_end(0);
	file_end();
	reader = open_trace();
	NEXT(reader, &event);
	assert_int_equal(event.clock_ns, 2000000000000000000ull * 1000000000 + 333333333);
	assert_int_equal((uint64_t)event.ns - event.clock_ns, 10333333333);
	kymo_ctf_close(reader);
}

/* ---- loss, files ---- */

#define SIMPLE BEGIN "stream { " PACKET PLAIN " };\nevent { name = a; fields := struct { " U(8) " x; }; };"

static void one_packet(uint64_t time, unsigned x)
{
	packet_begin(time);
	event_begin(0, time);
	put_u64(x, 1);
	packet_end(0);
}

static void loss(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	metadata(SIMPLE);
	file_begin("s", 1);
	p.discarded = 0xfffffff0;	/* before the first packet of the stream: a loss */
	one_packet(100, 0);
	p.discarded = 4;		/* went around */
	one_packet(200, 0);
	p.discarded = 3;		/* backwards */
	p.seq = 5;
	one_packet(300, 0);
	file_end();
	reader = open_trace();
	NEXT(reader, &event);
	assert_int_equal(event.bound, KYMO_CTF_LOSS);
	assert_int_equal(event.lost, 0xfffffff0);
	NEXT(reader, &event);
	assert_int_equal(event.bound, KYMO_CTF_UNBOUND);
	NEXT(reader, &event);
	assert_int_equal(event.bound, KYMO_CTF_LOSS);
	assert_int_equal(event.lost, 20);
	assert_int_equal(event.loss_begin_ns, 100);
	assert_int_equal(event.loss_end_ns, 200);
	assert_null(event.class);
	NEXT(reader, &event);
	NEXT(reader, &event);
	assert_int_equal(event.bound, KYMO_CTF_LOSS);
	assert_int_equal(event.lost, 0);
	assert_int_equal(event.lost_packets, 3);
	assert_int_equal(event.loss_end_ns, 300);
	NEXT(reader, &event);
	END(reader, &event);
	assert_int_equal(kymo_ctf_warning_count(reader), 1);
	assert_non_null(strstr(kymo_ctf_warning(reader, 0), "goes backwards"));
	assert_int_equal(kymo_ctf_stream(reader, 0)->lost, 0xfffffff0 + 20ull);
	assert_int_equal(kymo_ctf_stream(reader, 0)->lost_packets, 3);
	assert_int_equal(kymo_ctf_stream(reader, 0)->packets, 3);
	assert_int_equal(kymo_ctf_stream(reader, 0)->begin_ns, 100);
	assert_int_equal(kymo_ctf_stream(reader, 0)->end_ns, 300);
	kymo_ctf_close(reader);
}

static void torn_tail(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	for (size_t cut = 8; cut < 30; cut++) {
		unsigned count = 0;

		metadata(SIMPLE);
		file_begin("s", 1);
		one_packet(100, 1);
		packet_begin(200);
		for (unsigned i = 0; i < 3; i++) {
			event_begin(0, 200 + i);
			put_u64(i, 1);
		}
		packet_end(cut);
		file_end();
		reader = open_trace();
		while (kymo_ctf_next(reader, &event, NULL) > 0)
			count++;
		/* 8 bytes of padding may go, then 11 bytes an event. */
		assert_int_equal(count, 4 - (cut - 8 + 10) / 11);
		assert_int_equal(kymo_ctf_warning_count(reader), cut != 8);
		kymo_ctf_close(reader);
	}
}

static void rotation_and_overlap(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	metadata(SIMPLE);
	file_begin("s_1", 4);		/* later, though first by name */
	p.seq = 1;
	one_packet(500, 5);
	file_end();
	file_begin("s_2", 4);
	one_packet(100, 1);
	file_end();
	file_begin("t", 7);		/* the same instance at the same time: two streams */
	one_packet(100, 2);
	one_packet(600, 6);
	file_end();
	file_begin("u", 7);
	one_packet(300, 3);
	file_end();
	reader = open_trace();
	assert_int_equal(kymo_ctf_stream_count(reader), 3);
	for (unsigned i = 0; i < 5; i++) {
		static const uint64_t times[] = { 100, 100, 300, 500, 600 };

		NEXT(reader, &event);
		assert_int_equal(event.bound, KYMO_CTF_UNBOUND);
		assert_int_equal(event.clock_ns, times[i]);
	}
	END(reader, &event);
	assert_int_equal(kymo_ctf_warning_count(reader), 0);
	kymo_ctf_close(reader);
}

/* Many streams with many equal times: time order, then order of streams, then of the file. */
static void merge(void **state)
{
	static const struct kymo_ctf_bind table[] = { { "a", { "x" } } };
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	uint64_t last = 0, seen = 0, window = 0;
	unsigned last_x = 0;

	(void)state;
	srand(1);
	metadata(SIMPLE);
	for (unsigned s = 0; s < 17; s++) {
		char name[8];
		uint64_t time = 0;

		snprintf(name, sizeof name, "s%02u", s);
		file_begin(name, s);
		for (unsigned k = 0; k < 5; k++) {
			packet_begin(time);
			for (unsigned i = 0; i < 40; i++) {
				time += (unsigned)rand() % 3;
				event_begin(0, time);
				put_u64(s, 1);
			}
			packet_end(0);
		}
		file_end();
	}
	reader = open_trace();
	assert_int_equal(kymo_ctf_bind(reader, table, 1, NULL), 0);
	while (kymo_ctf_next(reader, &event, NULL) > 0) {
		assert_true(event.clock_ns > last ||
			    (event.clock_ns == last && event.value[0].u >= last_x));
		assert_int_equal(event.value[0].u, event.stream);
		last = event.clock_ns;
		last_x = event.stream;
		seen++;
		window += last >= 30 && last <= 60;
	}
	assert_int_equal(seen, 17 * 200);
	assert_int_equal(kymo_ctf_window(reader, 1000030, 1000060, NULL), 0);
	for (seen = 0; kymo_ctf_next(reader, &event, NULL) > 0; seen++)
		assert_true(event.clock_ns >= 30 && event.clock_ns <= 60);
	assert_int_equal(seen, window);
	kymo_ctf_close(reader);
}

/* An event larger than the piece of the file that is kept in memory. */
static void huge_event(void **state)
{
	static const struct kymo_ctf_bind table[] = { { "a", { "s" } } };
	static char text[1500000];
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	memset(text, 'x', sizeof text - 1);
	metadata(BEGIN "stream { " PACKET PLAIN " };\nevent { name = a; fields := struct { string s; }; };");
	file_begin("s", 1);
	packet_begin(1);
	for (unsigned i = 0; i < 3; i++) {
		event_begin(0, i + 1);
		put_text(i == 1 ? text : "short");
	}
	packet_end(0);
	file_end();
	reader = open_trace();
	kymo_ctf_bind(reader, table, 1, NULL);
	for (unsigned i = 0; i < 3; i++) {
		NEXT(reader, &event);
		assert_int_equal(event.value[0].size, i == 1 ? sizeof text - 1 : 5);
		assert_string_equal(event.value[0].bytes, i == 1 ? text : "short");
	}
	END(reader, &event);
	kymo_ctf_close(reader);
}

/* An index saves reading; one that lies must not change what is read. */
static void indexes(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	uint64_t entries[40][9];
	char path[300];

	(void)state;
	snprintf(path, sizeof path, "%s/index", directory);
	mkdir(path, 0700);
	for (unsigned lie = 0; lie < 8; lie++) {
		const uint32_t header[4] = { htobe32(0xc1f1dcc1), htobe32(1), htobe32(1),
					     htobe32(72) };
		uint64_t offset = 0;
		FILE *index;

		metadata(SIMPLE);
		file_begin("s", 1);
		for (unsigned i = 0; i < 40; i++) {
			p.discarded = i / 10;
			p.seq += i == 20;
			one_packet(1000 + i * 10, i);

			const uint64_t entry[9] = {
				offset,        (p.used + 8) * 8, p.used * 8, 1000 + i * 10,
				1000 + i * 10, i / 10,           0,          1,
				p.seq - 1
			};

			for (unsigned k = 0; k < 9; k++)
				entries[i][k] = htobe64(entry[k]);
			offset += p.used + 8;
		}
		file_end();
		for (unsigned i = 0; i < 40; i++) {
			if (lie == 1)
				entries[i][0] = htobe64(be64toh(entries[i][0]) + 3);
			if (lie == 2)
				entries[i][3] = entries[i][4] = htobe64(1390 - (uint64_t)i);
			if (lie == 3)
				entries[i][5] = htobe64(i * 7);
			if (lie == 4)
				entries[i][8] = htobe64(i * 7);
			if (lie == 5)
				entries[i][1] = 0;
		}
		snprintf(path, sizeof path, "%s/index/s.idx", directory);
		index = fopen(path, "w");
		fwrite(header, sizeof header, 1, index);
		fwrite(entries,
		       lie == 6   ? sizeof entries / 2
		       : lie == 7 ? 100
				  : sizeof entries,
		       1, index);
		fclose(index);
		reader = open_trace();
		assert_int_equal(kymo_ctf_stream(reader, 0)->packets, 40);
		assert_int_equal(kymo_ctf_stream(reader, 0)->lost, 3);
		assert_int_equal(kymo_ctf_stream(reader, 0)->lost_packets, 1);
		assert_int_equal(kymo_ctf_stream(reader, 0)->begin_ns, 1000);
		assert_int_equal(kymo_ctf_stream(reader, 0)->end_ns, 1390);
		/* Loss before packet 30 is in the window, that before packet 20 is not. */
		kymo_ctf_window(reader, 1000000 + 1300, 1000000 + 1310, NULL);
		NEXT(reader, &event);
		assert_int_equal(event.bound, KYMO_CTF_LOSS);
		assert_int_equal(event.lost, 1);
		NEXT(reader, &event);
		assert_int_equal(event.clock_ns, 1300);
		NEXT(reader, &event);
		assert_int_equal(event.clock_ns, 1310);
		END(reader, &event);
		assert_int_equal(kymo_ctf_warning_count(reader), 0);
		kymo_ctf_close(reader);
	}
}

/* ---- what is no trace ---- */

static void foreign_files(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	metadata(SIMPLE);
	file_begin("good", 1);
	one_packet(100, 1);
	file_end();
	write_text("empty", "");
	write_text("garbage", "this is no packet at all, though it is long enough to hold a header\n");
	write_text("kymo.json", "{}");
	write_text(".hidden", "x");
	reader = open_trace();
	assert_int_equal(kymo_ctf_stream_count(reader), 1);
	assert_int_equal(kymo_ctf_warning_count(reader), 1);
	assert_non_null(strstr(kymo_ctf_warning(reader, 0), "garbage: byte 0: no CTF packet begins here"));
	NEXT(reader, &event);
	END(reader, &event);
	kymo_ctf_close(reader);
}

static void no_trace(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_err err = { 0 };

	(void)state;
	assert_int_equal(kymo_ctf_open("/proc/nowhere/at/all", &reader, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_INPUT);
	assert_non_null(strstr(err.text, "/proc/nowhere/at/all: No such file"));
	assert_int_equal(kymo_ctf_open(directory, &reader, &err), -1);
	assert_non_null(strstr(err.text, "not a CTF trace"));
	metadata("nonsense");
	assert_int_equal(kymo_ctf_open(directory, &reader, &err), -1);
	assert_non_null(strstr(err.text, "metadata:1:1: expected trace"));
	metadata("");
	assert_int_equal(kymo_ctf_open(directory, &reader, &err), -1);
	assert_non_null(strstr(err.text, "the metadata is empty"));
}

static void expect_refused(const char *text, const char *says)
{
	struct kymo_ctf_reader *reader;
	struct kymo_err err = { 0 };

	metadata(text);
	assert_int_equal(kymo_ctf_open(directory, &reader, &err), -1);
	if (!strstr(err.text, says))
		fail_msg("expected \"%s\", got \"%s\"", says, err.text);
}

static void bad_classes(void **state)
{
	(void)state;
	expect_refused(BEGIN "event { name = a; stream_id = 3; }; stream { id = 1; };", "belongs to stream 3");
	expect_refused(BEGIN "stream { }; event { name = a; }; event { name = b; };", "have the same id 0");
	expect_refused(BEGIN "stream { }; event { name = a; fields := struct { string s[n]; }; };", "length or choice of \"s\"");
	expect_refused(BEGIN "stream { }; event { name = a; fields := struct { " U(8) " s[0xffffffffffff]; }; };",
		       "no packet can hold the field \"s\"");
	expect_refused(BEGIN "stream { event.header := struct { integer { size = 64; map = clock.other.value; } t; }; };",
		       "mapped to the clock \"other\"");
}

/* Types that double with each name: refused, not expanded. */
static void doubling_types(void **state)
{
	char text[8192] = BEGIN "struct s0 { string a; };";
	size_t used;

	(void)state;
	for (unsigned i = 1; i < 40; i++) {
		used = strlen(text);
		snprintf(text + used, sizeof text - used, "struct s%u { struct s%u a, b; };", i, i - 1);
	}
	used = strlen(text);
	snprintf(text + used, sizeof text - used,
		 "stream { }; event { name = a; fields := struct { struct s39 s; }; };");
	expect_refused(text, "too many fields");
}

/* An array of nothing takes no bytes; it must not take for ever either. */
static void array_of_nothing(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	FILE *null = fopen("/dev/null", "w");

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };\nevent { name = a; fields := struct { " U(64) " n; "
		 "struct { } x[n]; " U(32) " m; struct { " U(8) " y[0]; } z[m]; }; };");
	file_begin("s", 1);
	packet_begin(1);
	event_begin(0, 1);
	put_u64(UINT64_MAX, 8);
	put_u64(UINT32_MAX, 4);
	packet_end(0);
	file_end();
	reader = open_trace();
	while (kymo_ctf_next(reader, &event, NULL) > 0)
		kymo_ctf_print_event(reader, &event, null);
	kymo_ctf_close(reader);
	fclose(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(large_header, clean),
		cmocka_unit_test_teardown(compact_header, clean),
		cmocka_unit_test_teardown(slow_clock, clean),
		cmocka_unit_test_teardown(loss, clean),
		cmocka_unit_test_teardown(torn_tail, clean),
		cmocka_unit_test_teardown(rotation_and_overlap, clean),
		cmocka_unit_test_teardown(merge, clean),
		cmocka_unit_test_teardown(huge_event, clean),
		cmocka_unit_test_teardown(indexes, clean),
		cmocka_unit_test_teardown(foreign_files, clean),
		cmocka_unit_test_teardown(no_trace, clean),
		cmocka_unit_test_teardown(bad_classes, clean),
		cmocka_unit_test_teardown(doubling_types, clean),
		cmocka_unit_test_teardown(array_of_nothing, clean),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
