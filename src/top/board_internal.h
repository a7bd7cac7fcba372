/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the board share. */
#ifndef KYMO_TOP_BOARD_INTERNAL_H
#define KYMO_TOP_BOARD_INTERNAL_H

#include "analysis/chains/chains.h"
#include "analysis/executors/executor_view.h"
#include "analysis/model/model.h"
#include "analysis/spans/spans.h"
#include "base/array.h"
#include "base/histogram.h"
#include "base/map.h"
#include "summary/summary_collect.h"
#include "summary/summary_window.h"
#include "top/board.h"

/* What happened to one row in one slice. */
struct board_slice {
	uint64_t count, more;
	int64_t sum_ns, median_ns, max_ns, max_at_ns;
	int64_t wait_ns, wait_at_ns;
	const struct board_row *behind, *worst_of;
	int64_t cpu_ns; /* -1: not read */
};

struct row {
	struct board_row pub;             /* first */
	struct board_slice slice[BOARD_SLICES]; /* a ring: board->at is the present one */
	struct histogram now;             /* of the present slice */
	struct histogram whole;           /* with options.whole: of all of them */
	bool is_stale;  /* of an executor: it has other threads than its name says */
	struct row *of; /* of a worker: its executor; of an executor: the one that it became a part
			   of, NULL: none */
	uint64_t last; /* of a topic: its last message that was counted; of a thread: its CPU ticks
			  + 1 */
	size_t plain; /* of a chain: the length of its name without processes; 0: it has none */
};

struct board_proc {
	int32_t pid;
	char name[32];
	uint64_t events, last_events; /* in the present slice, in the one before */
	uint64_t cpu_ticks;           /* of /proc; 0: not read yet */
	int64_t read_ns;
	double cpu;
};

struct board {
	struct board_options options;
	struct row **row[BOARD_LISTS];
	unsigned count[BOARD_LISTS], capacity[BOARD_LISTS];
	struct map by_key;    /* hash of page, name, what, process and pid -> struct row */
	struct map processes; /* pid -> struct board_proc */
	unsigned nodes;       /* of the model that was detached */
	struct board_proc **process;
	unsigned process_count, process_capacity;

	struct kymo_ctf_reader *reader;
	struct model *model;
	struct waits *waits;
	struct spans *spans;
	struct map kinds; /* hash of the names of spans and the like that the board knows ->
			     anything */
	unsigned classes; /* of the reader that the spans know */
	const struct executor_view *view; /* of the summary: which threads share callbacks */
	struct chains *chains; /* those of the summary; of a whole trace its own */
	struct passes analyses; /* of the summary */
	struct summary_collect *collect;
	struct loops *loops; /* of kymo.h: the sleep of one is no work */
	struct summary_window *window;
	struct summary_finding finding[BOARD_FINDINGS_MAX];
	unsigned findings;
	bool is_judged;        /* they are those of the window */
	unsigned traces;                  /* of the reader that the model knows */
	struct array row_of[BOARD_LISTS]; /* of struct row *, by the model's index */

	struct tallies *counts;   /* of programs that only count; NULL: they record */
	bool is_base;            /* nobody has looked at them yet */
	struct map publisher_at; /* address and process -> the model's publisher */
	unsigned publishers;     /* of the model that the map has */

	unsigned at;                    /* the present slice */
	unsigned used;                  /* slices that are over, at most BOARD_SLICES - 1 */
	int64_t begin_ns[BOARD_SLICES]; /* of each; of the present one begin_ns[at] */
	int64_t last_ns;                /* of the last event or tick */
	int64_t length_ns;              /* with options.whole: of a slice */
	uint64_t events[BOARD_SLICES];
	uint64_t lost;
	bool skips, threads_wanted, no_memory;
};

/* board.c */

/**
 * board_find() - the row of that name; a new one if there is none
 * @what, @process, @ask: NULL: ""
 * Return: NULL: no memory, which the board notes.
 */
struct row *board_find(struct board *board, const struct board_row *like);
static inline struct board_slice *board_now(const struct board *board, struct row *row)
{
	return &row->slice[board->at];
}
void board_add(struct board *board, struct row *row, int64_t ns, int64_t at_ns);
/* The later or equal slice @b goes into @a. */
void board_join_slices(struct board_slice *a, const struct board_slice *b);
/* Of slice @back before the present one, 0: itself. */
static inline unsigned board_slot(const struct board *board, unsigned back)
{
	return (board->at + BOARD_SLICES - back) % BOARD_SLICES;
}

/* board_listen.c */
int board_listen(struct board *board, struct kymo_err *err);
void board_unlisten(struct board *board);

/** board_hash() - of a text. */
uint64_t board_hash(const char *text);

/* board_executors.c */

/* The row of the thread that ran @instance, for row_at(). */
struct row *board_make_worker(struct board *board, const void *instance);
/* The executor of a worker. */
struct row *board_executor(struct row *worker);
/* Threads that share callbacks, as far as the view knows now, become one executor. */
void board_join_executors(struct board *board);

/* board_spans.c: the caller attaches the spans when everything listens. */
int board_listen_spans(struct board *board, struct kymo_err *err);

/* Whether rows of @process are shown. */
bool board_wants_process(const struct board *board, const struct model_process *process);

/* board_chains.c: what the analysis of chains collected goes into the present slice. */
void board_take_chains(struct board *board);
/* After board_take_summary(): chains of twins get the names of their processes. */
void board_name_chains(struct board *board);

#define BOARD_NO_VALUES                         \
	((struct board_values){ .rate_hz = -1,  \
				.more_hz = -1,  \
				.usual_ns = -1, \
				.worst_ns = -1, \
				.wait_ns = -1,  \
				.busy = -1,     \
				.cpu = -1 })

/* Of a whole trace: are the two of one entity, whose process was started again? */
bool board_is_again(const struct board *board, const struct board_row *row,
		    const struct board_row *other);

/* board_summary.c */
int board_listen_summary(struct board *board, struct kymo_err *err);
/* Of a whole trace: the numbers that the summary has of the row. */
void board_values_of_summary(const struct board *board, const struct board_row *row,
			     struct board_values *values);
/* What was collected goes into the window; it counts from 0 again. */
void board_take_summary(struct board *board);

/* board_counts.c: what programs counted goes into the present slice. */
int board_read_counts(struct board *board, int64_t ns, struct kymo_err *err);

/* board_listen.c: @count events of a process; @count runs; @count messages. */
void board_count_process(struct board *board, int32_t pid, const char *name, uint64_t count);
void board_count_runs(struct board *board, const struct model_callback *callback, uint64_t count);
void board_count_messages(struct board *board, const struct model_publisher *publisher,
			  uint64_t count);

/* board_proc.c: CPU times of processes, and of threads if wanted, go into the present slice. */
void board_read_cpu(struct board *board);

#endif
