/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that a collector knows to be lost (index/CHANNEL.lost): each counts once, wherever in the
 * stream it was. */
#include "ctf_bytes.h"

#include "ctf/format/index.h"

#define EVENT "event { id = 1; name = \"e\"; fields := struct { " U(8) " x; }; };"
/* PACKET without packet_seq_num: something else is in its place. */
static const char *no_numbers(void)
{
	static char text[] = BEGIN "stream { " PACKET PLAIN " };" EVENT;
	char *name = strstr(text, "packet_seq_num");

	if (name)
		memcpy(name, "something_else", strlen("something_else"));
	return text;
}

/* A packet of one event; its times are 100 times its number. */
static void put_packet(uint64_t seq, uint32_t discarded)
{
	p.seq = seq;
	p.discarded = discarded;
	packet_begin(100 * seq);
	event_begin(1, 100 * seq + 50);
	put_u64(1, 1);
	packet_end(0);
}

/* Entries of index/@channel.lost, appended; the first call writes the header. @seq: UINT64_MAX ends
 * the list. */
static void put_lost(const char *channel, uint32_t discarded, bool numbered, const uint64_t seq[])
{
	const uint32_t header[] = { htobe32(CTF_INDEX_MAGIC), htobe32(1), htobe32(1), htobe32(88) };
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/index", directory);
	(void)mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/index/%s.lost", directory, channel);
	file = fopen(path, "a");
	assert_non_null(file);
	if (ftell(file) == 0)
		assert_int_equal(fwrite(header, sizeof header, 1, file), 1);
	for (; *seq != UINT64_MAX; seq++) {
		const uint64_t entry[11] = { UINT64_MAX,
					     htobe64(800),
					     htobe64(800),
					     htobe64(100 * *seq),
					     htobe64(100 * *seq + 50),
					     htobe64(discarded),
					     0,
					     htobe64(5),
					     numbered ? htobe64(*seq) : UINT64_MAX,
					     htobe64(32),
					     htobe64(7) };

		assert_int_equal(fwrite(entry, sizeof entry, 1, file), 1);
	}
	fclose(file);
}
#define LOST(...) ((const uint64_t[]){ __VA_ARGS__, UINT64_MAX })

/* All losses of the trace in their order, as text: "packets+events@ns"; events are "e@ns". */
static const char *read_all(struct kymo_ctf_reader *reader)
{
	static char text[1000];
	struct kymo_ctf_event event;
	uint64_t packets = 0, events = 0, in_packets = 0;
	size_t used = 0;

	text[0] = 0;
	while (kymo_ctf_next(reader, &event, NULL) > 0) {
		const int64_t at = event.ns - 1000000;

		if (event.bound != KYMO_CTF_LOSS) {
			used += (size_t)snprintf(text + used, sizeof text - used, "e@%lld ",
						 (long long)at);
			continue;
		}
		assert_non_null(event.procname);
		assert_true(event.loss_end_ns >= event.loss_begin_ns);
		used += (size_t)snprintf(text + used, sizeof text - used, "%llu+%llu@%lld ",
					 (unsigned long long)event.lost_packets,
					 (unsigned long long)event.lost, (long long)at);
		packets += event.lost_packets;
		in_packets += event.lost_in_packets;
		events += event.lost;
	}
	for (unsigned i = 0; i < kymo_ctf_stream_count(reader); i++) {
		packets -= kymo_ctf_stream(reader, i)->lost_packets;
		in_packets -= kymo_ctf_stream(reader, i)->lost_in_packets;
		events -= kymo_ctf_stream(reader, i)->lost;
	}
	assert_int_equal(packets, 0); /* what is known without reading events is the same */
	assert_int_equal(events, 0);
	assert_int_equal(in_packets, 0);
	assert_int_equal(kymo_ctf_warning_count(reader), 0);
	return text;
}

static void expect(const char *text)
{
	struct kymo_ctf_reader *reader = open_trace();

	assert_string_equal(read_all(reader), text);
	kymo_ctf_threads(reader, 3);
	assert_string_equal(read_all(reader), text);
	kymo_ctf_close(reader);
}

static void nothing_counts_twice(void **state)
{
	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	file_begin("s", 5);
	put_packet(2, 3);
	put_packet(3, 3);
	put_packet(6, 10);
	file_end();
	expect("e@250 e@350 2+7@600 e@650 ");
	put_lost("s", 3, true,
		 LOST(0, 1)); /* the beginning; 3 events were discarded before packet 0 */
	expect("2+3@200 e@250 e@350 2+7@600 e@650 ");
	put_lost("s", 3, true, LOST(4, 5, 4)); /* what the numbers show already */
	expect("2+3@200 e@250 e@350 2+7@600 e@650 ");
	put_lost("s", 12, true, LOST(8, 7)); /* the end */
	expect("2+3@200 e@250 e@350 2+7@600 e@650 2+2@650 ");
}

