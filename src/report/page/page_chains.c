/* SPDX-License-Identifier: Apache-2.0 */
/* The chains of a page: their steps, the median of each segment, and the worst arrivals. */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "report/page/page_internal.h"

struct chain {
	const struct chains_path *path;
	int number; /* of its entity */
};

static int by_longest(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;
	const uint64_t p = x->path->stats->total.max, q = y->path->stats->total.max;

	return ORDER(q, p) ?: x->number - y->number;
}

static void put_step(struct page *page, const struct chains_path *step)
{
	char label[512];

	json_text_open(&page->json, NULL, '{');
	json_text_string(&page->json, "name", chains_step_label(step, label, sizeof(label)));
	if (step->publisher) {
		json_text_string(&page->json, "kind", "topic");
		if (step->publisher->topic)
			json_text_i64(
				&page->json, "entity",
				page_number(page, SUMMARY_TOPIC, step->publisher->topic->name));
		if (step->link != CHAINS_DIRECT)
			json_text_string(&page->json, "link", chains_link_name(step->link));
	} else {
		json_text_string(&page->json, "kind", "callback");
		json_text_i64(&page->json, "entity", page_callback_number(page, step->callback));
	}
	json_text_close(&page->json, '}');
}

static void put_segments(struct page *page, const struct chains_stats *stats)
{
	struct json_text *json = &page->json;

	json_text_open(json, "segments", '[');
	for (unsigned p = 0; p < stats->parts; p++) {
		json_text_open(json, NULL, '{');
		json_text_string(json, "what", chains_segment_name(stats->part[p].segment));
		json_text_u64(json, "step", stats->part[p].step);
		json_text_u64(json, "p50", histogram_quantile(&stats->part_ns[p], 0.5));
		json_text_u64(json, "p99", histogram_quantile(&stats->part_ns[p], 0.99));
		json_text_u64(json, "max", stats->part_ns[p].max);
		json_text_u64(json, "sum", stats->part_ns[p].sum);
		json_text_some_i64(json, "error", stats->part_error_ns[p]);
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

/*
 * Each: [begin, total, id of a message in it, time of each segment ...]. Start-up comes last, and a
 * page has it only if there is nothing else.
 */
static unsigned put_worst(struct page *page, const struct chains_stats *stats, unsigned most)
{
	struct json_text *json = &page->json;
	unsigned count = 0;

	json_text_open(json, "worst", '[');
	for (; count < stats->worst_count && count < most; count++) {
		const struct chains_arrival *arrival = &stats->worst[count];

		if (arrival->is_startup && !stats->worst->is_startup)
			break;
		json_text_open(json, NULL, '[');
		page_put_time(page, NULL, arrival->begin_ns);
		json_text_i64(json, NULL, arrival->total_ns);
		json_text_u64(json, NULL, arrival->id);
		for (unsigned p = 0; p < stats->parts; p++)
			json_text_i64(json, NULL, arrival->part_ns[p]);
		json_text_close(json, ']');
	}
	json_text_close(json, ']');
	return count;
}

static unsigned put_chain(struct page *page, const struct chain *chain, unsigned most)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const unsigned steps = chains_steps(chain->path, step);
	unsigned count;

	json_text_open(&page->json, NULL, '{');
	json_text_i64(&page->json, "entity", chain->number);
	json_text_flag(&page->json, "loop", chain->path->is_loop);
	json_text_open(&page->json, "steps", '[');
	for (unsigned i = 0; i < steps; i++)
		put_step(page, step[i]);
	json_text_close(&page->json, ']');
	json_text_some_i64(&page->json, "error", chain->path->stats->error_ns);
	put_segments(page, chain->path->stats);
	count = put_worst(page, chain->path->stats, most);
	json_text_close(&page->json, '}');
	return count;
}

/* The first chains have all of their worst, the others share what is left. */
static unsigned most_of(unsigned rank, unsigned chains, unsigned left)
{
	const unsigned share = chains > rank ? left / (chains - rank) : left;

	if (rank < PAGE_WORST_CHAINS)
		return REPORT_PAGE_WORST;
	return share < 1 ? 1 : share < REPORT_PAGE_WORST ? share : REPORT_PAGE_WORST;
}

void page_put_chains(struct page *page)
{
	const struct chains *chains = page->report->chains;
	struct chain *chain = NULL;
	unsigned count = 0, size = 0, left = PAGE_WORST_ALL;

	for (unsigned i = 0; i < chains_path_count(chains); i++) {
		const struct chains_path *path = chains_path(chains, i);

		if (!path->stats || !path->stats->total.count || !chains_is_chain(chains, path))
			continue;
		if (!ARRAY_ROOM(chain, count, size)) {
			page->failed = true;
			break;
		}
		chain[count++] = (struct chain){ path, page_chain_number(page, path) };
	}
	if (count)
		qsort(chain, count, sizeof(*chain), by_longest);
	json_text_open(&page->json, "chains", '[');
	for (unsigned i = 0; i < count && left; i++)
		left -= put_chain(page, &chain[i],
				  most_of(i, count, left) < left ? most_of(i, count, left) : left);
	json_text_close(&page->json, ']');
	free(chain);
}
