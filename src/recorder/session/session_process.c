/* SPDX-License-Identifier: Apache-2.0 */
/* A process of a session: its state, its rings to the sinks, and whether it still lives. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "abi/points.h"
#include "recorder/drain/sink_list.h"
#include "recorder/filter/filter.h"
#include "recorder/runtime/initlog_cursor.h"
#include "recorder/drain/promise.h"
#include "recorder/session/session_internal.h"

#define NEST_TRIES 20     /* ms for events in progress to end */
#define SLOW_ROUNDS 10    /* every so many liveness rounds, /proc is read too */
#define REPLACED_CHECKS 3 /* rounds after which an exec has surely happened */

/* ---- state ---- */

static void enable(struct drained_process *process, uint8_t value)
{
	uint8_t *byte = region_page(&process->region, KYMO_ENABLE_PAGE, 1);

	for (unsigned id = 0; id < KYMO_POINTS_TABLE; id++)
		if (kymo_points[id].phase == KYMO_PHASE_RUN)
			__atomic_store_n(&byte[id], value, __ATOMIC_RELAXED);
	for (unsigned id = KYMO_POINTS_TABLE; id < KYMO_POINTS_TABLE + process->classes.room; id++)
		if (classes_get(&process->classes, id))
			__atomic_store_n(&byte[id], value, __ATOMIC_RELAXED);
}

/* A span whose name is known at compile time: the others share one event of libkymo. */
static bool is_counted_span(const struct kymo_point *point)
{
	return point && point->uri && strcmp(point->uri, "kymo:begin") == 0 &&
	       strcmp(point->provider, "kymo") != 0;
}

static void enable_counts(struct drained_process *process)
{
	const uint32_t flags =
		__atomic_load_n(&region_header(&process->region)->flags, __ATOMIC_ACQUIRE);
	uint8_t *byte = region_page(&process->region, KYMO_ENABLE_PAGE, 1);

	process->counted_classes = process->classes.count;
	for (unsigned id = 0; flags & KYMO_REGION_COUNTS && id < KYMO_POINTS_TABLE; id++)
		if (KYMO_COUNTED_AS(id) != KYMO_COUNT_NOT)
			__atomic_store_n(&byte[id], KYMO_ENABLE_COUNT, __ATOMIC_RELAXED);
	for (unsigned id = 0; flags & KYMO_REGION_COUNTS_SPANS && id < process->classes.room; id++)
		if (is_counted_span(classes_get(&process->classes, KYMO_POINTS_TABLE + id)))
			__atomic_store_n(&byte[KYMO_POINTS_TABLE + id], KYMO_ENABLE_COUNT,
					 __ATOMIC_RELAXED);
}

static bool only_counts(const struct session *session)
{
	return session->options.counts && session->state == KYMO_STATE_PREPARE;
}

static void enable_wanted(struct drained_process *process)
{
	if (process->filter)
		filter_enable(process->filter);
	else
		enable(process, 1);
}

void session_apply_state(struct session *session, struct drained_process *process)
{
	struct kymo_region *header;

	process->recording = session->state == KYMO_STATE_RECORD &&
			     ros_domains_has(&session->ros, process->region.ros_domain);
	if (process->recording) {
		(void)drain_filter_update(process, &session->drain);
		drain_filter_settle(process, &session->drain);
		enable_wanted(process);
	} else {
		enable(process, 0);
		if (only_counts(session))
			enable_counts(process);
	}
	header = region_header(&process->region); /* with a longer log it may have moved */
	__atomic_store_n(&header->owed, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&header->state,
			 session->state == KYMO_STATE_RECORD && !process->recording
				 ? KYMO_STATE_PREPARE
				 : session->state,
			 __ATOMIC_RELEASE);
}

/* Whether an event is still being written somewhere. */
static bool busy(const struct drained_process *process)
{
	for (unsigned i = 0; i < process->ring_count; i++) {
		const struct ring *ring = &process->ring[i];
		const struct kymo_ring *shared = region_page(&process->region, ring->page, 1);

		if (!ring->bad && __atomic_load_n(&shared->nest, __ATOMIC_ACQUIRE))
			return true;
	}
	return false;
}

void session_wait(struct drained_process *process)
{
	struct kymo_region *header;

	if (process->finished)
		return;
	header = region_header(&process->region);
	enable(process, 0);
	process->recording = false;
	__atomic_store_n(&header->state, KYMO_STATE_WAIT, __ATOMIC_RELEASE);
}

void session_settle(const struct drained_process *process)
{
	if (process->finished || process->alive == ALIVE_DEAD)
		return;
	for (int i = 0; i < NEST_TRIES && busy(process); i++)
		(void)usleep(1000);
}

void session_give_back(struct drained_process *process)
{
	struct kymo_region *header = region_header(&process->region);

	if (!(__atomic_load_n(&header->flags, __ATOMIC_ACQUIRE) & KYMO_REGION_FLIGHT))
		return;
	__atomic_store_n(&header->mode, KYMO_MODE_OVERWRITE, __ATOMIC_RELEASE);
	enable(process, 1);
	__atomic_store_n(&header->state, KYMO_STATE_RECORD, __ATOMIC_RELEASE);
}

/* ---- draining one process ---- */

static void take_version(struct drained_process *process)
{
	const struct kymo_region *header = region_header(&process->region);
	uint32_t version = __atomic_load_n(&header->tracetools, __ATOMIC_ACQUIRE);

	if (!version || process->tracetools)
		return;
	process->tracetools = version;
	for (unsigned i = 0; i < sizeof header->tracetools_version && header->tracetools_version[i];
	     i++)
		process->tracetools_version[i] =
			header->tracetools_version[i] < ' ' ? '?' : header->tracetools_version[i];
}

