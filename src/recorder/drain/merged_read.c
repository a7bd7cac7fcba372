/* SPDX-License-Identifier: Apache-2.0 */
/* A merged drain, first step: what each ring has, and up to which time it may be merged. */
#include <errno.h>

#include "base/array.h"
#include "base/now.h"
#include "recorder/drain/loud.h"
#include "recorder/drain/merged_internal.h"

#define HOLD_NS 50000000ull
/* Worth a packet: each costs reading every ring twice, and maybe opening a stream. */
#define ENOUGH_BYTES (256u << 10)
#define AHEAD 4 /* rings */

static void lower_horizon(struct merged *m, uint64_t ns, uint64_t clock_ns)
{
	const uint64_t least = ns_before(clock_ns, HOLD_NS);

	if (ns < least)
		ns = least;
	if (ns < m->horizon)
		m->horizon = ns;
}

static int read_ring(struct merged *m, struct drained_process *process, unsigned index,
		     struct drain *drain, uint64_t clock_ns)
{
	struct ring *ring = &process->ring[index];
	const struct kymo_ring *shared = ring_shared(process, ring);
	const uint32_t nest = __atomic_load_n(&shared->nest, __ATOMIC_ACQUIRE);
	struct merged_cursor cursor = { .ring = index,
				 .at = ring->taken,
				 .block_records = ring->block_records };
	uint64_t unread;

	if (!ring_snapshot(shared, &cursor.word, &cursor.lastts) && process->alive != ALIVE_DEAD) {
		lower_horizon(m, 0, clock_ns);
		return 0;
	}
	if (nest)
		lower_horizon(m, cursor.lastts, clock_ns);
	if (KYMO_WORD_POS(cursor.word) <= ring->taken) {
		ring_free(process, ring);
		return 0;
	}
	unread = KYMO_WORD_POS(cursor.word) - ring->taken;
	if (unread > ring->room) {
		ring_refuse(process, ring, drain, "more unread bytes than it has room for");
		return 0;
	}
	loud_look(process, ring);
	m->due |= ring_note_fill(ring, process, drain, unread);
	m->full |= unread > ring_expected_room(ring) / 2;
	m->unread += unread;
	return ARRAY_ADD(m->cursor, m->count, m->room, cursor) ? 0 : -ENOMEM;
}

int merged_read(struct merged *m, struct drained_process *process, struct drain *drain,
		uint64_t clock_ns)
{
	m->count = 0;
	m->unread = 0;
	m->due = m->full = false;
	m->horizon = ns_before(clock_ns, ORDER_NS);
	for (unsigned i = 0; i < process->ring_count; i++) {
		int rc;

		if (i + AHEAD < process->ring_count)
			__builtin_prefetch(ring_shared(process, &process->ring[i + AHEAD]));
		rc = process->ring[i].merged && !process->ring[i].bad
			     ? read_ring(m, process, i, drain, clock_ns)
			     : 0;

		if (rc < 0)
			return rc;
	}
	if (drain->final || process->alive == ALIVE_DEAD)
		m->horizon = UINT64_MAX - 1;
	else if (drain->flush || m->full)
		/* What comes too late goes to a stream of its own. */
		m->horizon = ns_before(clock_ns, ORDER_NS);
	return m->count && (m->due || m->unread >= ENOUGH_BYTES ||
			    drain->now_ns - process->merged_ns >= drain->patience_ns);
}
