/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why` for goals of actions: the sentence, the parts, the longest goals. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/why/report_why_goals.h"

const char *why_goals_node(const struct model_service *service)
{
	return service && service->node ? service->node->full_name : "(not in the trace)";
}

char *why_goals_label(const struct goal_answer *answer, char *buffer, size_t size)
{
	const struct model_goal *goal = &answer->worst[0].goal;
	const char *status = model_goal_status(goal);
	char uuid[40];

	snprintf(buffer, size, "goal %s of action %s%s%s",
		 model_goal_uuid(goal->goal_id, uuid, sizeof(uuid)), answer->chosen->name,
		 status ? ", " : "", status ? status : "");
	return buffer;
}

/* ---- the sentence ---- */

static void held_text(const struct goal_part *part, const char *time, char *buffer, size_t size)
{
	const bool is_request = part->piece->part == MODEL_GOAL_REQUEST;
	char label[WHY_LABEL_MAX];

	snprintf(buffer, size, "%s waited %s because the executor of %s ran %s",
		 is_request ? "it" : "its result", time, why_goals_node(part->piece->of),
		 model_callback_label(part->held_by, label, sizeof(label)));
}

/* "it executed 1.01 s" */
static void part_text(const struct model_goal *goal, const struct goal_part *part, char *buffer,
		      size_t size)
{
	const char *node = why_goals_node(part->piece->of);
	char time[TEXT_QUANTITY_MAX];

	text_ns(time, part->ns);
	if (part->held_by) {
		held_text(part, time, buffer, size);
		return;
	}
	switch (part->piece->part) {
	case MODEL_GOAL_REQUEST:
		snprintf(buffer, size, "it was %s on its way to %s", time, node);
		return;
	case MODEL_GOAL_ACCEPTING:
		snprintf(buffer, size, "%s took %s to accept it", node, time);
		return;
	case MODEL_GOAL_QUEUED:
		snprintf(buffer, size, "%s accepted it, and began %s later", node, time);
		return;
	case MODEL_GOAL_RUNNING:
		snprintf(buffer, size, "%s executed it for %s", node, time);
		return;
	case MODEL_GOAL_STOPPING:
		snprintf(buffer, size, "%s took %s to cancel it", node, time);
		return;
	case MODEL_GOAL_KEPT:
		snprintf(buffer, size, "%s had the result and sent it %s later%s", node, time,
			 goal->way[MODEL_GOAL_RESULT].request_taken_ns > model_goal_end_ns(goal)
				 ? ", as it was asked for it so late"
				 : "");
		return;
	case MODEL_GOAL_ANSWER:
		snprintf(buffer, size, "its result was %s on its way to %s", time, node);
		return;
	case MODEL_GOAL_ASKING:
		snprintf(buffer, size, "%s waited %s until it was accepted", node, time);
		return;
	case MODEL_GOAL_WAITING:
		snprintf(buffer, size, "%s waited %s for the result", node, time);
		return;
	case MODEL_GOAL_PARTS:
		break;
	}
	*buffer = '\0';
}

char *why_goals_sentence(const struct goal_answer *answer, unsigned rank, char *buffer, size_t size)
{
	const struct goal_instance *instance = &answer->worst[rank];
	const struct goal_part *cause = why_goals_cause(answer, instance);
	const char *status = model_goal_status(&instance->goal);
	char total[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX], why[1024] = "", other[64] = "";
	char usually[TEXT_QUANTITY_MAX + 16] = "";

	text_ns(total, instance->cut.end_ns - instance->cut.begin_ns);
	text_ns(usual, answer->has_usual ? answer->usual_ns : 0);
	if (cause)
		part_text(&instance->goal, cause, why, sizeof(why));
	if (cause && answer->has_usual) {
		char part[TEXT_QUANTITY_MAX];

		snprintf(usually, sizeof(usually), ", usually %s",
			 text_ns(part, why_goals_usual(answer, cause)));
	}
	if (status && strcmp(status, "succeeded") != 0)
		snprintf(other, sizeof(other), "; it was %s", status);
	snprintf(buffer, size, "%s%s%s%s%s%s%s", total, answer->has_usual ? ", usually " : "",
		 answer->has_usual ? usual : "", *why ? ": " : "", why, usually, other);
	return buffer;
}

/* ---- parts ---- */

static const struct table_column part_columns[] = {
	{ "rank", NULL },     { "kind", "Part" },   { "who", "Of" },
	{ "by", "Held by" },  { "ns", "Time" },     { "usual_ns", "Usually" },
	{ "error_ns", NULL }, { "begin_ns", NULL }, { "offset_ns", "Begins at" },
	{ "bar", "" },
};

static void cells_what(struct table *t, unsigned rank, const struct goal_part *part)
{
	char label[WHY_LABEL_MAX];

	table_u64(t, rank + 1);
	table_text(t, model_goal_part_name(part->piece->part));
	table_text(t, why_goals_node(part->piece->of));
	table_text(t, part->held_by ? model_callback_label(part->held_by, label, sizeof(label))
				    : NULL);
}

static void part_row(const struct goal_answer *answer, struct table *t, unsigned rank,
		     const struct goal_part *part)
{
	const struct goal_instance *instance = &answer->worst[rank];
	const int64_t begin_ns = instance->cut.begin_ns, error_ns = part->piece->error_ns;
	char line[WHY_BAR_MAX + 1];

	cells_what(t, rank, part);
	table_ns_within(t, part->ns, error_ns);
	CELL_IF(t, answer->has_usual, table_ns_within(t, why_goals_usual(answer, part), error_ns));
	CELL_IF(t, error_ns != KYMO_CTF_ERROR_UNKNOWN, table_ns(t, error_ns));
	table_time(t, part->begin_ns);
	table_ns(t, part->begin_ns - begin_ns);
	if (answer->options->format == TABLE_TEXT)
		table_text(t, why_bar(t, part->begin_ns - begin_ns, part->ns,
				      instance->cut.end_ns - begin_ns, line));
	else
		table_none(t);
}

/* What the usual goal spent and this one did not: the columns add up. */
static void usual_row(struct table *t, unsigned rank, const struct goal_part *usual)
{
	cells_what(t, rank, usual);
	table_ns(t, 0);
	table_ns_within(t, usual->ns, usual->piece->error_ns);
	CELL_IF(t, usual->piece->error_ns != KYMO_CTF_ERROR_UNKNOWN,
		table_ns(t, usual->piece->error_ns));
	cells_none(t, 2);
	table_text(t, NULL);
}

static void sum_row(const struct goal_answer *answer, struct table *t, unsigned rank)
{
	const struct model_goal_cut *cut = &answer->worst[rank].cut, *usual = &answer->usual.cut;

	cells_none(t, 1);
	table_text(t, "= all");
	cells_none(t, 2);
	table_ns(t, cut->end_ns - cut->begin_ns);
	CELL_IF(t, answer->has_usual, table_ns(t, usual->end_ns - usual->begin_ns));
	cells_none(t, 3);
	table_text(t, NULL);
}

static void print_parts(const struct goal_answer *answer, struct table *t)
{
	const bool is_text = answer->options->format == TABLE_TEXT;
	char title[64];

	for (unsigned rank = 0; rank < answer->instances; rank++) {
		const struct goal_instance *instance = &answer->worst[rank];

		why_parts_title(title, sizeof(title), rank, answer->options->at_ns,
				answer->has_usual);
		if (!rank || is_text)
			table_section(t, "parts", title, part_columns, COUNT_OF(part_columns));
		for (unsigned i = 0; i < instance->parts; i++)
			part_row(answer, t, rank, &instance->part[i]);
		for (unsigned i = 0; answer->has_usual && i < answer->usual.parts; i++)
			if (!why_goals_same(instance, &answer->usual.part[i]))
				usual_row(t, rank, &answer->usual.part[i]);
		if (is_text)
			sum_row(answer, t, rank);
	}
}

/* ---- instances ---- */

static const struct table_column instance_columns[] = {
	{ "rank", "#" },           { "latency_ns", "Time" },
	{ "at", "Begun at" },      { "begin_ns", NULL },
	{ "goal_id", NULL },       { "status", "Status" },
	{ "client_node", NULL },   { "server_node", NULL },
	{ "feedback_sent", NULL }, { "feedback_taken", NULL },
	{ "cause", NULL },         { "cause_by", NULL },
	{ "cause_ns", NULL },      { "cause_usual_ns", NULL },
	{ "handling_ns", NULL },   { "sentence", "Why" },
};

static void cells_cause(const struct goal_answer *answer, struct table *t,
			const struct goal_part *cause)
{
	char label[WHY_LABEL_MAX];

	table_text(t, cause ? model_goal_part_name(cause->piece->part) : NULL);
	table_text(t, cause && cause->held_by
			      ? model_callback_label(cause->held_by, label, sizeof(label))
			      : NULL);
	CELL_IF(t, cause, table_ns(t, cause->ns));
	CELL_IF(t, cause && answer->has_usual, table_ns(t, why_goals_usual(answer, cause)));
}

static char *offset_text(const struct goal_answer *answer, const struct goal_instance *instance,
			 char *buffer, size_t size)
{
	snprintf(buffer, size, "+%.6f s",
		 (double)(instance->cut.begin_ns - model_facts(answer->model)->first_ns) / 1e9);
	return buffer;
}

static void instance_row(const struct goal_answer *answer, struct table *t, unsigned rank)
{
	const struct goal_instance *instance = &answer->worst[rank];
	const struct model_goal *goal = &instance->goal;
	char text[2048];

	table_u64(t, rank + 1);
	table_ns(t, instance->cut.end_ns - instance->cut.begin_ns);
	table_text(t, offset_text(answer, instance, text, sizeof(text)));
	table_time(t, instance->cut.begin_ns);
	table_text(t, model_goal_uuid(goal->goal_id, text, sizeof(text)));
	table_text(t, model_goal_status(goal));
	cell_node(t, goal->client ? goal->client->node : NULL);
	cell_node(t, goal->server ? goal->server->node : NULL);
	table_u64(t, goal->sent.count);
	table_u64(t, goal->received.count);
	cells_cause(answer, t, why_goals_cause(answer, instance));
	CELL_IF(t, goal->handled_ns, table_ns(t, goal->handled_ns - instance->cut.end_ns));
	table_text(t, why_goals_sentence(answer, rank, text, sizeof(text)));
}

static void print_instances(const struct goal_answer *answer, struct table *t)
{
	if (answer->instances < 2 && answer->options->format == TABLE_TEXT)
		return;
	table_section(t, "instances", "The longest", instance_columns, COUNT_OF(instance_columns));
	for (unsigned rank = 0; rank < answer->instances; rank++)
		instance_row(answer, t, rank);
}

void why_goals_head(const struct goal_answer *answer, struct table *table)
{
	const struct goal_instance *worst = &answer->worst[0];
	char text[2048];

	table_value_text(table, "sentence", "Why",
			 why_goals_sentence(answer, 0, text, sizeof(text)));
	table_value_text(table, "worst", "Worst", why_goals_label(answer, text, sizeof(text)));
	if (answer->options->format != TABLE_TEXT)
		table_value_text(table, "action", NULL, answer->chosen->name);
	table_value_text(table, "trace", "Trace", answer->path);
	table_value_text(table, "at", "Begun at", offset_text(answer, worst, text, sizeof(text)));
	table_value_ns(table, "latency_ns", "Time", worst->cut.end_ns - worst->cut.begin_ns);
	if (answer->usual_ns)
		table_value_ns(table, "usual_ns", "Usually (p50)", answer->usual_ns);
	else
		table_value_text(table, "usual_ns", NULL, NULL);
	table_value_u64(table, "count", "Goals", answer->count);
	if (answer->hidden || answer->options->format != TABLE_TEXT)
		table_value_u64(table, "hidden_startup", "Longer start-up goals (--all)",
				answer->hidden);
}

void why_goals_print(const struct goal_answer *answer, struct table *table)
{
	const struct model_goal *goal = &answer->worst[0].goal;
	char time[TEXT_QUANTITY_MAX];

	why_goals_head(answer, table);
	print_parts(answer, table);
	print_instances(answer, table);
	if (goal->handled_ns)
		table_note(table, "After %s took the result, its executor went on %s later.",
			   why_goals_node(goal->client),
			   text_ns(time, goal->handled_ns - answer->worst[0].cut.end_ns));
	if (!answer->is_whole)
		table_note(table, "The trace has only one side of these goals.");
}