int session_drain_process(struct session *session, struct drained_process *process)
{
	const unsigned declared = process->classes.count;
	const uint64_t clock_ns = session->drain.now_ns;
	bool merges;
	int rc;

	process_rings(process, &session->drain, false);
	rc = initlog_drain(process, &session->drain);
	if (process->recording)
		drain_filter_settle(process, &session->drain);
	take_version(process);
	merges = process->merged_rings &&
		 (!filter_leaves_out(process->filter) || sinks_take_batches(&session->drain));
	for (unsigned i = 0; rc == 0 && i < process->ring_count; i++)
		if (!process->ring[i].merged || !merges)
			rc = ring_drain(process, i, &session->drain);
	if (rc == 0 && merges)
		rc = merged_drain(process, &session->drain, clock_ns);
	if (process->classes.count > declared && process->recording)
		enable_wanted(process);
	return rc;
}

void session_finish_process(struct session *session, struct drained_process *process)
{
	struct drain *drain = &session->drain;
	bool final = drain->final;

	if (process->finished)
		return;
	drain->final = true;
	sinks_round_begin(drain, true);
	drain->failed = session_drain_process(session, process) < 0;
	if (drain->failed && !session->ending) {
		sinks_round_end(drain);
		drain->failed = false;
		drain->final = final;
		return;
	}
	initlog_update_counts(process);
	for (unsigned i = 0; i < process->ring_count; i++)
		ring_finish(process, i, drain);
	sinks_leave(drain, process);
	sinks_round_end(drain);
	drain->failed = false;
	drain->final = final;
	if (process->alive == ALIVE_DEAD && !session->options.frozen &&
	    unlinkat(process->home->dir.fd, process->region.name, 0) < 0 && errno != ENOENT)
		session_refuse(session, process->home, process->region.name,
			       NULL); /* it stays: do not open it again */
	if (process->alive != ALIVE_DEAD && final)
		session_give_back(process);
	__atomic_store_n(&region_header(&process->region)->owed, 0, __ATOMIC_RELEASE);
	region_close(&process->region);
	if (process->filter)
		filter_retire(process->filter);
	process->finished = true;
}

/* ---- liveness ---- */

enum process_end session_how_it_ended(const struct drained_process *process)
{
	uint32_t flags = __atomic_load_n(&region_header(&process->region)->flags, __ATOMIC_ACQUIRE);

	if (flags & KYMO_REGION_REPLACED)
		return PROCESS_REPLACED;
	if (flags & KYMO_REGION_EXITED)
		return PROCESS_EXITED;
	return process->host_pid && alive_check(process->host_pid, process->region.start_time) ==
					    ALIVE_YES
		       ? PROCESS_REPLACED
		       : PROCESS_KILLED; /* by a program that nothing is traced of */
}

static enum alive check_process(struct drained_process *process, bool thorough)
{
	uint32_t flags = __atomic_load_n(&region_header(&process->region)->flags, __ATOMIC_ACQUIRE);

	if (process->alive == ALIVE_DEAD)
		return ALIVE_DEAD;
	/* After an exec, pid and start time are those of the new program. */
	if ((flags & KYMO_REGION_REPLACED || (thorough && region_is_left(&process->region))) &&
	    ++process->replaced_checks >= REPLACED_CHECKS)
		return ALIVE_DEAD;
	/* In a pid namespace that is not visible here, and never will be. */
	if (!process->host_pid && process->alive == ALIVE_UNKNOWN)
		return flags & KYMO_REGION_EXITED ? ALIVE_DEAD : ALIVE_UNKNOWN;
	if (!process->host_pid)
		return region_is_left(&process->region) ? ALIVE_DEAD : ALIVE_YES;
	if (thorough || flags & KYMO_REGION_EXITED) {
		const enum alive alive =
			alive_check(process->host_pid, process->region.start_time);

		/* Who has ended holds no lock: that can be seen without a descriptor. */
		if (alive == ALIVE_UNKNOWN)
			return region_is_left(&process->region) ? ALIVE_DEAD : ALIVE_YES;
		return alive;
	}
	return kill(process->host_pid, 0) < 0 && errno == ESRCH ? ALIVE_DEAD : ALIVE_YES;
}

static void cut_off(struct session *session, struct drained_process *process)
{
	say_text(&session->drain.sayer,
		 "process %u (%s) is not recorded any more: its region %s/%s was truncated by "
		 "another process while in use, and events in it are lost; restart the program",
		 process->region.pid, process->region.procname, process->home->dir.path,
		 process->region.name);
	for (unsigned i = 0; i < process->ring_count; i++)
		process->ring[i].bad = true;
	process->cut = true; /* mapping and header stay; nothing behind the header is read again */
	sinks_leave(&session->drain, process);
}

void session_check_alive(struct session *session)
{
	bool thorough = session->drain.final || session->alive_rounds++ % SLOW_ROUNDS == 0;

	if (session->options.frozen)
		return; /* copies stay as they are */
	homes_mend(session);
	for (unsigned i = 0; i < session->process_count; i++) {
		struct drained_process *process = session->process[i];

		if (process->finished)
			continue;
		if (!region_intact(&process->region)) {
			cut_off(session, process);
			process->finished = true;
			continue;
		}
		process->alive = check_process(process, thorough);
		/* What it declared since: its log is read after the state was set. */
		if (only_counts(session) && process->counted_classes != process->classes.count &&
		    region_intact(&process->region))
			enable_counts(process);
		if (process->alive != ALIVE_DEAD)
			continue;
		process->end = session_how_it_ended(process);
		session_finish_process(session, process);
	}
}
