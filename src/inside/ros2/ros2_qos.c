/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quality of service that publishers and subscriptions ask for. rmw_create_publisher() and
 * rmw_create_subscription() get it as rmw_qos_profile_t, whose layout is the same from Humble on.
 * What the middleware makes of "system_default" and "best_available" is not in it.
 */
#include <stdint.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_types.h"

struct rmw_time {
	uint64_t seconds, ns;
};

/* The beginning of rmw_qos_profile_t. */
struct qos_profile {
	uint32_t history;
	uint64_t depth;
	uint32_t reliability, durability;
	struct rmw_time deadline, lifespan;
};

/* rmw_qos_*_policy_e; the words are those of ros2 topic info. */
static const char *const histories[] = { "system_default", "keep_last", "keep_all" };
static const char *const reliabilities[] = { "system_default", "reliable", "best_effort", "unknown",
					     "best_available" };
static const char *const durabilities[] = { "system_default", "transient_local", "volatile",
					    "unknown", "best_available" };

#define WORD(words, number) \
	((number) < sizeof(words) / sizeof(*(words)) ? (words)[number] : "unknown")

/* Zero is "not specified", and what is longer than any time is "never": both are no limit. */
static int64_t duration_ns(const struct rmw_time *time)
{
	if (time->seconds >= INT64_MAX / 1000000000 || time->ns > INT64_MAX / 2)
		return 0;
	return (int64_t)(time->seconds * 1000000000 + time->ns);
}

void kymo_qos_tell(const void *rmw, const void *profile)
{
	const struct qos_profile *its = profile;

	if (!rmw || !its)
		return;
	kymo_emit_qos(rmw, WORD(histories, its->history), its->depth,
		      WORD(reliabilities, its->reliability), WORD(durabilities, its->durability),
		      duration_ns(&its->deadline), duration_ns(&its->lifespan));
}
