/* SPDX-License-Identifier: Apache-2.0 */
/* The gathered logs of a path as tables: publications, runs, arrivals, communications. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "caret/paths/caret_internal.h"

/* ---- the object of a hop ---- */

/*
 * Several objects of one topic in one node are distinguished by the order of their creation. A later process may have a node
 * of the same name: it has its own objects.
 */
static bool is_publisher(const struct model *model, const struct model_publisher *p,
			 const struct arch_hop *hop)
{
	unsigned before = 0;

	if (!p->node || strcmp(p->node->full_name, hop->node) != 0 ||
	    strcmp(p->topic->name, hop->publish_topic) != 0)
		return false;
	for (unsigned i = 0; i < model_count(model, MODEL_PUBLISHER); i++) {
		const struct model_publisher *other = model_publisher(model, i);

		before += other->node == p->node && other->topic == p->topic &&
			  other->born_ns < p->born_ns;
	}
	return before == hop->publisher_order;
}

static bool is_subscription(const struct model *model, const struct model_subscription *s,
			    const struct arch_hop *hop)
{
	unsigned before = 0;

	if (!s->node || strcmp(s->node->full_name, hop->node) != 0 ||
	    strcmp(s->topic->name, hop->subscribe_topic) != 0)
		return false;
	for (unsigned i = 0; i < model_count(model, MODEL_SUBSCRIPTION); i++) {
		const struct model_subscription *other = model_subscription(model, i);

		before += other->node == s->node && other->topic == s->topic &&
			  other->born_ns < s->born_ns;
	}
	return before == hop->subscription_order;
}

static const struct caret_log *log_in(const struct array *logs, unsigned index)
{
	static const struct caret_log none;

	return index < logs->count ? (const struct caret_log *)logs->item + index : &none;
}

/* ---- tables ---- */

/* [publish, tid] of a hop's publisher, sorted. */
int caret_publications(const struct caret *caret, const struct arch_hop *hop,
			   struct records *out)
{
	const struct model *model = caret->model;

	*out = (struct records){ .columns = 2 };
	for (unsigned i = 0; i < model_count(model, MODEL_PUBLISHER); i++) {
		const struct caret_log *log = log_in(&caret->publishers, i);
		const struct publication *row = log->row;

		if (!log->rows || !is_publisher(model, model_publisher(model, i), hop))
			continue;
		for (size_t k = 0; k < log->rows; k++) {
			int64_t *to = records_add(out);

			if (!to)
				return -ENOMEM;
			to[0] = row[k].ns;
			to[1] = row[k].tid;
		}
	}
	records_sort(out, 0);
	return 0;
}

/* [start, end, tid] of the callbacks that @is_it chooses, sorted. */
int caret_runs(const struct caret *caret, bool (*is_it)(const struct model_callback *, const void *),
		   const void *what, struct records *out)
{
	*out = (struct records){ .columns = 3 };
	for (unsigned i = 0; i < model_count(caret->model, MODEL_CALLBACK); i++) {
		const struct caret_log *log = log_in(&caret->callbacks, i);
		const struct run_row *row = log->row;

		if (!log->rows || !is_it(model_callback(caret->model, i), what))
			continue;
		for (size_t k = 0; k < log->rows; k++) {
			int64_t *to = records_add(out);

			if (!to)
				return -ENOMEM;
			to[0] = row[k].start_ns;
			to[1] = row[k].end_ns;
			to[2] = row[k].tid;
		}
	}
	records_sort(out, 0);
	return 0;
}

bool caret_of_node(const struct model_callback *callback, const void *name)
{
	const struct model_node *node = model_callback_node(callback);

	return node && strcmp(node->full_name, name) == 0 && callback->kind != MODEL_CALLBACK_SERVICE;
}

bool caret_of_subscription(const struct model_callback *callback, const void *what)
{
	const struct caret_of_hop *of = what;

	return callback->subscription && is_subscription(of->model, callback->subscription, of->hop);
}

int caret_stamped_publications(const struct caret *caret, const struct arch_hop *hop,
			       struct records *out)
{
	const struct model *model = caret->model;

	*out = (struct records){ .columns = 2 };
	for (unsigned i = 0; i < model_count(model, MODEL_PUBLISHER); i++) {
		const struct caret_log *log = log_in(&caret->publishers, i);
		const struct publication *row = log->row;

		if (!log->rows || !is_publisher(model, model_publisher(model, i), hop))
			continue;
		for (size_t k = 0; k < log->rows; k++) {
			int64_t *to = row[k].stamp_ns > 0 ? records_add(out) : NULL;

			if (row[k].stamp_ns <= 0)
				continue;
			if (!to)
				return -ENOMEM;
			to[0] = row[k].ns;
			to[1] = row[k].stamp_ns;
		}
	}
	records_sort(out, 0);
	return 0;
}

int caret_stamped_arrivals(const struct caret *caret, const struct arch_hop *hop, struct records *out)
{
	const struct model *model = caret->model;

	*out = (struct records){ .columns = 2 };
	for (unsigned i = 0; i < model_count(model, MODEL_SUBSCRIPTION); i++) {
		const struct caret_log *log = log_in(&caret->subscriptions, i);
		const struct arrival *row = log->row;

		if (!log->rows || !is_subscription(model, model_subscription(model, i), hop))
			continue;
		for (size_t k = 0; k < log->rows; k++) {
			int64_t *to = row[k].callback_ns ? records_add(out) : NULL;

			if (!row[k].callback_ns)
				continue;
			if (!to)
				return -ENOMEM;
			to[0] = row[k].callback_ns;
			to[1] = row[k].stamp_ns > 0 ? row[k].stamp_ns : -1;
		}
	}
	records_sort(out, 0);
	return 0;
}

