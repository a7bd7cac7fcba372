/* SPDX-License-Identifier: Apache-2.0 */
/* The others of one name: see report_why_alike.h. */
#include "report/why/report_why_alike.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/why/report_why_internal.h"
#include "report/why/report_why_spans.h"
#include "summary/summary_collect.h"

static int64_t excess(const struct why_alike_one *other)
{
	return other->worst_ns > other->usual_ns ? other->worst_ns - other->usual_ns : 0;
}

void why_alike_add(struct why_alike *alike, const char *name, const char *ways,
		   const struct histogram *total, int64_t worst_ns)
{
	struct why_alike_one other = { .count = total->count,
				   .usual_ns = (int64_t)histogram_quantile(total, 0.5),
				   .worst_ns = worst_ns };
	unsigned at = alike->others;

	other.ways = strdup(ways);
	if (asprintf(&other.operand, "%s (%s)", name, ways) < 0)
		other.operand = NULL;
	if (!other.ways || !other.operand ||
	    !ARRAY_ROOM(alike->other, alike->others, alike->size)) {
		free(other.ways);
		free(other.operand);
		alike->failed = true;
		return;
	}
	for (; at && excess(&alike->other[at - 1]) < excess(&other); at--)
		alike->other[at] = alike->other[at - 1];
	alike->other[at] = other;
	alike->others++;
}

void why_alike_clear(struct why_alike *alike)
{
	for (unsigned i = 0; i < alike->others; i++) {
		free(alike->other[i].operand);
		free(alike->other[i].ways);
	}
	free(alike->other);
	*alike = (struct why_alike){ 0 };
}

/* ---- which ones ---- */

/* What was typed without its processes, if it means one chain; else its ends. */
static const char *name_of_chain(const struct why_answer *answer, const struct chains_path *path,
				 char *buffer, size_t size)
{
	const char *typed = answer->options->pattern;

	if (typed && !strpbrk(typed, "*?["))
		return typed;
	return summary_chain_ask(path, buffer, size);
}

static void find_chains(struct why_answer *answer)
{
	const struct chains_path *chosen = chains_path(answer->chains, answer->target.index);
	char label[4096], other[4096], name[1024], ways[1024];

	chains_label(chosen, label, sizeof(label));
	for (unsigned i = 0; i < chains_path_count(answer->chains); i++) {
		const struct chains_path *path = chains_path(answer->chains, i);
		const struct chains_stats *stats = path->stats;

		if (path == chosen || !stats || !stats->total.count ||
		    !chains_is_chain(answer->chains, path) ||
		    strcmp(chains_label(path, other, sizeof(other)), label) != 0 ||
		    !*report_ways_chain(answer->model, path, true, ways, sizeof(ways)) ||
		    !*name_of_chain(answer, path, name, sizeof(name)))
			continue;
		why_alike_add(&answer->alike, name_of_chain(answer, path, name, sizeof(name)), ways,
			      &stats->total,
			      stats->worst_count && !stats->worst->is_startup
				      ? stats->worst->total_ns
				      : 0);
	}
}

static void find_callbacks(struct why_answer *answer)
{
	const struct model_callback *chosen =
		model_callback(answer->model, answer->target.index);
	char label[WHY_LABEL_MAX], other[WHY_LABEL_MAX], ways[1024];

	summary_callback_name(chosen, label, sizeof(label));
	for (unsigned i = 0; i < model_count(answer->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(answer->model, i);
		const struct why_callback *runs = why_callback(answer->callbacks, i);

		if (callback == chosen || !runs || !runs->total.count ||
		    strcmp(callback->process->name, chosen->process->name) != 0 ||
		    strcmp(summary_callback_name(callback, other, sizeof(other)), label) != 0 ||
		    !*report_ways_callback(answer->model, callback, true, ways, sizeof(ways)))
			continue;
		why_alike_add(&answer->alike,
			      model_callback_label(callback, other, sizeof(other)), ways,
			      &runs->total,
			      runs->worst_count && !runs->worst->is_startup ? runs->worst->total_ns
									    : 0);
	}
}

void why_alike_find(struct why_answer *answer)
{
	why_alike_clear(&answer->alike);
	if (!answer->target.is_found)
		return;
	if (answer->target.is_chain)
		find_chains(answer);
	else
		find_callbacks(answer);
}

void why_alike_find_spans(struct span_answer *spans)
{
	const struct loop *chosen =
		spans->is_loop ? loops_at(spans->loops, spans->index) : NULL;
	const uint32_t process = chosen ? chosen->thread->process->index : spans->process;
	char ways[512], text[1024];

	for (unsigned i = 0; chosen && i < loops_count(spans->loops); i++) {
		const struct loop *loop = loops_at(spans->loops, i);

		if (loop->name != chosen->name || loop->thread->process->index == process ||
		    !loop->response.count)
			continue;
		snprintf(text, sizeof(text), "%s:%s", loop->name->category, loop->name->name);
		why_alike_add(&spans->alike, text,
			      why_spans_ways(spans, loop->name, loop->thread->process, ways,
					     sizeof(ways)),
			      &loop->response, (int64_t)loop->response.max);
	}
	for (unsigned i = 0; !chosen && i < spans_stats_count(spans->stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(spans->stats, SPANS_OF_SPANS, i);

		if (row->name->index != spans->name_index || row->process->index == process ||
		    !row->duration.count)
			continue;
		snprintf(text, sizeof(text), "%s:%s", row->name->category, row->name->name);
		why_alike_add(&spans->alike, text,
			      why_spans_ways(spans, row->name, row->process, ways, sizeof(ways)),
			      &row->duration, (int64_t)row->duration.max);
	}
}

/* ---- what is said ---- */

/* "the worst of 9. The next: `kymo why TRACE '/scan (filter 4711)'`" */
static void print_line(const struct why_alike *alike, const struct why_options *options,
		       const char *verb, struct table *table)
{
	const struct why_alike_one *next = &alike->other[0];
	const size_t size = 4 * strlen(next->operand) + 256;
	char *word = malloc(size), *text = malloc(2 * size), *whole = malloc(3 * size + 4096);

	if (word && text && whole) {
		text_shell(word, size, next->operand);
		(void)snprintf(text, 2 * size, "%s of %u. %s: `kymo %s %s`",
			       options->at_ns ? "one" : "the worst", alike->others + 1,
			       options->at_ns ? "Another" : "The next", verb, word);
		table_value_text(table, "alike", "Of this name",
				 text_hints(whole, 3 * size + 4096, text, options->operand));
	}
	free(word);
	free(text);
	free(whole);
}

static const struct table_column columns[] = {
	{ "process", "Process" }, { "count", "Instances" },  { "usual_ns", "Usually" },
	{ "worst_ns", "Worst" },  { "operand", "Operand" },
};

void why_alike_print(const struct why_alike *alike, const struct why_options *options,
		     const char *verb, bool is_named, struct table *table)
{
	if (options->format == TABLE_TEXT) {
		if (alike->others && !is_named && !options->message)
			print_line(alike, options, verb, table);
		return;
	}
	table_value_u64(table, "alike", "Of this name", alike->others + 1);
	table_section(table, "others", "Others of this name", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < alike->others; i++) {
		const struct why_alike_one *other = &alike->other[i];

		table_text(table, other->ways);
		table_u64(table, other->count);
		table_ns(table, other->usual_ns);
		table_ns(table, other->worst_ns);
		table_text(table, other->operand);
	}
}
