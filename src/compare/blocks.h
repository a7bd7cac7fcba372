/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run a side: how far apart could two runs of the same program be, by what each varies within
 * itself?
 *
 * Latencies that follow each other are alike, so single ones cannot be dealt again as if they were
 * independent. The run's time is cut into blocks. A run that could also have been is as many of its
 * blocks, each of them drawn from all with replacement (block bootstrap). The interval holds the
 * middle 90 of 100 of the changes between such runs of the two sides.
 *
 * The interval knows nothing of what differs from run to run: where memory lies, what else the
 * machine did. So it never makes a time worse, only suspect.
 *
 * Context of all functions: not thread-safe; they allocate and do not block.
 */
#ifndef KYMO_COMPARE_BLOCKS_H
#define KYMO_COMPARE_BLOCKS_H

#include "compare/compare.h"

#define BLOCKS_USUAL 20u /* of a run; the time of its whole is divided by it */
#define BLOCKS_LEAST 8u
#define BLOCKS_MAX 64u

/* A run, cut into blocks of the same length; the first and the last may be shorter. */
struct blocks {
	const struct summary *block[BLOCKS_MAX];
	unsigned count;
};

/**
 * blocks_judge() - set the intervals of a comparison of one run a side, and what is suspect
 *
 * With fewer than BLOCKS_LEAST blocks on a side, or where the blocks do not have what a row
 * compares, a row has no interval, as before. Always draws the same blocks.
 * Return: 0; -1 with @err.
 */
int blocks_judge(struct comparison *comparison, const struct compare_options *options,
		 const struct blocks *base, const struct blocks *new, struct kymo_err *err);

#endif
