/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime directories of a session: its own user's, and when that is root those of other users. Each has a domain
 * page of its own, and only regions of its owner are taken from it (region_open()).
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
	struct domain domain;		/* page NULL: the session has none */
	uint32_t generation;		/* that its processes get */
	struct timespec changed;	/* its directory, as of the last look */
};

/** homes_open() - open and claim those of the options, the session's own first. Return: 0; -1 with @err. */
int homes_open(struct session *session, struct kymo_err *err);

/** homes_announce() - what comes into being there from now on belongs to the session, if its tag is @tag or that is 0. */
void homes_announce(struct session *session, uint64_t tag);

/** homes_switch() - the same in another state; in RECORD for those that session->ros has. */
void homes_switch(struct session *session, enum kymo_state state);

/** homes_changed() - did something come or go in one of them since the last call? */
bool homes_changed(struct session *session);

/** homes_release() - others may have them. */
void homes_release(struct session *session);

/** homes_close() - after homes_release(). */
void homes_close(struct session *session);

#endif
