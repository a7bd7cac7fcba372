/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of one trace, shifted to the clock of another host. The shift is given at some points in
 * time, and is linear between them. The shift at the first point is added to the offsets of the
 * trace's clocks, so it reaches every time at no cost. Only its changes since then are added event
 * by event.
 */
#include <stdlib.h>
#include <string.h>

#include "ctf/read/stream_impl.h"

#define CHANGE_MAX 4e18

void align_free(struct ctf_trace *trace)
{
	free((void *)trace->info.shift);
	free(trace->changes);
	trace->info.shift = NULL;
	trace->info.shifts = 0;
	trace->changes = NULL;
}

static void move_offsets(struct ctf_trace *trace, int64_t to_ns)
{
	uint64_t more = (uint64_t)to_ns - (uint64_t)trace->shifted_ns;

	for (uint32_t i = 0; i < trace->class_count; i++)
		trace->class[i].offset_ns = (int64_t)((uint64_t)trace->class[i].offset_ns + more);
	trace->info.clock_offset_ns = (int64_t)((uint64_t)trace->info.clock_offset_ns + more);
	trace->shifted_ns = to_ns;
}

static struct kymo_ctf_shift *copy(const struct kymo_ctf_shift *point, unsigned points)
{
	struct kymo_ctf_shift *copy = malloc(points * sizeof *copy);

	if (copy)
		memcpy(copy, point, points * sizeof *copy);
	return copy;
}

/* Leave in @shift only the changes since its first point, by times that include the shift at the
 * first point. */
static void leave_changes(struct kymo_ctf_shift *shift, unsigned points)
{
	int64_t first_ns = shift->by_ns;

	for (unsigned i = 0; i < points; i++) {
		shift[i].ns += first_ns;
		shift[i].by_ns -= first_ns;
	}
}

int kymo_ctf_align(struct kymo_ctf_reader *reader, unsigned index,
		   const struct kymo_ctf_shift *point, unsigned points, struct kymo_err *err)
{
	struct ctf_trace *trace = index < reader->trace_count ? reader->trace[index] : NULL;
	bool changes = false;

	(void)kymo_ctf_rewind(reader, err);
	if (!trace)
		return 0;
	align_free(trace);
	move_offsets(trace, points ? point->by_ns : 0);
	if (!points)
		return 0;
	for (unsigned i = 1; i < points; i++)
		changes = changes || point[i].by_ns != point->by_ns;
	trace->info.shift = copy(point, points);
	trace->changes = changes ? copy(point, points) : NULL;
	if (!trace->info.shift || (changes && !trace->changes))
		return err_no_memory(err);
	trace->info.shifts = points;
	if (changes)
		leave_changes(trace->changes, points);
	return 0;
}

static int64_t between(const struct kymo_ctf_shift *a, int64_t ns)
{
	const struct kymo_ctf_shift *b = a + 1;
	double part =
		b->ns > a->ns ? ((double)ns - (double)a->ns) / ((double)b->ns - (double)a->ns) : 0;
	double change = part * ((double)b->by_ns - (double)a->by_ns);

	/* Damaged times may be anywhere. */
	change = change < -CHANGE_MAX ? -CHANGE_MAX : change > CHANGE_MAX ? CHANGE_MAX : change;
	return (int64_t)((uint64_t)a->by_ns + (uint64_t)(int64_t)change);
}

/* The last point that is not behind @ns, of all but the very last. */
static unsigned find(const struct kymo_ctf_shift *point, unsigned points, int64_t ns)
{
	unsigned low = 0, high = points - 1;

	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;

		if (point[middle].ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t trace_aligned(const struct ctf_trace *trace, int64_t ns)
{
	const struct kymo_ctf_shift *point = trace->changes;

	return point ? (int64_t)((uint64_t)ns +
				 (uint64_t)between(&point[find(point, trace->info.shifts, ns)], ns))
		     : ns;
}

int64_t kymo_ctf_time_of(const struct kymo_ctf_reader *reader, unsigned trace, uint64_t clock_ns)
{
	const struct ctf_trace *of = reader->trace[trace];

	return time_limited(
		trace_aligned(of, (int64_t)(clock_ns + (uint64_t)of->info.clock_offset_ns)));
}

/* By repetition: such clocks run at nearly one rate, so each step is a thousand times nearer. */
uint64_t trace_clock(const struct ctf_trace *trace, int64_t ns, int64_t offset_ns)
{
	int64_t at = ns;

	for (unsigned i = 0; trace->changes && i < 4; i++)
		at = (int64_t)((uint64_t)ns - ((uint64_t)trace_aligned(trace, at) - (uint64_t)at));
	return (uint64_t)at - (uint64_t)offset_ns;
}

void batch_align(struct ctf_stream *s)
{
	const struct ctf_trace *trace = s->class->trace;
	const struct kymo_ctf_shift *point = trace->changes;
	unsigned points = trace->info.shifts, at = find(point, points, s->batch->key);

	for (struct event_record *record = s->batch; record < s->batch_end; record++) {
		while (at + 2 < points && record->key >= point[at + 1].ns)
			at++;
		record->key = (int64_t)((uint64_t)record->key +
					(uint64_t)between(&point[at], record->key));
	}
}
