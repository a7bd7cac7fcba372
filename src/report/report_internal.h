/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the report. */
#ifndef KYMO_REPORT_INTERNAL_H
#define KYMO_REPORT_INTERNAL_H

#include "analysis/behaviour/behaviour.h"
#include "analysis/capture/capture.h"
#include "analysis/chains/chains.h"
#include "analysis/costs/costs.h"
#include "analysis/executors/executor_view.h"
#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "analysis/sched/sched_totals.h"
#include "analysis/spans/loops.h"
#include "analysis/spans/spans.h"
#include "analysis/spans/spans_stats.h"
#include "analysis/stats/stats.h"
#include "analysis/stats/stats_actions.h"
#include "analysis/stats/stats_activity.h"
#include "analysis/stats/stats_content.h"
#include "analysis/stats/stats_losses.h"
#include "analysis/stats/stats_intervals.h"
#include "analysis/why/why.h"
#include "caret/paths/caret_paths.h"
#include "report/report.h"
#include "report/report_cells.h"
#include "summary/summary_collect.h"

struct report {
	const struct report_options *options;
	const char *path;
	struct kymo_ctf_reader *reader;
	struct table *table;
	struct passes passes;		/* all of: */
	struct model *model;
	struct stats *stats;
	struct spans *spans;
	struct spans_stats *spans_stats;
	struct loops *loops;
	/* NULL: no section needs it, or the trace has nothing for it */
	struct intervals *intervals;
	struct activity *activity;
	struct actions *actions;
	struct content *content;
	struct losses *losses;
	struct caret *caret;
	struct report_expect *report_expect;
	struct executor_view *view;
	struct behaviour *behaviour;
	struct capture *capture;
	struct costs *costs;
	struct sched_totals *totals;
	struct chains *chains;
	struct why_callbacks *callbacks;
	struct summary_collect *collect;
	struct page_series *series;
	struct page_calls *calls;
	struct page_goals *goals;
	struct spans_tree *spans_tree;
	struct summary *summary;        /* of what was collected; NULL: nothing was */
	struct tables *tables;		/* of sections that list; NULL: none did yet */
	unsigned hosts;
	struct kymo_err *err;
	/* events that a section would have needed, and how to get them */
	const char *missing;
	const char *none;		/* why the last section without rows may have none */
	char none_text[256];            /* for it */
	uint64_t rows;			/* shown in the sections that look for what is slow */
	bool hides_startup;             /* as text: callbacks of /rosout and /parameter_events */
	/* Hidden in this section so far. */
	unsigned hidden_callbacks, hidden_topics, hidden_rows;
	unsigned remark_lines;
	bool counts_remarks; /* report_remark_lines(): nothing is printed */
};

/* What print() of a section needs to be gathered while the trace is read; see report_gather.c. */
enum report_need {
	REPORT_INTERVALS = 1 << 0,
	REPORT_ACTIVITY = 1 << 1,
	REPORT_VIEW = 1 << 2,
	REPORT_TOTALS = 1 << 3,
	REPORT_COSTS = 1 << 4,
	REPORT_EXPECT = 1 << 5,
	REPORT_BEHAVIOUR = 1 << 14,
	REPORT_PATHS = 1 << 6,
	REPORT_SUMMARY = 1 << 7,
	REPORT_CONTENT = 1 << 15,
	REPORT_PAGE = 1 << 16,
	REPORT_CAPTURE = 1 << 17,
	REPORT_WAITS = 1 << 18,
	REPORT_LOSSES = 1 << 19,
	REPORT_ACTIONS = 1 << 20,
};

struct report_section {
	const char *name;
	const char *text;               /* one line for --section help */
	bool usual;			/* shown when no section is asked for */
	bool may_be_empty;		/* no rows are an answer, not a riddle */
	bool of_findings;               /* usual when all is looked at, but not in CSV */
	bool paths;			/* usual when paths were named */
	bool expected;			/* usual when something is expected */
	bool behaviour;                 /* usual when a model is given */
	bool capture;                   /* usual when a capture is given */
	/* usual when something was named as real-time, by a program itself, too */
	bool realtime;
	/* not shown unasked when the trace has no events of the scheduler */
	bool of_kernel;
	bool of_ros, of_programs;	/* not shown unasked when the trace has only the other */
	unsigned needs;			/* enum report_need */
	/* what it means that it has no rows, when it was asked for */
	const char *none;
	void (*print)(struct report *report);
	/*
	 * Sections of other events than those of ROS 2 read the trace again. 0, or -1 with
	 * report->err.
	 */
	int (*again)(struct report *report);
	/* the table of `kymo query` with this name; see section_lists.c */
	bool list;
};

