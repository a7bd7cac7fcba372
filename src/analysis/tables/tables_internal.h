/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of tables.h, but for the rows themselves (tables_rows.h). It is shared by
 *   tables.c, tables_value.c		definitions and values, from tables.def
 *   tables_queue.c			queue of rows, and readers; the following files use it
 *   tables_listen.c, tables_points.c	rows from the model's reports, and from init events
 *   tables_spans.c, tables_kernel.c,
 *   tables_costs.c, tables_waits.c,
 *   tables_windows.c, tables_behaviours.c,
 *   tables_packets.c, tables_samples.c	rows from other analyses
 *   tables_select.c			selection of rows for every scan
 *   tables_scan.c			reading and filters; it uses all files above
 *   tables_open.c			the trace, and a pass over it for its objects
 *
 * A row is queued while an event is handled, and removed before the next event is read. So a row
 * may point to data of the reader and the model that are valid during the event only.
 */
#ifndef KYMO_ANALYSIS_TABLES_INTERNAL_H
#define KYMO_ANALYSIS_TABLES_INTERNAL_H

#include <stdio.h>

#include "analysis/align/align.h"
#include "analysis/behaviour/behaviour.h"
#include "analysis/capture/capture.h"
#include "analysis/costs/costs.h"
#include "analysis/executors/executor_waits.h"
#include "analysis/model/model_events.h"
#include "analysis/sched/sched_runs.h"
#include "analysis/spans/loops.h"
#include "analysis/spans/spans.h"
#include "analysis/tables/tables_rows.h"
#include "base/map.h"
#include "base/pool.h"

/* A growing list. */
struct tables_texts {
	char **item;
	unsigned count, size;
};

/* The selection for all scans, see tables_select(). Columns are bit masks. */
struct tables_choice {
	struct selection selection;
	int64_t begin_ns, end_ns;
	uint64_t node_columns[TABLES], topic_columns[TABLES], process_columns[TABLES];
};

struct tables {
	char **path;			/* paths of the traces */
	unsigned paths;
	struct align *align;		/* NULL: all traces are of one host */
	const struct simclock *clock;	/* NULL: system time */
	const struct behaviours *behaviours; /* NULL: none */
	const struct captures *captures;     /* NULL: none */
	int64_t window_ns;                   /* length of the rows of `windows`; 0: the usual one */
	struct tables_choice *choice;	/* NULL: everything is selected */
	int (*tick)(void *context, uint64_t events, double done);
	void *tick_context;
	/* Valid after a pass over the whole trace. */
	struct model *model;
	bool is_borrowed;		/* the model belongs to the caller */
	struct spans *spans;
	struct pool pool; /* for the warnings and files */
	struct tables_texts warnings, files;
	uint64_t lost;
	bool costs_are_known, libc_is_told, faults_are_told, calls_are_told; /* see costs_look() */
};

struct tables_scan {
	struct tables *tables;
	struct tables_request request;
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;		/* the latest event */
	struct model *model;		/* NULL: only events are requested */
	struct spans *spans;
	struct waits *waits;		/* NULL: not requested */
	struct windows *windows;        /* NULL: not requested */
	struct loops *loops;            /* NULL: not requested */
	struct behaviour *behaviour;    /* NULL: not requested, or no model was given */
	struct capture *capture;        /* NULL: not requested, or no capture was given */
	uint64_t next_packet;           /* of it; rows of the end of the trace come one by one */
	/* NULL: no table of the scheduler is requested, or the trace has no scheduler events */
	struct sched_runs *runs;
	struct costs *costs;		/* NULL: not requested */
	struct tables_samples *samples;	/* NULL: not requested, or the trace has none */
	uint64_t next_leak; /* of its leaks; rows of the end of the trace come one by one */
	struct model_listener listener;	/* the functions that the tables need */

	struct tables_row *queue;	/* rows from the latest event */
	unsigned queued, queue_size, taken;
	uint64_t last_id[TABLES];
	struct map span_stacks;		/* (thread or track, which) -> struct span_stack */
	struct tables_texts texts;		/* of queued rows */
	char *json;			/* of the event, for events.json */
	size_t json_size;

	struct tables_row object;	/* the latest row of objects */
	unsigned object_table, object_index;
	uint64_t begin_ns, end_ns;	/* trace clock, from the index; for the progress */
	int64_t past_ns, past_id;	/* no requested row can come after these */
	unsigned past_table;
	uint64_t events, lost;
	bool ended, out_of_memory;
};

/* tables_open.c */
/* Reads the whole trace once and keeps its model, for the objects. */
int tables_learn(struct tables *tables, struct kymo_err *err);

