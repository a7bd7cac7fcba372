/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handing one packet, or one batch, to every sink, and counting what each of them misses. sink.c
 * hands over packets, sink_batch.c batches.
 *
 * Context of all functions: as sink.h; those that hand something over block as the sinks do.
 */
#ifndef KYMO_RECORDER_SINK_DELIVER_H
#define KYMO_RECORDER_SINK_DELIVER_H

#include "recorder/drain/drained_process.h"
#include "recorder/drain/sink.h"

/** sink_ring_of() - what is kept of ring @index; NULL without memory. A ring that came after the
 * sink is complete in it. */
struct sink_ring *sink_ring_of(struct sink_process *at, unsigned index);

/** sink_threads_grow() - make an entry for each thread; those added are complete. Return: false: no
 * memory. */
bool sink_threads_grow(struct sink_process *at);

/** sink_init_discarded() - init events, and events of threads without a ring, that the sink has
 * not. */
static inline uint64_t sink_init_discarded(const struct sink_process *at)
{
	return at->process->init_dropped + at->process->dropped_no_ring - at->without_no_ring;
}

/** sink_is_up() - it may be called in this round. */
static inline bool sink_is_up(const struct sink *sink)
{
	return sink->rc >= 0;
}

/** sink_failed() - @sink answered @rc: it is not called any more in this round. Return: @rc. */
int sink_failed(struct sink *sink, int rc);

/** sinks_up() - bit i: the sink at place i is up. */
uint32_t sinks_up(const struct drain *drain);

/**
 * sinks_packet() - hand @packet to all sinks
 * @dropped: kymo_ring.dropped up to the packet's end
 *
 * Return: 0: some sink has it, and for the others it is counted; -errno: none has it; -EFAULT: its
 * memory is gone.
 */
int sinks_packet(struct drain *drain, struct drained_process *process, struct sink_packet *packet,
		 uint64_t dropped);

/**
 * sinks_batch() - hand @batch to all sinks
 * @taken: set to the number of parts, from the first on, that some sink has; for the others it is
 * counted
 *
 * Return: 0: all; -errno: no sink has the rest.
 */
int sinks_batch(struct drain *drain, struct drained_process *process, struct sink_batch *batch,
		unsigned *taken);

/** sink_batch_drops() - report to @sink what was dropped in a ring that is merged, as of @packet.
 * Return: 0; -errno. */
int sink_batch_drops(struct sink *sink, struct sink_process *at, struct sink_packet *packet,
		     uint64_t dropped);

/** sink_packet_offer() - give @sink one packet. Return: 0; -errno. */
int sink_packet_offer(struct sink *sink, struct sink_process *at, struct sink_packet *packet,
		      uint64_t dropped);

/** sink_packet_missed() - @packet is taken from its ring, and the sink does not have it. */
void sink_packet_missed(struct sink_process *at, const struct sink_packet *packet);

/** sink_ring_discarded() - events of a ring that the sink does not have, when kymo_ring.dropped is
 * @dropped. */
uint64_t sink_ring_discarded(const struct sink_ring *ring, uint64_t dropped);

/**
 * sinks_forget_drops() - of ring @index, what was dropped up to the count @dropped is before the
 * trace
 *
 * Without effect once drops were reported to a sink.
 */
void sinks_forget_drops(struct drained_process *process, unsigned index, uint64_t dropped);

/** sinks_lose() - no sink will ever take these @records of ring @index: count them. */
void sinks_lose(struct drain *drain, struct drained_process *process, unsigned index,
		uint64_t records);

#endif
