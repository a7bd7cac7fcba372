/* SPDX-License-Identifier: Apache-2.0 */
/* A target of push.c, what is sent to it (push_send.c), and how (push_post.c). */
#ifndef KYMO_FLEET_PUSH_INTERNAL_H
#define KYMO_FLEET_PUSH_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "fleet/push/post.h"
#include "fleet/push/push.h"

#define PUSH_SECRET_MAX 1024u
#define PUSH_HEADERS_MAX 8u /* of OTEL_EXPORTER_OTLP_HEADERS */

enum push_result { PUSH_SENT, PUSH_AGAIN, PUSH_REFUSED };

struct push_target {
	bool is_otlp;
	const char *name;
	const struct config *config;
	const char *version;
	const struct push_options *to; /* for say() */
	const char *key;              /* of kymo.yaml, which an error is about */
	char url[2048];		      /* without what depends on the request */
	char packed_url[2048];	      /* of ClickHouse */
	char incidents_url[2048];     /* of ClickHouse */
	char secret[PUSH_SECRET_MAX]; /* header with a token or password; "": none */
	char *header[PUSH_HEADERS_MAX];
	unsigned headers;
	bool json, cumulative;
	/* ClickHouse: until it answers that it does not know kymo_windows_in, or zstd. */
	bool packed, zstd;
	struct summary *total; /* cumulative: what was sent so far */
	int64_t total_ns;      /* since */
	struct post_options options;
	struct post *post;
	struct backlog *spool;
	pthread_t thread;
	bool started;
	atomic_bool stop;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct push_counts counts;
};

/* What the configuration and the environment say. Return: 1: this target is used; 0: not; -1 with
 * @err. */
int push_target_configure(struct push_target *target, struct kymo_err *err);
void push_target_free(struct push_target *target);

#define PUSH_ITEMS_MAX 64u

/*
 * Send the oldest that wait: @item and its @count, which may become less. ClickHouse gets all of
 * them in one request, others the first. @why: set to a sentence unless they were sent.
 */
enum push_result push_send(struct push_target *target, struct backlog_item *item, unsigned *count,
			   char *why, size_t size);

/* Send the rows of incidents that ClickHouse lacks. Return: false, with @why: later again. */
bool push_incidents(struct push_target *target, char *why, size_t size);

/* POST a body. @key: of idempotency. @why: set to a sentence unless it was sent. */
enum push_result push_post(struct push_target *target, const char *url, const char *type,
			   const char *key, const void *data, size_t length, char *why,
			   size_t size);

#endif
