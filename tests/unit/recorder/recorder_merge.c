/* SPDX-License-Identifier: Apache-2.0 */
/* Merging threads by time: random spans, equal times, silent threads, small buffers, and
 * garbage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/points.h"
#include "abi/region.h"
#include "recorder/drain/merge.h"
#include "recorder/records/record_walk.h"

#define INPUTS_MAX 40
#define RECORDS_MAX 300
#define RECORD_MAX 64
#define TEXT_ID KYMO_POINTS_TABLE	/* one of the process's own, with a string */
#define HEAD (KYMO_RECORD_HEADER + sizeof(struct merge_context))

/* What a thread has in its ring. */
struct source {
	uint8_t bytes[RECORDS_MAX * RECORD_MAX];
	uint32_t at[RECORDS_MAX + 1];	/* where each record begins; the last: the end */
	uint64_t ns[RECORDS_MAX];
	unsigned records, given, seen;	/* made, handed to the merge, come out of it */
};

static struct source source[INPUTS_MAX];
static struct classes classes;
static struct merge merge;

static unsigned chance(unsigned below)
{
	return (unsigned)random() % below;
}

static void declare_text(void)
{
	const struct kymo_declaration head = { .id = TEXT_ID,
					       .shape = KYMO_SHAPE_POINT,
					       .field_count = 1 };
	const char text[] = { 'c', 0, 'n', 0, 0, 0, KYMO_KIND_STR, 'f' };
	uint8_t bytes[sizeof head + sizeof text + 1] = { 0 };

	memcpy(bytes, &head, sizeof head);
	memcpy(bytes + sizeof head, text, sizeof text);
	assert_int_equal(classes_declare(&classes, bytes, sizeof bytes), 0);
}

static int setup(void **state)
{
	(void)state;
	memset(source, 0, sizeof source);
	declare_text();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	merge_free(&merge);
	classes_free(&classes);
	return 0;
}

/* Payloads say which record it is: number << 8 | input. */
static void add(unsigned index, uint64_t ns)
{
	struct source *from = &source[index];
	uint8_t *to = from->bytes + from->at[from->records];
	const uint64_t number = (uint64_t)from->records << 8 | index;
	const uint16_t ids[] = { KYMO_POINT_callback_end, KYMO_POINT_callback_start, TEXT_ID };
	uint16_t id = ids[chance(3)];
	size_t size = 8;

	memcpy(to, &id, 2);
	memcpy(to + 2, &ns, 8);
	to += KYMO_RECORD_HEADER;
	if (id == TEXT_ID) {
		size = (size_t)snprintf((char *)to, 32, "%016llx%.*s", (unsigned long long)number, (int)chance(9),
					"........") + 1;
	} else {
		memcpy(to, &number, 8);
		if (id == KYMO_POINT_callback_start) {
			memset(to + 8, 0, 4);
			size = 12;
		}
	}
	from->ns[from->records++] = ns;
	from->at[from->records] = from->at[from->records - 1] + KYMO_RECORD_HEADER + (uint32_t)size;
}

static void make(unsigned inputs, unsigned records, unsigned step)
{
	for (unsigned i = 0; i < inputs; i++) {
		uint64_t ns = 1000;

		for (unsigned n = chance(4) ? chance(records) : 0; n; n--)
			add(i, ns += chance(8) ? chance(step) : 100 * chance(step));
	}
}

/* The next few records of a thread, none when all are given. */
static void give(unsigned index)
{
	struct source *from = &source[index];
	unsigned count = from->records - from->given;

	if (count > 1)
		count = 1 + chance(count);
	merge_span(&merge, index, from->bytes + from->at[from->given],
		   from->at[from->given + count] - from->at[from->given]);
	merge.input[index].context.vtid = 5000 + (int32_t)index;
	from->given += count;
}

static uint64_t last_ns;

/* Looks at @count records that came out. */
static void check(const uint8_t *bytes, const uint8_t *end, unsigned count)
{
	for (; count; count--) {
		struct merge_context context;
		unsigned long long number;
		struct source *from;
		uint64_t ns;
		uint16_t id;
		long size;

		assert_true(bytes + HEAD <= end);
		memcpy(&id, bytes, 2);
		memcpy(&ns, bytes + 2, 8);
		memcpy(&context, bytes + KYMO_RECORD_HEADER, sizeof context);
		bytes += HEAD;
		size = walk_payload(&classes, id, bytes, (size_t)(end - bytes));
		assert_true(size > 0);
		if (id == TEXT_ID)
			assert_int_equal(sscanf((const char *)bytes, "%16llx", &number), 1);
		else
			memcpy(&number, bytes, 8);
		from = &source[number & 255];
		assert_int_equal(context.vtid, 5000 + (int32_t)(number & 255));
		assert_int_equal(number >> 8, from->seen);
		assert_int_equal(ns, from->ns[from->seen]);
		from->seen++;
		assert_true(ns >= last_ns);
		last_ns = ns;
		bytes += size;
	}
	assert_ptr_equal(bytes, end);
}

/* Up to @horizon, in buffers of random size. */
static void run_to(uint64_t horizon)
{
	static uint8_t buffer[4096];
	enum merge_stop stop;

	merge.horizon = horizon;
	do {
		struct merge_out out = { .at = buffer,
					 .room = HEAD + RECORD_MAX +
						 chance(sizeof buffer - 2 * RECORD_MAX) };
		unsigned empty;

		while ((stop = merge_run(&merge, &out, &empty)) == MERGE_EMPTY) {
			assert_false(merge.input[empty].bad);
			assert_ptr_equal(merge.input[empty].at, merge.input[empty].end);
			give(empty);
		}
		check(buffer, out.at, out.records);
	} while (stop == MERGE_FULL);
	assert_int_equal(stop, MERGE_DONE);
}

