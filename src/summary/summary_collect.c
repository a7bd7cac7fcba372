/* SPDX-License-Identifier: Apache-2.0 */
/* What a summary hears while the trace is read; see summary_collect.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_startup.h"
#include "base/array.h"
#include "summary/summary_collect_internal.h"

static bool is_inside(const struct summary_collect *collect, int64_t ns)
{
	return ns >= collect->from.begin_ns && ns <= collect->from.end_ns;
}

static void count(struct summary_collect *collect, struct histogram *histogram, int64_t ns)
{
	collect->failed |= histogram_add(histogram, ns > 0 ? (uint64_t)ns : 0) != 0;
}

static struct collect_callback *callback_at(struct summary_collect *collect, uint32_t index)
{
	struct collect_callback **slot = ARRAY_AT(collect->callback, collect->callbacks, index);

	if (slot && !*slot)
		*slot = calloc(1, sizeof(**slot));
	collect->failed |= !slot || !*slot;
	return slot ? *slot : NULL;
}

static struct collect_subscription *subscription_at(struct summary_collect *collect,
						    const struct model_subscription *subscription)
{
	struct collect_subscription *at =
		ARRAY_AT(collect->subscription, collect->subscriptions, subscription->index);

	collect->failed |= !at;
	return at;
}

/* ---- runs ---- */

static bool is_worse(const struct collect_run *a, const struct collect_run *b)
{
	if (b->duration_ns && a->is_startup != b->is_startup)
		return b->is_startup;
	return a->duration_ns > b->duration_ns;
}

static void keep_longest(struct collect_callback *callback, const struct model_instance *instance,
			 bool is_startup)
{
	const struct collect_run run = { instance->start_ns, instance->duration_ns, is_startup };
	struct collect_run *longest = callback->longest;
	unsigned at = SUMMARY_WORST_MAX - 1;

	if (!is_worse(&run, &longest[at]))
		return;
	for (; at && is_worse(&run, &longest[at - 1]); at--)
		longest[at] = longest[at - 1];
	longest[at] = run;
}

static struct collect_startup *startup_of(struct summary_collect *collect,
					  struct collect_callback *callback)
{
	if (!callback->startup)
		callback->startup = calloc(1, sizeof(*callback->startup));
	collect->failed |= !callback->startup;
	return callback->startup;
}

/* How regular a timer was: since when it was due, and since its previous start. */
static void count_timer(struct summary_collect *collect, struct collect_callback *callback,
			const struct model_instance *instance, struct collect_startup *startup)
{
	const int64_t period_ns = instance->callback->timer->period_ns;
	int64_t late_ns = instance->due_ns ? instance->start_ns - instance->due_ns : -1;

	callback->clock.ran_ns += instance->duration_ns;
	if (instance->is_resumed)
		return;
	if (callback->last_start_ns && instance->idle_ns >= 0) {
		const int64_t ns = instance->start_ns - callback->last_start_ns;

		count(collect, &callback->period, ns);
		callback->clock.periods++;
		callback->clock.period_ns += ns;
		callback->clock.is_short += ns < period_ns - period_ns / 4;
		callback->clock.is_long += ns > period_ns + period_ns / 4;
	}
	callback->last_start_ns = instance->start_ns;
	if (!instance->due_ns)
		return;
	late_ns = late_ns > 0 ? late_ns : 0;
	count(collect, &callback->late, late_ns);
	callback->clock.late_ns += late_ns;
	callback->half_late += late_ns > period_ns / 2;
	callback->overrun += late_ns >= period_ns;
	if (startup) {
		count(collect, &startup->late, late_ns);
		startup->overrun += late_ns >= period_ns;
	} else if (late_ns > callback->steady_late_ns) {
		callback->steady_late_ns = late_ns;
	}
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct summary_collect *collect = context;
	struct collect_startup *startup = NULL;
	struct collect_callback *callback;
	struct collect_thread *thread;

	if (!is_inside(collect, instance->start_ns))
		return;
	callback = callback_at(collect, instance->callback->index);
	thread = ARRAY_AT(collect->thread, collect->threads, instance->thread->index);
	if (!callback || !thread) {
		collect->failed = true;
		return;
	}
	if (model_is_startup(instance))
		startup = startup_of(collect, callback);
	if (startup)
		count(collect, &startup->ran, instance->duration_ns);
	keep_longest(callback, instance, startup != NULL);
	if (instance->callback->timer)
		count_timer(collect, callback, instance, startup);
	callback->sent += instance->published;
	thread->runs++;
	thread->busy_ns += instance->depth ? 0 : instance->duration_ns;
}

