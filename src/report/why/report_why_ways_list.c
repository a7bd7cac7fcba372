/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why` of a process in which nothing of that name ran: what can be typed instead. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/why/report_why_spans.h"

void why_ways_add(struct why_typed *typed, const char *name, const char *ways)
{
	char one[WHY_TYPED_MAX], word[WHY_TYPED_MAX];
	const size_t used = strlen(typed->text);

	(void)snprintf(one, sizeof(one), *ways ? "%s (%s)" : "%s", name, ways);
	text_shell(word, sizeof(word), one);
	if (strstr(typed->text, word))
		return;
	if (typed->count++ < WHY_TYPED_SHOWN && used + strlen(word) + 2 < sizeof(typed->text))
		(void)snprintf(typed->text + used, sizeof(typed->text) - used, "%s%s",
			       used ? ", " : "", word);
}

/* Chains, or callbacks, of the name that was asked for. */
void why_ways_list(const struct why_answer *answer, struct why_typed *typed)
{
	const struct why_options *o = answer->options;
	char ways[1024];

	for (unsigned i = 0; o->pattern && i < chains_path_count(answer->chains); i++) {
		const struct chains_path *path = chains_path(answer->chains, i);

		if (path->stats && path->stats->total.count &&
		    chains_is_chain(answer->chains, path))
			why_ways_add(typed, o->pattern,
				     why_ways_of(answer, true, i, true, ways, sizeof(ways)));
	}
	for (unsigned i = 0; o->callback && i < model_count(answer->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(answer->model, i);
		const struct why_callback *runs = why_callback(answer->callbacks, i);

		if (runs && runs->total.count && why_is_asked(answer, callback))
			why_ways_add(typed, o->callback,
				     why_ways_of(answer, false, i, true, ways, sizeof(ways)));
	}
}

/* Of one of several processes of that name that have the loop or span, "arm 4711"; else "". */
static void add_span(const struct span_answer *spans, const struct spans_name *name,
		     const struct model_process *process, struct why_typed *typed)
{
	const struct spans_stats *stats = spans->stats;
	bool several = false, hosts = false;
	char ways[512] = "";

	for (unsigned i = 0; i < spans_stats_count(stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(stats, SPANS_OF_SPANS, i);

		if (row->name != name || row->process == process ||
		    strcmp(row->process->name, process->name) != 0)
			continue;
		several = true;
		hosts |= row->process->host != process->host;
	}
	if (several)
		(void)snprintf(ways, sizeof(ways), "%s %" PRId32 "%s%s", process->name,
			       process->pid, hosts ? " @" : "", hosts ? process->hostname : "");
	why_ways_add(typed, spans->options->callback, ways);
}

/* A loop is a span, too. */
void why_ways_list_spans(const struct span_answer *spans, struct why_typed *typed)
{
	for (unsigned i = 0; i < spans_stats_count(spans->stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(spans->stats, SPANS_OF_SPANS, i);

		if (why_spans_is_asked(spans, row->name))
			add_span(spans, row->name, row->process, typed);
	}
}
