/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of a page: their threads and callbacks, and the worst waits of these callbacks. A
 * wait is written as an instance that has one callback: from when it could run until it returned.
 */
#include <stdlib.h>

#include "report/page/page_instances_internal.h"

/* A longer wait has no picture. */
#define LONGEST_NS INT64_C(20000000000)

static bool is_executor(const struct page *page, unsigned thread)
{
	const struct executor_view *view = page->report->view;

	return view_thread(view, thread)->thread && view_executor_of(view, thread) == thread;
}

static int executor_number(const struct page *page, unsigned executor)
{
	const struct model *model = page->report->model;
	char name[1024];

	summary_executor_name(model, page->report->view, executor, name, sizeof(name));
	return page_number_in(page, SUMMARY_EXECUTOR, name,
			      model_thread(model, executor)->process);
}

/* ---- which waits ---- */

struct chosen {
	const struct model_callback *callback;
	const struct view_wait *wait;
	int executor;
	unsigned rank; /* among those of its executor */
};

static int by_blocked(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->wait->blocked_ns != y->wait->blocked_ns)
		return x->wait->blocked_ns < y->wait->blocked_ns ? 1 : -1;
	return x->callback->index < y->callback->index ? -1 : 1;
}

/* The worst of each executor before the second one of any. */
static int by_rank(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : by_blocked(a, b);
}

static bool is_wanted(const struct page *page, const struct model_callback *callback,
		      const struct view_wait *wait)
{
	int number;

	if (!wait->blocked_ns || wait->start_ns + wait->duration_ns - wait->from_ns > LONGEST_NS)
		return false;
	number = page_callback_number(page, callback);
	return number >= 0 && !page->shown[number]->is_startup &&
	       !page->shown[number]->is_other_clock;
}

static int instance_of(struct why_instance *out, const struct chosen *chosen)
{
	const struct view_wait *wait = chosen->wait;
	const unsigned hops = wait->publisher ? 2 : 1;
	struct why_hop *hop = calloc(hops, sizeof(*hop)), *last = hop + hops - 1;

	if (!hop)
		return -1;
	if (wait->publisher) {
		hop->publisher = wait->publisher;
		hop->at.publish_ns = last->at.publish_ns = last->at.send_ns = wait->from_ns;
		last->at.take_ns = wait->to_ns;
	} else {
		last->due_ns = wait->from_ns;
	}
	last->callback = chosen->callback;
	last->at.thread = wait->thread;
	last->at.start_ns = wait->start_ns;
	last->at.end_ns = wait->start_ns + wait->duration_ns;
	*out = (struct why_instance){ .begin_ns = wait->from_ns,
				      .total_ns = last->at.end_ns - wait->from_ns,
				      .hops = hops,
				      .hop = hop };
	return 0;
}

static unsigned find(const struct page *page, struct chosen *chosen)
{
	const struct model *model = page->report->model;
	unsigned count = 0;

	for (unsigned i = 0; i < model_count(model, MODEL_CALLBACK); i++) {
		const struct view_wait *wait = &view_callback(page->report->view, i)->steady;

		if (is_wanted(page, model_callback(model, i), wait))
			chosen[count++] = (struct chosen){
				model_callback(model, i), wait,
				view_executor_of_callback(page->report->view, i), 0
			};
	}
	return count;
}

void page_choose_waits(struct page_around *around)
{
	struct page *page = around->page;
	const struct model *model = page->report->model;
	struct chosen *chosen = calloc(model_count(model, MODEL_CALLBACK) + 1, sizeof(*chosen));
	unsigned *ranks = calloc(model_count(model, MODEL_THREAD) + 1, sizeof(*ranks));
	unsigned count = chosen && ranks ? find(page, chosen) : 0;

	around->all = around->count;
	page->failed |= !chosen || !ranks;
	if (count)
		qsort(chosen, count, sizeof(*chosen), by_blocked);
	for (unsigned i = 0; i < count; i++)
		chosen[i].rank = ranks[chosen[i].executor]++;
	if (count)
		qsort(chosen, count, sizeof(*chosen), by_rank);
	for (unsigned i = 0; i < count && i < PAGE_WAITS; i++) {
		struct page_candidate *new = &around->candidate[around->all];

		if (chosen[i].rank >= PAGE_EXECUTOR_WAITS)
			break;
		*new = (struct page_candidate){
			.number = page_callback_number(page, chosen[i].callback),
			.executor = chosen[i].executor,
			.excess_ns = chosen[i].wait->blocked_ns,
		};
		if (instance_of(&new->instance, &chosen[i]))
			page->failed = true;
		else
			around->all++;
	}
	free(chosen);
	free(ranks);
}

/* ---- what is written of them ---- */

int page_find_executors(struct page_around *around)
{
	const struct report *report = around->page->report;
	const unsigned threads = around->model ? model_count(around->model, MODEL_THREAD) : 0;

	around->executor = malloc((threads + 1) * sizeof(*around->executor));
	if (!around->executor)
		return err_no_memory(report->err);
	for (unsigned i = 0; i < threads; i++) {
		const struct model_thread *thread =
			page_thread_in(report->model, model_thread(around->model, i));

		around->executor[i] =
			thread && view_thread(report->view, thread->index)->thread
				? (int)view_executor_of(report->view, thread->index)
				: -1;
	}
	return 0;
}

static void put_executor(struct page_around *around, unsigned executor)
{
	const struct report *report = around->page->report;
	struct json_text *json = &around->page->json;

	json_text_open(json, NULL, '{');
	json_text_i64(json, "entity", executor_number(around->page, executor));
	json_text_open(json, "threads", '[');
	for (unsigned i = 0; around->model && i < model_count(around->model, MODEL_THREAD); i++)
		if (around->executor[i] == (int)executor)
			json_text_u64(json, NULL, i);
	json_text_close(json, ']');
	json_text_open(json, "callbacks", '[');
	for (int i = view_first_callback(report->view, executor); i >= 0;
	     i = view_next_callback(report->view, i))
		json_text_i64(json, NULL,
			      page_callback_number(around->page,
						   model_callback(report->model, (unsigned)i)));
	json_text_close(json, ']');
	json_text_open(json, "waits", '[');
	for (unsigned i = around->count; i < around->all; i++)
		if (around->candidate[i].executor == (int)executor)
			page_put_instance(around, &around->candidate[i]);
	json_text_close(json, ']');
	json_text_close(json, '}');
}

void page_put_executors(struct page_around *around)
{
	struct json_text *json = &around->page->json;

	json_text_open(json, "executors", '[');
	for (unsigned i = 0; i < model_count(around->page->report->model, MODEL_THREAD); i++)
		if (is_executor(around->page, i))
			put_executor(around, i);
	json_text_close(json, ']');
}
