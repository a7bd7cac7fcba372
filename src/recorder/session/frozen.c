/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that changes nothing: `kymo snapshot` without a recorder. It drains copies of regions,
 * one for each process that keeps its last events itself (KYMO_FLIGHT=1) or died while it was
 * recorded. `kymo recover` uses the same for a process that kept its last events itself until it
 * died.
 */
#include <stdio.h>
#include <stdlib.h>

#include "recorder/drain/sink_list.h"
#include "recorder/runtime/claim.h"
#include "recorder/session/freeze.h"
#include "recorder/runtime/initlog_cursor.h"
#include "recorder/session/session_internal.h"

/* With mode DISCARD, a region in RECORD belongs to its recorder, unless that is dead. */
static bool has_last_events(const struct region *region)
{
	const struct kymo_region *header = region_header(region);

	if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) != KYMO_STATE_RECORD)
		return false;
	if (__atomic_load_n(&header->mode, __ATOMIC_ACQUIRE) == KYMO_MODE_OVERWRITE)
		return true;
	return !claim_is_taken(region->fd);
}

/* The time of a process's last event. */
static uint64_t last_event_ns(const struct drained_process *process)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < process->ring_count; i++) {
		const struct ring *ring = &process->ring[i];
		const struct kymo_ring *shared = ring_shared(process, ring);

		if (!ring->bad && KYMO_WORD_POS(shared->wpos) > ring->taken &&
		    shared->lastts > last)
			last = shared->lastts;
	}
	return last;
}

static void cut_to_last(const struct session *session, struct drained_process *process)
{
	const uint64_t keep = (uint64_t)session->options.last_ns;
	uint64_t last = last_event_ns(process);

	if (keep && last > keep)
		process->cut_ns = last - keep;
}

/* Facts of objects whose events may still be in the rings are kept. */
static uint64_t limit_of(const struct region *region)
{
	const uint64_t tail = log_bounds(region).tail;

	if (__atomic_load_n(&region_header(region)->mode, __ATOMIC_ACQUIRE) != KYMO_MODE_OVERWRITE)
		return __atomic_load_n(&region_header(region)->log_settled, __ATOMIC_ACQUIRE);
	return tail > KYMO_LOG_KEEP ? tail - KYMO_LOG_KEEP : 0;
}

/* Replaces the region of @process by a copy. */
static bool replace(struct session *session, struct drained_process *process)
{
	struct freeze_stats stats;
	struct region copy;
	struct kymo_err err;

	process->init_limit = limit_of(&process->region);
	if (freeze_region(&process->region, &copy, &stats, &err) < 0) {
		session_refuse(session, process->home, process->region.name, &err);
		return false;
	}
	region_close(&process->region);
	process->region = copy;
	process->alive = ALIVE_DEAD;	/* the copy does not change any more */
	process->overwritten = stats.overwritten;
	if (stats.missed)
		say_text(&session->drain.sayer, "%s: %u threads overwrote their rings faster than these could "
			 "be copied; use larger rings (KYMO_RING_SIZE)", copy.name, stats.missed);
	return true;
}

bool frozen_if_dead(struct session *session, struct drained_process *process)
{
	if (process->alive != ALIVE_DEAD ||
	    region_header(&process->region)->mode != KYMO_MODE_OVERWRITE)
		return true;
	return replace(session, process);
}

/* A process that lives, and of which a snapshot has nothing. */
static void pass_over(struct session *session, const struct drained_process *process)
{
	const struct kymo_region *header = region_header(&process->region);
	const int pid = process->host_pid ? process->host_pid : (int)process->region.pid;
	char text[256];

	if (process->alive == ALIVE_DEAD)
		return;
	if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) == KYMO_STATE_RECORD)
		(void)snprintf(
			text, sizeof text,
			"process %d (%s) records itself, or is recorded by another recorder; "
			"its events go there",
			pid, process->region.procname);
	else
		(void)snprintf(text, sizeof text,
			       "process %d (%s) does not keep its last events; start it with "
			       "\"kymo run --flight\"",
			       pid, process->region.procname);
	session_left_alone(session, text);
}

/* Return: false: it is not for this session. */
static bool freeze(struct session *session, struct drained_process *process)
{
	process->alive = region_alive(&process->region, &process->host_pid);
	if (session->options.pid_count && !session_names_pid(session, process))
		return false;
	if (!has_last_events(&process->region)) {
		pass_over(session, process);
		return false;
	}
	if (process->alive == ALIVE_DEAD ||
	    __atomic_load_n(&region_header(&process->region)->flags, __ATOMIC_ACQUIRE) &
		    KYMO_REGION_REPLACED)
		process->end = session_how_it_ended(process);
	return replace(session, process);
}

void frozen_add(struct session *session, struct home *home, const char *name)
{
	struct drained_process *process = calloc(1, sizeof *process);
	struct kymo_err err;
	int rc;

	if (!process)
		return;
	rc = region_open(&process->region, &home->dir, name, false, &err);
	process->home = home;
	if (rc == 0 && freeze(session, process) && sinks_join(&session->drain, process) == 0 &&
	    session_add_process(session, process)) {
		process_rings(process, &session->drain, false);
		cut_to_last(session, process);
		return;
	}
	if (rc < 0)
		session_refuse(session, home, name, &err);
	if (rc == 0)
		region_close(&process->region);
	sinks_process_free(process);
	free(process);
}

/* The trace starts just before its oldest event: that is the time of all older facts. */
void frozen_begin(struct session *session)
{
	uint64_t start = session->started_ns;

	for (unsigned i = 0; i < session->process_count; i++) {
		const struct drained_process *process = session->process[i];
		uint64_t first = process_first_ns(process);

		if (first < process->cut_ns)
			first = process->cut_ns;
		if (first <= start && first > start / 2)
			start = first - 1;
	}
	for (unsigned i = 0; i < session->drain.sink_count; i++) {
		struct sink *sink = session->drain.sink[i];

		sink->start_realtime_ns -= (int64_t)(session->started_ns - start);
		sink->added_ns = sink->start_ns = start;
	}
	session->started_ns = start;
}
