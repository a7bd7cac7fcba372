/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo flow` for goals of actions: the worst goal step by step, at the client and at the server,
 * with each message of feedback.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/why/report_why_goals.h"

#define STEPS_MAX (GOAL_STEPS_MAX + GOAL_PARTS_MAX + 8)
#define TEXT_FEEDBACK_MAX 10u /* of one goal, in a table */

static const struct table_column columns[] = {
	{ "rank", NULL },     { "kind", NULL },          { "offset_ns", "Begins at" },
	{ "begin_ns", NULL }, { "what", "What" },        { "node", "At" },
	{ "ns", "Time" },     { "usual_ns", "Usually" }, { "error_ns", NULL },
};

/* A part, or a moment. */
struct goal_row {
	int64_t begin_ns, ns, usual_ns, error_ns; /* ns -1: a moment; usual_ns -1: not known */
	const char *what;
	const struct model_callback *held_by;
	const struct model_service *of;
	unsigned order; /* of those that begin at the same time */
};

struct goal_rows {
	struct goal_row *step;
	unsigned count;
};

static void add(struct goal_rows *steps, const struct goal_row *step)
{
	if (steps->count == STEPS_MAX)
		return;
	steps->step[steps->count] = *step;
	steps->step[steps->count].order = steps->count;
	steps->count++;
}

static void add_moment(struct goal_rows *steps, const char *what, int64_t ns,
		       const struct model_service *of)
{
	if (ns)
		add(steps, &(struct goal_row){ .begin_ns = ns, .ns = -1, .what = what, .of = of });
}

static const char *part_text(enum model_goal_part part)
{
	static const char *const texts[MODEL_GOAL_PARTS] = {
		"the request on its way",
		"accepting",
		"accepted, until it executes",
		"executing",
		"canceling",
		"ended, until the result is sent",
		"the result on its way",
		"waiting for acceptance",
		"waiting for the result",
	};

	return texts[part];
}

static void add_parts(const struct goal_answer *answer, const struct goal_instance *instance,
		      struct goal_rows *steps)
{
	const struct goal_instance *usual = &answer->usual;

	for (unsigned i = 0; i < instance->parts; i++) {
		const struct goal_part *part = &instance->part[i];

		add(steps, &(struct goal_row){ .begin_ns = part->begin_ns,
					       .ns = part->ns,
					       .usual_ns = answer->has_usual
								   ? why_goals_usual(answer, part)
								   : -1,
					       .error_ns = part->piece->error_ns,
					       .what = part_text(part->piece->part),
					       .held_by = part->held_by,
					       .of = part->piece->of });
	}
	if (instance->goal.handled_ns)
		add(steps, &(struct goal_row){
				   .begin_ns = instance->cut.end_ns,
				   .ns = instance->goal.handled_ns - instance->cut.end_ns,
				   .usual_ns = usual->goal.handled_ns
						       ? usual->goal.handled_ns - usual->cut.end_ns
						       : -1,
				   .what = "handled by the client",
				   .of = instance->goal.client });
}

static void add_moments(const struct goal_answer *answer, const struct goal_instance *instance,
			struct goal_rows *steps)
{
	const struct model_goal *goal = &instance->goal;
	const struct model_goal_way *cancel = &goal->way[MODEL_GOAL_CANCEL],
				    *result = &goal->way[MODEL_GOAL_RESULT];
	unsigned shown = instance->steps;

	if (answer->options->format == TABLE_TEXT && shown > TEXT_FEEDBACK_MAX)
		shown = TEXT_FEEDBACK_MAX;
	add_moment(steps, "cancel is asked for", cancel->request_ns, goal->client);
	add_moment(steps, "cancel arrives", cancel->request_taken_ns, goal->server);
	add_moment(steps, "the answer to the cancel arrives", cancel->response_taken_ns,
		   goal->client);
	add_moment(steps, "the acceptance arrives", goal->way[MODEL_GOAL_SEND].response_taken_ns,
		   goal->client);
	add_moment(steps, "the result is asked for", result->request_ns, goal->client);
	for (unsigned i = 0; i < shown; i++)
		add_moment(steps, instance->step[i].is_received ? "feedback arrives" : "feedback",
			   instance->step[i].ns,
			   instance->step[i].is_received ? goal->client : goal->server);
}

static int by_time(const void *a, const void *b)
{
	const struct goal_row *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void put(const struct goal_answer *answer, struct table *t, unsigned rank,
		const struct goal_row *step)
{
	const bool is_text = answer->options->format == TABLE_TEXT;
	char what[WHY_LABEL_MAX + 64], label[WHY_LABEL_MAX];

	(void)snprintf(what, sizeof(what), "%s%s%s%s", is_text && step->ns < 0 ? "  " : "",
		       step->what, step->held_by ? ", held by " : "",
		       step->held_by ? model_callback_label(step->held_by, label, sizeof(label))
				     : "");
	table_u64(t, rank + 1);
	table_text(t, step->ns < 0 ? "moment" : "part");
	table_ns(t, step->begin_ns - answer->worst[rank].cut.begin_ns);
	table_time(t, step->begin_ns);
	table_text(t, what);
	table_text(t, why_goals_node(step->of));
	CELL_IF(t, step->ns >= 0, table_ns_within(t, step->ns, step->error_ns));
	CELL_IF(t, step->ns >= 0 && step->usual_ns >= 0,
		table_ns_within(t, step->usual_ns, step->error_ns));
	CELL_IF(t, step->ns >= 0 && step->error_ns != KYMO_CTF_ERROR_UNKNOWN,
		table_ns(t, step->error_ns));
}

static int print_goal(const struct goal_answer *answer, struct table *t, unsigned rank)
{
	const struct goal_instance *instance = &answer->worst[rank];
	const uint64_t feedback = instance->goal.sent.count + instance->goal.received.count;
	struct goal_rows steps = { .step = calloc(STEPS_MAX, sizeof(struct goal_row)) };

	if (!steps.step)
		return -1;
	add_parts(answer, instance, &steps);
	add_moments(answer, instance, &steps);
	qsort(steps.step, steps.count, sizeof(*steps.step), by_time);
	for (unsigned i = 0; i < steps.count; i++)
		put(answer, t, rank, &steps.step[i]);
	free(steps.step);
	if (answer->options->format == TABLE_TEXT && feedback > TEXT_FEEDBACK_MAX)
		table_note(t, "%" PRIu64 " more messages of feedback: --format json lists %s.",
			   feedback - TEXT_FEEDBACK_MAX,
			   feedback > GOAL_STEPS_MAX ? "the first 10000" : "them");
	return 0;
}

static int print(const struct goal_answer *answer, struct table *t)
{
	const bool is_text = answer->options->format == TABLE_TEXT;
	char title[80];

	why_goals_head(answer, t);
	for (unsigned rank = 0; rank < answer->instances; rank++) {
		(void)snprintf(title, sizeof(title),
			       rank ? "The steps of number %u"
			       : answer->options->at_ns
				       ? "The steps of the one at that time"
				       : "The steps of the longest, in order of time",
			       rank + 1);
		if (!rank || is_text)
			table_section(t, "steps", title, columns, COUNT_OF(columns));
		if (print_goal(answer, t, rank))
			return -1;
	}
	return 0;
}

int why_flow_goals(struct kymo_ctf_reader *reader, const char *path,
		   const struct why_options *options, struct table *table, struct kymo_err *err)
{
	const char *named = why_goals_named(options->callback);
	struct goal_answer *answer = calloc(1, sizeof(*answer));
	char text[2048];
	int status;

	if (!answer)
		return err_no_memory(err);
	answer->options = options;
	answer->glob = named ? named : options->callback;
	answer->reader = reader;
	answer->path = path;
	if (why_goals_find(answer, err))
		status = -1;
	else if (answer->chosen)
		status = answer->instances ? 1 : 2;
	else
		status = answer->has_others ? 2 : 0;
	if (status == 1 && print(answer, table))
		status = err_no_memory(err);
	else if (status == 2)
		table_value_text(table, "why_empty", "Nothing to show",
				 text_hints(text, sizeof(text),
					      !answer->chosen
					 ? why_goals_open()
					 : "No goal of that action that has ended was under way at that "
					   "time. Without --at, `kymo flow` shows the longest one.",
					      options->operand));
	why_goals_free(answer);
	free(answer);
	return status;
}
