/* SPDX-License-Identifier: Apache-2.0 */
/* What the two threads of a sender share: the one that sends, and the one that fills the spool. Not
 * for others. */
#ifndef KYMO_RELAY_SENDER_INTERNAL_H
#define KYMO_RELAY_SENDER_INTERNAL_H

#include <pthread.h>
#include <sys/socket.h>
#include <uv.h>

#include "relay/producer/producer_link.h"
#include "relay/send/sender.h"

/*
 * The socket that sends a sender's datagrams. It never waits. It is paced, because datagrams that
 * find the relay's socket full are lost.
 *
 * Context of all functions: one thread; none blocks.
 */
#define DATAGRAMS_EACH \
	1024u /* what a datagram costs in addition: about what the kernel stores beside it */
#define DATAGRAMS_RATE ((uint64_t)32 << 20) /* bytes a second, including that */
#define DATAGRAMS_BURST \
	((uint64_t)64 << 10) /* bytes at once: a third of what a Linux socket stores by default */

struct datagrams {
	int fd;            /* -1: closed */
	uint64_t room;     /* bytes that may be sent now */
	uint64_t since_ns; /* when room was computed */
};

/**
 * datagrams_open() - to port @port of the relay's machine
 * @relay: its address, IPv4 or IPv6, with any port
 *
 * Return: 0; -1 with @err.
 */
int datagrams_open(struct datagrams *datagrams, const struct sockaddr_storage *relay, uint16_t port,
		   struct kymo_err *err);

/**
 * datagrams_send() - send as many as the pace allows, and remove them from @queue: u32 size,
 * datagram, u32 size, ...
 * @now_ns: CLOCK_MONOTONIC
 *
 * A datagram that the kernel refuses for good (no route, too large) is lost.
 * Return: whether some were sent.
 */
bool datagrams_send(struct datagrams *datagrams, struct wire_out *queue, uint64_t now_ns);

/** datagrams_close() - does nothing if it is closed. */
void datagrams_close(struct datagrams *datagrams);

/* ---- the sender ---- */

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

/** sender_note() - write into the spool which relay and session it is for, in case we are
 * killed. */
void sender_note(struct sender *sender);

/** sender_main() - the thread: connects and sends, until all is stored or given up. */
void *sender_main(void *context);

/** sender_on_wake() - callback of sender.wake. */
void sender_on_wake(uv_async_t *async);

#endif
