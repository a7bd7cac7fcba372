/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CARET's state machine of one traced process, as a pure function: what a message or a look at kymo's
 * session does, under which condition, and what has to be done then. docs/agent.md explains it; the
 * table is in machine.c.
 *
 *                      Start, a session is active           the session records
 *          ┌──────┐ ─────────────────────────────▶ ┌─────────┐ ────────────────▶ ┌────────┐
 *   born ─▶│ WAIT │                                │ PREPARE │                   │ RECORD │◀─ born, late
 *          └──────┘ ◀───── it could not begin ──── └─────────┘ ◀──── a pause ─── └────────┘
 *             ▲                                         │                             │
 *             └── End, and no session is active any more; or it is gone: ended, died ─┘
 */
#ifndef KYMO_CONTROL_MACHINE_H
#define KYMO_CONTROL_MACHINE_H

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
	MACHINE_START,		/* a Start came */
	MACHINE_END,		/* an End came */
	MACHINE_SEEN,		/* what the session does for this process is another than at the last look */
	MACHINE_FAILED,		/* what MACHINE_BEGIN asked for did not come to be */
	MACHINE_INPUTS
};

/* What kymo's session does for this process. */
enum machine_session {
	MACHINE_NONE,		/* there is none, its recorder died, or it leaves this process out */
	MACHINE_ARMED,		/* there is one, and it waits for a Start */
	MACHINE_PAUSED,		/* somebody paused it */
	MACHINE_RECORDS,	/* and has all init data */
	MACHINE_SESSIONS
};

struct machine_condition {
	bool active;		/* a tracing session counts as active on this host */
	enum machine_session session;
};

/* Bits: what is to be done. */
#define MACHINE_TELL	1u	/* publish the state, the new one */
#define MACHINE_BEGIN	2u	/* make the session record; once for all processes */
#define MACHINE_FINISH	4u	/* end the recording that MACHINE_BEGIN began, if the agent has one of its own */

struct machine_step {
	enum machine_state next;
	unsigned actions;
};

/** machine_step() - what @input does in @state. What is none of the enums does nothing. Context: wait-free. */
struct machine_step machine_step(enum machine_state state, enum machine_input input, struct machine_condition condition);

/** machine_name() - "wait"; "?" for what is no state. */
const char *machine_name(enum machine_state state);

#endif
