/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a summary as JSON; see summary_file.h. What is 0 or empty is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "summary/summary_file.h"
#include "summary/summary_internal.h"

/* Times are written from the origin on: they are short then. */
static void put_time(struct json_text *json, const char *key, const struct summary *summary,
		     int64_t ns)
{
	if (ns)
		json_text_i64(json, key, ns - summary->origin_ns);
}

void summary_put_buckets(struct json_text *json, const struct histogram *histogram)
{
	uint64_t middle, count, sum = 0;
	unsigned at = 0, last = 0, now = 0;

	json_text_open(json, "buckets", '[');
	while (histogram_next(histogram, &at, &middle, &count)) {
		const unsigned bucket = histogram_coarse(middle);

		if (sum && bucket != now) {
			json_text_u64(json, NULL, now - last);
			json_text_u64(json, NULL, sum);
			last = now;
			sum = 0;
		}
		now = bucket;
		sum += count;
	}
	json_text_u64(json, NULL, now - last);
	json_text_u64(json, NULL, sum);
	json_text_close(json, ']');
}

static void put_quantiles(struct json_text *json, const uint64_t quantile[SUMMARY_QUANTILES])
{
	json_text_open(json, "quantiles", '[');
	for (unsigned i = 0; i < SUMMARY_QUANTILES; i++)
		json_text_u64(json, NULL, quantile[i]);
	json_text_close(json, ']');
}

static bool any(const uint64_t quantile[SUMMARY_QUANTILES])
{
	return quantile[SUMMARY_QUANTILES - 1] != 0;
}

/* Each bucket by its middle; the sum of squares. */
static void put_fine(struct json_text *json, const struct histogram *histogram)
{
	uint64_t middle, count, last = 0;
	unsigned at = 0;

	json_text_open(json, "squares", '[');
	json_text_u64(json, NULL, histogram->squares[0]);
	json_text_u64(json, NULL, histogram->squares[1]);
	json_text_close(json, ']');
	json_text_open(json, "fine", '[');
	while (histogram_next(histogram, &at, &middle, &count)) {
		json_text_u64(json, NULL, middle - last);
		json_text_u64(json, NULL, count);
		last = middle;
	}
	json_text_close(json, ']');
}

static void put_histogram(struct json_text *json, const char *key,
			  const struct histogram *histogram,
			  const uint64_t quantile[SUMMARY_QUANTILES], bool is_exact)
{
	if (!histogram->count)
		return;
	json_text_open(json, key, '{');
	json_text_u64(json, "count", histogram->count);
	json_text_some_u64(json, "sum", histogram->sum);
	json_text_some_u64(json, "min", histogram->min);
	json_text_some_u64(json, "max", histogram->max);
	if (any(quantile))
		put_quantiles(json, quantile);
	if (is_exact)
		put_fine(json, histogram);
	else
		summary_put_buckets(json, histogram);
	json_text_close(json, '}');
}

/* What took the time, as parts and culprits have it. */
static void put_by(struct json_text *json, const char *by, bool is_group, bool is_assumed)
{
	json_text_some_string(json, "by", by);
	json_text_flag(json, "group", is_group);
	json_text_flag(json, "assumed", is_assumed);
}

void summary_put_part(struct json_text *json, const struct summary_part *part)
{
	json_text_string(json, "what", summary_what_name(part->what));
	json_text_some_string(json, "who", part->who);
	put_by(json, part->by, part->is_group, part->is_assumed);
	json_text_i64(json, "ns", part->ns);
}

static void put_part(struct json_text *json, const struct summary_part *part, bool is_exact)
{
	json_text_open(json, NULL, '{');
	summary_put_part(json, part);
	json_text_some_i64(json, "usual_ns", part->usual_ns);
	if (part->at_ns && is_exact)
		json_text_i64(json, "at_ns", part->at_ns);
	if (part->source_ns && is_exact)
		json_text_i64(json, "source_ns", part->source_ns);
	json_text_close(json, '}');
}

/* What an instance is made of that took as long as usually, nobody asks a file. */
static bool has_parts(const struct summary_entity *entity)
{
	const uint64_t usual = histogram_quantile(&entity->histogram[SUMMARY_LATENCY], 0.5);

	return entity->worst[0].parts && (uint64_t)entity->worst[0].value_ns >= 2 * usual;
}

static void put_instance(struct json_text *json, const char *key, const struct summary *summary,
			 const struct summary_instance *instance, bool with_parts, bool is_exact)
{
	json_text_open(json, key, '{');
	json_text_i64(json, "begin_ns", instance->begin_ns - summary->origin_ns);
	json_text_i64(json, "ns", instance->value_ns);
	json_text_some_i64(json, "error_ns", instance->error_ns);
	json_text_flag(json, "startup", instance->is_startup);
	if (instance->source_ns && is_exact) {
		json_text_some_string(json, "topic", instance->topic);
		json_text_i64(json, "source_ns", instance->source_ns);
	}
	if (with_parts) {
		json_text_open(json, "parts", '[');
		for (unsigned p = 0; p < instance->parts; p++)
			put_part(json, &instance->part[p], is_exact);
		json_text_close(json, ']');
	}
	json_text_close(json, '}');
}

