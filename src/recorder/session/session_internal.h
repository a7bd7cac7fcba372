/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a session share. Not for others. */
#ifndef KYMO_RECORDER_SESSION_INTERNAL_H
#define KYMO_RECORDER_SESSION_INTERNAL_H

#include <sys/stat.h>
#include <time.h>

#include "kernel/kernel.h"
#include "recorder/session/clocks.h"
#include "recorder/session/homes.h"
#include "recorder/drain/drain.h"
#include "recorder/runtime/ros_domains.h"
#include "recorder/session/session.h"

#define REFUSED_MAX 256		/* region files; of more, only the number is kept */
#define CLOCKS_MAX 4096		/* snapshots: 11 hours at 10 s, then sparser */

/* From a pause to the resume; end 0: it lasts. */
struct pause {
	uint64_t begin, end;
};
#define PAUSES_MAX 4096			/* of further ones only the time and the number are kept */

/* A sink that is not drained into any more, and has not ended yet. */
struct leaving {
	struct sink *sink;
	struct sink_leave *leave;	/* NULL: nobody wants to know */
	struct session_stats stats;	/* what it was given */
};

struct session {
	struct session_options options;
	enum kymo_state state;		/* its processes', ... */
	struct ros_domains ros;		/* ... in RECORD of those of these domains; others are in PREPARE */
	struct pause *pause;
	unsigned pauses_kept, pauses_room;
	uint64_t pause_count, paused_ns, pause_began;	/* paused_ns without the one that lasts */
	const char *output;		/* name of the first sink */
	struct kernel_stats kernel;	/* of the kernel's events beside it; source NULL: none are known */
	const struct sink *kernel_sink;	/* beside whose */
	struct home home[1 + SESSION_USERS_MAX];
	unsigned home_count;
	struct drain drain;
	uint64_t sinks_made;
	struct leaving leaving[SINKS_MAX];
	unsigned leaving_count;
	struct process **process;	/* all that live, and the last that ended */
	unsigned process_count, process_room;
	unsigned processes_seen;	/* with those that are forgotten */
	struct session_stats earlier;	/* of those */
	char refused[REFUSED_MAX][REGION_NAME_MAX];
	const struct home *refused_in[REFUSED_MAX];
	unsigned refused_count;
	char foreign[REFUSED_MAX][REGION_NAME_MAX];	/* those that another recorder has, told once */
	unsigned foreign_count;
	uint64_t started_ns, ended_ns;
	struct clock_snapshot *clock;
	unsigned clock_count;
	struct clock_changes clock_changes;
	uint64_t clock_period_ns;
	uint64_t scan_at, alive_at, tell_at, accounts_at, clock_at;
	uint64_t bytes;			/* of event data, in sinks that are closed */
	struct timespec watched;	/* session_live.c: what changed in the directory before this is known */
	uint64_t horizon_at;
	unsigned period_ms;
	unsigned rings, live;		/* of all processes, and those that are not finished, as of the last round */
	unsigned alive_rounds;
	bool noticed;
	bool flush;			/* the next poll takes everything */
	bool write_failed;		/* by a sink, at least once */
};

/* ---- discover.c ---- */

/** session_scan() - look for new region files, join those that belong to the session. */
void session_scan(struct session *session);

/** session_has_domain() - processes that start now are told to record. */
static inline bool session_has_domain(const struct session *session)
{
	return !session->options.frozen && !session->options.only_self;
}

/** session_names_pid() - whether the options name @process by its number. */
bool session_names_pid(const struct session *session, const struct process *process);

/** session_add_process() - enter @process. Return: false without memory. */
bool session_add_process(struct session *session, struct process *process);

/* ---- frozen.c ---- */

/** frozen_meet() - take a copy of region file @name into a session that only looks. */
void frozen_meet(struct session *session, struct home *home, const char *name);

/**
 * frozen_if_dead() - the rings of a dead process that overwrote them are put in order, in a copy
 * Return: false: that cannot be done, and was told.
 */
