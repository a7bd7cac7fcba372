/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a frame to a datagram of UDP. Of a datagram that IP sent in fragments, only the first one
 * has the headers; what follows in the others is not needed.
 */
#include <string.h>

#include "analysis/capture/capture_internal.h"

/* https://www.tcpdump.org/linktypes.html */
enum {
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_RAW_OLD = 12,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_COOKED = 113,
	LINK_IPV4 = 228,
	LINK_IPV6 = 229,
	LINK_COOKED2 = 276,
};
#define COOKED_OUTGOING 4u
#define COOKED_LOOPBACK 772u	/* ARPHRD_LOOPBACK */
#define ETHER_VLAN 0x8100u
#define ETHER_VLANS 0x88a8u
#define UDP 17u

/* Drops the header of the link. Return: false: no packet of IP follows, or one that comes twice. */
static bool drop_link(struct capture_bytes *data, unsigned link, bool *known)
{
	const uint8_t *at = data->at;
	unsigned type;

	*known = true;
	switch (link) {
	case LINK_RAW_OLD:
	case LINK_RAW:
	case LINK_IPV4:
	case LINK_IPV6:
		return true;
	case LINK_NULL:
	case LINK_LOOP:
		return skip(data, 4);
	case LINK_COOKED:
		/* Loopback shows each packet as sent and as received. */
		return skip(data, 16) && !(get16(at, false) == COOKED_OUTGOING &&
					   get16(at + 2, false) == COOKED_LOOPBACK);
	case LINK_COOKED2:
		return skip(data, 20) &&
		       !(at[10] == COOKED_OUTGOING && get16(at + 8, false) == COOKED_LOOPBACK);
	case LINK_ETHERNET:
		if (!skip(data, 14))
			return false;
		type = get16(at + 12, false);
		while (type == ETHER_VLAN || type == ETHER_VLANS) {
			at = data->at;
			if (!skip(data, 4))
				return false;
			type = get16(at + 2, false);
		}
		return true;
	default:
		*known = false;
		return false;
	}
}

static bool drop_ipv4(struct capture_bytes *data, struct capture_packet *packet)
{
	const uint8_t *at = data->at;
	size_t header;
	unsigned total;

	if (data->size < 20 || at[9] != UDP || get16(at + 6, false) & 0x1fff)
		return false;
	header = (size_t)(at[0] & 15) * 4;
	total = get16(at + 2, false);
	/* Behind short packets, Ethernet has padding. */
	if (total >= header && total < data->size)
		data->size = total;
	memcpy(packet->from.bytes, at + 12, 4);
	memcpy(packet->to.bytes, at + 16, 4);
	return header >= 20 && skip(data, header);
}

static bool drop_ipv6(struct capture_bytes *data, struct capture_packet *packet)
{
	const uint8_t *at = data->at;
	unsigned next;

	if (!skip(data, 40))
		return false;
	next = at[6];
	memcpy(packet->from.bytes, at + 8, 16);
	memcpy(packet->to.bytes, at + 24, 16);
	packet->from.is_ipv6 = packet->to.is_ipv6 = true;
	while (next == 0 || next == 43 || next == 60 || next == 44) {
		at = data->at;
		if (data->size < 8 || (next == 44 && get16(at + 2, false) & 0xfff8))
			return false;
		if (!skip(data, next == 44 ? 8 : ((size_t)at[1] + 1) * 8))
			return false;
		next = at[0];
	}
	return next == UDP;
}

void capture_frame(struct captures *captures, unsigned file, const struct capture_frame *frame)
{
	struct capture_source *source = &captures->source[file];
	struct capture_packet packet = { .ns = frame->ns,
					 .bytes = frame->wire_bytes,
					 .file = (uint8_t)file };
	struct capture_bytes data = frame->data;
	bool known, is_udp = false;

	source->frames++;
	if (!source->first_ns || frame->ns < source->first_ns)
		source->first_ns = frame->ns;
	if (frame->ns > source->last_ns)
		source->last_ns = frame->ns;
	if (!drop_link(&data, frame->link, &known)) {
		source->foreign += !known;
		source->foreign_link = known ? source->foreign_link : frame->link;
		return;
	}
	if (data.size && data.at[0] >> 4 == 4)
		is_udp = drop_ipv4(&data, &packet);
	else if (data.size && data.at[0] >> 4 == 6)
		is_udp = drop_ipv6(&data, &packet);
	if (!is_udp || data.size < 8)
		return;
	packet.from.port = get16(data.at, false);
	packet.to.port = get16(data.at + 2, false);
	(void)skip(&data, 8);
	capture_datagram(captures, &packet, data);
}
