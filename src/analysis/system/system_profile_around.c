/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions around callbacks, in call trees of samples; see system_profile.h.
 *
 * The idea: a sample does not say which functions of its stack the callback called. The functions
 * that called the callback are on the thread's stack outside of callbacks, too, from the root on.
 */
#include "analysis/system/system_profile.h"

/* Functions of @inside that are also in @outside are around the callback. */
static void mark_around(const struct profile *profile, struct profile_call *inside,
			const struct profile_call *outside)
{
	const struct profile_call *same;

	for (struct profile_call *call = inside->child; call; call = call->sibling) {
		same = map_get(&profile->calls, call->address, outside->index);
		if (!same || same->is_callback || call->is_callback)
			continue;
		call->is_around = true;
		mark_around(profile, call, same);
	}
}

/* A callback may spin, so that others run within it. */
void profile_mark_around(const struct profile *profile, const struct profile_call *outside)
{
	for (struct profile_call *call = outside->child; call; call = call->sibling)
		if (call->is_callback) {
			mark_around(profile, call, outside);
			profile_mark_around(profile, call);
		}
}
