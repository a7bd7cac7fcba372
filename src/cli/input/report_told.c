/* SPDX-License-Identifier: Apache-2.0 */
/* See report_told.h. */
#include "cli/input/report_told.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/input/input_traces.h"
#include "live/watch.h"

static void warn(const struct accounts *accounts, const char *problem)
{
	char time[TEXT_QUANTITY_MAX];

	if (*problem)
		fprintf(stderr, "kymo report: warning: %s\n", problem);
	if (accounts->removed.times)
		fprintf(stderr,
			"kymo report: %" PRIu64 " events are missing: another program removed the "
			"trace directory, or a part of it, while it was written\n",
			accounts->removed.events);
	if (accounts->chunks.removed)
		fprintf(stderr,
			"kymo report: %" PRIu64 " chunks with %" PRIu64 " events were removed "
			"while recording, to keep the limit on its size\n",
			accounts->chunks.removed, accounts->chunks.removed_events);
	if (accounts->root.pause_count)
		fprintf(stderr,
			"kymo report: the recorder paused %" PRIu64 " times, for %s in all: "
			"nothing was recorded then\n",
			accounts->root.pause_count,
			text_ns(time, (int64_t)accounts->root.paused_ns));
	cli_warn_unseen("report", accounts);
}

void report_told(const char *path, const struct kymo_ctf_reader *reader, struct accounts *accounts,
		 struct report_options *report, bool quiet)
{
	const bool is_written = watch_alive(reader, path);
	enum accounts_end end;
	char problem[512];

	accounts_read(accounts, path, problem);
	if (!quiet)
		warn(accounts, problem);
	report->told_lost += accounts->dropped + accounts->unwritten;
	end = accounts_end(accounts, is_written);
	report->told_unended += end == ACCOUNTS_NOT_ENDED;
	report->told_growing += end == ACCOUNTS_GROWING;
	if (report->traces > 1)
		return;
	report->told_rules = accounts->rules;
	if (*accounts->snapshot_text) {
		report->told_snapshot = accounts->snapshot_text;
		report->told_snapshot_ns = accounts->snapshot_at_ns;
	}
}

int report_told_fired(const struct accounts *accounts, struct answer *answer,
		      struct report_told_fired *told, struct report_options *report,
		      struct kymo_err *err)
{
	const struct fired *fired = &told->fired;
	const struct why_said *said = &told->said;
	struct why_options why = {
		.worst = 1,
		.begin_ns = report->begin_ns,
		.end_ns = report->end_ns,
		.align = report->align,
		.progress = progress_trace,
		.context = &answer->progress,
	};

	if (report->traces > 1 || report->clock || !fired_read(&told->fired, accounts) ||
	    !*fired->name || fired->window_ns)
		return 0;
	why.at_ns = fired->at_ns;
	fired_ask(fired, &why);
	if (why_say(answer->reader, &why, &told->said, err))
		return -1;
	told->told = (struct report_fired){
		.name = said->worst,
		.why = said->why,
		.at_ns = fired->at_ns,
		.begin_ns = said->begin_ns,
		.total_ns = said->total_ns,
		.message = said->message,
	};
	if (*said->worst)
		report->told_fired = &told->told;
	return 0;
}

int report_explain(void *context, const char *ask, char *text, size_t size, struct kymo_err *err)
{
	const struct report_explainer *explainer = context;
	const bool is_chain = strstr(ask, "->");
	const struct why_options why = {
		.pattern = is_chain ? ask : NULL,
		.callback = is_chain ? NULL : ask,
		.worst = 1,
		.begin_ns = explainer->report->begin_ns,
		.end_ns = explainer->report->end_ns,
		.clock = explainer->report->clock,
		.align = explainer->report->align,
		.progress = progress_trace,
		.context = &explainer->answer->progress,
	};
	struct why_said said;

	if (why_say(explainer->answer->reader, &why, &said, err))
		return -1;
	snprintf(text, size, "%s", said.why);
	return 0;
}
