/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts and ends of callbacks, and the message that each run was called with.
 * docs/answers/report.md defines which end belongs to which start.
 */
#include "analysis/model/model_internal_messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* What listeners are told of the run of a frame, as it is now. */
static struct model_instance *run_of(struct thread *thread, unsigned depth)
{
	struct frame *frame = &thread->frame[depth];
	struct model_instance *run = &frame->run;

	run->coroutine = frame->coroutine ? &frame->coroutine->pub : NULL;
	run->depth = depth;
	run->message = frame->has_message ? &frame->message : NULL;
	run->call = run->is_resumed ? 0 : frame->call_id;
	run->parent = depth ? frame[-1].run.id : 0;
	return run;
}

struct frame *model_frame_of(struct thread *thread)
{
	struct frame *frame = thread->frame_count ? &thread->frame[thread->frame_count - 1] : NULL;

	return frame && !frame->doubtful ? frame : NULL;
}

/* The end of frame @at is not in the trace: report it as unfinished. */
static void frame_abandon(struct model *model, struct thread *thread, unsigned at)
{
	const struct model_instance *run = run_of(thread, at);

	model->facts.unfinished++;
	EMIT(model, unfinished, run);
	thread->frame[at].callback->open--;
	thread->frame[at].callback->ended_ns = 0;
	model_call_ended(model, &thread->frame[at], 0);
	model_coroutine_over(model, thread->frame[at].coroutine);
	thread->frame_count--;
	memmove(&thread->frame[at], &thread->frame[at + 1],
		(thread->frame_count - at) * sizeof(*thread->frame));
}

/* Few threads have callbacks inside others, so the first allocation is for one. */
static bool frame_room(struct thread *thread)
{
	const unsigned size = thread->frame_size ? 2 * thread->frame_size : 1;
	struct frame *frame;

	if (thread->frame_count < thread->frame_size)
		return true;
	frame = reallocarray(thread->frame, size, sizeof(*frame));
	if (!frame)
		return false;
	thread->frame = frame;
	thread->frame_size = size;
	return true;
}

/*
 * A callback may begin inside another one, because user code may spin an executor. So a start does
 * not end open callbacks, with one exception: the same callback begins again on the same thread. An
 * executor does not run a callback inside itself, so the end of the earlier run is missing: the
 * callback threw an exception, its response was deferred, or the event was lost.
 */
static struct frame *frame_push(struct model *model, struct thread *thread,
				const struct callback *callback)
{
	unsigned i;

	for (i = 0; i < thread->frame_count; i++)
		if (thread->frame[i].callback == callback)
			frame_abandon(model, thread, i--);
	if (thread->frame_count == FRAMES_MAX)
		frame_abandon(model, thread, 0);
	if (!frame_room(thread)) {
		model->out_of_memory = true;
		return NULL;
	}
	return &thread->frame[thread->frame_count++];
}

static bool fits(const struct model_callback *callback, const struct model_message *taken,
		 bool is_intra)
{
	if (taken->is_intra != is_intra)
		return false;
	if (callback->kind == MODEL_CALLBACK_UNKNOWN)
		return true;
	return callback->kind == MODEL_CALLBACK_SUBSCRIPTION &&
	       (!callback->subscription || !taken->subscription ||
		callback->subscription == taken->subscription);
}

static void started_tell(struct model *model, struct thread *thread)
{
	const struct model_instance *run = run_of(thread, thread->frame_count - 1);

	EMIT(model, started, run);
}

/* Were events lost since the previous run, or did the recorder pause? Then it may not be the
 * previous one. @since_ns: the run's start or end; 0: there was none. */
static bool is_previous(const struct model *model, const struct now *now,
			const struct callback *callback, int64_t since_ns)
{
	return since_ns && callback->losses == now->process->losses &&
	       since_ns > model_resumed_of(model, now->thread, now->ns);
}

/* When should this run of a timer have started? */
static int64_t due_of(const struct model *model, const struct now *now,
		      const struct callback *callback)
{
	const struct model_timer *timer = callback->pub.timer;

	if (!timer || timer->period_ns <= 0 || (timer->node && timer->node->has_clock))
		return 0;
	if (!is_previous(model, now, callback, callback->started_ns) ||
	    timer->period_ns > now->ns - callback->started_ns)
		return 0;
	return callback->started_ns + timer->period_ns;
}

static int64_t idle_of(const struct model *model, const struct now *now,
		       const struct callback *callback)
{
	if (callback->open || !is_previous(model, now, callback, callback->ended_ns))
		return -1;
	return now->ns - callback->ended_ns;
}

/* The callback has no room. What its thread had for a run is not for the next one. */
static void start_left(struct model *model, struct thread *thread)
{
	if (!model_is_full(model, MODEL_CALLBACK))
		return;
	model->facts.left.runs++;
	thread->left++;
	model_taken_flush(model, thread);
	if (thread->unstamped)
		model_unstamped_flush(model, thread);
	thread->intra.id = 0;
	thread->intra.alone = false;
	thread->request = NULL;
}

/* When the run began, what for, and what was before. */
static void frame_begin(struct model *model, const struct now *now, struct frame *frame,
			struct callback *callback)
{
	struct thread *thread = now->thread;

