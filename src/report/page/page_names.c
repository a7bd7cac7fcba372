/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a page's entities: first those of the summary, in its order. Which of them a
 * callback is, says its process, too: two processes of one name that run at the same time have
 * callbacks and chains of their own (summary_twins.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/page/page_instances_internal.h"

/* ---- numbers ---- */

static int number_shown(struct page *page, const struct summary_entity *entity)
{
	if (!ARRAY_ROOM(page->shown, page->shown_count, page->shown_size) ||
	    map_put(&page->number, (uintptr_t)entity, 0,
		    (void *)(intptr_t)(page->shown_count + 1))) {
		page->failed = true;
		return -1;
	}
	page->shown[page->shown_count] = entity;
	return (int)page->shown_count++;
}

int page_number_of(const struct page *page, const struct summary_entity *entity)
{
	return (int)(intptr_t)map_get(&page->number, (uintptr_t)entity, 0) - 1;
}

int page_number(const struct page *page, enum summary_kind kind, const char *name)
{
	return page_number_of(page, summary_find(page->summary, kind, name, ""));
}

/* @process may be of the second model, of page_instances_again.c. */
static const struct model_process *process_here(const struct page *page,
						const struct model_process *process)
{
	const struct model *model = page->report->model;
	const unsigned count = model_count(model, MODEL_PROCESS);

	if (process->index < count && model_process(model, process->index) == process)
		return process;
	for (unsigned i = 0; i < count; i++)
		if (page_is_same_process(model_process(model, i), process))
			return model_process(model, i);
	return process;
}

int page_number_in(const struct page *page, enum summary_kind kind, const char *name,
		   const struct model_process *process)
{
	return page_number_of(page, summary_collect_entity(page->report->collect, page->summary,
							   kind, name,
							   process_here(page, process)));
}

int page_callback_number(const struct page *page, const struct model_callback *callback)
{
	const struct model *model = page->report->model;
	char name[512];

	if (callback->index < page->callbacks && model_callback(model, callback->index) == callback)
		return page->callback[callback->index];
	summary_callback_name(callback, name, sizeof(name));
	return page_number_in(page, SUMMARY_CALLBACK, name, callback->process);
}

int page_timer_number(const struct page *page, const struct model_callback *callback)
{
	char name[512];

	summary_callback_name(callback, name, sizeof(name));
	return page_number_in(page, SUMMARY_TIMER, name, callback->process);
}

static void number_callbacks(struct page *page)
{
	const struct model *model = page->report->model;
	const unsigned count = model_count(model, MODEL_CALLBACK);
	int *number = malloc((count + 1) * sizeof(*number));

	if (!number) {
		page->failed = true;
		return;
	}
	for (unsigned i = 0; i < count; i++)
		number[i] = page_callback_number(page, model_callback(model, i));
	page->callback = number;
	page->callbacks = count;
}

int page_chain_number(const struct page *page, const struct chains_path *path)
{
	return page->chain ? page->chain[path->index] - 1 : -1;
}

static void number_chains(struct page *page)
{
	const struct chains *chains = page->report->chains;
	char name[4096];

	page->chain = calloc(chains_path_count(chains) + 1, sizeof(*page->chain));
	if (!page->chain) {
		page->failed = true;
		return;
	}
	for (unsigned i = 0; i < chains_path_count(chains); i++) {
		const struct chains_path *path = chains_path(chains, i);
		struct summary_ways ways;

		if (!path->stats || !path->stats->total.count || !chains_is_chain(chains, path))
			continue;
		(void)summary_collect_ways(page->report->collect, path, &ways);
		page->chain[i] = 1 + page_number_of(page, summary_find(page->summary, SUMMARY_CHAIN,
								       chains_label(path, name,
										    sizeof(name)),
								       ways.of));
	}
}

/* ---- what the page says of twins ---- */

static bool is_twin(const struct page *page, int number)
{
	return number >= 0 && page->shown[number]->pid;
}

static void put_pair(struct page *page, int a, int b)
{
	json_text_open(&page->json, NULL, '[');
	json_text_i64(&page->json, NULL, a);
	json_text_i64(&page->json, NULL, b);
	json_text_close(&page->json, ']');
}

static void put_of_spans(struct page *page, enum summary_kind kind, const struct spans_name *name,
			 const struct model_process *process)
{
	char text[512];
	int number;

	(void)snprintf(text, sizeof(text), "%s:%s", name->category, name->name);
	number = page_number_in(page, kind, text, process);
	if (is_twin(page, number))
		put_pair(page, number, (int)process->index);
}

/* [entity, process] of each entity that is one of several with its names. */
static void put_processes(struct page *page)
{
	const struct report *report = page->report;

	json_text_open(&page->json, "twins", '[');
	for (unsigned i = 0; i < page->callbacks; i++) {
		const struct model_callback *callback = model_callback(report->model, i);
		const int timer = page_timer_number(page, callback);

		if (!is_twin(page, page->callback[i]))
			continue;
		put_pair(page, page->callback[i], (int)callback->process->index);
		if (timer >= 0)
			put_pair(page, timer, (int)callback->process->index);
	}
	for (unsigned i = 0; i < loops_count(report->loops); i++)
		put_of_spans(page, SUMMARY_LOOP, loops_at(report->loops, i)->name,
			     loops_at(report->loops, i)->thread->process);
	for (unsigned i = 0; i < spans_stats_count(report->spans_stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(report->spans_stats, SPANS_OF_SPANS,
							      i);

		put_of_spans(page, SUMMARY_SPAN, row->name, row->process);
	}
	json_text_close(&page->json, ']');
}

void page_put_twins(struct page *page)
{
	const struct view_pair *pair;

	put_processes(page);
	/* [waited, for this one] of callbacks: names do not say for which of several. */
	json_text_open(&page->json, "held", '[');
	for (unsigned i = 0; (pair = view_pair(page->report->view, i)); i++) {
		const int waited = page_callback_number(page, pair->callback),
			  by = page_callback_number(page, pair->by);

		if (waited >= 0 && is_twin(page, by))
			put_pair(page, waited, by);
	}
	json_text_close(&page->json, ']');
}

/* ---- all ---- */

int page_number_all(struct page *page)
{
	for (unsigned i = 0; i < page->summary->entities && !page->failed; i++)
		(void)number_shown(page, page->summary->entity[i]);
	if (!page->is_file && !page->failed) {
		number_callbacks(page);
		number_chains(page);
	}
	return page->failed ? -1 : 0;
}

void page_numbers_free(struct page *page)
{
	map_free(&page->number);
	free(page->shown);
	free(page->callback);
	free(page->chain);
}
