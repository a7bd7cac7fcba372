/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a tracing session is active on this host. CARET's rules need that: a Start without an active session, and an End
 * with one, are meant for other hosts.
 */
#ifndef KYMO_CARET_ACTIVE_H
#define KYMO_CARET_ACTIVE_H

#include <stdbool.h>

enum active_kind {
	ACTIVE_KYMO,	/* a session of kymo's: kymo record --wait */
	ACTIVE_LTTNG,	/* a session of LTTng's, as `lttng list` reports: ros2 caret record created it */
	ACTIVE_FILE,	/* a file exists, as CARET does for containers */
	ACTIVE_ALWAYS,	/* for each Start, and for no End: a Start begins a recording, an End ends it */
};

struct active {
	enum active_kind kind;
	const char *file;	/* of ACTIVE_FILE; NULL: caret_lttng_session_started in $TMPDIR or /tmp */
};

/**
 * active_elsewhere() - whether there is an active session that is not kymo's
 *
 * @starts: for a Start; else for an End
 *
 * Return: false for ACTIVE_KYMO. Context: blocks: for LTTng until `lttng list` has answered, five seconds at most.
 */
bool active_elsewhere(const struct active *active, bool starts);

#endif
