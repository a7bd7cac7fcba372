/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instance of a page that fired the trigger, if the trace is a snapshot of the flight recorder.
 *
 * `kymo why --at trigger` has the rule which instance that is, and report_fired has its answer. The
 * chains of a page begin earlier and may go on longer, so the page shows the shortest instance that
 * contains that one.
 */
#include "report/page/page_internal.h"

/* Is @fired a part of @arrival: does a message or a run of it begin there? */
static bool contains(const struct chains_path *path, const struct chains_arrival *arrival,
		     const struct report_fired *fired)
{
	if (!arrival->hop || arrival->begin_ns > fired->begin_ns ||
	    arrival->begin_ns + arrival->total_ns < fired->begin_ns + fired->total_ns)
		return false;
	for (unsigned i = 0; i <= path->depth; i++)
		if (arrival->hop[i].publish_ns == fired->begin_ns ||
		    arrival->hop[i].start_ns == fired->begin_ns)
			return true;
	return false;
}

static const struct chains_path *fired_chain(const struct report *report,
					     const struct report_fired *fired)
{
	const struct chains_path *best = NULL;

	for (unsigned i = 0; i < chains_path_count(report->chains); i++) {
		const struct chains_path *path = chains_path(report->chains, i);

		if (path->stats && chains_is_chain(report->chains, path) &&
		    contains(path, &path->stats->named, fired) &&
		    (!best || path->stats->named.total_ns < best->stats->named.total_ns))
			best = path;
	}
	return best;
}

static const struct model_callback *fired_callback(const struct report *report,
						   const struct report_fired *fired)
{
	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct why_callback *runs = why_callback(report->callbacks, i);

		if (runs && runs->at.total_ns == fired->total_ns &&
		    why_run_begin(&runs->at) == fired->begin_ns)
			return model_callback(report->model, i);
	}
	return NULL;
}

const void *page_fired(const struct page *page)
{
	const struct report *report = page->report;
	const struct report_fired *fired = report->options->told_fired;

	if (!fired)
		return NULL;
	if (fired->message)
		return fired_chain(report, fired);
	return fired_callback(report, fired);
}
