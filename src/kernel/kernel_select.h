/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the kernel's events are recorded.
 *
 * Context of all functions: one thread; no system calls of their own. They allocate for a selection
 * and for each thread that begins to be followed.
 */
#ifndef KYMO_KERNEL_SELECT_H
#define KYMO_KERNEL_SELECT_H

#include "kernel/kernel_source.h"

struct select;

/* Receives the selected records, of each CPU in the order of time. */
typedef void select_take(void *context, unsigned cpu, unsigned event, const struct krecord *record);

/** select_create() - a selection that follows no thread yet. Return: NULL without memory. */
struct select *select_create(unsigned cpus, const struct kformat *format, select_take *take,
			     void *context);

/** select_follow() - follow thread @tid, and all threads that it creates. Return: 1; 0: it is
 * followed already; -ENOMEM. */
int select_follow(struct select *select, int32_t tid);

/** select_place() - where the records of @event have the field @raw. Return: size 0: they do
 * not. */
struct kplace select_place(const struct kformat *format, unsigned event, const char *raw);

/**
 * select_unseen() - a switch of @cpu was not reported: thread @tid is on it now
 * Return: whether the switch would have been selected.
 */
bool select_unseen(struct select *select, unsigned cpu, int64_t tid);

/* What the last event of a system call of a thread said; kernel_unseen.c keeps it there. */
struct select_call {
	unsigned since;
	int64_t number;
};

/** select_call() - that of the thread of @record, an @event of a system call. Return: NULL: the
 * thread is not followed. */
struct select_call *select_call(const struct select *select, unsigned event,
				const struct krecord *record);

/**
 * select_record() - pass on @record of @event, if it is selected
 * @cpu: below @cpus of select_create(); else nothing happens
 *
 * Call it over all CPUs in the order of time. It calls select_take for held events first.
 */
void select_record(struct select *select, unsigned cpu, unsigned event,
		   const struct krecord *record);
void select_free(struct select *select);

#endif
