/* SPDX-License-Identifier: Apache-2.0 */
/* Service calls, communications, executors and lifecycles; see stats_activity.h. */
#include "analysis/stats/stats_activity.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

struct activity {
	int64_t begin_ns, end_ns;
	struct array services, clients;	/* of struct activity_calls, by index */
	struct array threads;		/* of struct activity_thread, by index */
	struct array published;		/* of struct published, by publisher */
	struct array runs;		/* of struct activity_frequency, by callback */
	struct array links;		/* of struct activity_link * */
	struct array states;		/* of struct activity_state */
	unsigned link_count, state_count;
	struct map link;		/* (publisher, subscription) -> struct activity_link */
	bool failed;
};

struct published {
	uint64_t count, last_id;
	struct activity_frequency frequency;
};

/* Later times are damage: no trace is that long. */
#define SECONDS_MAX (10u * 366 * 24 * 3600)

static void *element(struct activity *activity, struct array *array, size_t size, unsigned index)
{
	void *at = array_at(array, index, size);

	activity->failed |= !at;
	return at;
}

static bool inside(const struct activity *activity, int64_t ns)
{
	return ns >= activity->begin_ns && ns <= activity->end_ns;
}

/* Adds a duration whose begin and end are both known. */
static void add(struct activity *activity, struct histogram *histogram, int64_t from_ns,
		int64_t to_ns)
{
	if (!from_ns || !to_ns)
		return;
	if (histogram_add(histogram, to_ns > from_ns ? (uint64_t)(to_ns - from_ns) : 0))
		activity->failed = true;
}

static void tick(struct activity *activity, struct activity_frequency *frequency, int64_t ns)
{
	uint64_t second = ns > frequency->first_ns ?
				  (uint64_t)(ns - frequency->first_ns) / 1000000000u : 0;

	if (second >= SECONDS_MAX)
		return;
	if (second >= frequency->seconds) {
		if (!ARRAY_FIT(frequency->count, second + 1, frequency->room)) {
			activity->failed = true;
			return;
		}
		memset(frequency->count + frequency->seconds, 0,
		       (second + 1 - frequency->seconds) * sizeof(*frequency->count));
		frequency->seconds = (unsigned)second + 1;
	}
	frequency->count[second]++;
}

/* ---- events ---- */

/*
 * Adds a duration between two threads if their clocks can be compared. @error_ns: the largest error
 * of all durations so far.
 */
static void add_between(struct activity *activity, struct histogram *histogram, int64_t *error_ns,
			const struct model_thread *a, const struct model_thread *b, int64_t from_ns,
			int64_t to_ns)
{
	int64_t error =
		a && b ? model_clock_error(a->process, b->process, to_ns) : KYMO_CTF_ERROR_UNKNOWN;

	if (error == KYMO_CTF_ERROR_UNKNOWN)
		return;
	if (error > *error_ns)
		*error_ns = error;
	add(activity, histogram, from_ns, to_ns);
}

static void on_call(void *context, const struct model_call *call)
{
	struct activity *activity = context;
	int64_t ns = call->request_ns ? call->request_ns : call->request_taken_ns;
	struct activity_calls *calls;

	if ((!call->service && !call->client) || !inside(activity, ns))
		return;
	calls = call->service ? element(activity, &activity->services, sizeof(*calls),
					call->service->index) :
				element(activity, &activity->clients, sizeof(*calls),
					call->client->index);
	if (!calls)
		return;
	calls->calls++;
	calls->answered += call->response_taken_ns != 0;
	calls->unserved += !call->request_taken_ns && !call->response_taken_ns;
	add(activity, &calls->callback, call->callback_start_ns, call->callback_end_ns);
	add(activity, &calls->total, call->request_ns, call->response_taken_ns);
	add_between(activity, &calls->request, &calls->error_ns, call->client_thread,
		    call->service_thread, call->request_ns, call->request_taken_ns);
	add_between(activity, &calls->response, &calls->error_ns, call->service_thread,
		    call->response_thread, call->response_ns, call->response_taken_ns);
}

static void on_executor(void *context, const struct model_executor_interval *interval)
{
	struct activity *activity = context;
	struct activity_thread *thread;

	if (!inside(activity, interval->start_ns))
		return;
	thread = element(activity, &activity->threads, sizeof(*thread), interval->thread->index);
	if (!thread)
		return;
	thread->cut += !interval->end_ns;
	add(activity, &thread->state[interval->state], interval->start_ns, interval->end_ns);
}

static void on_state(void *context, const struct model_state *state)
{
	struct activity *activity = context;
	struct activity_state *kept;

	if ((state->end_ns && state->end_ns < activity->begin_ns) ||
	    state->start_ns > activity->end_ns)
		return;
	kept = element(activity, &activity->states, sizeof(*kept), activity->state_count);
	if (!kept)
		return;
	*kept = (struct activity_state){ state->node, state->machine, state->label, state->start_ns,
					 state->end_ns };
	activity->state_count++;
}

static void on_published(void *context, const struct model_message *message)
{
	struct activity *activity = context;
	struct published *published;

	if (!message->publisher || !inside(activity, message->publish_ns))
		return;
	published = element(activity, &activity->published, sizeof(*published),
			    message->publisher->index);
	if (!published)
		return;
	/* A publish call that uses both paths is reported twice with the same id. */
	if (message->id == published->last_id)
		return;
	published->count++;
	published->last_id = message->id;
	if (!published->frequency.first_ns)
		published->frequency.first_ns = message->publish_ns;
	tick(activity, &published->frequency, message->publish_ns);
}

