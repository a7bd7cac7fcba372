/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where records come from: an instance of tracefs (tracefs.c, pages.c), rings of perf_event_open(2)
 * (perf_source.c), or the two of them as one source (beside.c).
 *
 * Context of all functions: the thread of kernel.h.
 */
#ifndef KYMO_KERNEL_SOURCE_H
#define KYMO_KERNEL_SOURCE_H

#include "kernel/kernel_format.h"

/*
 * The kernel's buffers of all CPUs. capture() notes what a buffer contains; peek() and next() walk
 * through these records, oldest first. After release() the kernel may overwrite the records that
 * were walked over, not before.
 */
struct ksource;
struct ksource_ops {
	const char *name;
	/** @format: by event. Return: 0, and *@source; -errno with @err, and nothing was
	 * changed. */
	int (*open)(struct ksource **source, const struct kformat *format, size_t ring_size,
		    struct kymo_err *err);
	void (*start)(struct ksource *source); /* NULL: follow() does */
	/** Deliver the system calls of the @count threads @tid and of all threads that they create;
	 * none: of all threads. NULL: it always does. Return: how many of them were not in the
	 * kernel's list; 0 also if it is not writable. */
	unsigned (*follow)(struct ksource *source, const int32_t *tid, unsigned count);
	void (*stop)(struct ksource *source);
	bool (*there)(const struct ksource *source,
		      unsigned cpu); /* false for a CPU that is switched off */
	/** Return: all records up to this time, in ns, are captured; UINT64_MAX: all that
	 * existed. */
	uint64_t (*capture)(struct ksource *source, unsigned cpu);
	const struct krecord *(*peek)(struct ksource *source,
				      unsigned cpu); /* NULL: nothing captured is left */
	void (*next)(struct ksource *source, unsigned cpu);
	void (*release)(struct ksource *source,
			unsigned cpu); /* NULL: what was captured was copied */
	/** Events up to the last capture() that are not delivered. @full: set if some were lost
	 * because the buffer was full. */
	uint64_t (*lost)(const struct ksource *source, unsigned cpu, bool *full);
	void (*close)(struct ksource *source);
};

struct ksource {
	const struct ksource_ops *ops;
	unsigned cpus;
};

extern const struct ksource_ops ksource_beside, ksource_tracefs, ksource_tracefs_calls,
	ksource_perf;

/* ---- tracefs: the list of threads ---- */

/** pids_add() - add those of @tid to the list in instance @dir that it does not have. @dir: a
 * descriptor of its directory. Return: how many; -errno. Context: allocates, blocks. */
int pids_add(int dir, const int32_t *tid, unsigned count);

/* ---- tracefs: pages of a CPU's buffer ---- */

struct kpages {
	uint8_t *data;
	size_t size;			/* of a page */
	unsigned count;			/* pages */
	size_t room;			/* pages */
	unsigned page;			/* the next record is in this one, ... */
	size_t at, end;			/* ... here */
	bool inside;			/* at and end are valid */
	uint64_t ns;
	struct krecord record;		/* the one before `at` */
	bool known;			/* record is valid, and was not yet walked over */
};

/** pages_peek() - the oldest record that was not walked over, valid until pages_next(); its bytes
 * move with pages_room() and pages_forget(). Return: NULL: there is none. Context: does not
 * allocate. */
const struct krecord *pages_peek(struct kpages *pages);

/** pages_next() - walk over that record. */
void pages_next(struct kpages *pages);

/** pages_room() - where one more page goes, behind the last one; the caller then raises count.
 * Return: NULL: no memory, or there are @limit already. Context: allocates. */
uint8_t *pages_room(struct kpages *pages, unsigned limit);

/** pages_forget() - drop the pages that were walked over. */
void pages_forget(struct kpages *pages);

#endif
