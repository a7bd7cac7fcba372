/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters below "ROS 2 topics" / topic:
 *
 *   TOPIC rate			messages published in the second that begins there
 *   TOPIC latency to NODE	from publish to the start of the subscription's callback, then
 *   TOPIC waiting for NODE	newer messages in the subscription's queue when one was received
 *   TOPIC dropped		messages that were lost, so far
 *
 * They count what is shown. Seconds are those of the file, from its first event on.
 */
#include "export/perfetto/perfetto_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS 1000000000
#define LABEL_MAX 512

static struct topic_counters *counters_of(struct exporter *exporter,
					  const struct model_topic *topic)
{
	struct topic_counters *counters = topic ?
		BY_INDEX(exporter, BY_TOPIC_COUNTERS, topic->index, struct topic_counters) : NULL;

	if (!counters || counters->track)
		return counters;
	if (!exporter->topics)
		exporter->topics = export_top(exporter, "ROS 2 topics");
	counters->track = pft_track(exporter->pft, exporter->topics, topic->name);
	return counters;
}

/* @what: what it counts of @topic; @to: of which node, or "". */
static struct pft_track *counter(struct exporter *exporter, const struct topic_counters *counters,
				 const struct model_topic *topic, const char *what, const char *to,
				 enum pft_unit unit)
{
	char name[LABEL_MAX];

	snprintf(name, sizeof(name), "%s %s%s", topic->name, what, to);
	return pft_track_like(exporter->pft, counters->track,
			      &(struct pft_look){ .name = name, .counter = true, .unit = unit });
}

/* ---- rate ---- */

static void put_rate(struct exporter *exporter, const struct topic_counters *counters,
		     int64_t second, uint64_t value)
{
	pft_counter_i64(counters->rate,
			export_time(exporter, exporter->first_ns + second * SECOND_NS),
			(int64_t)value);
}

/* The counted second is over, and perhaps later ones without a message. */
static void rate_until(struct exporter *exporter, struct topic_counters *counters, int64_t second)
{
	if (second <= counters->second)
		return;
	put_rate(exporter, counters, counters->second, counters->in_second);
	if (second > counters->second + 1 && counters->in_second)
		put_rate(exporter, counters, counters->second + 1, 0);
	counters->second = second;
	counters->in_second = 0;
}

static int64_t second_of(const struct exporter *exporter, int64_t ns)
{
	return ns < exporter->first_ns ? 0 : (ns - exporter->first_ns) / SECOND_NS;
}

void export_count_published(struct exporter *exporter, const struct model_message *message)
{
	struct topic_counters *counters = counters_of(exporter, message->topic);

	if (!counters)
		return;
	if (!counters->rate)
		counters->rate = counter(exporter, counters, message->topic, "rate", "", PFT_UNIT_COUNT);
	rate_until(exporter, counters, second_of(exporter, message->publish_ns));
	counters->in_second++;
	if (!counters->latest)
		counters->latest = calloc(PUBLISHED_MAX, sizeof(*counters->latest));
	if (!counters->latest) {
		exporter->out_of_memory = true;
		return;
	}
	counters->latest[counters->published++ % PUBLISHED_MAX] =
		(struct perfetto_publication){ message->id, exporter->now_ns };
}

void export_counters_finish(struct exporter *exporter)
{
	for (uint32_t i = 0; i < exporter->by[BY_TOPIC_COUNTERS].count; i++) {
		struct topic_counters *counters = BY_INDEX(exporter, BY_TOPIC_COUNTERS, i,
							   struct topic_counters);

		if (counters->rate) {
			rate_until(exporter, counters, second_of(exporter, exporter->now_ns));
			put_rate(exporter, counters, counters->second, counters->in_second);
		}
	}
}

void export_counters_free(struct exporter *exporter)
{
	struct topic_counters *counters = exporter->by[BY_TOPIC_COUNTERS].item;

	for (uint32_t i = 0; i < exporter->by[BY_TOPIC_COUNTERS].count; i++)
		free(counters[i].latest);
}

/* ---- latency, waiting ---- */

/*
 * How many messages of the topic were published after message @id and until @ns, among the last
 * PUBLISHED_MAX. The model may report that a message was taken a little later, when its callback
 * begins; so messages after @ns do not count.
 */
static uint64_t newer(const struct topic_counters *counters, uint64_t id, int64_t ns)
{
	uint64_t known = counters->published < PUBLISHED_MAX ? counters->published : PUBLISHED_MAX;
	uint64_t count = 0;

	for (uint64_t i = 1; i <= known; i++) {
		const struct perfetto_publication *at =
			&counters->latest[(counters->published - i) % PUBLISHED_MAX];

		if (at->id == id)
			break;
		count += at->ns <= ns;
	}
	return count;
}

static struct pft_track *counter_to(struct exporter *exporter,
				    const struct topic_counters *counters, const char *what,
				    const struct model_message *message, enum pft_unit unit)
{
	const struct model_subscription *to = message->subscription;

	return counter(exporter, counters, message->topic, what,
		       export_node_name(to ? to->node : NULL), unit);
}

static void count_waiting(struct exporter *exporter, const struct topic_counters *counters,
			  struct subscription_state *state, const struct model_message *message)
{
	uint64_t waiting = newer(counters, message->id, message->take_ns),
		 depth = message->subscription->depth;

	if (depth && waiting > depth)
		waiting = depth;	/* older ones were pushed out */
	if (state->waited == waiting + 1)
		return;
	state->waited = waiting + 1;
	if (!state->waiting)
		state->waiting = counter_to(exporter, counters, "waiting for ", message, PFT_UNIT_COUNT);
	pft_counter_i64(state->waiting, export_time(exporter, message->take_ns), (int64_t)waiting);
}

static void put_latency(struct exporter *exporter, const struct topic_counters *counters,
			struct pft_track **track, const struct model_message *message)
{
	if (!message->callback_ns || !message->publish_ns ||
	    !export_comparable(message->publish_thread, message->take_thread))
		return;
	if (!*track)
		*track = counter_to(exporter, counters, "latency to ", message, PFT_UNIT_NS);
	pft_counter_i64(*track, export_time(exporter, message->callback_ns),
			message->callback_ns - message->publish_ns);
}

void export_count_taken(struct exporter *exporter, const struct model_message *message)
{
	const struct model_subscription *to = message->subscription;
	struct topic_counters *counters = counters_of(exporter, message->topic);
	struct subscription_state *state = counters && to ?
		BY_INDEX(exporter, BY_SUBSCRIPTION, to->index, struct subscription_state) : NULL;

	if (!counters)
		return;
	if (state && message->id && counters->latest)
		count_waiting(exporter, counters, state, message);
	put_latency(exporter, counters, state ? &state->latency : &counters->latency, message);
}

/* ---- drops ---- */

/* Written at the time when the drop is known, so that the sum never goes back in time. */
void export_count_dropped(struct exporter *exporter, const struct model_message *message)
{
	int64_t ns = exporter->now_ns < exporter->options->end_ns ? exporter->now_ns :
								    exporter->options->end_ns;
	struct topic_counters *counters = counters_of(exporter, message->topic);

	if (!counters)
		return;
	if (!counters->dropped)
		counters->dropped = counter(exporter, counters, message->topic, "dropped", "", PFT_UNIT_COUNT);
	pft_counter_i64(counters->dropped, export_time(exporter, ns), (int64_t)++counters->drops);
}
