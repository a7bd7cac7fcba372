/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a session share. Not for others. */
#ifndef KYMO_RECORDER_SESSION_INTERNAL_H
#define KYMO_RECORDER_SESSION_INTERNAL_H

#include <sys/stat.h>
#include <time.h>

#include "kernel/kernel.h"
#include "kernel/stacks.h"
#include "recorder/session/clocks.h"
#include "recorder/session/homes.h"
#include "recorder/drain/drain.h"
#include "recorder/runtime/ros_domains.h"
#include "recorder/session/session.h"

#define REFUSED_MAX 256		/* region files; later ones are not remembered */
#define PERIOD_MIN_MS 1		/* between two rounds */
#define CLOCKS_MAX 4096		/* snapshots: 11 hours at 10 s, then sparser */

/* From a pause to the resume; end 0: it has not ended. */
struct session_pause {
	uint64_t begin, end;
};
/* of later ones only the sum of their times and the number are kept */
#define PAUSES_MAX 4096

/* A sink that gets no more data, and has not ended yet. */
struct leaving {
	struct sink *sink;
	struct sink_leave *leave;	/* NULL: nobody waits for its end */
	struct session_stats stats;	/* what it holds */
};

/* Texts are "" where they are not known. */
struct session_machine {
	char cpu[128], governor[32], os[128];
	uint64_t cpus;
};

struct session {
	struct session_options options;
	struct session_machine machine;
	enum kymo_state state; /* its processes', ... */
	struct ros_domains
		ros; /* ... RECORD holds for these domains; processes of others are in PREPARE */
	struct session_pause *pause;
	unsigned pauses_kept, pauses_room;
	uint64_t pause_count, paused_ns, pause_began; /* paused_ns: without the present pause */
	const char *output;                           /* name of the first sink */
	struct kernel_stats
		kernel; /* of the kernel's events beside it; source NULL: none are known */
	struct stacks_stats stacks; /* likewise; hz 0: none are known */
	const struct sink *kernel_sink, *stacks_sink; /* beside whose */
	struct home home[1 + SESSION_USERS_MAX];
	unsigned home_count;
	struct drain drain;
	uint64_t sinks_made;
	struct leaving leaving[SINKS_MAX];
	unsigned leaving_count;
	struct drained_process **process; /* all that live, and the last that ended */
	unsigned process_count, process_room;
	unsigned processes_seen;	/* with those that are forgotten */
	struct session_stats earlier;	/* of those */
	char refused[REFUSED_MAX][REGION_NAME_MAX];
	const struct home *refused_in[REFUSED_MAX];
	unsigned refused_count;
	char foreign[REFUSED_MAX]
		    [REGION_NAME_MAX]; /* regions of another recorder, each reported once */
	unsigned foreign_count;
	char *left_alone; /* regions that session_left_alone() was told of; NULL: none */
	uint64_t started_ns, ended_ns;
	struct clock_snapshot *clock;
	unsigned clock_count;
	struct clock_changes clock_changes;
	uint64_t clock_period_ns;
	uint64_t scan_at, alive_at, tell_at, accounts_at, clock_at;
	uint64_t bytes; /* of event data, in sinks that are closed */
	struct timespec
		watched; /* session_live.c: changes of the directory before this time are known */
	uint64_t horizon_at;
	unsigned period_ms;
	unsigned rings,
		live; /* of all processes, and those that are not finished, as of the last round */
	unsigned alive_rounds;
	bool noticed;
	bool crowded; /* the last scan had no descriptor for a region */
	bool told_crowded;
	bool ending; /* nothing is tried again: what cannot be written now is lost */
	int spare;   /* a descriptor that the end of the session may need, or -1 */
	bool joined;			/* a process, since the last round */
	bool flush;			/* the next poll takes everything */
	bool write_failed;		/* by a sink, at least once */
};

/* ---- session_host.c ---- */

/** session_read_machine() - what the kernel and the distribution say. Context: reads files. */
void session_read_machine(struct session_machine *machine);

/** session_read_rmw() - which middleware @process, which runs, was started with. Context: reads a
 * file. */
void session_read_rmw(struct drained_process *process);

/* ---- discover.c ---- */

/** session_scan() - look for new region files, join those that belong to the session. */
void session_scan(struct session *session);

/** session_has_domain() - processes that start now are told to record. */
static inline bool session_has_domain(const struct session *session)
{
	return !session->options.frozen && !session->options.only_self;
}

/** session_names_pid() - whether the options name @process by its number. */
bool session_names_pid(const struct session *session, const struct drained_process *process);

/** session_add_process() - enter @process. Return: false without memory. */
bool session_add_process(struct session *session, struct drained_process *process);

/* ---- discover_crowd.c ---- */

/** session_crowd() - there is no descriptor for a region: it is tried again when other processes
 * have ended, which is reported once. */
void session_crowd(struct session *session);

/**
 * session_is_crowded() - whether a new process would leave too few descriptors
 *
 * Streams, directories and /proc need descriptors, too: regions leave an eighth of them. A session
 * in a program with many open files of its own takes at least one process.
 */
