/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics per callback, topic and stream; see stats.h. Waits are in stats_wait.c. */
#include "analysis/stats/stats.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/stats/stats_internal.h"

static void *element(struct stats *stats, struct array *array, size_t size, uint32_t index)
{
	void *at = array_at(array, index, size);

	stats->failed |= !at;
	return at;
}

struct stats_callback *stats_callback_at(struct stats *stats, uint32_t index)
{
	return element(stats, &stats->callbacks, sizeof(struct stats_callback), index);
}

static struct stats_topic *topic_at(struct stats *stats, uint32_t index)
{
	return element(stats, &stats->topics, sizeof(struct stats_topic), index);
}

struct history *stats_history_new(struct stats *stats, uint32_t index)
{
	struct history **history = element(stats, &stats->histories, sizeof(*history), index);

	if (!history)
		return NULL;
	if (!*history)
		*history = calloc(1, sizeof(**history));
	if (!*history)
		stats->failed = true;
	return *history;
}

static bool inside(const struct stats *stats, int64_t ns)
{
	return ns >= stats->begin_ns && ns <= stats->end_ns;
}

static void seen_at(int64_t *first_ns, int64_t *last_ns, int64_t ns)
{
	if (!*first_ns || ns < *first_ns)
		*first_ns = ns;
	if (!*last_ns || ns > *last_ns)
		*last_ns = ns;
}

/* ---- callbacks ---- */

static void on_instance(void *context, const struct model_instance *instance)
{
	struct stats *stats = context;
	struct stats_callback *callback = stats_callback_at(stats, instance->callback->index);

	if (!callback)
		return;
	if (inside(stats, instance->start_ns)) {
		seen_at(&callback->first_ns, &callback->last_ns, instance->start_ns);
		if (histogram_add(&callback->duration,
				  instance->duration_ns > 0 ? instance->duration_ns : 0))
			stats->failed = true;
		if (instance->due_ns && !stats->no_waits)
			stats_timer_wait(stats, instance, callback);
	}
	if (!stats->no_waits)
		stats_history_add(stats, instance);
}

static void on_unfinished(void *context, const struct model_instance *instance)
{
	struct stats *stats = context;
	struct stats_callback *callback = stats_callback_at(stats, instance->callback->index);

	if (callback && inside(stats, instance->start_ns))
		callback->unfinished++;
}

/* ---- messages ---- */

static void on_published(void *context, const struct model_message *message)
{
	struct stats *stats = context;
	struct stats_topic *topic;
	uint64_t *last_id;

	if (!message->publisher || !inside(stats, message->publish_ns))
		return;
	topic = topic_at(stats, message->topic->index);
	last_id = element(stats, &stats->last_ids, sizeof(*last_id), message->publisher->index);
	if (!topic || !last_id)
		return;
	/* A publish call that uses both paths is reported twice with the same id. */
	if (message->id != *last_id) {
		topic->published++;
		seen_at(&topic->first_ns, &topic->last_ns, message->publish_ns);
	}
	*last_id = message->id;
	if (message->is_intra)
		topic->sent_intra++;
	else
		topic->sent++;
}

static void add_latency(struct stats *stats, struct stats_topic *topic,
			const struct model_message *message)
{
	int64_t latency = message->callback_ns - message->publish_ns;
	int64_t error = model_clock_error(message->publish_thread->process,
					  message->take_thread->process, message->take_ns);

	if (error == KYMO_CTF_ERROR_UNKNOWN) {
		topic->other_host++;
		return;
	}
	if (error > topic->latency_error_ns)
		topic->latency_error_ns = error;
	if (histogram_add(&topic->latency, latency > 0 ? latency : 0))
		stats->failed = true;
	if (!error && !stats->no_waits)
		stats_message_wait(stats, message);
}

static void on_taken(void *context, const struct model_message *message)
{
	struct stats *stats = context;
	struct stats_topic *topic;

	if (!message->topic ||
	    !inside(stats, message->publish_ns ? message->publish_ns : message->take_ns))
		return;
	topic = topic_at(stats, message->topic->index);
	if (!topic)
		return;
	if (message->is_intra)
		topic->taken_intra++;
	else
		topic->taken++;
	if (!message->publish_ns)
		topic->unpublished++;
	else if (message->callback)
		add_latency(stats, topic, message);
}

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct stats *stats = context;
	struct stats_topic *topic;

	if (!message->topic || (message->publish_ns && !inside(stats, message->publish_ns)))
		return;
	topic = topic_at(stats, message->topic->index);
	if (!topic)
		return;
	topic->untaken += why == MODEL_DROP_UNTAKEN;
	topic->overwritten += why == MODEL_DROP_OVERWRITTEN;
	topic->cleared += why == MODEL_DROP_CLEARED;
}

/* ---- loss ---- */

static struct stats_loss *loss_of(struct stats *stats, const struct model_loss *event)
{
	struct stats_loss **slot = element(stats, &stats->losses, sizeof(*slot), event->stream);

	if (!slot)
		return NULL;
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (!*slot) {
			stats->failed = true;
			return NULL;
		}
		(*slot)->trace = event->trace;
		(*slot)->stream = event->stream;
		(*slot)->begin_ns = event->begin_ns;
		(*slot)->thread = event->thread;
		stats->loss_count++;
	}
	return *slot;
}

