/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the behaviours of a file were; see behaviour.h.
 *
 * Each condition of the file is one bit. What can fulfil conditions (a publisher, a callback, a
 * name of a span, a class of events) is compared with all of them once, when it is first seen; from
 * then on its bits say which conditions it fulfils. So an event that nothing waits for costs one
 * look into an array. An event that ends something and begins it again does so in that order.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/behaviour/behaviour_internal.h"
#include "analysis/model/model_events.h"
#include "base/array.h"
#include "base/map.h"

/* Where something happened. */
struct behaviour_place {
	int64_t ns;
	const struct model_thread *thread;
	const struct model_node *node;
};

/* ---- intervals ---- */

static void add_sum(struct behaviour *b, const struct behaviour_interval *interval)
{
	struct behaviour_sums *sums = &b->sums[interval->what->index];
	const int64_t ns = interval->end_ns - interval->begin_ns;

	if (!interval->end_ns) {
		sums->unfinished++;
		return;
	}
	if (interval->has_loss) {
		sums->with_loss++;
		return;
	}
	if (!sums->duration.count || ns > (int64_t)sums->duration.max)
		sums->worst_begin_ns = interval->begin_ns;
	b->failed |= histogram_add(&sums->duration, ns > 0 ? (uint64_t)ns : 0) != 0;
	sums->over += interval->what->budget_ns && ns > interval->what->budget_ns;
}

static void close_open(struct behaviour *b, const struct behaviour_rule *rule,
		       struct behaviour_open *open, int64_t end_ns)
{
	const struct behaviour_interval interval = {
		.what = &b->file->what[rule->first + open->state],
		.begin_ns = open->begin_ns,
		.end_ns = end_ns,
		.has_loss = open->has_loss,
		.thread = open->thread,
		.node = open->node,
	};

	open->is = false;
	if (interval.begin_ns < b->begin_ns || interval.begin_ns > b->end_ns)
		return;
	add_sum(b, &interval);
	if (b->report)
		b->report(b->context, &interval);
}

static uint64_t key_of(const struct behaviour_rule *rule, const struct behaviour_place *place)
{
	switch (rule->each) {
	case EACH_THREAD:
		return place->thread ? place->thread->index + 1u : 0;
	case EACH_NODE:
		return place->node ? place->node->index + 1u : 0;
	case EACH_PROCESS:
		return place->thread ? place->thread->process->index + 1u : 0;
	default:
		return 0;
	}
}

static void begin(struct behaviour_open *open, unsigned state, const struct behaviour_place *place)
{
	*open = (struct behaviour_open){ .is = true,
			       .state = state,
			       .begin_ns = place->ns,
			       .thread = place->thread,
			       .node = place->node };
}

static void happen(struct behaviour *b, const struct condition *condition,
		   const struct behaviour_place *place)
{
	const struct behaviour_rule *rule = &b->file->rule[condition->rule];
	struct behaviour_open *open =
		map_at(&b->open[condition->rule], key_of(rule, place), 0, sizeof(*open));

	if (!open) {
		b->failed = true;
		return;
	}
	if (rule->kind == BEHAVIOUR_STATE) {
		if (open->is && open->state == condition->role)
			return;
		if (open->is)
			close_open(b, rule, open, place->ns);
		begin(open, condition->role, place);
	} else if (condition->role == ROLE_END) {
		if (open->is)
			close_open(b, rule, open, place->ns);
	} else if (!open->is) {
		begin(open, 0, place);
	}
}

static bool is_end(const struct behaviour *b, const struct condition *condition)
{
	return b->file->rule[condition->rule].kind != BEHAVIOUR_STATE &&
	       condition->role == ROLE_END;
}

/* Conditions @set are fulfilled at @place, if its process fits. */
static void fulfil(struct behaviour *b, uint64_t set, const struct behaviour_place *place)
{
	for (unsigned ends = 2; ends--;) {
		for (uint64_t left = set; left; left &= left - 1) {
			const struct condition *c = &b->file->condition[__builtin_ctzll(left)];

			if (is_end(b, c) != (ends == 1))
				continue;
			if (c->process && (!place->thread ||
					   fnmatch(c->process, place->thread->process->name, 0)))
				continue;
			happen(b, c, place);
		}
	}
}

/* ---- what happens ---- */

static void on_published(void *context, const struct model_message *message)
{
	struct behaviour *b = context;
	uint64_t *last_id, set;

	if (!message->publisher)
		return;
	last_id = array_at(&b->last_ids, message->publisher->index, sizeof(*last_id));
	set = behaviour_of_publisher(b, message->publisher);
	/* A publish call that uses both paths is reported twice with the same id. */
	if (!set || !last_id || *last_id == message->id)
		return;
	*last_id = message->id;
	fulfil(b, set,
	       &(struct behaviour_place){ message->publish_ns, message->publish_thread,
				message->publisher->node });
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct behaviour *b = context;
	const uint64_t set = behaviour_of_callback(b, instance->callback) &
			     (b->kind[ON_START] | b->kind[ON_RECEIVE]);

	if (set)
		fulfil(b, set,
		       &(struct behaviour_place){ instance->start_ns, instance->thread,
					model_callback_node(instance->callback) });
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct behaviour *b = context;
	const uint64_t set = behaviour_of_callback(b, instance->callback) & b->kind[ON_END];

	if (set)
		fulfil(b, set,
		       &(struct behaviour_place){ instance->start_ns + instance->duration_ns,
					instance->thread,
					model_callback_node(instance->callback) });
}

