/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_sample.h. */
#include "serve/serve_sample.h"

#include <sys/random.h>

static int64_t window_of(const struct serve_sample *sample, int64_t ns)
{
	return ns - ns % sample->window_ns;
}

/* A sample in the window of @ns, not before @least_ns; or one in the next window. */
static void plan(struct serve_sample *sample, int64_t least_ns, bool at_once)
{
	int64_t window_ns = window_of(sample, least_ns), room_ns;
	uint64_t chance = 0;

	if (least_ns + sample->sample_ns > window_ns + sample->window_ns) {
		window_ns += sample->window_ns;
		least_ns = window_ns;
	}
	room_ns = window_ns + sample->window_ns - sample->sample_ns - least_ns;
	(void)getrandom(&chance, sizeof(chance), 0);
	sample->begin_ns = least_ns;
	if (!at_once)
		sample->begin_ns += (int64_t)(chance % (uint64_t)(room_ns + 1));
	sample->end_ns = sample->begin_ns + sample->sample_ns;
}

void serve_sample_begin(struct serve_sample *sample, int64_t now_ns)
{
	sample->phase = SERVE_SAMPLE_COUNTS;
	sample->counted_ns = now_ns;
	if (sample->sample_ns)
		plan(sample, now_ns, true);
}

bool serve_sample_is_due(struct serve_sample *sample, int64_t now_ns)
{
	if (!sample->sample_ns)
		return false;
	/* The clock was set back. */
	if (sample->phase == SERVE_SAMPLE_COUNTS &&
	    sample->begin_ns - now_ns > 2 * sample->window_ns)
		plan(sample, now_ns, false);
	if (sample->phase == SERVE_SAMPLE_RECORDS)
		return now_ns >= sample->end_ns || now_ns < sample->begin_ns;
	return sample->phase == SERVE_SAMPLE_READS || now_ns >= sample->begin_ns;
}

void serve_sample_next(struct serve_sample *sample, int64_t now_ns)
{
	switch (sample->phase) {
	case SERVE_SAMPLE_COUNTS:
		sample->phase = SERVE_SAMPLE_RECORDS;
		sample->begin_ns = now_ns;
		/* It came late: still in the window where it began. */
		sample->end_ns = now_ns + sample->sample_ns;
		if (sample->end_ns > window_of(sample, now_ns) + sample->window_ns)
			sample->end_ns = window_of(sample, now_ns) + sample->window_ns;
		return;
	case SERVE_SAMPLE_RECORDS:
		sample->phase = SERVE_SAMPLE_READS;
		sample->end_ns = now_ns > sample->begin_ns ? now_ns : sample->begin_ns + 1;
		sample->counted_ns = sample->end_ns;
		return;
	default:
		sample->phase = SERVE_SAMPLE_COUNTS;
		plan(sample, window_of(sample, sample->begin_ns) + sample->window_ns, false);
	}
}

bool serve_sample_has(const struct serve_sample *sample, int64_t ns)
{
	return sample->phase != SERVE_SAMPLE_COUNTS && ns >= sample->begin_ns &&
	       (sample->phase == SERVE_SAMPLE_RECORDS || ns < sample->end_ns);
}

int64_t serve_sample_part(const struct serve_sample *sample, bool is_counted, int64_t *begin_ns)
{
	int64_t end_ns = *begin_ns + sample->window_ns;

	if (!is_counted) {
		*begin_ns = sample->begin_ns;
		end_ns = sample->end_ns;
	} else {
		if (sample->phase == SERVE_SAMPLE_RECORDS)
			end_ns = sample->begin_ns;
		if (sample->counted_ns > *begin_ns)
			*begin_ns = sample->counted_ns;
	}
	return end_ns > *begin_ns ? end_ns - *begin_ns : 1;
}
