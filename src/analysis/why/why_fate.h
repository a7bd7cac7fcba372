/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fate of messages, at each subscription that existed when they were published: received, or
 * lost, between which two points, and the reason as far as the trace shows it.
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

#define FATES_MAX 10000u	/* limit of reported pairs of message and subscription */

enum fate_why {
	FATE_CAME,        /* a callback began with it */
	FATE_NO_CALLBACK, /* it was received, but no known callback began with it */
	FATE_OVERWRITTEN, /* a newer message overwrote it in a ring buffer */
	FATE_CLEARED,     /* the ring buffer was cleared */
	/* Events of the process were lost in that time: it may have been received. */
	FATE_GAP,
	/* The process has no later events: the process or the recording had ended. */
	FATE_GONE,
	/* The subscription received no message of this publisher in the trace. */
	FATE_NEVER,
	/*
	 * The subscription received no message that this publisher published earlier, and its queue
	 * was not full at the next take.
	 */
	FATE_NOT_YET,
	FATE_NO_MORE, /* the subscription received no message of this publisher afterwards */
	/* The executor waited for work in that time: the message never reached the queue. */
	FATE_UNDERWAY,
	/*
	 * Before the next take, more newer messages were published than the queue holds: KEEP_LAST.
	 */
	FATE_OVERRUN,
	/* Events of the middleware prove where it was lost: as enum model_lost. */
	FATE_NOT_SENT,
	FATE_WIRE,
	FATE_REJECTED,
	FATE_QUEUE,
	FATE_NOT_TAKEN,
	FATE_UNKNOWN,
};
#define FATE_WHYS (FATE_UNKNOWN + 1)

struct fate {
	uint64_t id;			/* of the publication */
	const struct model_publisher *publisher;
	const struct model_thread *publish_thread;	/* NULL: unknown */
	const struct model_subscription *subscription;	/* NULL: no subscription existed */
	int64_t publish_ns, send_ns;	/* send_ns 0: it was not handed over to the middleware */
	enum fate_why why;
	bool is_timed;    /* the times of publisher and subscription can be compared */
	int64_t take_ns;  /* 0: it was not received */
	uint64_t next_id; /* the next received message of the same publisher; 0: none */
	int64_t next_ns;  /* the take of that message */
	/* Number of messages published on the topic until then, including that one. */
	uint64_t newer;
	/*
	 * How long the executor is known to have waited for work until then; -1: not in the trace.
	 */
	int64_t waited_ns;
	int64_t last_ns;		/* GONE: the latest event of the subscription's process */
};

struct fates;

/**
 * fates_create() - listen to @model for the messages in @id: ids of publications, copied.
 *
 * Return: 0, or -1 with @err.
 */
int fates_create(struct fates **fates, struct model *model, const uint64_t *id, unsigned ids,
		 struct kymo_err *err);

/** fates_at() - ordered by publication, then by subscription. Return: NULL after the last. */
const struct fate *fates_at(const struct fates *fates, unsigned index);

/** fate_why_name() - "came", "no_callback", "overwritten", "cleared", "gap", "gone", "never",
 * "not_yet", "no_more", "underway", "overrun", "not_sent", "wire", "rejected", "queue",
 * "not_taken", "unknown". */
const char *fate_why_name(enum fate_why why);

/* For pass_add(). */
extern const struct pass_ops fates_pass;

#endif
