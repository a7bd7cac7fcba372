/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes kymo's session of a runtime directory record, and ends a recording that was begun here. What has
 * to wait does so on a thread of the loop's pool, one thing after the other.
 *
 *   steer_begin()   a session is there and armed: its recorder is asked to go on
 *                   none is there: a recorder of our own is started, armed, and then asked
 *   steer_finish()  that recorder is asked to stop
 *
 * Context of all functions: on the loop's thread; they do not block.
 */
#ifndef KYMO_CONTROL_STEER_H
#define KYMO_CONTROL_STEER_H

#include <stdbool.h>

#include <uv.h>

#include "caret/agent/start.h"
#include "recorder/runtime/domain.h"
#include "recorder/runtime/rundir.h"

struct steer;

struct steer_options {
	uv_loop_t *loop;
	const struct rundir *dir;	/* stays */
	const char *output;		/* ROS_TRACE_DIR of a recorder of our own; NULL: as it is */
	bool own;			/* one may be started */
	/* It records now; or it does not, and @err says why. */
	void (*begun)(void *context, const struct kymo_err *err);
	void (*say)(void *context, const char *text);
	void *context;
};

int steer_open(struct steer **steer, const struct steer_options *options, struct kymo_err *err);

/** steer_begin() - for the processes of @ros; @start is taken over. While it is being done already, nothing happens. */
void steer_begin(struct steer *steer, const struct domain_info *session, const struct ros_domains *ros, struct start *start);

/** steer_keep() - what steer_finish() has not begun to do for processes of @ros is not done. */
void steer_keep(struct steer *steer, const struct ros_domains *ros);

/** steer_look() - the session as it is seen now; call it often while steer_is_busy(). */
void steer_look(struct steer *steer, const struct domain_info *session);

/** steer_finish() - for the processes of @ros, as soon as what is being done is done. */
void steer_finish(struct steer *steer, const struct ros_domains *ros);

/** steer_is_own() - whether an agent, this one or one before it, began @session. */
bool steer_is_own(struct steer *steer, const struct domain_info *session);

/** steer_is_busy() - something was asked for that has not come to be. */
bool steer_is_busy(const struct steer *steer);

/** steer_is_beginning() - a session was asked to record, and has not answered yet. */
bool steer_is_beginning(const struct steer *steer);

/** steer_is_ending() - a session of our own was asked to stop, for processes of ROS domain number @ros, and is there still. */
bool steer_is_ending(const struct steer *steer, uint32_t ros);

/** steer_end() - end a recording of our own, since we end. Return: whether steer_is_done() has to be waited for. */
bool steer_end(struct steer *steer);
bool steer_is_done(const struct steer *steer);

/** steer_free() - behind its loop. NULL is fine. */
void steer_free(struct steer *steer);

#endif
