/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spools that other recorders left: they were killed, or ended while their relay was gone. The next recorder that sends
 * to the same relay also sends these spools, each as a session of its own.
 *
 * Context of all functions: on the session's thread.
 */
#ifndef KYMO_RELAY_SEND_LEFT_H
#define KYMO_RELAY_SEND_LEFT_H

#include "relay/send/sender.h"

#define SEND_LEFT_MAX	16		/* at the same time */

struct send_left {
	struct {
		struct spool *spool;
		struct sender *sender;
		struct sender_left note;
	} item[SEND_LEFT_MAX];
	unsigned count;
	uint64_t lost_packets, lost_events;	/* of their datagrams: lost on the way */
};

/**
 * send_left_begin() - send the spools in the directory @parent
 * @like: how to reach the relay
 *
 * Spools of living recorders and those for other relays are left alone. Return: bytes that are sent now.
 */
uint64_t send_left_begin(struct send_left *left, const char *parent, const struct sender_options *like);

/** send_left_poll() - forget the senders that are done. */
void send_left_poll(struct send_left *left);

/** send_left_leave() - before send_left_end(): give up senders without progress for @patience_ns. Does not wait. */
void send_left_leave(struct send_left *left, uint64_t patience_ns);

/** send_left_end() - wait for the remaining ones; spools that cannot be sent stay. */
void send_left_end(struct send_left *left, uint64_t patience_ns);

#endif
