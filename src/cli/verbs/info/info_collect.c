/* SPDX-License-Identifier: Apache-2.0 */
/* See info_collect.h. */
#include "cli/verbs/info/info_collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* A process is identified by host and pid; a pid that is used again counts as the same process. */
static struct info_process *process_of(struct info *info, const char *host, uint64_t host_key,
				       const struct kymo_ctf_event *event)
{
	struct info_process *p = map_get(&info->process_map, (uint32_t)event->vpid, host_key);

	if (p)
		return p;
	p = pool_new(&info->pool, sizeof *p);
	if (!p || !ARRAY_ROOM(info->process, info->process_count, info->process_capacity) ||
	    map_put(&info->process_map, (uint32_t)event->vpid, host_key, p)) {
		info->failed = true;
		return NULL;
	}
	p->host = host;
	p->trace = event->trace;
	p->vpid = event->vpid;
	info->process[info->process_count++] = p;
	return p;
}

static struct info_thread *thread_of(struct info *info, const char *host, uint64_t host_key,
				     const struct kymo_ctf_event *event)
{
	uint64_t scope = host_key << 32 | (uint32_t)event->vpid;
	struct info_thread *t = map_get(&info->thread_map, (uint32_t)event->vtid, scope);
	struct info_process *process;

	if (t)
		return t;
	process = process_of(info, host, host_key, event);
	t = process ? pool_new(&info->pool, sizeof *t) : NULL;
	if (!t || !ARRAY_ROOM(info->thread, info->thread_count, info->thread_capacity) ||
	    map_put(&info->thread_map, (uint32_t)event->vtid, scope, t)) {
		info->failed = true;
		return NULL;
	}
	t->process = process;
	t->vtid = event->vtid;
	t->first_ns = event->ns;
	process->threads++;
	info->thread[info->thread_count++] = t;
	return t;
}

static void keep_name(char out[32], const char *name)
{
	if (strncmp(out, name, 31))
		(void)snprintf(out, 32, "%s", name);
}

/* The name of the main thread is the process's; the first one seen until that comes. */
static void count_event(struct info *info, struct info_thread *t,
			const struct kymo_ctf_event *event)
{
	struct info_process *p = t->process;

	if (event->procname[0]) {
		keep_name(t->name, event->procname);
		if (!p->name[0] || event->vtid == event->vpid)
			keep_name(p->name, event->procname);
	}
	t->events++;
	p->events++;
	t->last_ns = event->ns;
	if (!info->events++ || event->ns < info->begin_ns)
		info->begin_ns = event->ns;
	if (info->events == 1 || event->ns > info->end_ns)
		info->end_ns = event->ns;
}

/* The program did not report these facts itself (src/inside/ros2/late/ros2_late.c). */
static void count_fact(struct info *info, const struct kymo_ctf_event *event)
{
	info->asked += !strcmp(event->class->name, "ros2_kymo:asked_afterwards");
	info->inferred += !strcmp(event->class->name, "ros2_kymo:inferred_afterwards");
}

static void keep_loss(struct info *info, const struct events *events,
		      const struct kymo_ctf_event *event)
{
	struct events_loss where = events_loss(events, event);

	info->lost += event->lost;
	info->lost_packets += event->lost_packets;
	info->lost_in_packets += event->lost_in_packets;
	if (!ARRAY_ROOM(info->loss, info->loss_count, info->loss_capacity)) {
		info->failed = true;
		return;
	}
	info->loss[info->loss_count++] =
		(struct info_loss){ .stream = event->stream,
				    .vpid = event->vpid,
				    .vtid = event->vtid,
				    .lost = event->lost,
				    .lost_packets = event->lost_packets,
				    .lost_in_packets = event->lost_in_packets,
				    .begin_ns = where.begin_ns,
				    .end_ns = where.end_ns };
}

/* Traces of one host share its processes: the number of the first trace with this host name. */
static uint64_t host_number(struct kymo_ctf_reader *reader, uint32_t trace)
{
	const char *host = kymo_ctf_trace(reader, trace)->hostname;

	for (uint32_t i = 0; i < trace; i++)
		if (!strcmp(kymo_ctf_trace(reader, i)->hostname, host))
			return i;
	return trace;
}

static int pass(struct info *info, struct events *events, const uint64_t *hosts,
		struct kymo_err *err)
{
	struct kymo_ctf_event event;
	struct info_thread *last = NULL;
	uint32_t last_trace = 0;
	int more;

	while ((more = events_next(events, &event, err)) > 0 && !info->failed) {
		if (event.bound == KYMO_CTF_LOSS) {
			keep_loss(info, events, &event);
			continue;
		}
		if (!last || last->vtid != event.vtid || last->process->vpid != event.vpid ||
		    last_trace != event.trace)
			last = thread_of(info,
					 kymo_ctf_trace(events->reader, event.trace)->hostname,
					 hosts[event.trace], &event);
		last_trace = event.trace;
		if (last)
			count_event(info, last, &event);
		if (event.init_ns && event.class)
			count_fact(info, &event);
	}
	if (info->failed)
		return err_no_memory(err);
	return more;
}

int info_collect(struct info *info, struct events *events, struct kymo_err *err)
{
	struct kymo_ctf_reader *reader = events->reader;
	unsigned traces = kymo_ctf_trace_count(reader);
	uint64_t *hosts = calloc(traces + 1, sizeof *hosts);
	int result;

	if (!hosts)
		return err_no_memory(err);
	for (uint32_t i = 0; i < traces; i++)
		hosts[i] = host_number(reader, i);
	result = pass(info, events, hosts, err);
	free(hosts);
	return result;
}

void info_free(struct info *info)
{
	map_free(&info->process_map);
	map_free(&info->thread_map);
	pool_free(&info->pool);
	free(info->process);
	free(info->thread);
	free(info->loss);
}
