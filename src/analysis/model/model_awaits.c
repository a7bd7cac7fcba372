/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coroutines of rclpy: one call of a callback that has the thread several times.
 *
 *     callback_start ... callback_await(coroutine, 1), callback_end
 *                                  awaited
 *     callback_resume(coroutine, 1), callback_start ... callback_await(coroutine, 2), callback_end
 *
 * The idea: the number of a coroutine is given once in its process, so several coroutines of one
 * callback are never mixed. Each await has a number too. A coroutine that goes on after another
 * await than its latest one in the trace had runs that are not in the trace: it is given up, since
 * nobody knows how long it waited. So is one whose events are doubtful.
 */
#include "analysis/model/model_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Coroutines that wait, of all processes; the oldest one is given up for another. */
#define WAITING_MAX 8192u
/* Awaits of one call; then it is given up: it is a loop of the program, and no call. */
#define AWAITS_MAX 256u

const char *model_awaited_text(const struct model_await *await, char *buffer, unsigned size)
{
	static const char *const texts[] = {
		[MODEL_AWAITED_FUTURE] = "a future",
		[MODEL_AWAITED_RESPONSE] = "a response",
		[MODEL_AWAITED_TASK] = "a task",
		[MODEL_AWAITED_SLEEP] = "a sleep",
		[MODEL_AWAITED_GOAL] = "the answer to a goal",
		[MODEL_AWAITED_RESULT] = "the result of a goal",
	};

	if (await->what == MODEL_AWAITED_RESPONSE && await->client && await->client->name)
		snprintf(buffer, size, "the response of %s", await->client->name);
	else if (await->what == MODEL_AWAITED_TASK && await->task && *await->task->symbol)
		snprintf(buffer, size, "the task %s", await->task->symbol);
	else
		snprintf(buffer, size, "%s", await->what ? texts[await->what] : "");
	return buffer;
}

/* ---- those that wait ---- */

static void waiting_take(struct model *model, struct coroutine *coroutine)
{
	struct coroutines *all = &model->coroutines;

	(void)map_del(&all->waiting, coroutine->number, coroutine->process);
	if (coroutine->older)
		coroutine->older->newer = coroutine->newer;
	else
		all->oldest = coroutine->newer;
	if (coroutine->newer)
		coroutine->newer->older = coroutine->older;
	else
		all->newest = coroutine->older;
	coroutine->older = coroutine->newer = NULL;
	all->count--;
}

void model_coroutine_over(struct model *model, struct coroutine *coroutine)
{
	if (!coroutine)
		return;
	coroutine->newer = model->coroutines.unused;
	model->coroutines.unused = coroutine;
}

static void waiting_put(struct model *model, struct coroutine *coroutine)
{
	struct coroutines *all = &model->coroutines;
	struct coroutine *before = map_get(&all->waiting, coroutine->number, coroutine->process);

	if (!before && all->count == WAITING_MAX)
		before = all->oldest;
	if (before) {
		waiting_take(model, before);
		model_coroutine_over(model, before);
	}
	if (map_put(&all->waiting, coroutine->number, coroutine->process, coroutine)) {
		model->out_of_memory = true;
		model_coroutine_over(model, coroutine);
		return;
	}
	coroutine->newer = NULL;
	coroutine->older = all->newest;
	*(all->newest ? &all->newest->newer : &all->oldest) = coroutine;
	all->newest = coroutine;
	all->count++;
}

static struct coroutine *coroutine_new(struct model *model)
{
	struct coroutine *coroutine = model->coroutines.unused, *all;
	struct model_await *await;
	unsigned size;

	if (coroutine) {
		model->coroutines.unused = coroutine->newer;
	} else {
		coroutine = model_alloc(model, sizeof(*coroutine));
		if (!coroutine)
			return NULL;
		coroutine->next = model->coroutines.all;
		model->coroutines.all = coroutine;
	}
	all = coroutine->next;
	await = coroutine->await;
	size = coroutine->size;
	memset(coroutine, 0, sizeof(*coroutine));
	coroutine->next = all;
	coroutine->await = await;
	coroutine->size = size;
	return coroutine;
}

void model_coroutines_free(struct model *model)
{
	for (struct coroutine *at = model->coroutines.all; at; at = at->next)
		free(at->await);
	map_free(&model->coroutines.waiting);
}

/* ---- the events ---- */

