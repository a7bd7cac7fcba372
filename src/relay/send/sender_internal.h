/* SPDX-License-Identifier: Apache-2.0 */
/* What the two threads of a sender share: the one that sends, and the one that fills the spool. Not for others. */
#ifndef KYMO_RELAY_SENDER_INTERNAL_H
#define KYMO_RELAY_SENDER_INTERNAL_H

#include <pthread.h>
#include <uv.h>

#include "relay/producer/producer_link.h"
#include "relay/send/send_datagrams.h"
#include "relay/send/sender.h"

#define SENDER_BACKOFF_LEAST_MS 100u
#define SENDER_NEWS_MAX	512

struct sender {
	struct sender_options options;
	struct spool *spool;
	pthread_t thread;
	uv_loop_t loop;
	uv_async_t wake;
	uv_timer_t tick, retry, pace;
	/* The sending thread's: */
	struct send send;
	struct producer_link link;
	struct datagrams datagrams;	/* in place of the data connection */
	unsigned backoff_ms;
	bool told_lost;
	/* Shared, under the lock: */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended, finish, give_up;
	uint64_t patience_ns, limit;	/* finish: when progress is checked next */
	uint64_t waited;		/* bytes that waited at the last check */
	uint64_t horizon_ns;
	struct send_place horizon;
	struct sender_stats stats;
	char news[SENDER_NEWS_MAX];
};

/** sender_note() - write into the spool which relay and session it is for, in case we are killed. */
void sender_note(struct sender *sender);

/** sender_main() - the thread: connects and sends, until all is stored or given up. */
void *sender_main(void *context);

/** sender_on_wake() - callback of sender.wake. */
void sender_on_wake(uv_async_t *async);

#endif
