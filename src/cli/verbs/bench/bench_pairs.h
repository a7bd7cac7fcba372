/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs of `kymo bench`: both commands recorded in turn, in random order, and again where the
 * machine was disturbed.
 */
#ifndef KYMO_CLI_BENCH_PAIRS_H
#define KYMO_CLI_BENCH_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/common/common.h"
#include "compare/compare.h"
#include "compare/disturbed.h"

/* What the machine did during a pair that counts. */
struct bench_load {
	struct meanwhile meanwhile[2]; /* base, new */
	uint64_t lost;			/* events of both runs; not counted with_losses */
	bool is_disturbed;
	char why[128]; /* the latest reason */
	unsigned repeats;
};

struct bench_pairs {
	/* Set by the caller. */
	const char *command[2]; /* base, new */
	char directory[CLI_PATH_MAX];
	unsigned pairs;
	int64_t duration_ns; /* 0: the commands end by themselves */
	bool kernel, quiet, with_losses;
	struct disturbed_rule rule;
	unsigned again_most; /* so many pairs are recorded again, in total */

	/* What happened. */
	int64_t begun_ns;
	unsigned done;     /* pairs, with the warm-up and those that were repeated */
	unsigned recorded; /* the latest pair */
	unsigned settled;  /* up to this one, pairs are as they will be judged */
	unsigned again;    /* times that a pair was recorded again, and of these ... */
	unsigned again_lost; /* ... because events were lost in it */
	struct bench_load load[COMPARE_RUNS_MAX / 2 + 1];
};

/** bench_pairs_begin() - create the directories, and say what it will take. Return: 0; -1 with
 * @err. */
int bench_pairs_begin(struct bench_pairs *b, struct kymo_err *err);

/**
 * bench_pairs_record() - record pair @pair, counted from 1, into base/NNN and new/NNN; 0: the
 * warm-up
 *
 * Which side comes first is chance: else what always comes second could be slower because it is
 * second. Context: blocks until both commands have ended; shows progress. Return: 0; -1 with @err.
 */
int bench_pairs_record(struct bench_pairs *b, unsigned pair, struct kymo_err *err);

/**
 * bench_pairs_settle() - before the pairs are looked at: record some of them again
 *
 * Those that were not looked at before, both sides of each. First those in which events were lost,
 * which would be left out. Then disturbed ones: the one that was disturbed most, and none twice
 * before each was once. Of the two, the pair without losses counts, or the one during which the
 * machine did less else. After n of N pairs, n / N of all repeats may have been used. Context,
 * Return: as above.
 */
int bench_pairs_settle(struct bench_pairs *b, struct kymo_err *err);

/** bench_pairs_judged() - how many of the recorded pairs will be judged: without losses. */
unsigned bench_pairs_judged(const struct bench_pairs *b);

/** bench_pairs_path() - where a run is. Return: @path. */
char *bench_pairs_path(const struct bench_pairs *b, bool is_new, unsigned pair,
		       char path[CLI_PATH_MAX + 32]);

/** bench_pairs_tell() - what the machine did meanwhile, on stderr. */
void bench_pairs_tell(const struct bench_pairs *b);

#endif
