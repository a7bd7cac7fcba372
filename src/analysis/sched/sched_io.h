/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits of threads for a disk or the network, from the kernel's events of both:
 *
 *   thread  |-- blocked ------------------------------|-- woken on CPU 1
 *   CPU 1              block_rq_complete 8:0 sector 12 --'  less than 50 us before
 *
 * A wait for the network ends in the same way, with net_if_receive_skb. If a worker of the kernel
 * wakes the thread (some file systems), the wait is one for the disk when a request that the thread
 * itself issued was completed meanwhile.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_SCHED_IO_H
#define KYMO_ANALYSIS_SCHED_IO_H

#include "analysis/sched/sched.h"

#define SCHED_IO_NAME_SIZE 16

struct sched_io {
	bool is_network;
	int64_t from_ns, to_ns; /* the thread was blocked */
	/* Disk: "8:0", major and minor number; network: "eth0". */
	char device[SCHED_IO_NAME_SIZE];
	const char *direction; /* "read", "write", "discard", "flush"; network: "receive"; NULL:
				  unknown */
	int64_t sector;        /* of the request that was completed last; -1: network */
	/* Requests that the wait was for: that one, and those of the thread itself; packets. */
	uint64_t requests, bytes; /* bytes: UINT64_MAX: unknown */
	int64_t request_ns; /* that request, from issue to completion; -1: unknown, or network */
};

struct sched_ios;

/** sched_ios_create() - for the traces of @reader. Return: 0, or -1: out of memory. */
int sched_ios_create(struct sched_ios **ios, const struct kymo_ctf_reader *reader);
void sched_ios_destroy(struct sched_ios *ios);

/** sched_ios_bind() - the rows for kymo_ctf_bind() or model_bind_also(). */
const struct kymo_ctf_bind *sched_ios_bind(unsigned *count);

/**
 * sched_ios_event() - process one event; call it for every event of the trace
 * @first: number of the first row of sched_ios_bind() among the bound rows; @host: of the event
 *
 * Return: 0, or -1: out of memory.
 */
int sched_ios_event(struct sched_ios *ios, const struct kymo_ctf_event *event, unsigned first,
		    uint32_t host);

/**
 * sched_ios_wait() - what a thread waited for that was woken now
 * @spell: the SCHED_BLOCKED spell that ends; @cpu: where the event was that ends it
 *
 * Return: false: for something else, or not known.
 */
bool sched_ios_wait(const struct sched_ios *ios, const struct sched_spell *spell, int32_t cpu,
		    struct sched_io *wait);

#endif
