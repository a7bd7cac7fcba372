/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of members as no generator writes them: what a damaged type library may contain. A table
 * is refused, or a message of exactly the size that it names is measured without a look beyond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inside/ros2/ros2_types.h"
#include "base/array.h"

enum { DOUBLE = 2, OCTET = 8, INT32 = 12, STRING = 16, MESSAGE = 18 };

/* As rosidl's introspection libraries lay them out, up to Iron. */
struct member {
	const char *name;
	uint8_t type;
	size_t string_max;
	const struct kymo_type_support *message;
	bool is_array;
	size_t array_size;
	bool has_upper_bound;
	uint32_t offset;
	const void *default_value;
	size_t (*count)(const void *field);
	const void *(*element)(const void *field, size_t index);
	void *unused[4];
};

struct table {
	const char *space, *name;
	uint32_t count;
	size_t size;
	const struct member *members;
	void *unused[2];
};

/* A sequence is {data, size}, as in C. */
static size_t count_of(const void *field)
{
	size_t words[2];

	memcpy(words, field, sizeof words);
	return words[1];
}

static const void *string_at(const void *field, size_t index)
{
	return (const uint8_t *)field + 16 * index;
}

static bool is_accepted(const struct table *table)
{
	struct kymo_type type = { .stamp_at = KYMO_NO_STAMP };

	return kymo_introspection_read(&type, table);
}

static struct table table_of(const struct member *members, uint32_t count, size_t size)
{
	return (struct table){ "test_msgs::msg", "Table", count, size, members, { NULL } };
}

static void measures(void **state)
{
	const struct member members[] = {
		{ .name = "a", .type = INT32 },
		{ .name = "b", .type = DOUBLE, .offset = 8 },
		{ .name = "c",
		  .type = OCTET,
		  .is_array = true,
		  .array_size = 5,
		  .offset = 16,
		  .count = count_of },
		{ .name = "d", .type = STRING, .offset = 24 },
	};
	const struct table table = table_of(members, COUNT_OF(members), 40);
	struct kymo_type type = { .stamp_at = KYMO_NO_STAMP };
	uint8_t message[40] = { [32] = 3 }; /* the string has 3 characters */

	(void)state;
	assert_true(kymo_introspection_read(&type, &table));
	assert_string_equal(type.name, "test_msgs/msg/Table");
	assert_int_equal(type.fixed, 0);
	assert_int_equal(kymo_introspection_size(&table, message),
			 KYMO_CDR_HEADER + 4 + 4 + 8 + 5 + 3 + 4 + 4);
}

static void ends_beyond_its_message(void **state)
{
	const struct member wrong[] = {
		{ .name = "a", .type = STRING, .offset = 7 },
		{ .name = "a", .type = DOUBLE, .offset = 1 },
		{ .name = "a", .type = OCTET, .is_array = true, .count = count_of, .offset = 4 },
		{ .name = "a",
		  .type = OCTET,
		  .is_array = true,
		  .count = count_of,
		  .array_size = 9 },
		{ .name = "a",
		  .type = OCTET,
		  .is_array = true,
		  .count = count_of,
		  .array_size = (1ull << 32) + 6 },
		{ .name = "a",
		  .type = DOUBLE,
		  .is_array = true,
		  .count = count_of,
		  .array_size = (1ull << 61) + 1 },
	};
	const struct member right = {
		.name = "a", .type = OCTET, .is_array = true, .count = count_of, .array_size = 8
	};
	struct table table;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
		table = table_of(&wrong[i], 1, 8);
		assert_false(is_accepted(&table));
	}
	table = table_of(&wrong[4], 1,
			 1ull << 40); /* it ends within, but no size has room for it */
	assert_false(is_accepted(&table));
	table = table_of(&right, 1, 8);
	assert_true(is_accepted(&table));
}

static void stamps(void **state)
{
	struct member numbers[] = {
		{ .name = "sec", .type = INT32 },
		{ .name = "nanosec", .type = INT32, .offset = 4 },
	};
	struct table time = { "builtin_interfaces::msg", "Time", 2, 8, numbers, { NULL } };
	struct kymo_type_support time_support = { .data = &time };
	struct member stamp = { .name = "stamp", .type = MESSAGE, .message = &time_support };
	struct table header = { "std_msgs::msg", "Header", 1, 8, &stamp, { NULL } };
	struct kymo_type_support header_support = { .data = &header };
	struct member members[] = {
		{ .name = "header", .type = MESSAGE, .message = &header_support, .offset = 8 }
	};
	struct table table = table_of(members, 1, 16);
	struct kymo_type type = { .stamp_at = KYMO_NO_STAMP };

	(void)state;
	assert_true(kymo_introspection_read(&type, &table));
	assert_int_equal(type.stamp_at, 8);
	table.size = 12; /* the header does not end within the message */
	assert_false(is_accepted(&table));
	table.size = 16;
	stamp.offset = 4; /* nor the stamp within the header */
	assert_false(is_accepted(&table));
	stamp.offset = 0;
	time.count = 1; /* a time without nanoseconds, at the end of the message */
	time.size = header.size = 4;
	table.size = 12;
	type.stamp_at = KYMO_NO_STAMP;
	assert_true(kymo_introspection_read(&type, &table));
	assert_int_equal(type.stamp_at, KYMO_NO_STAMP);
}

