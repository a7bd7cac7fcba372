/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors of mini_rclcpp. A wait fills the ready flags; they are worked off one entity at a
 * time, timers first, before anyone waits again. While a callback of a group runs, the group's
 * readers are out of the wait set, so that waiting does not spin on work nobody may take.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mini_rclcpp.h"
#include "robot.h"
#include "tracetools/tracetools.h"

#define THREADS_MAX 16

/* ---- what running one entity means ---- */

/* Takes one message into @message; 0 if there was none after all. */
static bool take(struct rc_entity *entity, void *message, dds_sample_info_t *info)
{
	void *into[1] = { message };

	return dds_take(entity->reader, into, info, 1, 1) == 1 && info->valid_data;
}

static void timer_run(struct rc_entity *timer)
{
	rcl_timer_call(&timer->rcl);
	ros_trace_rclcpp_executor_execute(&timer->rcl);
	ros_trace_callback_start(&timer->callback, false);
	timer->on_timer(timer->user);
	ros_trace_callback_end(&timer->callback);
}

static void subscription_run(struct rc_entity *subscription)
{
	void *message = dds_alloc(subscription->type->m_size);
	dds_sample_info_t info = { 0 };
	bool taken;

	ros_trace_rclcpp_executor_execute(&subscription->rcl);
	taken = take(subscription, message, &info);
	ros_trace_rmw_take(&subscription->rmw, message, info.source_timestamp, taken);
	if (taken) {
		rcl_take(&subscription->rcl, message, &info, NULL);
		ros_trace_rclcpp_take(message);
		ros_trace_callback_start(&subscription->callback, false);
		subscription->on_message(subscription->user, message);
		ros_trace_callback_end(&subscription->callback);
	}
	dds_sample_free(message, subscription->type, DDS_FREE_ALL);
}

static void service_run(struct rc_entity *service)
{
	void *request = dds_alloc(service->type->m_size);
	void *response = dds_alloc(service->response->m_size);
	struct rmw_service_info info;

	if (rcl_take_request_with_info(&service->rcl, &info, request) == RCL_RET_OK) {
		ros_trace_callback_start(&service->callback, false);
		service->on_request(service->user, request, response);
		ros_trace_callback_end(&service->callback);
		rc_check(rcl_send_response(&service->rcl, &info.request_id, response), "response");
	}
	dds_sample_free(request, service->type, DDS_FREE_ALL);
	dds_sample_free(response, service->response, DDS_FREE_ALL);
}

static void response_handle(void *data)
{
	struct rc_entity *client = data;
	void *response = dds_alloc(client->type->m_size);
	struct rmw_service_info info;

	if (rcl_take_response_with_info(&client->rcl, &info, response) == RCL_RET_OK)
		client->on_message(client->user, response);
	dds_sample_free(response, client->type, DDS_FREE_ALL);
}

static void client_run(struct rc_entity *client)
{
	struct rclcpp_client base = { &client->rcl, client, response_handle };

	rclcpp_execute_client(&(struct rclcpp_shared){ &base, NULL });
}

const struct rc_kind rc_timer = { 0, timer_run, rcl_wait_set_add_timer };
const struct rc_kind rc_subscription = { 1, subscription_run, rcl_wait_set_add_subscription };
const struct rc_kind rc_service = { 2, service_run, rcl_wait_set_add_service };
const struct rc_kind rc_client = { 3, client_run, rcl_wait_set_add_client };

/* ---- an executor's entities, kept in the order in which they are served ---- */

void rc_executor_init(struct rc_executor *executor, struct rc_context *context)
{
	*executor = (struct rc_executor){ .context = context };
	pthread_mutex_init(&executor->wait, NULL);
	pthread_mutex_init(&executor->lock, NULL);
	executor->waitset = dds_create_waitset(context->participant);
	rc_check(executor->waitset, "wait set");
	executor->wake = dds_create_guardcondition(context->participant);
	rc_check(executor->wake, "guard condition");
	rc_check(dds_waitset_attach(executor->waitset, executor->wake, 0), "wait set");
	rc_check(dds_waitset_attach(executor->waitset, context->stop, 0), "wait set");
}

void rc_entity_add(struct rc_entity *entity, struct rc_node *node)
{
	struct rc_executor *executor = node->executor;
	unsigned at = executor->count;

	if (at == RC_ENTITIES_MAX) {
		fprintf(stderr, "robot: an executor has at most %d entities\n", RC_ENTITIES_MAX);
		exit(1);
	}
	entity->executor = executor;
	entity->node = node;
	entity->group = &node->group;
	for (; at && executor->entity[at - 1]->kind->order > entity->kind->order; at--)
		executor->entity[at] = executor->entity[at - 1];
	executor->entity[at] = entity;
	executor->count++;
	if (!entity->reader)
		return;
	entity->condition = dds_create_readcondition(entity->reader, DDS_ANY_STATE);
	rc_check(entity->condition, "read condition");
	rc_check(dds_waitset_attach(executor->waitset, entity->condition, (dds_attach_t)entity),
		 "wait set");
}

void rc_entity_group(struct rc_entity *entity, struct rc_group *group)
{
	entity->group = group;
}

