/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report's pass over the trace: the analyses that its sections need, as rows of one table,
 * created in that order. An analysis without a section that needs it is not created.
 */
#include <stddef.h>
#include <string.h>

#include "analysis/model/behind/behind.h"
#include "analysis/model/model_startup.h"
#include "analysis/spans/spans_tree.h"
#include "base/array.h"
#include "report/report_internal.h"

/* ---- how each is created; what stays NULL is left out, as the trace has nothing for it ---- */

static int new_model(struct report *report, struct kymo_err *err)
{
	if (model_create(&report->model, err))
		return -1;
	if (report->options->unlimited)
		model_without_startup(report->model);
	return 0;
}

static int new_spans(struct report *report, struct kymo_err *err)
{
	return spans_create(&report->spans, report->model, err);
}

/* Those that only need the model, or the spans, and the window. */
#define NEW_FROM(what, name)								\
	static int new_##name(struct report *report, struct kymo_err *err)		\
	{										\
		const struct report_options *o = report->options;			\
											\
		return name##_create(&report->name, report->what, o->begin_ns, o->end_ns, err); \
	}
NEW_FROM(model, stats)
NEW_FROM(model, intervals)
NEW_FROM(model, activity)
NEW_FROM(model, actions)
NEW_FROM(model, content)
NEW_FROM(model, losses)
NEW_FROM(model, view)
NEW_FROM(model, report_expect)
NEW_FROM(spans, spans_stats)
NEW_FROM(spans, loops)
NEW_FROM(spans, spans_tree)

static int new_totals(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;

	return sched_is_there(report->reader)
		       ? sched_totals_create(&report->totals, report->model, report->reader,
					     o->begin_ns, o->end_ns, err)
		       : 0;
}

static int new_costs(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;

	/* Programs may have named what is real-time. */
	if (!o->sections && !o->page && !o->realtimes &&
	    !reader_declares(report->reader, "kymo:realtime"))
		return 0;
	if (costs_create(&report->costs, report->model, report->reader, err))
		return -1;
	return costs_spans(report->costs, report->spans, err);
}

static void on_arrived(void *context, const struct chains_path *path,
		       const struct chains_arrival *arrival)
{
	const struct report *report = context;

	page_series_arrived(report->series, path, arrival);
}

static int new_chains(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;
	struct why_callbacks_options callbacks;
	struct chains_options chains;

	summary_options(report->reader, o->begin_ns, o->end_ns, &chains, &callbacks);
	if (o->page) {
		chains.worst = REPORT_PAGE_WORST;
		chains.worst_all = REPORT_PAGE_WORST_ALL;
		chains.arrived = on_arrived;
		chains.context = report;
	}
	chains.named_id = o->page && o->told_fired ? o->told_fired->message : 0;
	return chains_create(&report->chains, report->model, &chains, err);
}

static int new_callbacks(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;
	struct why_callbacks_options callbacks;
	struct chains_options chains;

	summary_options(report->reader, o->begin_ns, o->end_ns, &chains, &callbacks);
	callbacks.at_ns = o->page && o->told_fired ? o->told_fired->at_ns : 0;
	return why_callbacks_create(&report->callbacks, report->model, &callbacks, err);
}

static int new_series(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;

	return page_series_create(&report->series, report->model, report->spans, o->begin_ns,
				  o->end_ns, err);
}

static int new_page_calls(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;

	return page_calls_create(&report->calls, report->model, o->begin_ns, o->end_ns, err);
}

static int new_page_goals(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;

	return page_goals_create(&report->goals, report->model, o->begin_ns, o->end_ns, err);
}

static int new_collect(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;
	struct summary_sources from = {
		.model = report->model,
		.stats = report->stats,
		.chains = report->chains,
		.callbacks = report->callbacks,
		.view = report->view,
		.spans_stats = report->spans_stats,
		.loops = report->loops,
		.begin_ns = o->begin_ns,
		.end_ns = o->end_ns,
	};

	/* A file is for comparisons, too; the first screen does not say what these know. */
	if (o->summary && summary_extras_create(&from, report->reader, &report->passes, err))
		return -1;
	return summary_collect_create(&report->collect, &from, err);
}

static int new_caret(struct report *report, struct kymo_err *err)
{
	return report->options->paths
		       ? caret_create(&report->caret, report->model, report->options->paths, err)
		       : 0;
}

static int new_behaviour(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;

	if (!o->behaviours)
		return 0;
	if (behaviour_create(&report->behaviour, o->behaviours, report->model, report->spans, NULL,
			     NULL, err))
		return -1;
	behaviour_window(report->behaviour, o->begin_ns, o->end_ns);
	return 0;
}

static int new_capture(struct report *report, struct kymo_err *err)
{
	const struct report_options *o = report->options;

	return o->captures
		       ? capture_create(&report->capture, o->captures, report->model, o->align, err)
		       : 0;
}