#define LEVELS 10

/* Messages of @width members each, of @each messages of the level below. */
static bool is_tower_accepted(unsigned width, size_t each, unsigned levels)
{
	static struct member members[LEVELS + 1][16];
	static struct table tables[LEVELS + 1];
	static struct kymo_type_support supports[LEVELS + 1];
	size_t size = 1;

	members[0][0] = (struct member){ .name = "a", .type = OCTET };
	tables[0] = table_of(members[0], 1, 1);
	for (unsigned level = 1; level <= levels; level++) {
		supports[level].data = &tables[level - 1];
		for (unsigned i = 0; i < width; i++)
			members[level][i] = (struct member){
				.name = "a",
				.type = MESSAGE,
				.message = &supports[level],
				.is_array = each > 1,
				.array_size = each > 1 ? each : 0,
				.count = count_of,
				.element = string_at,
				.offset = (uint32_t)(i * size * each),
			};
		size *= width * each;
		tables[level] = table_of(members[level], width, size);
	}
	return is_accepted(&tables[levels]);
}

/* A table of few members can describe a message of millions. */
static void towers(void **state)
{
	(void)state;
	assert_true(is_tower_accepted(4, 1, 5));
	assert_false(is_tower_accepted(4, 1, LEVELS));
	assert_true(is_tower_accepted(1, 1000, 3));
	assert_false(is_tower_accepted(1, 9, LEVELS)); /* arrays within arrays */
}

/* ---- any table at all ---- */

static uint64_t seed;

static unsigned draw(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

static size_t draw_size(void)
{
	static const size_t odd[] = {
		0, 1, 7, 8, 16, 24, SIZE_MAX, 1ull << 32, (1ull << 32) + 6, 1ull << 61
	};

	return draw(8) ? draw(64) : odd[draw(COUNT_OF(odd))];
}

#define TABLES 6
#define MEMBERS 5

static void any_table(void **state)
{
	static struct member members[TABLES][MEMBERS];
	static struct table tables[TABLES];
	static struct kymo_type_support supports[TABLES];
	unsigned accepted = 0;

	(void)state;
	for (seed = 1; accepted < 5000; seed += 7) {
		for (unsigned i = 0; i < TABLES; i++) {
			tables[i] = table_of(members[i], 1 + draw(MEMBERS), draw_size());
			if (draw(2))
				tables[i].space =
					draw(2) ? "std_msgs::msg" : "builtin_interfaces::msg";
			if (draw(2))
				tables[i].name = draw(2) ? "Header" : "Time";
			supports[i].data = &tables[i];
			for (unsigned j = 0; j < MEMBERS; j++)
				members[i][j] = (struct member){
					.name = draw(3) ? "header" : "stamp",
					.type = (uint8_t)draw(20),
					.message = &supports[draw(16) ? i - !!i : draw(TABLES)],
					.is_array = !draw(3),
					.array_size = draw(2) ? draw_size() : 0,
					.has_upper_bound = !draw(3),
					.offset = (uint32_t)draw_size(),
					.count = count_of,
					.element = string_at,
				};
		}
		for (unsigned i = 0; i < TABLES; i++) {
			struct kymo_type type = { .stamp_at = KYMO_NO_STAMP };
			void *message;

			if (!kymo_introspection_read(&type, &tables[i]))
				continue;
			accepted++;
			assert_true(type.stamp_at == KYMO_NO_STAMP ||
				    type.stamp_at + (uint64_t)KYMO_STAMP_BYTES <= tables[i].size);
			if (tables[i].size > 1u << 20)
				continue;
			message = calloc(
				1,
				tables[i].size); /* so the address sanitizer sees a look beyond */
			assert_non_null(message);
			assert_true(kymo_introspection_size(&tables[i], message) >=
				    KYMO_CDR_HEADER);
			free(message);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures),  cmocka_unit_test(ends_beyond_its_message),
		cmocka_unit_test(stamps),    cmocka_unit_test(towers),
		cmocka_unit_test(any_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
