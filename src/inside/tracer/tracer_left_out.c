/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up objects in the set of objects that are left out. abi/region.h describes the set. */
#include "inside/tracer/tracer_left_out.h"

#include "abi/points.h"
#include "inside/tracer/tracer_process.h"

/* The set in the region; NULL: the process has no region. */
static uint64_t *left_out_set(void)
{
	const struct kymo_process *process = __atomic_load_n(&kymo_process, __ATOMIC_ACQUIRE);

	if (!process ||
	    __atomic_load_n(&process->registration, __ATOMIC_ACQUIRE) != KYMO_REGISTERED)
		return NULL;
	return (uint64_t *)((uint8_t *)process->region + KYMO_LEFT_OUT_PAGE * KYMO_PAGE);
}

static uint64_t *slot_of(uint64_t *set, uint64_t address, unsigned probe)
{
	return &set[(KYMO_LEFT_OUT_SLOT(address) + probe) % KYMO_LEFT_OUT_MAX];
}

static bool in_set(const void *object)
{
	const uint64_t address = (uintptr_t)object;
	uint64_t *set = left_out_set();

	for (unsigned i = 0; set && i < KYMO_LEFT_OUT_PROBES; i++) {
		const uint64_t there = __atomic_load_n(slot_of(set, address, i), __ATOMIC_RELAXED);

		if (there == address)
			return true;
		if (there == KYMO_LEFT_OUT_FREE)
			return false;
	}
	return false;
}

/*
 * Whether the record may have the earlier time @ns. All earlier records are published, the record
 * is not the first of its block, and
 * @ns is not before the last published time: so the order of times still holds.
 */
static bool may_be_earlier(const struct kymo_record *record, uint64_t ns)
{
	return !record->nest && KYMO_WORD_COUNT(record->before) &&
	       __atomic_load_n(&record->ring->wpos, __ATOMIC_RELAXED) == record->before &&
	       __atomic_load_n(&record->ring->lastts, __ATOMIC_RELAXED) <= ns && ns <= record->ns;
}

static void tell_held(struct kymo_thread *thread)
{
	const void *message = thread->held_message;
	struct kymo_record record;

	thread->held_message = NULL;
	if (!kymo_try_reserve_sp(&record, KYMO_POINT_rclcpp_publish, sizeof message) &&
	    !kymo__reserve(&record, KYMO_POINT_rclcpp_publish, sizeof message))
		return;
	if (may_be_earlier(&record, thread->held_ns)) {
		record.ns = thread->held_ns;
		memcpy(record.at - sizeof record.ns, &record.ns, sizeof record.ns);
	}
	memcpy(record.at, &message, sizeof message);
	kymo_commit_sp(&record);
}

bool kymo__left_out(const void *object, const void *message)
{
	struct kymo_thread *thread = kymo_thread_slot();
	bool out;

	if (!thread)
		return false;
	/*
	 * The recorder switches the enable bytes of events that have only a message before the
	 * bytes of other events.
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!object)
		return message && message == thread->left_out_message;
	out = in_set(object);
	if (!message)
		return out;
	thread->left_out_message = out ? message : NULL;
	if (message == thread->held_message && out)
		thread->held_message = NULL;
	else if (message == thread->held_message)
		tell_held(thread);
	return out;
}

bool kymo__hold_publish(const void *message)
{
	struct kymo_thread *thread = kymo_thread_slot();

	if (!thread || !message)
		return false;
	/* no event named the publisher of the earlier message: record that event */
	if (thread->held_message)
		tell_held(thread);
	thread->held_ns = kymo_clock_read(thread);
	thread->held_message = message;
	return true;
}

void kymo__made_anew(const void *object)
{
	const uint64_t address = (uintptr_t)object;
	uint64_t *set = left_out_set();

	if (!set || !address)
		return;
	/*
	 * The init event is committed before this fence, the proposals are read after it: see
	 * region.h.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < KYMO_LEFT_OUT_PROBES; i++) {
		uint64_t *slot = slot_of(set, address, i);
		uint64_t there = __atomic_load_n(slot, __ATOMIC_RELAXED);

		if (there == KYMO_LEFT_OUT_FREE)
			return;
		/*
		 * Two tries suffice: the recorder may turn the proposal into the address meanwhile,
		 * but gives the slot to no other address.
		 */
		for (int try = 0; try < 2 && (there | 1) == (address | 1); try++)
			(void)__atomic_compare_exchange_n(slot, &there, KYMO_LEFT_OUT_USED, false,
							  __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	}
}