/* The first packet of a later part of a recording: its counter includes events of the parts before
 * it. */
static void a_beginning_that_is_not_the_first_packet(void **state)
{
	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	file_begin("s", 5);
	put_packet(7, 9);
	file_end();
	put_lost("s", 5, true, LOST(5)); /* and 6, as the numbers show */
	expect("2+4@700 e@750 ");
}

static void a_stream_that_is_lost_whole(void **state)
{
	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	file_begin("s", 5);
	put_packet(0, 0);
	file_end();
	put_lost("t", 2, true, LOST(3, 4, 5));
	/* The same instance as "s", so it is another file of that stream. */
	expect("e@50 5+2@50 ");
	file_begin("s", 1);
	put_packet(0, 0);
	file_end();
	expect("e@50 3+0@300 ");
	file_begin("t", 5);
	file_end(); /* an empty file, as a relay makes it */
	expect("e@50 3+0@300 ");
}

static void a_stream_without_numbers(void **state)
{
	(void)state;
	metadata(no_numbers());
	file_begin("s", 5);
	put_packet(2, 0);
	put_packet(3, 0);
	put_packet(6, 0);
	file_end();
	put_lost("s", 0, false, LOST(1, 4, 5, 8));
	expect("1+0@200 e@250 e@350 2+0@600 e@650 1+0@650 ");
}

/* The relay gives packets up while the trace is read; a packet after them does not tell them again.
 */
static void a_trace_that_grows(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	file_begin("s", 5);
	put_packet(0, 0);
	(void)fflush(p.file);
	reader = open_trace();
	kymo_ctf_growing(reader, true);
	NEXT(reader, &event);
	END(reader, &event);
	put_lost("s", 4, true, LOST(1, 2));
	assert_int_equal(kymo_ctf_refresh(reader, NULL), 1);
	NEXT(reader, &event);
	assert_int_equal(event.bound, KYMO_CTF_LOSS);
	assert_int_equal(event.lost_packets, 2);
	assert_int_equal(event.lost, 4);
	assert_int_equal(event.lost_in_packets, 14); /* 7 in each packet */
	END(reader, &event);
	put_packet(4, 5);
	file_end();
	assert_int_equal(kymo_ctf_refresh(reader, NULL), 1);
	NEXT(reader, &event);
	assert_int_equal(event.lost_packets, 1);
	assert_int_equal(event.lost, 1);
	NEXT(reader, &event);
	END(reader, &event);
	/* A stream of which nothing arrives, and then something does. */
	put_lost("t", 0, true, LOST(5));
	assert_int_equal(kymo_ctf_refresh(reader, NULL), 1);
	NEXT(reader, &event);
	assert_int_equal(event.lost_packets, 1);
	kymo_ctf_close(reader);
}

static void damaged_files(void **state)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	file_begin("s", 5);
	put_packet(0, 0);
	file_end();
	put_lost("s", 0, true,
		 LOST(UINT64_MAX / 50, 1)); /* times that no clock shows are left out */
	expect("e@50 1+0@50 ");
	write_text("index/s.lost", "this is no index");
	write_text("index/.lost", "");
	reader = open_trace();
	NEXT(reader, &event);
	END(reader, &event);
	assert_int_equal(kymo_ctf_warning_count(reader), 1);
	assert_non_null(strstr(kymo_ctf_warning(reader, 0), "s.lost: no index"));
	kymo_ctf_close(reader);
}

static void a_window(void **state)
{
	struct kymo_ctf_reader *reader;

	(void)state;
	metadata(BEGIN "stream { " PACKET PLAIN " };" EVENT);
	file_begin("s", 5);
	put_packet(2, 0);
	put_packet(3, 0);
	put_packet(4, 0);
	file_end();
	put_lost("s", 0, true, LOST(0, 1, 9));
	reader = open_trace();
	assert_int_equal(kymo_ctf_window(reader, 1000000 + 400, 1000000 + 440, NULL), 0);
	assert_int_equal(kymo_ctf_stream(reader, 0)->lost_packets, 7);
	{
		struct kymo_ctf_event event;

		END(reader, &event);
		assert_int_equal(kymo_ctf_window(reader, 1000000 + 400, INT64_MAX, NULL), 0);
		NEXT(reader, &event);
		assert_int_equal(event.ns, 1000000 + 450);
		NEXT(reader, &event);
		assert_int_equal(event.lost_packets, 5);
		END(reader, &event);
	}
	kymo_ctf_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(nothing_counts_twice, clean),
		cmocka_unit_test_teardown(a_beginning_that_is_not_the_first_packet, clean),
		cmocka_unit_test_teardown(a_stream_that_is_lost_whole, clean),
		cmocka_unit_test_teardown(a_stream_without_numbers, clean),
		cmocka_unit_test_teardown(a_trace_that_grows, clean),
		cmocka_unit_test_teardown(damaged_files, clean),
		cmocka_unit_test_teardown(a_window, clean),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
