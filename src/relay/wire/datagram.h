/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets as datagrams, beside the TCP connection of the data port: a datagram that is lost stays
 * lost, and nothing waits for it. Indexes, metadata and everything else use the control connection
 * as always. So the relay knows from its index that a packet was lost, and writes an entry with
 * offset -1 for it.
 *
 *   packet  ├───────┼───────┼───────┼──┤      cut into pieces of one size but for the last
 *              ▼       ▼       ▼      ▼
 *           header+piece …                    48 + piece bytes each, none is fragmented
 *
 *   0  u32 "KYMD"     4  u32 size of the packet, without padding
 *   8  u64 cookie    16  u64 stream    24  u64 sequence number
 *  32  u32 padding   36  u32 offset of the piece    40  u32 size of a piece    44  u32 0    48  the piece
 *
 * Each session has a cookie, 64 random bits that the relay sends to its producer on the control
 * connection (WIRE_DATAGRAMS), which may be TLS. Datagrams without the cookie are dropped. The
 * contents of a datagram are not encrypted.
 */
#ifndef KYMO_RELAY_DATAGRAM_H
#define KYMO_RELAY_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "relay/wire/wire.h"

#define DATAGRAM_MAGIC	0x4b594d44u	/* "KYMD" */
/* 1500 bytes of Ethernet without the headers of IPv6 and UDP */
#define DATAGRAM_SIZE	1452u
#define DATAGRAM_PACKET_MAX ((uint32_t)16 << 20)	/* bytes of a packet */

/* How a relay joins them. */
#define DATAGRAM_WINDOW	512u		/* packets of a stream that wait for an earlier one */
#define DATAGRAM_WAIT	5u		/* for this many calls of relay_expire_datagrams() */
/* the same, for an index without a single datagram of its packet */
#define DATAGRAM_ALONE	20u
/* bytes of a session's packets that are incomplete, or wait */
#define DATAGRAM_SESSION_MAX ((size_t)32 << 20)
#define DATAGRAM_BYTES_MAX ((size_t)128 << 20)	/* of all sessions */

/* A packet that is cut into datagrams. Fill in all but @at, which is 0. */
struct datagram_cut {
	uint64_t cookie, stream, seq;
	const uint8_t *bytes;		/* the caller's, until all is cut */
	uint32_t size, padding;		/* size: at most DATAGRAM_PACKET_MAX */
	uint32_t most;			/* bytes of a datagram; 0: DATAGRAM_SIZE */
	uint32_t at;
};

/**
 * datagram_cut() - the next datagram of a packet
 * @out: emptied, then filled; pass the same one for the whole packet
 *
 * A packet without bytes (padding only) also becomes one datagram.
 * Context: allocates when @out is too small; no system call.
 * Return: 1; 0: there is no more; -1: out of memory, @cut->most has no room for a byte, or the
 * packet is larger than DATAGRAM_PACKET_MAX.
 */
int datagram_cut(struct datagram_cut *cut, struct wire_out *out);

#endif
