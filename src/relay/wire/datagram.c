/* SPDX-License-Identifier: Apache-2.0 */
/* Packets cut into datagrams. See datagram.h; datagram_join.c puts them together. */
#include "relay/wire/datagram.h"

int datagram_cut(struct datagram_cut *cut, struct wire_out *out)
{
	const uint32_t most = cut->most ? cut->most : DATAGRAM_SIZE;
	const uint32_t left = cut->size - cut->at;
	struct wire_datagram header = {
		.magic = DATAGRAM_MAGIC,
		.size = cut->size,
		.cookie = cut->cookie,
		.stream = cut->stream,
		.seq = cut->seq,
		.padding = cut->padding,
		.offset = cut->at,
		.piece = most - WIRE_SIZE_datagram,
	};
	uint32_t piece;

	if (cut->at > cut->size)
		return 0;
	if (most <= WIRE_SIZE_datagram || cut->size > DATAGRAM_PACKET_MAX)
		return -1;
	piece = left < header.piece ? left : header.piece;
	out->used = 0;
	wire_put_datagram(out, &header);
	wire_add_bytes(out, cut->bytes + cut->at, piece);
	if (out->failed)
		return -1;
	cut->at += piece;
	if (cut->at == cut->size)
		cut->at++;		/* all is cut */
	return 1;
}
