/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary for each window, in one pass; see summary_windows.h.
 *
 * The idea: each window has analyses of its own, a generation. At most two exist at a time: the
 * window, and the next one, which listens from a little before its begin. All generations listen
 * to the same model. A window is taken late_ns after its end, by the times of the events.
 */
#include "summary/summary_windows.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/spans/spans.h"
#include "base/map.h"
#include "base/text.h"
#include "summary/summary_collect.h"
#include "summary/summary_limit.h"

#define PROGRESS_EVENTS (1u << 16)
#define LATE_MOST_NS 5000000000ll
#define GENERATIONS 2u /* a window and the next one */

/* The analyses of one window. They listen as a block: the oldest generation is first. */
struct generation {
	struct summary_sources from;
	struct passes passes;
	struct summary_collect *collect;
	unsigned model_listeners, spans_listeners;
	uint64_t events, ros_events; /* inside */
	uint64_t left_runs, left_published;
};

struct summary_windows {
	struct summary_windows_options options;
	struct kymo_ctf_reader *reader;
	struct summary_sources from; /* the model */
	struct spans *spans;
	struct passes passes;
	unsigned model_listeners, spans_listeners;
	struct map kinds; /* (hash of the content of an event class): the analyses were told */
	unsigned classes; /* of the reader, that are in it */
	struct generation generation[GENERATIONS];
	unsigned count;
	int64_t late_ns;
	uint64_t left_objects, left_events; /* of the model, that windows have told */
	bool skip;
};

static int64_t window_of(const struct summary_windows *windows, int64_t ns)
{
	return ns - ns % windows->options.length_ns;
}

/* ---- a generation ---- */

static int generation_begin(struct summary_windows *windows, int64_t begin_ns, struct kymo_err *err)
{
	struct generation *one = &windows->generation[windows->count++];
	const unsigned models = model_listeners(windows->from.model);
	const unsigned spans = spans_listeners(windows->spans);

	struct why_callbacks_options callbacks;
	struct chains_options chains;

	*one = (struct generation){ .from = windows->from };
	one->from.begin_ns = begin_ns;
	one->from.end_ns = begin_ns + windows->options.length_ns - 1;
	summary_options(windows->reader, one->from.begin_ns, one->from.end_ns, &chains, &callbacks);
	if (summary_collect_beside(&one->collect, &one->from, windows->spans, &chains, &one->passes,
				   err))
		return -1;
	one->model_listeners = model_listeners(windows->from.model) - models;
	one->spans_listeners = spans_listeners(windows->spans) - spans;
	return 0;
}

/* What the model had no room for. */
static void take_left(struct summary_windows *windows, const struct generation *one,
		      struct summary *summary)
{
	const struct model_left *left = &model_facts(windows->from.model)->left;

	summary->left_objects = left->objects - windows->left_objects;
	summary->left_events = left->events - windows->left_events;
	windows->left_objects = left->objects;
	windows->left_events = left->events;
	if (one->left_runs)
		summary_count_other(summary, SUMMARY_CALLBACK, SUMMARY_RUNS, one->left_runs);
	if (one->left_published)
		summary_count_other(summary, SUMMARY_TOPIC, SUMMARY_PUBLISHED, one->left_published);
}

static int generation_take(struct summary_windows *windows, struct generation *one,
			   struct kymo_err *err)
{
	struct summary *summary;
	int status;

	if (!one->events)
		return 0;
	if (pass_end(&one->passes, err))
		return -1;
	summary = summary_new();
	if (summary)
		summary->limit = windows->options.limit;
	if (!summary || summary_collect_take(one->collect, summary)) {
		summary_free(summary);
		return err_no_memory(err);
	}
	summary->events = one->events;
	summary->ros_events = one->ros_events;
	take_left(windows, one, summary);
	status = windows->options.take(windows->options.context, summary, one->from.begin_ns, err);
	summary_free(summary);
	return status;
}

/* The oldest window is complete. */
static int generation_end(struct summary_windows *windows, struct kymo_err *err)
{
	struct generation *one = &windows->generation[0];
	const int status = generation_take(windows, one, err);

	model_unlisten(windows->from.model, windows->model_listeners, one->model_listeners);
	spans_unlisten(windows->spans, windows->spans_listeners, one->spans_listeners);
	passes_free(&one->passes);
	windows->count--;
	for (unsigned i = 0; i < windows->count; i++)
		windows->generation[i] = windows->generation[i + 1];
	return status;
}

/* ---- events ---- */

static int advance(struct summary_windows *windows, int64_t ns, struct kymo_err *err)
{
	int64_t next_ns;

	if (summary_windows_until(windows, ns, err))
		return -1;
	if (!windows->count && generation_begin(windows, window_of(windows, ns), err))
		return -1;
	next_ns = windows->generation[windows->count - 1].from.end_ns + 1;
	if (windows->count < GENERATIONS && ns >= next_ns - windows->late_ns)
		return generation_begin(windows, next_ns, err);
	return 0;
}

static struct generation *inside(struct summary_windows *windows, int64_t ns)
{
	for (unsigned i = 0; i < windows->count; i++)
		if (ns >= windows->generation[i].from.begin_ns &&
		    ns <= windows->generation[i].from.end_ns)
			return &windows->generation[i];
	return NULL;
}

int summary_windows_event(struct summary_windows *windows, const struct kymo_ctf_event *event,
			  struct kymo_err *err)
{
	const struct model_facts *facts = model_facts(windows->from.model);
	const uint64_t events = facts->events, ros_events = facts->ros_events;
	const uint64_t runs = facts->left.runs, published = facts->left.published;
	struct generation *one;

