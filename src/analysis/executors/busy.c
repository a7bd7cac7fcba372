/* SPDX-License-Identifier: Apache-2.0 */
/* When a thread ran callbacks; see busy.h. */
#include "analysis/executors/busy.h"

#include <stdlib.h>

#define RUNS_FIRST 8u

static uint64_t oldest(const struct busy *busy)
{
	return busy->runs > busy->size ? busy->runs - busy->size : 0;
}

/* A ring that is full grows, up to BUSY_RUNS; until then it has all runs, in order. */
static __attribute__((noinline)) bool grow(struct busy *busy)
{
	const unsigned size = busy->size ? 2 * busy->size : RUNS_FIRST;
	struct busy_run *larger = reallocarray(busy->run, size, sizeof(*larger));

	if (!larger)
		return false;
	busy->run = larger;
	busy->size = size;
	return true;
}

void busy_free(struct busy *busy)
{
	free(busy->run);
	*busy = (struct busy){ 0 };
}

bool busy_add(struct busy *busy, int64_t start_ns, int64_t end_ns)
{
	const uint64_t stop = oldest(busy);

	while (busy->runs > stop &&
	       busy->run[(busy->runs - 1) & (busy->size - 1)].start_ns >= start_ns)
		busy->runs--;
	if (busy->runs >= busy->size && busy->size < BUSY_RUNS && !grow(busy))
		return false;
	busy->run[busy->runs++ & (busy->size - 1)] = (struct busy_run){ start_ns, end_ns };
	return true;
}

int64_t busy_between(const struct busy *busy, int64_t from_ns, int64_t to_ns)
{
	const uint64_t stop = oldest(busy);
	int64_t sum_ns = 0;

	for (uint64_t at = busy->runs; at > stop; at--) {
		const struct busy_run *run = &busy->run[(at - 1) & (busy->size - 1)];
		const int64_t begin_ns = run->start_ns > from_ns ? run->start_ns : from_ns;
		const int64_t end_ns = run->end_ns < to_ns ? run->end_ns : to_ns;

		if (run->end_ns <= from_ns)
			break;
		if (end_ns > begin_ns)
			sum_ns += end_ns - begin_ns;
	}
	return sum_ns;
}
