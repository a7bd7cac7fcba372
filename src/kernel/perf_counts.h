/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter of perf in the ring of a CPU.
 *
 * Context of all functions: make system calls, but for counts_parse(), which neither does that nor
 * allocates.
 */
#ifndef KYMO_KERNEL_PERF_COUNTS_H
#define KYMO_KERNEL_PERF_COUNTS_H

#include "kernel/kernel_format.h"

/* A counter that is read at each switch of a CPU: sched_switch leads a group, so that its samples
 * have the counter's value. */
struct kcounts {
	uint32_t event;           /* KCOUNT_ID and which; 0: none */
	uint32_t tracepoint;      /* sched_switch */
	struct kplace prev, next; /* in its records */
	int fd;                   /* of the counter */
	bool known;               /* the following is valid, as of the switch before: */
	int32_t tid;              /* which thread it put on the CPU */
	uint64_t ns, value;
	struct kcount_record record;
};

/** counts_of() - the counter @id, with the places of the fields in which sched_switch names
 * threads. If tracefs cannot be read, `tracepoint` is 0. */
struct kcounts counts_of(uint32_t id);

/** counts_probe() - does this machine have the counter @id? Return: 0; -errno. */
int counts_probe(uint32_t id);

/** counts_open() - open the group; the counter is in counts->fd. Return: the descriptor of its
 * leader; -errno. */
int counts_open(struct kcounts *counts, int cpu);

/**
 * counts_parse() - @record from a sample
 * @ns: time of the sample, CLOCK_MONOTONIC
 * @sample: its @size bytes after its id and time
 *
 * Return: false: it is the first sample, a switch between it and the one before is missing, or the
 * sample makes no sense. @record is valid until the next call.
 */
bool counts_parse(struct kcounts *counts, uint64_t ns, const uint8_t *sample, size_t size,
		  struct krecord *record);

#endif
