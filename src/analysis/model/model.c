/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life cycle of the model, and the dispatch of an event to its handler; the storage is in
 * model_store.c.
 */
#include "analysis/model/model_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- loss ---- */

/* Events of the thread's stream were lost: discard everything that is open on the thread. */
static void doubt(struct model *model, struct thread *thread)
{
	for (size_t i = 0; i < MODEL_PARTS; i++)
		if (model_parts[i]->doubt)
			model_parts[i]->doubt(model, thread);
}

/* ---- one event ---- */

static int on_loss(struct model *model, const struct kymo_ctf_event *event)
{
	struct stream *stream = model_stream_at(model, event->stream);
	const struct list *threads = &model->list[MODEL_THREAD];
	uint32_t host;
	struct model_loss loss = {
		.trace = event->trace,
		.stream = event->stream,
		.events = event->lost,
		.packets = event->lost_packets,
		.end_ns = event->ns,
		.is_elsewhere = !model->reader || strcmp(kymo_ctf_trace(model->reader, event->trace)->domain, "ust") != 0,
	};
	unsigned i;

	if ((event->trace >= model->trace_count || !model->trace[event->trace].known) &&
	    model_learn_trace(model, event->trace))
		return -ENOMEM;
	host = model->trace[event->trace].host;
	if (event->loss_end_ns)
		loss.end_ns = model_epoch(model, event->trace, event->loss_end_ns, event->ns);
	loss.begin_ns = model_epoch(model, event->trace, event->loss_begin_ns, loss.end_ns);
	if (loss.begin_ns > loss.end_ns)
		loss.begin_ns = loss.end_ns;
	if (event->vtid) {
		struct thread *thread = model_thread_of(model, event);

		loss.thread = thread ? &thread->pub : NULL;
	} else if (stream && stream->last && !stream->many_threads) {
		loss.thread = &stream->last->pub;
	}
	/* A loss in the kernel's trace contains no events of programs. */
	for (i = 0; i < threads->count; i++) {
		struct thread *thread = threads->item[i];

		loss.is_elsewhere &= thread->trace != event->trace;
		if (thread->stream == event->stream ||
		    (thread->many_streams && thread->trace == event->trace &&
		     thread->process->pub.host == host))
			doubt(model, thread);
	}
	if (!loss.is_elsewhere && loss.end_ns > model->lost_end_ns)
		model->lost_end_ns = loss.end_ns;
	EMIT(model, loss, &loss);
	return model->out_of_memory ? -ENOMEM : 0;
}

/* A loss, or an event that the model did not bind. Out of line: model_event() would save the
 * registers that it needs. */
static __attribute__((noinline)) int on_other(struct model *model,
					      const struct kymo_ctf_event *event)
{
	if (event->bound == KYMO_CTF_LOSS)
		return on_loss(model, event);
	if (event->ns < 0 || event->ns > TIME_MAX)
		return 0;
	if (!model->facts.events++)
		model->facts.first_ns = event->ns;
	model->facts.last_ns = event->ns;
	return 0;
}

/* A thread without room, or no memory. */
static __attribute__((noinline)) int without_thread(struct model *model, unsigned point)
{
	if (!model_event_is_left(model))
		return -ENOMEM;
	model->facts.left.events++;
	model->facts.left.runs += point == KYMO_POINT_callback_start;
	model->facts.left.published += point == KYMO_POINT_rcl_publish;
	return 0;
}

int model_event(struct model *model, const struct kymo_ctf_event *event)
{
	const struct bound_row *bound;
	struct now now;

	if (__builtin_expect((unsigned)event->bound >= model->bind_count, 0))
		return on_other(model, event);
	if (__builtin_expect((uint64_t)event->ns > TIME_MAX, 0))
		return 0;
	if (__builtin_expect(!model->facts.events++, 0))
		model->facts.first_ns = event->ns;
	model->facts.last_ns = event->ns;
	bound = &model->bound[event->bound];
	now.event = event;
	now.ns = event->ns;
	now.true_ns = 0;
	now.thread = model_thread_of(model, event);
	if (__builtin_expect(!now.thread, 0))
		return without_thread(model, bound->point);
	now.process = now.thread->process;
	now.process->last_ns = event->ns;
	/* Do not count the events of a process that only recorded a simulation's clock. */
	now.process->pub.events += bound->counts;
	model->facts.ros_events += bound->counts;
	if (__builtin_expect(bound->is_init, 0)) {
		model_settle(model);
		model->facts.init_events++;
		now.process->pub.init_events++;
		now.true_ns = model_true_time(model, event);
	}
	if (bound->handle)
		bound->handle(model, &now);
	return model->out_of_memory ? -ENOMEM : 0;
}

