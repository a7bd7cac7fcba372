/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a thread ran callbacks: its latest BUSY_RUNS runs, to find out for how long something else
 * waited for them.
 *
 * Context of all functions: not thread-safe; busy_add() allocates now and then.
 */
#ifndef KYMO_ANALYSIS_BUSY_H
#define KYMO_ANALYSIS_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#define BUSY_RUNS 128u

struct busy {
	struct busy_run {
		int64_t start_ns, end_ns;
	} * run;
	unsigned size; /* of `run`: 0 or a power of two, up to BUSY_RUNS */
	uint64_t runs; /* the newest is run[(runs - 1) % size] */
};

/** busy_free() - no run is known any more. */
void busy_free(struct busy *busy);

/** busy_add() - a run has ended; it replaces those that began inside it. Return: false without
 * memory: the run is not known. */
bool busy_add(struct busy *busy, int64_t start_ns, int64_t end_ns);

/** busy_between() - how much of [@from_ns, @to_ns] runs cover that have ended, in ns. */
int64_t busy_between(const struct busy *busy, int64_t from_ns, int64_t to_ns);

#endif
