/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording session: finds traced processes in a runtime directory, switches them to RECORD,
 * moves what they produce into a trace, and leaves everything as it was.
 *
 *   session_begin(&options, &session, &err)    claims the domain, creates the sinks
 *   session_poll(session)                      as often as its return value says
 *   session_end(session, &err)                 processes go to WAIT; the last drain, the accounts
 *   session_free(session)
 *
 * The program may die at any point: data that is not drained yet stays in shared memory for the
 * next session, and the trace can be read. A session has no loop, threads or signals of its own;
 * recorder/record/record.h has.
 *
 * Context of all functions: allocate and block; a session belongs to one thread, and a process
 * can have one per runtime directory.
 */
#ifndef KYMO_RECORDER_SESSION_H
#define KYMO_RECORDER_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/region.h"
#include "base/err.h"
#include "recorder/drain/drain.h"
#include "recorder/runtime/states.h"
#include "recorder/trace/sink_files.h"

struct json_object;
struct session;
struct kernel_stats;		/* kernel/kernel.h */
struct stacks_stats;            /* kernel/stacks.h */
struct drained_process;         /* recorder/drain/drained_process.h */
struct sink;			/* recorder/drain/sink.h */
struct filter;			/* recorder/filter/filter.h */
struct filter_rules;
struct ros_domains;		/* recorder/runtime/ros_domains.h */

#define SESSION_PIDS_MAX 64
#define SESSION_USERS_MAX 64

/* Another user whose processes are recorded, too. */
struct session_user {
	const char *runtime_dir;
	bool known; /* uid and gid are the owner's: the directory is created if it does not exist;
		       else it must exist */
	uid_t uid;
	gid_t gid;
};

struct session_options {
	const char *runtime_dir; /* NULL: $KYMO_DIR or the default */
	const char *output; /* trace directory; must not exist, or be empty. NULL: no directory,
			       only `sink` */
	struct sink_files files; /* how it is kept */
	const char *const *more; /* [more_count] more trace directories, kept as the first */
	unsigned more_count;
	struct session_user users[SESSION_USERS_MAX]; /* for root: record these in addition to the
							 processes in runtime_dir */
	unsigned user_count;
	enum session_streams streams;
	struct sink *sink; /* a sink, which the session owns from now on; NULL: only directories */
	const char *version;        /* of kymo: "0.1.0" */
	uint64_t tag;               /* only processes started with this KYMO_SESSION; 0: all */
	int pids[SESSION_PIDS_MAX]; /* only these; needs tag 0 */
	unsigned pid_count;
	const char *names[SESSION_PIDS_MAX];	/* and those of these names (globs); needs tag 0 */
	unsigned name_count;
	bool paused; /* begin in PREPARE: facts are recorded, runtime events only after
			STATES_RESUME */
	bool counts; /* while paused: programs count events of objects, see struct kymo_count */
	bool armed;  /* with paused: this is not a pause, but waiting for a Start, which kymo agent
			gives */
	bool only_self; /* only the calling process; does not claim the domain */
	bool only_dead; /* only what dead processes left; living ones are not changed */
	bool only_selves; /* with only_dead: of those that recorded themselves */
	/*
	 * Record from copies of the regions of processes that keep their last events without a
	 * recorder, or died while they were recorded. The domain is not claimed, and no region is
	 * changed.
	 */
	bool frozen;
	int64_t last_ns; /* with frozen: of each process this much before its last event; 0: all */
	struct filter *filter; /* what is recorded, the caller's; NULL: everything */
	/* Called with a complete sentence about something that went wrong while the session
	 * continues. */
	void (*say)(void *context, const char *text);
	void *context;
};

/**
 * session_begin() - claim the domain, create the trace, take over the running processes
 * Return: 0 and *@session; -1 with @err: another recorder is running, a directory cannot be used.
 */
int session_begin(const struct session_options *options, struct session **session,
		  struct kymo_err *err);

/**
 * session_poll() - drain what is due
 * Return: milliseconds until the next call.
 */
int session_poll(struct session *session);

/** session_flush() - the next poll drains everything that is committed, however little it is. */
void session_flush(struct session *session);

/** session_notice() - something changed in the runtime directory: the next poll reads it. */
void session_notice(struct session *session);

/**
 * session_switch() - pause or resume
 * @action: STATES_PAUSE or STATES_RESUME
 *
 * When it returns, events from before a pause are in the trace.
 * Return: STATES_GO: done; STATES_STAY: already in that state; STATES_REFUSE: another action.
 */
enum states_answer session_switch(struct session *session, enum states_action action);

/**
 * session_begin_domains() - resume, for the processes of some ROS domains
 * @these: NULL: of all
 *
 * In a session that is armed, they begin to record; in a session that records other domains, they
 * are added. A session that a user paused continues for all domains that it recorded before.
 * Return: as session_switch().
 */
enum states_answer session_begin_domains(struct session *session, const struct ros_domains *these);

/**
 * session_end_domains() - the processes of @these stop recording
 *
 * When it returns, what they recorded is in the trace.
 * Return: STATES_GO: done; STATES_STAY: none of them recorded; STATES_REFUSE: none would be left.
 */
enum states_answer session_end_domains(struct session *session, const struct ros_domains *these);

/** session_clock_offset() - CLOCK_REALTIME - CLOCK_MONOTONIC in ns, as in the metadata of its first
 * traces. */
int64_t session_clock_offset(const struct session *session);

