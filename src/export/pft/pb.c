/* SPDX-License-Identifier: Apache-2.0 */
/* The rarely used half of the protobuf writer: growing, and messages inside messages. */
#include "export/pft/pb.h"

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

void pb_close_long(struct pb *pb, size_t at, size_t length)
{
	size_t more = 0;

	for (size_t rest = length >> 7; rest; rest >>= 7)
		more++;
	if (!pb_ready(pb, more))
		return;
	memmove(pb->data + at + 1 + more, pb->data + at + 1, length);
	pb->size += more;
	pb_store(pb->data + at, length);
}

void pb_bytes(struct pb *pb, uint32_t field, const void *data, size_t size)
{
	pb_varint(pb, (uint64_t)field << 3 | 2);
	pb_varint(pb, size);
	pb_raw(pb, data, size);
}
