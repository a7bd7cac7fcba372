/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row of each table points to: the structs that tables.def names. Private to the tables.
 *
 * A row may point to data of the reader and the model that are valid during an event only; see
 * tables_internal.h.
 */
#ifndef KYMO_ANALYSIS_TABLES_ROWS_H
#define KYMO_ANALYSIS_TABLES_ROWS_H

#include "analysis/behaviour/behaviour.h"
#include "analysis/capture/capture.h"
#include "analysis/costs/costs.h"
#include "analysis/executors/executor_waits.h"
#include "analysis/model/model_events.h"
#include "analysis/sched/sched_runs.h"
#include "analysis/spans/loops.h"
#include "analysis/spans/spans.h"
#include "analysis/tables/tables.h"

/* The value NULL in a column of integers. */
#define NONE INT64_MIN

struct instance_row {
	uint64_t id;
	struct model_instance instance; /* its message points to: */
	struct model_message message;
	uint64_t coroutine; /* of its coroutine; 0: none */
	bool was_awaiting;
	struct model_await await; /* before it, if it was awaiting */
};

enum outcome {
	OUTCOME_OVERWRITTEN = MODEL_DROP_OVERWRITTEN,
	OUTCOME_CLEARED = MODEL_DROP_CLEARED,
	OUTCOME_UNTAKEN = MODEL_DROP_UNTAKEN,
	OUTCOME_TAKEN, /* "callback" if it has a callback */
};

struct message_row {
	uint64_t id;
	struct model_message message;
	enum outcome outcome;
};

/* A row of an init event. tables.def defines the meaning of the members for each table. */
struct point_row {
	uint64_t id;
	int64_t ns;
	const struct model_thread *thread;
	uint64_t handle, other;
	const void *object;
	const char *text;
	uint32_t text_size;
};

/*
 * Rows that copy a report of the model: REPORT(row, member, the model_* struct of the member,
 * function of the listener, table).
 */
#define TABLES_REPORTS                                                                \
	REPORT(publish, step, publish_step, publish_step, publish_instances)          \
	REPORT(take, step, take_step, take_step, take_instances)                      \
	REPORT(call, call, call, call, service_calls)                                 \
	REPORT(goal, goal, goal, goal, action_goals)                                  \
	REPORT(feedback, step, goal_step, goal_step, action_feedback)                 \
	REPORT(executor, interval, executor_interval, executor, executor_states)      \
	REPORT(sim, time, sim_time, sim_time, sim_times)                              \
	REPORT(transition, transition, transition, transition, lifecycle_transitions) \
	REPORT(state, state, state, state, lifecycle_states)                          \
	REPORT(loss, loss, loss, loss, lost_events)

#define REPORT(row, member, type, ...)      \
	struct row##_row {                  \
		uint64_t id;                \
		struct model_##type member; \
	};
TABLES_REPORTS
#undef REPORT

struct cause_row {
	uint64_t id;
	struct model_cause cause;
	struct model_message message;
};

/* A spell of a thread; with copies of the names. */
struct spell_row {
	uint64_t id;
	struct sched_spell spell;
	char name[SCHED_COMM_SIZE], by[SCHED_COMM_SIZE];
	const char *host;
};

/* Scheduler states during a run of a callback. */
struct cpu_row {
	uint64_t id;
	struct model_instance instance;
	bool is_known;
	struct sched_usage usage, own;
};

/* A thread that had the CPU during a run of a callback. */
struct preemption_row {
	uint64_t id;
	struct model_instance instance;
	struct sched_by by;
};

/* A wait of a run of a callback for a disk or the network. */
struct io_row {
	uint64_t id;
	struct model_instance instance;
	struct sched_io io;
};

/* Costs of a run of a callback. */
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
	uint64_t run; /* 0: outside of any run */
	const struct model_callback *callback;
};

/* Memory that was not freed. */
struct leak_row {
	uint64_t id;
	struct costs_leak leak;
	const char *host;
	const struct model_callback *callback; /* NULL: outside of any run */
};

/* Totals of a thread. */
struct thread_row {
	uint64_t id;
	const struct model_thread *thread;
	bool is_known;
	struct sched_usage usage;
};

/* The wait before a run of a callback. */
struct wait_row {
	uint64_t id;
	struct model_instance instance;
	int64_t from_ns, to_ns, thread_ns, group_ns;
	bool is_judged;
};

/* A callback that a run waited for. */
struct blocked_row {
	uint64_t id;
	struct model_instance instance;
	int64_t from_ns;
	struct waits_piece piece;
};

/* What a callback or a topic did in a window of time. */
struct tables_window_row {
	uint64_t id;
	int64_t begin_ns, end_ns;
	const struct model_callback *callback; /* NULL: of the topic */
	const struct model_topic *topic;       /* of a callback: that it subscribes to, or NULL */
	uint64_t count;
	int64_t busy_ns, mean_ns, deviation_ns, p50_ns, p99_ns, max_ns; /* NONE: none */
};

struct behaviour_row {
	uint64_t id;
	struct behaviour_interval interval;
};

/* A packet that was captured. */
struct packet_row {
	uint64_t id;
	const struct captures *captures;
	const struct capture_packet *packet;
	const struct capture_message *message;   /* NULL: none of the trace */
	const struct model_publisher *publisher; /* NULL: likewise */
	int64_t ns;
};

/* A sampled call stack. */
struct sample_row {
	uint64_t id;
	int64_t ns, duration_ns;
	bool is_off;
	int32_t pid, tid;
	const char *host, *thread, *function, *file, *stack; /* file NULL: not known */
	uint64_t run;                                        /* 0: outside of any run */
	const struct model_callback *callback;               /* of it */
};

struct span_row {
	uint64_t id;
	struct spans_event event;
	const char *args; /* belongs to the scan; NULL: no arguments */
	unsigned depth;
};

struct loop_row {
	uint64_t id;
	struct loop_cycle cycle;
};

struct any_row {
	uint64_t id;
	const struct kymo_ctf_event *event;
	struct tables_scan *scan;
};

struct tables_row {
	unsigned table;
	const struct simclock *clock; /* NULL: system time */
	/* The struct named in tables.def: an object, or a member of the union. */
	const void *it;
	union {
		uint64_t id; /* the first member of all structs */
		struct instance_row instance;
		struct message_row message;
		struct point_row point;
#define REPORT(row, ...) struct row##_row row;
		TABLES_REPORTS
#undef REPORT
		struct cause_row cause;
		struct spell_row spell;
		struct cpu_row cpu;
		struct preemption_row preemption;
		struct io_row io;
		struct thread_row thread;
		struct cost_row cost;
		struct made_row made;
		struct leak_row leak;
		struct wait_row wait;
		struct blocked_row blocked;
		struct tables_window_row window;
		struct behaviour_row behaviour;
		struct packet_row packet;
		struct sample_row sample;
		struct span_row span;
		struct loop_row loop;
		struct any_row any;
	};
};

#endif