	if (!windows->skip && advance(windows, event->ns, err))
		return -1;
	if (spans_event(windows->spans, event) || model_event(windows->from.model, event))
		return err_no_memory(err);
	one = inside(windows, event->ns);
	if (one) {
		one->events += facts->events - events;
		one->ros_events += facts->ros_events - ros_events;
		one->left_runs += facts->left.runs - runs;
		one->left_published += facts->left.published - published;
	}
	return 0;
}

void summary_windows_skip(struct summary_windows *windows, bool skip)
{
	windows->skip = skip;
}

int summary_windows_until(struct summary_windows *windows, int64_t ns, struct kymo_err *err)
{
	while (windows->count && ns > windows->generation[0].from.end_ns + windows->late_ns)
		if (generation_end(windows, err))
			return -1;
	return 0;
}

int summary_windows_cut(struct summary_windows *windows, struct kymo_err *err)
{
	while (windows->count)
		if (generation_end(windows, err))
			return -1;
	return 0;
}

/* ---- kinds of events ---- */

/* Each chunk and each process declares its classes again: classes of one content are one kind. */
static uint64_t kind_of(const struct kymo_ctf_event_class *class)
{
	uint64_t hash = text_hash(text_hash(TEXT_HASH, class->name), class->uri ? class->uri : "");

	for (uint32_t i = 0; i < class->field_count; i++) {
		const char *type = class->field[i].type;

		hash = text_hash(text_hash(hash, class->field[i].name), type ? type : "");
	}
	return hash;
}

static bool is_read(const struct summary_windows *windows, const struct kymo_ctf_event_class *class)
{
	const struct kymo_ctf_bind *bind;
	unsigned count;

	bind = spans_bind(windows->spans, &count);
	for (unsigned i = 0; i < count; i++)
		if (strcmp(bind[i].event, class->name) == 0)
			return true;
	return class->uri != NULL;
}

static int learn_kinds(struct summary_windows *windows, struct kymo_err *err)
{
	windows->classes = kymo_ctf_class_count(windows->reader);
	for (unsigned i = 0; i < windows->classes; i++)
		if (map_put(&windows->kinds, kind_of(kymo_ctf_class(windows->reader, i)), 0,
			    windows))
			return err_no_memory(err);
	return 0;
}

bool summary_windows_has_new_kinds(struct summary_windows *windows)
{
	for (; windows->classes < kymo_ctf_class_count(windows->reader); windows->classes++) {
		const struct kymo_ctf_event_class *class =
			kymo_ctf_class(windows->reader, windows->classes);

		if (!map_get(&windows->kinds, kind_of(class), 0) && is_read(windows, class))
			return true;
	}
	return false;
}

int summary_windows_finish(struct summary_windows *windows, struct kymo_err *err)
{
	return pass_end(&windows->passes, err) || summary_windows_cut(windows, err) ? -1 : 0;
}

/* ---- life cycle ---- */

/*
 * What the analyses listen to decides what the model reads, so some of them listen while it is
 * attached.
 */
static int attach(struct summary_windows *windows, struct kymo_err *err)
{
	windows->model_listeners = model_listeners(windows->from.model);
	windows->spans_listeners = spans_listeners(windows->spans);
	if (generation_begin(windows, 0, err) ||
	    spans_attach(windows->spans, windows->reader, err) || generation_end(windows, err))
		return -1;
	return learn_kinds(windows, err);
}

int summary_windows_read(struct summary_windows *windows,
			 void (*progress)(void *context, uint64_t events, uint64_t clock_ns),
			 void *context, struct kymo_err *err)
{
	struct kymo_ctf_event event;
	uint64_t events = 0;
	int more;

	while ((more = kymo_ctf_next(windows->reader, &event, err)) > 0) {
		if (summary_windows_event(windows, &event, err))
			return -1;
		if (progress && ++events % PROGRESS_EVENTS == 0)
			progress(context, events, event.clock_ns);
	}
	return more < 0 ? -1 : summary_windows_finish(windows, err);
}

static int create_model(struct summary_windows *windows, struct kymo_err *err)
{
	if (model_create(&windows->from.model, err))
		return -1;
	model_limit(windows->from.model, windows->options.objects_max);
	pass_add(&windows->passes, &model_pass, windows->from.model);
	if (spans_create(&windows->spans, windows->from.model, err))
		return -1;
	pass_add(&windows->passes, &spans_pass, windows->spans);
	return 0;
}

int summary_windows_create(struct summary_windows **out, struct kymo_ctf_reader *reader,
			   const struct summary_windows_options *options, struct kymo_err *err)
{
	struct summary_windows *windows = calloc(1, sizeof(*windows));

	if (!windows)
		return err_no_memory(err);
	windows->options = *options;
	windows->reader = reader;
	windows->late_ns =
		options->length_ns / 2 < LATE_MOST_NS ? options->length_ns / 2 : LATE_MOST_NS;
	if (create_model(windows, err) || attach(windows, err)) {
		summary_windows_free(windows);
		return -1;
	}
	*out = windows;
	return 0;
}

void summary_windows_free(struct summary_windows *windows)
{
	if (!windows)
		return;
	for (unsigned i = 0; i < windows->count; i++)
		passes_free(&windows->generation[i].passes);
	passes_free(&windows->passes);
	map_free(&windows->kinds);
	free(windows);
}