/** report_section() - section @number of the table, from 0; NULL behind the last. */
const struct report_section *report_section(unsigned number);

/** report_section_named() - the section @name; NULL: none, perhaps a table of `kymo query`. */
const struct report_section *report_section_named(const char *name);

/* A row, and what it is sorted by: the key, largest first, then the names and the index. */
struct report_row {
	unsigned index;
	double key;
	const char *name, *then; /* NULL: "" */
	const void *of;          /* for the function that prints the row */
};

/* The rows of a section; zeroed at first. */
struct report_rows {
	struct report_row *row;
	unsigned count, capacity;
};

/* section_findings.c */
void report_findings(struct report *report);
/* Return: does something stand out? */
bool report_has_findings(const struct report *report);
/* The first screen. Return: was there something to show? */
bool report_first(struct report *report);

/* section_tables.c */
void report_callbacks(struct report *report);
void report_topics(struct report *report);
/* Is a topic asked for, and has one of the nodes and processes asked for an end of it? */
bool report_topic_is_of_node(const struct report *report, const struct model_topic *topic);

/* What a row with these durations is sorted by; 0 for REPORT_SORT_NODE. */
double report_sort_key(enum report_sort sort, const struct histogram *h, uint64_t count,
		       double rate);

/* section_spans.c */
void report_loops(struct report *report);
void report_spans(struct report *report);
void report_instants(struct report *report);
void report_counters(struct report *report);

/* section_intervals.c */
void report_publications(struct report *report);
void report_takes(struct report *report);
void report_intervals(struct report *report);
void report_between_runs(struct report *report);
void report_bandwidth(struct report *report);
void report_ages(struct report *report);
void report_behaviour(struct report *report);
void report_wire(struct report *report);
void report_utilisation(struct report *report);

/* section_losses.c */
void report_losses(struct report *report);

/* section_actions.c */
void report_actions(struct report *report);

/* section_activity.c */
void report_communications(struct report *report);
void report_frequency(struct report *report);
void report_calls(struct report *report);
void report_executors(struct report *report);
void report_lifecycles(struct report *report);

/* section_paths.c */
void report_responses(struct report *report);
void report_segments(struct report *report);
void report_response_rows(struct report *report);

/* section_system.c */
int report_cputime(struct report *report);
int report_memory(struct report *report);
/* section_cycles.c */
int report_cycles(struct report *report);
/* section_realtime.c */
void report_realtime(struct report *report);
/* section_costs.c */
void report_node_costs(struct report *report);
void report_process_costs(struct report *report);
/* In text: what of it could not be looked at. Return: was nothing? */
bool report_costs_missing(struct report *report, const struct costs *costs);
int report_profile(struct report *report);

/* section_functions.c */
int report_functions(struct report *report);
int report_callback_functions(struct report *report);

/* section_executor_view.c */
void report_executor_view(struct report *report);
void report_blocked_by(struct report *report);

/* section_kernel.c */
void report_callback_cpu(struct report *report);
void report_node_cpu(struct report *report);
void report_process_cpu(struct report *report);
void report_preemptions(struct report *report);

/* section_waits.c */
void report_waits(struct report *report);
void report_loss(struct report *report);

/* section_lists.c */
/*
 * The rows of the table of `kymo query` named @name, which exists. Return: 0, or -1 with
 * report->err.
 */
int report_list(struct report *report, const char *name);

/* section_hosts.c */
void report_hosts(struct report *report);

/* expect.c */
struct report_expect;
int report_expect_create(struct report_expect **expect, struct model *model, int64_t begin_ns,
			 int64_t end_ns, struct kymo_err *err);
extern const struct pass_ops report_expect_pass;
void report_validation(struct report *report);

/* Longest arrivals of a chain in a page, and of all paths together while the trace is read. */
#define REPORT_PAGE_WORST 100u
#define REPORT_PAGE_WORST_ALL 20000u
/* page/page_series.c: what a page shows over time */
struct page_series;
int page_series_create(struct page_series **series, struct model *model, struct spans *spans,
		       int64_t begin_ns, int64_t end_ns, struct kymo_err *err);
/* A message arrived at the end of @path: chains_options.arrived. */
void page_series_arrived(struct page_series *series, const struct chains_path *path,
			 const struct chains_arrival *arrival);
