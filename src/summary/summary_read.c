/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a summary from a file that another program wrote; see summary_file.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "summary/summary_file.h"
#include "summary/summary_internal.h"

#define ENTITIES_MAX 1000000u

/* ---- members ---- */

/* What no time of a robot is: sums and differences of smaller ones have room. */
#define TIME_MAX ((int64_t)1 << 61)

static int64_t get_i64(struct json_object *object, const char *key)
{
	struct json_object *member = json_get(object, key);
	int64_t value =
		json_object_is_type(member, json_type_int) ? json_object_get_int64(member) : 0;

	return value > -TIME_MAX && value < TIME_MAX ? value : 0;
}

static bool get_bool(struct json_object *object, const char *key)
{
	return json_object_get_boolean(json_get(object, key));
}

static const char *get_text(struct summary *summary, struct json_object *object, const char *key)
{
	return summary_text(summary, json_get_text(object, key));
}

static int64_t get_time(const struct summary *summary, struct json_object *object, const char *key)
{
	return json_get(object, key) ? summary->origin_ns + get_i64(object, key) : 0;
}

static uint64_t element(struct json_object *array, size_t index)
{
	struct json_object *value = json_object_array_get_idx(array, index);

	return json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
}

/* ---- entities ---- */

/* What summary_put_exact() wrote. Return: how many values; UINT64_MAX: no memory, or not one. */
static uint64_t read_fine(struct histogram *histogram, struct json_object *object)
{
	struct json_object *fine = json_get(object, "fine"), *squares = json_get(object, "squares");
	uint64_t middle = 0, sum = 0;

	if (json_length(squares) == 2) {
		histogram->squares[0] = element(squares, 0);
		histogram->squares[1] = element(squares, 1);
	}
	for (size_t i = 0; i + 1 < json_length(fine); i += 2) {
		const uint64_t count = element(fine, i + 1);

		middle += element(fine, i);
		if (middle >= (uint64_t)TIME_MAX || count > UINT32_MAX ||
		    histogram_fill(histogram, middle, count))
			return UINT64_MAX;
		sum += count;
	}
	return sum;
}

/* The buckets must have as many values as the histogram says. Return: 0; -1: they do not; -ENOMEM.
 */
static int read_histogram(struct histogram *histogram, struct json_object *object)
{
	struct json_object *buckets = json_get(object, "buckets");
	const size_t length = json_length(buckets);
	uint64_t bucket = 0, sum = 0;

	if (!object)
		return 0;
	histogram->count = json_get_u64(object, "count");
	histogram->sum = json_get_u64(object, "sum");
	histogram->min = json_get_u64(object, "min");
	histogram->max = json_get_u64(object, "max");
	sum = read_fine(histogram, object);
	if (sum == UINT64_MAX)
		return -1;
	for (size_t i = 0; i + 1 < length; i += 2) {
		const uint64_t count = element(buckets, i + 1);

		bucket += element(buckets, i);
		if (bucket >= HISTOGRAM_COARSE_MAX || count > UINT32_MAX)
			return -1;
		if (histogram_fill(histogram, histogram_coarse_middle((unsigned)bucket), count))
			return -ENOMEM;
		sum += count;
	}
	return sum == histogram->count && histogram->min <= histogram->max &&
			       histogram->max < (uint64_t)TIME_MAX
		       ? 0
		       : -1;
}

/* Return: SUMMARY_WHATS: none, of a later version. */
static enum summary_what what_of(struct json_object *object)
{
	const char *text = json_get_text(object, "what");
	unsigned what = 0;

	while (what < SUMMARY_WHATS && strcmp(text ? text : "", summary_what_name(what)) != 0)
		what++;
	return what;
}

static void read_part(struct summary *summary, struct summary_instance *instance,
		      struct json_object *object)
{
	struct summary_part part = { .what = what_of(object),
				     .who = get_text(summary, object, "who"),
				     .by = get_text(summary, object, "by"),
				     .is_group = get_bool(object, "group"),
				     .is_assumed = get_bool(object, "assumed"),
				     .ns = get_i64(object, "ns"),
				     .usual_ns = get_i64(object, "usual_ns"),
				     .at_ns = get_i64(object, "at_ns"),
				     .source_ns = get_i64(object, "source_ns") };

	if (part.what < SUMMARY_WHATS && part.ns >= 0 && part.usual_ns >= 0 &&
	    instance->parts < SUMMARY_PARTS_MAX)
		instance->part[instance->parts++] = part;
}

static void read_worst(struct summary *summary, struct summary_entity *entity,
		       struct json_object *object)
{
	struct json_object *parts = json_get(object, "parts");
	struct summary_instance instance = {
		.begin_ns = summary->origin_ns + get_i64(object, "begin_ns"),
		.value_ns = get_i64(object, "ns"),
		.error_ns = get_i64(object, "error_ns"),
		.is_startup = get_bool(object, "startup"),
		.topic = get_text(summary, object, "topic"),
		.source_ns = get_i64(object, "source_ns"),
	};

