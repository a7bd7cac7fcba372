/* SPDX-License-Identifier: Apache-2.0 */
/* Reads records one by one, by the tracepoint table: what a crash left, and spans with a number
 * that looks wrong. */
#ifndef KYMO_RECORDER_WALK_H
#define KYMO_RECORDER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "recorder/records/classes.h"

/* Clocks of two threads may differ a little. A time that goes back by more than this is garbage. */
#define WALK_BACK_MAX_NS 1000000ull

struct walk {
	size_t good;		/* bytes of whole, sound records from the start */
	uint32_t count;		/* records in them */
	uint32_t moved;		/* of these, times that were moved forward to keep order */
	uint64_t first, last;	/* their times, when count is not 0 */
};

/**
 * walk_field() - size of one field at @at
 * @room: bytes that may be read
 * Return: bytes, or -1: it does not end within @room. Context: wait-free.
 */
long walk_field(enum kymo_kind kind, const uint8_t *at, size_t room);

/**
 * walk_is_sound() - whether @bytes are exactly @records whole records of runtime events that exist
 * @begin, @end: their times rise from the one to the other; ns
 *
 * Reads each record's header, and strings. Context: wait-free.
 */
bool walk_is_sound(const struct classes *classes, const uint8_t *bytes, size_t size,
		   uint32_t records, uint64_t begin, uint64_t end);

/** walk_fixed() - bytes of the payload of @point, -1 when they vary. Context: wait-free. */
long walk_fixed(const struct kymo_point *point);

/* A record, as its header and its class have it. */
struct walk_record {
	uint64_t ns;
	size_t size; /* with the header */
	uint16_t id;
};

/** walk_time() - the time of the record at @at. */
static inline uint64_t walk_time(const uint8_t *at)
{
	uint64_t ns;

	memcpy(&ns, at + sizeof(uint16_t), sizeof ns);
	return ns;
}

/**
 * walk_record() - read the record at @at
 * @room: bytes that may be read
 * Return: false: its id is unknown, or it does not end within @room. Context: wait-free.
 */
bool walk_record(const struct classes *classes, const uint8_t *at, size_t room,
		 struct walk_record *record);

/**
 * walk_payload() - size of the payload of event @id at @payload
 * @room: bytes that may be read
 * Return: bytes, or -1: unknown id, or the payload does not end within @room. Context: wait-free.
 */
long walk_payload(const struct classes *classes, unsigned id, const uint8_t *payload, size_t room);

/**
 * walk_records() - check the runtime records in @bytes, up to the first bad one
 * @bytes: private memory. A time before its predecessor's by less than WALK_BACK_MAX_NS is set
 *	to it; by more, the record is bad.
 * @size: at most a block
 * @not_before, @not_after: bounds of the times
 */
void walk_records(const struct classes *classes, uint8_t *bytes, size_t size, uint64_t not_before,
		  uint64_t not_after, struct walk *walk);

/**
 * walk_until() - the first record in @bytes whose time is not before @ns
 * @count: set to the number of records in front of it
 * Return: where it begins; @size when there is none, or when the records are invalid.
 */
size_t walk_until(const struct classes *classes, const uint8_t *bytes, size_t size, uint64_t ns,
		  uint32_t *count);

#endif
