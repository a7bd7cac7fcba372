/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CARET's state machine of a traced process, as a pure function: what a message, or a change of
 * kymo's session, does under which condition, and which actions follow. docs/network/agent.md
 * explains it; the table is in machine.c.
 *
 *                      Start, a session is active           the session records
 *          ┌──────┐ ─────────────────────────────▶ ┌─────────┐ ────────────────▶ ┌────────┐
 *   born ─▶│ WAIT │                                │ PREPARE │                   │ RECORD │◀─ born, late
 *          └──────┘ ◀───── it could not begin ──── └─────────┘ ◀──── a pause ─── └────────┘
 *             ▲                                         │                             │
 *             └── End, and no session is active any more; or it is gone: ended, died ─┘
 */
#ifndef KYMO_CARET_MACHINE_H
#define KYMO_CARET_MACHINE_H

#include <stdbool.h>

/* As on the wire: caret_msgs/Status. */
enum machine_state {
	MACHINE_UNINITIALIZED,
	MACHINE_WAIT,
	MACHINE_PREPARE,
	MACHINE_RECORD,
	MACHINE_STATES
};

enum machine_input {
	MACHINE_BORN,		/* the process was found */
	MACHINE_START,		/* a Start arrived */
	MACHINE_END,		/* an End arrived */
	MACHINE_SEEN,		/* what the session does for this process has changed */
	MACHINE_FAILED,		/* the recording that MACHINE_BEGIN asked for did not begin */
	MACHINE_INPUTS
};

/* What kymo's session does for this process. */
enum machine_session {
	MACHINE_NONE,    /* there is no session, its recorder died, or it leaves this process out */
	MACHINE_ARMED,   /* it waits for a Start */
	MACHINE_PAUSED,  /* a user paused it */
	MACHINE_RECORDS, /* it records, and has all init data */
	MACHINE_SESSIONS
};

struct machine_condition {
	bool active;		/* a tracing session counts as active on this host */
	enum machine_session session;
};

/* Actions, as bits. */
#define MACHINE_PUBLISH	1u	/* publish the new state */
#define MACHINE_BEGIN	2u	/* make the session record; once for all processes */
/* end the recording that MACHINE_BEGIN began, if it is the agent's own */
#define MACHINE_FINISH	4u

struct machine_step {
	enum machine_state next;
	unsigned actions;
};

/** machine_step() - the next state and actions. An input that is not in the enums does nothing.
 * Context: wait-free. */
struct machine_step machine_step(enum machine_state state, enum machine_input input,
				 struct machine_condition condition);

/** machine_name() - such as "wait"; "?" for an invalid state. */
const char *machine_name(enum machine_state state);

#endif
