/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report: what `kymo report` answers, as sections of tables. report.c names the sections in one
 * table; each table of `kymo query` is a section, too.
 */
#ifndef KYMO_REPORT_REPORT_H
#define KYMO_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/align/align.h"
#include "caret/paths/caret_paths.h"
#include "analysis/simclock/simclock.h"
#include "base/err.h"
#include "base/selection.h"
#include "base/table/table.h"
#include "ctf/read/reader.h"

/* Order of the rows; all but node: largest first. */
enum report_sort {
	REPORT_SORT_MAX,
	REPORT_SORT_P99,
	REPORT_SORT_P50,
	REPORT_SORT_MEAN,
	REPORT_SORT_MIN,
	REPORT_SORT_TOTAL,
	REPORT_SORT_COUNT,
	REPORT_SORT_RATE,
	REPORT_SORT_NODE,
};
#define REPORT_SORT_CHOICES "max|p99|p50|mean|min|total|count|rate|node"

struct behaviours;
struct captures;
struct expectations;
struct report_options;
struct summary;

/* Budgets of `kymo check`, whose room is above: a page shows their verdicts. */
struct report_judge {
	/* Called first, once. @options: which traces it is of. Return: 0, or -1 with @err. */
	int (*judge)(void *context, const struct summary *summary,
		     const struct report_options *options, struct kymo_err *err);
	void (*put_table)(void *context, struct table *table); /* a section, for programs */
	void (*put_text)(void *context, FILE *out);            /* for browsers without scripts */
	void *context;
};
struct summary;

/* What the section realtime found about one of the names that were asked for. */
struct report_realtime {
	uint64_t runs;    /* of what has that name; 0: it did not run */
	uint64_t times;   /* how often they did what real-time code avoids, ... */
	uint64_t in_runs; /* ... of the kind and the callback with most of them, in so many runs */
	const char *what; /* that kind: "allocation"; NULL: nothing */
	char who[200];    /* that callback or span */
	char looked_at[128]; /* "allocations, mutexes"; "nothing" */
};

/* The instance that fired the trigger of a snapshot, as `kymo why --at trigger` has it. */
struct report_fired {
	const char *name, *why; /* the chain or callback, and the sentence about it */
	int64_t at_ns;          /* when it was under way, since 1970 */
	int64_t begin_ns, total_ns;
	uint64_t message; /* of a chain: its latest publication; 0: it is of a callback */
};

struct report_options {
	enum table_format format;
	const char *const *section;	/* names; none: what is usual */
	unsigned sections;
	const struct selection *selection;	/* NULL: all */
	enum report_sort sort;
	int64_t window_ns; /* length of the rows of the section windows; 0: one second */
	uint64_t limit;			/* rows of a section; 0: 20 as text, all otherwise */
	bool unlimited;			/* all rows as text, too */
	/* as @reader gives times; INT64_MIN, INT64_MAX: not limited */
	int64_t begin_ns, end_ns;
	/* that @reader was attached to; NULL: none, times are those of the system */
	const struct simclock *clock;
	const struct caret_options *paths;	/* NULL: none were named */
	/*
	 * globs of callbacks and spans that are to be real-time, '!GLOB' are not; none: what
	 * programs name
	 */
	const char *const *realtime;
	unsigned realtimes;
	struct report_realtime
		*told_realtime;         /* [realtimes] filled by the section realtime; NULL: not */
	bool *not_realtime;		/* set: one of them is not, or none was looked at */
	const struct behaviours *behaviours; /* for the section behaviour; NULL: none */
	/* for the section wire and the table packets; NULL: none */
	const struct captures *captures;
	bool *behaviour_failed; /* set: it did not keep its budgets, or nothing was measured */
	struct expectations *expect;	/* for the section validation; NULL: none */
	/* [traces] paths that @reader reads; sections that list open them again */
	const char *const *trace;
	unsigned traces;
	/* how the clocks of the hosts compare; NULL: there is one */
	const struct align *align;
	uint64_t told_lost;		/* events lost as the recorder counted them; 0: not known */
	unsigned told_unended, told_growing; /* traces whose recorder did not end in order; that are
					      * still recorded */
	/*
	 * Called now and then with how far it is, clock_ns on the trace clock, and with 0 events
	 * before anything is printed; may be NULL.
	 */
	void (*progress)(void *context, uint64_t events, uint64_t clock_ns);
	void *progress_context;
	/* by which the recorder left events out; NULL: it did not */
	const char *told_rules;
	/* why the flight recorder wrote the trace; NULL: it did not */
	const char *told_snapshot;
	int64_t told_snapshot_ns;	/* when that was, since the trace's start */
	const struct report_fired *told_fired; /* NULL: what fired is not known */
	/* The worst chain or callback, and why it took so long: why_say(). NULL or "": none. */
	const char *told_worst, *told_why;
	const char *summary; /* write a summary to this file instead of tables; NULL: no */
	/* Write a page for browsers to this file instead of tables; "-": to page_stream; NULL: no. */
	const char *page;
	FILE *page_stream;
	const char *page_version, *page_command; /* what made it; NULL: nothing to say */
	const struct report_judge *judge;        /* for the page; NULL: no budgets */
	bool first;          /* as text: the first screen rather than the tables, if it has rows */
	const char *operand; /* what commands name the trace; "": they need not */
	/*
	 * For the first finding of a trace with the kernel's events: `kymo why`'s sentence about
	 * what @ask names, into
	 * @text. NULL: no such events. Return: 0, or -1 with @err.
	 */
	int (*explain)(void *context, const char *ask, char *text, size_t size,
		       struct kymo_err *err);
	void *explain_context;
	/* Called with the summary, if one was made; may be NULL. */
	void (*summarized)(void *context, const struct summary *summary);
	void *summarized_context;
	/* Called with each file but the traces that it was to find something in; may be NULL. */
	void (*looked_into)(void *context, const char *path);
	void *looked_into_context;
};

/**
 * report_check() - are these section names known, and is there what they need?
 *
 * Context: does not block. Return: 0; -1 with @err filled (KYMO_EXIT_USAGE), which lists the
 * names, or names the option that is missing.
 */
int report_check(const struct report_options *options, struct kymo_err *err);

/** report_list_sections() - a table of all sections, with a line about each, into @table. Context:
 * as base/table.h. */
void report_list_sections(struct table *table);

/** report_section_name() - the name of section @number, from 0; NULL behind the last. */
const char *report_section_name(unsigned number);

/**
 * report_run() - read the whole trace and write the sections into @table
 * @path: of the trace, as the user named it
 * @lost: set to whether the trace says that events were lost
 *
 * Context: allocates and blocks. Memory does not depend on the number of events.
 * Return: KYMO_EXIT_OK; KYMO_EXIT_EMPTY when there was nothing to show (the output says why); -1
 * with @err.
 */
int report_run(struct kymo_ctf_reader *reader, const char *path,
	       const struct report_options *options, struct table *table, bool *lost,
	       struct kymo_err *err);

/**
 * report_page_of_summary() - write the page options->page of what a summary has: no values over
 * time, no graph, no single messages
 * @name: of the summary, as the user named it
 *
 * Context: allocates and blocks. Return: 0, or -1 with @err.
 */
int report_page_of_summary(struct summary *summary, const char *name,
			   const struct report_options *options, struct kymo_err *err);

/**
 * report_print_hosts() - the section hosts: how their clocks compare, and how far that can be
 * trusted; @align NULL: nothing.
 */
void report_print_hosts(struct table *table, const struct align *align);

#endif