/** session_set_kernel() - the kernel's events beside the trace of @sink, for its kymo.json. */
void session_set_kernel(struct session *session, const struct sink *sink,
			const struct kernel_stats *stats);

/** session_set_stacks() - likewise, of call stacks. */
void session_set_stacks(struct session *session, const struct sink *sink,
			const struct stacks_stats *stats);

/** session_account_kernel() - the kernel's events as kymo.json has them. @whole: of all that
 * happened, not of a piece. */
struct json_object *session_account_kernel(const struct kernel_stats *stats, bool whole);

/** session_state() - of the session, and so of its processes. */
enum kymo_state session_state(const struct session *session);

/** session_runtime_dir() - path of the runtime directory, valid as long as @session. */
const char *session_runtime_dir(const struct session *session);

/** session_output() - absolute path of the (first) trace directory, valid as long as its sink. */
const char *session_output(const struct session *session);

/**
 * session_end() - stop recording, drain everything, complete and close the sinks
 * Return: 0; -1 with @err when something of it could not be written.
 */
int session_end(struct session *session, struct kymo_err *err);

/** session_stats() - counts of all processes. Also after session_end(). */
void session_stats(const struct session *session, struct session_stats *stats);

/**
 * session_add_sink() - write into @sink too, from now on
 *
 * What is committed goes to the other sinks first. The accounts of the session and of other sinks
 * do not change.
 * Return: 0, and @sink belongs to the session; -1 with @err: it has too many.
 */
int session_add_sink(struct session *session, struct sink *sink, struct kymo_err *err);

/**
 * session_add_trace() - the same for a new trace directory
 * @files: how it is kept; NULL: one trace that grows
 *
 * Return: 0 and *@sink; -1 with @err.
 */
int session_add_trace(struct session *session, const char *path, const struct sink_files *files,
		      struct sink **sink, struct kymo_err *err);

/**
 * session_remove_sink() - complete and close @sink, and continue with the others
 * @stats: set to what it holds; may be NULL
 *
 * Return: 0; -1 with @err when something of it could not be written. @sink is closed in both cases,
 * unless it is the only one, which stays: end the session instead.
 */
int session_remove_sink(struct session *session, struct sink *sink, struct session_stats *stats,
			struct kymo_err *err);

/* Waits until a sink is closed; the first member of the waiter's own struct. */
struct sink_leave {
	/* Each is called once, on the session's thread: done() just before @sink is closed, so that
	 * it can still be read, closed() after that. */
	void (*done)(struct sink_leave *leave, const struct sink *sink);
	void (*closed)(struct sink_leave *leave);
};

/**
 * session_dismiss_sink() - as session_remove_sink(), but a sink that takes time to end, as a relay
 * does, ends while the session continues
 * @stats: set to what it holds; not NULL
 * @leave: called when it has ended: maybe within this call, at the latest by session_end() or
 * session_free()
 *
 * Return: 0; -1 with @err, and @leave is not called. @sink leaves the session in both cases, unless
 * it is the only one, or too many are ending.
 */
int session_dismiss_sink(struct session *session, struct sink *sink, struct sink_leave *leave,
			 struct session_stats *stats, struct kymo_err *err);

/**
 * session_set_rules() - record by other rules from now on
 *
 * Events committed before are judged by the old rules.
 * Return: 0; -1 with @err: the session has no filter, or out of memory.
 */
int session_set_rules(struct session *session, const struct filter_rules *rules,
		      struct kymo_err *err);

/**
 * session_set_caret() - CARET's lists for all processes, from now on; as session_set_rules()
 * @value: of each list; NULL: it is not set
 */
int session_set_caret(struct session *session, const char *const *value, struct kymo_err *err);

/** session_left_out() - how many objects of living processes are known not to be wanted. */
unsigned session_left_out(const struct session *session);

/** session_sink_stats() - counts of what is in @sink, since it was added. */
void session_sink_stats(const struct session *session, const struct sink *sink,
			struct session_stats *stats);

/* ---- what a session has: for its loop, which shows it to others ---- */

/** session_sink() - the sink at place @index, from 0; NULL: there are no more. The first is that of
 * session_output(). */
struct sink *session_sink(const struct session *session, unsigned index);

/**
 * session_leaving() - a sink that was dismissed and has not ended yet
 * @index: from 0
 * @stats: set to what it holds
 *
 * Return: NULL: there are no more.
 */
const struct sink *session_leaving(const struct session *session, unsigned index,
				   struct session_stats *stats);

/** session_take_leave() - the waiter for the end of sink @index of session_leaving() is not called
 * any more. Return: it; NULL: none. */
struct sink_leave *session_take_leave(struct session *session, unsigned index);

/**
 * session_process() - the process at place @index, from 0: those that live, and the last that ended
 * Return: NULL: there are no more. What it says holds until the next call that changes the session.
 */
const struct drained_process *session_process(const struct session *session, unsigned index);

/** session_processes_seen() - how many there ever were; process->ordinal counts them from 0. */
unsigned session_processes_seen(const struct session *session);

/** session_filter() - that of its options; NULL: everything is recorded. */
const struct filter *session_filter(const struct session *session);

/** session_end_name() - "exited", "killed", ...: how a process ended, in kymo.json. */
const char *session_end_name(const struct drained_process *process);

/** session_free() - a session that was not ended ends as if the process had died. */
void session_free(struct session *session);

#endif
