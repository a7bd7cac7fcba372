/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regularity and load; see stats_intervals.h.
 *
 * The idea: each thread has a frame for each depth of nesting, with the start of the open run and
 * the time of the runs that ended inside it. When a run ends, the time inside it is subtracted
 * from its own, and its whole time is added to the frame around it. So each moment counts once,
 * for the innermost run. An interval is the time between two starts, unless the recorder paused in
 * between (model_resumed()).
 */
#include "analysis/stats/stats_intervals.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Levels of nested runs per thread; the model has no more frames. */
#define DEPTH_MAX 33u

/* The open runs of a thread, by depth. */
struct nesting {
	uint64_t id[DEPTH_MAX];
	int64_t start_ns[DEPTH_MAX];
	/* Time of ended runs of this depth inside the open run around them. */
	int64_t inside_ns[DEPTH_MAX];
};

struct intervals {
	struct model *model;
	int64_t begin_ns, end_ns;
	struct array callbacks, topics;         /* of struct intervals_series */
	struct array takes, idles;              /* of struct histogram, by callback */
	struct array threads, nodes, executors; /* of struct intervals_busy */
	struct array nestings;                  /* of struct nesting *, by thread */
	struct array last_ids;                  /* of uint64_t, by publisher */
	struct array lists; /* of struct intervals_publications *, by publisher */
	struct intervals_publications **publications;
	unsigned publications_count, publications_size;
	bool failed;
};

static void *element(struct intervals *intervals, struct array *array, size_t size, uint32_t index)
{
	void *at = array_at(array, index, size);

	intervals->failed |= !at;
	return at;
}

static bool inside(const struct intervals *intervals, int64_t ns)
{
	return ns >= intervals->begin_ns && ns <= intervals->end_ns;
}

static void add(struct intervals *intervals, struct histogram *histogram, int64_t ns)
{
	if (histogram_add(histogram, ns > 0 ? (uint64_t)ns : 0))
		intervals->failed = true;
}

/* ---- regularity ---- */

static void series_add(struct intervals *intervals, struct intervals_series *series,
		       const struct model_thread *thread, int64_t ns)
{
	/* Runs of a reentrant callback may begin on two threads, but their starts come in order. */
	if (series->last_ns && series->last_ns > model_resumed(intervals->model, thread, ns))
		add(intervals, &series->interval, ns - series->last_ns);
	series->last_ns = ns;
}

static struct nesting *nesting_of(struct intervals *intervals, const struct model_thread *thread)
{
	struct nesting **nesting = element(intervals, &intervals->nestings, sizeof(*nesting),
					   thread->index);

	if (nesting && !*nesting) {
		*nesting = calloc(1, sizeof(**nesting));
		intervals->failed |= !*nesting;
	}
	return nesting ? *nesting : NULL;
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct intervals *intervals = context;
	struct nesting *nesting = nesting_of(intervals, instance->thread);
	struct intervals_series *series;
	struct histogram *idle;

	if (nesting && instance->depth + 1 < DEPTH_MAX) {
		nesting->id[instance->depth] = instance->id;
		nesting->start_ns[instance->depth] = instance->start_ns;
		nesting->inside_ns[instance->depth + 1] = 0;
	}
	if (!inside(intervals, instance->start_ns))
		return;
	series = element(intervals, &intervals->callbacks, sizeof(*series),
			 instance->callback->index);
	if (series && !instance->is_resumed)
		series_add(intervals, series, instance->thread, instance->start_ns);
	idle = instance->idle_ns < 0 ? NULL
				     : element(intervals, &intervals->idles, sizeof(*idle),
					       instance->callback->index);
	if (idle)
		add(intervals, idle, instance->idle_ns);
}

/* ---- publications of callbacks ---- */