static void on_wait(void *context, const struct waits_wait *wait)
{
	struct summary_collect *collect = context;
	struct collect_callback *callback = callback_at(collect, wait->instance->callback->index);
	struct collect_wait kept = {
		wait->instance->start_ns, wait->thread_ns + wait->group_ns, NULL, 0, false, false
	};
	unsigned at;

	if (!callback)
		return;
	count(collect, &callback->wait, kept.blocked_ns);
	callback->clock.waited_ns += kept.blocked_ns;
	at = callback->worsts;
	if (at == COLLECT_WAITS && callback->worst[at - 1].blocked_ns >= kept.blocked_ns)
		return;
	for (unsigned i = 0; i < wait->pieces; i++) {
		if (wait->piece[i].ns <= kept.by_ns)
			continue;
		kept.by_ns = wait->piece[i].ns;
		kept.by = wait->piece[i].by;
		kept.is_group = wait->piece[i].is_group;
		kept.is_assumed = wait->piece[i].is_assumed;
	}
	at -= at == COLLECT_WAITS;
	if (!callback->worst)
		callback->worst = malloc(COLLECT_WAITS * sizeof(*callback->worst));
	collect->failed |= !callback->worst;
	if (!callback->worst)
		return;
	callback->worsts = at + 1;
	for (; at && callback->worst[at - 1].blocked_ns < kept.blocked_ns; at--)
		callback->worst[at] = callback->worst[at - 1];
	callback->worst[at] = kept;
}

const struct collect_callback *collect_callback_at(const struct summary_collect *collect,
						   uint32_t index)
{
	return index < collect->callbacks ? collect->callback[index] : NULL;
}

const struct collect_wait *collect_wait_of(const struct summary_collect *collect, uint32_t index,
					   int64_t start_ns)
{
	const struct collect_callback *callback = collect_callback_at(collect, index);

	for (unsigned i = 0; callback && i < callback->worsts; i++)
		if (callback->worst[i].start_ns == start_ns)
			return &callback->worst[i];
	return NULL;
}

/* ---- messages and calls ---- */

static void on_taken(void *context, const struct model_message *message)
{
	struct summary_collect *collect = context;
	struct collect_subscription *at;

	if (!message->subscription || !is_inside(collect, message->take_ns))
		return;
	at = subscription_at(collect, message->subscription);
	if (!at)
		return;
	at->received++;
	if (!at->first_ns)
		at->first_ns = message->publish_ns ? message->publish_ns : message->take_ns;
}

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct summary_collect *collect = context;
	struct collect_subscription *at;

	if (!message->subscription || !is_inside(collect, message->publish_ns))
		return;
	at = subscription_at(collect, message->subscription);
	if (!at)
		return;
	if (why == MODEL_DROP_OVERWRITTEN) {
		at->overwritten++;
	} else if (why == MODEL_DROP_CLEARED) {
		at->cleared++;
	} else if (at->first_ns && message->publish_ns < at->first_ns) {
		at->not_yet++;
	} else {
		at->never++;
		at->where[message->lost]++;
	}
}

static void on_call(void *context, const struct model_call *call)
{
	struct summary_collect *collect = context;
	struct collect_service *service;

	if (!call->client || !call->request_ns || !is_inside(collect, call->request_ns))
		return;
	service = ARRAY_AT(collect->service, collect->services, call->client->index);
	if (!service) {
		collect->failed = true;
		return;
	}
	service->calls++;
	if (call->response_taken_ns)
		count(collect, &service->total, call->response_taken_ns - call->request_ns);
	else
		service->unanswered++;
}

