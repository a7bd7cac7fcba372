/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rounds of a session. A round drains the rings that are due, then does what needs no
 * millisecond; the next round is as late as the ring that fills fastest allows.
 */
#include "recorder/session/session.h"

#include "base/now.h"
#include "recorder/drain/sink_list.h"
#include "recorder/session/session_internal.h"

#define MS 1000000ull
#define ALIVE_PERIOD_NS		(100 * MS)
#define TELL_PERIOD_NS		(100 * MS)
/* in addition to inotify and the mtime of the directory */
#define SCAN_PERIOD_NS		(1000 * MS)
/* two changes within a tick of the clock have one mtime */
#define RESCAN_NS		(20 * MS)
#define ACCOUNTS_PERIOD_NS	(1000 * MS)
#define PERIOD_MAX_MS		4	/* a large ring lasts 4.8 ms at 3 M events/s of 8 B */
/* with many rings a round takes longer, so it is less often */
#define RINGS_PER_PERIOD_MS	250
/* the same for looking whether so many are alive, and for new ones */
#define PROCESSES_PER_ALIVE	20
#define RINGS_PER_TELL		500	/* and for publishing counts in the regions */
/* up to so many rings, all are drained in every round; else all only ... */
#define RINGS_PER_LOOK		64
#define LOOK_NS			(16 * MS)	/* ... once in this time for each so many */
#define GLANCES_AHEAD		8

/* With many rings, those of a process are all drained now and then, and in between if one is
 * filling up. */
static bool process_is_due(struct session *session, struct drained_process *process,
			   uint64_t look_ns)
{
	struct drain *drain = &session->drain;
	/* Not all processes at the same time. */
	const uint64_t spread = look_ns / 64 * (process->ordinal * 37 % 16);

	if (!look_ns || drain->flush || drain->final || process->alive == ALIVE_DEAD ||
	    drain->now_ns >= process->look_at) {
		process->look_at = drain->now_ns + look_ns - spread;
		return true;
	}
	return process_is_filling(process, drain);
}

/* A sink without batches shows events to triggers, and wants them soon. */
static uint64_t look_period_ns(const struct session *session)
{
	for (unsigned i = 0; i < session->drain.sink_count; i++)
		if (!session->drain.sink[i]->ops->batch)
			return 0;
	return session->rings / RINGS_PER_LOOK * LOOK_NS;
}

/* With hundreds of processes, nothing is in a cache: prefetch for a few of them in advance. */
static void prefetch_processes(const struct session *session, unsigned index)
{
	const unsigned next = index + GLANCES_AHEAD, after = next + GLANCES_AHEAD;

	if (after < session->process_count)
		__builtin_prefetch(session->process[after]);
	if (next < session->process_count)
		process_prefetch(session->process[next]);
}

void session_drain_all(struct session *session, bool flush)
{
	struct drain *drain = &session->drain;
	const uint64_t look_ns = look_period_ns(session);
	unsigned rings = 0, live = 0;
	int rc;

	drain->fullest = 0;
	drain->grown = 0;
	drain->flush = flush;
	if (flush)
		merged_let_settle(drain);
	sinks_round_begin(drain, false);
	rc = sinks_rc(drain);
	for (unsigned i = 0; rc == 0 && i < session->process_count; i++) {
		struct drained_process *process = session->process[i];

		prefetch_processes(session, i);
		if (process->finished)
			continue;
		if (process_is_due(session, process, look_ns))
			rc = session_drain_process(session, process);
		rings += process->ring_count;
		live++;
	}
	sinks_round_end(drain);
	drain->flush = false;
	if (rc == 0) {
		session->rings = rings;
		session->live = live;
	}
	drain->patience_ns = session_patience(session, rings);
}

/* While no sink can take anything, regions of dead processes are kept. */
static bool all_fail(const struct session *session)
{
	bool some = false;

	for (unsigned i = 0; i < session->drain.sink_count; i++)
		some |= !session->drain.sink[i]->fails;
	return !some;
}

/* Housekeeping that needs no millisecond. */
static void keep_house(struct session *session)
{
	uint64_t now = session->drain.now_ns;
	bool changed;

	changed = homes_changed(session);
	if (changed || session->noticed || now >= session->scan_at) {
		session->noticed = false;
		session_scan(session);
		session->scan_at =
			now +
			(changed || session->crowded
				 ? RESCAN_NS
				 : SCAN_PERIOD_NS * (1 + session->live / PROCESSES_PER_ALIVE));
		if (session->crowded) /* who has ended has descriptors */
			session->alive_at = now;
	}
	if (now >= session->alive_at && !all_fail(session)) {
		session->alive_at =
			now + ALIVE_PERIOD_NS * (1 + session->live / PROCESSES_PER_ALIVE);
		session_check_alive(session);
		session_forget_ended(session);
	}
	if (now >= session->tell_at && !all_fail(session)) {
		session->tell_at = now + TELL_PERIOD_NS * (1 + session->rings / RINGS_PER_TELL);
		session_publish_counts(session);
	}
	if (now >= session->clock_at) {
		session->clock_at = now + session->clock_period_ns;
		(void)clocks_snapshot(session);
	}
	if (now < session->accounts_at)
		return;
	session_keep_accounts(session);
	/* With very many threads, accounts take long: at most 0.1 % of the time goes into them. */
	session->accounts_at = now + ACCOUNTS_PERIOD_NS + 1000 * ((uint64_t)now_ns() - now);
}

/*
 * How long to sleep, by how fast the fastest ring fills. A ring that is full after a long sleep may
 * only need shorter ones; a ring that is half full after no sleep at all is urgent.
 */
static int next_wait_ms(struct session *session)
{
	const uint64_t per_ms = session->drain.grown;
	const uint64_t patience_ms = session->drain.patience_ns / MS;
	unsigned most = PERIOD_MAX_MS + session->rings / RINGS_PER_PERIOD_MS;

	if (session->joined) {	/* what a new process has emitted up to now waits already */
		session->joined = false;
		session->period_ms = PERIOD_MIN_MS;
		return 0;
	}
	if (most > patience_ms)
		most = patience_ms ? (unsigned)patience_ms : PERIOD_MIN_MS;
	if (per_ms > 128)		/* more than half a ring in the shortest sleep */
		return 0;
	if (per_ms > 16 || session->drain.fullest > 128)
		session->period_ms = PERIOD_MIN_MS;
	else if (session->drain.fullest < 16 && session->period_ms < most)
		session->period_ms++;
	if (session->period_ms > most)
		session->period_ms = most;
	return (int)session->period_ms;
}

int session_poll(struct session *session)
{
	uint64_t now;
	bool live;

	drain_update_clock(&session->drain);
	now = session->drain.now_ns;
	live = session_live_update(session);
	sinks_mend(&session->drain, session->process, session->process_count, false);
	session_drain_all(session, session->flush);
	session->flush = false;
	if (live)
		session_give_horizon(session, now);
	session_turn_sinks(session);
	session_close_ended(session);
	keep_house(session);
	return next_wait_ms(session);
}
