/* SPDX-License-Identifier: Apache-2.0 */
/* The text of /metrics; see serve_metrics.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "fleet/window/window.h"
#include "serve/serve_incidents.h"
#include "serve/serve_metrics_internal.h"
#include "serve/serve_push.h"

static const uint64_t bound_ns[SERVE_METRICS_BOUNDS] = {
	10000,     25000,      50000,      100000,     250000,      500000,    1000000,
	2500000,   5000000,    10000000,   25000000,   50000000,    100000000, 250000000,
	500000000, 1000000000, 2500000000, 5000000000, 10000000000,
};

struct metrics_page {
	FILE *out;
	bool open;
};

static void put_label(const struct metrics_page *page, const char *key, const char *value,
		      bool *first)
{
	char *copy = text_utf8(value);

	fprintf(page->out, "%s%s=\"", *first ? "{" : ",", key);
	*first = false;
	for (const char *at = copy ? copy : ""; *at; at++) {
		if (*at == '\n')
			fputs("\\n", page->out);
		else if (*at == '"' || *at == '\\')
			fprintf(page->out, "\\%c", *at);
		else
			putc_unlocked(*at, page->out);
	}
	fputc('"', page->out);
	free(copy);
}

/* What a series is known by; with @more one label more. */
static void put_labels(const struct metrics_page *page, const struct summary_entity *entity,
		       const char *more, const char *value)
{
	bool first = true;
	char node[1024], topic[1024];

	switch (entity->kind) {
	case SUMMARY_CHAIN:
		put_label(page, "chain", entity->name, &first);
		break;
	case SUMMARY_TOPIC:
		put_label(page, "topic", entity->name, &first);
		break;
	default:
		put_label(page, entity->kind == SUMMARY_TIMER ? "timer" : "callback", entity->name,
			  &first);
		put_label(page, "node", window_node(entity, node, sizeof(node)), &first);
		if (entity->kind == SUMMARY_CALLBACK)
			put_label(page, "topic", window_topic(entity, topic, sizeof(topic)),
				  &first);
		put_label(page, "process", entity->of, &first);
	}
	if (more)
		put_label(page, more, value, &first);
	fputc('}', page->out);
}

/* Of a counter, OpenMetrics calls the family by its name without _total. */
static void put_head(const struct metrics_page *page, const char *name, const char *type,
		     const char *help)
{
	const size_t length = strlen(name);
	const bool cut = page->open && length > 6 && !strcmp(name + length - 6, "_total");

	fprintf(page->out, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)(cut ? length - 6 : length),
		name, help, (int)(cut ? length - 6 : length), name, type);
}

static void put_seconds(const struct metrics_page *page, uint64_t ns)
{
	char text[TEXT_QUANTITY_MAX];

	fputs(text_f64_exact(text, (double)ns / 1e9), page->out);
}

static void put_histogram(const struct metrics_page *page, const char *name,
			  const struct summary_entity *entity, const struct histogram *histogram)
{
	uint64_t below[COUNT_OF(bound_ns)] = { 0 }, sum = 0, middle, count;
	char text[TEXT_QUANTITY_MAX];
	unsigned at = 0, bound = 0;

	while (histogram_next(histogram, &at, &middle, &count)) {
		while (bound < COUNT_OF(bound_ns) && middle > bound_ns[bound])
			bound++;
		if (bound < COUNT_OF(bound_ns))
			below[bound] += count;
	}
	for (unsigned i = 0; i < COUNT_OF(bound_ns); i++) {
		sum += below[i];
		fprintf(page->out, "%s_bucket", name);
		put_labels(page, entity, "le", text_f64_exact(text, (double)bound_ns[i] / 1e9));
		fprintf(page->out, " %" PRIu64 "\n", sum);
	}
	fprintf(page->out, "%s_bucket", name);
	put_labels(page, entity, "le", "+Inf");
	fprintf(page->out, " %" PRIu64 "\n%s_sum", histogram->count, name);
	put_labels(page, entity, NULL, NULL);
	fputc(' ', page->out);
	put_seconds(page, histogram->sum);
	fprintf(page->out, "\n%s_count", name);
	put_labels(page, entity, NULL, NULL);
	fprintf(page->out, " %" PRIu64 "\n", histogram->count);
}