static void on_transition(void *context, const struct model_transition *transition)
{
	struct behaviour *b = context;
	const uint64_t set =
		behaviour_find(b, b->kind[ON_LIFECYCLE], transition->goal, transition->node);

	if (set)
		fulfil(b, set,
		       &(struct behaviour_place){ transition->ns, transition->thread,
						  transition->node });
}

static void on_loss(void *context, const struct model_loss *loss)
{
	struct behaviour *b = context;
	const struct map_slot *slot;

	for (unsigned r = 0; r < b->file->rules; r++)
		for (size_t at = 0; (slot = map_next(&b->open[r], &at));) {
			struct behaviour_open *open = slot->value;

			open->has_loss |= open->is && loss->end_ns >= open->begin_ns;
		}
}

static void on_span(struct behaviour *b, const struct spans_event *event, enum condition_kind kind)
{
	const uint64_t set = behaviour_of_name(b, event->name) & b->kind[kind];

	if (set)
		fulfil(b, set,
		       &(struct behaviour_place){ .ns = event->ns, .thread = event->thread });
}

static void on_begin(void *context, const struct spans_event *event)
{
	on_span(context, event, ON_SPAN_BEGIN);
}

static void on_end(void *context, const struct spans_event *event)
{
	if (!event->unfinished)
		on_span(context, event, ON_SPAN_END);
}

static void on_instant(void *context, const struct spans_event *event)
{
	on_span(context, event, ON_INSTANT);
}

int behaviour_event(struct behaviour *b, const struct kymo_ctf_event *event)
{
	uint64_t set;

	if (!b->kind[ON_EVENT] || !event->class)
		return 0;
	set = behaviour_of_class(b, event->class);
	if (set)
		fulfil(b, set,
		       &(struct behaviour_place){ .ns = event->ns,
					.thread = model_event_thread_known(b->model, event) });
	return 0;
}

/* ---- life cycle and results ---- */

static const struct model_listener listener = {
	.instance = on_instance,
	.published = on_published,
	.started = on_started,
	.transition = on_transition,
	.loss = on_loss,
};

static const struct spans_listener spans_listener = {
	.begin = on_begin,
	.end = on_end,
	.instant = on_instant,
};

int behaviour_create(struct behaviour **result, const struct behaviours *file, struct model *model,
		     struct spans *spans, behaviour_report *report, void *context,
		     struct kymo_err *err)
{
	struct behaviour *b = calloc(1, sizeof(*b));

	if (!b)
		return err_no_memory(err);
	b->file = file;
	b->model = model;
	b->report = report;
	b->context = context;
	behaviour_window(b, INT64_MIN, INT64_MAX);
	for (unsigned i = 0; i < file->conditions; i++)
		b->kind[file->condition[i].kind] |= UINT64_C(1) << i;
	b->open = calloc(file->rules + 1, sizeof(*b->open));
	b->sums = calloc(file->whats + 1, sizeof(*b->sums));
	if (!b->open || !b->sums)
		(void)err_no_memory(err);
	else if (!model_listen(model, &listener, b, err) &&
		 !spans_listen(spans, &spans_listener, b, err)) {
		*result = b;
		return 0;
	}
	behaviour_destroy(b);
	return -1;
}

void behaviour_destroy(struct behaviour *b)
{
	if (!b)
		return;
	for (unsigned r = 0; b->open && r < b->file->rules; r++)
		map_free_all(&b->open[r]);
	for (unsigned i = 0; b->sums && i < b->file->whats; i++)
		histogram_free(&b->sums[i].duration);
	free(b->open);
	free(b->sums);
	free(b->publishers.item);
	free(b->callbacks.item);
	free(b->names.item);
	free(b->classes.item);
	free(b->last_ids.item);
	free(b);
}

void behaviour_window(struct behaviour *b, int64_t begin_ns, int64_t end_ns)
{
	b->begin_ns = begin_ns;
	b->end_ns = end_ns;
}

void behaviour_finish(struct behaviour *b)
{
	const struct map_slot *slot;

	for (unsigned r = 0; r < b->file->rules; r++)
		for (size_t at = 0; (slot = map_next(&b->open[r], &at));) {
			struct behaviour_open *open = slot->value;

			if (open->is)
				close_open(b, &b->file->rule[r], open, 0);
		}
}

const struct behaviour_sums *behaviour_sums(const struct behaviour *b, unsigned index)
{
	return &b->sums[index];
}

bool behaviour_failed(const struct behaviour *b)
{
	return b->failed;
}

PASS_EVENT(behaviour)
PASS_FINISH(behaviour)
PASS_FAILED(behaviour)
PASS_DESTROY(behaviour)
PASS_WINDOW(behaviour)

const struct pass_ops behaviour_pass = {
	.turn = PASS_AFTER_MODEL,
	.window = behaviour_pass_window,
	.event = behaviour_pass_event,
	.finish = behaviour_pass_finish,
	.failed = behaviour_pass_failed,
	.destroy = behaviour_pass_destroy,
};
