/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of two clocks: bounds of their difference at points in time, and a line, or a curve,
 * that keeps them all.
 */
#ifndef KYMO_ANALYSIS_ALIGN_BOUNDS_H
#define KYMO_ANALYSIS_ALIGN_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

/* At @ns (clock of A) something is not more than @most_ns. */
struct bound {
	int64_t ns, most_ns;
};

#define BOUNDS_RATE_MAX 2e-3		/* two clocks of which each is slewed by 500 ppm, and bad crystals */
#define BOUNDS_SLACK_NS 1000		/* a thread's clock may be wrong by this */
#define BOUNDS_MAX 8192u		/* an even number */

/* Of all that were added, the lowest of each so many that came one after the other. */
struct bounds {
	struct bound *bound;		/* sorted by bounds_fit() */
	unsigned count;
	uint64_t messages;
	uint64_t group, in_group;	/* how many, and of the one that is being added to */
};

/** bounds_add() - Return: 0, or -ENOMEM. */
int bounds_add(struct bounds *bounds, int64_t ns, int64_t most_ns);
void bounds_free(struct bounds *bounds);

struct bounds_knot {
	int64_t ns;			/* clock of A */
	int64_t ahead_ns;		/* by this B's clock is ahead: the middle */
	int64_t error_ns;		/* until the next knot */
};

#define BOUNDS_KNOTS 2048u

struct bounds_fit {
	bool possible;			/* there is something between the bounds */
	double rate, wander;
	struct bounds_knot knot[BOUNDS_KNOTS];
};

/**
 * bounds_fit() - the middle between the bounds from @begin_ns to @end_ns (clock of A)
 * @most: of B's clock less A's; @least: of A's clock less B's. Both have some
 */
void bounds_fit(struct bounds_fit *fit, struct bounds *most, struct bounds *least, int64_t begin_ns,
		int64_t end_ns);

#endif
