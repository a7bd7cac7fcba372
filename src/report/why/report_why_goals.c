/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo why` and `kymo flow` for goals of actions: the passes. The first one chooses the action and
 * learns what is usual for its goals, the second keeps the worst ones and a usual one, the third
 * their feedback, and what the threads did meanwhile. Goals have the same numbers in each.
 */
#include "report/why/report_why_goals.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_startup.h"
#include "analysis/pass/under_way.h"
#include "base/array.h"
#include "base/text.h"

#define PREFIX "action "

const char *why_goals_named(const char *operand)
{
	return operand && strncmp(operand, PREFIX, strlen(PREFIX)) == 0 ? operand + strlen(PREFIX)
									: NULL;
}

/* ---- a pass ---- */

static int pass(struct goal_answer *answer, const struct model_listener *listener,
		const struct why_window *window, unsigned windows, struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	const struct pass_options progress = { .progress = o->progress, .context = o->context };

	passes_free(&answer->passes);
	answer->others = NULL;
	if (model_create(&answer->model, err))
		return -1;
	if (o->all_topics)
		model_without_startup(answer->model);
	pass_add(&answer->passes, &model_pass, answer->model);
	if (windows && why_others_create(&answer->others, answer->model, window, windows, err))
		return -1;
	if (answer->others)
		pass_add(&answer->passes, &why_others_pass, answer->others);
	if (model_listen(answer->model, listener, answer, err) ||
	    pass_run(&answer->passes, answer->reader, &progress, err))
		return -1;
	return answer->failed ? err_no_memory(err) : 0;
}

/* ---- which action ---- */

static bool is_named(const struct goal_answer *answer, const struct model_goal *goal,
		     const struct model_goal_cut *cut)
{
	const struct why_options *o = answer->options;

	return goal->action && cut->begin_ns >= o->begin_ns && cut->begin_ns <= o->end_ns &&
	       text_ros_glob(answer->glob, goal->action);
}

/* Goals that did not run say nothing about how long one takes. */
static bool has_ended(const struct model_goal *goal, const struct model_goal_cut *cut)
{
	return !model_goal_is_rejected(goal) && (cut->is_whole || model_goal_end_ns(goal));
}

static bool counts(const struct goal_answer *answer, const struct model_goal *goal,
		   const struct model_goal_cut *cut)
{
	return has_ended(goal, cut) && is_named(answer, goal, cut);
}

const char *why_goals_open(void)
{
	return "No goal of that action has ended, but for those that were refused. "
	       "`kymo report --section actions` counts them.";
}

static struct goal_action *action_of(struct goal_answer *answer, const char *name)
{
	struct goal_action *action;

	for (unsigned i = 0; i < answer->actions; i++)
		if (strcmp(answer->action[i].name, name) == 0)
			return &answer->action[i];
	if (answer->actions == GOAL_ACTIONS_MAX)
		return NULL;
	if (!ARRAY_ROOM(answer->action, answer->actions, answer->actions_size)) {
		answer->failed = true;
		return NULL;
	}
	action = &answer->action[answer->actions];
	*action = (struct goal_action){ .name = strdup(name) };
	if (!action->name) {
		answer->failed = true;
		return NULL;
	}
	answer->actions++;
	return action;
}

static void on_first(void *context, const struct model_goal *goal)
{
	struct goal_answer *answer = context;
	struct goal_action *action;
	struct model_goal_cut cut;
	int64_t ns;

	model_goal_cut(&cut, goal);
	if (!is_named(answer, goal, &cut))
		return;
	answer->has_others |= !has_ended(goal, &cut);
	action = has_ended(goal, &cut) ? action_of(answer, goal->action) : NULL;
	if (!action)
		return;
	ns = cut.end_ns - cut.begin_ns;
	if (histogram_add(cut.is_whole ? &action->whole : &action->known, (uint64_t)ns))
		answer->failed = true;
	if (!goal->is_startup && ns > action->steady_ns[cut.is_whole])
		action->steady_ns[cut.is_whole] = ns;
}

static const struct model_listener first_listener = { .goal = on_first };

/* The one whose worst goal is farthest above its usual one. */
static void choose(struct goal_answer *answer)
{
	int64_t most = -1;

	for (unsigned i = 0; i < answer->actions; i++) {
		const struct goal_action *action = &answer->action[i];
		const bool is_whole = action->whole.count;
		const struct histogram *all = is_whole ? &action->whole : &action->known;
		const int64_t usual_ns = (int64_t)histogram_quantile(all, 0.5),
			      above_ns = action->steady_ns[is_whole] - usual_ns;

		if ((above_ns > 0 ? above_ns : 0) <= most)
			continue;
		most = above_ns > 0 ? above_ns : 0;
		answer->chosen = action;
		answer->is_whole = is_whole;
		answer->count = all->count;
		answer->usual_ns = all->count > 1 ? usual_ns : 0;
	}
}

/* ---- the worst of it ---- */

static int64_t total(const struct goal_instance *instance)
{
	return instance->cut.end_ns - instance->cut.begin_ns;
}

static int64_t apart(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/* How well it fits to the moment that was asked for; without one, how long it is. Start-up counts
 * only if there is nothing else. */
static int64_t value(const struct goal_answer *answer, const struct goal_instance *found)
{
	const int64_t at_ns = answer->options->at_ns;

	if (at_ns)
		return under_way(found->cut.begin_ns, found->cut.end_ns, at_ns);
	if (found->goal.is_startup && answer->chosen->steady_ns[answer->is_whole])
		return -1;
	return total(found);
}

static void take(struct goal_answer *answer, const struct goal_instance *found)
{
	const unsigned most = answer->options->at_ns ? 1 : answer->options->worst;
	unsigned at = answer->instances;

	if (answer->usual_ns &&
	    (!answer->has_usual || apart(total(found), answer->usual_ns) <
					   apart(total(&answer->usual), answer->usual_ns))) {
		answer->usual = *found;
		answer->has_usual = true;
	}
	if (value(answer, found) < 0)
		return;
	while (at && value(answer, &answer->worst[at - 1]) < value(answer, found))
		at--;
	if (at == most)
		return;
	memmove(&answer->worst[at + 1], &answer->worst[at],
		(answer->instances - at) * sizeof(answer->worst[0]));
	answer->worst[at] = *found;
	if (answer->instances < most)
		answer->instances++;
}

static void on_second(void *context, const struct model_goal *goal)
{
	struct goal_answer *answer = context;
	struct goal_instance found = { .goal = *goal };

	model_goal_cut(&found.cut, goal);
	if (counts(answer, goal, &found.cut) && found.cut.is_whole == answer->is_whole &&
	    strcmp(goal->action, answer->chosen->name) == 0)
		take(answer, &found);
}

static const struct model_listener second_listener = { .goal = on_second };

/* Of the start-up goals, how many took longer than the worst one that is shown. */
static void on_hidden(struct goal_answer *answer, const struct model_goal *goal)
{
	struct goal_instance found = { .goal = *goal };

	model_goal_cut(&found.cut, goal);
	if (goal->is_startup && answer->instances && !answer->worst->goal.is_startup &&
	    !answer->options->at_ns && counts(answer, goal, &found.cut) &&
	    strcmp(goal->action, answer->chosen->name) == 0 && total(&found) > total(answer->worst))
		answer->hidden++;
}

/* ---- what happened meanwhile ---- */

static struct goal_instance *instance_of(struct goal_answer *answer, uint64_t id)
{
	for (unsigned i = 0; i < answer->instances; i++)
		if (answer->worst[i].goal.id == id)
			return &answer->worst[i];
	return NULL;
}

/* The same goals, with the objects of this pass's model. */
static void again(struct goal_instance *instance, const struct model_goal *goal)
{
	instance->goal = *goal;
	model_goal_cut(&instance->cut, goal);
}

static void on_third(void *context, const struct model_goal *goal)
{
	struct goal_answer *answer = context;
	struct goal_instance *instance = instance_of(answer, goal->id);

	if (instance)
		again(instance, goal);
	if (answer->has_usual && answer->usual.goal.id == goal->id)
		again(&answer->usual, goal);
	on_hidden(answer, goal);
}

static void on_step(void *context, const struct model_goal_step *step)
{
	struct goal_answer *answer = context;
	struct goal_instance *instance = instance_of(answer, step->id);

	if (!instance || instance->steps == GOAL_STEPS_MAX)
		return;
	answer->failed |= !ARRAY_ADD(instance->step, instance->steps, instance->steps_size,
				     (struct goal_moment){ step->ns, step->is_received });
}

static const struct model_listener third_listener = { .goal = on_third, .goal_step = on_step };

static int third_pass(struct goal_answer *answer, struct kymo_err *err)
{
	struct why_window window[WHY_WORST_MAX + 1];
	unsigned windows = 0;

	for (unsigned i = 0; i < answer->instances; i++)
		window[windows++] = (struct why_window){ answer->worst[i].cut.begin_ns,
							 answer->worst[i].cut.end_ns };
	if (answer->has_usual)
		window[windows++] =
			(struct why_window){ answer->usual.cut.begin_ns, answer->usual.cut.end_ns };
	return pass(answer, &third_listener, window, windows, err);
}

/* ---- all of it ---- */

int why_goals_find(struct goal_answer *answer, struct kymo_err *err)
{
	if (!reader_declares(answer->reader, "ros2_kymo:action_*"))
		return 0;
	if (pass(answer, &first_listener, NULL, 0, err))
		return -1;
	choose(answer);
	if (!answer->chosen)
		return 0;
	if (pass(answer, &second_listener, NULL, 0, err) ||
	    (answer->instances && third_pass(answer, err)))
		return -1;
	for (unsigned i = 0; i < answer->instances; i++)
		why_goals_cut(answer, &answer->worst[i]);
	if (answer->has_usual)
		why_goals_cut(answer, &answer->usual);
	return 0;
}

void why_goals_free(struct goal_answer *answer)
{
	for (unsigned i = 0; i < answer->actions; i++) {
		free(answer->action[i].name);
		histogram_free(&answer->action[i].whole);
		histogram_free(&answer->action[i].known);
	}
	free(answer->action);
	for (unsigned i = 0; i < answer->instances; i++)
		free(answer->worst[i].step);
	passes_free(&answer->passes);
}

static bool is_asked(const struct why_options *options)
{
	return options->callback && !options->pattern && !options->message;
}

int why_goals_answer(struct why_answer *answer, struct why_said *said, struct kymo_err *err)
{
	const char *named = why_goals_named(answer->options->callback);
	struct goal_answer *goals;
	int status;

	if (!is_asked(answer->options) || answer->is_of_programs)
		return 0;
	goals = calloc(1, sizeof(*goals));
	if (!goals)
		return err_no_memory(err);
	goals->options = answer->options;
	goals->glob = named ? named : answer->options->callback;
	goals->reader = answer->reader;
	goals->path = answer->path;
	status = why_goals_find(goals, err) ? -1 : goals->instances != 0;
	answer->is_known |= goals->chosen || goals->has_others;
	answer->has_open_goals = !goals->chosen && goals->has_others;
	if (status > 0 && said) {
		why_goals_label(goals, said->worst, sizeof(said->worst));
		why_goals_sentence(goals, 0, said->why, sizeof(said->why));
	} else if (status > 0) {
		why_print_finding(answer);
		why_goals_print(goals, answer->table);
	}
	why_goals_free(goals);
	free(goals);
	return status;
}
