/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `kymo top` shows: callbacks, topics, chains, executors, threads and spans, each with what
 * happened to it in the last BOARD_SLICES slices of time.
 *
 *   now ▶  slice 59   one interval (usually a second): how often, how long, the worst, who was
 *                     in the way
 *          slice 58
 *          ...
 *          slice 0    forgotten with the next board_tick()
 *
 * A whole trace has the same slices. It is not known how long the trace is, so the slices begin
 * short, and when all of them are used each two become one (board_fold()): at the end 30 to 60
 * slices cover the trace.
 *
 * Rows are known by their names, not by their numbers in a model. So a trace that became too large
 * can be opened again (board_attach()), and the rows keep their history. The names are those of the
 * summary's entities: a row of a whole trace is what `kymo report` shows of that entity, and its
 * numbers are those of the summary.
 *
 * Context of all functions: not thread-safe; allocate as objects appear.
 */
#ifndef KYMO_TOP_BOARD_H
#define KYMO_TOP_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/selection.h"
#include "ctf/read/reader.h"
#include "summary/findings.h"

#define BOARD_SLICES 60u
#define BOARD_FINDINGS_MAX 8u

enum board_page {
	BOARD_CALLBACKS,
	BOARD_TOPICS,
	BOARD_CHAINS,
	BOARD_EXECUTORS,
	BOARD_THREADS,
	BOARD_SPANS, /* of kymo.h */
	BOARD_PAGES,
	BOARD_WORKERS = BOARD_PAGES, /* threads of executors; no page of their own */
	BOARD_LISTS
};

struct board;

struct board_options {
	const struct selection
		*selection; /* rows of these nodes, topics and processes; NULL: all */
	int32_t pid;        /* rows of this process only; 0: of all */
	bool all;           /* also what nodes do when they start: /rosout, /parameter_events */
	bool whole;         /* of a trace from its begin to its end; else the last slices */
	bool local;         /* the processes run on this machine: threads have CPU times */
};

/* A row: what it is, by texts that may be printed. Valid as long as its board. */
struct board_row {
	enum board_page page;
	const char *name;    /* "/planner", "/scan", "/driver timer 10 ms -> /scan -> /planner",
				"perception" */
	const char *what;    /* "timer 10 ms", "thread 123"; "" */
	const char *process; /* name; "" */
	const char *ask;     /* what `kymo why` is asked about; "" */
	const char *entity;  /* its name in the summary; "": no entity is like it */
	int32_t pid, tid;    /* 0: none */
	unsigned threads;    /* of an executor, which `what` names; else 0 */
};

/* Numbers of a row. -1: not known, or there is none. */
struct board_values {
	uint64_t count;                   /* runs; messages; arrivals */
	double rate_hz;                   /* in the last slices; of a whole trace in all of it */
	double more_hz;                   /* of a topic: received */
	int64_t usual_ns;                 /* median of durations or latencies */
	int64_t worst_ns, worst_at_ns;    /* and when it ended; epoch */
	const struct board_row *worst_of; /* of a topic: which callback received it; of an executor:
					     which one ran; else NULL */
	int64_t wait_ns, wait_at_ns;      /* the longest wait behind others, and when it ended */
	const struct board_row *behind; /* in that wait: whose run took most of it; NULL: unknown */
	double busy;                    /* share of the time in which it ran, 0 to 1; of an executor
					   the sum of its threads */
	double cpu;                     /* share of one CPU, 0 to 1 and more */
};

/** board_create() - Return: 0, or -1 with @err. @options: copied; what it points to must stay. */
int board_create(struct board **board, const struct board_options *options, struct kymo_err *err);
void board_destroy(struct board *board);

/** board_attach() - count events of @reader, which is rewound, from now on; not those of an earlier
 * one. Return: 0, or -1 with @err. */
int board_attach(struct board *board, struct kymo_ctf_reader *reader, struct kymo_err *err);

/** board_detach() - the reader is about to be closed. */
void board_detach(struct board *board);

/**
 * board_has_new_kinds() - whether the reader has spans of which the board was not told, because
 * they were declared behind board_attach(): it has to be attached again
 */
bool board_has_new_kinds(struct board *board);

/** board_skip() - @skip: events are read for their names only and are not counted. */
void board_skip(struct board *board, bool skip);

/** board_event() - the next event or loss of the reader. Return: 0, or -1 with @err: no memory. */
int board_event(struct board *board, const struct kymo_ctf_event *event, struct kymo_err *err);

/** board_tick() - a slice is over: it was about the time up to @ns, epoch. Return: 0, or -1 with
 * @err: no memory. */
int board_tick(struct board *board, int64_t ns, struct kymo_err *err);

/** board_due() - with options.whole: whether an event of @ns begins the next slice, so that
 * board_tick() is due. */
bool board_due(const struct board *board, int64_t ns);

/** board_finish() - the trace is over: what is still open is counted. */
void board_finish(struct board *board);

/* ---- what it shows ---- */

/**
 * board_summary() - of a whole trace, after board_finish(); else of the last half minute to minute
 *
 * Return: valid until the next slice begins; NULL: nothing yet.
 */
const struct summary *board_summary(const struct board *board);

/**
 * board_findings() - those of board_summary() that are selected, most harmful first
 * @findings: set to where they are; valid as long as board_summary()
 *
 * Return: their number, at most BOARD_FINDINGS_MAX.
 */
unsigned board_findings(struct board *board, const struct summary_finding **findings);

/** board_is_found() - is @finding about this row? */
bool board_is_found(const struct board_row *row, const struct summary_finding *finding);

/** board_executor_of() - the executor of a row of BOARD_WORKERS. Return: changes when it turns out
 * that threads share callbacks. */
const struct board_row *board_executor_of(const struct board_row *worker);

unsigned board_count(const struct board *board, enum board_page page);
const struct board_row *board_row(const struct board *board, enum board_page page, unsigned index);

void board_values(const struct board *board, const struct board_row *row,
		  struct board_values *values);

/**
 * board_spark() - one number per slice, oldest first: the worst duration in ns, or of executors and
 * threads the share of the time, in millionths; while programs only count, how often
 * @of: [BOARD_SLICES]; -1: nothing happened
 *
 * Return: how many slices there are.
 */
unsigned board_spark(const struct board *board, const struct board_row *row,
		     int64_t of[BOARD_SLICES]);

struct board_process {
	int32_t pid;
	const char *name;
	double cpu;      /* of one CPU; -1: not known */
	uint64_t events; /* in the last slice */
};

/** board_process() - Return: false: there are no more. */
bool board_process(const struct board *board, unsigned index, struct board_process *process);

struct board_totals {
	unsigned processes, nodes;
	uint64_t events;          /* in all slices */
	uint64_t lost;            /* events and packets, since the begin */
	int64_t begin_ns, end_ns; /* of the slices, epoch; 0: nothing yet */
};
void board_totals(const struct board *board, struct board_totals *totals);

/** board_ask() - what `kymo why` is asked about: row->ask, of one of several processes of one name
 * with the process: "/scan -> /cmd_vel (filter 4711)". Return: @buffer. */
char *board_ask(const struct board *board, const struct board_row *row, char *buffer, size_t size);

struct tallies;

/**
 * board_set_counts() - from now on the programs only count: how often, but not how long
 * @counts: board_tick() reads them; NULL: the programs record
 */
void board_set_counts(struct board *board, struct tallies *counts);
bool board_only_counts(const struct board *board);

/** board_threads_wanted() - whether board_tick() reads the CPU times of all threads; those of
 * processes it always reads. */
void board_threads_wanted(struct board *board, bool wanted);

#endif
