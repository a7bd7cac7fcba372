/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers over time; see stats_windows.h.
 *
 * There is one window at a time. What its objects did is counted until an event arrives that lies
 * behind its end: then each object's row is reported, and all counts begin again at 0. Runs that
 * are not over at the end of a window are credited with their part of it, and go on in the next.
 */
#include "analysis/stats/stats_windows.h"

#include <stdlib.h>

#include "base/array.h"

/* Windows without any event that are reported one after the other, for callbacks that run
 * throughout. */
#define SILENT_MAX 1000

struct open_run {
	uint64_t id;
	int64_t from_ns; /* counted as busy up to here */
};

struct window_callback {
	const struct model_callback *callback; /* NULL: never ran */
	struct histogram values;
	int64_t busy_ns;
	struct open_run *open;
	unsigned opens, open_size;
};

struct window_topic {
	const struct model_topic *topic; /* NULL: no message yet */
	struct histogram values;
	uint64_t published;
};

struct windows {
	int64_t length_ns, begin_ns, end_ns, last_ns;
	bool begun, failed;
	unsigned opens;         /* runs in progress, of all callbacks */
	struct array callbacks; /* of struct window_callback */
	struct array topics;    /* of struct window_topic */
	struct array last_ids;  /* of uint64_t, by publisher */
	windows_report *report;
	void *context;
};

static void *element(struct windows *windows, struct array *array, size_t size, uint32_t index)
{
	void *at = array_at(array, index, size);

	windows->failed |= !at;
	return at;
}

static void add(struct windows *windows, struct histogram *histogram, int64_t ns)
{
	windows->failed |= histogram_add(histogram, ns > 0 ? (uint64_t)ns : 0) != 0;
}

/* ---- runs ---- */

static struct window_callback *callback_of(struct windows *windows,
					   const struct model_instance *instance)
{
	struct window_callback *of =
		element(windows, &windows->callbacks, sizeof(*of), instance->callback->index);

	if (of)
		of->callback = instance->callback;
	return of;
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct windows *windows = context;
	struct window_callback *of = callback_of(windows, instance);

	if (!of)
		return;
	if (!ARRAY_ADD(of->open, of->opens, of->open_size,
		       (struct open_run){ instance->id, instance->start_ns })) {
		windows->failed = true;
		return;
	}
	windows->opens++;
}

/* The run is over at @end_ns; 0: its end is not in the trace. */
static void run_over(struct windows *windows, struct window_callback *of, uint64_t id,
		     int64_t end_ns)
{
	for (unsigned i = 0; i < of->opens; i++) {
		if (of->open[i].id != id)
			continue;
		if (end_ns > of->open[i].from_ns)
			of->busy_ns += end_ns - of->open[i].from_ns;
		of->open[i] = of->open[--of->opens];
		windows->opens--;
		return;
	}
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct windows *windows = context;
	struct window_callback *of = callback_of(windows, instance);

	if (!of)
		return;
	add(windows, &of->values, instance->duration_ns);
	run_over(windows, of, instance->id, instance->start_ns + instance->duration_ns);
}

static void on_unfinished(void *context, const struct model_instance *instance)
{
	struct windows *windows = context;
	struct window_callback *of = callback_of(windows, instance);

	if (of)
		run_over(windows, of, instance->id, 0);
}

/* ---- messages ---- */

static struct window_topic *topic_of(struct windows *windows, const struct model_topic *topic)
{
	struct window_topic *of = element(windows, &windows->topics, sizeof(*of), topic->index);

	if (of)
		of->topic = topic;
	return of;
}

static void on_published(void *context, const struct model_message *message)
{
	struct windows *windows = context;
	struct window_topic *of;
	uint64_t *last_id;

	if (!message->publisher)
		return;
	of = topic_of(windows, message->topic);
	last_id = element(windows, &windows->last_ids, sizeof(*last_id), message->publisher->index);
	/* A publish call that uses both paths is reported twice with the same id. */
	if (!of || !last_id || *last_id == message->id)
		return;
	*last_id = message->id;
	of->published++;
}

static void on_taken(void *context, const struct model_message *message)
{
	struct windows *windows = context;
	struct window_topic *of;

	if (!message->topic || !message->publish_ns || !message->callback ||
	    model_clock_error(message->publish_thread->process, message->take_thread->process,
			      message->take_ns) == KYMO_CTF_ERROR_UNKNOWN)
		return;
	of = topic_of(windows, message->topic);
	if (of)
		add(windows, &of->values, message->callback_ns - message->publish_ns);
}

