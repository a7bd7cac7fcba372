/* SPDX-License-Identifier: Apache-2.0 */
/* The instance of a page that fired the trigger, if the trace is a snapshot of the flight recorder.
 */
#include <string.h>

#include "base/text.h"
#include "analysis/pass/under_way.h"
#include "report/page/page_internal.h"

/* Does the chain lead through the steps of @pattern, "/scan -> /cmd_vel"? */
static bool leads_through(const char *label, const char *pattern)
{
	char step[512];

	while (*pattern) {
		const char *end = strstr(pattern, " -> ");
		const size_t length = end ? (size_t)(end - pattern) : strlen(pattern);

		if (length >= sizeof(step))
			return false;
		memcpy(step, pattern, length);
		step[length] = '\0';
		label = strstr(label, step);
		if (!label)
			return false;
		label += length;
		pattern = end ? end + 4 : pattern + length;
	}
	return true;
}

static const struct chains_path *fired_chain(const struct report *report)
{
	const struct report_options *o = report->options;
	const struct chains_path *best = NULL;
	int64_t most = -1;
	char name[4096];

	for (unsigned i = 0; i < chains_path_count(report->chains); i++) {
		const struct chains_path *path = chains_path(report->chains, i);
		const struct chains_arrival *at = path->stats ? &path->stats->at : NULL;
		const int64_t rank = at && at->hop
					     ? under_way(at->begin_ns, at->begin_ns + at->total_ns,
							 o->told_fired_ns)
					     : -1;

		if (rank <= most || !chains_is_chain(report->chains, path) ||
		    !leads_through(chains_label(path, name, sizeof(name)), o->told_fired))
			continue;
		most = rank;
		best = path;
	}
	return best;
}

static bool is_fired(const struct report_options *o, const struct model_callback *callback)
{
	char label[512];

	return text_ros_glob(o->told_fired, callback->symbol) ||
	       text_ros_glob(o->told_fired, model_callback_label(callback, label, sizeof(label)));
}

static const struct model_callback *fired_callback(const struct report *report)
{
	const struct report_options *o = report->options;
	const struct model_callback *best = NULL;
	int64_t most = -1;

	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct why_callback *runs = why_callback(report->callbacks, i);
		const struct why_run *at = runs && runs->at.total_ns >= 0 ? &runs->at : NULL;
		const int64_t begin_ns = at ? why_run_begin(at) : 0;
		const int64_t rank =
			at ? under_way(begin_ns, begin_ns + at->total_ns, o->told_fired_ns) : -1;

		if (rank > most && is_fired(o, model_callback(report->model, i))) {
			most = rank;
			best = model_callback(report->model, i);
		}
	}
	return best;
}

const void *page_fired(const struct page *page)
{
	const struct report *report = page->report;

	if (!report->options->told_fired)
		return NULL;
	if (report->options->told_fired_chain)
		return fired_chain(report);
	return fired_callback(report);
}