/* [arrival] at a hop's subscription: its callbacks; if none ever ran, the times when messages were taken. */
int caret_arrivals(const struct caret *caret, const struct arch_hop *hop, struct records *out)
{
	const struct model *model = caret->model;
	struct caret_of_hop of = { model, hop };
	int rc = caret_runs(caret, caret_of_subscription, &of, out);

	records_drop(out, 2);
	records_drop(out, 1);
	if (rc || out->rows)
		return rc;
	for (unsigned i = 0; i < model_count(model, MODEL_SUBSCRIPTION); i++) {
		const struct caret_log *log = log_in(&caret->subscriptions, i);
		const struct arrival *row = log->row;

		if (!log->rows || !is_subscription(model, model_subscription(model, i), hop))
			continue;
		for (size_t k = 0; k < log->rows; k++) {
			int64_t *to = records_add(out);

			if (!to)
				return -ENOMEM;
			*to = row[k].take_ns;
		}
	}
	records_sort(out, 0);
	return 0;
}

/* ---- communications ---- */

static int by_id(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->callback_ns < y->callback_ns ? -1 : x->callback_ns > y->callback_ns;
}

/* All arrivals at a hop, sorted by id. Return: NULL: out of memory. */
static struct arrival *arrivals_at(const struct caret *caret, const struct arch_hop *hop,
				   size_t *count)
{
	const struct model *model = caret->model;
	struct arrival *arrivals = NULL, *larger;

	*count = 0;
	for (unsigned i = 0; i < model_count(model, MODEL_SUBSCRIPTION); i++) {
		const struct caret_log *log = log_in(&caret->subscriptions, i);

		if (!log->rows || !is_subscription(model, model_subscription(model, i), hop))
			continue;
		larger = reallocarray(arrivals, *count + log->rows, sizeof(*arrivals));
		if (!larger) {
			free(arrivals);
			return NULL;
		}
		arrivals = larger;
		memcpy(arrivals + *count, log->row, log->rows * sizeof(*arrivals));
		*count += log->rows;
	}
	if (!arrivals)
		arrivals = malloc(sizeof(*arrivals));
	if (arrivals)
		qsort(arrivals, *count, sizeof(*arrivals), by_id);
	return arrivals;
}

static size_t first_with_id(const struct arrival *arrivals, size_t count, uint64_t id)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (arrivals[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct arrivals {
	const struct arrival *arrival;
	size_t count;
	bool has_callbacks;		/* else the time when a message was taken counts */
	bool is_intra;			/* within the process: only received messages have a row */
};

/* Joins the publications of one publisher with their arrivals. @out NULL: only find out is_intra. */
static int join_publications(const struct caret_log *log, struct arrivals *arrivals, struct records *out)
{
	const struct publication *row = log->row;

	for (size_t k = 0; k < log->rows; k++) {
		size_t at = first_with_id(arrivals->arrival, arrivals->count, row[k].id);
		unsigned rows = 0;

		for (; row[k].id && at < arrivals->count && arrivals->arrival[at].id == row[k].id; at++) {
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

/* [publish, arrival] between two hops; arrival 0: never received. */
int caret_communication(const struct caret *caret, const struct arch_hop *from,
			 const struct arch_hop *to, struct records *out)
{
	const struct model *model = caret->model;
	struct arrivals arrivals = { 0 };
	struct arrival *all = arrivals_at(caret, to, &arrivals.count);
	int rc = all ? 0 : -ENOMEM;

	*out = (struct records){ .columns = 2 };
	arrivals.arrival = all;
	for (size_t i = 0; all && i < arrivals.count; i++)
		arrivals.has_callbacks |= all[i].callback_ns != 0;
	for (unsigned look = 0; look < 2; look++)
		for (unsigned i = 0; !rc && i < model_count(model, MODEL_PUBLISHER); i++) {
			const struct caret_log *log = log_in(&caret->publishers, i);

			if (log->rows && is_publisher(model, model_publisher(model, i), from))
				rc = join_publications(log, &arrivals, look ? out : NULL);
		}
	free(all);
	records_sort(out, 0);
	return rc;
}

/* ---- is it in the trace? ---- */

bool caret_any_publisher(const struct caret *caret, const struct arch_hop *hop)
{
	for (unsigned i = 0; i < model_count(caret->model, MODEL_PUBLISHER); i++)
		if (is_publisher(caret->model, model_publisher(caret->model, i), hop))
			return true;
	return false;
}

bool caret_any_subscription(const struct caret *caret, const struct arch_hop *hop)
{
	for (unsigned i = 0; i < model_count(caret->model, MODEL_SUBSCRIPTION); i++)
		if (is_subscription(caret->model, model_subscription(caret->model, i), hop))
			return true;
	return false;
}

const struct model_process *caret_process(const struct caret *caret, const struct arch_hop *hop)
{
	const struct model *model = caret->model;

	for (unsigned i = 0; i < model_count(model, MODEL_PUBLISHER); i++)
		if (is_publisher(model, model_publisher(model, i), hop))
			return model_publisher(model, i)->process;
	for (unsigned i = 0; i < model_count(model, MODEL_SUBSCRIPTION); i++)
		if (is_subscription(model, model_subscription(model, i), hop))
			return model_subscription(model, i)->process;
	return NULL;
}
