/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For sinks that somebody reads while they are written: a little data does not wait for long, and
 * time goes on where nothing happens. The horizon is a time before which no event will come any
 * more. It is before
 *
 *   each event that is committed and not taken yet
 *
 *   each event that is being written: not before the last event of its thread, unless that takes
 *   longer than HOLD_NS
 *
 *   the time at which the directory was read: a process whose region did not exist then has nothing
 *   older
 *
 * tests/model/attach.pml is this for a model checker.
 */
#include <time.h>

#include "base/now.h"
#include "recorder/session/session_internal.h"

#define PATIENCE_NS	100000000ull
#define STREAMS_PER_PATIENCE 100	/* with many streams, each gets fewer and larger packets */
/* clocks of threads differ, stores need a moment to be seen */
#define ORDER_NS	100000ull
#define HOLD_NS		50000000ull
/* between two horizons, at least; with more rings, less often */
#define HORIZON_NS	1000000ull
#define RINGS_PER_HORIZON 100

uint64_t session_patience(const struct session *session, unsigned rings)
{
	uint64_t patience = PATIENCE_NS;

	for (unsigned i = 0; i < session->drain.sink_count; i++) {
		const uint64_t wish = session->drain.sink[i]->patience_ns;

		if (wish && wish < patience)
			patience = wish;
	}
	return patience * (1 + rings / STREAMS_PER_PATIENCE);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* A change within the same tick of the clock may have come after the directory was read. */
static void read_directory(struct session *session)
{
	struct timespec now;
	bool changed = false;
	struct stat st;

	if (clock_gettime(CLOCK_REALTIME_COARSE, &now) < 0)
		return;
	for (unsigned i = 0; i < session->home_count; i++)
		changed |= fstat(session->home[i].dir.fd, &st) == 0 &&
			   !is_before(&st.st_mtim, &session->watched);
	if (!changed)
		return;
	session_scan(session);
	session->watched = now;
}

/* The shortest period that a sink asks for; UINT64_MAX: none wants the horizon. */
static uint64_t horizon_every_ns(const struct session *session)
{
	uint64_t every = UINT64_MAX;

	for (unsigned i = 0; i < session->drain.sink_count; i++) {
		const struct sink *sink = session->drain.sink[i];

		if (sink->ops->horizon && sink->horizon_every_ns < every)
			every = sink->horizon_every_ns < HORIZON_NS ? HORIZON_NS
								    : sink->horizon_every_ns;
	}
	return every;
}

bool session_live_update(struct session *session)
{
	const uint64_t now = session->drain.now_ns, every = horizon_every_ns(session);

	if (every == UINT64_MAX || now < session->horizon_at)
		return false;
	session->horizon_at = now + every * (1 + session->rings / RINGS_PER_HORIZON);
	read_directory(session);
	return true;
}

/* An event that is being written is not older than the last event of its thread. */
static uint64_t being_written(const struct drained_process *process, uint64_t now)
{
	const uint64_t least = ns_before(now, HOLD_NS);
	uint64_t bound = UINT64_MAX;

	for (unsigned i = 0; i < process->ring_count; i++) {
		const struct ring *ring = &process->ring[i];
		const struct kymo_ring *shared = ring->bad ? NULL : ring_shared(process, ring);
		uint64_t last;

		if (!shared || !__atomic_load_n(&shared->nest, __ATOMIC_ACQUIRE))
			continue;
		last = __atomic_load_n(&shared->lastts, __ATOMIC_ACQUIRE);
		if (last < least)
			last = least;
		if (last < bound)
			bound = last;
	}
	return bound;
}

void session_give_horizon(struct session *session, uint64_t ns)
{
	uint64_t horizon = ns_before(ns, ORDER_NS);

	for (unsigned i = 0; i < session->process_count; i++) {
		struct drained_process *process = session->process[i];
		uint64_t bound;

		if (process->finished || process->cut)
			continue;
		/* A ring that is not found now did not exist at @ns. */
		process_rings(process, &session->drain, false);
		/* In this order: an event that is committed in between is found by
		 * process_first_ns(). */
		bound = being_written(process, ns);
		if (bound < horizon)
			horizon = bound;
		bound = process_first_ns(process);
		if (bound < horizon)
			horizon = bound;
	}
	for (unsigned i = 0; i < session->drain.sink_count; i++) {
		struct sink *sink = session->drain.sink[i];

		if (sink->ops->horizon && !sink->rests && sink->rc >= 0)
			sink->ops->horizon(sink, horizon);
	}
}