void model_finish(struct model *model)
{
	const struct list *threads = &model->list[MODEL_THREAD];

	for (unsigned i = 0; i < threads->count; i++)
		for (size_t k = 0; k < MODEL_PARTS; k++)
			if (model_parts[k]->thread_end)
				model_parts[k]->thread_end(model, threads->item[i]);
	for (size_t k = 0; k < MODEL_PARTS; k++)
		if (model_parts[k]->finish)
			model_parts[k]->finish(model);
}

void model_want_all(struct model *model)
{
	model->bind_all = true;
	model_bind_update(model);
}

void model_only_runs(struct model *model)
{
	model->only_runs = true;
	model_bind_update(model);
}

void model_only_objects(struct model *model, bool inits)
{
	model->without_messages = true;
	model->only_inits = inits;
	model_bind_update(model);
}

void model_limit(struct model *model, unsigned most)
{
	model->most = most;
}

/* ---- life cycle ---- */

int model_create(struct model **result, struct kymo_err *err)
{
	struct model *model = calloc(1, sizeof(*model));

	if (!model || model_bind_build(model)) {
		model_destroy(model);
		return err_no_memory(err);
	}
	memset(model->latest.whose, -1, sizeof(model->latest.whose));
	*result = model;
	return 0;
}

void model_destroy(struct model *model)
{
	unsigned i;

	if (!model)
		return;
	for (i = 0; i < model->list[MODEL_THREAD].count; i++)
		free(((struct thread *)model->list[MODEL_THREAD].item[i])->frame);
	for (i = 0; i < MODEL_KINDS; i++)
		free(model->list[i].item);
	map_free(&model->handles);
	map_free(&model->processes);
	map_free(&model->threads);
	map_free(&model->topics);
	map_free(&model->words);
	map_free(&model->callers);
	map_free(&model->calls);
	map_free(&model->goals);
	map_free(&model->goal_calls);
	map_free(&model->sent);
	map_free(&model->ways);
	map_free(&model->places);
	model_coroutines_free(model);
	for (i = 0; i < model->trace_count; i++)
		free(model->trace[i].pause);
	free(model->trace);
	free(model->stream);
	free(model->bind);
	free(model->bound);
	model_code_free(model);
	pool_free(&model->pool);
	free(model);
}

static unsigned wants_of(const struct model_listener *listener)
{
	return (listener->started ? WANT_STARTED : 0) |
	       (listener->publish_step ? WANT_PUBLISH_STEPS : 0) |
	       (listener->take_step ? WANT_TAKE_STEPS : 0) |
	       (listener->call || listener->call_step ? WANT_CALLS : 0) |
	       (listener->state ? WANT_STATES : 0) | (listener->executor ? WANT_EXECUTORS : 0) |
	       (listener->cause ? WANT_CAUSES : 0) | (listener->sim_time ? WANT_SIM_TIME : 0) |
	       (listener->goal || listener->goal_step ? WANT_GOALS : 0) |
	       (listener->gil_wait ? WANT_GIL : 0);
}

static void find_hearers(struct model *model)
{
	memset(model->hearers, 0, sizeof(model->hearers));
	for (unsigned i = 0; i < model->listeners; i++)
		for (size_t k = 0; k < MODEL_HEARS; k++) {
			static void (*const none)(void);
			struct hearers *hearers = &model->hearers[k];

			if (memcmp((const char *)model->listener[i] + k * sizeof(none), &none,
				   sizeof(none)) == 0)
				continue;
			hearers->of[hearers->count].listener = model->listener[i];
			hearers->of[hearers->count++].context = model->listener_context[i];
		}
}

int model_listen(struct model *model, const struct model_listener *listener, void *context,
		 struct kymo_err *err)
{
	const unsigned wants = wants_of(listener);

	if (model->listeners == MODEL_LISTENERS_MAX)
		return err_set(err, KYMO_EXIT_FAILED, "too many analyses listen to the model");
	if (model_bind_is_late(model, wants))
		return err_set(err, KYMO_EXIT_FAILED,
			       "an analysis listens to the model too late: the trace was opened "
			       "without the events that it needs");
	model->listener[model->listeners] = listener;
	model->listener_context[model->listeners++] = context;
	find_hearers(model);
	model->wants |= wants;
	model_bind_update(model);
	return 0;
}

unsigned model_listeners(const struct model *model)
{
	return model->listeners;
}

void model_unlisten(struct model *model, unsigned first, unsigned count)
{
	model->listeners -= count;
	for (unsigned i = first; i < model->listeners; i++) {
		model->listener[i] = model->listener[i + count];
		model->listener_context[i] = model->listener_context[i + count];
	}
	find_hearers(model);
}

/* ---- in a pass ---- */

static int model_pass_bind(void *analysis, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	return model_attach(analysis, reader, err);
}

PASS_EVENT(model)
PASS_FINISH(model)
PASS_DESTROY(model)
const struct pass_ops model_pass = {
	.turn = PASS_MODEL,
	.bind = model_pass_bind,
	.event = model_pass_event,
	.finish = model_pass_finish,
	.destroy = model_pass_destroy,
};
