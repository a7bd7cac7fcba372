/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader on small traces made here byte by byte: bindings, contexts, clocks that go around,
 * loss, rotation, merging, windows, and files that are not what they should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <endian.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/reader.h"

#define U(size) "integer { size = " #size "; align = 8; }"
#define TIME(size) "integer { size = " #size "; align = 8; map = clock.m.value; }"
#define BEGIN "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { " \
	U(32) " magic; " U(32) " stream_id; " U(64) " stream_instance_id; }; };\n" \
	"clock { name = m; offset = 1000000; };\n"
#define PACKET "packet.context := struct { " TIME(64) " timestamp_begin; " TIME(64) " timestamp_end; " \
	U(64) " content_size; " U(64) " packet_size; " U(64) " packet_seq_num; " U(32) " events_discarded; " \
	U(32) " cpu_id; integer { size = 32; align = 8; signed = true; } vpid; };"
#define PLAIN "event.header := struct { " U(16) " id; " TIME(64) " timestamp; };"
#define HEADER_BYTES (16 + 52)

static char directory[] = "/dev/shm/kymo-reader.XXXXXX";

/* The packet under construction, and the file it goes to. */
static struct {
	uint8_t bytes[1 << 21];
	size_t used;
	uint64_t end;
	uint32_t discarded;
	uint64_t instance, seq;
	FILE *file;
} p;

static void put(const void *bytes, size_t size)
{
	memcpy(p.bytes + p.used, bytes, size);
	p.used += size;
}

static void put_u64(uint64_t value, size_t size)
{
	put(&value, size);
}

static void put_text(const char *text)
{
	put(text, strlen(text) + 1);
}

static void file_begin(const char *name, uint64_t instance)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	p.file = fopen(path, "w");
	assert_non_null(p.file);
	p.instance = instance;
	p.seq = p.discarded = 0;
}

static void packet_begin(uint64_t begin)
{
	p.used = 0;
	put_u64(0xc1fc1fc1, 4);
	put_u64(0, 4);
	put_u64(p.instance, 8);
	put_u64(begin, 8);
	p.used = HEADER_BYTES - 8;
	put_u64(3, 4);			/* cpu_id */
	put_u64((uint32_t)-42, 4);	/* vpid */
	p.end = begin;
}

static void event_begin(unsigned id, uint64_t time)
{
	put_u64(id, 2);
	put_u64(time, 8);
	p.end = time;
}

/* @cut: bytes that do not make it into the file. */
static void packet_end(size_t cut)
{
	const uint64_t context[4] = { p.end, p.used * 8, (p.used + 8) * 8, p.seq++ };
	size_t size = p.used;

	memcpy(p.bytes + 24, context, sizeof context);
	memcpy(p.bytes + 56, &p.discarded, 4);
	put_u64(0, 8);			/* padding */
	assert_int_equal(fwrite(p.bytes, 1, p.used - cut, p.file), p.used - cut);
	p.used = size;
}

static void file_end(void)
{
	fclose(p.file);
}

static void write_text(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
}

static void metadata(const char *text)
{
	write_text("metadata", text);
}

static struct ctf_reader *open_trace(void)
{
	struct ctf_reader *reader = NULL;
	struct err err = { 0 };

	if (ctf_open(directory, &reader, &err))
		fail_msg("%s", err.text);
	return reader;
}

