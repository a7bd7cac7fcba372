/* SPDX-License-Identifier: Apache-2.0 */
/* The services of a page: what their calls were spent with, and the longest ones. */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "report/page/page_calls.h"
#include "report/page/page_internal.h"

/* The words of src/page/parts.js. */
static const char *const part_name[PAGE_CALL_PARTS] = {
	[PAGE_CALL_WAY] = "request_way",         [PAGE_CALL_WAIT] = "request_wait",
	[PAGE_CALL_TAKE] = "request_take",       [PAGE_CALL_RUN] = "served",
	[PAGE_CALL_ANSWER] = "answering",        [PAGE_CALL_BACK] = "response_way",
	[PAGE_CALL_BACK_WAIT] = "response_wait", [PAGE_CALL_AWAY] = "away",
};

/* Each: [begin, total, id, client's node, service's node, handled after, handled, each part ...];
 * the nodes are numbers in "names". */
static void put_call(struct page *page, const struct page_call *call, int client, int service)
{
	struct json_text *json = &page->json;

	json_text_open(json, NULL, '[');
	page_put_time(page, NULL, call->begin_ns);
	json_text_i64(json, NULL, call->total_ns);
	json_text_u64(json, NULL, call->id);
	json_text_i64(json, NULL, client);
	json_text_i64(json, NULL, service);
	json_text_i64(json, NULL, call->handled_after_ns);
	json_text_i64(json, NULL, call->handled_ns);
	for (unsigned p = 0; p < PAGE_CALL_PARTS; p++)
		json_text_i64(json, NULL, call->part_ns[p]);
	json_text_close(json, ']');
}

static int number_of(const char **name, unsigned *names, const char *wanted)
{
	for (unsigned i = 0; i < *names; i++)
		if (strcmp(name[i], wanted) == 0)
			return (int)i;
	name[*names] = wanted;
	return (int)(*names)++;
}

static void put_worst(struct page *page, const struct page_service *service, unsigned most)
{
	struct json_text *json = &page->json;
	const unsigned count = service->worsts < most ? service->worsts : most;
	const char **name = calloc(2 * count + 1, sizeof(*name));
	unsigned names = 0;

	page->failed |= !name;
	if (!name)
		return;
	json_text_open(json, "worst", '[');
	for (unsigned i = 0; i < count; i++) {
		const struct page_call *call = &service->worst[i];
		const int client = number_of(name, &names, page_node_name(call->client));

		put_call(page, call, client,
			 number_of(name, &names, page_node_name(call->service)));
	}
	json_text_close(json, ']');
	json_text_open(json, "names", '[');
	for (unsigned i = 0; i < names; i++)
		json_text_string(json, NULL, name[i]);
	json_text_close(json, ']');
	free(name);
}

static int by_longest(const void *a, const void *b)
{
	const struct page_service *x = *(const struct page_service *const *)a;
	const struct page_service *y = *(const struct page_service *const *)b;

	return ORDER(y->total.max, x->total.max) ?: strcmp(x->name, y->name);
}

static void put_service(struct page *page, const struct page_service *service, unsigned most)
{
	struct json_text *json = &page->json;

	json_text_open(json, NULL, '{');
	json_text_i64(json, "entity", page_number(page, SUMMARY_SERVICE, service->name));
	json_text_u64(json, "answered", service->answered);
	json_text_some_i64(json, "error", service->error_ns);
	page_put_distribution(page, "served", &service->served);
	page_put_distribution(page, "handled", &service->handled);
	page_put_segments(page, service->part, part_name, PAGE_CALL_PARTS);
	put_worst(page, service, most);
	json_text_close(json, '}');
}

void page_put_calls(struct page *page)
{
	const struct page_calls *calls = page->report->calls;
	const struct page_service *service;
	const struct page_service **list = NULL;
	unsigned count = 0, size = 0, left = PAGE_CALLS;

	for (unsigned i = 0; (service = page_service(calls, i)); i++) {
		if (!service->answered ||
		    page_number(page, SUMMARY_SERVICE, service->name) < 0)
			continue;
		if (!ARRAY_ROOM(list, count, size)) {
			page->failed = true;
			break;
		}
		list[count++] = service;
	}
	if (count)
		qsort(list, count, sizeof(*list), by_longest);
	json_text_open(&page->json, "calls", '[');
	for (unsigned i = 0; i < count; i++) {
		const unsigned share = left / (count - i) + 1;
		const unsigned most = i < PAGE_WORST_SERVICES || share > PAGE_CALLS_WORST
					      ? PAGE_CALLS_WORST
					      : share;

		put_service(page, list[i], most);
		left -= most < left ? most : left;
	}
	json_text_close(&page->json, ']');
	free(list);
}
