/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors, from CARET's init events of both generations, and which of them a callback group has:
 *     up to Iron   construct_executor(executor);
 *                  construct_static_executor(executor, collector)
 *     Jazzy        executor_entity_collector_to_executor(executor, collector),
 *                  construct_executor(executor)
 *
 * The idea: the events may come in any order, because CARET records old facts kind by kind. So the
 * first event that names an address creates the object for that address, and later events complete
 * the object. And addresses are used again: an event is about the executor that was at its address,
 * or had its collector, at the event's true time. So each executor knows the one before it.
 *
 * And states of executors' threads: each event ends the state that the event before began.
 * And waits for Python's lock.
 */
#include "analysis/model/model_internal.h"

/* ---- executors ---- */

struct executor *model_executor_at(const struct model *model, const struct process *process,
				   uint64_t address, int64_t ns)
{
	struct executor *executor = model_handle(model, process, HANDLE_EXECUTOR, address);

	while (executor && executor->pub.born_ns > ns && executor->before)
		executor = executor->before;
	return executor;
}

/* Put @executor, which is in no row, behind the younger ones at its address. */
static void executor_insert(struct model *model, const struct now *now, struct executor *executor)
{
	struct executor *younger = NULL, *older = model_handle(model, now->process, HANDLE_EXECUTOR,
							       executor->pub.address);

	for (; older && older->pub.born_ns > executor->pub.born_ns; older = older->before)
		younger = older;
	executor->before = older;
	if (younger)
		younger->before = executor;
	else
		model_handle_set(model, now->process, HANDLE_EXECUTOR, executor->pub.address,
				 executor);
}

struct executor *model_executor_new(struct model *model, const struct now *now, uint64_t address)
{
	struct executor *executor = model_object_new(model, MODEL_EXECUTOR, sizeof(*executor));

	if (!executor) {
		model_handle_drop(model, now->process, HANDLE_EXECUTOR, address);
		return NULL;
	}
	executor->pub.process = &now->process->pub;
	executor->pub.address = address;
	executor->pub.type = "";
	executor->pub.born_ns = now->true_ns;
	executor_insert(model, now, executor);
	return executor;
}

/* @executor is as old as @now; it was taken for younger, or for a little older. */
static void executor_born(struct model *model, const struct now *now, struct executor *executor)
{
	struct executor *head = model_handle(model, now->process, HANDLE_EXECUTOR,
					     executor->pub.address);

	executor->pub.born_ns = now->true_ns;
	if (head == executor && !executor->before)
		return;
	if (head == executor) {
		model_handle_set(model, now->process, HANDLE_EXECUTOR, executor->pub.address,
				 executor->before);
	} else {
		while (head->before != executor)
			head = head->before;
		head->before = executor->before;
	}
	executor_insert(model, now, executor);
}

/*
 * Which executor at @address an event of @now constructs, or collects: one that lacks this event,
 * and that no other one is between. NULL: a new one. @again: the event was there before.
 */
static struct executor *incomplete(const struct model *model, const struct now *now,
				   uint64_t address, bool is_collect, bool *again)
{
	struct executor *executor = model_handle(model, now->process, HANDLE_EXECUTOR, address);
	struct executor *younger = NULL;

	*again = false;
	for (; executor; executor = executor->before) {
		const bool has = is_collect ? executor->collected_ns : executor->constructed;
		const int64_t ns = is_collect ? executor->collected_ns : executor->pub.born_ns;

		if (has && ns == now->true_ns) {
			*again = true;
			return executor;
		}
		if (executor->pub.born_ns <= now->true_ns)
			return has ? younger : executor;
		younger = has ? NULL : executor;
	}
	return younger;
}

/* ---- which executor a group has ---- */

void model_group_resolve(const struct model *model, struct group *group)
{
	const struct group_link *link = &group->link;
	const struct process *process = (const struct process *)group->pub.process;
	struct executor *executor = NULL;

	if (link->collector)
		for (executor = link->collector->executor;
		     executor && executor->collected_ns > link->ns && executor->collected_before;)
			executor = executor->collected_before;
	else if (link->ns)
		executor = model_executor_at(model, process, link->executor, link->ns);
	group->pub.executor = executor ? &executor->pub : NULL;
}

