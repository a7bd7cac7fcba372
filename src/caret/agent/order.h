/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of Starts and Ends. They are two topics, so DDS keeps no order between them: a Start
 * that was lost and sent again arrives after the End that followed it, and would begin a recording
 * that nobody ends. The sender's clock has the order. Messages of two senders cannot be compared:
 * their clocks differ.
 *
 * Context of all functions: wait-free.
 */
#ifndef KYMO_CARET_ORDER_H
#define KYMO_CARET_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define ORDER_KEY 16     /* bytes of a DDS participant's key */
#define ORDER_SENDERS 32 /* who sent last; others are forgotten */
#define ORDER_LATE_NS \
	10000000000 /* no message is later than this: the sender's clock was set back */

/* When and by whom a message was sent. */
struct order_sent {
	int64_t ns;                /* on the sender's CLOCK_REALTIME */
	uint8_t sender[ORDER_KEY]; /* zeros: not known */
};

/* Zeroed: nobody has sent anything. */
struct order {
	struct order_sender {
		uint8_t key[ORDER_KEY];
		int64_t start_ns, end_ns; /* of the last that counted; 0: none did */
		uint64_t turn;
	} sender[ORDER_SENDERS];
	uint64_t turns;
};

/** order_start() - a Start arrived. Return: whether it counts: no End that its sender sent later
 * did. */
bool order_start(struct order *order, const struct order_sent *sent);

/** order_end() - an End arrived. Return: whether it counts: no Start that its sender sent later
 * did. */
bool order_end(struct order *order, const struct order_sent *sent);

#endif
