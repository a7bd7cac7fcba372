/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a goal. The idea: model_goal_cut() knows what the goal waited for; while a request
 * or a result was on its way, the thread that then took it may have run other callbacks. That time
 * is a part of its own, for each of these callbacks.
 */
#include <string.h>

#include "report/why/report_why_goals.h"

/* Adds [@from_ns, @to_ns) of @piece; equal parts become one. */
static void add(struct goal_instance *instance, const struct model_goal_piece *piece,
		const struct model_callback *held_by, int64_t from_ns, int64_t to_ns)
{
	struct goal_part *part = NULL;

	for (unsigned i = 0; i < instance->parts; i++)
		if (instance->part[i].piece == piece && instance->part[i].held_by == held_by)
			part = &instance->part[i];
	if (!part && instance->parts == GOAL_PARTS_MAX)
		part = &instance->part[GOAL_PARTS_MAX - 1];
	if (part) {
		part->ns += to_ns - from_ns;
		return;
	}
	instance->part[instance->parts++] =
		(struct goal_part){ piece, held_by, to_ns - from_ns, from_ns };
}

/* The runs of @others are those that an executor called, in order of their start. */
static void cut_way(const struct goal_answer *answer, struct goal_instance *instance,
		    const struct model_goal_piece *piece)
{
	int64_t at_ns = piece->from_ns;
	const struct why_other *other;

	for (unsigned i = 0; (other = why_other(answer->others, i)); i++) {
		const int64_t from_ns = other->start_ns > at_ns ? other->start_ns : at_ns,
			      to_ns = other->end_ns < piece->to_ns ? other->end_ns : piece->to_ns;

		if (other->thread != piece->thread || to_ns <= from_ns)
			continue;
		if (from_ns > at_ns)
			add(instance, piece, NULL, at_ns, from_ns);
		add(instance, piece, other->callback, from_ns, to_ns);
		at_ns = to_ns;
	}
	if (at_ns < piece->to_ns || piece->from_ns == piece->to_ns)
		add(instance, piece, NULL, at_ns, piece->to_ns);
}

void why_goals_cut(const struct goal_answer *answer, struct goal_instance *instance)
{
	instance->parts = 0;
	for (unsigned i = 0; i < instance->cut.pieces; i++) {
		const struct model_goal_piece *piece = &instance->cut.piece[i];

		if (answer->others && piece->thread && !piece->error_ns &&
		    (piece->part == MODEL_GOAL_REQUEST || piece->part == MODEL_GOAL_ANSWER))
			cut_way(answer, instance, piece);
		else
			add(instance, piece, NULL, piece->from_ns, piece->to_ns);
	}
}

const struct goal_part *why_goals_same(const struct goal_instance *instance,
				       const struct goal_part *part)
{
	for (unsigned i = 0; i < instance->parts; i++)
		if (instance->part[i].piece->part == part->piece->part &&
		    instance->part[i].held_by == part->held_by)
			return &instance->part[i];
	return NULL;
}

int64_t why_goals_usual(const struct goal_answer *answer, const struct goal_part *part)
{
	const struct goal_part *usual = why_goals_same(&answer->usual, part);

	return usual ? usual->ns : 0;
}

const struct goal_part *why_goals_cause(const struct goal_answer *answer,
					const struct goal_instance *instance)
{
	const struct goal_part *cause = NULL;
	int64_t most = -1;

	for (unsigned i = 0; i < instance->parts; i++) {
		const struct goal_part *part = &instance->part[i];
		const int64_t above_ns = part->ns - why_goals_usual(answer, part);

		/* What is not longer than the error of two clocks is no fact. */
		if (above_ns > most && part->ns >= part->piece->error_ns) {
			most = above_ns;
			cause = part;
		}
	}
	return cause;
}
