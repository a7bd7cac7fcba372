/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/*
 * Threads that find events ahead must not change what is read: the same trace, with packets of
 * all sizes, texts, losses, a huge event, damage and a torn end, is written out event by event
 * with and without them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#include "ctf/read/reader.h"

#define U(size) "integer { size = " #size "; align = 8; }"
#define TIME "integer { size = 64; align = 8; map = clock.m.value; }"
#define STREAMS 6
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__ /* takes up to 20 times as long */
#define PACKETS 28
#define LARGE_EACH 14
#define WINDOW 3000, 15000
#define LEAST_THREADS 4
#else
#define PACKETS 60
#define LARGE_EACH 7
#define WINDOW 20000, 60000
#define LEAST_THREADS 2
#endif
#define BIG 700000

static const char metadata[] =
	"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { " U(32) " magic; "
	U(32) " stream_id; " U(64) " stream_instance_id; }; };\n"
	"clock { name = m; };\n"
	"stream { packet.context := struct { " TIME " timestamp_begin; " TIME " timestamp_end; "
	U(64) " content_size; " U(64) " packet_size; " U(64) " packet_seq_num; " U(32) " events_discarded; "
	U(8) " extra; string procname; };"
	"event.header := struct { " U(16) " id; " TIME " timestamp; }; };\n"
	"event { name = number; id = 0; fields := struct { " U(64) " x; }; };"
	"event { name = text; id = 1; fields := struct { string s; " U(8) " n; " U(16) " list[n]; }; };"
	"event { name = none; id = 2; };"
	"event { name = rest; id = 3; fields := struct { " U(8) " bytes[stream.packet.context.extra]; }; };";

static char directory[] = "/dev/shm/kymo-ahead.XXXXXX";
static uint8_t packet[2 * BIG];
static size_t used;

static void put(const void *bytes, size_t size)
{
	memcpy(packet + used, bytes, size);
	used += size;
}

static void put_u64(uint64_t value, size_t size)
{
	put(&value, size);
}

static void put_event(uint64_t time, unsigned extra)
{
	static char big[BIG];
	unsigned id = (unsigned)rand() % 4;

	put_u64(id, 2);
	put_u64(time, 8);
	if (id == 0) {
		put_u64((uint64_t)rand(), 8);
	} else if (id == 1 && rand() % 3000 == 0) {
		memset(big, 'b', sizeof big - 1);
		put(big, sizeof big);
		put_u64(0, 1);
	} else if (id == 1) {
		put("some text", 10);
		put_u64(2, 1);
		put_u64(0x12345678, 4);
	} else if (id == 3) {
		put(big, extra);
	}
}

static void write_stream(unsigned stream)
{
	uint64_t time = 0, seq = 0, discarded = 0;
	char path[100];
	FILE *file;

	snprintf(path, sizeof path, "%s/s%u", directory, stream);
	file = fopen(path, "w");
	assert_non_null(file);
	for (unsigned k = 0; k < PACKETS; k++) {
		unsigned events = (unsigned)rand() % (k % LARGE_EACH ? 300 : 6000), extra = k % 5;
		uint64_t begin = time, context[4];

		used = 0;
		put_u64(0xc1fc1fc1, 4);
		put_u64(0, 4);
		put_u64(stream, 8);
		used += 32;
		put_u64(seq, 8);
		put_u64(discarded, 4);
		put_u64(extra, 1);
		put("process", 8);
		for (unsigned i = 0; i < events && used < BIG; i++) {
			time += (unsigned)rand() % 5;
			put_event(time, extra);
		}
		if (stream == 3 && k == 20)
			memset(packet + used / 2, 0xff, 20);	/* no class has this id */
		context[0] = begin;
		context[1] = time;
		context[2] = context[3] = used * 8;
		memcpy(packet + 16, context, sizeof context);
		seq += 1 + (k % 11 == 3);
		discarded += k % 13 == 4;
		if (stream == 4 && k == PACKETS - 1)
			used -= 5;
		assert_int_equal(fwrite(packet, 1, used, file), used);
	}
	fclose(file);
}

static int make_trace(void **state)
{
	char path[100];
	FILE *file;

	(void)state;
	srand(7);
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof path, "%s/metadata", directory);
	file = fopen(path, "w");
	fputs(metadata, file);
	fclose(file);
	for (unsigned i = 0; i < STREAMS; i++)
		write_stream(i);
	return 0;
}

static int remove_trace(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", directory);
	return system(command);
}

static const struct kymo_ctf_bind table[] = {
	{ "number", { "x", "extra" } }, { "text", { "s", "list" } }, { "rest", { "bytes" } },
};

