/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of messages, at each subscription that was there when they were published: taken, or lost, between which two
 * points, and why as far as the trace tells.
 *
 *   publish call -> rmw_publish ............ queue of the subscription -> rmw_take -> callback
 *   publish call -> enqueue ... ring buffer of the subscription ...... -> dequeue  -> callback
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_ANALYSIS_WHY_FATE_H
#define KYMO_ANALYSIS_WHY_FATE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"

#define FATES_MAX 10000u	/* messages and subscriptions that are reported; what comes behind is not */

enum fate_why {
	FATE_CAME,		/* a callback began with it */
	FATE_NO_CALLBACK,	/* it was taken, and no callback that is known got it */
	FATE_OVERWRITTEN,	/* in a ring buffer, by a newer one */
	FATE_CLEARED,		/* the ring buffer was cleared */
	FATE_GAP,		/* events of the process were lost meanwhile: it may have come */
	FATE_GONE,		/* the process has no later events: it had ended, or the recording did */
	FATE_NEVER,		/* the subscription took none of this publisher's in the trace */
	FATE_NOT_YET,		/* the subscription had taken none of this publisher's before */
	FATE_NO_MORE,		/* the subscription took none of this publisher's afterwards */
	FATE_UNDERWAY,		/* the executor waited for work meanwhile: it never came to the queue */
	FATE_OVERRUN,		/* more newer ones were published than the queue holds, before the next take: KEEP_LAST */
	FATE_UNKNOWN,
};
#define FATE_WHYS (FATE_UNKNOWN + 1)

struct fate {
	uint64_t id;			/* of the publication */
	const struct model_publisher *publisher;
	const struct model_thread *publish_thread;	/* NULL: not known */
	const struct model_subscription *subscription;	/* NULL: there was none */
	int64_t publish_ns, send_ns;	/* send_ns 0: it was not handed over */
	enum fate_why why;
	bool is_timed;			/* its times there compare with those of the publisher */
	int64_t take_ns;		/* 0: it was not taken */
	uint64_t next_id;		/* the next one of the same publisher that was taken; 0: none */
	int64_t next_ns;		/* its take */
	uint64_t newer;			/* published on the topic until then, with that one */
	int64_t waited_ns;		/* of the time until then that its executor is known to have waited for work; -1: not in the trace */
	int64_t last_ns;		/* GONE: the latest event of the subscription's process */
};

struct fates;

/** fates_create() - listen to @model for these messages. @id: of publications, copied. Return: 0, or -1 with @err. */
int fates_create(struct fates **fates, struct model *model, const uint64_t *id, unsigned ids, struct kymo_err *err);

/** fates_at() - in order of publication, then of the subscriptions. Return: NULL behind the last. */
const struct fate *fates_at(const struct fates *fates, unsigned index);

/** fate_why_name() - "came", "no_callback", "overwritten", "cleared", "gap", "gone", "never", "not_yet", "no_more", "underway",
 * "overrun", "unknown". */
const char *fate_why_name(enum fate_why why);

/* For pass_add(). */
extern const struct pass_ops fates_pass;

#endif
