/* SPDX-License-Identifier: Apache-2.0 */
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

void walk_records(const struct classes *classes, uint8_t *bytes, size_t size, uint64_t not_before,
		  uint64_t not_after, struct walk *walk)
{
	uint64_t last = not_before;

	*walk = (struct walk){ 0 };
	while (size - walk->good >= KYMO_RECORD_HEADER) {
		uint8_t *at = bytes + walk->good;
		uint64_t ns;
		uint16_t id;
		long payload;

		memcpy(&id, at, sizeof id);
		memcpy(&ns, at + sizeof id, sizeof ns);
		payload = walk_payload(classes, id, at + KYMO_RECORD_HEADER,
				       size - walk->good - KYMO_RECORD_HEADER);
		if (payload < 0 || classes_get(classes, id)->phase != KYMO_PHASE_RUN || ns > not_after)
			return;
		if (ns < last) {
			if (last - ns > WALK_BACK_MAX_NS)
				return;
			ns = last;
			memcpy(at + sizeof id, &ns, sizeof ns);
			walk->moved++;
		}
		if (!walk->count)
			walk->first = ns;
		walk->last = last = ns;
		walk->good += KYMO_RECORD_HEADER + (size_t)payload;
		walk->count++;
	}
}

size_t walk_until(const struct classes *classes, const uint8_t *bytes, size_t size, uint64_t ns,
		  uint32_t *count)
{
	size_t at = 0;

	*count = 0;
	while (size - at >= KYMO_RECORD_HEADER) {
		uint64_t time;
		uint16_t id;
		long payload;

		memcpy(&id, bytes + at, sizeof id);
		memcpy(&time, bytes + at + sizeof id, sizeof time);
		if (time >= ns)
			return at;
		payload = walk_payload(classes, id, bytes + at + KYMO_RECORD_HEADER,
				       size - at - KYMO_RECORD_HEADER);
		if (payload < 0)
			break;
		at += KYMO_RECORD_HEADER + (size_t)payload;
		++*count;
	}
	return size;
}
