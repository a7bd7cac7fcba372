/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo flow` for programs of kymo.h: the worst cycle of a loop, or the longest of a span, as a
 * tree: each span inside, in order of time, next to what is usual for it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "report/why/report_why_spans.h"

static const struct table_column columns[] = {
	{ "rank", NULL },       { "depth", NULL },         { "offset_ns", "Begins at" },
	{ "begin_ns", NULL },   { "duration_ns", "Time" }, { "self_ns", "Self" },
	{ "usual_ns", "p50" },  { "worst_ns", "Max" },     { "name", "Span" },
	{ "category", NULL },
};

/* One row; the span is @name, or NULL: what a loop waited after it was due. */
struct span_step {
	const struct spans_name *name;
	int64_t begin_ns, end_ns, self_ns;
	unsigned depth;
};

/* Of all spans of this name, in this process. */
static const struct histogram *all_of(const struct span_answer *answer,
				      const struct span_instance *instance,
				      const struct spans_name *name)
{
	const struct model_thread *thread = model_thread(answer->model, instance->thread);

	for (unsigned i = 0; i < spans_stats_count(answer->stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(answer->stats, SPANS_OF_SPANS, i);

		if (row->name == name && row->process == thread->process)
			return &row->duration;
	}
	return NULL;
}

static void put(const struct span_answer *answer, struct table *t, unsigned rank,
		const struct span_step *step)
{
	const struct span_instance *instance = &answer->worst[rank];
	const struct histogram *all = step->name ? all_of(answer, instance, step->name)
						 : &loops_at(answer->loops, answer->index)->latency;
	const unsigned indent = answer->options->format == TABLE_TEXT ? 2 * step->depth : 0;
	char name[512];

	table_u64(t, rank + 1);
	table_u64(t, step->depth);
	table_ns(t, step->begin_ns - instance->begin_ns);
	table_time(t, step->begin_ns);
	table_ns(t, step->end_ns - step->begin_ns);
	table_ns(t, step->self_ns);
	CELL_IF(t, all && all->count, table_ns(t, (int64_t)histogram_quantile(all, 0.5)));
	CELL_IF(t, all && all->count, table_ns(t, (int64_t)all->max));
	(void)snprintf(name, sizeof(name), "%*s%s", indent < 40 ? (int)indent : 40, "",
		       step->name ? step->name->name : "(due, until it woke)");
	table_text(t, name);
	table_text(t, step->name ? step->name->category : NULL);
}

/* How long spans directly inside inner[@at] took; those inside begin later, and end before it. */
static int64_t inside_ns(const struct span_instance *instance, unsigned at)
{
	const struct span_inner *outer = &instance->inner[at];
	int64_t ns = 0, until = outer->begin_ns;

	for (unsigned i = at + 1; i < instance->inners; i++) {
		const struct span_inner *inner = &instance->inner[i];

		if (inner->begin_ns >= outer->end_ns)
			break;
		if (inner->begin_ns < until || inner->end_ns > outer->end_ns)
			continue;
		ns += inner->end_ns - inner->begin_ns;
		until = inner->end_ns;
	}
	return ns;
}

/* why_spans_cut() has sorted them: outer ones first. */
static void put_spans(const struct span_answer *answer, struct table *t, unsigned rank)
{
	const struct span_instance *instance = &answer->worst[rank];
	int64_t ends[SPANS_DEPTH_MAX];
	unsigned depth = 0;

	for (unsigned i = 0; i < instance->inners; i++) {
		const struct span_inner *inner = &instance->inner[i];

		while (depth && ends[depth - 1] <= inner->begin_ns)
			depth--;
		put(answer, t, rank,
		    &(struct span_step){ .name = inner->name,
				    .begin_ns = inner->begin_ns,
				    .end_ns = inner->end_ns,
				    .self_ns = inner->end_ns - inner->begin_ns -
					       inside_ns(instance, i),
				    .depth = depth });
		if (depth < SPANS_DEPTH_MAX)
			ends[depth++] = inner->end_ns;
	}
}

static void print(const struct span_answer *answer, struct table *t)
{
	const bool is_text = answer->options->format == TABLE_TEXT;
	char text[2048], title[80];

	table_value_text(t, "trace", "Trace", answer->path);
	table_value_text(t, "worst", "Worst", why_spans_label(answer, text, sizeof(text)));
	table_value_u64(t, "count", answer->is_loop ? "Cycles" : "Spans", answer->count);
	table_value_text(t, "why", "Why", why_spans_sentence(answer, 0, text, sizeof(text)));
	why_alike_print(&answer->alike, answer->options, "flow", *answer->ways, t);
	for (unsigned rank = 0; rank < answer->instances; rank++) {
		const struct span_instance *instance = &answer->worst[rank];

		(void)snprintf(title, sizeof(title),
			       rank ? "The spans of number %u"
			       : answer->options->at_ns ? "The spans of the one at that time"
							: "The spans of the longest, in order of time",
			       rank + 1);
		if (!rank || is_text)
			table_section(t, "spans", title, columns, COUNT_OF(columns));
		if (answer->is_loop)
			put(answer, t, rank,
			    &(struct span_step){ .begin_ns = instance->begin_ns,
					    .end_ns = instance->woke_ns,
					    .self_ns = instance->woke_ns - instance->begin_ns });
		put_spans(answer, t, rank);
	}
}

int why_flow_spans(struct kymo_ctf_reader *reader, const char *path,
		   const struct why_options *options, struct table *table, struct kymo_err *err)
{
	struct span_answer *answer = calloc(1, sizeof(*answer));
	struct why_options chosen = *options;
	char name[1024], ways[1024], text[2048];
	int status;

	if (!answer)
		return err_no_memory(err);
	if (report_ways_split(options->callback, name, sizeof(name), ways, sizeof(ways)))
		chosen.callback = name;
	answer->options = &chosen;
	answer->ways = ways;
	answer->reader = reader;
	answer->path = path;
	status = why_spans_find(answer, err) ? -1
		 : !answer->is_found         ? 0
		 : answer->instances         ? 1
					     : 2;
	if (status == 1)
		print(answer, table);
	else if (status == 2)
		table_value_text(table, "why_empty", "Nothing to show",
				 text_hints(text, sizeof(text),
					      options->callback
					 ? "No loop or span of that name ran at that time. `kymo dump "
					   "--begin TIME` shows the events after it; without --at, "
					   "`kymo flow` shows the longest instance."
					 : "The worst loop or span of the trace did not run at that "
					   "time. Name the one that did (`kymo report` lists them), or "
					   "leave out --at.",
					      options->operand));
	why_spans_free(answer);
	free(answer);
	return status;
}