/* tables_queue.c */
/* Returns a new row of @table in the queue; NULL: not requested, or out of memory. */
struct tables_row *tables_row_new(struct tables_scan *scan, enum tables_id table);
bool tables_wants(const struct tables_scan *scan, enum tables_id table);
/*
 * Removes the oldest row from the queue; it is valid until the next event. NULL: the queue is
 * empty.
 */
struct tables_row *tables_row_next(struct tables_scan *scan);
/* Keeps a warning of a reader, each text once. */
void tables_keep_warning(struct tables *tables, const char *text);
/* Keeps the path of a file for tables_files(). @tables: a struct tables. */
void tables_keep_file(void *tables, const char *path);

/* tables_select.c */
/*
 * Returns the filters of the selection and of @request. Return: an array, to be freed; NULL: out of
 * memory.
 */
struct tables_filter *tables_filters(const struct tables *tables,
				     const struct tables_request *request, unsigned *count);
bool tables_is_chosen(const struct tables *tables, const struct tables_row *row);

/* tables_listen.c */
int tables_listen(struct tables_scan *scan, struct kymo_err *err);

/* tables_spans.c */
extern const struct spans_listener tables_spans_listener;
int tables_loops_attach(struct tables_scan *scan, struct kymo_err *err);
void tables_spans_settle(struct tables_scan *scan);	/* call it when the queue is empty */
void tables_spans_free(struct tables_scan *scan);

/* tables_kernel.c */
/* Call it before the model is attached to the reader. */
int tables_kernel_attach(struct tables_scan *scan, struct kymo_err *err);
void tables_kernel_finish(struct tables_scan *scan);

/* tables_costs.c */
int tables_costs_attach(struct tables_scan *scan, struct kymo_err *err);

/* After the last event: put the next row of `leaks` into the queue. Return: false: there is
 * none. */
bool tables_leaks_next(struct tables_scan *scan);

/* tables_waits.c */
int tables_waits_attach(struct tables_scan *scan, struct kymo_err *err);

/* tables_windows.c */
int tables_windows_attach(struct tables_scan *scan, struct kymo_err *err);

/* tables_behaviours.c */
int tables_behaviours_attach(struct tables_scan *scan, struct kymo_err *err);

/* tables_packets.c */
int tables_packets_attach(struct tables_scan *scan, struct kymo_err *err);

/* After the last event: put the next row of `packets` into the queue. Return: false: there is
 * none. */
bool tables_packets_next(struct tables_scan *scan);

/* tables_samples.c */
int tables_samples_attach(struct tables_scan *scan, struct kymo_err *err);
void tables_samples_event(struct tables_scan *scan, const struct kymo_ctf_event *event);
void tables_samples_free(struct tables_scan *scan);

/* tables_points.c */
void tables_point(struct tables_scan *scan, const struct kymo_ctf_event *event);

/* tables_value.c: tables_value() with elapsed times, see simclock.h. */
void tables_elapsed(const struct tables_row *row, unsigned column, struct tables_value *value);

/* Values for tables.def that need more than a member. */
const char *tables_outcome(const struct message_row *row);
const char *tables_hex(const struct point_row *row, char *buffer, unsigned size);
const char *tables_guid(const uint8_t guid[16], char *buffer, unsigned size);
const char *tables_gid(const struct model_gid *gid, char *buffer, unsigned size);
const char *tables_call_name(const struct model_call *call);
const char *tables_any_json(const struct any_row *row);
const struct model_thread *tables_any_thread(const struct any_row *row);
const struct model_topic *tables_callback_topic(const struct model_callback *callback);
const struct model_node *tables_message_from(const struct model_message *message);
const struct model_node *tables_message_to(const struct model_message *message);
/*
 * Largest error of the difference between the times of publishing and receiving; NONE: the clocks
 * cannot be compared.
 */
int64_t tables_clock_error(const struct model_message *message);
int64_t tables_apart(const struct model_message *message, int64_t from_ns, int64_t to_ns);
/*
 * A request or response on its way between two threads; 0 if its receiver had it before the
 * sender's call returned, which is when the sender's event is recorded.
 */
int64_t tables_way(const struct model_thread *from, const struct model_thread *to, int64_t from_ns,
		   int64_t to_ns);
int64_t tables_between(int64_t from_ns, int64_t to_ns);
int64_t tables_latency(const struct model_message *message);
int64_t tables_age(const struct model_message *message);
int64_t tables_dds(const struct model_message *message, enum model_dds_part part);
double tables_counter(const struct spans_arg *value);
uint64_t tables_thread_process(const struct model_thread *thread);
/* Process id and thread id; NONE without a thread. */
int64_t tables_pid(const struct model_thread *thread);
int64_t tables_tid(const struct model_thread *thread);

#endif
