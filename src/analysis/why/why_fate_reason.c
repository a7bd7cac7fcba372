/* SPDX-License-Identifier: Apache-2.0 */
/* The reasons of the fates, from the evidence at the end of the trace; see why_fate.c. */
#include "analysis/why/why_fate_internal.h"

/* A message in the queue would have ended such a wait sooner. */
#define WAITED_MIN_NS 5000000
/* A message published this shortly before the last event of a process may have been on its way. */
#define IN_FLIGHT_NS 100000000

bool fate_is_timed(const struct model_publisher *publisher,
		   const struct model_subscription *subscription, int64_t ns)
{
	return model_clock_error(publisher->process, subscription->process, ns) !=
	       KYMO_CTF_ERROR_UNKNOWN;
}

/*
 * Were events lost until the next take? A message may be received a little later than that take, by
 * another thread.
 */
static bool fell_into_gap(const struct fates *fates, const struct fate *fate)
{
	for (unsigned i = 0; i < FATE_GAPS && i < fates->gaps; i++) {
		const struct fate_gap *gap = &fates->gap[i];

		if ((!gap->process || gap->process == fate->subscription->process) &&
		    gap->end_ns >= fate->publish_ns &&
		    (!fate->next_ns || gap->begin_ns <= fate->next_ns))
			return true;
	}
	return false;
}

/* The reason why @record was passed over, from what happened until the subscription's next take. */
static enum fate_why why_passed(const struct fates *fates, const struct fate_record *record)
{
	const struct model_subscription *subscription = record->pub.subscription;
	bool waited = record->pub.waited_ns >= WAITED_MIN_NS;

	/*
	 * With several receiving threads a wait proves nothing: one thread may wait for work while
	 * the callback group of the subscription keeps the message in the queue.
	 */
	if (waited && map_get(&fates->takers, subscription->index, 0) != fates)
		return record->before ? FATE_UNDERWAY : FATE_NOT_YET;
	if (subscription->depth && record->backlog >= subscription->depth)
		return FATE_OVERRUN;
	if (!record->before)
		return FATE_NOT_YET;
	return !waited && subscription->depth && record->pub.newer >= subscription->depth
		       ? FATE_OVERRUN
		       : FATE_UNKNOWN;
}

enum fate_why fate_reason(const struct fates *fates, struct fate_record *record)
{
	static const enum fate_why proved[MODEL_LOSTS] = {
		[MODEL_LOST_NOT_SENT] = FATE_NOT_SENT,   [MODEL_LOST_WIRE] = FATE_WIRE,
		[MODEL_LOST_REJECTED] = FATE_REJECTED,   [MODEL_LOST_QUEUE] = FATE_QUEUE,
		[MODEL_LOST_NOT_TAKEN] = FATE_NOT_TAKEN,
	};
	const struct model_subscription *subscription = record->pub.subscription;

	if (!subscription)
		return record->pub.why;
	record->pub.is_timed =
		fate_is_timed(record->pub.publisher, subscription, record->pub.publish_ns);
	if (record->is_dropped || record->pub.why != FATE_UNKNOWN)
		return record->pub.why;
	if (!record->pub.is_timed)
		return FATE_UNKNOWN;
	if (fell_into_gap(fates, &record->pub))
		return FATE_GAP;
	if (record->lost)
		return proved[record->lost];
	record->pub.last_ns = model_process_last(subscription->process);
	if (!record->pub.next_id && record->pub.last_ns < record->pub.publish_ns + IN_FLIGHT_NS)
		return FATE_GONE;
	if (!map_get(&fates->took, subscription->index, record->pub.publisher->index))
		return FATE_NEVER;
	if (!record->pub.next_id)
		return FATE_NO_MORE;
	return why_passed(fates, record);
}