static int clean(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s/*", directory);
	return system(command);
}

#define NEXT(reader, event) assert_int_equal(ctf_next(reader, event, NULL), 1)
#define END(reader, event) assert_int_equal(ctf_next(reader, event, NULL), 0)

/* ---- values ---- */

static void bindings(void **state)
{
	static const struct ctf_bind table[] = {
		{ "a", { "number", "text", "list", "fixed", "bytes", "real", "missing", "cpu_id" } },
		{ "b", { "number" } },
		{ "not in this trace", { "x" } },
	};
	const int16_t list[3] = { 1, -2, 3 };
	struct ctf_reader *reader;
	struct ctf_event event;
	double real = 2.5;

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN
		 "event.context := struct { integer { size = 32; signed = true; } _vtid; "
		 "integer { size = 8; encoding = UTF8; } _procname[4]; " U(64) " _init_timestamp; }; };\n"
		 "event { name = a; id = 0; fields := struct { integer { size = 16; signed = true; } _number; "
		 "string text; " U(8) " __list_length; integer { size = 16; signed = true; align = 8; } "
		 "_list[__list_length]; integer { size = 8; encoding = UTF8; } fixed[4]; " U(8) " bytes[3]; "
		 "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } real; }; };\n"
		 "event { name = b; id = 70000; };"
		 "event { name = c; id = 2; fields := struct { string number; }; };");
	file_begin("s", 1);
	packet_begin(100);
	event_begin(0, 101);
	put_u64((uint32_t)-7, 4);
	put("name", 4);
	put_u64(55, 8);
	put_u64((uint16_t)-300, 2);
	put_text("");
	put_u64(3, 1);
	put(list, sizeof list);
	put("four", 4);
	put("\1\2\3", 3);
	put(&real, 8);
	event_begin(2, 102);
	put_u64(8, 4);
	put("ab\0\0", 4);
	put_u64(0, 8);
	put_text("not bound");
	packet_end(0);
	file_end();
	reader = open_trace();
	assert_int_equal(ctf_bind(reader, table, 3, NULL), 0);
	NEXT(reader, &event);
	assert_int_equal(event.bound, 0);
	assert_int_equal(event.clock_ns, 101);
	assert_int_equal(event.ns, 1000101);
	assert_int_equal(event.vpid, -42);
	assert_int_equal(event.vtid, -7);
	assert_int_equal(event.cpu, 3);
	assert_int_equal(event.init_ns, 55);
	assert_string_equal(event.procname, "name");	/* has no NUL in the trace */
	assert_int_equal(event.value[0].i, -300);
	assert_int_equal(event.value[1].size, 0);
	assert_string_equal(event.value[1].bytes, "");
	assert_int_equal(event.value[2].size, 3);
	assert_memory_equal(event.value[2].bytes, list, sizeof list);
	assert_string_equal(event.value[3].bytes, "four");
	assert_int_equal(event.value[3].size, 4);
	assert_int_equal(event.value[4].size, 3);
	assert_memory_equal(event.value[4].bytes, "\1\2\3", 3);
	assert_true(event.value[5].f > 2.4 && event.value[5].f < 2.6);
	assert_false(event.value[6].present);
	assert_int_equal(event.value[6].u, 0);
	assert_int_equal(event.value[7].u, 3);		/* from the packet context */
	NEXT(reader, &event);
	assert_int_equal(event.bound, CTF_UNBOUND);
	assert_string_equal(event.class->name, "c");
	assert_string_equal(event.procname, "ab");
	assert_string_equal(event.class->field[0].type, "string");
	END(reader, &event);
	assert_int_equal(ctf_warning_count(reader), 0);
	ctf_close(reader);
}