	frame->callback = callback;
	frame->run.callback = &callback->pub;
	frame->run.thread = &thread->pub;
	frame->run.duration_ns = -1;
	frame->run.id = ++model->last_instance;
	frame->run.published = 0;
	frame->run.start_ns = now->ns;
	frame->run.is_resumed = thread->resumes && thread->resumes == callback->pub.address;
	frame->run.due_ns = frame->run.is_resumed ? 0 : due_of(model, now, callback);
	frame->run.idle_ns = frame->run.is_resumed ? -1 : idle_of(model, now, callback);
	frame->run.awaits = false;
	frame->coroutine = NULL;
	frame->coroutine_number = 0;
	if (frame->run.is_resumed)
		model_coroutine_resumed(model, now, frame);
	thread->resumes = 0;
	if (callback->pub.timer && !callback->pub.timer->first_start_ns)
		((struct timer *)callback->pub.timer)->pub.first_start_ns = now->ns;
	callback->open++;
	if (!frame->run.is_resumed)
		callback->started_ns = now->ns;
	callback->losses = now->process->losses;
}

static void on_callback_start(struct model *model, const struct now *now)
{
	ARGS(callback_start, now->event);
	struct thread *thread = now->thread;
	struct callback *callback = model_handle(model, now->process, HANDLE_CALLBACK,
						 args->callback.u);
	struct frame *frame;

	if (!args->callback.present)
		return;
	if (!callback)
		callback = model_callback_unknown(model, now, args->callback.u);
	if (!callback) {
		start_left(model, thread);
		return;
	}
	frame = frame_push(model, thread, callback);
	if (!frame)
		return;
	frame_begin(model, now, frame, callback);
	frame->run.is_intra = args->is_intra_process.u != 0;
	frame->doubtful = false;
	frame->has_message = thread->has_taken && !frame->run.is_resumed &&
			     fits(&callback->pub, &thread->taken, frame->run.is_intra);
	if (frame->has_message) {
		thread->taken.callback = &callback->pub;
		thread->taken.callback_ns = now->ns;
		thread->taken.to_instance = frame->run.id;
		frame->message = thread->taken;
	}
	frame->run.is_startup = model_frame_is_startup(frame);
	model->facts.intra_unknown += frame->run.is_intra && !frame->has_message;
	model_call_started(model, thread, frame);
	model_taken_flush(model, thread);
	if (thread->unstamped)
		model_unstamped_flush(model, thread);
	thread->intra.id = 0;
	thread->intra.alone = false;
	if (model->wants & WANT_CAUSES)
		model_link_started(frame);
	if (model->wants & WANT_STARTED)
		started_tell(model, thread);
}

static void on_callback_end(struct model *model, const struct now *now)
{
	ARGS(callback_end, now->event);
	struct thread *thread = now->thread;
	struct model_instance *run;
	struct frame *frame;
	unsigned at = thread->frame_count;

	if (thread->unstamped)
		model_unstamped_flush(model, thread);
	thread->intra.id = 0;
	thread->intra.alone = false;
	/*
	 * Compare by address, because the frame has the object that the address meant at the start.
	 */
	while (at && thread->frame[at - 1].callback->pub.address != args->callback.u)
		at--;
	if (!at--) {
		if (thread->left)
			thread->left--;
		else
			model->facts.ends_without_start++;
		return;
	}
	/* Nested runs are over, too, with or without an end event. */
	while (thread->frame_count > at + 1)
		frame_abandon(model, thread, thread->frame_count - 1);
	/* A run that began before a pause may have ended in it, and this is the end of a later
	 * one. */
	if (thread->frame[at].doubtful ||
	    thread->frame[at].run.start_ns <= model_resumed_of(model, thread, now->ns)) {
		frame_abandon(model, thread, at);
		return;
	}
	frame = &thread->frame[at];
	model_coroutine_awaits(model, thread, frame);
	run = run_of(thread, at);
	run->duration_ns = now->ns - run->start_ns;
	frame->callback->open--;
	frame->callback->ended_ns = now->ns;
	/* Remove the frame only after the listeners, because they use it. */
	if (model->wants & WANT_CAUSES)
		model_link_ended(frame, now->ns);
	EMIT(model, instance, run);
	model_call_ended(model, frame, now->ns);
	if (!at && model->wants & WANT_GOALS)
		model_goal_ran(thread, frame->callback, run->start_ns, now->ns);
	model_coroutine_ended(model, frame, now->ns);
	thread->frame_count = at;
}

static void doubt_frames(struct model *model, struct thread *thread)
{
	(void)model;
	thread->process->losses++;
	thread->resumes = 0;
	for (unsigned i = 0; i < thread->frame_count; i++)
		thread->frame[i].doubtful = true;
}

static void abandon_frames(struct model *model, struct thread *thread)
{
	while (thread->frame_count)
		frame_abandon(model, thread, thread->frame_count - 1);
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(callback_start),
	ON(callback_end),
};

const struct model_part model_runs = { .handlers = handlers,
				       .doubt = doubt_frames,
				       .thread_end = abandon_frames };
