/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions that hold become triggers that fire: "for 3 times in 10s", and conditions joined by
 * "and". */
#include <string.h>

#include "recorder/trigger/trigger_internal.h"

#define TOGETHER_NS 1000000000ull	/* the parts of "and" hold within this, or within the longest "in" of them */

/* The last @condition->times hits are kept in order: threads are looked at in turn, so a later one
 * may be older. */
static bool is_often_enough(struct trigger *condition, uint64_t ns)
{
	uint64_t *hit = condition->hit_ns;
	unsigned at;

	if (condition->times < 2)
		return true;
	if (condition->hits == condition->times) {
		memmove(hit, hit + 1, (condition->hits - 1) * sizeof *hit);
		condition->hits--;
	}
	for (at = condition->hits; at && hit[at - 1] > ns; at--)
		hit[at] = hit[at - 1];
	hit[at] = ns;
	condition->hits++;
	if (condition->hits < condition->times ||
	    hit[condition->hits - 1] - hit[0] > condition->within_ns)
		return false;
	condition->hits = 0;
	return true;
}

static uint64_t together_ns(const struct trigger *first)
{
	uint64_t ns = TOGETHER_NS;

	for (unsigned i = 0; i < first->parts; i++)
		ns = first[i].within_ns > ns ? first[i].within_ns : ns;
	return ns;
}

static bool completes(struct triggers *triggers, unsigned index, uint64_t ns)
{
	struct trigger *condition = &triggers->item[index],
		       *first = &triggers->item[condition->first];
	uint64_t within;

	if (!is_often_enough(condition, ns))
		return false;
	if (condition->parts < 2)
		return true;
	condition->held_ns = ns ? ns : 1;
	within = together_ns(first);
	for (unsigned i = 0; i < first->parts; i++) {
		const uint64_t held = first[i].held_ns;

		if (!held || (held > ns ? held - ns : ns - held) > within)
			return false;
	}
	for (unsigned i = 0; i < first->parts; i++)
		first[i].held_ns = 0;
	return true;
}

bool trigger_repeats(const struct trigger *condition)
{
	return condition->times > 1 || condition->parts > 1;
}

void trigger_report(struct triggers *triggers, const struct trigger_listener *listener,
		    uint32_t mask, struct trigger_hit *hit)
{
	for (unsigned i = 0; mask; i++, mask >>= 1)
		if (mask & 1 && completes(triggers, i, hit->at_ns)) {
			hit->trigger = i;
			listener->hit(listener->context, hit);
		}
}