static struct kymo_ctf_reader *open_trace(unsigned threads, bool only_bound)
{
	struct kymo_ctf_reader *reader = NULL;
	struct kymo_err err = { 0 };

	if (kymo_ctf_open(directory, &reader, &err) || kymo_ctf_bind(reader, table, 3, &err))
		fail_msg("%s", err.text);
	kymo_ctf_only_bound(reader, only_bound);
	kymo_ctf_threads(reader, threads);
	return reader;
}

static void tell(struct kymo_ctf_reader *reader, const struct kymo_ctf_event *event, FILE *out,
		 unsigned *losses)
{
	fprintf(out, "%u %d %lld %s ", event->stream, event->bound, (long long)event->ns, event->procname);
	if (event->bound == KYMO_CTF_LOSS) {
		fprintf(out, "%llu %llu\n", (unsigned long long)event->lost, (unsigned long long)event->lost_packets);
		++*losses;
	} else if (event->bound == 0) {
		fprintf(out, "%llu %llu\n", (unsigned long long)event->value[0].u, (unsigned long long)event->value[1].u);
	} else if (event->bound == 1) {
		fprintf(out, "%s %u %d\n", event->value[0].bytes, event->value[1].size,
			event->value[1].size ? event->value[1].bytes[3] : 0);
	} else {
		kymo_ctf_print_event_json(reader, event, out);
	}
}

/* Everything that comes, as text. */
static char *transcript(unsigned threads, bool only_bound, bool window, size_t *size)
{
	struct kymo_ctf_reader *reader = open_trace(threads, only_bound);
	struct kymo_ctf_event event;
	unsigned losses = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (window)
		assert_int_equal(kymo_ctf_window(reader, WINDOW, NULL), 0);
	for (int pass = 0; pass < 2; pass++) {
		while (kymo_ctf_next(reader, &event, NULL) > 0)
			tell(reader, &event, out, &losses);
		assert_int_equal(kymo_ctf_next(reader, &event, NULL), 0);
		assert_int_equal(kymo_ctf_rewind(reader, NULL), 0);
	}
	assert_true(losses > (window ? 1 : 2 * 4 * STREAMS));
	if (!window)
		assert_int_equal(kymo_ctf_warning_count(reader), 2);
	kymo_ctf_close(reader);
	fclose(out);
	assert_true(*size > 50000);
	return text;
}

static void same(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 4; way++) {
		size_t size, other_size;
		char *alone = transcript(1, way & 1, way & 2, &size);

		for (unsigned threads = LEAST_THREADS; threads < 5; threads += 2) {
			char *other = transcript(threads, way & 1, way & 2, &other_size);

			assert_int_equal(size, other_size);
			assert_memory_equal(alone, other, size);
			free(other);
		}
		free(alone);
	}
}

/* Who stops in the middle leaves nothing behind. */
static void left_early(void **state)
{
	struct kymo_ctf_event event;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct kymo_ctf_reader *reader = open_trace(3, i & 1);

		for (unsigned k = 0; k < i * i * 50; k++)
			assert_int_equal(kymo_ctf_next(reader, &event, NULL), 1);
		assert_int_equal(kymo_ctf_stream(reader, 1)->packets, PACKETS);
		kymo_ctf_close(reader);
	}
}

/* The first event `number` of stream 0 in a packet with @extra is printed with the context of that
 * packet. */
static void print_first(struct kymo_ctf_reader *reader, unsigned extra)
{
	struct kymo_ctf_event event;
	char *text = NULL, wanted[20];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	do
		assert_int_equal(kymo_ctf_next(reader, &event, NULL), 1);
	while (event.stream || event.bound || event.value[1].u != extra);
	kymo_ctf_print_event_json(reader, &event, out);
	fclose(out);
	snprintf(wanted, sizeof wanted, "\"extra\":%u", extra);
	assert_non_null(strstr(text, wanted));
	free(text);
}

/* Nothing that was printed with threads is mistaken for another packet without them. */
static void printed_again(void **state)
{
	(void)state;
	for (unsigned extra = 0; extra < 5; extra++) {
		struct kymo_ctf_reader *reader = open_trace(3, false);

		print_first(reader, 0);
		kymo_ctf_threads(reader, 1);
		assert_int_equal(kymo_ctf_rewind(reader, NULL), 0);
		print_first(reader, extra);
		kymo_ctf_close(reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same), cmocka_unit_test(left_early),
					    cmocka_unit_test(printed_again) };

	return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
