/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors between the clocks of hosts, known for aligned traces (analysis/align). Also the time of
 * each process's latest event.
 */
#include <errno.h>

#include "analysis/model/model_internal.h"

int model_set_clock(struct model *model, uint32_t trace, const struct kymo_ctf_shift *shift,
		    unsigned shifts)
{
	struct model_clock *clock;

	if (!shifts || trace >= model->trace_count)
		return 0;
	clock = model_alloc(model, sizeof(*clock) + shifts * sizeof(*clock->point));
	if (!clock)
		return -ENOMEM;
	clock->points = shifts;
	for (unsigned i = 0; i < shifts; i++)
		clock->point[i] =
			(struct clock_point){ shift[i].ns + shift[i].by_ns, shift[i].error_ns };
	model->trace[trace].clock = clock;
	return 0;
}

/* The larger error of the two points around @ns: an upper bound between them. */
static int64_t error_at(const struct model_clock *clock, int64_t ns)
{
	unsigned low = 0, high = clock->points - 1;

	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;

		if (clock->point[middle].ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return clock->point[low].error_ns > clock->point[high].error_ns
		       ? clock->point[low].error_ns
		       : clock->point[high].error_ns;
}

int64_t model_clock_error(const struct model_process *a, const struct model_process *b, int64_t ns)
{
	int64_t error_a, error_b, error_ns;

	if (!a || !b)
		return KYMO_CTF_ERROR_UNKNOWN;
	if (a->host == b->host)
		return 0;
	if (!a->clock || !b->clock)
		return KYMO_CTF_ERROR_UNKNOWN;
	error_a = error_at(a->clock, ns);
	error_b = error_at(b->clock, ns);
	return __builtin_add_overflow(error_a, error_b, &error_ns) ? KYMO_CTF_ERROR_UNKNOWN
								   : error_ns;
}

int64_t model_process_last(const struct model_process *process)
{
	return ((const struct process *)process)->last_ns;
}