/* An executor is new at @address, or @collector has one: groups that were added before have it. */
static void resolve_all(const struct model *model, const struct now *now, uint64_t address,
			const struct collector *collector)
{
	const struct list *list = &model->list[MODEL_CALLBACK_GROUP];

	for (unsigned i = 0; i < list->count; i++) {
		struct group *group = list->item[i];

		if (collector ? group->link.collector == collector
			      : !group->link.collector && group->link.executor == address &&
					group->pub.process == &now->process->pub)
			model_group_resolve(model, group);
	}
}

static void constructed(struct model *model, const struct now *now,
			const struct kymo_ctf_value *address, const struct kymo_ctf_value *type)
{
	struct executor *executor;
	bool again;

	if (!address->present)
		return;
	executor = incomplete(model, now, address->u, false, &again);
	if (again)
		return;
	if (executor)
		executor_born(model, now, executor);
	else
		executor = model_executor_new(model, now, address->u);
	if (!executor)
		return;
	executor->constructed = true;
	executor->pub.type = model_word(model, type);
	if (now->process->linked_ns >= now->true_ns)
		resolve_all(model, now, address->u, NULL);
}

static void on_construct_executor(struct model *model, const struct now *now)
{
	ARGS(construct_executor, now->event);

	constructed(model, now, &args->executor_addr, &args->executor_type_name);
}

/* ---- collectors ---- */

struct collector *model_collector_at(struct model *model, const struct now *now, uint64_t address)
{
	struct collector *collector = model_handle(model, now->process, HANDLE_COLLECTOR, address);

	if (!collector) {
		collector = model_fact_new(model, sizeof(*collector));
		if (collector)
			model_handle_set(model, now->process, HANDLE_COLLECTOR, address, collector);
	}
	return collector;
}

/* @executor has the collector at @address from now on. */
static void collect(struct model *model, const struct now *now, uint64_t address,
		    struct executor *executor)
{
	struct collector *collector = model_collector_at(model, now, address);
	struct executor **at = collector ? &collector->executor : NULL;

	if (!executor || !collector || executor->collected_ns)
		return;
	executor->collected_ns = now->true_ns;
	while (*at && (*at)->collected_ns > now->true_ns)
		at = &(*at)->collected_before;
	executor->collected_before = *at;
	*at = executor;
	if (now->process->linked_ns >= now->true_ns || !executor->collected_before)
		resolve_all(model, now, 0, collector);
}

static void on_construct_static_executor(struct model *model, const struct now *now)
{
	ARGS(construct_static_executor, now->event);

	constructed(model, now, &args->executor_addr, &args->executor_type_name);
	collect(model, now, args->entities_collector_addr.u,
		model_executor_at(model, now->process, args->executor_addr.u, now->true_ns));
}

static void on_executor_entity_collector_to_executor(struct model *model, const struct now *now)
{
	ARGS(executor_entity_collector_to_executor, now->event);
	struct executor *executor;
	bool again;

	if (!args->executor_addr.present)
		return;
	executor = incomplete(model, now, args->executor_addr.u, true, &again);
	if (again)
		return;
	/*
	 * This event comes at the start of each construction: a second event for the address means
	 * another executor.
	 */
	if (!executor)
		executor = model_executor_new(model, now, args->executor_addr.u);
	collect(model, now, args->entities_collector_addr.u, executor);
}

/* ---- states ---- */

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
	ON(construct_executor),
	ON(construct_static_executor),
	ON(executor_entity_collector_to_executor),
	ON(gil_wait),
	ON(rclcpp_executor_get_next_ready),
	ON(rclcpp_executor_wait_for_work),
	ON(rclcpp_executor_execute),
};

const struct model_part model_executors = { .handlers = handlers,
					    .doubt = forget_state,
					    .thread_end = forget_state };
