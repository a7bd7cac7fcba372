/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures messages by the tables of rosidl_typesupport_introspection_c and _cpp: a table of
 * members for each type, of which a member may be a message with a table of its own.
 *
 * The idea: a serializer writes one member after the other. Each number is aligned to its own size,
 * and strings and sequences begin with a count of four bytes. So the end of a message follows from
 * where it begins and from its lengths, and no number is read. A sequence of messages of fixed size
 * is not followed element by element: the length of an element depends only on the alignment of its
 * begin, so the lengths soon repeat.
 *
 * The tables have the same layout in C and C++, and from Humble on. Jazzy and later put one byte in
 * front of `is_array`, and one word in front of `members`, that says whether the type has keys.
 */
#include <string.h>

#include "inside/ros2/ros2_types.h"

enum { LONG_DOUBLE = 3, STRING = 16, WSTRING = 17, MESSAGE = 18 };
#define ALIGN_MAX 8u
#define WCHAR_BYTES 4u    /* of a character of a wide string, as CycloneDDS writes it */
#define MEMBERS_MAX 4096u /* of a type; more are not plausible */
#define DEPTH_MAX 16u     /* of messages within messages */
#define VISITS_MAX 16384u /* members of a type, with those of the messages in it */
#define WORK_MAX 65536u   /* members that are looked at to measure one message */
#define SEQUENCE_BYTES 16u /* that its count() reads, in C and in C++ */

struct message_member {
	const char *name;
	uint8_t type;
	size_t string_max;
	const struct kymo_type_support *message;
	uint8_t flags[8]; /* is_array, from Jazzy on behind is_key */
	size_t array_size;
	bool has_upper_bound;
	uint32_t offset;
	const void *default_value;
	size_t (*count)(const void *field);
	const void *(*element)(const void *field, size_t index);
	void *(*element_to_write)(void *field, size_t index);
	void (*fetch)(const void *field, size_t index, void *value);
	void (*assign)(void *field, size_t index, const void *value);
	void *resize;
};

struct members {
	const char *space, *name; /* "sensor_msgs::msg" in C++, "sensor_msgs__msg" in C; "Imu" */
	uint32_t count;
	size_t size;
	union {
		const struct message_member *member;
		uintptr_t has_key; /* 0 or 1: from Jazzy on, `member` comes behind it */
	} at;
	const struct message_member *later;
};

/* The beginning of a string in C and in C++ (libstdc++). */
struct string {
	const void *text;
	size_t length;
};

/* Bytes of a number, by its type. */
static const uint8_t bytes_of[MESSAGE + 1] = { 0, 4, 8, 0, 1, 2, 1, 1, 1, 1,
					       2, 2, 4, 4, 8, 8, 0, 0, 0 };

static bool has_keys(const struct members *type)
{
	return type->at.has_key <= 1;
}

static const struct message_member *members_of(const struct members *type)
{
	return has_keys(type) ? type->later : type->at.member;
}

static bool is_array(const struct members *type, const struct message_member *member)
{
	return member->flags[has_keys(type)];
}

/* An array of a fixed length has no count in front of it. */
static bool is_sequence(const struct members *type, const struct message_member *member)
{
	return is_array(type, member) && (!member->array_size || member->has_upper_bound);
}

static const struct members *type_of(const struct message_member *member)
{
	return member->message->data;
}

/* ---- is the table as expected? ---- */

/*
 * The size of a message, as its table says it, bounds all that is read from it: each member must
 * end within the message. VISITS_MAX bounds the work of reading the table, and WORK_MAX that of
 * measuring a message. Together they bound the size when serialized, so that no sum below
 * overflows.
 */
struct visit {
	unsigned depth, members;
};

static bool is_known(const struct members *type, struct visit *visit);

/* The least bytes of one element of @member in memory. */
static uint64_t bytes_in_memory(const struct message_member *member)
{
	if (member->type == MESSAGE)
		return type_of(member)->size;
	return member->type >= STRING ? sizeof(struct string) : bytes_of[member->type];
}

static bool is_within(const struct members *type, const struct message_member *member)
{
	const uint64_t room = type->size - member->offset; /* offset < size */

	if (is_sequence(type, member))
		return SEQUENCE_BYTES <= room;
	if (!is_array(type, member))
		return bytes_in_memory(member) <= room;
	return member->array_size <= room / bytes_in_memory(member);
}

static bool is_known_member(const struct members *type, const struct message_member *member,
			    struct visit *visit)
{
	if (++visit->members > VISITS_MAX || !member->name || !member->type ||
	    member->type > MESSAGE || member->type == LONG_DOUBLE || member->offset >= type->size ||
	    member->flags[0] > 1 || member->flags[1] > has_keys(type))
		return false;
	if (is_array(type, member) &&
	    (!member->count || (member->type >= STRING && !member->element)))
		return false;
	if (member->type == MESSAGE &&
	    (!member->message || !member->message->data || !is_known(type_of(member), visit)))
		return false;
	return is_within(type, member);
}

static bool is_known(const struct members *type, struct visit *visit)
{
	if (visit->depth > DEPTH_MAX || !type->space || !type->name || !type->count ||
	    type->count > MEMBERS_MAX || !type->size || type->size > UINT32_MAX ||
	    !members_of(type))
		return false;
	visit->depth++;
	for (uint32_t i = 0; i < type->count; i++)
		if (!is_known_member(type, &members_of(type)[i], visit))
			return false;
	visit->depth--;
	return true;
}

