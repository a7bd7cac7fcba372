/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sides of runs, compared entity by entity.
 *
 *   struct compare_options options = { .design = { 6, 6, true } };
 *   compare(&comparison, base, new, &options, &err);
 *   ... comparison.row[0] is the worst change ...
 *   compare_free(&comparison);
 *
 * Each run is a summary; of summary_folded(), so that twins are one. Entities are matched by kind,
 * name and owner. An entity that is in all
 * runs has a row for each of its metrics that has enough instances in every run; one that is on one
 * side only has appeared or is gone; likely renames are listed (rename.h).
 *
 * Context of all functions: not thread-safe; they allocate and do not block.
 */
#ifndef KYMO_COMPARE_COMPARE_H
#define KYMO_COMPARE_COMPARE_H

#include <stdbool.h>

#include "base/err.h"
#include "compare/change.h"
#include "compare/looks.h"
#include "compare/verdict.h"
#include "summary/summary.h"

#define COMPARE_RUNS_MAX 200u /* of both sides */

enum compare_unit {
	COMPARE_NS,
	COMPARE_PER_SECOND,
	COMPARE_SHARE,      /* of one */
	COMPARE_PER_RUN,    /* how often in one run, or for one message */
	COMPARE_NS_PER_RUN, /* the mean of all runs */
};

/* A part of a chain's way, on both sides; means of the runs. */
struct compare_segment {
	enum summary_what what;
	const char *who, *by;
	double base, new;
};

/* One metric of one entity. */
struct compare_row {
	const struct summary_entity *entity; /* of one of the runs */
	const char *metric;                  /* "duration p50", "lost" */
	enum compare_unit unit;
	unsigned base_alike, new_alike; /* how many of one name it is, in the run that has most */
	bool is_less_worse; /* a rate: it is worse when it falls */
	double base, new; /* mean of the runs, in its unit; of times and rates the geometric mean */
	struct change change; /* of what is worse when it grows */
	struct verdict_of verdict;
	const double *value; /* [bases + news]: what was compared; see metrics.h */
	bool is_chance;      /* one run a side: chance explains the change of the count */
	bool has_others;     /* a callback's own time; beyond it, others took: */
	double base_others, new_others;
	struct compare_segment *segment; /* a chain's latency: the parts of its way */
	unsigned segments;
	const struct compare_segment *part; /* the one that grew most, if the chain grew */
};

/* A likely rename: only names of the base side contain @old, only names of the new side @new. */
struct compare_likely {
	char *old, *new;
	unsigned of;    /* gone entities that contain @old */
	unsigned found; /* of these: have a new entity's name after all likely renames */
};

/* A callback, loop or span of another number of processes than before. */
struct compare_number {
	const struct summary_entity *entity;
	unsigned base, new;
};

struct comparison {
	struct compare_row
		*row; /* worse first, then not known, better, not worse; largest change first */
	unsigned rows;
	unsigned count[VERDICTS];
	unsigned few;       /* metrics that had too few instances in a run */
	unsigned irregular; /* entities that are in some runs of a side only */
	const struct summary_entity **appeared, **gone;
	unsigned appeareds, gones;
	struct compare_number *number; /* of which there are more or fewer processes */
	unsigned numbers;
	struct compare_likely *likely; /* sorted by the old name */
	unsigned likelies;
	bool has_blocks; /* one run a side: intervals are of what a run varies within itself */
	double **value; /* private */
};

struct compare_options {
	struct change_design design;
	double limit;     /* instead of the limits of the metrics, 0.1: a tenth; 0: these */
	const char *only; /* glob of names; NULL: all */
};

/**
 * compare() - compare the sides
 * @base, @new: [design.bases], [design.news] summaries, which must stay valid as long as
 * @comparison
 *
 * Return: 0; -1 with @err.
 */
int compare(struct comparison *comparison, const struct summary *const *base,
	    const struct summary *const *new, const struct compare_options *options,
	    struct kymo_err *err);
void compare_free(struct comparison *comparison);

/**
 * compare_open() - how many metrics of pairs can a later look of @looks still find worse?
 *
 * 0: whatever the pairs will be that are still to come, none will be worse.
 */
unsigned compare_open(const struct comparison *comparison, const struct compare_options *options,
		      const struct looks *looks);

/** compare_limit() - by how much the metric of @row may grow: the logarithm of a ratio. */
double compare_limit(const struct compare_options *options, const struct compare_row *row);

#endif
