/* SPDX-License-Identifier: Apache-2.0 */
/* Traced processes are found, judged, and join the session; session_process.c has them from then
 * on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/points.h"
#include "base/array.h"
#include "recorder/drain/sink_list.h"
#include "recorder/runtime/claim.h"
#include "recorder/filter/filter.h"
#include "recorder/runtime/initlog_cursor.h"
#include "recorder/drain/promise.h"
#include "recorder/session/session_internal.h"

#define ENDING_TRIES 100 /* times 10 ms for a process to end, whose memory may be large */

void session_refuse(struct session *session, const struct home *home, const char *name,
		    const struct kymo_err *err)
{
	if (session->refused_count < REFUSED_MAX) {
		session->refused_in[session->refused_count] = home;
		(void)snprintf(session->refused[session->refused_count], REGION_NAME_MAX, "%s", name);
		if (err)
			say_text(&session->drain.sayer, "%s", err->text);
		session->refused_count++;
	}
}

bool session_names_pid(const struct session *session, const struct drained_process *process)
{
	const int pid = process->host_pid ? process->host_pid : (int)process->region.pid;

	for (unsigned i = 0; i < session->options.pid_count; i++)
		if (session->options.pids[i] == pid)
			return true;
	return false;
}

/* An agent that records /clock: what it says belongs to the programs of every session. */
static bool is_of_all(const struct session *session, const struct drained_process *process)
{
	return process->region.ros_domain == KYMO_ROS_EVERY && !session->options.only_self;
}

/*
 * A session for one command or for some processes takes such a process in beside the first of them;
 * without them, it has nothing to record.
 */
static bool wanted(const struct session *session, const struct drained_process *process)
{
	const struct session_options *options = &session->options;

	if (is_of_all(session, process) && session->processes_seen)
		return true;

	if (options->only_self)
		return process->host_pid == getpid() && process->alive != ALIVE_DEAD &&
		       !(__atomic_load_n(&region_header(&process->region)->flags,
					 __ATOMIC_ACQUIRE) &
			 KYMO_REGION_REPLACED);
	if (options->tag)
		return process->region.tag == options->tag;
	if (session_names_pid(session, process))
		return true;
	for (unsigned i = 0; i < options->name_count; i++)
		if (region_has_name(&process->region, options->names[i]))
			return true;
	return !options->pid_count && !options->name_count;
}

static bool known(const struct session *session, const struct home *home, const char *name)
{
	for (unsigned i = 0; i < session->process_count; i++)
		if (!session->process[i]->finished && session->process[i]->home == home &&
		    strcmp(session->process[i]->region.name, name) == 0)
			return true;
	for (unsigned i = 0; i < session->refused_count && i < REFUSED_MAX; i++)
		if (session->refused_in[i] == home && strcmp(session->refused[i], name) == 0)
			return true;
	return false;
}

bool session_add_process(struct session *session, struct drained_process *process)
{
	if (!ARRAY_ROOM(session->process, session->process_count, session->process_room))
		return false;
	process->ordinal = session->processes_seen++;
	session->process[session->process_count++] = process;
	session->joined = true;
	return true;
}

/*
 * With mode DISCARD the process respects rpos, which stood still until now. So rpos is set to wpos
 * first; with an old one the process would find its rings full until they are drained.
 */
static void take_over(struct drained_process *process)
{
	struct kymo_region *header = region_header(&process->region);
	const uint32_t *page = region_page(&process->region, KYMO_RING_DIR_PAGE, 2);
	uint32_t count = __atomic_load_n(&header->ring_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count && i < KYMO_RINGS_MAX; i++) {
		struct kymo_ring *ring = region_page(
			&process->region, __atomic_load_n(&page[i], __ATOMIC_ACQUIRE), 1);

		if (ring && page[i] >= KYMO_FIRST_SEGMENT_PAGE)
			__atomic_store_n(
				&ring->rpos,
				KYMO_WORD_POS(__atomic_load_n(&ring->wpos, __ATOMIC_ACQUIRE)),
				__ATOMIC_RELEASE);
	}
	__atomic_store_n(&header->mode, KYMO_MODE_DISCARD, __ATOMIC_SEQ_CST);
}

/* Whether unread events belong to a trace: the process is being recorded, or was when its recorder
 * was killed. */
static bool is_owed(const struct kymo_region *header)
{
	return __atomic_load_n(&header->state, __ATOMIC_ACQUIRE) != KYMO_STATE_WAIT ||
	       __atomic_load_n(&header->owed, __ATOMIC_ACQUIRE);
}

/*
 * Takes a region into the session. Unread records are ours if the region is in RECORD or PREPARE,
 * or if its recorder did not finish: that recorder died, or the process started while we record.
 * Other records are remains of a session that ended properly while a thread was inside an event.
 */