static bool is_fixed(const struct members *type)
{
	for (uint32_t i = 0; i < type->count; i++) {
		const struct message_member *member = &members_of(type)[i];

		if (member->type == STRING || member->type == WSTRING ||
		    is_sequence(type, member) ||
		    (member->type == MESSAGE && !is_fixed(type_of(member))))
			return false;
	}
	return true;
}

/* Members that are looked at to measure a message that has one element in each sequence, or
 * WORK_MAX + 1: fixed arrays in fixed arrays multiply, see end_of_equals(). */
static uint64_t work_of(const struct members *type)
{
	uint64_t work = 0;

	for (uint32_t i = 0; i < type->count && work <= WORK_MAX; i++) {
		const struct message_member *member = &members_of(type)[i];

		work++;
		if (member->type == MESSAGE)
			work += work_of(type_of(member)) *
				(is_array(type, member) && is_fixed(type_of(member)) ? 2 * ALIGN_MAX
										     : 1);
	}
	return work > WORK_MAX ? WORK_MAX + 1 : work;
}

/* ---- where a message ends ---- */

static uint64_t end_of(const struct members *type, const uint8_t *message, uint64_t at);

static uint64_t aligned(uint64_t at, uint64_t to)
{
	return (at + to - 1) & ~(to - 1);
}

/* @count messages of fixed size, which are not read. */
static uint64_t end_of_equals(const struct members *type, size_t count, uint64_t at)
{
	uint64_t seen[ALIGN_MAX] = { 0 }; /* by alignment: where an element began */
	size_t number[ALIGN_MAX];         /* and which element it was */

	for (size_t i = 0; i < count; i++) {
		const unsigned alignment = at % ALIGN_MAX;

		if (seen[alignment]) {
			const size_t cycle = i - number[alignment], cycles = (count - i) / cycle;

			at += cycles * (at - seen[alignment]);
			for (i += cycles * cycle; i < count; i++)
				at = end_of(type, NULL, at);
			break;
		}
		seen[alignment] = at;
		number[alignment] = i;
		at = end_of(type, NULL, at);
	}
	return at;
}

static uint64_t end_of_element(const struct message_member *member, const uint8_t *element,
			       uint64_t at)
{
	struct string string;

	if (member->type == MESSAGE)
		return end_of(type_of(member), element, at);
	memcpy(&string, element, sizeof string);
	at = aligned(at, 4) + 4;
	return member->type == STRING ? at + string.length + 1 : at + string.length * WCHAR_BYTES;
}

static uint64_t end_of_array(const struct members *type, const struct message_member *member,
			     const uint8_t *field, uint64_t at)
{
	size_t count = member->array_size;

	if (is_sequence(type, member)) {
		count = member->count(field);
		at = aligned(at, 4) + 4;
	}
	if (!count)
		return at;
	if (bytes_of[member->type])
		return aligned(at, bytes_of[member->type]) + count * bytes_of[member->type];
	if (member->type == MESSAGE && is_fixed(type_of(member)))
		return end_of_equals(type_of(member), count, at);
	for (size_t i = 0; i < count; i++)
		at = end_of_element(member, member->element(field, i), at);
	return at;
}

/* Where @message ends that begins at @at, counted from behind KYMO_CDR_HEADER. @message: NULL if
 * the type has a fixed size. */
static uint64_t end_of(const struct members *type, const uint8_t *message, uint64_t at)
{
	for (uint32_t i = 0; i < type->count; i++) {
		const struct message_member *member = &members_of(type)[i];
		const uint8_t *field = message ? message + member->offset : NULL;

		if (is_array(type, member))
			at = end_of_array(type, member, field, at);
		else if (bytes_of[member->type])
			at = aligned(at, bytes_of[member->type]) + bytes_of[member->type];
		else
			at = end_of_element(member, field, at);
	}
	return at;
}

uint64_t kymo_introspection_size(const void *members, const void *message)
{
	return KYMO_CDR_HEADER + end_of(members, message, 0);
}

/* ---- what the table says about the type ---- */

/* The member @name, if it is one message of type @of. */
static const struct message_member *message_named(const struct members *type, const char *name,
					  const char *of)
{
	char found[KYMO_TYPE_NAME_MAX];

	for (uint32_t i = 0; i < type->count; i++) {
		const struct message_member *member = &members_of(type)[i];

		if (strcmp(member->name, name) || member->type != MESSAGE || is_array(type, member))
			continue;
		kymo_type_name(found, type_of(member)->space, type_of(member)->name);
		return strcmp(found, of) ? NULL : member;
	}
	return NULL;
}

static void find_stamp(struct kymo_type *known, const struct members *type)
{
	const struct message_member *header = message_named(type, "header", "std_msgs/msg/Header"), *stamp;

	stamp = header ? message_named(type_of(header), "stamp", "builtin_interfaces/msg/Time")
		       : NULL;
	if (!stamp || type_of(stamp)->size < KYMO_STAMP_BYTES)
		return;
	known->stamp_at = header->offset + stamp->offset;
	known->begins_with_stamp =
		header == members_of(type) && stamp == members_of(type_of(header));
}

bool kymo_introspection_read(struct kymo_type *known, const void *members)
{
	const struct members *type = members;
	struct visit visit = { 0 };
	uint64_t fixed;

	if (!is_known(type, &visit) || work_of(type) > WORK_MAX)
		return false;
	fixed = is_fixed(type) ? kymo_introspection_size(type, NULL) : 0;
	if (fixed > UINT32_MAX)
		return false;
	known->members = type;
	known->fixed = (uint32_t)fixed;
	kymo_type_name(known->name, type->space, type->name);
	find_stamp(known, type);
	return true;
}
