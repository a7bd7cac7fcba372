/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What else did the machine do while a run was recorded, and was that too much? The rule is fixed
 * before the first run; it looks at the machine, never at what was measured, so it cannot prefer a
 * side.
 *
 *   machine_read(&before, "");
 *   ... the run ...
 *   machine_read(&after, "");
 *   machine_between(&meanwhile, &before, &after);
 *   if (disturbed(&rule, &meanwhile, why, sizeof(why)))
 *
 * Context of all functions: block as /proc and /sys do.
 */
#ifndef KYMO_COMPARE_DISTURBED_H
#define KYMO_COMPARE_DISTURBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counters since the boot. */
struct machine {
	double all_s, busy_s; /* of all CPUs: in total, and with work */
	double stolen_s;      /* taken by other machines of the same host */
	double ours_s;        /* of processes that this one started and that have ended */
	uint64_t throttles;   /* how often a CPU was slowed down because it was too hot */
	double held_s;        /* this process's control group had used up its CPU time */
	double now_s;         /* by CLOCK_MONOTONIC */
};

struct meanwhile {
	double others, stolen; /* shares of all CPUs, 0 to 1 */
	double held;           /* share of the time */
	uint64_t throttles;
};

struct disturbed_rule {
	double others, stolen, held; /* more than this is disturbed */
};

/**
 * machine_read() - read the counters; what the machine does not have stays 0
 * @root: in front of /proc and /sys; "": those of this machine
 */
void machine_read(struct machine *machine, const char *root);

/** machine_between() - what happened from @from to @to. */
void machine_between(struct meanwhile *meanwhile, const struct machine *from,
		     const struct machine *to);

/**
 * disturbed() - was it more than the rule allows?
 * @why: set to "other programs took 41 % of the CPUs"
 */
bool disturbed(const struct disturbed_rule *rule, const struct meanwhile *meanwhile, char *why,
	       size_t size);

#endif
