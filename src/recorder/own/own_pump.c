/* SPDX-License-Identifier: Apache-2.0 */
/* The side of the functions: takes what waits, and calls them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recorder/own/own_internal.h"

/* The queue at this moment; NULL after @timeout_ms, below 0: never. @over: nothing comes any more.
 */
static struct own_item *take(struct kymo_sink *own, int timeout_ms, bool *over)
{
	struct own_item *items;
	struct timespec until;
	int error = 0;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	until.tv_sec += timeout_ms / 1000 + until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	(void)pthread_mutex_lock(&own->lock);
	while (!own->first && !own->removed && !error)
		error = timeout_ms < 0 ? pthread_cond_wait(&own->wake, &own->lock)
				       : pthread_cond_timedwait(&own->wake, &own->lock, &until);
	items = own->first;
	own->first = NULL;
	own->last = &own->first;
	*over = own->removed;
	(void)pthread_mutex_unlock(&own->lock);
	return items;
}

static void declare(struct kymo_sink *own, struct own_process *process, struct own_class *class)
{
	if (process->class[class->is.id]) {
		free(class); /* the same one again */
		return;
	}
	process->class[class->is.id] = class;
	if (own->options.declare)
		own->options.declare(own->options.context, &class->is);
}

/* Classes of the table are declared when their first event comes. */
static void declare_events(struct kymo_sink *own, struct own_process *process,
			   const struct kymo_sink_packet *packet)
{
	struct kymo_sink_event event = { 0 };
	const size_t extra = packet->is_facts ? sizeof(uint32_t) : 0;

	do {
		struct own_class *class;
		uint16_t id;

		if (packet->size - event.next < extra + sizeof id)
			return;
		memcpy(&id, (const uint8_t *)packet->bytes + event.next + extra, sizeof id);
		if (id >= KYMO_POINTS_TABLE || process->class[id])
			continue;
		class = own_class_of(&kymo_points[id], id, process->pid);
		if (!class)
			return;
		declare(own, process, class);
	} while (kymo_sink_next(packet, &event));
}

static void deliver(struct kymo_sink *own, struct own_item *item)
{
	struct kymo_sink_packet *packet = &item->packet;

	switch (item->what) {
	case OWN_JOIN:
		item->process->next = own->processes;
		own->processes = item->process;
		break;
	case OWN_CLASS:
		declare(own, item->process, item->class);
		break;
	default:
		declare_events(own, item->process, packet);
		own->totals.lost += packet->lost;
		if (own->options.packet(own->options.context, packet) < 0)
			own->totals.lost += packet->is_facts ? 0 : packet->count;
		else if (packet->is_facts)
			own->totals.facts += packet->count;
		else
			own->totals.events += packet->count;
		(void)pthread_mutex_lock(&own->lock);
		own->waiting -= packet->size;
		(void)pthread_mutex_unlock(&own->lock);
	}
}

static void begin(struct kymo_sink *own)
{
	const struct kymo_sink_start start = { own->sink.added_ns, own->sink.start_realtime_ns };

	if (!own->begun && own->options.begin)
		own->options.begin(own->options.context, &start);
	own->begun = true;
}

int own_pump(struct kymo_sink *own, int timeout_ms)
{
	struct own_item *items, *next;
	bool over;

	if (own->ended)
		return 0;
	items = take(own, timeout_ms, &over);
	if (items || over)
		begin(own);
	for (; items; items = next) {
		next = items->next;
		deliver(own, items);
		free(items);
	}
	if (!over)
		return 1;
	own->ended = true;
	if (own->options.end)
		own->options.end(own->options.context, &own->totals);
	return 0;
}

int kymo_sink_pump(struct kymo_sink *sink, int timeout_ms)
{
	if (!sink || !sink->options.pump)
		return -1;
	return sink->attached ? own_pump(sink, timeout_ms < 0 ? 0 : timeout_ms) : 0;
}

void own_forget(struct kymo_sink *own)
{
	struct own_process *process;
	struct own_item *item;

	while ((item = own->first)) {
		own->first = item->next;
		if (item->what == OWN_JOIN) {
			item->process->next = own->processes;
			own->processes = item->process;
		}
		free(item->class);
		free(item);
	}
	while ((process = own->processes)) {
		own->processes = process->next;
		for (unsigned i = 0; i < KYMO_POINTS_MAX; i++)
			free(process->class[i]);
		free(process->discarded);
		free(process);
	}
}
