/* SPDX-License-Identifier: Apache-2.0 */
/* A session pauses and resumes: the domain and every process change state together. */
#include "base/array.h"
#include "base/now.h"
#include "recorder/session/session_internal.h"

enum kymo_state session_state(const struct session *session)
{
	return session->state;
}

/* ---- pauses, for the accounts ---- */

static void pause_begins(struct session *session)
{
	session->pause_began = (uint64_t)now_ns();
	session->pause_count++;
	if (session->pauses_kept < PAUSES_MAX &&
	    ARRAY_ROOM(session->pause, session->pauses_kept, session->pauses_room))
		session->pause[session->pauses_kept++] =
			(struct session_pause){ .begin = session->pause_began };
}

void session_pause_ended(struct session *session)
{
	uint64_t now = (uint64_t)now_ns();
	struct session_pause *last =
		session->pauses_kept ? &session->pause[session->pauses_kept - 1] : NULL;

	if (!session->pause_began)
		return;
	session->paused_ns += now - session->pause_began;
	if (last && last->begin == session->pause_began)
		last->end = now;
	session->pause_began = 0;
}

/* ---- switching ---- */

void session_begin_state(struct session *session)
{
	uint32_t next;

	(void)states_next(KYMO_STATE_WAIT,
			  session->options.paused ? STATES_START_PAUSED : STATES_START, &next);
	session->state = next;
	if (next == KYMO_STATE_PREPARE && !session->options.armed)
		pause_begins(session);
}

/*
 * The domain comes first, so that new processes start in the new state. Processes that read the old
 * state a moment ago are found by the scan, and switched.
 */
static void switch_all(struct session *session)
{
	homes_switch(session, session->state);
	for (unsigned i = 0; i < session->process_count; i++)
		if (!session->process[i]->finished)
			session_apply_state(session, session->process[i]);
	session_scan(session);
}

/* Some processes do not record any more: drain what they recorded. */
static void drain_stopped(struct session *session)
{
	for (unsigned i = 0; i < session->process_count; i++)
		session_settle(session->process[i]);
	drain_update_clock(&session->drain);
	session_drain_all(session, true);
	session->accounts_at = 0;
}

enum states_answer session_switch(struct session *session, enum states_action action)
{
	enum states_answer answer;
	uint32_t next;

	if (action != STATES_PAUSE && action != STATES_RESUME)
		return STATES_REFUSE;
	answer = states_next(session->state, action, &next);
	if (answer != STATES_GO)
		return answer;
	session->state = next;
	if (next == KYMO_STATE_RECORD) {
		session_pause_ended(session);
		switch_all(session);
		return answer;
	}
	switch_all(session);
	pause_begins(session);
	drain_stopped(session);
	return answer;
}

/* ---- of some ROS domains ---- */

enum states_answer session_begin_domains(struct session *session, const struct ros_domains *these)
{
	const bool begins = session->state == KYMO_STATE_PREPARE && !session->pause_began;

	if (begins)
		session->ros = these ? *these : (struct ros_domains){ 0 };
	if (session->state != KYMO_STATE_RECORD)
		return session_switch(session, STATES_RESUME);
	if (!ros_domains_limited(&session->ros) ||
	    (these && !ros_domains_join(&session->ros, these)))
		return STATES_STAY;
	if (!these)
		session->ros = (struct ros_domains){ 0 };
	switch_all(session);
	return STATES_GO;
}

enum states_answer session_end_domains(struct session *session, const struct ros_domains *these)
{
	const struct ros_domains before = session->ros;
	struct ros_domains after;

	if (!ros_domains_limited(&before) || !ros_domains_leave(&session->ros, these))
		return STATES_REFUSE;
	after = session->ros;
	if (!ros_domains_join(&after, &before))
		return STATES_STAY;
	if (session->state != KYMO_STATE_RECORD)
		return STATES_GO;
	switch_all(session);
	drain_stopped(session);
	return STATES_GO;
}

/* ---- counts ---- */

/* Events lost in this session, as the rings count them at the moment. */
static uint64_t lost(const struct drained_process *process)
{
	const struct kymo_region *header = region_header(&process->region);
	uint64_t sum =
		__atomic_load_n(&header->dropped_no_ring, __ATOMIC_RELAXED) - process->no_ring_base;

	for (unsigned i = 0; i < process->ring_count; i++) {
		const struct ring *ring = &process->ring[i];

		if (!ring->bad)
			sum += __atomic_load_n(&ring_shared(process, ring)->dropped,
					       __ATOMIC_RELAXED) -
			       ring->dropped_base;
	}
	return sum;
}

void session_publish_counts(struct session *session)
{
	for (unsigned i = 0; i < session->process_count; i++) {
		const struct drained_process *process = session->process[i];
		struct kymo_region *header;

		if (process->finished || process->alive == ALIVE_DEAD)
			continue;
		header = region_header(&process->region);
		__atomic_store_n(&header->recorded, process->recorded, __ATOMIC_RELAXED);
		__atomic_store_n(&header->lost, lost(process), __ATOMIC_RELAXED);
	}
}
