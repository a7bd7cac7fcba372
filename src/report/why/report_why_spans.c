/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo why` for loops and spans: the passes. The first one chooses the loop or span and learns
 * what is usual for it, the second keeps the worst instances and a usual one, the third what ran
 * inside them, the fourth who had the CPU meanwhile. Names, threads and tracks have the same
 * numbers in each.
 */
#include "report/why/report_why_spans.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "analysis/pass/under_way.h"

#define NO_TRACK UINT32_MAX

/* ---- a pass ---- */

static int pass(struct span_answer *answer, const struct spans_listener *listener,
		loops_on_cycle on_cycle, struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	const struct pass_options progress = { .progress = o->progress, .context = o->context };

	passes_free(&answer->passes);
	if (model_create(&answer->model, err))
		return -1;
	pass_add(&answer->passes, &model_pass, answer->model);
	if (spans_create(&answer->spans, answer->model, err))
		return -1;
	pass_add(&answer->passes, &spans_pass, answer->spans);
	if (spans_stats_create(&answer->stats, answer->spans, o->begin_ns, o->end_ns, err))
		return -1;
	pass_add(&answer->passes, &spans_stats_pass, answer->stats);
	if (loops_create(&answer->loops, answer->spans, o->begin_ns, o->end_ns, err))
		return -1;
	pass_add(&answer->passes, &loops_pass, answer->loops);
	if (on_cycle)
		loops_listen(answer->loops, on_cycle, answer);
	if (listener && spans_listen(answer->spans, listener, answer, err))
		return -1;
	if (pass_run(&answer->passes, answer->reader, &progress, err))
		return -1;
	return answer->failed ? err_no_memory(err) : 0;
}

/* ---- which one ---- */

bool why_spans_is_asked(const struct span_answer *answer, const struct spans_name *name)
{
	const char *glob = answer->options->callback;
	char text[1024];

	if (!glob)
		return true;
	snprintf(text, sizeof(text), "%s:%s", name->category, name->name);
	return fnmatch(glob, name->name, 0) == 0 || fnmatch(glob, text, 0) == 0;
}

static bool is_asked(const struct span_answer *answer, const struct spans_name *name,
		     const struct model_process *process)
{
	return report_ways_is(answer->ways, process) && why_spans_is_asked(answer, name);
}

/* How far the worst is above the usual one. */
static int64_t excess(const struct histogram *total)
{
	return total->count ? (int64_t)(total->max - histogram_quantile(total, 0.5)) : -1;
}

static void set(struct span_answer *answer, bool is_loop, uint32_t index,
		const struct spans_name *name, const struct histogram *total)
{
	answer->is_found = true;
	answer->is_loop = is_loop;
	answer->index = index;
	answer->name_index = name->index;
	answer->count = total->count;
	answer->usual_ns = total->count > 1 ? (int64_t)histogram_quantile(total, 0.5) : 0;
}

/* A loop rather than a span: a cycle that took long is why it missed its deadline. */
static void choose(struct span_answer *answer)
{
	int64_t most = -1;

	for (unsigned i = 0; i < loops_count(answer->loops); i++) {
		const struct loop *loop = loops_at(answer->loops, i);

		if (is_asked(answer, loop->name, loop->thread->process) &&
		    excess(&loop->response) > most) {
			most = excess(&loop->response);
			set(answer, true, i, loop->name, &loop->response);
		}
	}
	if (answer->is_found)
		return;
	for (unsigned i = 0; i < spans_stats_count(answer->stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(answer->stats, SPANS_OF_SPANS, i);

		if (is_asked(answer, row->name, row->process) && excess(&row->duration) > most) {
			most = excess(&row->duration);
			set(answer, false, i, row->name, &row->duration);
			answer->process = row->process->index;
		}
	}
}

/* ---- the worst of it ---- */

static int64_t total(const struct span_instance *instance)
{
	return instance->end_ns - instance->begin_ns;
}

static int64_t apart(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/* How well it fits to the moment that was asked for; without one, how long it is. */
static int64_t value(const struct span_answer *answer, const struct span_instance *found)
{
	const int64_t at_ns = answer->options->at_ns;

	return at_ns ? under_way(found->begin_ns, found->end_ns, at_ns) : total(found);
}

/* Keep @found if it is among the longest; the longest comes first. */
static void take(struct span_answer *answer, const struct span_instance *found)
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

static void on_cycle(void *context, const struct loop_cycle *cycle)
{
	struct span_answer *answer = context;

	if (cycle->loop->index == answer->index && !cycle->unfinished)
		take(answer, &(struct span_instance){ .begin_ns = cycle->due_ns,
						      .woke_ns = cycle->begin_ns,
						      .end_ns = cycle->end_ns,
						      .cycle = cycle->number,
						      .missed_ns = cycle->missed_ns,
						      .thread = cycle->loop->thread->index,
						      .track = NO_TRACK });
}

static void on_span(void *context, const struct spans_event *event)
{
	struct span_answer *answer = context;
	const struct why_options *o = answer->options;

	if (event->name->index == answer->name_index && !event->unfinished &&
	    event->thread->process->index == answer->process && event->begin_ns >= o->begin_ns &&
	    event->begin_ns <= o->end_ns)
		take(answer, &(struct span_instance){ .begin_ns = event->begin_ns,
						      .woke_ns = event->begin_ns,
						      .end_ns = event->ns,
						      .thread = event->thread->index,
						      .track = event->track ? event->track->index
									    : NO_TRACK });
}

static const struct spans_listener span_listener = { .end = on_span };

/* ---- what ran inside ---- */

static void inside(struct span_answer *answer, struct span_instance *instance,
		   const struct spans_event *event)
{
	const uint32_t track = event->track ? event->track->index : NO_TRACK;

	if (event->begin_ns < instance->woke_ns || event->ns > instance->end_ns ||
	    track != instance->track ||
	    (track == NO_TRACK && event->thread->index != instance->thread))
		return;
	if (!ARRAY_ROOM(instance->inner, instance->inners, instance->inner_room)) {
		answer->failed = true;
		return;
	}
	instance->inner[instance->inners++] =
		(struct span_inner){ event->name, event->begin_ns, event->ns };
}

static void on_inner(void *context, const struct spans_event *event)
{
	struct span_answer *answer = context;

	for (unsigned i = 0; i < answer->instances; i++)
		inside(answer, &answer->worst[i], event);
	if (answer->has_usual)
		inside(answer, &answer->usual, event);
}

static const struct spans_listener inner_listener = { .end = on_inner };

/* Who had the CPUs meanwhile. A pass of its own, as these are other events than the model's. */
static int cpu_pass(struct span_answer *answer, struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	const struct pass_options progress = { .progress = o->progress, .context = o->context };
	struct why_window window[WHY_WORST_MAX + 1];
	unsigned windows = 0;

	if (!sched_is_there(answer->reader))
		return 0;
	for (unsigned i = 0; i < answer->instances; i++)
		window[windows++] =
			(struct why_window){ answer->worst[i].begin_ns, answer->worst[i].end_ns };
	if (answer->has_usual)
		window[windows++] =
			(struct why_window){ answer->usual.begin_ns, answer->usual.end_ns };
	if (why_cpu_create(&answer->cpu, answer->reader, answer->model, window, windows, err))
		return -1;
	pass_add(&answer->cpu_passes, &why_cpu_pass, answer->cpu);
	return pass_run(&answer->cpu_passes, answer->reader, &progress, err);
}

/* ---- all of it ---- */

int why_spans_find(struct span_answer *answer, struct kymo_err *err)
{
	int failed = 0;

	if (pass(answer, NULL, NULL, err))
		return -1;
	choose(answer);
	if (!answer->is_found)
		return 0;
	why_alike_find_spans(answer);
	if (answer->alike.failed)
		return err_no_memory(err);
	if (pass(answer, answer->is_loop ? NULL : &span_listener, answer->is_loop ? on_cycle : NULL,
		 err) ||
	    pass(answer, &inner_listener, NULL, err) || cpu_pass(answer, err))
		return -1;
	for (unsigned i = 0; i < answer->instances; i++)
		failed |= why_spans_cut(answer, &answer->worst[i]);
	if (answer->has_usual)
		failed |= why_spans_cut(answer, &answer->usual);
	return failed ? err_no_memory(err) : 0;
}

static void instance_free(struct span_instance *instance)
{
	free(instance->inner);
	free(instance->parts.part);
}

void why_spans_free(struct span_answer *answer)
{
	for (unsigned i = 0; i < answer->instances; i++)
		instance_free(&answer->worst[i]);
	instance_free(&answer->usual);
	why_alike_clear(&answer->alike);
	passes_free(&answer->cpu_passes);
	passes_free(&answer->passes);
}

/* For an answer that shows nothing: has a span or a loop this name, or nearly? */
static void look_for_name(struct why_answer *answer, const struct span_answer *spans)
{
	const char *typed = answer->options->callback, *colon = strrchr(typed, ':');
	struct text_nearest nearest = { 0 };

	answer->is_known |= spans->is_found;
	why_ways_list_spans(spans, &answer->typed);
	for (unsigned i = 0; i < spans_stats_count(spans->stats, SPANS_OF_SPANS); i++)
		text_nearest_try(&nearest, colon ? colon + 1 : typed,
				 spans_stats_row(spans->stats, SPANS_OF_SPANS, i)->name->name);
	for (unsigned i = 0; i < loops_count(spans->loops); i++)
		text_nearest_try(&nearest, colon ? colon + 1 : typed,
				 loops_at(spans->loops, i)->name->name);
	if (nearest.name)
		(void)snprintf(answer->near, sizeof(answer->near), "%s", nearest.name);
}

int why_spans_answer(struct why_answer *answer, struct why_said *said, struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	struct span_answer *spans;
	int status;

	if (o->pattern || o->message || (!o->callback && model_facts(answer->model)->ros_events))
		return 0;
	spans = calloc(1, sizeof(*spans));
	if (!spans)
		return err_no_memory(err);
	spans->options = o;
	spans->ways = answer->ways;
	spans->reader = answer->reader;
	spans->path = answer->path;
	status = why_spans_find(spans, err) ? -1 : spans->instances != 0;
	if (status > 0 && said) {
		why_spans_label(spans, said->worst, sizeof(said->worst));
		why_spans_sentence(spans, 0, said->why, sizeof(said->why));
	} else if (status > 0) {
		why_print_finding(answer);
		why_spans_print(spans, answer->table);
	} else if (!status && o->callback) {
		look_for_name(answer, spans);
	}
	why_spans_free(spans);
	free(spans);
	return status;
}
