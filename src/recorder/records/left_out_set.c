/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/records/left_out_set.h"

#include <stddef.h>

#include "abi/region.h"

static uint64_t *slot_of(const uint64_t *set, uint64_t address, unsigned probe)
{
	return (uint64_t *)&set[(KYMO_LEFT_OUT_SLOT(address) + probe) % KYMO_LEFT_OUT_MAX];
}

/* The slot of @address, proposed or not; NULL: it has none. @room: set to the first slot that it
 * could get. */
static uint64_t *find(const uint64_t *set, uint64_t address, uint64_t **room)
{
	uint64_t *first = NULL, *found = NULL;

	for (unsigned i = 0; i < KYMO_LEFT_OUT_PROBES && !found; i++) {
		uint64_t *slot = slot_of(set, address, i);
		const uint64_t there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

		if ((there | 1) == (address | 1))
			found = slot;
		else if (there <= KYMO_LEFT_OUT_USED && !first)
			first = slot;
		if (there == KYMO_LEFT_OUT_FREE)
			break;
	}
	if (room)
		*room = first;
	return found;
}

bool left_out_propose(uint64_t *set, uint64_t address)
{
	uint64_t *room;

	if (!address || address & 1)
		return false;
	if (find(set, address, &room))
		return true;
	if (!room)
		return false;
	__atomic_store_n(room, address | 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);	/* before the log is read: see region.h */
	return true;
}

void left_out_confirm(uint64_t *set, uint64_t address)
{
	uint64_t *slot = find(set, address, NULL), proposed = address | 1;

	if (slot)
		(void)__atomic_compare_exchange_n(slot, &proposed, address, false, __ATOMIC_SEQ_CST,
						  __ATOMIC_RELAXED);
}

void left_out_withdraw(uint64_t *set, uint64_t address)
{
	uint64_t *slot = find(set, address, NULL);

	if (slot)
		__atomic_store_n(slot, KYMO_LEFT_OUT_USED, __ATOMIC_SEQ_CST);
}

bool left_out_has(const uint64_t *set, uint64_t address)
{
	return address && find(set, address, NULL);
}

void left_out_clear(uint64_t *set)
{
	for (unsigned i = 0; i < KYMO_LEFT_OUT_MAX; i++)
		__atomic_store_n(&set[i], KYMO_LEFT_OUT_FREE, __ATOMIC_SEQ_CST);
}
