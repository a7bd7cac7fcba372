/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's own model of behaviour: a file names activities, regions and states by the events at
 * which they begin and end, and the trace says when they were. docs/answers/behaviour.md defines
 * the file.
 *
 *   behaviours_read(&file, "robot.yaml", &err);
 *   behaviour_create(&behaviour, file, model, spans, report, context, &err);
 *   ... for each event, after the model: behaviour_event(behaviour, &event);
 *   behaviour_finish(behaviour);
 *
 * Memory depends on what the file names, and on objects, not on events.
 *
 * Context of all functions: not thread-safe; allocate; behaviours_read() blocks.
 */
#ifndef KYMO_ANALYSIS_BEHAVIOUR_H
#define KYMO_ANALYSIS_BEHAVIOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "analysis/spans/spans.h"
#include "base/err.h"
#include "base/histogram.h"

enum behaviour_kind {
	BEHAVIOUR_ACTIVITY, /* one at a time, across threads, nodes and processes */
	BEHAVIOUR_REGION,   /* the same, but one at a time in each thread */
	BEHAVIOUR_STATE,    /* until another state of its group is entered */
};

const char *behaviour_kind_name(enum behaviour_kind kind);

/* What the file names: an activity, a region, or one state of a group. */
struct behaviour_what {
	uint32_t index;
	enum behaviour_kind kind;
	const char *name;  /* of the activity, the region, the group */
	const char *state; /* NULL: none */
	int64_t budget_ns; /* it may last so long; 0: as long as it likes */
};

struct behaviours;

/**
 * behaviours_read() - read @file
 *
 * Return: 0, or -1 with @err (KYMO_EXIT_INPUT), which names file and line.
 */
int behaviours_read(struct behaviours **behaviours, const char *file, struct kymo_err *err);
void behaviours_free(struct behaviours *behaviours);

/** behaviours_what() - by index, in the order of the file; NULL after the last. */
const struct behaviour_what *behaviours_what(const struct behaviours *behaviours, unsigned index);

/** behaviours_has() - whether @name is an activity, a region or a group of states. */
bool behaviours_has(const struct behaviours *behaviours, const char *name);

/* What the name of an activity or a region stands for. */
enum behaviour_operand {
	BEHAVIOUR_CHAIN,
	BEHAVIOUR_CALLBACK,
	BEHAVIOUR_SPAN,
};

/**
 * behaviours_operand() - what `kymo flow` and `kymo why` call the activity or region @name
 * @operand: receives a chain, '/scan -> /cmd_vel', or the name of a callback or a span; valid as
 *           long as @behaviours
 *
 * Return: enum behaviour_operand, or -1 with @err (KYMO_EXIT_USAGE): there is none, or no chain,
 * callback or span begins and ends as it does. @name NULL: the error names all.
 */
int behaviours_operand(struct behaviours *behaviours, const char *name, const char **operand,
		       struct kymo_err *err);

/* One time that it was. */
struct behaviour_interval {
	const struct behaviour_what *what;
	int64_t begin_ns, end_ns; /* since the epoch; end_ns 0: its end is not in the trace */
	/* Events were lost while it lasted: it may have ended before, and begun again. */
	bool has_loss;
	/* Where it began; NULL: unknown. */
	const struct model_thread *thread;
	const struct model_node *node;
};

typedef void behaviour_report(void *context, const struct behaviour_interval *interval);

/* Sums over the trace. */
struct behaviour_sums {
	struct histogram duration; /* of those with an end and without loss */
	uint64_t unfinished, with_loss;
	uint64_t over;          /* longer than the budget */
	int64_t worst_begin_ns; /* when the longest one began */
};

struct behaviour;

/**
 * behaviour_create() - evaluate @behaviours, which must stay valid, over @model and @spans
 * @report: receives each interval at its end, and the unfinished ones at the end of the trace; may
 *          be NULL
 *
 * Return: 0, or -1 with @err filled.
 */
int behaviour_create(struct behaviour **behaviour, const struct behaviours *behaviours,
		     struct model *model, struct spans *spans, behaviour_report *report,
		     void *context, struct kymo_err *err);
void behaviour_destroy(struct behaviour *behaviour);

/** behaviour_window() - only intervals that begin in [begin, end] count. */
void behaviour_window(struct behaviour *behaviour, int64_t begin_ns, int64_t end_ns);

/** behaviour_event() - an event or a loss, after the model received it. Return: 0. */
int behaviour_event(struct behaviour *behaviour, const struct kymo_ctf_event *event);

/** behaviour_finish() - the trace is over: what is still open is unfinished. */
void behaviour_finish(struct behaviour *behaviour);

/** behaviour_sums() - of what has that index. */
const struct behaviour_sums *behaviour_sums(const struct behaviour *behaviour, unsigned index);

/** behaviour_failed() - did memory run out? The results are incomplete then. */
bool behaviour_failed(const struct behaviour *behaviour);

/* For pass_add(). */
extern const struct pass_ops behaviour_pass;

#endif