/* ---- loops of kymo.h ---- */

static void on_cycle(void *context, const struct loop_cycle *cycle)
{
	struct summary_collect *collect = context;
	const int64_t late_ns = cycle->begin_ns - cycle->due_ns;
	struct collect_loop *loop = ARRAY_AT(collect->loop, collect->loops, cycle->loop->index);

	collect->failed |= !loop;
	if (loop && late_ns > loop->worst_ns)
		*loop = (struct collect_loop){ late_ns, cycle->due_ns };
}

/* ---- life cycle ---- */

static const struct model_listener listener = {
	.instance = on_instance, .taken = on_taken, .dropped = on_dropped,
	.call = on_call,	 .goal = collect_on_goal,
};

static void free_histograms(struct collect_callback *callback)
{
	histogram_free(&callback->wait);
	histogram_free(&callback->late);
	histogram_free(&callback->period);
	if (callback->startup) {
		histogram_free(&callback->startup->ran);
		histogram_free(&callback->startup->late);
	}
	free(callback->startup);
	free(callback->worst);
}

static void summary_collect_destroy(struct summary_collect *collect)
{
	if (!collect)
		return;
	for (uint32_t i = 0; i < collect->callbacks; i++) {
		if (!collect->callback[i])
			continue;
		free_histograms(collect->callback[i]);
		free(collect->callback[i]);
	}
	for (uint32_t i = 0; i < collect->services; i++)
		histogram_free(&collect->service[i].total);
	collect_free_twins(collect);
	collect_forget_actions(collect);
	free(collect->action);
	free(collect->loop);
	free(collect->callback);
	free(collect->subscription);
	free(collect->thread);
	free(collect->service);
	free(collect);
}

static void forget_callback(struct collect_callback *callback)
{
	free_histograms(callback);
	*callback = (struct collect_callback){ .clock = callback->clock,
					       .last_start_ns = callback->last_start_ns };
}

void summary_collect_forget(struct summary_collect *collect)
{
	const struct summary_sources *from = &collect->from;

	for (uint32_t i = 0; i < collect->callbacks; i++)
		if (collect->callback[i])
			forget_callback(collect->callback[i]);
	for (uint32_t i = 0; i < collect->subscriptions; i++)
		collect->subscription[i] = (struct collect_subscription){
			.first_ns = collect->subscription[i].first_ns
		};
	for (uint32_t i = 0; i < collect->services; i++) {
		histogram_free(&collect->service[i].total);
		collect->service[i] = (struct collect_service){ 0 };
	}
	collect_forget_actions(collect);
	for (uint32_t i = 0; i < collect->threads; i++)
		collect->thread[i] = (struct collect_thread){ 0 };
	for (uint32_t i = 0; i < collect->loops; i++)
		collect->loop[i] = (struct collect_loop){ 0 };
	collect->before = *model_facts(from->model);
	stats_forget(from->stats);
	chains_forget_stats(from->chains);
	why_callbacks_forget(from->callbacks);
	view_forget(from->view);
	if (from->spans_stats) {
		spans_stats_forget(from->spans_stats);
		loops_forget(from->loops);
	}
}

int summary_collect_create(struct summary_collect **out, const struct summary_sources *sources,
			   struct kymo_err *err)
{
	struct summary_collect *collect = calloc(1, sizeof(*collect));

	if (!collect)
		return err_no_memory(err);
	collect->from = *sources;
	if (model_listen(sources->model, &listener, collect, err)) {
		summary_collect_destroy(collect);
		return -1;
	}
	view_listen(sources->view, on_wait, collect);
	if (sources->loops)
		loops_listen(sources->loops, on_cycle, collect);
	*out = collect;
	return 0;
}

PASS_LISTENER(summary_collect);
