/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing in a record says how long it is: its id leads to its class, and the kinds of the class's
 * fields give the size. So a walk that meets an unknown id, or a field that does not end, cannot go
 * on: what is before that counts, and nothing behind it can be found.
 */
#include "recorder/records/record_walk.h"

#include <string.h>

#include "abi/region.h"

long walk_field(enum kymo_kind kind, const uint8_t *at, size_t room)
{
	static const uint8_t fixed[] = {
		[KYMO_KIND_PTR] = 8, [KYMO_KIND_U64] = 8, [KYMO_KIND_I64] = 8,
		[KYMO_KIND_BOOL] = 4, [KYMO_KIND_GID16] = 16, [KYMO_KIND_GID24] = 24,
		[KYMO_KIND_U8] = 1, [KYMO_KIND_U16] = 2, [KYMO_KIND_U32] = 4,
		[KYMO_KIND_I8] = 1, [KYMO_KIND_I16] = 2, [KYMO_KIND_I32] = 4, [KYMO_KIND_F64] = 8,
	};
	const uint8_t *end;
	uint64_t count;

	if (kind == KYMO_KIND_STR) {
		end = memchr(at, 0, room);
		return end ? end - at + 1 : -1;
	}
	if (kind == KYMO_KIND_PTRS) {
		if (room < sizeof count)
			return -1;
		memcpy(&count, at, sizeof count);
		return count <= (room - sizeof count) / 8 ? (long)(sizeof count + count * 8) : -1;
	}
	return fixed[kind] <= room ? fixed[kind] : -1;
}

long walk_fixed(const struct kymo_point *point)
{
	static const uint8_t nothing[32];
	long size = 0;

	for (unsigned i = 0; i < point->field_count; i++) {
		if (point->field[i].kind == KYMO_KIND_STR || point->field[i].kind == KYMO_KIND_PTRS)
			return -1;
		size += walk_field(point->field[i].kind, nothing, sizeof nothing);
	}
	return size;
}

long walk_payload(const struct classes *classes, unsigned id, const uint8_t *payload, size_t room)
{
	const struct kymo_point *point = classes_get(classes, id);
	size_t used = 0;

	if (!point)
		return -1;
	for (unsigned i = 0; i < point->field_count; i++) {
		long size = walk_field(point->field[i].kind, payload + used, room - used);

		if (size < 0)
			return -1;
		used += (size_t)size;
	}
	return (long)used;
}

bool walk_record(const struct classes *classes, const uint8_t *at, size_t room,
		 struct walk_record *record)
{
	long payload;

	if (room < KYMO_RECORD_HEADER)
		return false;
	memcpy(&record->id, at, sizeof record->id);
	record->ns = walk_time(at);
	payload = walk_payload(classes, record->id, at + KYMO_RECORD_HEADER,
			       room - KYMO_RECORD_HEADER);
	record->size = KYMO_RECORD_HEADER + (size_t)payload;
	return payload >= 0;
}

void walk_records(const struct classes *classes, uint8_t *bytes, size_t size, uint64_t not_before,
		  uint64_t not_after, struct walk *walk)
{
	struct walk_record record;
	uint64_t last = not_before;

	*walk = (struct walk){ 0 };
	while (walk_record(classes, bytes + walk->good, size - walk->good, &record)) {
		if (classes_get(classes, record.id)->phase != KYMO_PHASE_RUN ||
		    record.ns > not_after)
			return;
		if (record.ns < last) {
			if (last - record.ns > WALK_BACK_MAX_NS)
				return;
			record.ns = last;
			memcpy(bytes + walk->good + sizeof record.id, &last, sizeof last);
			walk->moved++;
		}
		if (!walk->count)
			walk->first = record.ns;
		walk->last = last = record.ns;
		walk->good += record.size;
		walk->count++;
	}
}

bool walk_is_sound(const struct classes *classes, const uint8_t *bytes, size_t size,
		   uint32_t records, uint64_t begin, uint64_t end)
{
	uint32_t count = 0;
	uint64_t ns;
	uint16_t id;
	long payload;

	for (; size; count++) {
		if (size < KYMO_RECORD_HEADER)
			return false;
		memcpy(&id, bytes, sizeof id);
		ns = walk_time(bytes);
		payload = classes_fixed(classes, id);
		if (payload == CLASSES_VARIABLE)
			payload = walk_payload(classes, id, bytes + KYMO_RECORD_HEADER,
					       size - KYMO_RECORD_HEADER);
		if (ns < begin || ns > end || payload < 0 ||
		    (size_t)payload > size - KYMO_RECORD_HEADER)
			return false;
		begin = ns;
		bytes += KYMO_RECORD_HEADER + (size_t)payload;
		size -= KYMO_RECORD_HEADER + (size_t)payload;
	}
	return count == records;
}

size_t walk_until(const struct classes *classes, const uint8_t *bytes, size_t size, uint64_t ns,
		  uint32_t *count)
{
	struct walk_record record;
	size_t at = 0;

	for (*count = 0; size - at >= KYMO_RECORD_HEADER; ++*count) {
		if (walk_time(bytes + at) >= ns)
			return at;
		if (!walk_record(classes, bytes + at, size - at, &record))
			break;
		at += record.size;
	}
	return size;
}
