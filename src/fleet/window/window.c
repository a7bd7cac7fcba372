/* SPDX-License-Identifier: Apache-2.0 */
/* See window.h. */
#include "fleet/window/window.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

struct rows {
	struct window_row row;
	struct window_buckets buckets;
	int (*take)(void *context, const struct window_row *row, struct kymo_err *err);
	void *context;
	char node[1024], topic[1024];
};

/* ---- buckets ---- */

/* Of scale 5: bucket i has values above 2^(i/32), up to 2^((i+1)/32). */
static int32_t bucket_of(uint64_t value, unsigned scale)
{
	return (int32_t)ceil(log2((double)value) * (1 << scale)) - 1;
}

void window_buckets(const struct histogram *histogram, unsigned scale,
		    struct window_buckets *buckets)
{
	uint64_t middle, count;
	unsigned at = 0;

	buckets->zero_count = 0;
	buckets->offset = 0;
	buckets->count = 0;
	while (histogram_next(histogram, &at, &middle, &count)) {
		const int32_t bucket = middle ? bucket_of(middle, scale) : 0;

		if (!middle) {
			buckets->zero_count += count;
			continue;
		}
		if (!buckets->count)
			buckets->offset = bucket;
		while (buckets->count <= (size_t)(bucket - buckets->offset))
			buckets->bucket[buckets->count++] = 0;
		buckets->bucket[bucket - buckets->offset] += count;
	}
}

/* ---- names ---- */

/* The @number-th word of @text, if it is the name of a node or topic. */
static char *ros_word(const char *text, unsigned number, char *buffer, size_t size)
{
	size_t length;

	while (number--) {
		text += strcspn(text, " ");
		text += *text == ' ';
	}
	length = strcspn(text, " ");
	if (*text != '/' || length >= size)
		length = 0;
	memcpy(buffer, text, length);
	buffer[length] = 0;
	return buffer;
}

char *window_node(const struct summary_entity *entity, char *buffer, size_t size)
{
	const bool has_one = entity->kind == SUMMARY_CALLBACK || entity->kind == SUMMARY_TIMER ||
			     entity->kind == SUMMARY_SUBSCRIPTION;

	return ros_word(has_one ? entity->name : "", 0, buffer, size);
}

char *window_topic(const struct summary_entity *entity, char *buffer, size_t size)
{
	switch (entity->kind) {
	case SUMMARY_TOPIC:
	case SUMMARY_SERVICE:
		return ros_word(entity->name, 0, buffer, size);
	case SUMMARY_CALLBACK:
	case SUMMARY_SUBSCRIPTION:
		return ros_word(entity->name, 1, buffer, size);
	default:
		return ros_word("", 0, buffer, size);
	}
}

uint64_t window_lost(const struct summary_entity *entity)
{
	const uint64_t *count = entity->count;

	return count[SUMMARY_NEVER_SENT] + count[SUMMARY_NEVER_RECEIVED] +
	       count[SUMMARY_OVERWRITTEN] + count[SUMMARY_CLEARED];
}

/* ---- rows ---- */

static int put_distribution(struct rows *rows, const struct summary_entity *entity,
			    enum summary_distribution which, struct kymo_err *err)
{
	const struct histogram *histogram = &entity->histogram[which];
	struct window_row *row = &rows->row;
	int status;

	window_buckets(histogram, row->scale, &rows->buckets);
	row->metric = summary_distribution_name(which);
	row->count = histogram->count;
	row->sum_ns = histogram->sum;
	row->min_ns = histogram->min;
	row->max_ns = histogram->max;
	row->zero_count = rows->buckets.zero_count;
	row->bucket_offset = rows->buckets.offset;
	row->bucket = rows->buckets.bucket;
	row->buckets = rows->buckets.count;
	status = rows->take(rows->context, row, err);
	row->counts = NULL;
	return status;
}

