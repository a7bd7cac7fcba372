/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads had the CPUs around an instance; see page_cpus.h. */
#include <stdlib.h>

#include "base/array.h"
#include "report/page/page_cpus.h"

#define SLICES_MAX (4 * PAGE_INSTANCE_RUNS) /* while the trace is read */

static int longest_first(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

static int64_t length_of(const struct page_slice *slice)
{
	return slice->to_ns - slice->from_ns;
}

/* Keep the @most longest; of those that are as long as the last one, the first that came. */
static bool keep_longest(struct page_slices *slices, unsigned most)
{
	int64_t *length = malloc(slices->count * sizeof(*length));
	unsigned kept = 0, equal = most;

	if (!length)
		return false;
	for (unsigned i = 0; i < slices->count; i++)
		length[i] = length_of(&slices->slice[i]);
	qsort(length, slices->count, sizeof(*length), longest_first);
	slices->least_ns = length[most - 1];
	for (unsigned i = 0; i < most; i++)
		equal -= length[i] > slices->least_ns;
	free(length);
	for (unsigned i = 0; i < slices->count; i++) {
		const struct page_slice *slice = &slices->slice[i];

		if (length_of(slice) > slices->least_ns ||
		    (length_of(slice) == slices->least_ns && equal && equal--))
			slices->slice[kept++] = *slice;
	}
	slices->count = kept;
	return true;
}

bool page_slices_add(struct page_slices *slices, const struct page_slice *slice)
{
	if (slice->from_ns >= slices->window.end_ns || slice->to_ns <= slices->window.begin_ns ||
	    length_of(slice) < slices->least_ns)
		return true;
	if (!ARRAY_ADD(slices->slice, slices->count, slices->size, *slice))
		return false;
	return slices->count < SLICES_MAX || keep_longest(slices, SLICES_MAX / 2);
}

/* Each: [CPU, host, thread, start, length] */
void page_put_slices(struct page *page, struct page_slices *slices)
{
	struct json_text *json = &page->json;

	if (slices->count > PAGE_INSTANCE_RUNS && !keep_longest(slices, PAGE_INSTANCE_RUNS))
		page->failed = true;
	json_text_some_i64(json, "cpus_shortest", slices->least_ns);
	json_text_open(json, "cpus", '[');
	for (unsigned i = 0; i < slices->count; i++) {
		const struct page_slice *slice = &slices->slice[i];

		json_text_open(json, NULL, '[');
		json_text_i64(json, NULL, slice->cpu);
		json_text_u64(json, NULL, slice->host);
		json_text_u64(json, NULL, slice->thread);
		page_put_time(page, NULL, slice->from_ns);
		json_text_i64(json, NULL, slice->to_ns - slice->from_ns);
		json_text_close(json, ']');
	}
	json_text_close(json, ']');
}
