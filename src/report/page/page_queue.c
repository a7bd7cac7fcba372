/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads waited for a CPU at a time, and for how long; see page_cpus.h. */
#include <stdlib.h>

#include "base/array.h"
#include "report/page/page_cpus.h"

bool page_queue_add(struct page_queue *queue, int64_t from_ns, int64_t to_ns)
{
	return ARRAY_ADD(queue->wait, queue->waits, queue->size,
			 (struct page_wait){ from_ns, to_ns });
}

static int by_time(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* From one begin or end of a wait to the next, the number of waiting threads stays the same. */
static bool sweep(struct page_queue *queue, const int64_t *begin, const int64_t *end,
		  unsigned waits)
{
	unsigned begun = 0, ended = 0;
	int64_t since_ns = 0;

	while (ended < waits) {
		const bool begins = begun < waits && begin[begun] < end[ended];
		const int64_t ns = begins ? begin[begun] : end[ended];

		if (begun > ended && ns > since_ns) {
			int64_t *sum = ARRAY_AT(queue->ns, queue->levels, begun - ended);

			if (!sum)
				return false;
			*sum += ns - since_ns;
		}
		since_ns = ns;
		begun += begins;
		ended += !begins;
	}
	return true;
}

bool page_queue_count(struct page_queue *queue, int64_t until_ns)
{
	int64_t *begin = malloc((2 * (size_t)queue->waits + 1) * sizeof(*begin));
	int64_t *end = begin + queue->waits;
	unsigned waits = 0, kept = 0;
	bool counted;

	if (!begin)
		return false;
	for (unsigned i = 0; i < queue->waits; i++) {
		struct page_wait *wait = &queue->wait[i];

		if (wait->from_ns < until_ns) {
			begin[waits] = wait->from_ns;
			end[waits++] = wait->to_ns < until_ns ? wait->to_ns : until_ns;
			wait->from_ns = until_ns;
		}
		if (wait->to_ns > wait->from_ns)
			queue->wait[kept++] = *wait;
	}
	queue->waits = kept;
	qsort(begin, waits, sizeof(*begin), by_time);
	qsort(end, waits, sizeof(*end), by_time);
	counted = sweep(queue, begin, end, waits);
	free(begin);
	return counted;
}

void page_queue_free(struct page_queue *queue)
{
	free(queue->wait);
	free(queue->ns);
}
