/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same in each run. */
#ifndef KYMO_TESTS_CHANCE_H
#define KYMO_TESTS_CHANCE_H

#include <stdint.h>

static uint64_t chance_state = 88172645463325252u;

/* About normal: the sum of 12 uniform numbers, of mean 0 and deviation 1. */
static inline double chance_normal(void)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++) {
		chance_state ^= chance_state << 13;
		chance_state ^= chance_state >> 7;
		chance_state ^= chance_state << 17;
		sum += (double)(chance_state >> 11) / 9007199254740992.0;
	}
	return sum;
}

#endif