static void no_distribution(struct window_row *row, uint64_t count, uint64_t sum_ns)
{
	row->metric = "";
	row->count = count;
	row->sum_ns = sum_ns;
	row->min_ns = row->max_ns = row->zero_count = 0;
	row->bucket_offset = 0;
	row->bucket = NULL;
	row->buckets = 0;
}

static int put_entity(struct rows *rows, const struct summary_entity *entity, struct kymo_err *err)
{
	const uint64_t *count = entity->count;
	const struct window_counts counts = {
		.published = count[SUMMARY_PUBLISHED],
		.received = count[SUMMARY_RECEIVED],
		.lost = window_lost(entity),
		.late = count[entity->kind == SUMMARY_LOOP ? SUMMARY_MISSED : SUMMARY_LATE],
		.unfinished = count[SUMMARY_UNFINISHED],
		.waited = count[SUMMARY_WAITED],
		.waited_ns = count[SUMMARY_WAITED_NS],
	};
	const uint64_t runs =
		count[entity->kind == SUMMARY_TOPIC ? SUMMARY_PUBLISHED : SUMMARY_RUNS];
	const bool of_process = entity->kind != SUMMARY_SUBSCRIPTION;
	bool empty = true;

	rows->row.kind = summary_kind_name(entity->kind);
	rows->row.name = entity->name;
	rows->row.process = of_process ? entity->of : "";
	rows->row.node = window_node(entity, rows->node, sizeof(rows->node));
	rows->row.topic = window_topic(entity, rows->topic, sizeof(rows->topic));
	rows->row.counts = &counts;
	for (unsigned i = 0; i < SUMMARY_DISTRIBUTIONS; i++) {
		if (!entity->histogram[i].count)
			continue;
		empty = false;
		if (put_distribution(rows, entity, i, err))
			return -1;
	}
	no_distribution(&rows->row, runs, count[SUMMARY_RUN_NS]);
	if (empty && (runs || counts.received || counts.lost || counts.unfinished))
		return rows->take(rows->context, &rows->row, err);
	return 0;
}

static int put_window(struct rows *rows, const struct summary *summary, struct kymo_err *err)
{
	const struct window_counts counts = { .lost = summary->trust.lost_events };

	rows->row.kind = "window";
	rows->row.name = rows->row.process = rows->row.node = rows->row.topic = "";
	rows->row.counts = &counts;
	no_distribution(&rows->row, summary->events, 0);
	return rows->take(rows->context, &rows->row, err);
}

/* What the limits of `kymo serve` left out: a row for each number that is not 0. */
static int put_left(struct rows *rows, const struct summary *summary, struct kymo_err *err)
{
	const struct {
		const char *name;
		uint64_t count;
	} left[] = { { "windows_over_entities", summary->over },
		     { "objects", summary->left_objects },
		     { "events", summary->left_events } };
	const struct window_counts counts = { 0 };

	rows->row.kind = "left_out";
	rows->row.process = rows->row.node = rows->row.topic = "";
	for (unsigned i = 0; i < COUNT_OF(left); i++) {
		rows->row.name = left[i].name;
		rows->row.counts = &counts;
		no_distribution(&rows->row, left[i].count, 0);
		if (left[i].count && rows->take(rows->context, &rows->row, err))
			return -1;
	}
	return 0;
}

int window_rows(const struct summary *summary, const struct window_source *of, int64_t begin_ns,
		int64_t length_ns, unsigned scale,
		int (*take)(void *context, const struct window_row *row, struct kymo_err *err),
		void *context, struct kymo_err *err)
{
	struct rows rows = { .row = { .of = of,
				      .begin_ns = begin_ns,
				      .length_ns = length_ns,
				      .scale = scale },
			     .take = take,
			     .context = context };

	if (put_window(&rows, summary, err) || put_left(&rows, summary, err))
		return -1;
	for (unsigned i = 0; i < summary->entities; i++)
		if (put_entity(&rows, summary->entity[i], err))
			return -1;
	return 0;
}
