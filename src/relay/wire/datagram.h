/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets as datagrams, next to the TCP of the data port: what is lost is lost, and nothing waits for it.
 * Indexes, metadata and all else go over the control connection as ever, so a packet that did not come is
 * known by its index, and becomes an entry with offset -1.
 *
 *   packet  ├───────┼───────┼───────┼──┤      cut into pieces of one size but for the last
 *              ▼       ▼       ▼      ▼
 *           header+piece …                    48 + piece bytes each, none is fragmented
 *
 *   0  u32 "KYMD"     4  u32 size of the packet, without padding
 *   8  u64 cookie    16  u64 stream    24  u64 sequence number
 *  32  u32 padding   36  u32 offset of the piece    40  u32 size of a piece    44  u32 0    48  the piece
 *
 * Each session has a cookie, 64 random bits that its producer gets over the control connection
 * (WIRE_DATAGRAMS), which may be TLS; a datagram without it is dropped. What is in a datagram is not encrypted.
 */
#ifndef KYMO_RELAY_DATAGRAM_H
#define KYMO_RELAY_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "relay/wire/wire.h"

#define DATAGRAM_MAGIC	0x4b594d44u	/* "KYMD" */
#define DATAGRAM_SIZE	1452u		/* 1500 bytes of Ethernet without the headers of IPv6 and UDP */
#define DATAGRAM_PACKET_MAX ((uint32_t)16 << 20)	/* bytes of a packet */

/* How a relay puts them together. */
#define DATAGRAM_WINDOW	512u		/* packets of a stream that wait for one before them */
#define DATAGRAM_WAIT	5u		/* and for how many calls of relay_expire_datagrams() */
#define DATAGRAM_ALONE	20u		/* the same, for an index of whose packet nothing came */
#define DATAGRAM_SESSION_MAX ((size_t)32 << 20)	/* bytes of a session's packets that are not whole, or wait */
#define DATAGRAM_BYTES_MAX ((size_t)128 << 20)	/* of all sessions' */

/* A packet that is being cut. Fill in all but @at, which is 0. */
struct datagram_cut {
	uint64_t cookie, stream, seq;
	const uint8_t *bytes;		/* stay the caller's until it is cut */
	uint32_t size, padding;		/* size: at most DATAGRAM_PACKET_MAX */
	uint32_t most;			/* bytes of a datagram; 0: DATAGRAM_SIZE */
	uint32_t at;
};

/**
 * datagram_cut() - the next datagram of a packet
 * @out: emptied, then filled; use the same for all of them
 *
 * A packet without bytes (padding only) is one datagram, too.
 * Return: 1, or 0: that was all, or -1: no memory, or @cut->most has no room for a byte.
 */
int datagram_cut(struct datagram_cut *cut, struct wire_out *out);

#endif
