/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions and counters of a window as OTLP metrics. */
#include <stdio.h>

#include "base/array.h"
#include "fleet/otlp/otlp_internal.h"

enum { TEMPORALITY_DELTA = 1, TEMPORALITY_CUMULATIVE = 2 };

static unsigned temporality(const struct otlp_put *put)
{
	return put->of->cumulative ? TEMPORALITY_CUMULATIVE : TEMPORALITY_DELTA;
}

static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* Field 2 of Buckets is packed: all numbers in one field. */
static void put_buckets(struct pb *pb, const struct window_buckets *buckets)
{
	pb_open(pb, 8);
	pb_uint(pb, 1, zigzag(buckets->offset));
	pb_open(pb, 2);
	for (size_t i = 0; i < buckets->count; i++)
		pb_varint(pb, buckets->bucket[i]);
	pb_close(pb);
	pb_close(pb);
}

static void put_histogram(struct otlp_put *put, const struct summary_entity *entity,
			  const struct histogram *histogram)
{
	struct window_buckets buckets;
	struct pb *pb = put->pb;

	window_buckets(histogram, WINDOW_SCALE, &buckets);
	pb_open(pb, 1);
	otlp_entity(pb, 1, entity);
	pb_fixed64(pb, 2, (uint64_t)put->begin_ns);
	pb_fixed64(pb, 3, (uint64_t)put->end_ns);
	pb_fixed64(pb, 4, histogram->count);
	pb_double(pb, 5, (double)histogram->sum);
	pb_uint(pb, 6, zigzag(WINDOW_SCALE));
	pb_fixed64(pb, 7, buckets.zero_count);
	if (buckets.count)
		put_buckets(pb, &buckets);
	pb_double(pb, 12, (double)histogram->min);
	pb_double(pb, 13, (double)histogram->max);
	pb_close(pb);
	put->count++;
}

static void begin_metric(struct pb *pb, const char *name, const char *text, const char *unit,
			 uint32_t data)
{
	pb_open(pb, 2);
	pb_text(pb, 1, name);
	pb_text(pb, 2, text);
	pb_text(pb, 3, unit);
	pb_open(pb, data);
}

static void put_distribution(struct otlp_put *put, enum summary_kind kind,
			     enum summary_distribution which)
{
	const struct summary *summary = put->summary;
	char name[128];
	bool open = false;

	snprintf(name, sizeof(name), "ros2.%s.%s", summary_kind_name(kind),
		 summary_distribution_name(which));
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];

		if (entity->kind != kind || !entity->histogram[which].count)
			continue;
		if (!open)
			begin_metric(put->pb, name, "", "ns", 10);
		open = true;
		put_histogram(put, entity, &entity->histogram[which]);
	}
	if (!open)
		return;
	pb_uint(put->pb, 2, temporality(put));
	pb_close(put->pb);
	pb_close(put->pb);
}

/* ---- counters ---- */

static void put_number(struct otlp_put *put, const struct summary_entity *entity,
		       const char *cause, uint64_t value)
{
	struct pb *pb = put->pb;

	pb_open(pb, 1);
	pb_fixed64(pb, 2, (uint64_t)put->begin_ns);
	pb_fixed64(pb, 3, (uint64_t)put->end_ns);
	pb_fixed64(pb, 6, value);
	if (entity)
		otlp_entity(pb, 7, entity);
	otlp_text(pb, 7, "cause", cause);
	pb_close(pb);
	put->count++;
}

static void end_sum(struct otlp_put *put)
{
	pb_uint(put->pb, 2, temporality(put));
	pb_uint(put->pb, 3, 1);
	pb_close(put->pb);
	pb_close(put->pb);
}

struct counter {
	const char *name, *text, *unit;
	enum summary_kind kind;
	enum summary_counter counter;
	const char *cause; /* NULL: the counter is a metric; else a point of the metric before */
};

static const struct counter counters[] = {
	{ "ros2.topic.published", "Publish calls.", "{message}", SUMMARY_TOPIC, SUMMARY_PUBLISHED,
	  NULL },
	{ "ros2.topic.lost", "Messages that a subscription did not receive.", "{message}",
	  SUMMARY_TOPIC, SUMMARY_NEVER_SENT, "never_sent" },
	{ "ros2.topic.lost", "", "", SUMMARY_TOPIC, SUMMARY_NEVER_RECEIVED, "never_received" },
	{ "ros2.topic.lost", "", "", SUMMARY_TOPIC, SUMMARY_OVERWRITTEN, "overwritten" },
	{ "ros2.topic.lost", "", "", SUMMARY_TOPIC, SUMMARY_CLEARED, "cleared" },
	{ "ros2.subscription.received", "Messages that a subscription received.", "{message}",
	  SUMMARY_SUBSCRIPTION, SUMMARY_RECEIVED, NULL },
	{ "ros2.timer.late", "Starts half a period late or more.", "{start}", SUMMARY_TIMER,
	  SUMMARY_LATE, NULL },
	{ "ros2.loop.missed", "Deadlines that a loop missed.", "{cycle}", SUMMARY_LOOP,
	  SUMMARY_MISSED, NULL },
	{ "ros2.callback.waited", "How long runs waited for other callbacks.", "ns",
	  SUMMARY_CALLBACK, SUMMARY_WAITED_NS, NULL },
};

static void put_counters(struct otlp_put *put)
{
	const char *open = "";

	for (unsigned c = 0; c < COUNT_OF(counters); c++) {
		const struct counter *counter = &counters[c];

		for (unsigned i = 0; i < put->summary->entities; i++) {
			const struct summary_entity *entity = put->summary->entity[i];
			const uint64_t value = entity->count[counter->counter];

			/* Of causes, those that happened; a counter is also 0. */
			if (entity->kind != counter->kind || (!value && counter->cause))
				continue;
			if (open != counter->name) {
				if (*open)
					end_sum(put);
				begin_metric(put->pb, counter->name, counter->text, counter->unit,
					     7);
				open = counter->name;
			}
			put_number(put, entity, counter->cause, value);
		}
	}
	if (*open)
		end_sum(put);
}

/* A number of the window itself. */
static void put_sum(struct otlp_put *put, const char *name, const char *text, const char *unit,
		    uint64_t value)
{
	begin_metric(put->pb, name, text, unit, 7);
	put_number(put, NULL, NULL, value);
	end_sum(put);
}

void otlp_metrics(struct otlp_put *put)
{
	const struct summary *summary = put->summary;

	for (unsigned kind = 0; kind < SUMMARY_KINDS; kind++)
		for (unsigned which = 0; which < SUMMARY_DISTRIBUTIONS; which++)
			put_distribution(put, kind, which);
	put_counters(put);
	put_sum(put, "kymo.events", "Events that were read.", "{event}", summary->events);
	put_sum(put, "kymo.events.lost", "Events that the recording lost.", "{event}",
		summary->trust.lost_events);
	put_sum(put, "kymo.windows.over_entities",
		"Windows with more entities than serve.max-entities: the others count as (other).",
		"{window}", summary->over);
	put_sum(put, "kymo.objects.left_out",
		"Nodes, publishers, subscriptions, timers, services and clients above "
		"serve.max-objects.",
		"{object}", summary->left_objects);
	put_sum(put, "kymo.events.left_out",
		"Events of threads and processes above serve.max-objects.", "{event}",
		summary->left_events);
}