static const struct analysis {
	unsigned need;			/* enum report_need; 0: always created */
	int (*create)(struct report *report, struct kymo_err *err);
	const struct pass_ops *ops;
	size_t slot;			/* of struct report: where create() puts it */
} analyses[] = {
#define SLOT(name) offsetof(struct report, name)
	{ 0, new_model, &model_pass, SLOT(model) },
	{ 0, new_stats, &stats_pass, SLOT(stats) },
	{ 0, new_spans, &spans_pass, SLOT(spans) },
	{ 0, new_spans_stats, &spans_stats_pass, SLOT(spans_stats) },
	{ 0, new_loops, &loops_pass, SLOT(loops) },
	{ REPORT_INTERVALS, new_intervals, &intervals_pass, SLOT(intervals) },
	{ REPORT_ACTIVITY, new_activity, &activity_pass, SLOT(activity) },
	{ REPORT_ACTIONS, new_actions, &actions_pass, SLOT(actions) },
	{ REPORT_CONTENT, new_content, &content_pass, SLOT(content) },
	{ REPORT_LOSSES, new_losses, &losses_pass, SLOT(losses) },
	{ REPORT_VIEW | REPORT_SUMMARY, new_view, &view_pass, SLOT(view) },
	{ REPORT_SUMMARY, new_chains, &chains_pass, SLOT(chains) },
	{ REPORT_SUMMARY, new_callbacks, &why_callbacks_pass, SLOT(callbacks) },
	{ REPORT_SUMMARY, new_collect, &summary_collect_pass, SLOT(collect) },
	{ REPORT_PAGE, new_series, &page_series_pass, SLOT(series) },
	{ REPORT_PAGE, new_page_calls, &page_calls_pass, SLOT(calls) },
	{ REPORT_PAGE, new_page_goals, &page_goals_pass, SLOT(goals) },
	{ REPORT_PAGE, new_spans_tree, &spans_tree_pass, SLOT(spans_tree) },
	{ REPORT_TOTALS, new_totals, &sched_totals_pass, SLOT(totals) },
	{ REPORT_COSTS, new_costs, &costs_pass, SLOT(costs) },
	{ REPORT_EXPECT, new_report_expect, &report_expect_pass, SLOT(report_expect) },
	{ REPORT_BEHAVIOUR, new_behaviour, &behaviour_pass, SLOT(behaviour) },
	{ REPORT_CAPTURE, new_capture, &capture_pass, SLOT(capture) },
	{ REPORT_PATHS, new_caret, &caret_pass, SLOT(caret) },
};

/* ---- the pass ---- */

void report_forget(struct report *report)
{
	summary_free(report->summary);
	report->summary = NULL;
	passes_free(&report->passes);
	for (size_t i = 0; i < COUNT_OF(analyses); i++)
		memset((char *)report + analyses[i].slot, 0, sizeof(void *));
}

int report_read(struct report *report, const struct passes *passes, struct kymo_err *err)
{
	const struct report_options *o = report->options;
	const struct pass_options options = {
		.has_window = true, .begin_ns = o->begin_ns, .end_ns = o->end_ns,
		.progress = o->progress, .context = o->progress_context,
	};

	return pass_run(passes, report->reader, &options, err);
}

/* What was collected, and what the recorder and the reader know of what is missing. */
static int summarize(struct report *report, struct kymo_err *err)
{
	report->summary = summary_new();
	if (!report->summary || summary_collect_take(report->collect, report->summary))
		return err_no_memory(err);
	report->summary->trust.lost_events = report_lost_events(report);
	report->summary->trust.damaged = kymo_ctf_warning_count(report->reader);
	if (report->options->end_ns != INT64_MAX)
		return 0;
	report->summary->trust.unended = report->options->told_unended;
	report->summary->trust.growing = report->options->told_growing;
	return 0;
}

/* The analyses of the first screen are fit for it, but for those of the kernel's events. */
static bool may_be_behind(const struct report *report)
{
	const struct report_options *o = report->options;

	return o->first && !o->sections && !o->paths && !o->behaviours && !o->captures &&
	       !o->expect && !report->totals && !report->costs;
}

int report_gather(struct report *report, unsigned needs, struct kymo_err *err)
{
	report_forget(report);
	for (size_t i = 0; i < COUNT_OF(analyses); i++) {
		const struct analysis *analysis = &analyses[i];
		void *created;

		if (analysis->need && !(analysis->need & needs))
			continue;
		if (analysis->create(report, err))
			return -1;
		memcpy(&created, (char *)report + analysis->slot, sizeof(created));
		if (created)
			pass_add(&report->passes, analysis->ops, created);
	}
	if (!(needs & REPORT_WAITS))
		stats_without_waits(report->stats);
	if (may_be_behind(report) && behind_add(report->model, &report->passes, err))
		return -1;
	if (report_read(report, &report->passes, err))
		return -1;
	return report->collect ? summarize(report, err) : 0;
}