/* Fields inside structures, variants, arrays and sequences; labels. */
static void nested_bindings(void **state)
{
	static const struct ctf_bind table[] = {
		{ "a", { "pose.at.x", "pose.y", "v.text", "v.pair.n", "points[2].x", "words[1]", "kind", "pose" } },
		{ "b", { "grid[1][2]", "kinds[0]", "far[9]", "grid[1].x", "name[0]", "flags" } },
	};
	static const struct ctf_bind twice[] = { { "b", { "kinds[0]", "kinds[1]" } } };
	struct err err = { 0 };
	struct ctf_reader *reader;
	struct ctf_event event;
	const float y = -1.5f;

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };\n"
		 "enum kind : " U(8) " { none, TEXT = 1 ... 3, PAIR = 7 };"
		 "event { name = a; id = 0; fields := struct { struct { struct { integer { size = 16; align = 8; "
		 "byte_order = be; } _x; } at; floating_point { exp_dig = 8; mant_dig = 24; align = 8; } y; } pose; "
		 "enum kind kind; variant <kind> { string TEXT; struct { " U(8) " m; " U(32) " n; } PAIR; } v0; "
		 "enum : " U(8) " { text, pair } choice; variant <choice> { string text; struct { " U(8) " n; } pair; } v; "
		 "struct { " U(8) " x, y; } points[3]; " U(8) " n; string words[n]; }; };"
		 "event { name = b; id = 1; fields := struct { " U(16) " grid[2][3]; enum kind kinds[2]; " U(8) " far[2]; "
		 "integer { size = 8; encoding = UTF8; } name[2]; integer { size = 3; } flags; }; };");
	file_begin("s", 1);
	packet_begin(100);
	for (unsigned i = 0; i < 2; i++) {
		event_begin(0, 101 + i);
		put_u64(htobe16(0x1234), 2);
		put(&y, 4);
		put_u64(2, 1);
		put_text("other");
		put_u64(i, 1);
		if (i)
			put_u64(99, 1);
		else
			put_text("chosen");
		put("\1\2\3\4\5\6", 6);
		put_u64(i + 1, 1);
		put_text("first");
		if (i)
			put_text("second");
	}
	event_begin(1, 103);
	for (unsigned i = 0; i < 6; i++)
		put_u64(10 + i, 2);
	put("\7\10\1\2", 4);
	put("ab\5", 3);
	packet_end(0);
	file_end();
	reader = open_trace();
	assert_int_equal(ctf_bind(reader, table, 2, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		NEXT(reader, &event);
		assert_int_equal(event.value[0].u, 0x1234);
		assert_true(event.value[1].f < -1.4 && event.value[1].f > -1.6);
		assert_int_equal(event.value[2].present, !i);
		assert_int_equal(event.value[3].present, i);
		if (i)
			assert_int_equal(event.value[3].u, 99);
		else
			assert_string_equal(event.value[2].bytes, "chosen");
		assert_int_equal(event.value[4].u, 5);
		assert_int_equal(event.value[5].present, i);
		if (i)
			assert_string_equal(event.value[5].bytes, "second");
		assert_int_equal(event.value[6].u, 2);
		assert_string_equal(ctf_label(&event, 6), "TEXT");
		assert_null(ctf_label(&event, 0));
		assert_false(event.value[7].present);
	}
	NEXT(reader, &event);
	assert_int_equal(event.value[0].u, 15);
	assert_int_equal(event.value[1].u, 7);
	assert_string_equal(ctf_label(&event, 1), "PAIR");
	assert_false(event.value[2].present);	/* there are two */
	assert_null(ctf_label(&event, 2));
	assert_false(event.value[3].present);
	assert_false(event.value[4].present);
	assert_int_equal(event.value[5].u, 5);
	END(reader, &event);
	assert_int_equal(ctf_bind(reader, twice, 1, &err), -1);
	assert_non_null(strstr(err.text, "kinds[1]"));
	ctf_close(reader);
}

/* ---- clocks ---- */

#define LTTNG(bits, low, last, al) "event.header := struct { enum : integer { size = " #bits "; align = " #al "; } " \
	"{ compact = 0 ... " #last ", extended } id; variant <id> { struct { integer { size = " #low \
	"; align = " #al "; map = clock.m.value; } timestamp; } compact; struct { " U(32) " id; " TIME(64) \
	" timestamp; } extended; } v; } align(8);"

static void expect_times(const uint64_t *times, unsigned count)
{
	for (int only = 0; only < 2; only++) {
		static const struct ctf_bind table[] = { { "c", { NULL } } };
		struct ctf_reader *reader = open_trace();
		struct ctf_event event;

		/* Times behind events that are passed over must be right as well. */
		ctf_bind(reader, table, 1, NULL);
		ctf_only_bound(reader, only);
		for (unsigned i = 0; i < count; i++) {
			if (only && i + 1 < count)
				continue;
			NEXT(reader, &event);
			assert_int_equal(event.clock_ns, times[i]);
		}
		assert_int_equal(event.bound, 0);
		END(reader, &event);
		assert_int_equal(ctf_warning_count(reader), 0);
		ctf_close(reader);
	}
}

static void large_header(void **state)
{
	static const uint64_t times[] = { 0x1fffffff0, 0x200000001, 0x2ffffffff, 0x300000000, 0x900000000,
		0x900000001, 0xa00000000, 0xb00000000 - 1, 0xb00000000 };

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
		0x908000000, 0x910000000 - 1, 0x910000000 };

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
		put_u64((i == 7 ? 1 : 30) | (times[i] & 0x7ffffff) << 5, 4);
	p.end = times[7];
	packet_end(0);
	file_end();
	expect_times(times, 8);
}