static struct intervals_publications *publications_of(struct intervals *intervals,
						      const struct model_message *message)
{
	struct intervals_publications **list, *p;

	list = element(intervals, &intervals->lists, sizeof(*list), message->publisher->index);
	for (p = list ? *list : NULL; p; p = p->next)
		if (p->callback == message->from)
			return p;
	p = list && ARRAY_ROOM(intervals->publications, intervals->publications_count,
			       intervals->publications_size)
		    ? calloc(1, sizeof(*p))
		    : NULL;
	intervals->failed |= !p;
	if (!p)
		return NULL;
	p->callback = message->from;
	p->publisher = message->publisher;
	p->next = *list;
	*list = p;
	intervals->publications[intervals->publications_count++] = p;
	return p;
}

static void count_run(struct intervals_publications *p, uint64_t run)
{
	unsigned i;

	for (i = 0; i < INTERVALS_RECENT && p->recent[i].run != run; i++)
		;
	if (i == INTERVALS_RECENT) {
		i = p->recent_next++ % INTERVALS_RECENT;
		p->recent[i].run = run;
		p->recent[i].count = 0;
		p->runs++;
	}
	if (++p->recent[i].count > p->most)
		p->most = p->recent[i].count;
}

/* The start of the run that published @message; 0: unknown. */
static int64_t run_start(struct intervals *intervals, const struct model_message *message)
{
	const struct nesting *nesting = nesting_of(intervals, message->publish_thread);
	unsigned depth;

	for (depth = 0; nesting && depth < DEPTH_MAX; depth++)
		if (nesting->id[depth] == message->from_instance)
			return nesting->start_ns[depth];
	return 0;
}

static void on_published(void *context, const struct model_message *message)
{
	struct intervals *intervals = context;
	struct intervals_publications *p;
	struct intervals_series *series;
	uint64_t *last_id;
	int64_t start_ns;

	if (!message->publisher || !inside(intervals, message->publish_ns))
		return;
	last_id = element(intervals, &intervals->last_ids, sizeof(*last_id),
			  message->publisher->index);
	/* A publish call that uses both paths is reported twice with the same id. */
	if (!last_id || *last_id == message->id)
		return;
	*last_id = message->id;
	series = element(intervals, &intervals->topics, sizeof(*series), message->topic->index);
	if (series)
		series_add(intervals, series, message->publish_thread, message->publish_ns);
	p = publications_of(intervals, message);
	if (!p)
		return;
	p->count++;
	if (!message->from_instance)
		return;
	count_run(p, message->from_instance);
	start_ns = run_start(intervals, message);
	if (start_ns)
		add(intervals, &p->delay, message->publish_ns - start_ns);
}

static void on_taken(void *context, const struct model_message *message)
{
	struct intervals *intervals = context;
	struct histogram *take;

	if (!message->callback || !message->take_ns || !inside(intervals, message->take_ns))
		return;
	take = element(intervals, &intervals->takes, sizeof(*take), message->callback->index);
	if (take)
		add(intervals, take, message->callback_ns - message->take_ns);
}

/* ---- load ---- */

static void busy_add(struct intervals *intervals, struct array *array, uint32_t index, int64_t ns)
{
	struct intervals_busy *busy = element(intervals, array, sizeof(*busy), index);

	if (!busy)
		return;
	busy->runs++;
	busy->busy_ns += ns;
	if (ns > busy->longest_ns)
		busy->longest_ns = ns;
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct intervals *intervals = context;
	struct nesting *nesting = nesting_of(intervals, instance->thread);
	const struct model_node *node = model_callback_node(instance->callback);
	const struct model_callback_group *group = model_callback_group_of(instance->callback);
	int64_t from = instance->start_ns, to = instance->start_ns + instance->duration_ns, own_ns;
	unsigned depth = instance->depth;

	from = from > intervals->begin_ns ? from : intervals->begin_ns;
	to = to < intervals->end_ns ? to : intervals->end_ns;
	if (to < from || !nesting || depth + 1 >= DEPTH_MAX)
		return;
	own_ns = to - from - nesting->inside_ns[depth + 1];
	nesting->inside_ns[depth] += to - from;
	busy_add(intervals, &intervals->threads, instance->thread->index, own_ns);
	if (node)
		busy_add(intervals, &intervals->nodes, node->index, own_ns);
	if (group && group->executor)
		busy_add(intervals, &intervals->executors, group->executor->index, own_ns);
}

