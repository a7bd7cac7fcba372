/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of two clocks: bounds of their difference at points in time, and a line or a curve
 * that satisfies all bounds.
 *
 * Context of all functions: not thread-safe; bounds_add() allocates; none blocks.
 */
#ifndef KYMO_ANALYSIS_ALIGN_BOUNDS_H
#define KYMO_ANALYSIS_ALIGN_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

/* At time @ns (clock of A) the value is at most @most_ns. */
struct align_bound {
	int64_t ns, most_ns;
};

/* The largest rate between two clocks: both slewed by 500 ppm, with bad crystals. */
#define BOUNDS_RATE_MAX 2e-3
#define BOUNDS_SLACK_NS 1000		/* tolerated error of a thread's clock */
#define BOUNDS_MAX 8192u		/* must be even */

/* The bounds, thinned out: of each group of consecutive bounds only the lowest is kept. */
struct bounds {
	struct align_bound *bound;		/* sorted by bounds_fit() */
	unsigned count;
	uint64_t messages;
	uint64_t group, in_group;	/* size of a group; size of the group in progress */
};

/**
 * bounds_add() - one bound more; if there are many, only the lowest of each group is kept
 * @ns: clock of A; @most_ns: as in struct align_bound
 *
 * Return: 0, or -ENOMEM.
 */
int bounds_add(struct bounds *bounds, int64_t ns, int64_t most_ns);
void bounds_free(struct bounds *bounds);

struct bounds_knot {
	int64_t ns;			/* clock of A */
	int64_t ahead_ns;		/* how far B's clock is ahead: the middle of the interval */
	int64_t error_ns;		/* valid until the next knot */
};

#define BOUNDS_KNOTS 2048u

struct bounds_fit {
	bool possible;			/* some curve satisfies all bounds */
	double rate, wander;
	struct bounds_knot knot[BOUNDS_KNOTS];
};

/**
 * bounds_fit() - find the middle between the bounds from @begin_ns to @end_ns (clock of A)
 * @most: bounds of B's clock minus A's; @least: bounds of A's clock minus B's. Neither is empty
 */
void bounds_fit(struct bounds_fit *fit, struct bounds *most, struct bounds *least, int64_t begin_ns,
		int64_t end_ns);

#endif