static void slow_clock(void **state)
{
	struct ctf_reader *reader;
	struct ctf_event event;

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
	ctf_close(reader);
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
	struct ctf_reader *reader;
	struct ctf_event event;

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
	assert_int_equal(event.bound, CTF_LOSS);
	assert_int_equal(event.lost, 0xfffffff0);
	NEXT(reader, &event);
	assert_int_equal(event.bound, CTF_UNBOUND);
	NEXT(reader, &event);
	assert_int_equal(event.bound, CTF_LOSS);
	assert_int_equal(event.lost, 20);
	assert_int_equal(event.loss_begin_ns, 100);
	assert_int_equal(event.loss_end_ns, 200);
	assert_null(event.class);
	NEXT(reader, &event);
	NEXT(reader, &event);
	assert_int_equal(event.bound, CTF_LOSS);
	assert_int_equal(event.lost, 0);
	assert_int_equal(event.lost_packets, 3);
	assert_int_equal(event.loss_end_ns, 300);
	NEXT(reader, &event);
	END(reader, &event);
	assert_int_equal(ctf_warning_count(reader), 1);
	assert_non_null(strstr(ctf_warning(reader, 0), "goes backwards"));
	assert_int_equal(ctf_stream(reader, 0)->lost, 0xfffffff0 + 20ull);
	assert_int_equal(ctf_stream(reader, 0)->lost_packets, 3);
	assert_int_equal(ctf_stream(reader, 0)->packets, 3);
	assert_int_equal(ctf_stream(reader, 0)->begin_ns, 100);
	assert_int_equal(ctf_stream(reader, 0)->end_ns, 300);
	ctf_close(reader);
}

static void torn_tail(void **state)
{
	struct ctf_reader *reader;
	struct ctf_event event;

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
		while (ctf_next(reader, &event, NULL) > 0)
			count++;
		/* 8 bytes of padding may go, then 11 bytes an event. */
		assert_int_equal(count, 4 - (cut - 8 + 10) / 11);
		assert_int_equal(ctf_warning_count(reader), cut != 8);
		ctf_close(reader);
	}
}

static void rotation_and_overlap(void **state)
{
	struct ctf_reader *reader;
	struct ctf_event event;

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
	assert_int_equal(ctf_stream_count(reader), 3);
	for (unsigned i = 0; i < 5; i++) {
		static const uint64_t times[] = { 100, 100, 300, 500, 600 };

		NEXT(reader, &event);
		assert_int_equal(event.bound, CTF_UNBOUND);
		assert_int_equal(event.clock_ns, times[i]);
	}
	END(reader, &event);
	assert_int_equal(ctf_warning_count(reader), 0);
	ctf_close(reader);
}

/* Many streams with many equal times: time order, then order of streams, then of the file. */
static void merge(void **state)
{
	static const struct ctf_bind table[] = { { "a", { "x" } } };
	struct ctf_reader *reader;
	struct ctf_event event;
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
	assert_int_equal(ctf_bind(reader, table, 1, NULL), 0);
	while (ctf_next(reader, &event, NULL) > 0) {
		assert_true(event.clock_ns > last || (event.clock_ns == last && event.value[0].u >= last_x));
		assert_int_equal(event.value[0].u, event.stream);
		last = event.clock_ns;
		last_x = event.stream;
		seen++;
		window += last >= 30 && last <= 60;
	}
	assert_int_equal(seen, 17 * 200);
	assert_int_equal(ctf_window(reader, 1000030, 1000060, NULL), 0);
	for (seen = 0; ctf_next(reader, &event, NULL) > 0; seen++)
		assert_true(event.clock_ns >= 30 && event.clock_ns <= 60);
	assert_int_equal(seen, window);
	ctf_close(reader);
}

