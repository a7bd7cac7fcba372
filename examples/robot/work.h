/* SPDX-License-Identifier: Apache-2.0 */
/* What the robot's callbacks have in common: message headers, chance, and taking their time. */
#ifndef ROBOT_WORK_H
#define ROBOT_WORK_H

#include <time.h>

#include "mini_rclcpp.h"
#include "robot.h"

#define US 1000ll
#define MS 1000000ll

/* Fills a header with the wall clock; frame must outlive the message. */
static inline std_msgs_msg_dds__Header_ header_now(char *frame)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (std_msgs_msg_dds__Header_){ { (int32_t)t.tv_sec, (uint32_t)t.tv_nsec }, frame };
}

/* Stands for computing: keeps the CPU busy for this long. */
static inline void work_for(int64_t ns)
{
	int64_t end = rc_now_ns() + ns;

	while (rc_now_ns() < end)
		;
}

/* xorshift64; the state must not be 0. Returns 0 <= x < 1. */
static inline double chance(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(*state >> 11) / 9007199254740992.0;
}

#endif
