/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several instances is meant by a moment: one that is under way then. */
#ifndef KYMO_ANALYSIS_UNDER_WAY_H
#define KYMO_ANALYSIS_UNDER_WAY_H

#include <stdint.h>

/**
 * under_way() - how well the instance from @begin_ns to @end_ns fits to the moment @at_ns
 *
 * Of several that are under way, the one fits best that begins or ends nearest to the moment.
 * Return: the larger the better; -1: the instance is not under way at @at_ns. Context: wait-free.
 */
static inline int64_t under_way(int64_t begin_ns, int64_t end_ns, int64_t at_ns)
{
	if (at_ns < begin_ns || at_ns > end_ns)
		return -1;
	return INT64_MAX - (at_ns - begin_ns < end_ns - at_ns ? at_ns - begin_ns : end_ns - at_ns);
}

#endif
