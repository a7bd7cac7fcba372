/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads had the CPUs around an instance; see page_cpus.h. */
#include "base/array.h"
#include "report/page/page_cpus.h"

#define LEAST_NS 1000
#define SLICES_MAX (4 * PAGE_INSTANCE_RUNS) /* while the trace is read */

static void leave_out_short(struct page_slices *slices, unsigned most)
{
	while (slices->count > most) {
		unsigned kept = 0;

		slices->least_ns = slices->least_ns ? 2 * slices->least_ns : LEAST_NS;
		for (unsigned i = 0; i < slices->count; i++)
			if (slices->slice[i].to_ns - slices->slice[i].from_ns >= slices->least_ns)
				slices->slice[kept++] = slices->slice[i];
		slices->count = kept;
	}
}

bool page_slices_add(struct page_slices *slices, const struct page_slice *slice)
{
	if (slice->from_ns >= slices->window.end_ns || slice->to_ns <= slices->window.begin_ns ||
	    slice->to_ns - slice->from_ns < slices->least_ns)
		return true;
	if (!ARRAY_ROOM(slices->slice, slices->count, slices->size))
		return false;
	slices->slice[slices->count++] = *slice;
	leave_out_short(slices, SLICES_MAX);
	return true;
}

/* Each: [CPU, host, thread, start, length] */
void page_put_slices(struct page *page, struct page_slices *slices)
{
	struct json_text *json = &page->json;

	leave_out_short(slices, PAGE_INSTANCE_RUNS);
	if (slices->least_ns)
		json_text_i64(json, "cpus_shortest", slices->least_ns);
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