bool frozen_if_dead(struct session *session, struct process *process);

/** frozen_begin() - when the trace begins, now that all copies are there. */
void frozen_begin(struct session *session);

/* ---- discover.c ---- */

/** session_refuse() - a file that is not to be opened again, and why; @err may be NULL. */
void session_refuse(struct session *session, const struct home *home, const char *name, const struct kymo_err *err);

/** session_how_it_ended() - from what a process that is no more left in its region. */
enum process_end session_how_it_ended(const struct process *process);

/** session_check_alive() - notice processes that ended. */
void session_check_alive(struct session *session);

/** session_apply_state() - switch a process to the session's state. */
void session_apply_state(struct session *session, struct process *process);

/** session_wait() - switch a process off: what it produces from now on is not kept. */
void session_wait(struct process *process);

/* ---- session_state.c ---- */

/** session_begin_state() - the state that the options ask for. */
void session_begin_state(struct session *session);

/** session_pause_ended() - a pause that lasts ends now, if there is one. */
void session_pause_ended(struct session *session);

/** session_tell_counts() - for `kymo status`: what has been recorded, into the regions. */
void session_tell_counts(struct session *session);

/** session_settle() - give events that are in progress a moment to end. */
void session_settle(const struct process *process);

/** session_drain_process() - everything that is due of one process. Return: 0; -errno. */
int session_drain_process(struct session *session, struct process *process);

/** session_drain_all() - everything that is due of all processes; @flush: everything that is committed. */
void session_drain_all(struct session *session, bool flush);

/** session_finish_process() - the last drain, the streams' ends; unlinks a dead one's region. */
void session_finish_process(struct session *session, struct process *process);

/* ---- session_live.c ---- */

/** session_patience() - how long a little data may wait for more, with so many rings; ns. */
uint64_t session_patience(const struct session *session, unsigned rings);

/** session_live_look() - who wants to know the horizon needs to know all processes. Return: is it wanted now? */
bool session_live_look(struct session *session);

/**
 * session_tell_horizon() - tell the sinks that want it
 * @ns: clock before session_live_look() and the round of draining
 */
void session_tell_horizon(struct session *session, uint64_t ns);

/* ---- session_sinks.c ---- */

/** session_begin_sinks() - those of the options. Return: 0; -1 with @err. */
int session_begin_sinks(struct session *session, struct kymo_err *err);

/** session_see_off() - close those that were dismissed and have ended. */
void session_see_off(struct session *session);

/** session_turn_sinks() - those whose time has come begin anew. */
void session_turn_sinks(struct session *session);

/** session_end_sinks() - accounts and close for all. Return: 0; -1 with @err, of the first that failed. */
int session_end_sinks(struct session *session, struct kymo_err *err);

/** session_drop_sinks() - close all, as if the program had been killed. */
void session_drop_sinks(struct session *session);

/** session_keep_accounts() - bring the accounts of all sinks up to date, where that can be done. */
void session_keep_accounts(struct session *session);

/* ---- session_ended.c ---- */

/**
 * session_forget_ended() - processes that ended are kept up to a number only
 *
 * The oldest of more leave their sums, and an entry in the sinks' lists, and are freed.
 */
void session_forget_ended(struct session *session);

/** session_free_process() - of one that is finished, or of a session that is given up. */
void session_free_process(struct process *process);

/** session_add_totals() - what was taken from one process. */
void session_add_totals(struct session_stats *stats, const struct process *process);

/* ---- session_accounts.c, session_accounts_process.c ---- */

/** session_account_process() - write the entry of one process in the accounts of a sink. */
struct json_text;
void session_account_process(struct json_text *json, const struct sink_process *at);

/** session_add_account() - add what a sink has of one process to the sums. */
void session_add_account(struct session_stats *stats, const struct sink_process *at);

/** session_write_accounts() - give @sink the accounts as they stand. Return: 0; -errno. */
int session_write_accounts(const struct session *session, struct sink *sink);

#endif
