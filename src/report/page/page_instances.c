/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worst instances of a page with what the threads around them did.
 *
 * Which instances are the worst is known when the trace has been read, so it is read once more,
 * with a model of its own that only keeps the runs around them. Threads and callbacks of the first
 * model are found in the second one by what they are.
 */
#include <stdlib.h>

#include "base/order.h"
#include "report/page/page_instances_internal.h"

#define OF_CHAINS (PAGE_INSTANCES / 2)
#define LONGEST_NS INT64_C(20000000000) /* a longer instance has no picture: it is a pause */

/* Keep the ones farthest above the usual, at most @most of a kind. */
static void keep(struct page_around *around, struct page_candidate *new, unsigned most)
{
	unsigned of_kind = 0, last = UINT32_MAX;

	for (unsigned i = 0; i < around->count; i++) {
		const struct page_candidate *old = &around->candidate[i];

		if (old->is_chain != new->is_chain)
			continue;
		of_kind++;
		if (last == UINT32_MAX || old->excess_ns < around->candidate[last].excess_ns)
			last = i;
	}
	if (of_kind < most) {
		around->candidate[around->count++] = *new;
	} else if (around->candidate[last].excess_ns < new->excess_ns) {
		why_free(&around->candidate[last].instance);
		around->candidate[last] = *new;
	} else {
		why_free(&new->instance);
	}
}

/* How far the worst one, which is start-up only if all are, is above the usual one. */
static int64_t excess(const struct histogram *total, int64_t worst_ns)
{
	return worst_ns - (int64_t)histogram_quantile(total, 0.5);
}

static bool is_startup(const struct page *page, int number)
{
	return number < 0 || page->shown[number]->is_startup;
}

static void choose_chains(struct page_around *around)
{
	struct page *page = around->page;
	const struct chains *chains = page->report->chains;

	for (unsigned i = 0; i < chains_path_count(chains); i++) {
		const struct chains_path *path = chains_path(chains, i);
		struct page_candidate new = { .is_chain = true, .executor = -1 };

		if (!path->stats || !path->stats->worst_count || !path->stats->worst[0].hop ||
		    !chains_is_chain(chains, path))
			continue;
		new.number = page_chain_number(page, path);
		new.is_fired = around->fired == path;
		new.excess_ns = new.is_fired ? INT64_MAX
					     : excess(&path->stats->total,
						      path->stats->worst[0].total_ns);
		if (is_startup(page, new.number))
			continue;
		if (why_of_arrival(&new.instance, path,
				   new.is_fired ? &path->stats->named : &path->stats->worst[0]))
			page->failed = true;
		else
			keep(around, &new, OF_CHAINS);
	}
}

static void choose_callbacks(struct page_around *around)
{
	struct page *page = around->page;
	const struct model *model = page->report->model;

	for (unsigned i = 0; i < model_count(model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(model, i);
		const struct why_callback *runs = why_callback(page->report->callbacks, i);
		struct page_candidate new = { .is_chain = false, .executor = -1 };

		if (!runs || !runs->worst_count)
			continue;
		new.number = page_callback_number(page, callback);
		new.is_fired = around->fired == callback;
		new.excess_ns = new.is_fired ? INT64_MAX
					     : excess(&runs->total, runs->worst[0].total_ns);
		if (is_startup(page, new.number) ||
		    page->shown[new.number]->is_other_clock)
			continue;
		if (why_of_run(&new.instance, new.is_fired ? &runs->at : &runs->worst[0]))
			page->failed = true;
		else
			keep(around, &new, PAGE_INSTANCES - OF_CHAINS);
	}
}

static int by_excess(const void *a, const void *b)
{
	const struct page_candidate *x = a, *y = b;

	return ORDER(y->excess_ns, x->excess_ns) ?: x->number - y->number;
}

static void drop_longest(struct page_around *around)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < around->count; i++) {
		if (around->candidate[i].instance.total_ns > LONGEST_NS)
			why_free(&around->candidate[i].instance);
		else
			around->candidate[kept++] = around->candidate[i];
	}
	around->count = kept;
}

static void put_all(struct page_around *around)
{
	struct json_text *json = &around->page->json;

	if (around->model)
		page_put_threads(around);
	json_text_open(json, "instances", '[');
	for (unsigned i = 0; i < around->count; i++)
		page_put_instance(around, &around->candidate[i]);
	json_text_close(json, ']');
	page_put_executors(around);
	if (around->cpus)
		page_put_cpus(around->cpus);
}

int page_put_instances(struct page *page)
{
	struct page_around *around = calloc(1, sizeof(*around));
	int status;

	if (!around)
		return err_no_memory(page->report->err);
	around->page = page;
	around->fired = page_fired(page);
	choose_chains(around);
	choose_callbacks(around);
	drop_longest(around);
	if (around->count)
		qsort(around->candidate, around->count, sizeof(*around->candidate), by_excess);
	page_choose_waits(around);
	status = page_read_around(around);
	if (!status)
		status = page_find_executors(around);
	if (!status)
		put_all(around);
	page_cpus_destroy(around->cpus);
	for (unsigned i = 0; i < around->all; i++)
		why_free(&around->candidate[i].instance);
	free(around->executor);
	passes_free(&around->cpu_passes);
	passes_free(&around->passes);
	free(around);
	return status;
}