static void one_round(unsigned inputs, unsigned records, unsigned step)
{
	for (unsigned i = 0; i < INPUTS_MAX; i++)
		source[i].records = source[i].given = source[i].seen = source[i].at[0] = 0;
	make(inputs, records, step);
	assert_true(merge_begin(&merge, &classes, inputs));
	merge.not_after = UINT64_MAX - 1;
	for (unsigned i = 0; i < inputs; i++)
		give(i);
	merge_ready(&merge);
	last_ns = 0;
	for (uint64_t horizon = 1000; horizon < 1000 + 40ull * records * step;
	     horizon += 1 + chance(200 * step)) {
		run_to(horizon);
		for (unsigned i = 0; i < inputs; i++) {
			assert_true(!source[i].seen || source[i].ns[source[i].seen - 1] <= horizon);
			assert_true(source[i].seen == source[i].records ||
				    source[i].ns[source[i].seen] > horizon);
		}
	}
	run_to(UINT64_MAX - 1);
	for (unsigned i = 0; i < inputs; i++)
		assert_int_equal(source[i].seen, source[i].records);
}

static void all_come_out_in_order(void **state)
{
	(void)state;
	srandom(7);
	for (unsigned round = 0; round < 200; round++)
		one_round(1 + chance(INPUTS_MAX), 2 + chance(60), 1 + chance(20));
	one_round(INPUTS_MAX, RECORDS_MAX, 2);		/* nearly all times are equal */
	one_round(1, RECORDS_MAX, 5);
	assert_true(merge_begin(&merge, &classes, 0));
	merge_ready(&merge);
	assert_int_equal(merge_run(&merge, &(struct merge_out){ 0 }, &(unsigned){ 0 }), MERGE_DONE);
}

/* Of two that are equal, the first input's is first. */
static void equal_times_have_an_order(void **state)
{
	uint8_t buffer[512];
	struct merge_out out = { .at = buffer, .room = sizeof buffer };
	unsigned empty;

	(void)state;
	for (unsigned i = 3; i-- > 0;)
		add(i, 77);
	assert_true(merge_begin(&merge, &classes, 3));
	merge.not_after = merge.horizon = 100;
	for (unsigned i = 0; i < 3; i++)
		give(i);
	merge_ready(&merge);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(merge_run(&merge, &out, &empty), MERGE_EMPTY);
		assert_int_equal(empty, i);
	}
	assert_int_equal(merge_run(&merge, &out, &empty), MERGE_DONE);
	assert_int_equal(out.records, 3);
}

/* A thread's clock stepped back a little: its time is set; a lot: that is no record. */
static void steps_back(void **state)
{
	uint8_t buffer[512];
	struct merge_out out = { .at = buffer, .room = sizeof buffer };
	unsigned empty;

	(void)state;
	add(0, 5000000);
	add(0, 5000000 - 300);
	add(0, 5000000 - WALK_BACK_MAX_NS - 1);
	assert_true(merge_begin(&merge, &classes, 1));
	merge.not_after = merge.horizon = 6000000;
	merge_span(&merge, 0, source[0].bytes, source[0].at[3]);
	merge_ready(&merge);
	assert_int_equal(merge_run(&merge, &out, &empty), MERGE_EMPTY);
	assert_true(merge.input[0].bad);
	assert_int_equal(merge.input[0].records, 2);
	assert_int_equal(merge.input[0].moved, 1);
	assert_int_equal(merge.input[0].last, 5000000);
	assert_ptr_equal(merge.input[0].at, source[0].bytes + source[0].at[2]);
}

/* Whatever stands in one ring, it harms no other and what comes out can be read. */
static void garbage(void **state)
{
	static uint8_t buffer[1 << 16];

	(void)state;
	srandom(11);
	for (unsigned round = 0; round < 2000; round++) {
		struct merge_out out = { .at = buffer, .room = sizeof buffer };
		unsigned empty, came = 0;
		enum merge_stop stop;
		size_t at = 0;

		source[0].records = source[1].records = 0;
		for (unsigned n = 0; n < 40; n++) {
			add(0, 1000 + n);
			add(1, 1000 + n);
		}
		for (unsigned n = 1 + chance(3); n; n--)
			source[0].bytes[chance(source[0].at[40])] = (uint8_t)random();
		assert_true(merge_begin(&merge, &classes, 2));
		merge.not_after = merge.horizon = 10000;
		merge_span(&merge, 0, source[0].bytes, source[0].at[40] - chance(12));
		merge_span(&merge, 1, source[1].bytes, source[1].at[40]);
		merge_ready(&merge);
		while ((stop = merge_run(&merge, &out, &empty)) == MERGE_EMPTY)
			;
		assert_int_equal(stop, MERGE_DONE);
		assert_int_equal(merge.input[1].records, 40);
		assert_false(merge.input[1].bad);
		for (; at < (size_t)(out.at - buffer); came++) {
			uint16_t id;
			long size;

			memcpy(&id, buffer + at, 2);
			at += HEAD;
			size = walk_payload(&classes, id, buffer + at,
					    (size_t)(out.at - buffer) - at);
			assert_true(size >= 0);
			at += (size_t)size;
		}
		assert_int_equal(came, out.records);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_come_out_in_order),
		TEST(equal_times_have_an_order),
		TEST(steps_back),
		TEST(garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
