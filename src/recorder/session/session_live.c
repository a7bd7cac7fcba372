/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For sinks that somebody watches while they are written: little data do not wait for long, and time goes on
 * where nothing happens. The horizon is a time before which no event will come any more: before
 *
 *   what is committed and not taken yet
 *   what a thread is writing just now: its last event's time, unless it has been at it for HOLD_NS
 *   the look at the directory: whose region was not there then has nothing older
 */
#include <time.h>

#include "recorder/session/session_internal.h"

#define PATIENCE_NS	100000000ull
#define STREAMS_PER_PATIENCE 100	/* many streams: fewer, larger packets each */
#define ORDER_NS	100000ull	/* clocks of threads differ, stores need a moment to be seen */
#define HOLD_NS		50000000ull
#define HORIZON_NS	1000000ull	/* between two looks at all rings, at least; more of them, less often */
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

/* A change within the tick of the clock in which we looked may have come after that look. */
static void look_at_directory(struct session *session)
{
	struct timespec now;
	bool changed = false;
	struct stat st;

	if (clock_gettime(CLOCK_REALTIME_COARSE, &now) < 0)
		return;
	for (unsigned i = 0; i < session->home_count; i++)
		changed |= fstat(session->home[i].dir.fd, &st) == 0 && !is_before(&st.st_mtim, &session->watched);
	if (!changed)
		return;
	session_scan(session);
	session->watched = now;
}

/* As the most eager of the sinks wants it; UINT64_MAX: none does. */
static uint64_t horizon_every_ns(const struct session *session)
{
	uint64_t every = UINT64_MAX;

	for (unsigned i = 0; i < session->drain.sink_count; i++) {
		const struct sink *sink = session->drain.sink[i];

		if (sink->ops->horizon && sink->horizon_every_ns < every)
			every = sink->horizon_every_ns < HORIZON_NS ? HORIZON_NS : sink->horizon_every_ns;
	}
	return every;
}

bool session_live_look(struct session *session)
{
	const uint64_t now = session->drain.now_ns, every = horizon_every_ns(session);

	if (every == UINT64_MAX || now < session->horizon_at)
		return false;
	session->horizon_at = now + every * (1 + session->rings / RINGS_PER_HORIZON);
	look_at_directory(session);
	return true;
}

/* What a thread is writing just now is not older than its last event. */
static uint64_t being_written(const struct process *process, uint64_t now)
{
	uint64_t bound = UINT64_MAX;

	for (unsigned i = 0; i < process->ring_count; i++) {
		const struct ring *ring = &process->ring[i];
		const struct kymo_ring *shared = ring->bad ? NULL : ring_shared(process, ring);
		uint64_t last;

		if (!shared || !__atomic_load_n(&shared->nest, __ATOMIC_ACQUIRE))
			continue;
		last = __atomic_load_n(&shared->lastts, __ATOMIC_ACQUIRE);
		if (last < now - HOLD_NS)
			last = now - HOLD_NS;
		if (last < bound)
			bound = last;
	}
	return bound;
}

void session_tell_horizon(struct session *session, uint64_t ns)
{
	uint64_t horizon = ns - ORDER_NS;

	for (unsigned i = 0; i < session->process_count; i++) {
		const struct process *process = session->process[i];
		uint64_t bound;

		if (process->finished || process->cut)
			continue;
		/* In this order: what is committed in between is found by the second look. */
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
