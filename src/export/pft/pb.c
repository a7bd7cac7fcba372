/* SPDX-License-Identifier: Apache-2.0 */
/* The rarely used half of the protobuf writer: growing, and messages inside messages. */
#include "export/pft/pb.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

int pb_grow(struct pb *pb, size_t bytes)
{
	pb->failed |= bytes > SIZE_MAX / 4 - pb->size ||
		      !ARRAY_FIT(pb->data, pb->size + bytes, pb->room);
	return pb->failed ? -1 : 0;
}

void pb_free(struct pb *pb)
{
	free(pb->data);
	*pb = (struct pb){ 0 };
}

void pb_open(struct pb *pb, uint32_t field)
{
	assert(pb->depth < PB_DEPTH_MAX);
	if (pb_ready(pb, PB_VARINT_MAX + 1)) {
		uint8_t *at = pb_store(pb->data + pb->size, (uint64_t)field << 3 | 2);

		*at = 0;
		pb->open[pb->depth] = (size_t)(at - pb->data);
		pb->size = pb->open[pb->depth] + 1;
	}
	pb->depth++;
}

void pb_close(struct pb *pb)
{
	size_t at, length, more = 0;

	assert(pb->depth > 0);
	pb->depth--;
	if (pb->failed)
		return;
	at = pb->open[pb->depth];
	length = pb->size - at - 1;
	for (size_t rest = length >> 7; rest; rest >>= 7)
		more++;
	if (more) {
		if (!pb_ready(pb, more))
			return;
		memmove(pb->data + at + 1 + more, pb->data + at + 1, length);
		pb->size += more;
	}
	pb_store(pb->data + at, length);
}

void pb_bytes(struct pb *pb, uint32_t field, const void *data, size_t size)
{
	pb_varint(pb, (uint64_t)field << 3 | 2);
	pb_varint(pb, size);
	pb_raw(pb, data, size);
}
