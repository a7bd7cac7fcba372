/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the kymo session of a runtime directory record, and ends a recording that was begun here.
 * What blocks is done on a thread of the loop's pool, one step after the other.
 *
 *   steer_begin()   there is a session that waits for a Start: its recorder is asked to begin
 *                   there is none: a recorder of our own is started, waits, and is asked then
 *   steer_finish()  that recorder is asked to stop
 *
 * Context of all functions: on the loop's thread; they do not block.
 */
#ifndef KYMO_CARET_STEER_H
#define KYMO_CARET_STEER_H

#include <stdbool.h>

#include <uv.h>

#include "caret/agent/start.h"
#include "recorder/runtime/domain.h"
#include "recorder/runtime/rundir.h"

struct steer;

struct steer_options {
	uv_loop_t *loop;
	const struct rundir *dir;	/* outlives it */
	const char *output;		/* ROS_TRACE_DIR of our own recorder; NULL: unchanged */
	bool own;			/* a recorder of our own may be started */
	/* It records now; or, with @err, it failed. */
	void (*begun)(void *context, const struct kymo_err *err);
	void (*say)(void *context, const char *text);
	void *context;
};

int steer_open(struct steer **steer, const struct steer_options *options, struct kymo_err *err);

/** steer_begin() - for the processes of @ros; takes ownership of @start. Does nothing while it is
 * already beginning. */
void steer_begin(struct steer *steer, const struct domain_info *session,
		 const struct ros_domains *ros, struct start *start);

/** steer_keep() - cancel a steer_finish() for the processes of @ros that has not begun yet. */
void steer_keep(struct steer *steer, const struct ros_domains *ros);

/** steer_update() - the present state of the session; call it often while steer_is_busy(). */
void steer_update(struct steer *steer, const struct domain_info *session);

/** steer_finish() - for the processes of @ros, after the present step. */
void steer_finish(struct steer *steer, const struct ros_domains *ros);

/** steer_is_own() - whether an agent, this one or an earlier one, began @session. */
bool steer_is_own(struct steer *steer, const struct domain_info *session);

/** steer_is_busy() - a step is not finished. */
bool steer_is_busy(const struct steer *steer);

/** steer_is_beginning() - a session was asked to record, and has not answered yet; or one will be
 * asked after the present step. */
bool steer_is_beginning(const struct steer *steer);

/** steer_is_ending() - our own session was asked to stop for processes of ROS domain @ros, and
 * still exists. */
bool steer_is_ending(const struct steer *steer, uint32_t ros);

/** steer_end() - the agent ends: end our own recording. Return: whether to wait for
 * steer_is_done(). */
bool steer_end(struct steer *steer);
bool steer_is_done(const struct steer *steer);

/** steer_free() - after its loop has ended. NULL: nothing. */
void steer_free(struct steer *steer);

#endif
