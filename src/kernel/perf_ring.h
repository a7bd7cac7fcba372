/* SPDX-License-Identifier: Apache-2.0 */
/* The ring that perf_event_open(2) fills for one CPU (perf_ring.c), with a counter in it (perf_ring_counts.c). */
#ifndef KYMO_KERNEL_PERF_RING_H
#define KYMO_KERNEL_PERF_RING_H

#include "kernel/kernel_format.h"

#define RING_EVENTS_MAX 16

/* A counter that is read at each switch of a CPU: sched_switch leads a group, so that its samples have the counter's value. */
struct kcounts {
	uint32_t event;			/* KCOUNT_ID and which; 0: none */
	uint32_t tracepoint;		/* sched_switch */
	struct kplace prev, next;	/* in its records */
	int fd;				/* of the counter */
	bool known;			/* the following is valid, as of the switch before: */
	int32_t tid;			/* which thread it put on the CPU */
	uint64_t ns, value;
	struct kcount_record record;
};

struct kring {
	int fd[RING_EVENTS_MAX];	/* of the events; the first one has the ring */
	uint32_t event[RING_EVENTS_MAX];	/* their ids, ... */
	uint64_t id[RING_EVENTS_MAX];	/* ... and those that records have */
	unsigned fds;
	void *map;
	size_t size;			/* of the data, a power of two */
	uint8_t *copy;			/* of a record that lies across the end of the ring */
	uint64_t head, at;		/* captured up to here, walked up to there */
	uint64_t captured;		/* records */
	uint64_t lost;
	struct krecord record;		/* at `at` */
	struct kcounter_record counter;	/* the bytes of record, if it is a counter's */
	struct kcounts counts;
	bool known;			/* record is valid */
	bool full;			/* it was, at some time */
};

/** ring_open() - a ring for events @id of CPU @cpu, not started. @counts: for the event that counts. Return: 0; -errno. */
int ring_open(struct kring *ring, int cpu, const uint32_t *id, unsigned count, const struct kcounts *counts, size_t size);
void ring_start(struct kring *ring);
void ring_stop(struct kring *ring);
void ring_close(struct kring *ring);

/* As in struct ksource_ops. */
void ring_capture(struct kring *ring);
const struct krecord *ring_peek(struct kring *ring);
void ring_next(struct kring *ring);
void ring_release(struct kring *ring);

/** counts_of() - the counter @id, with the places of the fields in which sched_switch names threads. */
struct kcounts counts_of(uint32_t id);

/** counts_probe() - does this machine have the counter @id? Return: 0; -errno. */
int counts_probe(uint32_t id);

/** counts_open() - open the group; the counter is in counts->fd. Return: the descriptor of its leader; -errno. */
int counts_open(struct kcounts *counts, int cpu);

/** counts_parse() - @record from a sample, after its id and time. Return: false: the sample before it is missing. */
bool counts_parse(struct kcounts *counts, uint64_t ns, const uint8_t *sample, size_t size, struct krecord *record);

#endif
