/* SPDX-License-Identifier: Apache-2.0 */
/* CARET's state machine as a table. See machine.h. */
#include "caret/agent/machine.h"
#include "base/array.h"

#include <stddef.h>

#define SAME		MACHINE_STATES		/* as a next state */

#define UNINITIALIZED	(1u << MACHINE_UNINITIALIZED)
#define WAIT		(1u << MACHINE_WAIT)
#define PREPARE		(1u << MACHINE_PREPARE)
#define RECORD		(1u << MACHINE_RECORD)
#define MADE		(WAIT | PREPARE | RECORD)

#define NONE		(1u << MACHINE_NONE)
#define ARMED		(1u << MACHINE_ARMED)
#define PAUSED		(1u << MACHINE_PAUSED)
#define RECORDS		(1u << MACHINE_RECORDS)
#define ANY		(NONE | ARMED | PAUSED | RECORDS)

#define INACTIVE	1u
#define ACTIVE		2u
#define EITHER		(INACTIVE | ACTIVE)

/* The first row that matches counts; if none does, nothing happens. */
static const struct {
	unsigned in;
	enum machine_input input;
	unsigned active, session;
	enum machine_state next;
	unsigned actions;
} table[] = {
	/* A late process joins a recording. But a session that waits for a Start does not begin for
	 * a new process. */
	{ UNINITIALIZED,    MACHINE_BORN,   EITHER,   RECORDS,      MACHINE_RECORD,  MACHINE_PUBLISH },
	{ UNINITIALIZED,    MACHINE_BORN,   EITHER,   PAUSED,       MACHINE_PREPARE, MACHINE_PUBLISH },
	{ UNINITIALIZED,    MACHINE_BORN,   EITHER,   NONE | ARMED, MACHINE_WAIT,    MACHINE_PUBLISH },

	/* A Start without effect is answered, too, with the present state. */
	{ WAIT,             MACHINE_START,  ACTIVE,   NONE | ARMED, MACHINE_PREPARE, MACHINE_PUBLISH | MACHINE_BEGIN },
	{ MADE,             MACHINE_START,  EITHER,   ANY,          SAME,            MACHINE_PUBLISH },

	/* So is an End while a session is active: it is meant for other hosts. */
	{ MADE,             MACHINE_END,    ACTIVE,   ANY,          SAME,            MACHINE_PUBLISH },
	{ WAIT,             MACHINE_END,    INACTIVE, ANY,          MACHINE_WAIT,    MACHINE_PUBLISH },
	{ PREPARE | RECORD, MACHINE_END,    INACTIVE, ANY,          MACHINE_WAIT,    MACHINE_PUBLISH | MACHINE_FINISH },

	/* The session decides: without one that records, no process stays in RECORD. */
	{ PREPARE | RECORD, MACHINE_SEEN,   EITHER,   NONE | ARMED, MACHINE_WAIT,    MACHINE_PUBLISH },
	{ WAIT | RECORD,    MACHINE_SEEN,   EITHER,   PAUSED,       MACHINE_PREPARE, MACHINE_PUBLISH },
	{ WAIT | PREPARE,   MACHINE_SEEN,   EITHER,   RECORDS,      MACHINE_RECORD,  MACHINE_PUBLISH },

	{ PREPARE,          MACHINE_FAILED, EITHER,   NONE | ARMED, MACHINE_WAIT,    MACHINE_PUBLISH },
};

struct machine_step machine_step(enum machine_state state, enum machine_input input,
				 struct machine_condition condition)
{
	struct machine_step step = { state, 0 };

	if ((unsigned)state >= MACHINE_STATES || (unsigned)condition.session >= MACHINE_SESSIONS)
		return step;
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		if (table[i].input != input || !(table[i].in & 1u << state) ||
		    !(table[i].active & (condition.active ? ACTIVE : INACTIVE)) ||
		    !(table[i].session & 1u << condition.session))
			continue;
		step.next = table[i].next == SAME ? state : table[i].next;
		step.actions = table[i].actions;
		break;
	}
	return step;
}

const char *machine_name(enum machine_state state)
{
	static const char *const name[MACHINE_STATES] = { "uninitialized", "wait", "prepare", "record" };

	return (unsigned)state < MACHINE_STATES ? name[state] : "?";
}
