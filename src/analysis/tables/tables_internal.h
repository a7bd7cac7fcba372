/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of tables.h, shared by
 *   tables.c, tables_value.c		definitions and values, out of tables.def
 *   tables_queue.c			rows that wait, and readers: the ground of the following
 *   tables_listen.c, tables_points.c	rows out of what the model tells, and out of init events
 *   tables_spans.c, tables_kernel.c,
 *   tables_costs.c, tables_waits.c	rows out of other analyses
 *   tables_select.c			what is left out of every scan
 *   tables_scan.c			reading and filters: the roof
 *   tables_open.c			the trace, and a pass over it for its objects
 *
 * A row is queued while an event is handled and taken before the next one is read, so what the
 * reader and the model only lend may be pointed to.
 */
#ifndef KYMO_ANALYSIS_TABLES_INTERNAL_H
#define KYMO_ANALYSIS_TABLES_INTERNAL_H

#include <stdio.h>

#include "analysis/align/align.h"
#include "analysis/costs/costs.h"
#include "analysis/executors/executor_waits.h"
#include "analysis/model/model_events.h"
#include "analysis/sched/sched_runs.h"
#include "analysis/spans/spans.h"
#include "analysis/tables/tables.h"
#include "base/map.h"
#include "base/pool.h"

/* No value, in a column of integers. */
#define NONE INT64_MIN

struct instance_row {
	uint64_t id;
	struct model_instance instance;	/* its message points to: */
	struct model_message message;
};

enum outcome {
	OUTCOME_OVERWRITTEN = MODEL_DROP_OVERWRITTEN,
	OUTCOME_CLEARED = MODEL_DROP_CLEARED,
	OUTCOME_UNTAKEN = MODEL_DROP_UNTAKEN,
	OUTCOME_TAKEN,			/* "callback" when it has one */
};

struct message_row {
	uint64_t id;
	struct model_message message;
	enum outcome outcome;
};

/* One init event. What the members mean is said in tables.def for each table. */
struct point_row {
	uint64_t id;
	int64_t ns;
	const struct model_thread *thread;
	uint64_t handle, other;
	const void *object;
	const char *text;
	uint32_t text_size;
};

struct publish_row {
	uint64_t id;
	struct model_publish_step step;
};

struct take_row {
	uint64_t id;
	struct model_take_step step;
};

struct call_row {
	uint64_t id;
	struct model_call call;
};

struct executor_row {
	uint64_t id;
	struct model_executor_interval interval;
};

struct cause_row {
	uint64_t id;
	struct model_cause cause;
	struct model_message message;
};

struct sim_row {
	uint64_t id;
	struct model_sim_time time;
};

struct transition_row {
	uint64_t id;
	struct model_transition transition;
};

struct state_row {
	uint64_t id;
	struct model_state state;
};

/* A stretch of a thread's time; with names that stay. */
struct spell_row {
	uint64_t id;
	struct sched_spell spell;
	char name[SCHED_COMM_SIZE], by[SCHED_COMM_SIZE];
	const char *host;
};

/* What became of a run of a callback. */
struct cpu_row {
	uint64_t id;
	struct model_instance instance;
	bool is_known;
	struct sched_usage usage, own;
};

/* And who had the CPU meanwhile. */
struct preemption_row {
	uint64_t id;
	struct model_instance instance;
	struct sched_by by;
};

/* What a run of a callback cost. */
struct cost_row {
	uint64_t id;
	struct model_instance instance;
	struct costs_use use;
	bool libc_is_told, faults_are_told, calls_are_told;
};

/* A system call. */
struct made_row {
	uint64_t id;
	struct system_call call;
	const char *host;
	int32_t pid;
	bool waits_for_mutex;
	uint64_t run;			/* 0: in none */
	const struct model_callback *callback;
};

/* A thread in all. */
struct thread_row {
	uint64_t id;
	const struct model_thread *thread;
	bool is_known;
	struct sched_usage usage;
};

/* What a run waited for before it began. */
struct wait_row {
	uint64_t id;
	struct model_instance instance;
	int64_t from_ns, to_ns, thread_ns, group_ns;
};

/* And for whom. */
struct blocked_row {
	uint64_t id;
	struct model_instance instance;
	int64_t from_ns;
	struct waits_piece piece;
};

struct span_row {
	uint64_t id;
	struct spans_event event;
	const char *args;		/* the scan's; NULL: there are none */
	unsigned depth;
};

struct loss_row {
	uint64_t id;
	struct model_loss loss;
};

struct any_row {
	uint64_t id;
	const struct kymo_ctf_event *event;
	struct tables_scan *scan;
};

struct tables_row {
	unsigned table;
	const struct simclock *clock;	/* NULL: times are those of the system */
	const void *it;			/* the struct that tables.def names: an object, or below */
	union {
		uint64_t id;		/* all begin with it */
		struct instance_row instance;
		struct message_row message;
		struct point_row point;
		struct publish_row publish;
		struct take_row take;
		struct call_row call;
		struct executor_row executor;
		struct cause_row cause;
		struct sim_row sim;
		struct transition_row transition;
		struct state_row state;
		struct spell_row spell;
		struct cpu_row cpu;
		struct preemption_row preemption;
		struct thread_row thread;
		struct cost_row cost;
		struct made_row made;
		struct wait_row wait;
		struct blocked_row blocked;
		struct span_row span;
		struct loss_row loss;
		struct any_row any;
	};
};