	for (size_t p = 0; p < json_length(parts) && p < SUMMARY_PARTS_MAX; p++)
		read_part(summary, &instance, json_object_array_get_idx(parts, p));
	if (object && instance.value_ns >= 0)
		summary_add_worst(summary, entity, &instance);
}

static void read_culprits(struct summary *summary, struct summary_entity *entity,
			  struct json_object *array)
{
	for (size_t i = 0; i < json_length(array) && i < 4096; i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		struct summary_culprit culprit = {
			.by = get_text(summary, object, "by"),
			.is_group = get_bool(object, "group"),
			.is_assumed = get_bool(object, "assumed"),
			.count = json_get_u64(object, "count"),
			.ns = json_get_u64(object, "ns"),
			.worst_ns = json_get_u64(object, "worst_ns"),
		};

		culprit.steady_ns = json_get(object, "steady_ns")
					    ? json_get_u64(object, "steady_ns")
					    : culprit.worst_ns;
		summary_add_culprit(summary, entity, &culprit);
	}
}

#define SEGMENTS_MAX 1024u

static void read_quantiles(uint64_t quantile[SUMMARY_QUANTILES], struct json_object *array,
			   uint64_t most)
{
	for (unsigned i = 0; json_length(array) == SUMMARY_QUANTILES && i < SUMMARY_QUANTILES; i++)
		quantile[i] = element(array, i) <= most ? element(array, i) : 0;
}

static void read_segments(struct summary *summary, struct summary_entity *entity,
			  struct json_object *array)
{
	for (size_t i = 0; i < json_length(array) && i < SEGMENTS_MAX; i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		struct summary_segment segment = { .what = what_of(object),
						   .who = get_text(summary, object, "who"),
						   .by = get_text(summary, object, "by"),
						   .ns = json_get_u64(object, "ns") };

		read_quantiles(segment.quantile, json_get(object, "quantiles"), UINT64_MAX);
		if (segment.what < SUMMARY_WHATS)
			summary_add_segment(summary, entity, &segment);
	}
}

/* After the histograms. Return: 0; -1: it is not as it should be; -ENOMEM. */
static int read_startup(struct summary *summary, struct summary_entity *entity,
			struct json_object *object)
{
	struct summary_startup *startup = object ? summary_startup(summary, entity) : NULL;
	char key[32];

	if (!startup)
		return object ? -ENOMEM : 0;
	startup->overrun = json_get_u64(object, "overrun");
	for (unsigned i = 0; i < SUMMARY_DISTRIBUTIONS; i++) {
		int status = read_histogram(&startup->histogram[i],
					    json_get(object, summary_distribution_name(i)));

		if (status)
			return status;
		if (startup->histogram[i].count)
			startup->steady_ns[i] =
				json_get_u64(object, summary_steady_key(key, i));
		if (startup->histogram[i].count > entity->histogram[i].count ||
		    startup->steady_ns[i] > entity->histogram[i].max)
			return -1;
	}
	return startup->overrun > entity->count[SUMMARY_OVERRUN] ? -1 : 0;
}

/* Return: the kind of this name; SUMMARY_KINDS: none, of a later version. */
static enum summary_kind kind_of(const char *name)
{
	unsigned kind = 0;

	while (name && kind < SUMMARY_KINDS && strcmp(name, summary_kind_name(kind)) != 0)
		kind++;
	return name ? kind : SUMMARY_KINDS;
}

static const char *twin_label(struct summary *summary, const char *name, const char *of)
{
	char label[2048];

	(void)snprintf(label, sizeof(label), "%s (%s)", name, of);
	return summary_text(summary, label);
}

/* One of several with these names is told apart by its process, without a pid. */
static void read_label(struct summary *summary, struct summary_entity *entity,
		       struct json_object *object)
{
	const bool is_twin = strstr(entity->of, " #");

	if (json_get(object, "label"))
		entity->label = get_text(summary, object, "label");
	if (is_twin && (entity->kind == SUMMARY_CHAIN ? !entity->pid
						      : !json_get(object, "label")))
		entity->label = twin_label(summary, entity->label, entity->of);
}