extern const struct pass_ops page_series_pass;
/* page/page_calls.c: the service calls of a page */
struct page_calls;
int page_calls_create(struct page_calls **calls, struct model *model, int64_t begin_ns,
		      int64_t end_ns, struct kymo_err *err);
extern const struct pass_ops page_calls_pass;
/* page/page_goals.c: the goals of actions of a page */
struct page_goals;
int page_goals_create(struct page_goals **goals, struct model *model, int64_t begin_ns,
		      int64_t end_ns, struct kymo_err *err);
extern const struct pass_ops page_goals_pass;
/* page/page.c: the page of options.page. Return: 0, or -1 with report->err. */
int report_page(struct report *report);

/* section_facts.c */
unsigned report_host_count(const struct report *report);
/* By packets and by the recorder, whichever knows of more. */
uint64_t report_lost_events(const struct report *report);
void report_facts(struct report *report);
/* NULL when there is something to show. */
const char *report_why_empty(const struct report *report);
void report_remarks(struct report *report);
/* How many lines they are on the first screen. */
unsigned report_remark_lines(struct report *report);
/* The worst instance, as `kymo why` has it. */
void report_worst(const struct report *report);
/* How to record the events of the scheduler, with the tracer that recorded the trace. */
const char *report_kernel_remedy(const struct report *report);
/* What to try next, for people. */
void report_next(struct report *report);

/* report_gather.c */

/*
 * Read the trace with the analyses of @needs, which struct report has afterwards; @rows, if any,
 * hears the model. 0, or -1 with @err.
 */
int report_gather(struct report *report, unsigned needs, struct kymo_err *err);
void report_forget(struct report *report);
/*
 * A pass with the report's window and progress, for sections that read the trace again. 0, or -1
 * with @err.
 */
int report_read(struct report *report, const struct passes *passes, struct kymo_err *err);

/* report_rows.c */
/* REPORT_ROW(&rows, .of = pair, .key = pair->ns) adds a row. Without memory the row is missing in
 * the section. */
#define REPORT_ROW(rows, ...) report_rows_add((rows), (struct report_row){__VA_ARGS__})
void report_rows_add(struct report_rows *rows, struct report_row row);
/* Sorts the rows and prints as many as the section may have. Return: how many. */
unsigned report_rows_show(struct report *report, struct report_rows *rows,
			  void (*print)(struct report *report, const struct report_row *row));
/* The same; then counts all rows, notes how many were held back, and frees them. */
void report_rows_print(struct report *report, struct report_rows *rows,
		       void (*print)(struct report *report, const struct report_row *row));

/* report_select.c */
bool report_wants_process(const struct report *report, const struct model_process *process);
/* Something of @process, and of @node (NULL: unknown). */
bool report_wants_node(const struct report *report, const struct model_process *process,
		       const struct model_node *node);
bool report_wants_topic(const struct report *report, const struct model_topic *topic);
bool report_wants_callback(const struct report *report, const struct model_callback *callback);
/*
 * The same for sections that look for what is slow: without /rosout and /parameter_events, unless
 * everything is asked for. What is hidden is counted, and noted by report_more().
 */
bool report_shows_callback(struct report *report, const struct model_callback *callback);
bool report_shows_topic(struct report *report, const struct model_topic *topic);
/* A row of a list that has several rows for each callback (NULL: none) or topic (NULL: none). */
bool report_shows_row(struct report *report, const struct model_callback *callback,
		      const struct model_topic *topic);
/* Are they hidden? For report.hides_startup, when the trace has been read. */
bool report_hides_startup(const struct report *report);
/* The full name of the node of @callback; "" if it has none. */
const char *report_node_name(const struct model_callback *callback);
/* Rows a section may have. */
unsigned report_limit(const struct report *report);
/*
 * The rate of @count events between these times, for a row; 0: not shown. As text, a burst (fewer
 * than 20 events, or less than a second) has none.
 */
double report_rate(const struct report *report, uint64_t count, int64_t first_ns, int64_t last_ns);
/* In text: how many rows were held back or hidden, and how to see them. */
void report_more(struct report *report, unsigned shown, unsigned all);
/* "name (pid)", with "@host" when there are several. @buffer: 128 bytes. Return: @buffer. */
char *report_process(const struct report *report, const struct model_process *process,
		     char *buffer, unsigned size);
/* "12.345678 s" since the first event, or of the simulation's clock. @buffer: 32 bytes. Return: @buffer. */
char *report_offset(const struct report *report, int64_t ns, char *buffer, unsigned size);

#endif
