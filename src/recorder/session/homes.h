/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime directories of a session: that of its own user and, if that is root, those of other
 * users. Each has a domain page of its own, and only regions of the directory's owner are accepted
 * (region_open()).
 *
 * Context of all functions: on the session's thread; block.
 */
#ifndef KYMO_RECORDER_HOMES_H
#define KYMO_RECORDER_HOMES_H

#include <stdbool.h>
#include <time.h>

#include "recorder/runtime/domain.h"
#include "recorder/session/session.h"

struct home {
	struct rundir dir;
	struct domain domain;		/* page NULL: the session does not own the domain */
	uint32_t generation;		/* that its processes get */
	struct timespec changed;	/* mtime of the directory when it was last read */
	bool torn;                      /* its domain page was truncated once, which was reported */
};

/** homes_open() - open and claim those of the options, the session's own first. Return: 0; -1 with
 * @err. */
int homes_open(struct session *session, struct kymo_err *err);

/** homes_announce() - processes that start there from now on belong to the session, if their tag is
 * @tag or @tag is 0. */
void homes_announce(struct session *session, uint64_t tag);

/** homes_switch() - they start in another state from now on; RECORD holds for the domains in
 * session->ros. */
void homes_switch(struct session *session, enum kymo_state state);

/** homes_changed() - whether files were created or removed in one of them since the last call. */
bool homes_changed(struct session *session);

/** homes_mend() - write domain pages again that were truncated; the first time, report it. */
void homes_mend(struct session *session);

/** homes_release() - give the domains back, for other recorders. */
void homes_release(struct session *session);

/** homes_close() - after homes_release(). */
void homes_close(struct session *session);

#endif
