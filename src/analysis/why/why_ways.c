/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the parts of two instances comparable; see why.h.
 *
 * The idea: the way of a message through the middleware is split into dds, network and cache where
 * the trace has its events, and is transport where it has not. Side by side, the one would be
 * compared with nothing, and so would the other. So where only one of two instances has transport
 * at a hop, the way of both becomes transport, with the same sum.
 */
#include "analysis/why/why.h"

bool why_is_way(enum why_kind kind)
{
	return kind == WHY_TRANSPORT || kind == WHY_DDS || kind == WHY_NETWORK || kind == WHY_CACHE;
}

struct why_way {
	bool exists, has_transport;
};

static struct why_way way_at(const struct why_parts *parts, unsigned hop)
{
	struct why_way way = { 0 };

	for (unsigned i = 0; i < parts->count; i++) {
		if (parts->part[i].hop != hop || !why_is_way(parts->part[i].kind))
			continue;
		way.exists = true;
		way.has_transport |= parts->part[i].kind == WHY_TRANSPORT;
	}
	return way;
}

static void add_piece(struct why_part *sum, const struct why_part *part)
{
	/* Two parts that touch are one piece. */
	sum->pieces += part->pieces - (sum->end_ns == part->begin_ns);
	sum->longest_ns = part->longest_ns > sum->longest_ns ? part->longest_ns : sum->longest_ns;
	sum->end_ns = part->end_ns > sum->end_ns ? part->end_ns : sum->end_ns;
	sum->ns += part->ns;
	sum->faults += part->faults;
	sum->major += part->major;
}

/* Replaces the parts of the way at @hop by one of the kind transport. */
static void join_way(struct why_parts *parts, unsigned hop)
{
	struct why_part *sum = NULL;
	unsigned kept = 0;

	for (unsigned i = 0; i < parts->count; i++) {
		const struct why_part *part = &parts->part[i];

		if (part->hop != hop || !why_is_way(part->kind)) {
			parts->part[kept++] = *part;
		} else if (sum) {
			add_piece(sum, part);
		} else {
			parts->part[kept] = *part;
			sum = &parts->part[kept++];
			sum->kind = WHY_TRANSPORT;
		}
	}
	parts->count = kept;
}

bool why_join_ways(struct why_parts *a, struct why_parts *b, unsigned hop)
{
	const struct why_way of_a = way_at(a, hop), of_b = way_at(b, hop);

	if (!of_a.exists || !of_b.exists || of_a.has_transport == of_b.has_transport)
		return false;
	join_way(a, hop);
	join_way(b, hop);
	return true;
}