static void group_attach(struct rc_executor *executor, struct rc_group *group, bool attach)
{
	for (unsigned i = 0; i < executor->count; i++) {
		struct rc_entity *entity = executor->entity[i];

		if (entity->group != group || !entity->condition)
			continue;
		if (attach)
			dds_waitset_attach(executor->waitset, entity->condition,
					   (dds_attach_t)entity);
		else
			dds_waitset_detach(executor->waitset, entity->condition);
	}
}

static void group_enter(struct rc_executor *executor, struct rc_group *group)
{
	if (group->reentrant || !executor->shared)
		return;
	group->busy = true;
	group_attach(executor, group, false);
}

static void group_leave(struct rc_executor *executor, struct rc_group *group)
{
	if (group->reentrant || !executor->shared)
		return;
	pthread_mutex_lock(&executor->lock);
	group->busy = false;
	group_attach(executor, group, true);
	pthread_mutex_unlock(&executor->lock);
	dds_set_guardcondition(executor->wake, true);
}

/* ---- the loop ---- */

/* A missed period is left out, as rcl does: the next call is in the future. */
static void timer_advance(struct rc_entity *timer)
{
	int64_t late = rc_now_ns() - timer->due_ns;

	timer->due_ns += timer->period_ns;
	if (late > timer->period_ns)
		timer->due_ns += late / timer->period_ns * timer->period_ns;
}

static struct rc_entity *next_ready(struct rc_executor *executor)
{
	struct rc_entity *found = NULL;

	ros_trace_rclcpp_executor_get_next_ready();
	pthread_mutex_lock(&executor->lock);
	for (unsigned i = 0; i < executor->count && !found; i++)
		if (executor->entity[i]->ready && !executor->entity[i]->group->busy)
			found = executor->entity[i];
	if (found) {
		found->ready = false;
		group_enter(executor, found->group);
		if (found->kind == &rc_timer)
			timer_advance(found);
	}
	pthread_mutex_unlock(&executor->lock);
	return found;
}

/* How long until a timer is due whose group is free; DDS_INFINITY without one. */
static dds_duration_t timers_wait_ns(struct rc_executor *executor)
{
	int64_t now = rc_now_ns(), wait = DDS_INFINITY;

	for (unsigned i = 0; i < executor->count; i++) {
		struct rc_entity *entity = executor->entity[i];

		if (entity->kind == &rc_timer && !entity->group->busy &&
		    entity->due_ns - now < wait)
			wait = entity->due_ns > now ? entity->due_ns - now : 0;
	}
	return wait;
}

static void wait_for_work(struct rc_executor *executor)
{
	dds_attach_t found[RC_ENTITIES_MAX + 2];
	dds_duration_t timeout;
	dds_return_t count;
	int64_t now;
	bool woken;

	ros_trace_rclcpp_executor_wait_for_work(-1);
	pthread_mutex_lock(&executor->lock);
	timeout = timers_wait_ns(executor);
	for (unsigned i = 0; i < executor->count; i++)
		executor->entity[i]->kind->add(NULL, &executor->entity[i]->rcl, NULL);
	pthread_mutex_unlock(&executor->lock);
	count = dds_waitset_wait(executor->waitset, found, RC_ENTITIES_MAX + 2, timeout);
	dds_take_guardcondition(executor->wake, &woken);

	pthread_mutex_lock(&executor->lock);
	now = rc_now_ns();
	for (unsigned i = 0; i < executor->count; i++)
		executor->entity[i]->ready = executor->entity[i]->kind == &rc_timer &&
					     executor->entity[i]->due_ns <= now;
	for (dds_return_t i = 0; i < count; i++)
		if (found[i])
			((struct rc_entity *)found[i])->ready = true;
	pthread_mutex_unlock(&executor->lock);
}

static void run(void *entity)
{
	((struct rc_entity *)entity)->kind->run(entity);
}

static void execute(struct rc_executor *executor, struct rc_entity *entity)
{
	struct rclcpp_executable executable = {
		.group = { entity->group }, .node = { &entity->node->base },
		.data = entity, .run = run,
	};

	rclcpp_execute(executor, &executable);
	group_leave(executor, entity->group);
}

static void *spin_main(void *argument)
{
	struct rc_executor *executor = argument;
	struct rc_entity *entity;

	while (executor->context->ok) {
		pthread_mutex_lock(&executor->wait);
		entity = next_ready(executor);
		if (!entity && executor->context->ok) {
			wait_for_work(executor);
			entity = next_ready(executor);
		}
		pthread_mutex_unlock(&executor->wait);
		if (!entity)
			continue;
		execute(executor, entity);
	}
	return NULL;
}

void rc_spin(struct rc_executor *executor, unsigned threads)
{
	pthread_t thread[THREADS_MAX];
	unsigned started = 0;

	executor->shared = threads > 1;
	while (started + 1 < threads && started < THREADS_MAX &&
	       !pthread_create(&thread[started], NULL, spin_main, executor))
		started++;
	spin_main(executor);
	while (started)
		pthread_join(thread[--started], NULL);
}