static int read_entity(struct summary *summary, struct json_object *object)
{
	const enum summary_kind kind = kind_of(json_get_text(object, "kind"));
	const char *name = json_get_text(object, "name");
	struct json_object *worsts = json_get(object, "worsts");
	struct summary_entity *entity;
	int status;

	if (kind == SUMMARY_KINDS || !name)
		return 0;
	entity = summary_entity(summary, kind, name, json_get_text(object, "of"));
	if (!entity || entity->count[SUMMARY_RUNS] || entity->worsts)
		return entity ? -1 : -ENOMEM; /* twice */
	entity->pid = (int32_t)get_i64(object, "pid");
	read_label(summary, entity, object);
	entity->ask = get_text(summary, object, "ask");
	entity->period_ns = get_i64(object, "period_ns");
	entity->is_startup = get_bool(object, "startup");
	entity->is_other_clock = get_bool(object, "other_clock");
	entity->first_ns = get_time(summary, object, "first_ns");
	entity->last_ns = get_time(summary, object, "last_ns");
	for (unsigned i = 0; i < SUMMARY_COUNTERS; i++)
		entity->count[i] = json_get_u64(object, summary_counter_name(i));
	for (unsigned i = 0; i < SUMMARY_DISTRIBUTIONS; i++) {
		struct json_object *distribution = json_get(object, summary_distribution_name(i));

		status = read_histogram(&entity->histogram[i], distribution);
		if (status)
			return status;
		read_quantiles(entity->quantile[i], json_get(distribution, "quantiles"),
			       entity->histogram[i].max);
	}
	status = read_startup(summary, entity, json_get(object, "at_start"));
	if (status)
		return status;
	read_segments(summary, entity, json_get(object, "segments"));
	read_culprits(summary, entity, json_get(object, "culprits"));
	read_worst(summary, entity, json_get(object, "worst"));
	for (size_t i = 0; i < json_length(worsts) && i < SUMMARY_WORST_MAX; i++)
		read_worst(summary, entity, json_object_array_get_idx(worsts, i));
	return 0;
}

/* ---- the whole ---- */

static void read_facts(struct summary *summary, struct json_object *object)
{
	struct json_object *trust = json_get(object, "trust"),
			   *machine = json_get(object, "machine");
	const char *lost_of = json_get_text(trust, "lost_of");

	summary->events = json_get_u64(object, "events");
	/* Also what a time counts from, when no event tells. */
	summary->origin_ns = 0;
	if (summary->events) {
		summary->origin_ns = get_i64(object, "origin_ns");
		summary->begin_ns = get_i64(object, "begin_ns");
		summary->end_ns = get_i64(object, "end_ns");
	}
	summary->host = get_text(summary, object, "host");
	summary->clock = get_text(summary, object, "clock");
	for (unsigned part = 0; part < MACHINE_PARTS; part++)
		summary->machine[part] = get_text(
			summary, machine, accounts_machine_name((enum accounts_machine)part));
	summary->ros_events = json_get_u64(object, "ros_events");
	summary->windows = json_get_u64(object, "windows");
	summary->nodes = json_get_u64(object, "nodes");
	summary->processes = json_get_u64(object, "processes");
#define GET(name) summary->name = json_get_u64(object, #name);
	SUMMARY_LEFT_COUNTS(GET)
#undef GET
#define GET(name) .name = json_get_u64(trust, #name),
	summary->trust = (struct summary_trust){
		.lost_begin_ns = (uint64_t)get_time(summary, trust, "lost_begin_ns"),
		.lost_end_ns = (uint64_t)get_time(summary, trust, "lost_end_ns"),
		.lost_of = lost_of ? summary_text(summary, lost_of) : NULL,
		SUMMARY_TRUST_COUNTS(GET)
	};
#undef GET
}

/* Return: 0; -1: it is not as it should be; -ENOMEM. */
static int read_all(struct summary *summary, struct json_object *object)
{
	struct json_object *entities = json_get(object, "entities");
	const size_t count = json_length(entities);
	int status = count > ENTITIES_MAX ? -1 : 0;

	read_facts(summary, object);
	if (summary->events && summary->end_ns < summary->begin_ns)
		return -1;
	for (size_t i = 0; i < count && !status; i++)
		status = read_entity(summary, json_object_array_get_idx(entities, i));
	return summary->failed ? -ENOMEM : status;
}

int summary_read(struct summary **out, const char *path, struct kymo_err *err)
{
	struct summary *summary = NULL;
	struct json_object *object;
	char *text;
	int status;

	if (summary_file_load(path, &text, err))
		return -1;
	object = json_tokener_parse(text);
	free(text);
	if (json_get_u64(object, "kymo_summary") != 1) {
		json_object_put(object);
		return err_set(
			err, KYMO_EXIT_INPUT,
			"%s is not a summary that this version of kymo reads: write it again "
			"with `kymo report --format summary`",
			path);
	}
	summary = summary_new();
	status = summary ? read_all(summary, object) : -ENOMEM;
	json_object_put(object);
	if (!status) {
		*out = summary;
		return 0;
	}
	summary_free(summary);
	if (status == -ENOMEM)
		return err_no_memory(err);
	return err_set(err, KYMO_EXIT_INPUT,
		       "%s: the summary contradicts itself: the file is damaged", path);
}

struct summary *summary_get_exact(const char *text)
{
	struct json_object *object = json_tokener_parse(text);
	struct summary *summary = json_get_u64(object, "kymo_summary") == 1 ? summary_new() : NULL;

	if (summary && read_all(summary, object)) {
		summary_free(summary);
		summary = NULL;
	}
	json_object_put(object);
	return summary;
}