static void put_distribution(const struct serve_metrics *metrics, const struct metrics_page *page,
			     const char *name, const char *help, enum summary_kind kind,
			     enum summary_distribution which)
{
	put_head(page, name, "histogram", help);
	for (unsigned i = 0; i < metrics->total->entities; i++) {
		const struct summary_entity *entity = metrics->total->entity[i];

		if (entity->kind == kind && entity->histogram[which].count)
			put_histogram(page, name, entity, &entity->histogram[which]);
	}
}

static void put_topics(const struct serve_metrics *metrics, const struct metrics_page *page)
{
	static const enum summary_counter causes[] = { SUMMARY_NEVER_SENT, SUMMARY_NEVER_RECEIVED,
						       SUMMARY_OVERWRITTEN, SUMMARY_CLEARED };
	static const char published[] = "ros2_topic_published_messages_total";
	static const char lost[] = "ros2_topic_lost_messages_total";
	const struct summary *total = metrics->total;

	put_head(page, published, "counter", "Publish calls.");
	for (unsigned i = 0; i < total->entities; i++) {
		if (total->entity[i]->kind != SUMMARY_TOPIC)
			continue;
		fputs(published, page->out);
		put_labels(page, total->entity[i], NULL, NULL);
		fprintf(page->out, " %" PRIu64 "\n", total->entity[i]->count[SUMMARY_PUBLISHED]);
	}
	put_head(page, lost, "counter", "Messages that a subscription did not receive, by cause.");
	for (unsigned i = 0; i < total->entities; i++)
		for (unsigned j = 0; j < COUNT_OF(causes); j++) {
			const struct summary_entity *entity = total->entity[i];

			if (entity->kind != SUMMARY_TOPIC)
				continue;
			fputs(lost, page->out);
			put_labels(page, entity, "cause", summary_counter_name(causes[j]));
			fprintf(page->out, " %" PRIu64 "\n", entity->count[causes[j]]);
		}
}

/* Also those that were only counted, which have no histogram. */
static void put_runs(const struct serve_metrics *metrics, const struct metrics_page *page)
{
	static const char name[] = "ros2_callback_runs_total";

	put_head(page, name, "counter", "Runs of a callback.");
	for (unsigned i = 0; i < metrics->total->entities; i++) {
		const struct summary_entity *entity = metrics->total->entity[i];

		if (entity->kind != SUMMARY_CALLBACK)
			continue;
		fputs(name, page->out);
		put_labels(page, entity, NULL, NULL);
		fprintf(page->out, " %" PRIu64 "\n", entity->count[SUMMARY_RUNS]);
	}
}

/* All that a callback waited for its @which-th culprit; 0: it was counted with an earlier one of
 * that name. */
static uint64_t waited_for(const struct summary_entity *entity, unsigned which)
{
	const char *by = entity->culprit[which].by;
	uint64_t ns = 0;

	for (unsigned i = 0; i < entity->culprits; i++) {
		if (strcmp(entity->culprit[i].by, by) != 0)
			continue;
		if (i < which)
			return 0;
		ns += entity->culprit[i].ns;
	}
	return ns;
}

static void put_waits(const struct serve_metrics *metrics, const struct metrics_page *page)
{
	static const char name[] = "ros2_callback_waited_seconds_total";
	const struct summary *total = metrics->total;

	put_head(page, name, "counter",
		 "Time that runs of the callback waited for another one, the culprit.");
	for (unsigned i = 0; i < total->entities; i++) {
		const struct summary_entity *entity = total->entity[i];

		for (unsigned j = 0; j < entity->culprits && j < SERVE_METRICS_CULPRITS; j++) {
			const uint64_t ns =
				entity->kind == SUMMARY_CALLBACK ? waited_for(entity, j) : 0;

			if (!ns)
				continue;
			fputs(name, page->out);
			put_labels(page, entity, "culprit", entity->culprit[j].by);
			fputc(' ', page->out);
			put_seconds(page, ns);
			fputc('\n', page->out);
		}
	}
}

static void put_counter(const struct metrics_page *page, const char *name, const char *help,
			uint64_t value)
{
	put_head(page, name, "counter", help);
	fprintf(page->out, "%s %" PRIu64 "\n", name, value);
}

