/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the messages from one host to another. The clocks of the hosts are not comparable yet,
 * so the reader may return the take of a message before its publication. The event that comes first
 * waits for the other one in a map.
 *
 * A message counts as sent when rcl was called, which is before the middleware has the message,
 * regardless of when the middleware records its write. It counts as received at the end of the
 * take.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/align/align_internal.h"

/* A power of two; as many messages as a busy robot sends in some seconds. */
#define PENDING_MAX (1u << 18)
#define AMBIGUOUS UINT32_MAX

struct pending {
	uint64_t source_ns, scope;
	int64_t ns;
	uint32_t host;
	bool is_take, used;
};

static struct map *map_of(struct messages *messages, const struct pending *pending)
{
	return pending->is_take ? &messages->taken : &messages->sent;
}

static void keep(struct messages *messages, const struct pending *what)
{
	struct pending *place = &messages->pending[messages->pendings++ % PENDING_MAX];

	if (place->used &&
	    map_get(map_of(messages, place), place->source_ns, place->scope) == place)
		map_del(map_of(messages, place), place->source_ns, place->scope);
	*place = *what;
	place->used = true;
	if (map_put(map_of(messages, place), place->source_ns, place->scope, place))
		messages->failed = true;
}

/* @sent_ns and @taken_ns are each by the clock of their own host. */
static void add(struct messages *messages, uint32_t from, uint32_t to, int64_t sent_ns,
		int64_t taken_ns)
{
	if (bounds_add(&messages->bounds[from * messages->hosts + to], sent_ns, taken_ns - sent_ns))
		messages->failed = true;
}

static uint64_t scope_of(const struct model_topic *topic, uint32_t host)
{
	return (uint64_t)topic->index << 8 | host;
}

static void on_published(void *context, const struct model_message *message)
{
	struct messages *messages = context;
	struct pending *taken, *other;
	uint64_t source_ns = (uint64_t)message->source_ns;
	uint32_t host;
	int64_t ns;

	if (!source_ns || message->is_intra || !message->publish_thread || !message->topic)
		return;
	host = message->publish_thread->process->host;
	if (host >= messages->hosts)
		return;
	ns = message->rcl_ns ? message->rcl_ns : message->publish_ns;
	other = map_get(&messages->sent, source_ns, scope_of(message->topic, 0));
	/* Two messages have the same timestamp: it is unknown which of them was received. */
	if (other) {
		other->host = AMBIGUOUS;
		return;
	}
	for (uint32_t to = 0; messages->taken.count && to < messages->hosts; to++) {
		taken = map_del(&messages->taken, source_ns, scope_of(message->topic, to));
		if (taken && to != host)
			add(messages, host, to, ns, taken->ns);
	}
	keep(messages, &(struct pending){ .source_ns = source_ns,
					  .scope = scope_of(message->topic, 0),
					  .ns = ns,
					  .host = host });
}

static void on_taken(void *context, const struct model_message *message)
{
	struct messages *messages = context;
	uint64_t source_ns = (uint64_t)message->source_ns, scope;
	struct pending *sent;
	uint32_t host;

	if (!source_ns || message->is_intra || !message->take_thread || !message->topic ||
	    !message->take_ns)
		return;
	host = message->take_thread->process->host;
	if (host >= messages->hosts)
		return;
	sent = map_get(&messages->sent, source_ns, scope_of(message->topic, 0));
	if (sent) {
		if (sent->host != AMBIGUOUS && sent->host != host)
			add(messages, sent->host, host, sent->ns, message->take_ns);
		return;
	}
	scope = scope_of(message->topic, host);
	if (!map_get(&messages->taken, source_ns, scope))
		keep(messages, &(struct pending){ .source_ns = source_ns,
						  .scope = scope,
						  .ns = message->take_ns,
						  .host = host,
						  .is_take = true });
}

const struct model_listener messages_listener = { .published = on_published, .taken = on_taken };

int messages_init(struct messages *messages, unsigned hosts)
{
	*messages = (struct messages){ .hosts = hosts < HOSTS_MAX ? hosts : HOSTS_MAX };
	messages->bounds =
		calloc((size_t)messages->hosts * messages->hosts, sizeof(*messages->bounds));
	messages->pending = calloc(PENDING_MAX, sizeof(*messages->pending));
	return messages->bounds && messages->pending ? 0 : -ENOMEM;
}

void messages_free(struct messages *messages)
{
	for (unsigned i = 0; messages->bounds && i < messages->hosts * messages->hosts; i++)
		bounds_free(&messages->bounds[i]);
	free(messages->bounds);
	free(messages->pending);
	map_free(&messages->sent);
	map_free(&messages->taken);
}
