/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why` of a process in which nothing of that name ran: what can be typed instead. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/why/report_why_spans.h"

/* Chains, or callbacks, of the name that was asked for. */
void why_ways_list(const struct why_answer *answer, struct report_typed *typed)
{
	const struct why_options *o = answer->options;
	char ways[1024];

	if (o->pattern)
		report_typed_chains(answer->model, answer->chains, o->pattern, typed);
	for (unsigned i = 0; o->callback && i < model_count(answer->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(answer->model, i);
		const struct why_callback *runs = why_callback(answer->callbacks, i);

		if (runs && runs->total.count && why_is_asked(answer, callback))
			report_typed_add(typed, o->callback,
				     why_ways_of(answer, false, i, true, ways, sizeof(ways)));
	}
}

char *why_spans_ways(const struct span_answer *spans, const struct spans_name *name,
		     const struct model_process *process, char *buffer, size_t size)
{
	const struct spans_stats *stats = spans->stats;
	bool several = false, hosts = false;

	for (unsigned i = 0; i < spans_stats_count(stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(stats, SPANS_OF_SPANS, i);

		if (row->name != name || row->process == process)
			continue;
		several = true;
		hosts |= row->process->host != process->host;
	}
	*buffer = '\0';
	if (several)
		(void)snprintf(buffer, size, "%s %" PRId32 "%s%s", process->name, process->pid,
			       hosts ? " @" : "", hosts ? process->hostname : "");
	return buffer;
}

/* A loop is a span, too. */
void why_ways_list_spans(const struct span_answer *spans, struct report_typed *typed)
{
	char ways[512];

	for (unsigned i = 0; i < spans_stats_count(spans->stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(spans->stats, SPANS_OF_SPANS, i);

		if (why_spans_is_asked(spans, row->name))
			report_typed_add(typed, spans->options->callback,
					 why_spans_ways(spans, row->name, row->process, ways,
							sizeof(ways)));
	}
}
