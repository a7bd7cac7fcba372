/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/session/clocks.h"

struct clock_change clocks_compare(const struct clock_snapshot *before, const struct clock_snapshot *now,
				   struct clock_changes *changes)
{
	const int64_t noise = CLOCKS_NOISE_NS + (int64_t)before->width + (int64_t)now->width;
	/* CLOCK_BOOTTIME goes on while the machine sleeps, CLOCK_MONOTONIC does not. */
	const int64_t slept = (int64_t)((now->boottime - now->monotonic) - (before->boottime - before->monotonic));
	const int64_t set = (int64_t)((now->realtime - now->boottime) - (before->realtime - before->boottime));
	struct clock_change change = { 0 };

	if (slept > noise) {
		change.slept_ns = (uint64_t)slept;
		changes->slept_ns += change.slept_ns;
		changes->slept++;
	}
	if (set > noise || set < -noise) {
		change.set_ns = set;
		changes->set_ns += set;
		changes->set++;
	}
	return change;
}
