/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a page's entities: first those of the summary, in its order. Which of them a
 * callback is, says its process, too: two processes of one name that run at the same time have
 * callbacks of their own (summary_twins.c).
 *
 * The summary knows a chain by its label alone. The page tells chains of one label apart if they
 * lead through callbacks of different processes, as `kymo flow` does: "/imu -> /odom (driver
 * 4711)". The one with the worst arrival has the number of the summary's entity, because findings
 * are about it; the others come behind all entities.
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

/* ---- chains of one label ---- */

struct page_way {
	const struct chains_path *path;
	int number; /* of the summary's entity */
	struct summary_entity *apart;
};

/* What the process of a step is called in the summary: "driver", "driver #2"; "" of a topic. */
static const char *of_step(const struct page *page, const struct chains_path *step)
{
	const int number = step->callback ? page_callback_number(page, step->callback) : -1;

	if (!step->callback)
		return "";
	return number < 0 ? step->callback->process->name : page->summary->entity[number]->of;
}

/* Which steps are of different processes in @count ways of one label, as bits. */
static uint64_t differing(const struct page *page, const struct page_way *way, unsigned count)
{
	const struct chains_path *first[CHAINS_STEPS_MAX], *step[CHAINS_STEPS_MAX];
	const unsigned steps = chains_steps(way->path, first);
	uint64_t bits = 0;

	for (unsigned i = 1; i < count; i++) {
		const unsigned same = chains_steps(way[i].path, step);

		for (unsigned k = 0; k < steps && k < same; k++)
			if (strcmp(of_step(page, first[k]), of_step(page, step[k])) != 0)
				bits |= UINT64_C(1) << k;
	}
	return bits;
}

struct page_ways {
	struct page *page;
	struct page_way *way;
	unsigned count, size;
};

static int by_entity(const void *a, const void *b)
{
	const struct page_way *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->path->index < y->path->index ? -1 : x->path->index > y->path->index;
}

static void find_ways(struct page_ways *ways)
{
	struct page *page = ways->page;
	const struct chains *chains = page->report->chains;
	char name[4096];

	for (unsigned i = 0; i < chains_path_count(chains); i++) {
		const struct chains_path *path = chains_path(chains, i);
		struct page_way way = { .path = path };

		if (!path->stats || !path->stats->total.count || !chains_is_chain(chains, path))
			continue;
		way.number = page_number(page, SUMMARY_CHAIN,
					 chains_label(path, name, sizeof(name)));
		page->chain[i] = way.number + 1;
		if (!ARRAY_ROOM(ways->way, ways->count, ways->size))
			page->failed = true;
		else
			ways->way[ways->count++] = way;
	}
	if (ways->count)
		qsort(ways->way, ways->count, sizeof(*ways->way), by_entity);
}

/* "driver 4711" of "/imu_driver timer 5 ms (driver 4711)"; without a twin, the process. */
static void put_process(const struct page *page, const struct model_callback *callback,
			char *buffer, size_t size)
{
	const int number = page_callback_number(page, callback);
	const struct summary_entity *entity = number < 0 ? NULL : page->summary->entity[number];
	const size_t used = strlen(buffer);

	(void)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "",
		       !entity       ? callback->process->name
		       : entity->pid ? entity->label + strlen(entity->name) + strlen(" (")
				     : entity->of);
	if (entity && entity->pid)
		buffer[strlen(buffer) - 1] = '\0';
}

/* The processes of the steps that differ, each once: "driver 4711, filter 4713". */
static void apart_text(const struct page *page, const struct page_way *way, uint64_t differ,
		       char *buffer, size_t size)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const unsigned steps = chains_steps(way->path, step);

	*buffer = '\0';
	for (unsigned i = 0; i < steps; i++) {
		bool is_said = !(differ >> i & 1) || !step[i]->callback;

		for (unsigned k = 0; k < i && !is_said; k++)
			is_said = differ >> k & 1 && step[k]->callback &&
				  step[k]->callback->process == step[i]->callback->process;
		if (!is_said)
			put_process(page, step[i]->callback, buffer, size);
	}
}

static bool is_worse(const struct summary_entity *a, const struct summary_entity *b)
{
	if (!a->worsts || !b->worsts)
		return a->worsts > b->worsts;
	if (a->worst->is_startup != b->worst->is_startup)
		return b->worst->is_startup;
	return a->worst->value_ns > b->worst->value_ns;
}

/* Each path counts for the entity of its processes. */
static void take_apart(struct page *page, struct page_way *way, unsigned count, uint64_t differ)
{
	for (unsigned i = 0; i < count; i++) {
		char text[1024], label[2048];

		apart_text(page, &way[i], differ, text, sizeof(text));
		way[i].apart = summary_collect_chain(page->report->collect, page->apart,
						     way[i].path, text);
		if (!way[i].apart)
			return;
		(void)snprintf(label, sizeof(label), "%s (%s)", way[i].apart->label, text);
		way[i].apart->label = summary_text(page->apart, label);
	}
}

static void number_apart(struct page *page, const struct page_way *way, unsigned count)
{
	const struct summary_entity *worst = way->apart;

	for (unsigned i = 1; i < count && worst; i++)
		if (way[i].apart && is_worse(way[i].apart, worst))
			worst = way[i].apart;
	for (unsigned i = 0; i < count && worst; i++) {
		int number = way->number;

		if (!way[i].apart)
			return;
		if (way[i].apart == worst)
			page->shown[number] = worst;
		else
			number = page_number_of(page, way[i].apart);
		if (number < 0)
			number = number_shown(page, way[i].apart);
		page->chain[way[i].path->index] = number + 1;
	}
}

/* @count ways of one label. */
static void split(struct page *page, struct page_way *way, unsigned count)
{
	const uint64_t differ = differing(page, way, count);

	if (!differ || way->number < 0)
		return;
	take_apart(page, way, count, differ);
	number_apart(page, way, count);
}

static void number_chains(struct page *page)
{
	struct page_ways ways = { .page = page };

	page->chain = calloc(chains_path_count(page->report->chains) + 1, sizeof(*page->chain));
	page->apart = summary_new();
	if (!page->chain || !page->apart) {
		page->failed = true;
		return;
	}
	find_ways(&ways);
	for (unsigned i = 0, same; i < ways.count; i += same) {
		for (same = 1; i + same < ways.count &&
			       ways.way[i + same].number == ways.way[i].number;)
			same++;
		split(page, &ways.way[i], same);
	}
	page->failed |= page->apart->failed;
	free(ways.way);
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
	summary_free(page->apart);
}