/* An event larger than the piece of the file that is kept in memory. */
static void huge_event(void **state)
{
	static const struct ctf_bind table[] = { { "a", { "s" } } };
	static char text[1500000];
	struct ctf_reader *reader;
	struct ctf_event event;

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
	ctf_bind(reader, table, 1, NULL);
	for (unsigned i = 0; i < 3; i++) {
		NEXT(reader, &event);
		assert_int_equal(event.value[0].size, i == 1 ? sizeof text - 1 : 5);
		assert_string_equal(event.value[0].bytes, i == 1 ? text : "short");
	}
	END(reader, &event);
	ctf_close(reader);
}

/* An index saves reading; one that lies must not change what is read. */
static void indexes(void **state)
{
	struct ctf_reader *reader;
	struct ctf_event event;
	uint64_t entries[40][9];
	char path[300];

	(void)state;
	snprintf(path, sizeof path, "%s/index", directory);
	mkdir(path, 0700);
	for (unsigned lie = 0; lie < 8; lie++) {
		const uint32_t header[4] = { htobe32(0xc1f1dcc1), htobe32(1), htobe32(1), htobe32(72) };
		uint64_t offset = 0;
		FILE *index;

		metadata(SIMPLE);
		file_begin("s", 1);
		for (unsigned i = 0; i < 40; i++) {
			p.discarded = i / 10;
			p.seq += i == 20;
			one_packet(1000 + i * 10, i);

			const uint64_t entry[9] = { offset, (p.used + 8) * 8, p.used * 8, 1000 + i * 10,
				1000 + i * 10, i / 10, 0, 1, p.seq - 1 };

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
		fwrite(entries, lie == 6 ? sizeof entries / 2 : lie == 7 ? 100 : sizeof entries, 1, index);
		fclose(index);
		reader = open_trace();
		assert_int_equal(ctf_stream(reader, 0)->packets, 40);
		assert_int_equal(ctf_stream(reader, 0)->lost, 3);
		assert_int_equal(ctf_stream(reader, 0)->lost_packets, 1);
		assert_int_equal(ctf_stream(reader, 0)->begin_ns, 1000);
		assert_int_equal(ctf_stream(reader, 0)->end_ns, 1390);
		/* Loss before packet 30 is in the window, that before packet 20 is not. */
		ctf_window(reader, 1000000 + 1300, 1000000 + 1310, NULL);
		NEXT(reader, &event);
		assert_int_equal(event.bound, CTF_LOSS);
		assert_int_equal(event.lost, 1);
		NEXT(reader, &event);
		assert_int_equal(event.clock_ns, 1300);
		NEXT(reader, &event);
		assert_int_equal(event.clock_ns, 1310);
		END(reader, &event);
		assert_int_equal(ctf_warning_count(reader), 0);
		ctf_close(reader);
	}
}

/* ---- what is no trace ---- */

static void foreign_files(void **state)
{
	struct ctf_reader *reader;
	struct ctf_event event;

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
	assert_int_equal(ctf_stream_count(reader), 1);
	assert_int_equal(ctf_warning_count(reader), 1);
	assert_non_null(strstr(ctf_warning(reader, 0), "garbage: byte 0: no CTF packet begins here"));
	NEXT(reader, &event);
	END(reader, &event);
	ctf_close(reader);
}

static void no_trace(void **state)
{
	struct ctf_reader *reader;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(ctf_open("/nowhere/at/all", &reader, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_non_null(strstr(err.text, "/nowhere/at/all: No such file"));
	assert_int_equal(ctf_open(directory, &reader, &err), -1);
	assert_non_null(strstr(err.text, "no CTF trace is here"));
	metadata("nonsense");
	assert_int_equal(ctf_open(directory, &reader, &err), -1);
	assert_non_null(strstr(err.text, "metadata:1:1: expected trace"));
	metadata("");
	assert_int_equal(ctf_open(directory, &reader, &err), -1);
	assert_non_null(strstr(err.text, "the metadata is empty"));
}

static void expect_refused(const char *text, const char *says)
{
	struct ctf_reader *reader;
	struct err err = { 0 };

	metadata(text);
	assert_int_equal(ctf_open(directory, &reader, &err), -1);
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
	struct ctf_reader *reader;
	struct ctf_event event;
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
	while (ctf_next(reader, &event, NULL) > 0)
		ctf_print_event(reader, &event, null);
	ctf_close(reader);
	fclose(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(bindings, clean), cmocka_unit_test_teardown(nested_bindings, clean),
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