/* Too many ranges: join the two ranges with the smallest distance. */
static void join_ranges(struct stats_loss *loss)
{
	unsigned i, best = 0;
	int64_t gap, least = INT64_MAX;

	for (i = 0; i + 1 < loss->ranges; i++) {
		gap = loss->range[i + 1].begin_ns - loss->range[i].end_ns;
		if (gap < least) {
			least = gap;
			best = i;
		}
	}
	loss->range[best].end_ns = loss->range[best + 1].end_ns;
	loss->range[best].events += loss->range[best + 1].events;
	loss->range[best].packets += loss->range[best + 1].packets;
	memmove(&loss->range[best + 1], &loss->range[best + 2],
		(loss->ranges - best - 2) * sizeof(*loss->range));
	loss->ranges--;
}

static void on_loss(void *context, const struct model_loss *event)
{
	struct stats *stats = context;
	struct stats_loss *loss;

	if (event->end_ns < stats->begin_ns || event->begin_ns > stats->end_ns)
		return;
	loss = loss_of(stats, event);
	if (!loss)
		return;
	/* Keep the thread only if all losses of the stream are of this thread. */
	if (loss->thread != event->thread)
		loss->thread = NULL;
	loss->events += event->events;
	loss->packets += event->packets;
	loss->end_ns = event->end_ns;
	stats->lost_events += event->events;
	stats->lost_packets += event->packets;
	if (event->is_elsewhere) {
		stats->lost_elsewhere.events += event->events;
		stats->lost_elsewhere.packets += event->packets;
	}
	if (loss->ranges == STATS_RANGES_MAX)
		join_ranges(loss);
	loss->range[loss->ranges++] = (struct stats_range){ event->begin_ns, event->end_ns,
							    event->events, event->packets };
}

/* ---- life cycle and queries ---- */

static const struct model_listener listener = {
	.instance = on_instance,
	.unfinished = on_unfinished,
	.published = on_published,
	.taken = on_taken,
	.dropped = on_dropped,
	.loss = on_loss,
};

int stats_create(struct stats **result, struct model *model, int64_t begin_ns, int64_t end_ns,
		 struct kymo_err *err)
{
	struct stats *stats = calloc(1, sizeof(*stats));

	if (!stats)
		return err_no_memory(err);
	if (model_listen(model, &listener, stats, err)) {
		free(stats);
		return -1;
	}
	stats->model = model;
	stats_window(stats, begin_ns, end_ns);
	*result = stats;
	return 0;
}

void stats_without_waits(struct stats *stats)
{
	stats->no_waits = true;
}

void stats_window(struct stats *stats, int64_t begin_ns, int64_t end_ns)
{
	stats->begin_ns = begin_ns;
	stats->end_ns = end_ns;
}

void stats_destroy(struct stats *stats)
{
	uint32_t i;

	if (!stats)
		return;
	for (i = 0; i < stats->callbacks.count; i++)
		histogram_free(&((struct stats_callback *)stats->callbacks.item)[i].duration);
	for (i = 0; i < stats->topics.count; i++)
		histogram_free(&((struct stats_topic *)stats->topics.item)[i].latency);
	for (i = 0; i < stats->histories.count; i++)
		free(((struct history **)stats->histories.item)[i]);
	for (i = 0; i < stats->losses.count; i++)
		free(((struct stats_loss **)stats->losses.item)[i]);
	free(stats->callbacks.item);
	free(stats->topics.item);
	free(stats->last_ids.item);
	free(stats->histories.item);
	free(stats->losses.item);
	free(stats);
}

void stats_forget(struct stats *stats)
{
	struct stats_callback *callback = stats->callbacks.item;
	struct stats_topic *topic = stats->topics.item;
	struct stats_loss **loss = stats->losses.item;

	for (uint32_t i = 0; i < stats->callbacks.count; i++) {
		histogram_free(&callback[i].duration);
		callback[i] = (struct stats_callback){ 0 };
	}
	for (uint32_t i = 0; i < stats->topics.count; i++) {
		histogram_free(&topic[i].latency);
		topic[i] = (struct stats_topic){ 0 };
	}
	for (uint32_t i = 0; i < stats->losses.count; i++) {
		free(loss[i]);
		loss[i] = NULL;
	}
	stats->loss_count = 0;
	stats->lost_events = stats->lost_packets = 0;
	stats->lost_elsewhere = (struct stats_lost){ 0, 0 };
}

const struct stats_callback *stats_callback(const struct stats *stats, unsigned index)
{
	return ARRAY_GET(stats->callbacks, struct stats_callback, index);
}

const struct stats_topic *stats_topic(const struct stats *stats, unsigned index)
{
	return ARRAY_GET(stats->topics, struct stats_topic, index);
}

unsigned stats_loss_count(const struct stats *stats)
{
	return stats->loss_count;
}

const struct stats_loss *stats_loss(const struct stats *stats, unsigned index)
{
	struct stats_loss **slot = stats->losses.item;
	uint32_t i;

	for (i = 0; i < stats->losses.count; i++)
		if (slot[i] && !index--)
			return slot[i];
	return NULL;
}

struct stats_lost stats_lost_elsewhere(const struct stats *stats)
{
	return stats->lost_elsewhere;
}

uint64_t stats_lost_events(const struct stats *stats)
{
	return stats->lost_events;
}

uint64_t stats_lost_packets(const struct stats *stats)
{
	return stats->lost_packets;
}

double stats_rate(uint64_t count, int64_t first_ns, int64_t last_ns)
{
	return count > 1 && last_ns > first_ns ?
		       (double)(count - 1) * 1e9 / (double)(last_ns - first_ns) : 0;
}

bool stats_failed(const struct stats *stats)
{
	return stats->failed;
}

PASS_LISTENER(stats);
