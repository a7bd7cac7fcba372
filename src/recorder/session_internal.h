/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a session share. Not for others. */
#ifndef KYMO_RECORDER_SESSION_INTERNAL_H
#define KYMO_RECORDER_SESSION_INTERNAL_H

#include <sys/stat.h>
#include <time.h>

#include "recorder/domain.h"
#include "recorder/process.h"
#include "recorder/session.h"

#define REFUSED_MAX 256		/* region files; of more, only the number is kept */
#define CLOCKS_MAX 4096		/* snapshots: 11 hours at 10 s, then sparser */

/* All clocks at one moment, ns; counter: the CPU's, ticks. */
struct clock_snapshot {
	uint64_t monotonic, realtime, boottime, tai, counter;
};

struct session {
	struct session_options options;
	char *output;			/* absolute */
	struct rundir dir;
	struct domain domain;
	uint64_t domain_tag;		/* as announced */
	struct drain drain;
	struct ctf_trace_desc desc;	/* of all its traces but for the name */
	char boot_id[64], hostname[65];
	struct process **process;
	unsigned process_count;
	char refused[REFUSED_MAX][REGION_NAME_MAX];
	unsigned refused_count;
	uint64_t started_ns, ended_ns;
	int64_t started_realtime_ns;
	struct clock_snapshot *clock;
	unsigned clock_count;
	uint64_t clock_period_ns;
	struct timespec dir_mtime;
	uint64_t scan_at, alive_at, accounts_at, clock_at, retry_at;
	uint64_t bytes;			/* of stream files, once the writer is closed */
	unsigned period_ms;
	unsigned alive_rounds;
	bool noticed;
	bool writing_fails;		/* at the moment */
	bool write_failed;		/* at least once */
	bool ended;
	char write_error[256];
};

/* ---- discover.c ---- */

/** session_scan() - look for new region files, join those that belong to the session. */
void session_scan(struct session *session);

/** session_add_process() - enter @process. Return: false without memory. */
bool session_add_process(struct session *session, struct process *process);

/* ---- frozen.c ---- */

/** frozen_meet() - take a copy of region file @name into a session that only looks. */
void frozen_meet(struct session *session, const char *name);

/**
 * frozen_if_dead() - the rings of a dead process that overwrote them are put in order, in a copy
 * Return: false: that cannot be done, and was told.
 */
bool frozen_if_dead(struct session *session, struct process *process);

/** frozen_begin() - when the trace begins, now that all copies are there. */
void frozen_begin(struct session *session);

/* ---- discover.c ---- */

/** session_refuse() - a file that is not to be opened again, and why; @err may be NULL. */
void session_refuse(struct session *session, const char *name, const struct err *err);

/** session_how_it_ended() - from what a process that is no more left in its region. */
enum process_end session_how_it_ended(const struct process *process);

/** session_check_alive() - notice processes that ended. */
void session_check_alive(struct session *session);

/** session_wait() - switch a process off: what it produces from now on is not kept. */
void session_wait(struct process *process);

/** session_settle() - give events that are in progress a moment to end. */
void session_settle(const struct process *process);

/** session_drain_process() - everything that is due of one process. Return: 0; -errno. */
int session_drain_process(struct session *session, struct process *process);

/** session_finish_process() - the last drain, the streams' ends; unlinks a dead one's region. */
void session_finish_process(struct session *session, struct process *process);

/** session_write_error() - keep account of a failing (@rc < 0) or working (0) trace disk. */
void session_write_error(struct session *session, int rc);

/* ---- accounts.c ---- */

/** session_snapshot_clocks() - append a snapshot of all clocks. */
void session_snapshot_clocks(struct session *session);

/** session_write_accounts() - replace kymo.json. Return: 0; -errno. */
int session_write_accounts(struct session *session);

/** session_now() - CLOCK_MONOTONIC, ns. */
uint64_t session_now(void);

#endif
