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

/* ---- which stretches of time ---- */

static unsigned add_window(struct why_window *window, unsigned windows, int64_t begin_ns,
			   int64_t total_ns)
{
	window[windows] = (struct why_window){ begin_ns, begin_ns + total_ns };
	return windows + 1;
}

/* Those of the instances that take_arrivals() will keep. */
static unsigned early_arrivals(const struct why_answer *answer, struct why_window *window)
{
	const struct chains_stats *stats = chains_path(answer->chains, answer->target.index)->stats;
	const struct chains_arrival *one = answer->options->message ? &stats->named : &stats->at;
	unsigned windows = 0;

	if (answer->options->message || answer->options->at_ns)
		return one->part_ns ? add_window(window, 0, one->begin_ns, one->total_ns) : 0;
	for (unsigned i = 0; i < stats->worst_count && i < answer->options->worst; i++)
		if (!stats->worst[i].is_startup || stats->worst->is_startup)
			windows = add_window(window, windows, stats->worst[i].begin_ns,
					     stats->worst[i].total_ns);
	return windows;
}

static unsigned early_runs(const struct why_answer *answer, struct why_window *window)
{
	const struct why_callback *of = why_callback(answer->callbacks, answer->target.index);
	const struct why_run *one = answer->options->message ? &of->named : &of->at;
	unsigned windows = 0;

	if (answer->options->message || answer->options->at_ns)
		return one->hops ? add_window(window, 0, why_run_begin(one), one->total_ns) : 0;
	for (unsigned i = 0; i < of->worst_count && i < answer->options->worst; i++)
		if (!of->worst[i].is_startup || of->worst->is_startup)
			windows = add_window(window, windows, why_run_begin(&of->worst[i]),
					     of->worst[i].total_ns);
	return windows;
}

/*
 * The windows of the instances, by the pass that has chosen the target. Return: their number; 0: it
 * has kept too few.
 */
static unsigned early_windows(const struct why_answer *answer, struct why_window *window)
{
	if (answer->kept < answer->options->worst && !answer->options->message &&
	    !answer->options->at_ns)
		return 0;
	return answer->target.is_chain ? early_arrivals(answer, window)
				       : early_runs(answer, window);
}

static unsigned windows_of(const struct why_answer *answer, struct why_window *window)
{
	unsigned windows = 0;

	for (unsigned i = 0; i < answer->instances; i++)
		windows = add_window(window, windows, answer->instance[i].begin_ns,
				     answer->instance[i].total_ns);
	if (answer->usual.total_ns >= 0)
		windows =
			add_window(window, windows, answer->usual.begin_ns, answer->usual.total_ns);
	return windows;
}

/* The usual instance, as far as the trace has been read. */
static bool usual_window(void *context, struct why_window *window)
{
	const struct why_answer *answer = context;
	const struct chains_path *path;
	const struct why_callback *of;

	if (answer->target.is_chain) {
		path = chains_path(answer->chains, answer->target.index);
		return path && path->stats && path->stats->near.hop &&
		       add_window(window, 0, path->stats->near.begin_ns,
				  path->stats->near.total_ns);
	}
	of = why_callback(answer->callbacks, answer->target.index);
	return of && of->near.total_ns >= 0 &&
	       add_window(window, 0, why_run_begin(&of->near), of->near.total_ns);
}

/* ---- the passes ---- */

/*
 * The windows @early are those of the instances, the usual one's was followed, and no message is
 * lost whose fate must be found.
 */
static bool is_whole(const struct why_answer *answer, const struct why_window *early,
		     unsigned windows)
{
	if (!windows || windows != answer->instances ||
	    answer->id_count > (answer->options->message != 0))
		return false;
	for (unsigned i = 0; i < windows; i++)
		if (early[i].begin_ns != answer->instance[i].begin_ns ||
		    early[i].end_ns != early[i].begin_ns + answer->instance[i].total_ns)
			return false;
	return why_others_are_whole(answer->others);
}

/* The second pass, and a third one if need be. @window: WHY_WORST_MAX + 1. */
static int take(struct why_answer *answer, struct chains_options *chains, struct why_window *window,
		unsigned *windows, struct kymo_err *err)
{
	const unsigned early = early_windows(answer, window);
	bool is_done;

	if (why_pass(answer, chains, window, early,
		     early && answer->target.usual_ns ? usual_window : NULL, err) ||
	    take_instances(answer, err))
		return -1;
	if (why_lost_ids(answer))
		return err_no_memory(err);
	is_done = is_whole(answer, window, early);
	*windows = windows_of(answer, window);
	if (is_done)
		return 0;
	return why_pass(answer, chains, window, *windows, NULL, err) || take_instances(answer, err)
		       ? -1
		       : 0;
}

/* And who had the CPUs. */
static int take_all(struct why_answer *answer, struct chains_options *chains, struct kymo_err *err)
{
	struct why_window window[WHY_WORST_MAX + 1];
	unsigned windows = 0;
	int failed = 0;

	if (take(answer, chains, window, &windows, err) || cpu_pass(answer, window, windows, err))
		return -1;
	for (unsigned i = 0; i < answer->instances; i++)
		failed |= why_cut(&answer->parts[i], &answer->because[i], &answer->instance[i],
				  answer->others, answer->cpu);
	if (!failed && answer->usual.total_ns >= 0)
		failed = cut_usual(answer);
	return failed ? err_no_memory(err) : 0;
}

int why_take_apart(struct why_answer *answer, struct chains_options *chains, struct kymo_err *err)
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
	status = take_all(answer, chains, err);
	free(collect);
	return status;
}
