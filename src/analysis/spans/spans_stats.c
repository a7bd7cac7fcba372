/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of each span, instant and counter per process. */
#include "analysis/spans/spans_stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"

struct row_list {
	struct spans_row **row;
	unsigned count, room;
};

struct spans_stats {
	int64_t begin_ns, end_ns;
	struct row_list list[SPANS_TABLES];
	struct map rows;	/* (name << 32 | process, table) -> struct spans_row */
	struct map threads;	/* (the row's address, thread) -> the row */
	bool failed;
};

static struct spans_row *row_new(struct spans_stats *stats, enum spans_table table)
{
	struct row_list *list = &stats->list[table];

	if (!ARRAY_ROOM(list->row, list->count, list->room))
		return NULL;
	list->row[list->count] = calloc(1, sizeof(struct spans_row));
	return list->row[list->count] ? list->row[list->count++] : NULL;
}

/* The row in which @event counts; NULL: it does not count. */
static struct spans_row *row_of(struct spans_stats *stats, enum spans_table table,
				const struct spans_event *event, int64_t ns)
{
	const struct model_thread *thread = event->thread;
	uint64_t key = (uint64_t)event->name->index << 32 | thread->process->index;
	struct spans_row *row;

	if (ns < stats->begin_ns || ns > stats->end_ns)
		return NULL;
	row = map_get(&stats->rows, key, table);
	if (!row) {
		row = row_new(stats, table);
		if (!row || map_put(&stats->rows, key, table, row)) {
			stats->failed = true;
			return NULL;
		}
		row->name = event->name;
		row->process = thread->process;
	}
	key = (uint64_t)(uintptr_t)row;
	if (!map_get(&stats->threads, key, thread->index)) {
		stats->failed |= map_put(&stats->threads, key, thread->index, row) != 0;
		row->threads++;
	}
	return row;
}

static void count_at(struct spans_row *row, int64_t ns)
{
	if (!row->first_ns || ns < row->first_ns)
		row->first_ns = ns;
	if (ns > row->last_ns)
		row->last_ns = ns;
}

static void on_end(void *context, const struct spans_event *event)
{
	struct spans_stats *stats = context;
	struct spans_row *row = row_of(stats, SPANS_OF_SPANS, event, event->begin_ns);
	const uint64_t ns = (uint64_t)event->ns - (uint64_t)event->begin_ns;

	if (!row)
		return;
	if (event->unfinished) {
		row->unfinished++;
		return;
	}
	count_at(row, event->begin_ns);
	if (!row->duration.count || ns > row->duration.max) {
		row->longest_at_ns = event->begin_ns;
		row->longest_on = event->thread;
		row->longest_in = event->track;
	}
	if (histogram_add(&row->duration, ns) ||
	    histogram_add(&row->self, (uint64_t)event->self_ns))
		stats->failed = true;
}

static void on_instant(void *context, const struct spans_event *event)
{
	struct spans_row *row = row_of(context, SPANS_OF_INSTANTS, event, event->ns);

	if (!row)
		return;
	count_at(row, event->ns);
	row->count++;
}

static void on_counter(void *context, const struct spans_event *event)
{
	const struct spans_arg *arg = &event->value;
	double value = arg->kind == SPANS_DOUBLE ? arg->f :
		       arg->kind == SPANS_SIGNED ? (double)arg->i : (double)arg->u;
	struct spans_row *row = row_of(context, SPANS_OF_COUNTERS, event, event->ns);

	if (!row || isnan(value))
		return;
	count_at(row, event->ns);
	row->min = !row->count || value < row->min ? value : row->min;
	row->max = !row->count || value > row->max ? value : row->max;
	row->sum += value;
	row->last = value;
	row->count++;
}

static const struct spans_listener listener = {
	.end = on_end, .instant = on_instant, .counter = on_counter,
};

PASS_CREATE(spans_stats, spans)

void spans_stats_destroy(struct spans_stats *stats)
{
	if (!stats)
		return;
	for (unsigned table = 0; table < SPANS_TABLES; table++) {
		struct row_list *list = &stats->list[table];

		for (unsigned i = 0; i < list->count; i++) {
			histogram_free(&list->row[i]->duration);
			histogram_free(&list->row[i]->self);
			free(list->row[i]);
		}
		free(list->row);
	}
	map_free(&stats->rows);
	map_free(&stats->threads);
	free(stats);
}

void spans_stats_forget(struct spans_stats *stats)
{
	for (unsigned table = 0; table < SPANS_TABLES; table++)
		for (unsigned i = 0; i < stats->list[table].count; i++) {
			struct spans_row *row = stats->list[table].row[i];

			histogram_free(&row->duration);
			histogram_free(&row->self);
			*row = (struct spans_row){ .name = row->name,
						   .process = row->process,
						   .threads = row->threads };
		}
}

unsigned spans_stats_count(const struct spans_stats *stats, enum spans_table table)
{
	return stats->list[table].count;
}

const struct spans_row *spans_stats_row(const struct spans_stats *stats, enum spans_table table,
					unsigned index)
{
	return index < stats->list[table].count ? stats->list[table].row[index] : NULL;
}

PASS_LISTENER(spans_stats);