/* ---- life cycle and queries ---- */

static const struct model_listener listener = {
	.started = on_started,
	.published = on_published,
	.taken = on_taken,
	.instance = on_instance,
};

int intervals_create(struct intervals **result, struct model *model, int64_t begin_ns,
		     int64_t end_ns, struct kymo_err *err)
{
	struct intervals *intervals = calloc(1, sizeof(*intervals));

	if (!intervals)
		return err_no_memory(err);
	if (model_listen(model, &listener, intervals, err)) {
		free(intervals);
		return -1;
	}
	intervals->model = model;
	intervals->begin_ns = begin_ns;
	intervals->end_ns = end_ns;
	*result = intervals;
	return 0;
}

static void series_free(struct array *array)
{
	struct intervals_series *series = array->item;

	for (uint32_t i = 0; i < array->count; i++)
		histogram_free(&series[i].interval);
	free(series);
}

static void histograms_free(struct array *array)
{
	struct histogram *histogram = array->item;

	for (uint32_t i = 0; i < array->count; i++)
		histogram_free(&histogram[i]);
	free(histogram);
}

void intervals_destroy(struct intervals *intervals)
{
	unsigned i;

	if (!intervals)
		return;
	series_free(&intervals->callbacks);
	series_free(&intervals->topics);
	histograms_free(&intervals->takes);
	histograms_free(&intervals->idles);
	for (i = 0; i < intervals->nestings.count; i++)
		free(((struct nesting **)intervals->nestings.item)[i]);
	for (i = 0; i < intervals->publications_count; i++) {
		histogram_free(&intervals->publications[i]->delay);
		free(intervals->publications[i]);
	}
	free(intervals->threads.item);
	free(intervals->nodes.item);
	free(intervals->executors.item);
	free(intervals->nestings.item);
	free(intervals->last_ids.item);
	free(intervals->lists.item);
	free(intervals->publications);
	free(intervals);
}

const struct intervals_series *intervals_callback(const struct intervals *intervals, unsigned index)
{
	return ARRAY_GET(intervals->callbacks, struct intervals_series, index);
}

const struct intervals_series *intervals_topic(const struct intervals *intervals, unsigned index)
{
	return ARRAY_GET(intervals->topics, struct intervals_series, index);
}

const struct histogram *intervals_idle(const struct intervals *intervals, unsigned callback)
{
	return ARRAY_GET(intervals->idles, struct histogram, callback);
}

const struct histogram *intervals_take(const struct intervals *intervals, unsigned callback)
{
	return ARRAY_GET(intervals->takes, struct histogram, callback);
}

const struct intervals_busy *intervals_thread(const struct intervals *intervals, unsigned index)
{
	return ARRAY_GET(intervals->threads, struct intervals_busy, index);
}

const struct intervals_busy *intervals_node(const struct intervals *intervals, unsigned index)
{
	return ARRAY_GET(intervals->nodes, struct intervals_busy, index);
}

const struct intervals_busy *intervals_executor(const struct intervals *intervals, unsigned index)
{
	return ARRAY_GET(intervals->executors, struct intervals_busy, index);
}

unsigned intervals_publications_count(const struct intervals *intervals)
{
	return intervals->publications_count;
}

const struct intervals_publications *intervals_publications(const struct intervals *intervals,
							     unsigned index)
{
	return index < intervals->publications_count ? intervals->publications[index] : NULL;
}

int64_t intervals_span(const struct intervals *intervals)
{
	const struct model_facts *facts = model_facts(intervals->model);
	int64_t from = facts->first_ns, to = facts->last_ns;

	from = from > intervals->begin_ns ? from : intervals->begin_ns;
	to = to < intervals->end_ns ? to : intervals->end_ns;
	return facts->events && to > from ? to - from : 0;
}

bool intervals_failed(const struct intervals *intervals)
{
	return intervals->failed;
}

PASS_LISTENER(intervals);
