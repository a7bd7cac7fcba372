/* SPDX-License-Identifier: Apache-2.0 */
/* The session's side of a program's own sink: copies what it gets into a queue, and never waits. */
#include "recorder/own/own_sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/thread.h"
#include "recorder/drain/drained_process.h"
#include "recorder/own/own_internal.h"

#define BUFFER (4u << 20)

/* ---- the queue ---- */

static struct own_item *item_new(enum own_what what, struct own_process *process, size_t bytes)
{
	struct own_item *item = calloc(1, sizeof *item + bytes);

	if (!item)
		return NULL;
	item->what = what;
	item->process = process;
	item->packet.pid = process->pid;
	item->packet.process = process->name;
	item->packet.process_data = process;
	item->packet.thread = item->thread;
	item->packet.bytes = item->bytes;
	item->packet.size = bytes;
	return item;
}

/* Return: 0; -EAGAIN: too much waits already. A number of lost events always finds room. */
static int enqueue(struct kymo_sink *own, struct own_item *item)
{
	const size_t size = item->packet.size;
	int rc = 0;

	(void)pthread_mutex_lock(&own->lock);
	if (size && own->waiting && own->waiting + size > own->options.buffer) {
		rc = -EAGAIN;
	} else {
		own->waiting += size;
		*own->last = item;
		own->last = &item->next;
		(void)pthread_cond_signal(&own->wake);
	}
	(void)pthread_mutex_unlock(&own->lock);
	if (rc)
		free(item);
	return rc;
}

/* ---- the functions of a sink ---- */

static int own_join(struct sink *sink, struct sink_process *at)
{
	struct own_process *process = calloc(1, sizeof *process);
	struct own_item *item;

	if (!process)
		return -ENOMEM;
	process->pid = (int)at->process->region.pid;
	(void)snprintf(process->name, sizeof process->name, "%s", at->process->region.procname);
	item = item_new(OWN_JOIN, process, 0);
	if (!item) {
		free(process);
		return -ENOMEM;
	}
	at->data = process;
	return enqueue((struct kymo_sink *)sink, item);
}

static int own_declare(struct sink *sink, struct sink_process *at, enum ctf_class class,
		       unsigned id)
{
	const struct kymo_point *point = classes_get(&at->process->classes, id);
	struct own_item *item;

	if (id < KYMO_POINTS_TABLE || id >= KYMO_POINTS_MAX || !point)
		return 0;
	item = item_new(OWN_CLASS, at->data, 0);
	if (!item)
		return -ENOMEM;
	item->class = own_class_of(point, id, item->packet.pid);
	if (!item->class) {
		free(item);
		return -ENOMEM;
	}
	item->class->is.is_fact = class == CTF_CLASS_INIT;
	return enqueue((struct kymo_sink *)sink, item);
}

/* Of each fact: its thread, then a record as in a ring, with the time when it happened. */
static void copy_facts(struct own_item *item, const struct sink_facts *facts)
{
	uint8_t *to = item->bytes;

	for (uint32_t i = 0; i < facts->count; i++) {
		const uint32_t end =
			i + 1 < facts->count ? facts->at[i + 1] : (uint32_t)facts->size;
		const uint8_t *payload = facts->bytes + facts->at[i] + sizeof(struct sink_fact);
		const size_t size = (size_t)(facts->bytes + end - payload);
		struct sink_fact fact;

		memcpy(&fact, facts->bytes + facts->at[i], sizeof fact);
		memcpy(to, &fact.vtid, 4);
		memcpy(to + 4, &fact.id, 2);
		memcpy(to + 6, &fact.init_timestamp, 8);
		memcpy(to + 14, payload, size);
		to += 14 + size;
	}
}

static int own_facts(struct sink *sink, struct sink_process *at, const struct sink_facts *facts)
{
	struct own_process *process = at->data;
	struct own_item *item = item_new(
		OWN_PACKET, process, facts->size - facts->count * (sizeof(struct sink_fact) - 14));
	int rc;

	if (!item)
		return -ENOMEM;
	copy_facts(item, facts);
	item->packet.is_facts = 1;
	item->packet.count = facts->count;
	item->packet.begin_ns = facts->begin;
	item->packet.end_ns = facts->end;
	item->packet.lost = facts->discarded - process->facts_discarded;
	rc = enqueue((struct kymo_sink *)sink, item);
	if (!rc)
		process->facts_discarded = facts->discarded;
	return rc;
}

