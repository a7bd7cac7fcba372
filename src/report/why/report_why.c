/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo why`: the passes. The first finds whose instances are taken apart and what is usual for
 * them; if nothing was named, it is the summary's, which follows the same chains. The second keeps
 * the worst and a usual one, the third all that ran while they were under way. Paths and callbacks
 * have the same numbers in each.
 */
#include "report/why/report_why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_startup.h"
#include "report/why/report_why_internal.h"
#include "base/text.h"
#include "report/why/report_why_goals.h"
#include "report/why/report_why_spans.h"

/* ---- a pass ---- */

static void on_loss(void *context, const struct model_loss *loss)
{
	struct why_answer *answer = context;

	answer->lost_events += loss->events;
	answer->lost_packets += loss->packets;
	answer->lost_here |= !loss->is_elsewhere;
}

static const struct model_listener loss_listener = { .loss = on_loss };

int why_listen_losses(struct why_answer *answer, struct model *model, struct kymo_err *err)
{
	answer->lost_events = answer->lost_packets = 0;
	answer->lost_here = false;
	return model_listen(model, &loss_listener, answer, err);
}

/* A new set of analyses for the next pass. */
static int create_all(struct why_answer *answer, struct chains_options *chains,
		      const struct why_window *window, unsigned windows, struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	const uint64_t *ids = answer->ids ? answer->ids : &o->message;
	unsigned id_count = answer->ids ? answer->id_count : o->message != 0;
	struct why_callbacks_options runs = {
		.worst = o->worst,
		.named_id = o->message,
		.at_ns = o->at_ns,
		.begin_ns = o->begin_ns,
		.end_ns = o->end_ns,
		.near_index = answer->target.index,
		.near_ns = answer->target.is_chain ? 0 : answer->target.usual_ns,
	};

	passes_free(&answer->passes);
	answer->fates = NULL;
	answer->others = NULL;
	answer->capture = NULL;
	answer->is_summarys = false;
	if (model_create(&answer->model, err))
		return -1;
	if (o->all_topics)
		model_without_startup(answer->model);
	pass_add(&answer->passes, &model_pass, answer->model);
	if (chains_create(&answer->chains, answer->model, chains, err))
		return -1;
	pass_add(&answer->passes, &chains_pass, answer->chains);
	if (why_callbacks_create(&answer->callbacks, answer->model, &runs, err))
		return -1;
	pass_add(&answer->passes, &why_callbacks_pass, answer->callbacks);
	if (windows && why_others_create(&answer->others, answer->model, window, windows, err))
		return -1;
	if (answer->others)
		pass_add(&answer->passes, &why_others_pass, answer->others);
	if (o->captures &&
	    capture_create(&answer->capture, o->captures, answer->model, o->align, err))
		return -1;
	if (answer->capture)
		pass_add(&answer->passes, &capture_pass, answer->capture);
	if (id_count && fates_create(&answer->fates, answer->model, ids, id_count, err))
		return -1;
	if (answer->fates)
		pass_add(&answer->passes, &fates_pass, answer->fates);
	return why_listen_losses(answer, answer->model, err);
}

static int pass(struct why_answer *answer, struct chains_options *chains,
		const struct why_window *window, unsigned windows, struct kymo_err *err)
{
	const struct pass_options progress = { .progress = answer->options->progress,
					       .context = answer->options->context };

	if (create_all(answer, chains, window, windows, err))
		return -1;
	return pass_run(&answer->passes, answer->reader, &progress, err);
}

/* ---- the instances of a pass ---- */

static void drop_instances(struct why_answer *answer)
{
	for (unsigned i = 0; i < answer->instances; i++) {
		why_free(&answer->instance[i]);
		why_parts_free(&answer->parts[i]);
		why_parts_free(&answer->because[i]);
		why_parts_free(&answer->usual_parts[i]);
	}
	why_free(&answer->usual);
	why_parts_free(&answer->usual_because);
	answer->instances = 0;
}

/* How many of @startup took longer than the worst instance that is shown. */
static uint64_t hidden_above(const struct why_answer *answer, const struct histogram *startup)
{
	const struct why_options *o = answer->options;

	if (o->message || o->at_ns || !answer->instances)
		return 0;
	return histogram_at_least(startup, (uint64_t)answer->instance->total_ns + 1);
}

static int take_arrivals(struct why_answer *answer)
{
	const struct chains_path *path = chains_path(answer->chains, answer->target.index);
	const struct chains_stats *stats = path->stats;
	int failed = 0;

	if (!stats)
		return 0;
	if (answer->options->message && stats->named.hop)
		failed |=
			why_of_arrival(&answer->instance[answer->instances++], path, &stats->named);
	else if (answer->options->at_ns && stats->at.hop)
		failed |= why_of_arrival(&answer->instance[answer->instances++], path, &stats->at);
	else if (!answer->options->at_ns)
		for (unsigned i = 0; i < stats->worst_count; i++) {
			const struct chains_arrival *at = &stats->worst[i];

			/* Start-up comes last, and counts only if there is nothing else. */
			if (!at->is_startup || stats->worst->is_startup)
				failed |= why_of_arrival(&answer->instance[answer->instances++],
							 path, at);
		}
	answer->target.hidden = hidden_above(answer, &stats->startup);
	if (stats->near.hop)
		failed |= why_of_arrival(&answer->usual, path, &stats->near);
	return failed;
}

static int take_runs(struct why_answer *answer)
{
	const struct why_callback *callback = why_callback(answer->callbacks, answer->target.index);
	int failed = 0;

	if (answer->options->message)
		failed |= why_of_run(&answer->instance[answer->instances++], &callback->named);
	else if (answer->options->at_ns)
		failed |= why_of_run(&answer->instance[answer->instances++], &callback->at);
	else
		for (unsigned i = 0; i < callback->worst_count; i++) {
			const struct why_run *run = &callback->worst[i];

			if (!run->is_startup || callback->worst->is_startup)
				failed |= why_of_run(&answer->instance[answer->instances++], run);
		}
	answer->target.hidden = hidden_above(answer, &callback->startup);
	if (callback->near.total_ns >= 0)
		failed |= why_of_run(&answer->usual, &callback->near);
	return failed;
}

static int take_instances(struct why_answer *answer, struct kymo_err *err)
{
	drop_instances(answer);
	if (answer->target.is_chain ? take_arrivals(answer) : take_runs(answer))
		return err_no_memory(err);
	/* The instance in question is not its own yardstick. */
	if (answer->usual.total_ns >= 0 && answer->instances == 1 && answer->target.count == 1)
		why_free(&answer->usual);
	return 0;
}

/*
 * Who had the CPUs meanwhile, if the trace contains that. A pass of its own, as these are other
 * events than the model's.
 */
static int cpu_pass(struct why_answer *answer, const struct why_window *window, unsigned windows,
		    struct kymo_err *err)
{
	const struct pass_options progress = { .progress = answer->options->progress,
					       .context = answer->options->context };

	if (!sched_is_there(answer->reader))
		return 0;
	if (why_cpu_create(&answer->cpu, answer->reader, answer->model, window, windows, err))
		return -1;
	pass_add(&answer->cpu_passes, &why_cpu_pass, answer->cpu);
	return pass_run(&answer->cpu_passes, answer->reader, &progress, err);
}

/* The parts of the usual instance, next to those of each other. Return: 0, or -1: out of memory. */
static int cut_usual(struct why_answer *answer)
{
	struct why_parts usual;
	int failed = why_cut(&usual, &answer->usual_because, &answer->usual, answer->others,
			     answer->cpu);

	for (unsigned i = 0; !failed && i < answer->instances; i++) {
		failed = why_parts_copy(&answer->usual_parts[i], &usual);
		for (unsigned hop = 0; !failed && hop < answer->usual.hops; hop++)
			answer->joined |=
				why_join_ways(&answer->parts[i], &answer->usual_parts[i], hop);
	}
	why_parts_free(&usual);
	return failed;
}

/* The second pass and those behind it. */
static int take_apart(struct why_answer *answer, struct chains_options *chains,
		      struct kymo_err *err)
{
	struct why_window window[WHY_WORST_MAX + 1];
	unsigned windows = 0, i;
	int failed = 0;

	if (pass(answer, chains, NULL, 0, err) || take_instances(answer, err))
		return -1;
	if (why_lost_ids(answer))
		return err_no_memory(err);
	for (i = 0; i < answer->instances; i++)
		window[windows++] = (struct why_window){ answer->instance[i].begin_ns,
							 answer->instance[i].begin_ns +
								 answer->instance[i].total_ns };
	if (answer->usual.total_ns >= 0)
		window[windows++] = (struct why_window){
			answer->usual.begin_ns, answer->usual.begin_ns + answer->usual.total_ns };
	if (pass(answer, chains, window, windows, err) || take_instances(answer, err))
		return -1;
	if (cpu_pass(answer, window, windows, err))
		return -1;
	for (i = 0; i < answer->instances; i++)
		failed |= why_cut(&answer->parts[i], &answer->because[i], &answer->instance[i],
				  answer->others, answer->cpu);
	if (!failed && answer->usual.total_ns >= 0)
		failed = cut_usual(answer);
	return failed ? err_no_memory(err) : 0;
}

static int only_target(struct why_answer *answer, struct chains_options *chains,
		       struct kymo_err *err)
{
	uint32_t bits = chains_path_count(answer->chains), index = answer->target.index;
	uint8_t *collect = calloc(bits / 8 + 1, 1);
	int status;

	if (!collect)
		return err_no_memory(err);
	if (answer->target.is_chain) {
		/* And the steps before, for what got lost on the way. */
		for (const struct chains_path *path = chains_path(answer->chains, index); path;
		     path = path->parent)
			collect[path->index / 8] |= (uint8_t)(1u << path->index % 8);
		chains->near_ns = answer->target.usual_ns;
	}
	chains->collect = collect;
	chains->collect_bits = bits;
	chains->worst = answer->options->worst;
	chains->hops = true;
	status = take_apart(answer, chains, err);
	free(collect);
	return status;
}

/* ---- all of it ---- */

static bool is_whole(const struct why_options *options)
{
	return options->begin_ns == INT64_MIN && options->end_ns == INT64_MAX;
}

static struct chains_options chains_of(const struct why_answer *answer)
{
	const struct why_options *o = answer->options;
	struct chains_options chains = {
		.pattern = o->pattern,
		.all_topics = o->all_topics || o->message,
		.latest = o->latest,
		.begin_ns = o->begin_ns,
		.end_ns = o->end_ns,
		.worst = 1,
		.steady_first = true,
		.named_id = o->message,
		.at_ns = o->at_ns,
		.follow_ns = INT64_MIN,
	};

	for (unsigned i = 0; i < kymo_ctf_class_count(answer->reader); i++)
		chains.calls |= strcmp(kymo_ctf_class(answer->reader, i)->name,
				       "ros2:rmw_take_response") == 0;
	return chains;
}

static int choose_of(struct why_answer *answer, const struct why_options *options,
		     struct chains_options *chains, struct kymo_err *err)
{
	answer->options = options;
	*chains = chains_of(answer);
	if ((!answer->is_summarys || chains->pattern) && pass(answer, chains, NULL, 0, err))
		return -1;
	why_choose(answer);
	why_alike_find(answer);
	return answer->alike.failed ? err_no_memory(err) : 0;
}

/*
 * A trigger about a chain of topics fires when the callback that receives the last message ends,
 * but the chain itself ends where that message is published. Of the chain and the chain with that
 * callback, explain the one that took as long as the trigger measured.
 */
static int choose_fired(struct why_answer *answer, struct chains_options *chains,
			struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	const int64_t from = why_from_fired(answer);
	const size_t size = sizeof(answer->ask);

	if (!from || !o->pattern ||
	    (size_t)snprintf(answer->ask, size, "%s -> *", o->pattern) >= size)
		return 0;
	answer->chosen = *o;
	answer->chosen.pattern = answer->ask;
	if (choose_of(answer, &answer->chosen, chains, err))
		return -1;
	return why_from_fired(answer) < from ? 0 : choose_of(answer, o, chains, err);
}

/* The passes: which instances are the worst, and what they are made of. */
static int find(struct why_answer *answer, struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	struct chains_options chains;

	if (why_choose_finding(answer, err))
		return -1;
	if (choose_of(answer, answer->options, &chains, err))
		return -1;
	if (!answer->target.is_found && !answer->is_of_programs && !answer->is_of_goals &&
	    (answer->options != o || *answer->name)) {
		/* What the finding names cannot be taken apart: the worst of all, then. */
		*answer->name = *answer->ways = '\0';
		answer->tells_finding = *answer->finding;
		if (choose_of(answer, o, &chains, err))
			return -1;
	}
	if (choose_fired(answer, &chains, err))
		return -1;
	if (answer->target.is_found && only_target(answer, &chains, err))
		return -1;
	if (is_whole(o) && o->told_lost > answer->lost_events) {
		answer->lost_events = o->told_lost;
		answer->lost_here = true;
	}
	return 0;
}

static int print_answer(struct why_answer *answer)
{
	char text[2560], whole[4096];

	if (answer->instances) {
		why_print(answer);
		return KYMO_EXIT_OK;
	}
	if (fates_at(answer->fates, 0)) {
		why_print_fate(answer);
		return KYMO_EXIT_OK;
	}
	table_value_text(answer->table, "trace", "Trace", answer->path);
	table_value_text(answer->table, "why_empty", "Nothing to show",
			 text_hints(whole, sizeof(whole), why_empty(answer, text, sizeof(text)),
				      answer->options->operand));
	return KYMO_EXIT_EMPTY;
}

static struct why_answer *answer_new(struct kymo_ctf_reader *reader,
				     const struct why_options *options, struct kymo_err *err)
{
	struct why_answer *answer = calloc(1, sizeof(*answer));

	if (!answer) {
		(void)err_no_memory(err);
		return NULL;
	}
	answer->options = options;
	answer->reader = reader;
	answer->usual.total_ns = -1;
	why_ways_asked(answer);
	return answer;
}

static void answer_free(struct why_answer *answer)
{
	drop_instances(answer);
	passes_free(&answer->cpu_passes);
	passes_free(&answer->passes);
	why_alike_clear(&answer->alike);
	free(answer->ids);
	free(answer);
}

/* What is no callback: a goal, a loop, a span. Return: as why_spans_answer(). */
static int answer_others(struct why_answer *answer, struct why_said *said, struct kymo_err *err)
{
	const int status = why_goals_answer(answer, said, err);

	return status ? status : why_spans_answer(answer, said, err);
}

int why_run(struct kymo_ctf_reader *reader, const char *path, const struct why_options *options,
	    struct table *table, bool *lost, struct kymo_err *err)
{
	struct why_answer *answer = answer_new(reader, options, err);
	int status = -1;

	if (!answer)
		return -1;
	answer->path = path;
	answer->table = table;
	if (!find(answer, err)) {
		*lost = answer->lost_events || answer->lost_packets;
		status = answer->instances ? 0 : answer_others(answer, NULL, err);
		if (status >= 0)
			status = status ? KYMO_EXIT_OK : print_answer(answer);
	}
	answer_free(answer);
	return status;
}

static void say_instance(const struct why_answer *answer, struct why_said *said)
{
	const struct why_instance *instance = &answer->instance[0];

	said->begin_ns = instance->begin_ns;
	said->total_ns = instance->total_ns;
	for (unsigned i = 0; answer->target.is_chain && i < instance->hops; i++)
		if (instance->hop[i].publisher)
			said->message = instance->hop[i].at.id;
}

int why_say(struct kymo_ctf_reader *reader, const struct why_options *options,
	    struct why_said *said, struct kymo_err *err)
{
	struct why_answer *answer = answer_new(reader, options, err);
	int status;

	*said = (struct why_said){ 0 };
	if (!answer)
		return -1;
	status = find(answer, err);
	if (!status && answer->instances) {
		why_target_label(answer, said->worst, sizeof(said->worst));
		why_sentence(answer, 0, said->why, sizeof(said->why));
		say_instance(answer, said);
	} else if (!status && answer_others(answer, said, err) < 0) {
		status = -1;
	}
	answer_free(answer);
	return status;
}