/* Labels of the whole target, which a query joins by instance. */
static void put_target(const struct serve_metrics *metrics, const struct metrics_page *page)
{
	const struct config *config = metrics->options.config;
	const char *const info = page->open ? "target" : "target_info";
	bool first = true;

	fprintf(page->out, "# HELP %s The robot, as its configuration file says.\n# TYPE %s %s\ntarget_info",
		info, info, page->open ? "info" : "gauge");
	put_label(page, "robot", config->robot, &first);
	put_label(page, "boot", config->boot, &first);
	put_label(page, "software", config->software, &first);
	for (unsigned i = 0; i < config->labels; i++)
		put_label(page, config->label[i].name, config->label[i].value, &first);
	fputs("} 1\n", page->out);
}

static void put_own(const struct serve_metrics *metrics, const struct metrics_page *page)
{
	bool first = true;

	put_counter(page, "kymo_events_total", "Events that were read.", metrics->total->events);
	put_counter(page, "kymo_events_lost_total", "Events that the recording lost.",
		    metrics->total->trust.lost_events);
	put_counter(page, "kymo_windows_total", "Windows so far.", metrics->windows);
	put_counter(page, "kymo_series_dropped_total",
		    "Series that were left out, in each window again, because there were too many.",
		    metrics->dropped);
	put_counter(page, "kymo_windows_over_entities_total",
		    "Windows with more entities than have room; the others count as (other).",
		    metrics->over);
	put_counter(page, "kymo_objects_left_out_total",
		    "Nodes, publishers, subscriptions, timers, services and clients above --max-objects.",
		    metrics->total->left_objects);
	put_counter(page, "kymo_events_left_out_total",
		    "Events of threads and processes above --max-objects.",
		    metrics->total->left_events);
	put_head(page, "kymo_window_end_timestamp_seconds", "gauge",
		 "Up to this time, the numbers are complete.");
	fputs("kymo_window_end_timestamp_seconds ", page->out);
	put_seconds(page, (uint64_t)metrics->end_ns);
	fputc('\n', page->out);
	put_head(page, "kymo_build_info", "gauge", "The version of kymo, as a label.");
	fputs("kymo_build_info", page->out);
	put_label(page, "version", metrics->options.version, &first);
	fputs("} 1\n", page->out);
}

static void put_incidents(const struct metrics_page *page, const struct serve_incidents *incidents)
{
	if (!incidents->directory)
		return;
	put_counter(page, "kymo_incidents_total", "Incidents of the flight recorder, also those that were removed since.",
		    incidents->total);
	put_head(page, "kymo_incidents_kept", "gauge", "Incidents that are kept.");
	fprintf(page->out, "kymo_incidents_kept %" PRIu64 "\n", incidents->kept);
	put_head(page, "kymo_incidents_kept_bytes", "gauge", "Bytes of the incidents that are kept.");
	fprintf(page->out, "kymo_incidents_kept_bytes %" PRIu64 "\n", incidents->bytes);
}

void serve_metrics_put(const struct serve_metrics *metrics, const struct serve_incidents *incidents,
		       struct push *push, struct upload *upload, struct upload *webhook, bool open,
		       FILE *out)
{
	const struct metrics_page page = { out, open };

	put_distribution(metrics, &page, "ros2_callback_duration_seconds",
			 "How long runs of a callback took.", SUMMARY_CALLBACK, SUMMARY_DURATION);
	put_distribution(metrics, &page, "ros2_topic_latency_seconds",
			 "From the publish call to the start of the callback.", SUMMARY_TOPIC,
			 SUMMARY_LATENCY);
	put_distribution(metrics, &page, "ros2_chain_latency_seconds",
			 "From the begin of a chain to the end of its last callback.",
			 SUMMARY_CHAIN, SUMMARY_LATENCY);
	put_distribution(metrics, &page, "ros2_timer_late_seconds",
			 "From when a timer was due to the start of its callback.", SUMMARY_TIMER,
			 SUMMARY_WAIT);
	put_topics(metrics, &page);
	put_runs(metrics, &page);
	put_waits(metrics, &page);
	put_own(metrics, &page);
	put_target(metrics, &page);
	put_incidents(&page, incidents);
	serve_push_put(push, open, out);
	serve_upload_put(upload, "upload", open, out);
	serve_upload_put(webhook, "webhook", open, out);
	if (open)
		fputs("# EOF\n", out);
}
