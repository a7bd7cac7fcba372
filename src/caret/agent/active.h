/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether "a tracing session is active" on this host, which CARET's rules ask: a Start without one and an End
 * with one were meant for other hosts.
 */
#ifndef KYMO_CONTROL_ACTIVE_H
#define KYMO_CONTROL_ACTIVE_H

#include <stdbool.h>

enum active_kind {
	ACTIVE_KYMO,	/* one of kymo's: kymo record --wait */
	ACTIVE_LTTNG,	/* one of LTTng's, as `lttng list` says: ros2 caret record made it */
	ACTIVE_FILE,	/* a file is there, as CARET has it for containers */
	ACTIVE_ALWAYS,	/* each Start finds one, no End does: a Start begins a recording and an End ends it */
};

struct active {
	enum active_kind kind;
	const char *file;	/* of ACTIVE_FILE; NULL: caret_lttng_session_started in $TMPDIR or /tmp */
};

/**
 * active_elsewhere() - is there an active session that is not kymo's?
 *
 * @starts: a Start asks, else an End
 *
 * Return: false for ACTIVE_KYMO. Context: blocks, for LTTng until `lttng list` has answered, five seconds at most.
 */
bool active_elsewhere(const struct active *active, bool starts);

#endif
