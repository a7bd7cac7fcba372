/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of an instance: what took its time. */
#include "summary/summary_collect_internal.h"

void collect_parts_add(struct collect_parts *parts, const struct summary_part *part)
{
	if (part->ns > 0 && parts->count < CHAINS_SEGMENTS_MAX)
		parts->part[parts->count++] = *part;
}

void collect_parts_wait(struct summary *summary, struct collect_parts *parts,
			const struct collect_wait *wait, const struct summary_part *part,
			int64_t most_ns)
{
	const int64_t blocked_ns = wait->blocked_ns < most_ns ? wait->blocked_ns : most_ns;
	struct summary_part piece = *part;

	piece.ns = wait->by_ns < blocked_ns ? wait->by_ns : blocked_ns;
	piece.by = collect_callback_name(summary, wait->by);
	piece.is_group = wait->is_group;
	piece.is_assumed = wait->is_assumed;
	collect_parts_add(parts, &piece);
	piece.ns = blocked_ns - piece.ns;
	piece.by = "";
	piece.usual_ns = 0;
	piece.is_group = piece.is_assumed = false;
	collect_parts_add(parts, &piece);
}

/* The longest ones, in the order in which they came. */
void collect_parts_put(const struct collect_parts *parts, struct summary_instance *instance)
{
	int64_t at_ns = 0;

	for (unsigned i = 0; i < parts->count; at_ns += parts->part[i++].ns) {
		unsigned longer = 0;

		for (unsigned j = 0; j < parts->count; j++)
			longer += parts->part[j].ns > parts->part[i].ns ||
				  (parts->part[j].ns == parts->part[i].ns && j < i);
		if (longer >= SUMMARY_PARTS_MAX)
			continue;
		instance->part[instance->parts] = parts->part[i];
		instance->part[instance->parts++].at_ns = at_ns;
	}
}