static int own_packet(struct sink *sink, struct sink_process *at, const struct sink_packet *packet)
{
	struct own_process *process = at->data;
	struct own_item *item;
	int rc;

	if (!ARRAY_AT(process->discarded, process->ring_count, packet->ring))
		return -ENOMEM;
	item = item_new(OWN_PACKET, process, packet->size);
	if (!item)
		return -ENOMEM;
	if (packet->size)
		memcpy(item->bytes, packet->bytes, packet->size);
	if (packet->account) {
		item->packet.tid = packet->account->tid;
		(void)snprintf(item->thread, sizeof item->thread, "%s", packet->account->name);
	}
	item->packet.count = packet->records;
	item->packet.begin_ns = packet->begin;
	item->packet.end_ns = packet->end;
	item->packet.lost = packet->discarded - process->discarded[packet->ring];
	rc = enqueue((struct kymo_sink *)sink, item);
	if (!rc)
		process->discarded[packet->ring] = packet->discarded;
	return rc;
}

static void own_close(struct sink *sink)
{
	own_sink_refused((struct kymo_sink *)sink);
}

static const struct sink_ops own_ops = {
	.kind = "own",
	.join = own_join,
	.declare = own_declare,
	.facts = own_facts,
	.packet = own_packet,
	.close = own_close,
};

/* ---- its life ---- */

struct kymo_sink *kymo_sink_create(const struct kymo_sink_options *options)
{
	pthread_condattr_t monotonic;
	struct kymo_sink *own;

	if (!options || options->size != sizeof *options || !options->name || !*options->name ||
	    !options->packet)
		return NULL;
	own = calloc(1, sizeof *own);
	if (!own)
		return NULL;
	own->options = *options;
	own->name = strdup(options->name);
	if (!own->name) {
		free(own);
		return NULL;
	}
	if (!own->options.buffer)
		own->options.buffer = BUFFER;
	own->sink = (struct sink){ .ops = &own_ops, .name = own->name };
	own->last = &own->first;
	(void)pthread_mutex_init(&own->lock, NULL);
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&own->wake, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	return own;
}

static void *pump_main(void *context)
{
	struct kymo_sink *own = context;

	(void)pthread_setname_np(pthread_self(), "kymo-sink");
	while (own_pump(own, -1))
		;
	return NULL;
}

struct sink *own_sink_attach(struct kymo_sink *own, struct kymo_err *err)
{
	int error;

	if (own->attached) {
		(void)err_set(err, KYMO_EXIT_USAGE,
			      "the sink %s was attached before; create another one", own->name);
		return NULL;
	}
	own->attached = true;
	error = own->options.pump ? 0 : thread_start(&own->thread, pump_main, own);
	if (error) {
		own->attached = false;
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot start the thread of the sink %s: %s",
			      own->name, strerror(error));
		return NULL;
	}
	own->threaded = !own->options.pump;
	return &own->sink;
}

void own_sink_refused(struct kymo_sink *own)
{
	(void)pthread_mutex_lock(&own->lock);
	own->removed = true;
	(void)pthread_cond_signal(&own->wake);
	(void)pthread_mutex_unlock(&own->lock);
}

const char *own_sink_name(const struct kymo_sink *own)
{
	return own->name;
}

int kymo_sink_free(struct kymo_sink *sink)
{
	bool used;

	if (!sink)
		return 0;
	(void)pthread_mutex_lock(&sink->lock);
	used = sink->attached && !sink->removed;
	(void)pthread_mutex_unlock(&sink->lock);
	if (used)
		return -1;
	if (sink->threaded)
		(void)pthread_join(sink->thread, NULL);
	own_forget(sink);
	(void)pthread_cond_destroy(&sink->wake);
	(void)pthread_mutex_destroy(&sink->lock);
	free(sink->name);
	free(sink);
	return 0;
}