bool session_is_crowded(const struct session *session);

/* ---- frozen.c ---- */

/** frozen_add() - take a copy of region file @name into a session with options.frozen. */
void frozen_add(struct session *session, struct home *home, const char *name);

/**
 * frozen_if_dead() - replace the region of a dead process that kept its last events itself by a
 * copy with its rings in order
 * Return: false: that failed, and was reported.
 */
bool frozen_if_dead(struct session *session, struct drained_process *process);

/** frozen_begin() - set the start of the trace, after all copies were made. */
void frozen_begin(struct session *session);

/* ---- discover.c ---- */

/**
 * session_left_alone() - report that `kymo recover` or `kymo snapshot` passes over a region, and
 * note it for the accounts
 * @text: which one, and why; reported once
 */
void session_left_alone(struct session *session, const char *text);

/** session_refuse() - do not open a file again, and report why; @err may be NULL: no report. */
void session_refuse(struct session *session, const struct home *home, const char *name,
		    const struct kymo_err *err);

/** session_how_it_ended() - how a dead process ended, by its region. */
enum process_end session_how_it_ended(const struct drained_process *process);

/** session_check_alive() - notice processes that ended. */
void session_check_alive(struct session *session);

/** session_apply_state() - switch a process to the session's state. */
void session_apply_state(struct session *session, struct drained_process *process);

/** session_wait() - switch a process to WAIT: it records nothing from now on. */
void session_wait(struct drained_process *process);

/* ---- session_state.c ---- */

/** session_begin_state() - the state that the options ask for. */
void session_begin_state(struct session *session);

/** session_pause_ended() - the present pause ends now, if the session is paused. */
void session_pause_ended(struct session *session);

/** session_publish_counts() - write the counts of events into the regions, for `kymo status`. */
void session_publish_counts(struct session *session);

/** session_settle() - wait a moment for events in progress to end. */
void session_settle(const struct drained_process *process);

/**
 * session_give_back() - a process that keeps its last events itself does so again from now on
 *
 * Until the mode is changed, it drops events that find no room, but all were taken by then.
 */
void session_give_back(struct drained_process *process);

/** session_drain_process() - everything that is due of one process. Return: 0; -errno. */
int session_drain_process(struct session *session, struct drained_process *process);

/** session_drain_all() - everything that is due of all processes; @flush: everything that is
 * committed. */
void session_drain_all(struct session *session, bool flush);

/**
 * session_finish_process() - the last drain, the streams' ends; unlinks a dead one's region
 *
 * While no sink can take what is left of it, the process is not finished, except when the session
 * is `ending`: then that is counted as lost.
 */
void session_finish_process(struct session *session, struct drained_process *process);

/* ---- session_live.c ---- */

/** session_patience() - how long a little data may wait for more, with @rings rings; ns. */
uint64_t session_patience(const struct session *session, unsigned rings);

/** session_live_update() - find new processes, if a sink needs the horizon now. Return: whether one
 * does. */
bool session_live_update(struct session *session);

/**
 * session_give_horizon() - compute the horizon and give it to the sinks that want it
 * @ns: the clock before session_live_update() and the round of draining
 */
void session_give_horizon(struct session *session, uint64_t ns);

/* ---- session_sinks.c ---- */

/** session_begin_sinks() - those of the options. Return: 0; -1 with @err. */
int session_begin_sinks(struct session *session, struct kymo_err *err);

/** session_close_ended() - close sinks that were dismissed and have ended. */
void session_close_ended(struct session *session);

/** session_turn_sinks() - sinks that are due begin anew. */
void session_turn_sinks(struct session *session);

/** session_end_sinks() - accounts and close for all. Return: 0; -1 with @err, of the first that
 * failed. */
int session_end_sinks(struct session *session, struct kymo_err *err);

/** session_drop_sinks() - close all sinks, as if the program had been killed. */
void session_drop_sinks(struct session *session);

/** session_keep_accounts() - bring the accounts of all sinks up to date, where that can be done. */
void session_keep_accounts(struct session *session);

/* ---- session_ended.c ---- */

/**
 * session_forget_ended() - keep only the last processes that ended
 *
 * Of older ones, the sums stay, and an entry in the lists of the sinks.
 */
void session_forget_ended(struct session *session);

/** session_free_process() - of one that is finished, or of a session that is given up. */
void session_free_process(struct drained_process *process);

/** session_add_totals() - what was taken from one process. */
void session_add_totals(struct session_stats *stats, struct drained_process *process);

/* ---- session_accounts.c, session_accounts_process.c ---- */

/** session_account_process() - write the entry of one process in the accounts of a sink. */
struct json_text;
void session_account_process(struct json_text *json, const struct sink_process *at);

/** session_add_account() - add what a sink has of one process to the sums. */
void session_add_account(struct session_stats *stats, const struct sink_process *at);

/** session_write_accounts() - give @sink the accounts as they stand; @last: it is complete. Return:
 * 0; -errno. */
int session_write_accounts(const struct session *session, struct sink *sink, bool last);

#endif
