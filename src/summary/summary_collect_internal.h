/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by summary_collect.c (what is heard during the pass) and the files summary_take*.c
 * (afterwards). */
#ifndef KYMO_SUMMARY_COLLECT_INTERNAL_H
#define KYMO_SUMMARY_COLLECT_INTERNAL_H

#include "base/map.h"
#include "summary/summary_collect.h"

/* The worst wait of the whole is among the worst waits of its callback, nearly always. */
#define COLLECT_WAITS 16u

/* A run that waited for other runs. */
struct collect_wait {
	int64_t start_ns; /* of the run */
	int64_t blocked_ns;
	const struct model_callback *by; /* the one that made up most of it, */
	int64_t by_ns;                   /* and how much */
	bool is_group, is_assumed;
};

struct collect_run {
	int64_t start_ns, duration_ns;
	bool is_startup;
};

/* Since the begin, whatever was forgotten: whether a timer follows a clock of its own. */
struct collect_clock {
	uint64_t periods, is_short, is_long; /* more than a quarter away from the timer's period */
	int64_t period_ns, late_ns, ran_ns;  /* sums */
	int64_t waited_ns;                   /* for other callbacks */
};

struct collect_callback {
	uint64_t sent;
	struct histogram wait, late, period;
	struct collect_clock clock;
	struct collect_wait *worst; /* longest first; room for COLLECT_WAITS, NULL: none */
	unsigned worsts;
	/* Start-up last, then longest first; duration 0: none. */
	struct collect_run longest[SUMMARY_WORST_MAX];
	int64_t last_start_ns;                         /* 0: none */
	uint64_t half_late, overrun;
	struct collect_startup *startup; /* NULL: none of its runs is start-up */
	int64_t steady_late_ns;          /* the largest of `late` that is not start-up */
};

/* What of a callback's runs is start-up. */
struct collect_startup {
	struct histogram ran, late;
	uint64_t overrun;
};

struct collect_subscription {
	uint64_t received, never, not_yet, overwritten, cleared;
	uint64_t where[MODEL_LOSTS]; /* of `never` */
	int64_t first_ns; /* its first message was published then; 0: none yet */
};

struct collect_thread {
	uint64_t runs;
	int64_t busy_ns;
};

struct collect_service {
	uint64_t calls, unanswered;
	struct histogram total;
};

/* The cycle of a loop that woke latest. */
struct collect_loop {
	int64_t worst_ns, at_ns;
};

struct summary_collect {
	struct summary_sources from;
	struct collect_callback **callback;
	struct collect_subscription *subscription;
	struct collect_thread *thread;
	struct collect_service *service; /* by index of the client */
	uint32_t callbacks, subscriptions, threads, services, loops;
	struct model_facts before; /* what was forgotten; only the counts */
	struct collect_loop *loop; /* by index of the loop */
	struct map twins;          /* of struct collect_twin, by names and kind */

	struct collect_action *action; /* summary_actions.c */
	uint32_t actions;
	bool failed;
};

/* What was collected of the callback with this index; NULL: it did not run. */
const struct collect_callback *collect_callback_at(const struct summary_collect *collect,
						   uint32_t index);
/* The wait of the run of callback @index that began at @start_ns; NULL: not among the worst. */
const struct collect_wait *collect_wait_of(const struct summary_collect *collect, uint32_t index,
					   int64_t start_ns);

/*
 * summary_take_parts.c: parts of an instance, as they come; collect_parts_put() keeps the longest
 * ones in the order of time.
 */
struct collect_parts {
	struct summary_part part[CHAINS_SEGMENTS_MAX];
	unsigned count;
};

void collect_parts_add(struct collect_parts *parts, const struct summary_part *part);
/* A wait of up to @most_ns: the part for the one that made up most of it, and the rest. */
void collect_parts_wait(struct summary *summary, struct collect_parts *parts,
			const struct collect_wait *wait, const struct summary_part *part,
			int64_t most_ns);
void collect_parts_put(const struct collect_parts *parts, struct summary_instance *instance);

/* summary_take_names.c; summary_collect.h has more of them. */
const char *collect_callback_name(struct summary *summary, const struct model_callback *callback);
const char *collect_node_name(struct summary *summary, const struct model_callback *callback);

/* "control:loop". Return: @buffer. */
char *collect_spans_name(const struct spans_name *name, char *buffer, size_t size);

/* summary_twins.c: which entities of one name are several; after the pass, before names are used.
 */
#define COLLECT_OF_MAX 256
void collect_find_twins(struct summary_collect *collect);
void collect_free_twins(struct summary_collect *collect);
/* What entity->of is: the name of the process, or "NAME #2" in @of. */
const char *collect_of(const struct summary_collect *collect, enum summary_kind kind,
		       const char *name, const struct model_process *process,
		       char of[COLLECT_OF_MAX]);
/* Sets label and pid of @entity, if it is one of several. */
void collect_label(const struct summary_collect *collect, struct summary *summary,
		   struct summary_entity *entity, const struct model_process *process);

/* summary_actions.c: listens to the model, forgets what it counted, and what it puts afterwards. */
void collect_on_goal(void *context, const struct model_goal *goal);
void collect_forget_actions(struct summary_collect *collect);
void collect_take_actions(struct summary_collect *collect, struct summary *summary);
/* summary_take.c: what all kinds of entities have in common */
/* The entity of this name, where a name is known. */
struct summary_entity *collect_entity(struct summary *summary, enum summary_kind kind,
				      const char *name, const char *of);
void collect_merge(struct summary *summary, struct summary_entity *entity,
		   enum summary_distribution which, const struct histogram *from);
/* It was there in this time, too; 0: not known. */
void collect_seen(struct summary_entity *entity, int64_t first_ns, int64_t last_ns);

/* summary_take_spans.c */
void collect_take_spans(struct summary_collect *collect, struct summary *summary);
/* summary_take_chains.c */
void collect_take_chains(struct summary_collect *collect, struct summary *summary);
/* summary_take_startup.c */
/* Does it serve ROS 2 itself: /rosout, parameters? */
bool collect_is_startup(const struct model_callback *callback);
/* summary_take_runs.c */
void collect_take_callbacks(struct summary_collect *collect, struct summary *summary);

#endif
