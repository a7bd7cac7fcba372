/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of executors' threads: each event ends the state that the event before began.
 * And waits for Python's lock.
 */
#include "analysis/model/model_internal.h"

/* What the client of an action does with a result is over when its executor goes on. */
static void end_result(struct thread *thread, int64_t ns)
{
	struct goal *goal = thread->result_goal;

	if (goal && goal->pub.id == thread->result_id && !goal->over && ns)
		goal->pub.handled_ns = ns;
	thread->result_goal = NULL;
}

/* The thread is in @state from now on. Return: it, to fill in. */
static struct model_executor_interval *next(struct model *model, const struct now *now,
					    enum model_executor_state state)
{
	struct thread *thread = now->thread;

	end_result(thread, now->ns);
	if (thread->has_state) {
		thread->state.end_ns = now->ns;
		EMIT(model, executor, &thread->state);
	}
	thread->state = (struct model_executor_interval){ .thread = &thread->pub,
							  .state = state,
							  .start_ns = now->ns };
	thread->has_state = true;
	return &thread->state;
}

/* Events of @thread were lost, or the trace ends: the end of its present state is unknown. */
static void forget_state(struct model *model, struct thread *thread)
{
	end_result(thread, 0);
	if (!thread->has_state)
		return;
	thread->has_state = false;
	EMIT(model, executor, &thread->state);
}

static void on_rclcpp_executor_get_next_ready(struct model *model, const struct now *now)
{
	(void)next(model, now, MODEL_EXECUTOR_GET_NEXT_READY);
}

static void on_rclcpp_executor_wait_for_work(struct model *model, const struct now *now)
{
	ARGS(rclcpp_executor_wait_for_work, now->event);

	next(model, now, MODEL_EXECUTOR_WAIT_FOR_WORK)->timeout_ns = args->timeout.i;
}

static void on_rclcpp_executor_execute(struct model *model, const struct now *now)
{
	ARGS(rclcpp_executor_execute, now->event);
	const struct subscription *subscription = model_handle(model, now->process,
							       HANDLE_SUBSCRIPTION, args->handle.u);
	const struct timer *timer = NULL;
	struct model_executor_interval *state;

	if (!subscription || model->timers_and_subscriptions)
		timer = model_handle(model, now->process, HANDLE_TIMER, args->handle.u);
	/* The address was used for a timer and for a subscription: the younger object is valid. */
	if (timer && subscription && timer->pub.born_ns > subscription->pub.born_ns)
		subscription = NULL;
	else if (subscription)
		timer = NULL;
	state = next(model, now, MODEL_EXECUTOR_EXECUTE);
	state->handle = args->handle.u;
	state->timer = timer ? &timer->pub : NULL;
	state->subscription = subscription ? &subscription->pub : NULL;
}

/*
 * kymo records each wait for Python's global interpreter lock at its end. CPython waits at most its
 * switch interval, 5 ms, and then again, so only the last wait of a row says who released the lock.
 */
static void on_gil_wait(struct model *model, const struct now *now)
{
	ARGS(gil_wait, now->event);
	const int64_t tid = args->released_by.i;
	struct model_gil_wait wait = { .thread = &now->thread->pub,
				       .end_ns = now->ns,
				       .tid = tid > 0 && tid <= INT32_MAX ? (int32_t)tid : 0 };
	const struct thread *by = NULL;

	if (args->duration.i < 0 || args->duration.i > now->ns)
		return;
	wait.start_ns = now->ns - args->duration.i;
	if (wait.tid)
		by = map_get(&model->threads, (uint32_t)wait.tid, now->process->pub.index);
	wait.by = by ? &by->pub : NULL;
	EMIT(model, gil_wait, &wait);
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(gil_wait),
	ON(rclcpp_executor_get_next_ready),
	ON(rclcpp_executor_wait_for_work),
	ON(rclcpp_executor_execute),
};

const struct model_part model_executors = { .handlers = handlers,
					    .doubt = forget_state,
					    .thread_end = forget_state };
