/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QoS, and where messages are lost; see model.h.
 *
 * Context of all functions: wait-free.
 */
#ifndef KYMO_ANALYSIS_MODEL_LOST_H
#define KYMO_ANALYSIS_MODEL_LOST_H

#include <stdint.h>

struct model_publisher;
struct model_subscription;

/* What a publisher or subscription asked for, in the words of ROS 2. */
struct model_qos {
	const char *history, *reliability, *durability; /* "" when not in the trace */
	int64_t deadline_ns, lifespan_ns;		/* 0: none, or not in the trace */
};

/* Why a published message reached no callback. */
enum model_drop {
	MODEL_DROP_OVERWRITTEN, /* intra-process: a newer message overwrote it in the ring buffer */
	MODEL_DROP_CLEARED,     /* intra-process: the ring buffer was cleared */
	/* a subscription existed, but the trace has no take: reported once per subscription */
	MODEL_DROP_UNTAKEN,
};

/*
 * Where a message was lost that a subscription never received. What the trace does not prove is
 * UNKNOWN.
 */
enum model_lost {
	MODEL_LOST_UNKNOWN,
	MODEL_LOST_NOT_SENT,  /* the publisher's middleware never gave it to the network */
	MODEL_LOST_WIRE,      /* it was sent, and the other process never received it */
	/* Their QoS is incompatible, or the reader did not accept it. */
	MODEL_LOST_REJECTED,
	MODEL_LOST_QUEUE,     /* it was in the queue, and newer messages displaced it */
	MODEL_LOST_NOT_TAKEN, /* it was in the queue, and nothing was taken from there any more */
	MODEL_LOSTS
};

/** model_lost_name() - "unknown", "not_sent", "wire", "rejected", "queue", "not_taken". */
const char *model_lost_name(enum model_lost lost);

/**
 * model_qos_conflict() - why the middleware does not connect the two
 *
 * Return: "reliability", "durability" or "deadline"; NULL: they fit, or the trace does not say.
 */
const char *model_qos_conflict(const struct model_publisher *publisher,
			       const struct model_subscription *subscription);

#endif
