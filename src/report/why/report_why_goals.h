/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo why` and `kymo flow` for actions: the worst goals, taken apart. Shared by
 * report_why_goals.c (passes), report_why_goals_cut.c (parts), report_why_goals_print.c (why),
 * report_why_goals_flow.c (flow).
 *
 * Context: not thread-safe. Functions with @err read the trace: they allocate and block.
 */
#ifndef KYMO_REPORT_WHY_GOALS_H
#define KYMO_REPORT_WHY_GOALS_H

#include "report/why/report_why_internal.h"

#define GOAL_PARTS_MAX 64u     /* of one goal */
#define GOAL_STEPS_MAX 10000u  /* messages of feedback of one goal */
#define GOAL_ACTIONS_MAX 1000u /* actions whose goals are compared */

/* A part of a goal, or what its thread did meanwhile. */
struct goal_part {
	const struct model_goal_piece *piece;
	/* While it was on its way, the thread that took it ran this; NULL: nothing is known. */
	const struct model_callback *held_by;
	int64_t ns, begin_ns; /* all pieces; of the first one */
};

struct goal_moment {
	int64_t ns;
	bool is_received;
};

struct goal_instance {
	struct model_goal goal;
	struct model_goal_cut cut;
	struct goal_part part[GOAL_PARTS_MAX];
	unsigned parts;
	struct goal_moment *step; /* of feedback, in order of time */
	unsigned steps, steps_size;
};

/* The goals of an action that ended. */
struct goal_action {
	char *name;
	struct histogram whole; /* from when they were sent until the client took the result */
	struct histogram known; /* of the others, what the trace has of them */
	int64_t steady_ns[2];   /* the longest of each that is not start-up; 0: none */
};

struct goal_answer {
	const struct why_options *options;
	const char *glob; /* of its name; NULL: none was named */
	struct kymo_ctf_reader *reader;
	const char *path;
	struct passes passes; /* of the latest pass: */
	struct model *model;
	struct why_others *others;

	struct goal_action *action;
	unsigned actions, actions_size;
	const struct goal_action *chosen; /* NULL: none */
	bool has_others;                  /* goals that were refused, or did not end */
	bool is_whole;                    /* its goals are compared from sent to result taken */
	uint64_t count;
	int64_t usual_ns; /* their p50; 0: there is only one */
	uint64_t hidden;  /* start-up goals that took longer than the worst one shown */
	struct goal_instance worst[WHY_WORST_MAX + 1], usual;
	unsigned instances;
	bool has_usual, failed;
};

/**
 * why_goals_answer() - the answer about an action: if it was named as "action NAME", or if nothing
 * else has the name
 * @said: where the sentence goes; NULL: print the answer to the table of @answer
 *
 * Return: 1; 0: there is no goal of such an action; -1 with @err.
 */
int why_goals_answer(struct why_answer *answer, struct why_said *said, struct kymo_err *err);

/** why_goals_named() - the name in "action NAME"; NULL: @operand is not of that form. */
const char *why_goals_named(const char *operand);

/**
 * why_goals_find() - choose the action and take its worst goals apart
 * @answer: with options, glob, reader and path; free it with why_goals_free() in each case
 *
 * Return: 0 (chosen says whether there is one), or -1 with @err.
 */
int why_goals_find(struct goal_answer *answer, struct kymo_err *err);
void why_goals_free(struct goal_answer *answer);

/** why_goals_open() - the sentence if no goal of the action ended. */
const char *why_goals_open(void);

/* report_why_goals_cut.c */
void why_goals_cut(const struct goal_answer *answer, struct goal_instance *instance);
/* The part of @instance that is the same thing as @part; NULL: none. */
const struct goal_part *why_goals_same(const struct goal_instance *instance,
				       const struct goal_part *part);
/* What took the most time above the usual; NULL: there are no parts. */
const struct goal_part *why_goals_cause(const struct goal_answer *answer,
					const struct goal_instance *instance);
int64_t why_goals_usual(const struct goal_answer *answer, const struct goal_part *part);

/* report_why_goals_print.c */
void why_goals_print(const struct goal_answer *answer, struct table *table);
/* What both verbs say before they take the goals apart. */
void why_goals_head(const struct goal_answer *answer, struct table *table);
/* "goal a000... of action /count, succeeded". Return: @buffer. */
char *why_goals_label(const struct goal_answer *answer, char *buffer, size_t size);
/* "1.02 s, usually 12 ms: it executed 1.01 s, usually 10 ms". Return: @buffer. */
char *why_goals_sentence(const struct goal_answer *answer, unsigned rank, char *buffer,
			 size_t size);
/* "/fibonacci_client", or "(not in the trace)". */
const char *why_goals_node(const struct model_service *service);

#endif