/* ---- windows ---- */

static void report_callback(struct windows *windows, struct window_callback *of, int64_t end_ns,
			    bool silent)
{
	for (unsigned i = 0; i < of->opens; i++) {
		if (end_ns > of->open[i].from_ns)
			of->busy_ns += end_ns - of->open[i].from_ns;
		of->open[i].from_ns = end_ns;
	}
	if (!silent || of->busy_ns)
		windows->report(windows->context,
				&(struct windows_row){ .begin_ns = windows->begin_ns,
						       .end_ns = end_ns,
						       .callback = of->callback,
						       .count = of->values.count,
						       .busy_ns = of->busy_ns,
						       .values = &of->values });
	histogram_clear(&of->values);
	of->busy_ns = 0;
}

/* @silent: no event lies in the window. */
static void report_window(struct windows *windows, int64_t end_ns, bool silent)
{
	struct window_callback *callback = windows->callbacks.item;
	struct window_topic *topic = windows->topics.item;

	if (end_ns <= windows->begin_ns)
		return;
	for (uint32_t i = 0; i < windows->callbacks.count; i++)
		if (callback[i].callback)
			report_callback(windows, &callback[i], end_ns, silent);
	for (uint32_t i = 0; i < windows->topics.count && !silent; i++) {
		if (!topic[i].topic)
			continue;
		windows->report(windows->context,
				&(struct windows_row){ .begin_ns = windows->begin_ns,
						       .end_ns = end_ns,
						       .topic = topic[i].topic,
						       .count = topic[i].published,
						       .values = &topic[i].values });
		histogram_clear(&topic[i].values);
		topic[i].published = 0;
	}
}

static void begin_at(struct windows *windows, int64_t ns)
{
	windows->begin_ns = ns;
	if (__builtin_add_overflow(ns, windows->length_ns, &windows->end_ns))
		windows->end_ns = INT64_MAX;
}

void windows_advance(struct windows *windows, int64_t ns)
{
	if (!windows->begun) {
		windows->begun = true;
		begin_at(windows, ns);
	}
	if (ns >= windows->end_ns && windows->end_ns < INT64_MAX) {
		report_window(windows, windows->end_ns, false);
		begin_at(windows, windows->end_ns);
		for (unsigned i = 0; i < SILENT_MAX && windows->opens && ns >= windows->end_ns;
		     i++) {
			report_window(windows, windows->end_ns, true);
			begin_at(windows, windows->end_ns);
		}
		if (ns >= windows->end_ns)
			begin_at(windows, ns - (ns - windows->begin_ns) % windows->length_ns);
	}
	if (ns > windows->last_ns)
		windows->last_ns = ns;
}

void windows_finish(struct windows *windows)
{
	if (windows->begun)
		report_window(windows,
			      windows->last_ns < windows->end_ns ? windows->last_ns
								 : windows->end_ns,
			      false);
	windows->begun = false;
}

/* ---- life cycle ---- */

static const struct model_listener listener = {
	.started = on_started,
	.instance = on_instance,
	.unfinished = on_unfinished,
	.published = on_published,
	.taken = on_taken,
};

int windows_create(struct windows **result, struct model *model, int64_t length_ns,
		   windows_report *report, void *context, struct kymo_err *err)
{
	struct windows *windows = calloc(1, sizeof(*windows));

	if (!windows)
		return err_no_memory(err);
	if (model_listen(model, &listener, windows, err)) {
		free(windows);
		return -1;
	}
	windows->length_ns = length_ns > WINDOWS_SHORTEST_NS ? length_ns : WINDOWS_SHORTEST_NS;
	windows->report = report;
	windows->context = context;
	*result = windows;
	return 0;
}

void windows_destroy(struct windows *windows)
{
	struct window_callback *callback;
	struct window_topic *topic;

	if (!windows)
		return;
	callback = windows->callbacks.item;
	for (uint32_t i = 0; i < windows->callbacks.count; i++) {
		histogram_free(&callback[i].values);
		free(callback[i].open);
	}
	topic = windows->topics.item;
	for (uint32_t i = 0; i < windows->topics.count; i++)
		histogram_free(&topic[i].values);
	free(callback);
	free(topic);
	free(windows->last_ids.item);
	free(windows);
}

bool windows_failed(const struct windows *windows)
{
	return windows->failed;
}
