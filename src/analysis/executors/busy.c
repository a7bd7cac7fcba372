/* SPDX-License-Identifier: Apache-2.0 */
/* When a thread ran callbacks; see busy.h. */
#include "analysis/executors/busy.h"

static uint64_t oldest(const struct busy *busy)
{
	return busy->runs > BUSY_RUNS ? busy->runs - BUSY_RUNS : 0;
}

void busy_add(struct busy *busy, int64_t start_ns, int64_t end_ns)
{
	const uint64_t stop = oldest(busy);

	while (busy->runs > stop && busy->run[(busy->runs - 1) % BUSY_RUNS].start_ns >= start_ns)
		busy->runs--;
	busy->run[busy->runs++ % BUSY_RUNS] = (struct busy_run){ start_ns, end_ns };
}

int64_t busy_between(const struct busy *busy, int64_t from_ns, int64_t to_ns)
{
	const uint64_t stop = oldest(busy);
	int64_t sum_ns = 0;

	for (uint64_t at = busy->runs; at > stop; at--) {
		const struct busy_run *run = &busy->run[(at - 1) % BUSY_RUNS];
		const int64_t begin_ns = run->start_ns > from_ns ? run->start_ns : from_ns;
		const int64_t end_ns = run->end_ns < to_ns ? run->end_ns : to_ns;

		if (run->end_ns <= from_ns)
			break;
		if (end_ns > begin_ns)
			sum_ns += end_ns - begin_ns;
	}
	return sum_ns;
}
