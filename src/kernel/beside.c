/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of the kernel's events: tracefs, and beside it the counters of perf_event_open(2), which tracefs does not have; in one
 * order of time. Where the counters cannot be had it is tracefs alone.
 */
#include <errno.h>
#include <stdlib.h>

#include "kernel/internal.h"

enum { MAIN, COUNTERS, SOURCES };

struct beside {
	struct ksource source;		/* first */
	struct ksource *of[SOURCES];
	unsigned at[];			/* by CPU: which one has the record that was peeked at */
};

static struct ksource *source_of(const struct ksource *source, unsigned which)
{
	return ((const struct beside *)source)->of[which];
}

static bool is_there(const struct ksource *one, unsigned cpu)
{
	return cpu < one->cpus && one->ops->there(one, cpu);
}

/* Those of @format that are counters. Return: NULL: no memory. */
static struct kformat *only_counters(const struct kformat *format)
{
	struct kformat *only = calloc(kevent_count, sizeof(*only));

	for (unsigned i = 0; only && i < kevent_count; i++)
		if (!kevents[i].system)
			only[i] = format[i];
	return only;
}

static struct ksource *open_counters(const struct kformat *format, size_t size)
{
	struct kformat *only = only_counters(format);
	struct ksource *counters = NULL;
	struct err err;

	if (only)
		(void)ksource_perf.open(&counters, only, size, &err);
	free(only);
	return counters;
}

static int beside_open(struct ksource **source, const struct kformat *format, size_t size, struct err *err)
{
	struct ksource *main, *counters;
	struct beside *beside;
	int rc = ksource_tracefs.open(&main, format, size, err);

	if (rc < 0)
		return rc;
	counters = open_counters(format, size);
	beside = counters ? calloc(1, sizeof(*beside) + main->cpus * sizeof(beside->at[0])) : NULL;
	*source = main;
	if (!beside) {
		if (counters)
			counters->ops->close(counters);
		return 0;
	}
	beside->source = (struct ksource){ .ops = &ksource_beside, .cpus = main->cpus };
	beside->of[MAIN] = main;
	beside->of[COUNTERS] = counters;
	*source = &beside->source;
	return 0;
}

static void beside_close(struct ksource *source)
{
	for (unsigned i = 0; i < SOURCES; i++)
		source_of(source, i)->ops->close(source_of(source, i));
	free(source);
}

static void beside_start(struct ksource *source)
{
	for (unsigned i = 0; i < SOURCES; i++)
		source_of(source, i)->ops->start(source_of(source, i));
}

static void beside_stop(struct ksource *source)
{
	for (unsigned i = 0; i < SOURCES; i++)
		source_of(source, i)->ops->stop(source_of(source, i));
}

static bool beside_there(const struct ksource *source, unsigned cpu)
{
	return is_there(source_of(source, MAIN), cpu);
}

static void beside_capture(struct ksource *source, unsigned cpu)
{
	for (unsigned i = 0; i < SOURCES; i++)
		if (is_there(source_of(source, i), cpu))
			source_of(source, i)->ops->capture(source_of(source, i), cpu);
}

static const struct krecord *beside_peek(struct ksource *source, unsigned cpu)
{
	const struct krecord *first = NULL, *record;

	for (unsigned i = 0; i < SOURCES; i++) {
		struct ksource *one = source_of(source, i);

		record = is_there(one, cpu) ? one->ops->peek(one, cpu) : NULL;
		if (!record || (first && record->ns >= first->ns))
			continue;
		first = record;
		((struct beside *)source)->at[cpu] = i;
	}
	return first;
}

static void beside_next(struct ksource *source, unsigned cpu)
{
	struct ksource *one = source_of(source, ((struct beside *)source)->at[cpu]);

	one->ops->next(one, cpu);
}

static void beside_release(struct ksource *source, unsigned cpu)
{
	for (unsigned i = 0; i < SOURCES; i++)
		if (is_there(source_of(source, i), cpu))
			source_of(source, i)->ops->release(source_of(source, i), cpu);
}

static uint64_t beside_lost(const struct ksource *source, unsigned cpu, bool *full)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < SOURCES; i++)
		if (is_there(source_of(source, i), cpu))
			lost += source_of(source, i)->ops->lost(source_of(source, i), cpu, full);
	return lost;
}

const struct ksource_ops ksource_beside = {
	.name = "tracefs", .open = beside_open, .start = beside_start, .stop = beside_stop, .there = beside_there,
	.capture = beside_capture, .peek = beside_peek, .next = beside_next, .release = beside_release, .lost = beside_lost,
	.close = beside_close,
};