/* The worst one of all is among the worst ones of the parts, so that one of each is enough. */
static void put_worst(struct json_text *json, const struct summary *summary,
		      const struct summary_entity *entity, bool is_exact)
{
	if (entity->worsts && !is_exact)
		/* Where a span began inside another one says that both are one finding. */
		put_instance(json, "worst", summary, &entity->worst[0], has_parts(entity),
			     entity->kind == SUMMARY_SPAN);
	if (!entity->worsts || !is_exact)
		return;
	json_text_open(json, "worsts", '[');
	for (unsigned i = 0; i < entity->worsts; i++)
		put_instance(json, NULL, summary, &entity->worst[i], true, true);
	json_text_close(json, ']');
}

void summary_put_culprits(struct json_text *json, const struct summary_entity *entity,
			  const char *worst)
{
	if (!entity->culprits)
		return;
	json_text_open(json, "culprits", '[');
	for (unsigned i = 0; i < entity->culprits; i++) {
		const struct summary_culprit *culprit = &entity->culprit[i];

		json_text_open(json, NULL, '{');
		put_by(json, culprit->by, culprit->is_group, culprit->is_assumed);
		json_text_u64(json, "count", culprit->count);
		json_text_u64(json, "ns", culprit->ns);
		json_text_u64(json, worst, culprit->worst_ns);
		if (culprit->steady_ns != culprit->worst_ns)
			json_text_u64(json, "steady_ns", culprit->steady_ns);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

static void put_segments(struct json_text *json, const struct summary_entity *entity)
{
	if (!entity->segments)
		return;
	json_text_open(json, "segments", '[');
	for (unsigned i = 0; i < entity->segments; i++) {
		const struct summary_segment *segment = &entity->segment[i];

		json_text_open(json, NULL, '{');
		json_text_string(json, "what", summary_what_name(segment->what));
		json_text_some_string(json, "who", segment->who);
		json_text_some_string(json, "by", segment->by);
		json_text_some_u64(json, "ns", segment->ns);
		if (any(segment->quantile))
			put_quantiles(json, segment->quantile);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

/* Nobody asks a file for their sum, or the longest of them. */
static void put_startup_values(struct json_text *json, const char *key,
			       const struct histogram *histogram, bool is_exact)
{
	static const uint64_t no_quantile[SUMMARY_QUANTILES];

	if (is_exact) {
		put_histogram(json, key, histogram, no_quantile, true);
		return;
	}
	json_text_open(json, key, '{');
	json_text_u64(json, "count", histogram->count);
	summary_put_buckets(json, histogram);
	json_text_close(json, '}');
}

static void put_startup(struct json_text *json, const struct summary_entity *entity, bool is_exact)
{
	const struct summary_startup *startup = entity->startup;
	bool matters = false;
	char key[32];

	for (unsigned i = 0; startup && i < SUMMARY_DISTRIBUTIONS; i++)
		matters |= is_exact || summary_startup_matters(entity, i);
	if (!matters)
		return;
	json_text_open(json, "at_start", '{');
	json_text_some_u64(json, "overrun", startup->overrun);
	for (unsigned i = 0; i < SUMMARY_DISTRIBUTIONS; i++) {
		if (!startup->histogram[i].count ||
		    (!is_exact && !summary_startup_matters(entity, i)))
			continue;
		put_startup_values(json, summary_distribution_name(i), &startup->histogram[i],
				   is_exact);
		json_text_u64(json, summary_steady_key(key, i), startup->steady_ns[i]);
	}
	json_text_close(json, '}');
}

/* A pid says nothing about another run: of "/scan -> /cmd_vel (filter 4711)" the chain is left. */
static void put_without_pid(struct json_text *json, const char *key, const char *text)
{
	const char *end = text + strlen(text);
	char rest[4096];

	while (end > text && strncmp(end, " (", 2) != 0)
		end--;
	if (end == text)
		end = text + strlen(text);
	(void)snprintf(rest, sizeof(rest), "%.*s", (int)(end - text), text);
	json_text_some_string(json, key, rest);
}

static void put_names(struct json_text *json, const struct summary_entity *entity, bool is_exact)
{
	const bool is_chain = entity->kind == SUMMARY_CHAIN;

	if (is_exact || !entity->pid) {
		if (entity->label != entity->name)
			json_text_some_string(json, "label", entity->label);
		json_text_some_i64(json, "pid", entity->pid);
		json_text_some_string(json, "ask", entity->ask);
		return;
	}
	if (is_chain)
		put_without_pid(json, "label", entity->label);
	if (is_chain || entity->kind == SUMMARY_CALLBACK || entity->kind == SUMMARY_TIMER)
		put_without_pid(json, "ask", entity->ask);
	else
		json_text_some_string(json, "ask", entity->ask);
}

static void put_entity(struct json_text *json, const struct summary *summary,
		       const struct summary_entity *entity, bool is_exact)
{
	json_text_open(json, NULL, '{');
	json_text_string(json, "kind", summary_kind_name(entity->kind));
	json_text_string(json, "name", entity->name);
	json_text_some_string(json, "of", entity->of);
	put_names(json, entity, is_exact);
	json_text_some_i64(json, "period_ns", entity->period_ns);
	json_text_flag(json, "startup", entity->is_startup);
	json_text_flag(json, "other_clock", entity->is_other_clock);
	put_time(json, "first_ns", summary, entity->first_ns);
	put_time(json, "last_ns", summary, entity->last_ns);
	for (unsigned i = 0; i < SUMMARY_COUNTERS; i++)
		json_text_some_u64(json, summary_counter_name(i), entity->count[i]);
	for (unsigned i = 0; i < SUMMARY_DISTRIBUTIONS; i++)
		put_histogram(json, summary_distribution_name(i), &entity->histogram[i],
			      entity->quantile[i], is_exact);
	put_startup(json, entity, is_exact);
	put_segments(json, entity);
	summary_put_culprits(json, entity, "worst_ns");
	put_worst(json, summary, entity, is_exact);
	json_text_close(json, '}');
}

static void put_trust(struct json_text *json, const struct summary *summary)
{
#define PUT(name) json_text_some_u64(json, #name, trust->name);
	const struct summary_trust *trust = &summary->trust;

	json_text_open(json, "trust", '{');
	SUMMARY_TRUST_COUNTS(PUT)
	put_time(json, "lost_begin_ns", summary, (int64_t)trust->lost_begin_ns);
	put_time(json, "lost_end_ns", summary, (int64_t)trust->lost_end_ns);
	json_text_some_string(json, "lost_of", trust->lost_of);
	json_text_close(json, '}');
#undef PUT
}

/* What no file for users says. */
static void put_counts(struct json_text *json, const struct summary *summary)
{
#define PUT(name) json_text_some_u64(json, #name, summary->name);
	json_text_some_u64(json, "processes", summary->processes);
	SUMMARY_LEFT_COUNTS(PUT)
#undef PUT
}

static void put_machine(struct json_text *json, const struct summary *summary)
{
	json_text_open(json, "machine", '{');
	for (unsigned part = 0; part < MACHINE_PARTS; part++)
		json_text_some_string(json, accounts_machine_name((enum accounts_machine)part),
				      summary->machine[part]);
	json_text_close(json, '}');
}

static void put_summary(struct json_text *json, const struct summary *summary, bool is_exact)
{
	json_text_open(json, NULL, '{');
	json_text_u64(json, "kymo_summary", 1);
	if (summary->events) {
		json_text_i64(json, "origin_ns", summary->origin_ns);
		json_text_i64(json, "begin_ns", summary->begin_ns);
		json_text_i64(json, "end_ns", summary->end_ns);
	}
	json_text_some_string(json, "host", summary->host);
	json_text_some_string(json, "clock", summary->clock);
	put_machine(json, summary);
	json_text_u64(json, "events", summary->events);
	json_text_u64(json, "ros_events", summary->ros_events);
	json_text_u64(json, "windows", summary->windows);
	json_text_u64(json, "nodes", summary->nodes);
	if (is_exact)
		put_counts(json, summary);
	put_trust(json, summary);
	json_text_open(json, "entities", '[');
	for (unsigned i = 0; i < summary->entities; i++)
		put_entity(json, summary, summary->entity[i], is_exact);
	json_text_close(json, ']');
	json_text_close(json, '}');
	json_text_raw(json, "\n", 1);
}

int summary_write(const struct summary *summary, const char *path, struct kymo_err *err)
{
	struct json_text json = { .one_line = true };
	int status;

	put_summary(&json, summary, false);
	if (json.failed || json.size > INT32_MAX)
		status = err_no_memory(err);
	else
		status = summary_file_put(path, &json, err);
	free(json.text);
	return status;
}

char *summary_put_exact(const struct summary *summary, size_t *size)
{
	struct json_text json = { .one_line = true };

	put_summary(&json, summary, true);
	*size = json.size;
	json_text_raw(&json, "", 1);
	if (!json.failed)
		return json.text;
	free(json.text);
	return NULL;
}
