/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a whole trace: the analyses that it needs, and one pass. */
#include <string.h>

#include "analysis/model/behind/behind.h"
#include "analysis/sched/sched.h"
#include "analysis/spans/spans.h"
#include "summary/summary_collect.h"

void summary_options(const struct kymo_ctf_reader *reader, int64_t begin_ns, int64_t end_ns,
		     struct chains_options *chains, struct why_callbacks_options *callbacks)
{
	*chains = (struct chains_options){
		.calls = reader_declares(reader, "ros2:rmw_take_response"),
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.worst = SUMMARY_WORST_MAX,
		.steady_first = true,
		.hops = true,
		.follow_ns = INT64_MIN,
	};
	*callbacks = (struct why_callbacks_options){
		.worst = SUMMARY_WORST_MAX,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
	};
}

int summary_extras_create(struct summary_sources *from, const struct kymo_ctf_reader *reader,
			  struct passes *passes, struct kymo_err *err)
{
	if (sched_is_there(reader)) {
		if (summary_own_create(&from->own, from->model, reader, from->begin_ns,
				       from->end_ns, err))
			return -1;
		pass_add(passes, &summary_own_pass, from->own);
	}
	if (reader_declares(reader, "lttng_ust_libc:malloc")) {
		if (costs_create(&from->costs, from->model, reader, err))
			return -1;
		pass_add(passes, &costs_pass, from->costs);
	}
	return 0;
}

int summary_collect_beside(struct summary_collect **collect, struct summary_sources *from,
			   struct spans *spans, const struct chains_options *chains,
			   struct passes *passes, struct kymo_err *err)
{
	const int64_t begin_ns = from->begin_ns, end_ns = from->end_ns;
	const struct why_callbacks_options callbacks = { .worst = SUMMARY_WORST_MAX,
							 .begin_ns = begin_ns,
							 .end_ns = end_ns };

	if (stats_create(&from->stats, from->model, begin_ns, end_ns, err))
		return -1;
	stats_without_waits(from->stats);
	pass_add(passes, &stats_pass, from->stats);
	if (spans_stats_create(&from->spans_stats, spans, begin_ns, end_ns, err))
		return -1;
	pass_add(passes, &spans_stats_pass, from->spans_stats);
	if (loops_create(&from->loops, spans, begin_ns, end_ns, err))
		return -1;
	pass_add(passes, &loops_pass, from->loops);
	if (view_create(&from->view, from->model, begin_ns, end_ns, err))
		return -1;
	pass_add(passes, &view_pass, from->view);
	if (chains_create(&from->chains, from->model, chains, err))
		return -1;
	pass_add(passes, &chains_pass, from->chains);
	if (why_callbacks_create(&from->callbacks, from->model, &callbacks, err))
		return -1;
	pass_add(passes, &why_callbacks_pass, from->callbacks);
	if (summary_collect_create(collect, from, err))
		return -1;
	pass_add(passes, &summary_collect_pass, *collect);
	return 0;
}

int summary_reading_open(struct summary_reading *reading, struct kymo_ctf_reader *reader,
			 int64_t begin_ns, int64_t end_ns, struct kymo_err *err)
{
	struct summary_sources *from = &reading->from;
	struct passes *passes = &reading->passes;
	struct why_callbacks_options callbacks;
	struct chains_options chains;
	struct spans *spans;

	*reading = (struct summary_reading){ .from = { .begin_ns = begin_ns, .end_ns = end_ns } };
	summary_options(reader, begin_ns, end_ns, &chains, &callbacks);
	if (model_create(&from->model, err))
		return -1;
	pass_add(passes, &model_pass, from->model);
	if (spans_create(&spans, from->model, err))
		return -1;
	pass_add(passes, &spans_pass, spans);
	if (summary_extras_create(from, reader, passes, err) ||
	    summary_collect_beside(&reading->collect, from, spans, &chains, passes, err))
		return -1;
	/* The extras read all events. */
	return from->own || from->costs ? 0 : behind_add(from->model, passes, err);
}

int summary_reading_run(struct summary_reading *reading, struct summary *summary,
			struct kymo_ctf_reader *reader, const struct pass_options *progress,
			struct kymo_err *err)
{
	struct pass_options options = progress ? *progress : (struct pass_options){ 0 };

	options.has_window = true;
	options.begin_ns = reading->from.begin_ns;
	options.end_ns = reading->from.end_ns;
	if (pass_run(&reading->passes, reader, &options, err))
		return -1;
	return summary_collect_take(reading->collect, summary) ? err_no_memory(err) : 0;
}

int summary_of_trace(struct summary *summary, struct kymo_ctf_reader *reader, int64_t begin_ns,
		     int64_t end_ns, const struct pass_options *progress, struct kymo_err *err)
{
	struct summary_reading reading;
	const int status = summary_reading_open(&reading, reader, begin_ns, end_ns, err) ||
			   summary_reading_run(&reading, summary, reader, progress, err);

	passes_free(&reading.passes);
	return status ? -1 : 0;
}
