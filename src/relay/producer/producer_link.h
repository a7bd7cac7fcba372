/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two connections of a producer to a relay: control carries requests and replies, data carries
 * packets to the relay and nothing back. With datagrams only control exists. They are used from
 * when both are open until one of them ends.
 *
 *   producer_link_open() ─▶ opened() ─▶ work(), producer_link_flush() … ─▶ ended(), or producer_link_close()
 *
 * Context of all functions: the loop's thread; none blocks. Callbacks come from the loop, but for
 * ended(), which producer_link_open() calls when it fails at once.
 */
#ifndef KYMO_RELAY_PRODUCER_LINK_H
#define KYMO_RELAY_PRODUCER_LINK_H

#include <uv.h>

#include "base/err.h"
#include "relay/link/link.h"
#include "relay/producer/producer.h"
#include "relay/wire/url.h"

enum producer_end { PRODUCER_CONTROL, PRODUCER_DATA, PRODUCER_ENDS };

struct producer_link_options {
	const struct url *url;		/* outlives it, as the next two */
	struct tls_context *tls;	/* NULL: none */
	const struct token *token;
	size_t unsent_max; /* bytes that wait to be sent on each connection; 0: LINK_UNSENT_MAX */
	struct producer *producer; /* reads the replies, and has what is to be sent */
	void (*opened)(void *context);
	void (*work)(void *context); /* replies were read, or bytes were sent and there is room for
					more */
	void (*ended)(
		void *context,
		const struct kymo_err *err); /* both connections are closed; also for a bad reply */
	void *context;
};

struct producer_link {
	struct producer_link_options options;
	struct link *end[PRODUCER_ENDS];
	unsigned open;			/* bits of enum producer_end */
};

void producer_link_open(struct producer_link *link, uv_loop_t *loop,
			const struct producer_link_options *options);
bool producer_link_is_open(const struct producer_link *link);

/** producer_link_flush() - send what the producer has for @end, if there is room for all of it.
 * Return: whether it was sent. */
bool producer_link_flush(struct producer_link *link, enum producer_end end);

/** producer_link_unsent() - bytes that wait to be sent on the two connections. */
size_t producer_link_unsent(const struct producer_link *link);

/** producer_link_close() - no callback comes any more; what waits to be sent is dropped. Zeroed, or
 * closed: nothing. */
void producer_link_close(struct producer_link *link);

#endif
