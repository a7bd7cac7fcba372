/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A datagram of RTPS: a header with the sender's participant, then submessages. Those that say
 * which participant or which time is meant hold for the ones behind them.
 *
 *	0  "RTPS", version, vendor	submessage:  0  kind
 *	8  participant of the sender		     1  flags; bit 0: little endian
 *	20 submessages				     2  bytes behind these four; 0: the rest of the datagram
 */
#include <string.h>

#include "analysis/capture/capture_internal.h"

enum {
	RTPS_ACKNACK = 0x06,
	RTPS_INFO_TS = 0x09,
	RTPS_INFO_SRC = 0x0c,
	RTPS_INFO_DST = 0x0e,
	RTPS_NACK_FRAG = 0x12,
	RTPS_DATA = 0x15,
	RTPS_DATA_FRAG = 0x16,
};
#define RTPS_HEADER 20u
#define PREFIX 12u
#define INFO_TS_NONE 2u		/* flag: no time from here on */

struct reading {
	struct captures *captures;
	struct capture_packet packet;	/* what holds for the next submessage */
	uint8_t sender[PREFIX], receiver[PREFIX];
};

static uint64_t sequence_at(const uint8_t *at, bool little)
{
	return (uint64_t)get32(at, little) << 32 | get32(at + 4, little);
}

/* Nanoseconds of a time of RTPS: seconds, and a fraction in units of 2^-32 s. */
static int64_t time_at(const uint8_t *at, bool little)
{
	const uint64_t fraction = get32(at + 4, little);

	return (int64_t)get32(at, little) * 1000000000 +
	       (int64_t)((fraction * 1000000000 + (1ull << 31)) >> 32);
}

/* What the middleware writes for itself has the two highest bits of its entity's kind set. */
static bool is_builtin(const uint8_t entity[4])
{
	return (entity[3] & 0xc0) == 0xc0;
}

static void add(struct reading *r, enum capture_kind kind, const uint8_t participant[PREFIX],
		const uint8_t entity[4], uint64_t sequence)
{
	if (is_builtin(entity))
		return;
	r->packet.kind = kind;
	r->packet.sequence = sequence;
	memcpy(r->packet.writer, participant, PREFIX);
	memcpy(r->packet.writer + PREFIX, entity, 4);
	capture_add(r->captures, &r->packet);
}

/* 0 flags, offset; 4 reader; 8 writer; 12 sequence number; DATA_FRAG: 20 first part, 24 parts, 26
 * size of a part */
static void on_data(struct reading *r, const uint8_t *at, bool little, bool is_part)
{
	r->packet.fragment = is_part ? get32(at + 20, little) : 0;
	r->packet.fragments = is_part ? get16(at + 24, little) : 0;
	add(r, is_part ? CAPTURE_FRAGMENT : CAPTURE_DATA, r->sender, at + 8,
	    sequence_at(at + 12, little));
}

/* 0 reader; 4 writer; 8 first number that is missing; ACKNACK: 16 bits that follow. None: nothing
 * is missing. */
static void on_request(struct reading *r, const uint8_t *at, bool little, bool is_of_parts)
{
	if (!is_of_parts && !get32(at + 16, little))
		return;
	r->packet.fragment = r->packet.fragments = 0;
	add(r, CAPTURE_REQUEST, r->receiver, at + 4, sequence_at(at + 8, little));
}

/* The bytes of a submessage that are read. */
static size_t needed(unsigned kind, unsigned flags)
{
	switch (kind) {
	case RTPS_INFO_TS:
		return flags & INFO_TS_NONE ? 0 : 8;
	case RTPS_INFO_SRC:
		return 20;
	case RTPS_INFO_DST:
		return PREFIX;
	case RTPS_ACKNACK:
	case RTPS_NACK_FRAG:
	case RTPS_DATA:
		return 20;
	case RTPS_DATA_FRAG:
		return 28;
	default:
		return 0;
	}
}

static void on_submessage(struct reading *r, unsigned kind, unsigned flags, const uint8_t *at)
{
	const bool little = flags & 1;

	switch (kind) {
	case RTPS_INFO_TS:
		r->packet.source_ns = flags & INFO_TS_NONE ? 0 : time_at(at, little);
		break;
	case RTPS_INFO_SRC:
		memcpy(r->sender, at + 8, PREFIX);
		break;
	case RTPS_INFO_DST:
		memcpy(r->receiver, at, PREFIX);
		break;
	case RTPS_ACKNACK:
	case RTPS_NACK_FRAG:
		on_request(r, at, little, kind == RTPS_NACK_FRAG);
		break;
	case RTPS_DATA:
	case RTPS_DATA_FRAG:
		on_data(r, at, little, kind == RTPS_DATA_FRAG);
		break;
	default:
		break;
	}
}

void capture_datagram(struct captures *captures, const struct capture_packet *packet,
		      struct capture_bytes payload)
{
	struct reading r = { .captures = captures, .packet = *packet };
	unsigned kind, flags;
	size_t length;

	if (payload.size < RTPS_HEADER || memcmp(payload.at, "RTPS", 4) != 0)
		return;
	memcpy(r.sender, payload.at + 8, PREFIX);
	(void)skip(&payload, RTPS_HEADER);
	while (payload.size >= 4) {
		kind = payload.at[0];
		flags = payload.at[1];
		length = get16(payload.at + 2, flags & 1);
		(void)skip(&payload, 4);
		/* No length: up to the end. These two are complete without content. */
		if (!length && kind != RTPS_INFO_TS && kind != 0x01)
			length = payload.size;
		if (payload.size < needed(kind, flags)) {
			captures->source[packet->file].cut++;
			return;
		}
		if (length >= needed(kind, flags))
			on_submessage(&r, kind, flags, payload.at);
		if (!skip(&payload, length))
			return;		/* in the next fragment of IP, or not kept */
	}
}
