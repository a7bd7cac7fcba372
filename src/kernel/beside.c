/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of the kernel's events that merges three others by time: tracefs; the counters of
 * perf_event_open(2), which tracefs does not have; and an instance of tracefs for system calls. If
 * the counters are not available, it works without them.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel/kernel_source.h"

enum { MAIN, COUNTERS, CALLS, SOURCES };

struct beside {
	struct ksource source;		/* first */
	struct ksource *of[SOURCES];	/* NULL: without it */
	unsigned at[];			/* by CPU: the source of the record that was peeked at */
};

static struct ksource *source_of(const struct ksource *source, unsigned which)
{
	return ((const struct beside *)source)->of[which];
}

static bool is_there(const struct ksource *one, unsigned cpu)
{
	return one && cpu < one->cpus && one->ops->there(one, cpu);
}

static unsigned which_has(unsigned event)
{
	return calls_is_one(event) ? CALLS : kevents[event].system ? MAIN : COUNTERS;
}

/* The part of @format that source @which delivers. Return: whether there is any. */
static bool formats_of(const struct kformat *format, unsigned which,
		       struct kformat only[KEVENT_ID_COUNT])
{
	bool any = false;

	for (unsigned i = 0; i < kevent_count; i++) {
		only[i] = which_has(i) == which ? format[i] : (struct kformat){ 0 };
		any |= only[i].id != 0;
	}
	return any;
}

/* Return: 0; -errno with @err. */
static int open_all(struct beside *beside, const struct kformat *format, size_t size,
		    struct kymo_err *err)
{
	static const struct ksource_ops *const ops[SOURCES] = {
		[MAIN] = &ksource_tracefs,
		[COUNTERS] = &ksource_perf,
		[CALLS] = &ksource_tracefs_calls,
	};
	struct kformat only[KEVENT_ID_COUNT];
	struct kymo_err without;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < SOURCES; i++) {
		if (!formats_of(format, i, only))
			continue;
		if (i == COUNTERS)
			(void)ops[i]->open(&beside->of[i], only, size, &without);
		else
			rc = ops[i]->open(&beside->of[i], only, size, err);
	}
	return rc;
}

static void beside_close(struct ksource *source)
{
	for (unsigned i = 0; i < SOURCES; i++)
		if (source_of(source, i))
			source_of(source, i)->ops->close(source_of(source, i));
	free(source);
}

static int beside_open(struct ksource **source, const struct kformat *format, size_t size,
		       struct kymo_err *err)
{
	const unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	struct beside *beside = calloc(1, sizeof(*beside) + cpus * sizeof(beside->at[0]));
	int rc;

	if (!beside)
		return err_no_memory(err), -ENOMEM;
	beside->source = (struct ksource){ .ops = &ksource_beside, .cpus = cpus };
	rc = open_all(beside, format, size, err);
	if (rc < 0)
		beside_close(&beside->source);
	else
		*source = &beside->source;
	return rc;
}

static void beside_start(struct ksource *source)
{
	for (unsigned i = 0; i < SOURCES; i++)
		if (source_of(source, i) && source_of(source, i)->ops->start)
			source_of(source, i)->ops->start(source_of(source, i));
}

static unsigned beside_follow(struct ksource *source, const int32_t *tid, unsigned count)
{
	struct ksource *calls = source_of(source, CALLS);

	return calls ? calls->ops->follow(calls, tid, count) : 0;
}

static void beside_stop(struct ksource *source)
{
	for (unsigned i = 0; i < SOURCES; i++)
		if (source_of(source, i))
			source_of(source, i)->ops->stop(source_of(source, i));
}

static bool beside_there(const struct ksource *source, unsigned cpu)
{
	return is_there(source_of(source, MAIN), cpu);
}

static uint64_t beside_capture(struct ksource *source, unsigned cpu)
{
	uint64_t all = UINT64_MAX, to;

	for (unsigned i = 0; i < SOURCES; i++) {
		if (!is_there(source_of(source, i), cpu))
			continue;
		to = source_of(source, i)->ops->capture(source_of(source, i), cpu);
		all = to < all ? to : all;
	}
	return all;
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
		if (is_there(source_of(source, i), cpu) && source_of(source, i)->ops->release)
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
	.name = "tracefs",
	.open = beside_open,
	.start = beside_start,
	.follow = beside_follow,
	.stop = beside_stop,
	.there = beside_there,
	.capture = beside_capture,
	.peek = beside_peek,
	.next = beside_next,
	.release = beside_release,
	.lost = beside_lost,
	.close = beside_close,
};
