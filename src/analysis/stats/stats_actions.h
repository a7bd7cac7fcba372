/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The goals of each action in numbers, collected while a model reads a trace. Memory depends on the
 * number of actions, and of their clients and servers.
 *
 * Definitions
 *   accept     the client sent a goal, until it took the answer: accepted or rejected
 *   execution  the goal's state became executing, until it ended
 *   total      the client sent the goal, until it took the result
 */
#ifndef KYMO_ANALYSIS_STATS_ACTIONS_H
#define KYMO_ANALYSIS_STATS_ACTIONS_H

#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "base/histogram.h"

enum actions_outcome {
	ACTIONS_SUCCEEDED,
	ACTIONS_ABORTED,
	ACTIONS_CANCELED,
	ACTIONS_REJECTED,
	ACTIONS_UNFINISHED, /* or its end is not in the trace */
	ACTIONS_OUTCOMES
};

struct actions_action {
	const char *name; /* NULL: not in the trace */
	uint64_t goals;   /* all of the following */
	uint64_t outcome[ACTIONS_OUTCOMES];
	struct histogram accept, execution, total;
	/* That the servers sent; of goals whose server is not in the trace: that the client took.
	 */
	uint64_t feedback;
	int64_t feedback_gap_ns; /* the longest time between two of one goal; 0: unknown */
};

/* Something that sent goals of an action, or worked for them. */
struct actions_end {
	unsigned action;
	const struct model_process *process;
	const struct model_node *node; /* NULL: not in the trace */
};

struct actions;

/**
 * actions_create() - listen to @model
 * @begin_ns, @end_ns: only goals whose first known time is in [begin, end] count
 *
 * Context: allocates as actions, clients and servers appear. Return: 0, or -1 with @err filled.
 */
int actions_create(struct actions **actions, struct model *model, int64_t begin_ns, int64_t end_ns,
		   struct kymo_err *err);
void actions_destroy(struct actions *actions);

/* @index: below the count. */
unsigned actions_count(const struct actions *actions);
const struct actions_action *actions_action(const struct actions *actions, unsigned index);
unsigned actions_end_count(const struct actions *actions);
const struct actions_end *actions_end(const struct actions *actions, unsigned index);

/** actions_outcome_name() - "succeeded", "aborted", "canceled", "rejected", "unfinished". */
const char *actions_outcome_name(enum actions_outcome outcome);

/* For pass_add(). */
extern const struct pass_ops actions_pass;

#endif
