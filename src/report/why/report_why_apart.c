/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: the passes that take the target's worst instances and a usual one apart. */
#include <stdlib.h>

#include "report/why/report_why_internal.h"

void why_drop_instances(struct why_answer *answer)
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
	why_drop_instances(answer);
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

	if (why_pass(answer, chains, NULL, 0, err) || take_instances(answer, err))
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
	if (why_pass(answer, chains, window, windows, err) || take_instances(answer, err))
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

int why_take_apart(struct why_answer *answer, struct chains_options *chains,
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
