/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace is written in pieces that end anywhere: metadata, packets, new streams, the next file of
 * a stream, another trace. After each piece the reader looks again. No packet may be given before
 * it is complete, none twice, and nothing may be warned of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/read/reader.h"

#define U(size) "integer { size = " #size "; align = 8; }"
#define TIME "integer { size = 64; align = 8; map = clock.m.value; }"
#define METADATA \
	"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { " U(32) " magic; " \
	U(32) " stream_id; " U(64) " stream_instance_id; }; };\nclock { name = m; };\n" \
	"stream { packet.context := struct { " TIME " timestamp_begin; " TIME " timestamp_end; " \
	U(64) " content_size; " U(64) " packet_size; " U(64) " packet_seq_num; };" \
	"event.header := struct { " U(16) " id; " TIME " timestamp; }; };\n"
#define CLASSES 12
#define EVENTS 7		/* in a packet */

static char directory[] = "/dev/shm/kymo-grow.XXXXXX";
static struct kymo_ctf_reader *reader;
static uint64_t now = 1000;
static unsigned classes;	/* that the metadata have, all of it */
static unsigned expected, given;

/* What came of each class: x counts up, so that what is missing, doubled or out of order shows. */
static uint64_t next_written[CLASSES], next_given[CLASSES];

static const struct kymo_ctf_bind *table(void)
{
	static char name[CLASSES][8];
	static struct kymo_ctf_bind bind[CLASSES];

	for (unsigned i = 0; i < CLASSES; i++) {
		snprintf(name[i], sizeof name[i], "e%u", i);
		bind[i] = (struct kymo_ctf_bind) { name[i], { "x" } };
	}
	return bind;
}

static void drain(void)
{
	struct kymo_ctf_event event;

	while (kymo_ctf_next(reader, &event, NULL) > 0) {
		assert_in_range(event.bound, 0, CLASSES - 1);
		assert_string_equal(event.class->name, table()[event.bound].event);
		assert_int_equal(event.value[0].u, next_given[event.bound]++);
		given++;
	}
}

static void look_again(void)
{
	struct kymo_err err = { 0 };

	if (kymo_ctf_refresh(reader, &err) < 0)
		fail_msg("%s", err.text);
	drain();
	if (kymo_ctf_warning_count(reader))
		fail_msg("%s", kymo_ctf_warning(reader, 0));
	assert_int_equal(given, expected);
}

/* Append in up to four pieces. @done: events that are there when all of it is. */
static void append(const char *name, const void *bytes, size_t size, unsigned done)
{
	char path[100];
	size_t at = 0;
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "a");
	assert_non_null(file);
	for (unsigned i = 0; i < 3 && at + 1 < size; i++) {
		size_t piece = (size_t)rand() % (size - at);

		assert_int_equal(fwrite((const char *)bytes + at, 1, piece, file), piece);
		fflush(file);
		at += piece;
		look_again();
	}
	assert_int_equal(fwrite((const char *)bytes + at, 1, size - at, file), size - at);
	fclose(file);
	expected += done;
	look_again();
}

static void append_class(void)
{
	char text[200];

	snprintf(text, sizeof text, "event { name = e%u; id = %u; fields := struct { %s" U(64) " _x; }; };\n",
		 classes, classes * 7, classes % 3 ? "string s; " : "");
	append("metadata", text, strlen(text), 0);
	classes++;
}

struct out {
	const char *name;
	uint64_t instance, seq;
	unsigned class;			/* of all its events: their order is known then */
};

static void append_packet(struct out *out, unsigned events)
{
	uint8_t bytes[1024] = { 0 };
	size_t used = 56;
	uint64_t context[5] = { now };
	uint32_t magic = 0xc1fc1fc1;

	memcpy(bytes, &magic, 4);
	memcpy(bytes + 8, &out->instance, 8);
	for (unsigned i = 0; i < events; i++) {
		uint16_t id = (uint16_t)(out->class * 7);

		now += (unsigned)rand() % 3;
		memcpy(bytes + used, &id, 2);
		memcpy(bytes + used + 2, &now, 8);
		used += 10;
		if (out->class % 3)
			used += 1 + (size_t)snprintf((char *)bytes + used, 20, "text");
		memcpy(bytes + used, &next_written[out->class], 8);
		next_written[out->class]++;
		used += 8;
	}
	context[1] = now;
	context[2] = used * 8;
	context[3] = (used + 16) * 8;
	context[4] = out->seq++;
	memcpy(bytes + 16, context, sizeof context);
	append(out->name, bytes, used + 16, events);
}

static void open_reader(void)
{
	struct kymo_err err = { 0 };

	if (kymo_ctf_open(directory, &reader, &err) ||
	    kymo_ctf_bind(reader, table(), CLASSES, &err))
		fail_msg("%s", err.text);
	kymo_ctf_growing(reader, true);
	kymo_ctf_only_bound(reader, true);
}

static void begin(const char *metadata)
{
	char path[100];
	FILE *file;

	srand(3);
	snprintf(path, sizeof path, "%s/metadata", directory);
	file = fopen(path, "w");
	fputs(metadata, file);
	fclose(file);
	open_reader();
	look_again();
}