static void join(struct session *session, struct drained_process *process)
{
	struct kymo_region *header = region_header(&process->region);
	uint32_t state = __atomic_load_n(&header->state, __ATOMIC_ACQUIRE);
	bool ours = is_owed(header) || process->region.birth_ns >= session->started_ns;

	promise_resolve(process, &session->drain.sayer);
	/* Facts of objects whose events are still unread in the rings are kept. */
	process->init_limit = is_owed(header)
				      ? __atomic_load_n(&header->log_settled, __ATOMIC_ACQUIRE)
				      : log_bounds(&process->region).tail;
	if (__atomic_load_n(&header->mode, __ATOMIC_ACQUIRE) == KYMO_MODE_OVERWRITE) {
		process->init_limit = log_bounds(&process->region).tail;
		take_over(process);
		ours = false;		/* what it kept for itself is not of this session */
	}
	if (!ours)
		header->no_ring_told = __atomic_load_n(&header->dropped_no_ring, __ATOMIC_RELAXED);
	process->no_ring_base = header->no_ring_told;
	/* Also for a dead process: with empty rings it may still have drops that no trace
	 * reports. */
	if (ours)
		__atomic_store_n(&header->owed, 1, __ATOMIC_RELEASE);
	process_rings(process, &session->drain, !ours);
	header = region_header(&process->region);	/* with more rings it may have moved */
	sinks_reach_back(&session->drain, process_first_ns(process));
	if (process->alive == ALIVE_DEAD)
		return;
	__atomic_store_n(&header->generation, process->home->generation, __ATOMIC_RELAXED);
	__atomic_store_n(&header->recorder_pid, (uint32_t)getpid(), __ATOMIC_RELAXED);
	__atomic_store_n(&header->recorded, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&header->lost, 0, __ATOMIC_RELAXED);
	if (state != KYMO_STATE_RECORD) {
		__atomic_store_n(&header->state, KYMO_STATE_PREPARE, __ATOMIC_RELEASE);
		sinks_round_begin(&session->drain, false);
		(void)initlog_drain(process, &session->drain);	/* else the next poll tries again */
		sinks_round_end(&session->drain);
	}
	session_apply_state(session, process);
}

static bool worth_joining(const struct session *session, const struct drained_process *process)
{
	const struct kymo_region *header = region_header(&process->region);

	if (!wanted(session, process) ||
	    (session->options.only_dead && process->alive != ALIVE_DEAD) ||
	    (session->options.only_selves && !region_recorded_itself(&process->region)))
		return false;
	/* A dead process is of interest if it was recording; else its region is only to be
	 * removed. */
	if (process->alive == ALIVE_DEAD && header->mode == KYMO_MODE_OVERWRITE)
		return session->options.only_dead && header->state != KYMO_STATE_WAIT;
	return process->alive != ALIVE_DEAD || is_owed(header);
}

/* Another recorder has this region. When that recorder ends, the session takes it. */
static void leave_to_others(struct session *session, const struct region *region)
{
	for (unsigned i = 0; i < session->foreign_count; i++)
		if (strcmp(session->foreign[i], region->name) == 0)
			return;
	if (session->foreign_count == REFUSED_MAX)
		return;
	(void)snprintf(session->foreign[session->foreign_count++], REGION_NAME_MAX, "%s", region->name);
	say_text(&session->drain.sayer, "process %u (%s) records itself, or is recorded by another recorder; it is "
		 "not recorded here until that ends", region->pid, region->procname);
}

/* A process that was killed a moment ago is waited for. */
static void wait_if_ending(struct drained_process *process)
{
	for (int i = 0;
	     i < ENDING_TRIES && process->alive == ALIVE_YES && alive_is_ending(process->host_pid);
	     i++) {
		(void)usleep(10000);
		process->alive = region_alive(&process->region, &process->host_pid);
	}
}

void session_left_alone(struct session *session, const char *text)
{
	char *all;

	if (session->left_alone && strstr(session->left_alone, text))
		return; /* by an earlier scan */
	say_text(&session->drain.sayer, "left alone: %s", text);
	if (asprintf(&all, "%s%s%s", session->left_alone ? session->left_alone : "",
		     session->left_alone ? "; " : "", text) < 0)
		return;
	free(session->left_alone);
	session->left_alone = all;
}

