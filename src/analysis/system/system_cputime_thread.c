/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the operating system; see system_cputime_thread.h. */
#include "analysis/system/system_cputime_thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void os_threads_init(struct os_threads *threads, size_t size, const struct kymo_ctf_reader *reader)
{
	uint32_t i, j;

	*threads = (struct os_threads){ .size = size };
	threads->traces = reader ? kymo_ctf_trace_count(reader) : 0;
	threads->host = calloc(threads->traces + 1, sizeof(*threads->host));
	if (!threads->host) {
		threads->failed = true;
		threads->traces = 0;
	}
	for (i = 0; i < threads->traces; i++) {
		threads->host[i] = i;
		for (j = 0; j < i; j++)
			if (strcmp(kymo_ctf_trace(reader, i)->hostname,
				   kymo_ctf_trace(reader, j)->hostname) == 0)
				break;
		threads->host[i] = j;
	}
}

void os_threads_free(struct os_threads *threads)
{
	for (uint32_t i = 0; i < threads->count; i++)
		free(threads->record[i]);
	free(threads->record);
	free(threads->host);
	map_free(&threads->map);
}

static uint32_t host_of(const struct os_threads *threads, uint32_t trace)
{
	return trace < threads->traces ? threads->host[trace] : 0;
}

void *os_thread_find(const struct os_threads *threads, uint32_t trace, int32_t tid)
{
	return map_get(&threads->map, (uint32_t)tid, host_of(threads, trace));
}

const struct os_thread *os_thread_main(const struct os_threads *threads,
				       const struct os_thread *thread)
{
	return map_get(&threads->map, (uint32_t)thread->pid, thread->host);
}

void *os_thread(struct os_threads *threads, uint32_t trace, int32_t tid)
{
	struct os_thread *thread;

	/* A damaged trace may contain any number as a thread. */
	if (threads->count == OS_THREADS_MAX)
		tid = INT32_MIN;
	thread = os_thread_find(threads, trace, tid);
	if (thread)
		return thread;
	thread = ARRAY_ROOM(threads->record, threads->count, threads->room)
			 ? calloc(1, threads->size)
			 : NULL;
	if (!thread || map_put(&threads->map, (uint32_t)tid, host_of(threads, trace), thread)) {
		free(thread);
		threads->failed = true;
		return NULL;
	}
	thread->index = threads->count;
	thread->host = host_of(threads, trace);
	thread->tid = tid;
	threads->record[threads->count++] = thread;
	return thread;
}

void os_thread_name(void *record, const char *name, size_t size, int32_t pid)
{
	struct os_thread *thread = record;
	size_t length = name ? strnlen(name, size) : 0;

	if (pid)
		thread->pid = pid;
	if (!length)
		return;
	if (length >= sizeof(thread->name))
		length = sizeof(thread->name) - 1;
	memcpy(thread->name, name, length);
	thread->name[length] = '\0';
}
