/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spools of recorders that were killed, or that ended without their relay: the next recorder that sends to
 * the same relay sends them, too, each as a session of its own.
 *
 * Context of all functions: on the session's thread.
 */
#ifndef KYMO_RELAY_SEND_LEFT_H
#define KYMO_RELAY_SEND_LEFT_H

#include "relay/send/sender.h"

#define SEND_LEFT_MAX	16		/* at a time */

struct send_left {
	struct {
		struct spool *spool;
		struct sender *sender;
		struct sender_left note;
	} item[SEND_LEFT_MAX];
	unsigned count;
	uint64_t lost_packets, lost_events;	/* of what was sent as datagrams: on the way */
};

/**
 * send_left_begin() - look into the directory @parent
 * @like: how to reach the relay
 *
 * Those of living recorders, and those for other relays, stay as they are. Return: bytes that are sent now.
 */
uint64_t send_left_begin(struct send_left *left, const char *parent, const struct sender_options *like);

/** send_left_look() - forget those that are done. */
void send_left_look(struct send_left *left);

/** send_left_leave() - send_left_end() is to come: give up what makes no progress for @patience_ns. Does not wait. */
void send_left_leave(struct send_left *left, uint64_t patience_ns);

/** send_left_end() - wait for the others; what cannot be sent stays. */
void send_left_end(struct send_left *left, uint64_t patience_ns);

#endif
