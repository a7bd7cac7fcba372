/* SPDX-License-Identifier: Apache-2.0 */
/* The gathered logs of a path as tables: publications, runs, arrivals, communications. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "caret/paths/caret_internal.h"

/* ---- the ends of a hop ---- */

/* A publisher or a subscription. */
struct end {
	const struct model_node *node;
	const struct model_topic *topic;
	const struct model_process *process;
	int64_t born_ns;
};

static struct end end_of(const struct model *model, enum model_kind kind, unsigned index)
{
	const struct model_subscription *s;

	if (kind == MODEL_PUBLISHER) {
		const struct model_publisher *p = model_publisher(model, index);

		return (struct end){p->node, p->topic, p->process, p->born_ns};
	}
	s = model_subscription(model, index);
	return (struct end){s->node, s->topic, s->process, s->born_ns};
}

/*
 * Whether object @index of @kind is an end of @hop. Several objects of one topic in one node are
 * distinguished by the order of their creation. A later process may have a node of the same name:
 * it has its own objects.
 */
static bool is_end(const struct model *model, enum model_kind kind, unsigned index,
		   const struct arch_hop *hop)
{
	const bool publishes = kind == MODEL_PUBLISHER;
	const struct end end = end_of(model, kind, index);
	unsigned before = 0;

	if (!end.node || strcmp(end.node->full_name, hop->node) != 0 ||
	    strcmp(end.topic->name, publishes ? hop->publish_topic : hop->subscribe_topic) != 0)
		return false;
	for (unsigned i = 0; i < model_count(model, kind); i++) {
		const struct end other = end_of(model, kind, i);

		before += other.node == end.node && other.topic == end.topic &&
			  other.born_ns < end.born_ns;
	}
	return before == (publishes ? hop->publisher_order : hop->subscription_order);
}

/* The first end of @kind that @hop has in the trace. Return: its index; -1: it has none. */
static int first_end(const struct model *model, enum model_kind kind, const struct arch_hop *hop)
{
	for (unsigned i = 0; i < model_count(model, kind); i++)
		if (is_end(model, kind, i, hop))
			return (int)i;
	return -1;
}

bool caret_has_end(const struct caret *caret, enum model_kind kind, const struct arch_hop *hop)
{
	return first_end(caret->model, kind, hop) >= 0;
}

const struct model_process *caret_process(const struct caret *caret, const struct arch_hop *hop)
{
	static const enum model_kind kinds[] = {MODEL_PUBLISHER, MODEL_SUBSCRIPTION};

	for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
		const int index = first_end(caret->model, kinds[i], hop);

		if (index >= 0)
			return end_of(caret->model, kinds[i], (unsigned)index).process;
	}
	return NULL;
}

/* ---- tables ---- */

static bool is_publisher(const struct caret *caret, unsigned index, const void *hop)
{
	return is_end(caret->model, MODEL_PUBLISHER, index, hop);
}

static bool is_subscription(const struct caret *caret, unsigned index, const void *hop)
{
	return is_end(caret->model, MODEL_SUBSCRIPTION, index, hop);
}

bool caret_of_subscription(const struct caret *caret, unsigned callback, const void *hop)
{
	const struct model_subscription *subscription =
		model_callback(caret->model, callback)->subscription;

	return subscription && is_subscription(caret, subscription->index, hop);
}

bool caret_of_node(const struct caret *caret, unsigned callback, const void *name)
{
	const struct model_callback *it = model_callback(caret->model, callback);
	const struct model_node *node = model_callback_node(it);

	return node && strcmp(node->full_name, name) == 0 && it->kind != MODEL_CALLBACK_SERVICE &&
	       it->kind != MODEL_CALLBACK_CLIENT;
}

/* clang-format off */
#define PUBLICATION(member)	offsetof(struct caret_publication, member)
#define ARRIVAL(member)		offsetof(struct arrival, member)
#define RUN(member)		offsetof(struct run_row, member)

/* A table has a row for each row of some logs, and a column for some of its members, which are
 * int64_t. */
static const struct event_table {
	size_t logs;			/* member of struct caret */
	caret_choice *is_of;		/* whether a log is one of a hop */
	size_t size;			/* of a row of the log */
	unsigned columns;
	size_t at[3];			/* offsets of the columns' members */
	unsigned needs;			/* this column, from 1, must be more than 0; 0: none must */
} tables[] = {
	[CARET_PUBLICATIONS] = { offsetof(struct caret, publishers), is_publisher, sizeof(struct caret_publication), 2,
				 { PUBLICATION(ns), PUBLICATION(tid) }, 0 },
	[CARET_STAMPED_PUBLICATIONS] = { offsetof(struct caret, publishers), is_publisher, sizeof(struct caret_publication), 2,
					 { PUBLICATION(ns), PUBLICATION(stamp_ns) }, 2 },
	[CARET_STAMPED_ARRIVALS] = { offsetof(struct caret, subscriptions), is_subscription, sizeof(struct arrival), 2,
				     { ARRIVAL(callback_ns), ARRIVAL(stamp_ns) }, 1 },
	[CARET_TAKEN] = { offsetof(struct caret, subscriptions), is_subscription, sizeof(struct arrival), 1,
			  { ARRIVAL(take_ns) }, 0 },
	[CARET_RUNS] = { offsetof(struct caret, callbacks), caret_of_subscription, sizeof(struct run_row), 3,
			 { RUN(start_ns), RUN(end_ns), RUN(tid) }, 0 },
};
/* clang-format on */

