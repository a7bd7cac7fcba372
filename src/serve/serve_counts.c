/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_counts.h. */
#include "serve/serve_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/chains/chains.h"
#include "analysis/model/model.h"
#include "base/map.h"
#include "base/now.h"
#include "summary/summary_collect.h"
#include "summary/summary_limit.h"
#include "top/tallies.h"

struct serve_counts {
	struct summary_windows_options options;
	struct tallies *tallies;
	struct model *model; /* of the names; NULL: there are none yet */
	struct map publisher_at; /* (address, pid): the publisher that has it now */
	unsigned publishers;     /* of the model, that are in it */
	struct summary *summary; /* of the present window */
	int64_t begin_ns;        /* of it, epoch */
};

/* ---- names ---- */

static const struct model_publisher *publisher_of(struct serve_counts *counts,
						  const struct tally_of *of)
{
	for (; counts->publishers < model_count(counts->model, MODEL_PUBLISHER);
	     counts->publishers++) {
		const struct model_publisher *publisher =
			model_publisher(counts->model, counts->publishers);

		if (map_put(&counts->publisher_at, publisher->handle,
			    (uint32_t)publisher->process->pid, (void *)publisher))
			counts->summary->failed = true;
	}
	return map_get(&counts->publisher_at, of->address, (uint32_t)of->pid);
}

static void count_in(struct summary *summary, enum summary_kind kind, const char *name,
		     const char *process, enum summary_counter counter, uint64_t count)
{
	struct summary_entity *entity = summary_entity(summary, kind, name, process);

	if (entity)
		entity->count[counter] += count;
}

/* ---- one object of a program ---- */

static void count_runs(struct serve_counts *counts, const struct tally_of *of, uint64_t runs)
{
	const struct model_callback *callback =
		counts->model ? model_find_callback(counts->model, 0, of->pid, of->address) : NULL;
	struct summary *summary = counts->summary;
	char name[512] = "(not known)";

	if (callback)
		summary_callback_name(callback, name, sizeof(name));
	count_in(summary, SUMMARY_CALLBACK, name, of->process, SUMMARY_RUNS, runs);
	if (callback && callback->timer)
		count_in(summary, SUMMARY_TIMER, name, of->process, SUMMARY_RUNS, runs);
	count_in(summary, SUMMARY_PROCESS, of->process, "", SUMMARY_RUNS, runs);
}

static void count_messages(struct serve_counts *counts, const struct tally_of *of,
			   uint64_t messages)
{
	const struct model_publisher *publisher = counts->model ? publisher_of(counts, of) : NULL;
	const struct model_topic *topic = publisher ? publisher->topic : NULL;
	struct summary_entity *entity = summary_entity(counts->summary, SUMMARY_TOPIC,
						       topic ? topic->name : "(not known)", "");

	if (!entity)
		return;
	entity->is_startup = topic && chains_is_infrastructure(topic);
	entity->count[SUMMARY_PUBLISHED] += messages;
}

static void on_counted(void *context, const struct tally_of *of)
{
	const uint64_t rcl = of->more[KYMO_COUNT_PUBLISH],
		       intra = of->more[KYMO_COUNT_PUBLISH_INTRA],
		       runs = of->more[KYMO_COUNT_CALLBACK], spans = of->more[KYMO_COUNT_NOT];
	struct serve_counts *counts = context;
	char name[600];

	counts->summary->events += runs + rcl + intra + spans;
	counts->summary->ros_events += runs + rcl + intra;
	if (of->name) {
		snprintf(name, sizeof(name), "%s:%s", of->category, of->name);
		count_in(counts->summary, SUMMARY_SPAN, name, of->process, SUMMARY_RUNS, spans);
	}
	if (runs)
		count_runs(counts, of, runs);
	/* A message that goes both ways is one message. */
	if (rcl || intra)
		count_messages(counts, of, rcl > intra ? rcl : intra);
}

/* ---- windows ---- */

static int64_t window_of(const struct serve_counts *counts, int64_t ns)
{
	return ns - ns % counts->options.length_ns;
}

/* Often, because what a program counted goes with the program. */
static int look(struct serve_counts *counts, struct kymo_err *err)
{
	const uint64_t missed = tallies_missed(counts->tallies);

	if (tallies_read(counts->tallies, on_counted, counts, err))
		return -1;
	counts->summary->trust.lost_events += tallies_missed(counts->tallies) - missed;
	return counts->summary->failed ? err_no_memory(err) : 0;
}

static int begin_window(struct serve_counts *counts, int64_t ns, struct kymo_err *err)
{
	summary_free(counts->summary);
	counts->summary = summary_new();
	if (!counts->summary)
		return err_no_memory(err);
	counts->begin_ns = window_of(counts, ns);
	counts->summary->limit = counts->options.limit;
	counts->summary->windows = 1;
	counts->summary->clock = "system";
	counts->summary->begin_ns = counts->summary->origin_ns = counts->begin_ns;
	return 0;
}

static int take(struct serve_counts *counts, struct kymo_err *err)
{
	struct summary *summary = counts->summary;

	if (!summary->events && !summary->trust.lost_events)
		return 0;
	summary_limit_end(summary);
	summary->end_ns = counts->begin_ns + counts->options.length_ns - 1;
	return counts->options.take(counts->options.context, summary, counts->begin_ns, err);
}

int serve_counts_until(struct serve_counts *counts, int64_t ns, struct kymo_err *err)
{
	if (look(counts, err))
		return -1;
	/* Also after the clock was set back. */
	if (window_of(counts, ns) == counts->begin_ns)
		return 0;
	return take(counts, err) || begin_window(counts, ns, err) ? -1 : 0;
}

int serve_counts_cut(struct serve_counts *counts, struct kymo_err *err)
{
	return look(counts, err) || take(counts, err) ||
			       begin_window(counts, counts->begin_ns, err)
		       ? -1
		       : 0;
}

/* ---- life cycle ---- */

static void forget_names(struct serve_counts *counts)
{
	if (counts->model)
		model_destroy(counts->model);
	map_free(&counts->publisher_at);
	counts->model = NULL;
	counts->publishers = 0;
}

int serve_counts_attach(struct serve_counts *counts, struct kymo_ctf_reader *reader,
			struct kymo_err *err)
{
	forget_names(counts);
	if (!reader)
		return 0;
	if (model_create(&counts->model, err))
		return -1;
	return model_attach(counts->model, reader, err);
}

int serve_counts_event(struct serve_counts *counts, const struct kymo_ctf_event *event,
		       struct kymo_err *err)
{
	return model_event(counts->model, event) ? err_no_memory(err) : 0;
}

int serve_counts_open(struct serve_counts **out, const struct summary_windows_options *options,
		      struct kymo_err *err)
{
	struct serve_counts *counts = calloc(1, sizeof(*counts));

	if (!counts)
		return err_no_memory(err);
	counts->options = *options;
	if (tallies_open(&counts->tallies, 0, err) ||
	    begin_window(counts, clock_now_ns(CLOCK_REALTIME), err) || look(counts, err)) {
		serve_counts_close(counts);
		return -1;
	}
	*out = counts;
	return 0;
}

void serve_counts_close(struct serve_counts *counts)
{
	if (!counts)
		return;
	forget_names(counts);
	summary_free(counts->summary);
	tallies_close(counts->tallies);
	free(counts);
}