/* A growing list. */
struct tables_texts {
	char **item;
	unsigned count, size;
};

/* What is left out of all scans, see tables_select(). Columns are masks. */
struct tables_choice {
	struct selection selection;
	int64_t begin_ns, end_ns;
	uint64_t node_columns[TABLES], topic_columns[TABLES], process_columns[TABLES];
};

struct tables {
	char **path;			/* of its traces */
	unsigned paths;
	struct align *align;		/* NULL: all are of one host */
	const struct simclock *clock;	/* NULL: times are those of the system */
	struct tables_choice *choice;	/* NULL: nothing is left out */
	int (*tick)(void *context, uint64_t events, double done);
	void *tick_context;
	/* After a pass over the whole trace. */
	struct model *model;
	bool is_borrowed;		/* the model is somebody else's */
	struct spans *spans;
	struct pool pool;		/* of the warnings */
	struct tables_texts warnings;
	uint64_t lost;
	bool costs_are_known, libc_is_told, faults_are_told, calls_are_told;	/* see costs_look() */
};

struct tables_scan {
	struct tables *tables;
	struct tables_request request;
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;		/* the last one read */
	struct model *model;		/* NULL: only events are asked for */
	struct spans *spans;
	struct waits *waits;		/* NULL: nobody asks */
	struct sched_runs *runs;	/* NULL: no table of the kernel's scheduler is asked for, or there is none */
	struct costs *costs;		/* NULL: nobody asks */
	struct model_listener listener;	/* what the tables need */

	struct tables_row *queue;	/* what the last event gave */
	unsigned queued, queue_size, taken;
	uint64_t last_id[TABLES];
	struct map span_stacks;		/* (thread or track, which) -> struct span_stack */
	struct tables_texts texts;		/* of queued rows */
	char *json;			/* of the event, for events.json */
	size_t json_size;

	struct tables_row object;	/* the last row of objects */
	unsigned object_table, object_index;
	uint64_t begin_ns, end_ns;	/* trace clock, from the index: for the progress */
	int64_t past_ns, past_id;	/* behind them nothing is wanted */
	unsigned past_table;
	uint64_t events, lost;
	bool ended, out_of_memory;
};

/* tables_open.c */
/* Run one pass over the whole trace and keep its model, for the objects. */
int tables_learn(struct tables *tables, struct kymo_err *err);

/* tables_queue.c */
/* A place for a row of @table, or NULL: nobody wants it, or there is no memory. */
struct tables_row *tables_row_new(struct tables_scan *scan, enum tables_id table, const void *it);
bool tables_wants(const struct tables_scan *scan, enum tables_id table);
/* The oldest row that was not taken yet, until the next event; NULL: the queue is empty. */
struct tables_row *tables_row_next(struct tables_scan *scan);
/* What a reader forgave, each text once. */
void tables_keep_warning(struct tables *tables, const char *text);

/* tables_select.c */
/* Those of the choice and of @request. Return: the array, to be freed, or NULL without memory. */
struct tables_filter *tables_filters(const struct tables *tables, const struct tables_request *request,
				     unsigned *count);
bool tables_is_chosen(const struct tables *tables, const struct tables_row *row);

/* tables_listen.c */
int tables_listen(struct tables_scan *scan, struct kymo_err *err);

/* tables_spans.c */
extern const struct spans_listener tables_spans_listener;
void tables_spans_settle(struct tables_scan *scan);	/* the queue is empty */
void tables_spans_free(struct tables_scan *scan);

/* tables_kernel.c */
/* Before the model is attached to the reader. */
int tables_kernel_attach(struct tables_scan *scan, struct kymo_err *err);
void tables_kernel_finish(struct tables_scan *scan);

/* tables_costs.c */
int tables_costs_attach(struct tables_scan *scan, struct kymo_err *err);

/* tables_waits.c */
int tables_waits_attach(struct tables_scan *scan, struct kymo_err *err);

/* tables_points.c */
void tables_point(struct tables_scan *scan, const struct kymo_ctf_event *event);

/* tables_value.c: tables_value() with times as they are reckoned with, see simclock.h. */
void tables_elapsed(const struct tables_row *row, unsigned column, struct tables_value *value);

/* Values that take more than a member; used in tables.def. */
const char *tables_outcome(const struct message_row *row);
const char *tables_hex(const struct point_row *row, char *buffer, unsigned size);
const char *tables_gid(const struct model_gid *gid, char *buffer, unsigned size);
const char *tables_call_name(const struct model_call *call);
const char *tables_any_json(const struct any_row *row);
const struct model_thread *tables_any_thread(const struct any_row *row);
const struct model_topic *tables_callback_topic(const struct model_callback *callback);
const struct model_node *tables_message_from(const struct model_message *message);
const struct model_node *tables_message_to(const struct model_message *message);
/* By how much times of publishing and taking may be wrong beside each other; NONE: they do not compare. */
int64_t tables_clock_error(const struct model_message *message);
int64_t tables_apart(const struct model_message *message, int64_t from_ns, int64_t to_ns);
int64_t tables_between(int64_t from_ns, int64_t to_ns);
int64_t tables_latency(const struct model_message *message);
double tables_counter(const struct spans_arg *value);
uint64_t tables_thread_process(const struct model_thread *thread);
/* Process id and thread id; NONE without a thread. */
int64_t tables_pid(const struct model_thread *thread);
int64_t tables_tid(const struct model_thread *thread);

#endif