/* `kymo recover` leaves a region that has events, or will have, to its process. */
static void leave_alone(struct session *session, const struct drained_process *process)
{
	const struct kymo_region *header = region_header(&process->region);
	const bool flight = header->mode == KYMO_MODE_OVERWRITE;
	char text[256];

	if (process->alive == ALIVE_DEAD || (!is_owed(header) && !flight) ||
	    !wanted(session, process))
		return;
	if (process->alive == ALIVE_UNKNOWN)
		(void)snprintf(text, sizeof text,
			       "process %u (%s) in another PID namespace may still run; recover "
			       "there, in its container",
			       process->region.pid, process->region.procname);
	else
		(void)snprintf(text, sizeof text,
			       "process %d (%s) still runs; \"kymo %s\" writes its events",
			       process->host_pid, process->region.procname,
			       flight ? "snapshot" : "record");
	session_left_alone(session, text);
}

/* Claims the region and enters its process. Return: false: it is not for this session. */
static bool take_in(struct session *session, struct drained_process *process)
{
	struct stat st;

	if (claim(process->region.fd) < 0) {
		leave_to_others(session, &process->region);
		return false;
	}
	if (fstat(process->region.fd, &st) < 0 || !st.st_nlink)
		return false;		/* another recorder has just finished it */
	if (!frozen_if_dead(session, process) || sinks_join(&session->drain, process) < 0)
		return false;
	drain_filter_join(process, &session->drain, session->options.filter);
	if (session_add_process(session, process))
		return true;
	filter_forget(process->filter);
	return false;
}

/* The domain page does not have names, so this new process began to record. It goes back to WAIT,
 * or its region is removed. */
static void send_back(struct session *session, struct drained_process *process)
{
	struct kymo_region *header = region_header(&process->region);

	if (!session->options.name_count || header->generation != process->home->generation ||
	    header->state == KYMO_STATE_WAIT || claim(process->region.fd) < 0)
		return;
	if (process->alive == ALIVE_DEAD) {
		(void)unlinkat(process->home->dir.fd, process->region.name, 0);
		return;
	}
	session_wait(process);
	take_over(process);		/* what is in its rings belongs to no trace */
	session_give_back(process);
}

/* Times of another time namespace mean nothing here: the process goes to WAIT. */
static void refuse_clock(struct session *session, struct drained_process *process)
{
	const struct region *region = &process->region;
	struct kymo_err err = { 0 };

	(void)err_set(
		&err, KYMO_EXIT_FAILED,
		"process %u (%s) is not recorded: it is in another time namespace, so "
		"its clock is not that of the recorder; record in the namespace of the process",
		region->pid, region->procname);
	session_refuse(session, process->home, region->name, &err);
	if (process->alive != ALIVE_DEAD && claim(region->fd) == 0)
		session_wait(process);
}

static void add_region(struct session *session, struct home *home, const char *name)
{
	struct drained_process *process;
	struct kymo_err err;
	int rc;

	if (session_is_crowded(session)) {
		session_crowd(session);
		return;
	}
	process = calloc(1, sizeof *process);
	if (!process)
		return;
	process->home = home;
	rc = region_open(&process->region, &home->dir, name, true, &err);
	if (rc) {
		if (rc == REGION_LATER && !session->ending)
			session_crowd(session);
		else if (rc < 0)
			session_refuse(session, home, name, &err);
		free(process);
		return;
	}
	process->alive = region_alive(&process->region, &process->host_pid);
	if (session->options.only_dead) {
		wait_if_ending(process);
		if (!session->options.only_selves)
			leave_alone(session, process);
	}
	if (worth_joining(session, process)) {
		const bool readable =
			alive_shares_clock(process->region.time_ns, process->host_pid);

		if (!readable)
			refuse_clock(session, process);
		else if (take_in(session, process)) {
			session_read_rmw(process);
			join(session, process);
			return;
		}
	} else if (process->alive == ALIVE_DEAD && !is_owed(region_header(&process->region))) {
		(void)unlinkat(home->dir.fd, name, 0);
	} else if (!wanted(session, process) || process->alive == ALIVE_DEAD) {
		send_back(session, process);
		if (!is_of_all(session, process)) /* such a one may be wanted later */
			session_refuse(session, home, name,
				       NULL); /* not ours: do not open it again */
	}
	region_close(&process->region);
	sinks_process_free(process);
	free(process);
}

/* File names begin with the pid: a process that records itself opens no other region. */
static bool may_be_wanted(const struct session *session, const char *name)
{
	return !session->options.only_self || atoi(name) == getpid();
}

struct scan {
	struct session *session;
	struct home *home;
};

static void scan_file(void *context, const char *name)
{
	struct session *session = ((struct scan *)context)->session;
	struct home *home = ((struct scan *)context)->home;

	if (region_is_name(name) && may_be_wanted(session, name) && !known(session, home, name))
		(session->options.frozen ? frozen_add : add_region)(session, home, name);
}

void session_scan(struct session *session)
{
	session->crowded = false;
	for (unsigned i = 0; i < session->home_count; i++)
		(void)rundir_list(&session->home[i].dir, scan_file,
				  &(struct scan){ session, &session->home[i] });
}