static void on_callback_await(struct model *model, const struct now *now)
{
	ARGS(callback_await, now->event);
	struct frame *frame = model_frame_of(now->thread);
	static const struct model_await none;

	(void)model;
	if (!frame || frame->callback->pub.address != args->callback.u ||
	    !args->coroutine.present || !args->coroutine.u || !args->number.present)
		return;
	frame->await = none;
	frame->coroutine_number = args->coroutine.u;
	frame->await_number = args->number.u;
	if (args->awaited.present && args->awaited.u < MODEL_AWAITED_KINDS)
		frame->await.what = (enum model_awaited)args->awaited.u;
	if (frame->await.what == MODEL_AWAITED_RESPONSE)
		frame->await.client =
			model_handle(model, now->process, HANDLE_CLIENT, args->handle.u);
	if (frame->await.what == MODEL_AWAITED_TASK)
		frame->await.task =
			model_handle(model, now->process, HANDLE_CALLBACK, args->handle.u);
}

static void on_callback_resume(struct model *model, const struct now *now)
{
	ARGS(callback_resume, now->event);
	struct thread *thread = now->thread;

	(void)model;
	thread->resumes = args->callback.u;
	thread->resumed_coroutine = args->coroutine.present ? args->coroutine.u : 0;
	thread->resumed_await = args->number.present ? args->number.u : 0;
}

/* ---- the runs ---- */

void model_coroutine_resumed(struct model *model, const struct now *now, struct frame *frame)
{
	const struct thread *thread = now->thread;
	struct coroutine *coroutine = NULL;
	struct model_await *await;

	if (thread->resumed_coroutine)
		coroutine = map_get(&model->coroutines.waiting, thread->resumed_coroutine,
				    now->process->pub.index);
	if (!coroutine)
		return;
	waiting_take(model, coroutine);
	if (coroutine->await_number != thread->resumed_await ||
	    coroutine->pub.callback != &frame->callback->pub || coroutine->ended_ns > now->ns) {
		model_coroutine_over(model, coroutine);
		return;
	}
	await = &coroutine->await[coroutine->pub.awaits++];
	*await = coroutine->waits;
	await->begin_ns = coroutine->ended_ns;
	await->end_ns = now->ns;
	await->thread = &thread->pub;
	await->instance = frame->run.id;
	coroutine->pub.await = coroutine->await;
	frame->coroutine = coroutine;
}

/* What began the coroutine, of its first run. */
static struct coroutine *coroutine_begun(struct model *model, const struct thread *thread,
					 const struct frame *frame)
{
	struct coroutine *coroutine = coroutine_new(model);

	if (!coroutine)
		return NULL;
	coroutine->number = frame->coroutine_number;
	coroutine->process = thread->process->pub.index;
	if (frame->has_message)
		coroutine->message = frame->message;
	coroutine->call = frame->call;
	coroutine->call_id = frame->call_id;
	coroutine->pub = (struct model_coroutine){
		.id = frame->run.id,
		.callback = &frame->callback->pub,
		.thread = &thread->pub,
		.start_ns = frame->run.start_ns,
		.due_ns = frame->run.due_ns,
		.is_startup = frame->run.is_startup,
		.message = frame->has_message ? &coroutine->message : NULL,
		.call = frame->call_id,
	};
	return coroutine;
}

void model_coroutine_awaits(struct model *model, const struct thread *thread, struct frame *frame)
{
	struct coroutine *coroutine = frame->coroutine;

	frame->run.awaits = frame->coroutine_number != 0;
	/* What begins with a later await is not the first run: that is not in the trace. */
	if (frame->run.awaits && !coroutine && !frame->run.is_resumed && frame->await_number == 1)
		coroutine = coroutine_begun(model, thread, frame);
	if (frame->run.awaits && coroutine &&
	    (coroutine->number != frame->coroutine_number || coroutine->pub.awaits == AWAITS_MAX)) {
		model_coroutine_over(model, coroutine);
		coroutine = NULL;
	}
	frame->coroutine = coroutine;
}

void model_coroutine_ended(struct model *model, struct frame *frame, int64_t ns)
{
	struct coroutine *coroutine = frame->coroutine;

	frame->coroutine = NULL;
	if (!coroutine || !frame->run.awaits) {
		model_coroutine_over(model, coroutine);
		return;
	}
	if (!ARRAY_ROOM(coroutine->await, coroutine->pub.awaits, coroutine->size)) {
		model->out_of_memory = true;
		model_coroutine_over(model, coroutine);
		return;
	}
	coroutine->pub.await = coroutine->await;
	coroutine->waits = frame->await;
	coroutine->await_number = frame->await_number;
	coroutine->ended_ns = ns;
	waiting_put(model, coroutine);
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(callback_await),
	ON(callback_resume),
};

const struct model_part model_awaits = { .handlers = handlers };