static void grows(void **state)
{
	struct out out[CLASSES] = { 0 };
	static const char *const names[CLASSES] = { "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8",
		"s9", "s10", "s11" };

	(void)state;
	begin(METADATA);
	for (unsigned i = 0; i < CLASSES; i++)
		out[i] = (struct out) { names[i], i, 0, i };
	for (unsigned round = 0; round < 150; round++) {
		if (classes < CLASSES && (!classes || rand() % 5 == 0))
			append_class();
		else
			append_packet(&out[(unsigned)rand() % classes], (unsigned)rand() % EVENTS);
	}
	assert_int_equal(classes, CLASSES);
	assert_int_equal(kymo_ctf_class_count(reader), CLASSES);
	for (unsigned i = 0; i < CLASSES; i++)
		assert_int_equal(kymo_ctf_class(reader, i)->index, i);
	assert_int_equal(kymo_ctf_refresh(reader, NULL), 0);		/* nothing new */
	/* From the beginning it is the same. */
	given = 0;
	memset(next_given, 0, sizeof next_given);
	assert_int_equal(kymo_ctf_rewind(reader, NULL), 0);
	drain();
	assert_int_equal(given, expected);
	kymo_ctf_close(reader);
	/* Packets that are all there look the same to who does not wait. */
	open_reader();
	kymo_ctf_growing(reader, false);
	given = 0;
	memset(next_given, 0, sizeof next_given);
	drain();
	assert_int_equal(given, expected);
	assert_int_equal(kymo_ctf_warning_count(reader), 0);
	assert_int_equal(kymo_ctf_refresh(reader, NULL), -1);
}

/* The next file of a stream (rotation), and another trace below the same directory. */
static void files_and_traces(void **state)
{
	struct out out = { "t_0", 1, 0, 0 }, more = { "b/u", 1, 0, 2 };
	struct out next = { "t_1", 1, 3, 0 };
	char path[100];

	(void)state;
	begin(METADATA);
	append_class();
	for (unsigned i = 0; i < 3; i++)
		append_packet(&out, EVENTS);
	for (unsigned i = 0; i < 3; i++)
		append_packet(&next, EVENTS);
	assert_int_equal(kymo_ctf_stream_count(reader), 1);
	assert_int_equal(kymo_ctf_stream(reader, 0)->packets, 6);
	snprintf(path, sizeof path, "%s/b", directory);
	mkdir(path, 0700);
	look_again();
	append("b/metadata", METADATA "event { name = e2; id = 14; fields := struct { string s; " U(64) " _x; }; };",
	       sizeof(METADATA "event { name = e2; id = 14; fields := struct { string s; " U(64) " _x; }; };") - 1, 0);
	for (unsigned i = 0; i < 3; i++)
		append_packet(&more, EVENTS);
	assert_int_equal(kymo_ctf_trace_count(reader), 2);
	assert_int_equal(kymo_ctf_stream_count(reader), 2);
	assert_int_equal(kymo_ctf_stream(reader, 1)->trace, 1);
}

/* A directory of the recording's chunk @number, with metadata. */
static void add_chunk(unsigned number)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof path, "%s/archives", directory);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/archives/20261120T20235%u+0000-20261120T20235%u+0000-%u", directory, number, number + 1, number);
	assert_int_equal(mkdir(path, 0700), 0);
	(void)snprintf(path + strlen(path), sizeof path - strlen(path), "/metadata");
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(METADATA, file);
	fclose(file);
}

/* A chunk that was removed before anybody read it: its number is missing, and that is said once. */
static void chunk_never_seen(void **state)
{
	(void)state;
	add_chunk(1);
	open_reader();
	add_chunk(2);
	assert_int_equal(kymo_ctf_refresh(reader, NULL), 1);
	assert_int_equal(kymo_ctf_warning_count(reader), 0);
	add_chunk(4);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(kymo_ctf_refresh(reader, NULL), i == 0);
		assert_int_equal(kymo_ctf_warning_count(reader), 1);
	}
	assert_non_null(strstr(kymo_ctf_warning(reader, 0), "archives/: chunk 3 does not exist; its events are missing"));
	add_chunk(5);
	assert_int_equal(kymo_ctf_refresh(reader, NULL), 1);
	add_chunk(8);
	assert_int_equal(kymo_ctf_refresh(reader, NULL), 1);
	assert_int_equal(kymo_ctf_warning_count(reader), 2);
	assert_non_null(strstr(kymo_ctf_warning(reader, 1), "chunks 6 to 7 do not exist"));
}

/* Metadata that are those of another trace all at once: told, and what was there stays. */
static void replaced(void **state)
{
	struct out out = { "s", 1, 0, 0 };
	struct kymo_err err = { 0 };
	char path[100];
	FILE *file;

	(void)state;
	begin(METADATA);
	append_class();
	append_packet(&out, EVENTS);
	snprintf(path, sizeof path, "%s/metadata", directory);
	file = fopen(path, "w");
	fputs(METADATA "event { name = other; id = 0; };", file);
	fclose(file);
	assert_int_equal(kymo_ctf_refresh(reader, &err), -1);
	assert_non_null(strstr(err.text, "replaced by"));
	assert_int_equal(kymo_ctf_class_count(reader), 1);
	given = 0;
	memset(next_given, 0, sizeof next_given);
	assert_int_equal(kymo_ctf_rewind(reader, NULL), 0);
	drain();
	assert_int_equal(given, EVENTS);
}

static int clean(void **state)
{
	char command[100];

	(void)state;
	kymo_ctf_close(reader);
	reader = NULL;
	classes = expected = given = 0;
	memset(next_written, 0, sizeof next_written);
	memset(next_given, 0, sizeof next_given);
	snprintf(command, sizeof command, "rm -rf %s/*", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(grows, clean),
		cmocka_unit_test_teardown(files_and_traces, clean),
		cmocka_unit_test_teardown(replaced, clean),
		cmocka_unit_test_teardown(chunk_never_seen, clean),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)rmdir(directory);
	return failed;
}
