/* SPDX-License-Identifier: Apache-2.0 */
/* Handing a batch, records merged from many rings, to every sink. */
#include <errno.h>

#include "recorder/drain/drain.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/drain/sink_list.h"

/* Computes what the sink misses of each ring with this batch (ring.offered), and of all of them. */
static bool count_discarded(struct sink_process *at, struct sink_batch *batch)
{
	batch->discarded = at->merged.discarded;
	for (unsigned i = 0; i < batch->count; i++) {
		struct sink_ring *ring = sink_ring_of(at, batch->part[i].ring);

		if (!ring)
			return false;
		ring->offered = ring->discarded;
	}
	for (unsigned i = 0; i < batch->count; i++) {
		struct sink_ring *ring = &at->ring[batch->part[i].ring];
		const uint64_t now = sink_ring_discarded(ring, batch->dropped[i]);

		if (now > ring->offered) {
			batch->discarded += now - ring->offered;
			ring->offered = now;
		}
	}
	return true;
}

/* Gives @sink all of the batch. Losses that the batch reports are not reported again in the rings'
 * own streams. */
static int offer_batch(struct sink *sink, struct sink_process *at, struct sink_batch *batch)
{
	int rc;

	if (!count_discarded(at, batch))
		return sink_failed(sink, -ENOMEM);
	rc = sink->ops->batch(sink, at, batch);
	if (rc < 0)
		return sink_failed(sink, rc);
	at->merged.discarded = batch->discarded;
	at->merged.end = batch->end;
	for (unsigned i = 0; i < batch->count; i++) {
		struct sink_ring *ring = &at->ring[batch->part[i].ring];

		ring->stream_base += ring->offered - ring->discarded;
		ring->discarded = ring->offered;
	}
	return 0;
}

/* Return: the number of parts, from the first on, that @sink took. */
static unsigned offer(struct sink *sink, struct sink_process *at, struct sink_batch *batch)
{
	unsigned taken = 0;

	if (!sink_is_up(sink))
		return 0;
	if (sink->ops->batch)
		return offer_batch(sink, at, batch) == 0 ? batch->count : 0;
	while (taken < batch->count &&
	       sink_packet_offer(sink, at, &batch->part[taken], batch->dropped[taken]) == 0)
		taken++;
	return taken;
}

int sinks_batch(struct drain *drain, struct drained_process *process, struct sink_batch *batch,
		unsigned *taken)
{
	unsigned by[SINKS_MAX];

	promise_sinks(process, sinks_up(drain));
	*taken = drain->sink_count ? 0 : batch->count;
	for (unsigned i = 0; i < drain->sink_count; i++) {
		promise_turn(process, i);
		by[i] = offer(drain->sink[i], process->at[i], batch);
		promise_turned(process);
		if (by[i] > *taken)
			*taken = by[i];
	}
	for (unsigned i = 0; i < drain->sink_count; i++)
		for (unsigned part = by[i]; part < *taken; part++)
			sink_packet_missed(process->at[i], &batch->part[part]);
	if (*taken == batch->count)
		return 0;
	return sinks_rc(drain) < 0 ? sinks_rc(drain) : -EFAULT;
}

int sink_batch_drops(struct sink *sink, struct sink_process *at, struct sink_packet *packet,
		     uint64_t dropped)
{
	struct sink_batch batch = {
		.part = packet,
		.dropped = &dropped,
		.count = 1,
		.begin = packet->begin,
		.end = packet->end,
	};

	if (batch.begin < at->merged.end)
		batch.begin = at->merged.end;
	if (batch.end < batch.begin)
		batch.end = batch.begin;
	return offer_batch(sink, at, &batch);
}