static int add_rows(const struct caret_log *log, const struct event_table *table,
		    struct records *out)
{
	for (size_t k = 0; k < log->rows; k++) {
		const char *row = (const char *)log->row + k * table->size;
		int64_t *to = records_add(out);

		if (!to)
			return -ENOMEM;
		for (unsigned i = 0; i < table->columns; i++)
			memcpy(&to[i], row + table->at[i], sizeof(*to));
		if (table->needs && to[table->needs - 1] <= 0)
			out->rows--;
	}
	return 0;
}

int caret_table_of(const struct caret *caret, enum caret_table which, caret_choice *is_of,
		   const void *what, struct records *out)
{
	const struct event_table *table = &tables[which];
	const struct array *logs = (const void *)((const char *)caret + table->logs);
	int rc = 0;

	*out = (struct records){.columns = table->columns};
	for (unsigned i = 0; !rc && i < logs->count; i++) {
		const struct caret_log *log = (const struct caret_log *)logs->item + i;

		if (log->rows && is_of(caret, i, what))
			rc = add_rows(log, table, out);
	}
	records_sort(out, 0);
	return rc;
}

int caret_table(const struct caret *caret, enum caret_table which, const struct arch_hop *hop,
		struct records *out)
{
	return caret_table_of(caret, which, tables[which].is_of, hop, out);
}

int caret_arrivals(const struct caret *caret, const struct arch_hop *hop, struct records *out)
{
	int rc = caret_table(caret, CARET_RUNS, hop, out);

	records_drop(out, 2);
	records_drop(out, 1);
	return rc || out->rows ? rc : caret_table(caret, CARET_TAKEN, hop, out);
}

/* ---- communications ---- */

static int by_id(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return ORDER(x->id, y->id) ?: ORDER(x->callback_ns, y->callback_ns);
}

/* All arrivals at a hop, sorted by id. Return: NULL: out of memory. */
static struct arrival *arrivals_at(const struct caret *caret, const struct arch_hop *hop,
				   size_t *count)
{
	const struct caret_log *logs = caret->subscriptions.item;
	struct arrival *arrivals = NULL;
	size_t room = 0;

	*count = 0;
	for (unsigned i = 0; i < caret->subscriptions.count; i++) {
		const struct caret_log *log = &logs[i];

		if (!log->rows || !is_subscription(caret, i, hop))
			continue;
		if (!ARRAY_FIT(arrivals, *count + log->rows, room)) {
			free(arrivals);
			return NULL;
		}
		memcpy(arrivals + *count, log->row, log->rows * sizeof(*arrivals));
		*count += log->rows;
	}
	if (!arrivals)
		arrivals = malloc(sizeof(*arrivals));
	if (arrivals)
		qsort(arrivals, *count, sizeof(*arrivals), by_id);
	return arrivals;
}

struct arrivals {
	const struct arrival *arrival;
	size_t count;
	bool has_callbacks;		/* else the time when a message was taken counts */
	bool is_intra;			/* within the process: only received messages have a row */
};

/* Joins the publications of one publisher with their arrivals. @out NULL: only find out
 * is_intra. */
static int join_publications(const struct caret_log *log, struct arrivals *arrivals,
			     struct records *out)
{
	const struct caret_publication *row = log->row;

	for (size_t k = 0; k < log->rows; k++) {
		size_t at = records_first(arrivals->arrival, arrivals->count,
					  sizeof(*arrivals->arrival), (int64_t)row[k].id);
		unsigned rows = 0;

		for (; row[k].id && at < arrivals->count && arrivals->arrival[at].id == row[k].id;
		     at++) {
			const struct arrival *m = &arrivals->arrival[at];
			int64_t ns = arrivals->has_callbacks ? m->callback_ns : m->take_ns;
			int64_t *to;

			if (!out)
				arrivals->is_intra |= m->is_intra && m->callback_ns;
			if (!out || !ns || m->is_intra != arrivals->is_intra)
				continue;
			to = records_add(out);
			if (!to)
				return -ENOMEM;
			to[0] = row[k].ns;
			to[1] = ns;
			rows++;
		}
		if (out && !rows && !arrivals->is_intra) {
			int64_t *to = records_add(out);

			if (!to)
				return -ENOMEM;
			to[0] = row[k].ns;
		}
	}
	return 0;
}

int caret_communication(const struct caret *caret, const struct arch_hop *from,
			 const struct arch_hop *to, struct records *out)
{
	const struct caret_log *logs = caret->publishers.item;
	struct arrivals arrivals = { 0 };
	struct arrival *all = arrivals_at(caret, to, &arrivals.count);
	int rc = all ? 0 : -ENOMEM;

	*out = (struct records){ .columns = 2 };
	arrivals.arrival = all;
	for (size_t i = 0; all && i < arrivals.count; i++)
		arrivals.has_callbacks |= all[i].callback_ns != 0;
	for (unsigned look = 0; look < 2; look++)
		for (unsigned i = 0; !rc && i < caret->publishers.count; i++)
			if (logs[i].rows && is_publisher(caret, i, from))
				rc = join_publications(&logs[i], &arrivals, look ? out : NULL);
	free(all);
	records_sort(out, 0);
	return rc;
}