static struct activity_frequency *runs_of(struct activity *activity,
					  const struct model_instance *instance)
{
	if (!inside(activity, instance->start_ns) || instance->is_resumed)
		return NULL;
	return element(activity, &activity->runs, sizeof(struct activity_frequency),
		       instance->callback->index);
}

/*
 * Count at the start: runs are reported in order of their end, and the first run to start may end
 * later.
 */
static void on_started(void *context, const struct model_instance *instance)
{
	struct activity_frequency *runs = runs_of(context, instance);

	if (runs && !runs->first_ns)
		runs->first_ns = instance->start_ns;
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct activity_frequency *runs = runs_of(context, instance);

	if (runs)
		tick(context, runs, instance->start_ns);
}

static struct activity_link *link_of(struct activity *activity, const struct model_message *message)
{
	struct activity_link *link = map_get(&activity->link, message->publisher->index,
					     message->subscription->index);
	struct activity_link **slot;

	if (link)
		return link;
	slot = element(activity, &activity->links, sizeof(*slot), activity->link_count);
	link = slot ? calloc(1, sizeof(*link)) : NULL;
	if (!link || map_put(&activity->link, message->publisher->index,
			     message->subscription->index, link)) {
		free(link);
		activity->failed = true;
		return NULL;
	}
	link->publisher = message->publisher;
	link->subscription = message->subscription;
	*slot = link;
	activity->link_count++;
	return link;
}

static void on_taken(void *context, const struct model_message *message)
{
	struct activity *activity = context;
	struct activity_link *link;

	if (!message->publisher || !message->subscription || !inside(activity, message->publish_ns))
		return;
	link = link_of(activity, message);
	if (!link)
		return;
	link->taken++;
	link->taken_intra += message->is_intra;
	link->between_hosts = link->publisher->process->host != link->subscription->process->host;
	add_between(activity, &link->latency, &link->latency_error_ns, message->publish_thread,
		    message->take_thread, message->publish_ns, message->callback_ns);
}

/* ---- life cycle and queries ---- */

static const struct model_listener listener = {
	.instance = on_instance,
	.started = on_started,
	.call = on_call,
	.executor = on_executor,
	.state = on_state,
	.published = on_published,
	.taken = on_taken,
};

PASS_CREATE(activity, model)

static void calls_free(struct array *array)
{
	struct activity_calls *calls = array->item;

	for (unsigned i = 0; i < array->count; i++) {
		histogram_free(&calls[i].request);
		histogram_free(&calls[i].callback);
		histogram_free(&calls[i].response);
		histogram_free(&calls[i].total);
	}
	free(array->item);
}

static void activity_destroy(struct activity *activity)
{
	if (!activity)
		return;
	calls_free(&activity->services);
	calls_free(&activity->clients);
	for (unsigned i = 0; i < activity->threads.count; i++)
		for (unsigned k = 0; k < 3; k++)
			histogram_free(
				&((struct activity_thread *)activity->threads.item)[i].state[k]);
	for (unsigned i = 0; i < activity->link_count; i++) {
		struct activity_link *link = ((struct activity_link **)activity->links.item)[i];

		histogram_free(&link->latency);
		free(link);
	}
	for (unsigned i = 0; i < activity->published.count; i++)
		free(((struct published *)activity->published.item)[i].frequency.count);
	for (unsigned i = 0; i < activity->runs.count; i++)
		free(((struct activity_frequency *)activity->runs.item)[i].count);
	free(activity->runs.item);
	free(activity->threads.item);
	free(activity->published.item);
	free(activity->links.item);
	free(activity->states.item);
	map_free(&activity->link);
	free(activity);
}

const struct activity_calls *activity_service(const struct activity *activity, unsigned index)
{
	return ARRAY_GET(activity->services, struct activity_calls, index);
}

const struct activity_calls *activity_client(const struct activity *activity, unsigned index)
{
	return ARRAY_GET(activity->clients, struct activity_calls, index);
}

const struct activity_thread *activity_thread(const struct activity *activity, unsigned index)
{
	return ARRAY_GET(activity->threads, struct activity_thread, index);
}

const struct activity_frequency *activity_runs(const struct activity *activity, unsigned callback)
{
	return ARRAY_GET(activity->runs, struct activity_frequency, callback);
}

const struct activity_frequency *activity_publications(const struct activity *activity,
						       unsigned publisher)
{
	return &ARRAY_GET(activity->published, struct published, publisher)->frequency;
}

uint64_t activity_published(const struct activity *activity, unsigned publisher)
{
	return ARRAY_GET(activity->published, struct published, publisher)->count;
}

unsigned activity_link_count(const struct activity *activity)
{
	return activity->link_count;
}

const struct activity_link *activity_link(const struct activity *activity, unsigned index)
{
	return ((struct activity_link *const *)activity->links.item)[index];
}

unsigned activity_state_count(const struct activity *activity)
{
	return activity->state_count;
}

const struct activity_state *activity_state(const struct activity *activity, unsigned index)
{
	return &((const struct activity_state *)activity->states.item)[index];
}

PASS_LISTENER(activity);
