/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison for people, for programs, and for the pages of CI services.
 *
 * Context of all functions: not thread-safe; they write to @out and block as it does.
 */
#ifndef KYMO_COMPARE_COMPARE_PRINT_H
#define KYMO_COMPARE_COMPARE_PRINT_H

#include <stdio.h>

#include "base/table/table.h"
#include "compare/ci.h"
#include "compare/compare.h"
#include "compare/rename.h"

/* A run that was not judged. */
struct compare_left_out {
	const char *path;
	bool is_new;
	bool is_partner; /* the other run of its pair lost events */
	uint64_t events; /* that were lost in it; 0: packets, or the trace is damaged */
};

struct compare_print {
	const struct compare_options *options;
	const char *base, *new; /* what the sides are called */
	const struct compare_renames
		*renames;       /* of the base side, by --rename; NULL: none */
	const char *machine;    /* for the head: "same machine"; NULL: nothing to say */
	unsigned most;          /* entities to show of each verdict; 0: all */
	unsigned left_out_base,
		left_out_new; /* runs that were not judged, because events were lost in them */
	const struct compare_left_out *left_out; /* each of them */
};

/** compare_print_text() - at most 80 columns unless a name is longer. */
void compare_print_text(FILE *out, const struct comparison *comparison,
			const struct compare_print *print);

/** compare_print_head() - the first lines of compare_print_text(): the sides, and what of them is
 * not as it was recorded. */
void compare_print_head(FILE *out, const struct compare_print *print);

/** compare_print_table() - all rows, in the sections metrics, appeared, gone and left_out; for JSON
 * and CSV. */
void compare_print_table(struct table *table, const struct comparison *comparison,
			 const struct compare_print *print);

/**
 * compare_print_plot() - the sections values and distributions, after compare_print_table(): the
 * value of each run, and how often each duration or latency occurred on both sides
 * @base, @new: the summaries that were compared
 */
void compare_print_plot(struct table *table, const struct comparison *comparison,
			const struct compare_print *print, const struct summary *const *base,
			const struct summary *const *new);

/** compare_cases() - all rows as tests: worse failed, not known was skipped. */
void compare_cases(struct ci_suite *suite, const struct comparison *comparison,
		   const struct compare_print *print);

#endif
