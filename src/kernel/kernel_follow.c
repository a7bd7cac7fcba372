/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads are followed. The selection (kernel_select.c) needs them all, and learns of later
 * threads from their births.
 *
 * The list of the kernel, for system calls, is another matter: the kernel adds the births by
 * itself, but each write to that list takes it tens of milliseconds, and forgets what was born
 * meanwhile. So all threads of all new processes are written at once, only those that the list does
 * not have, and after a write the threads of all processes are compared with the list again.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "kernel/kernel_place.h"

#define LOOKS_MAX 8               /* at processes that create threads meanwhile */
#define LOOK_AGAIN_NS 1000000000u /* after losses, which may be in every poll */

struct tids {
	int32_t *tid;
	unsigned count, capacity;
};

/* ---- the threads of processes ---- */

/* Without memory some are left out. */
static void add_threads(struct tids *tids, int pid)
{
	const struct dirent *entry;
	char path[32];
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return; /* it has ended */
	while ((entry = readdir(dir))) {
		const long tid = strtol(entry->d_name, NULL, 10);

		if (tid > 0 && ARRAY_ROOM(tids->tid, tids->count, tids->capacity))
			tids->tid[tids->count++] = (int32_t)tid;
	}
	(void)closedir(dir);
}

static struct tids threads_from(const struct kernel *kernel, unsigned first)
{
	struct tids tids = { 0 };

	for (unsigned i = first; i < kernel->processes; i++)
		add_threads(&tids, kernel->process[i]);
	return tids;
}

/* ---- for the selection ---- */

/* Threads that are created during a look are found by the next one. */
static void select_threads(struct kernel *kernel, int pid)
{
	bool any = select_follow(kernel->select, pid) > 0;

	for (unsigned look = 0; look < LOOKS_MAX; look++, any = false) {
		struct tids tids = { 0 };

		add_threads(&tids, pid);
		for (unsigned i = 0; i < tids.count; i++)
			any |= select_follow(kernel->select, tids.tid[i]) > 0;
		free(tids.tid);
		if (!any)
			return;
	}
}

void kernel_follow(struct kernel *kernel, int pid)
{
	if (!kernel->select || pid <= 0)
		return;
	select_threads(kernel, pid);
	if (ARRAY_ROOM(kernel->process, kernel->processes, kernel->process_room))
		kernel->process[kernel->processes++] = pid;
}

/* ---- for system calls ---- */

/* Return: how many of @tid the kernel's list did not have. */
static unsigned follow_calls(struct kernel *kernel, const int32_t *tid, unsigned count)
{
	return kernel->source->ops->follow ? kernel->source->ops->follow(kernel->source, tid, count)
					   : 0;
}

void kernel_follow_all_calls(struct kernel *kernel)
{
	(void)follow_calls(kernel, NULL, 0);
}

/* System calls of this thread itself are left out by the selection. */
void kernel_starts(struct kernel *kernel)
{
	const int32_t own = (int32_t)gettid();

	if (kernel->select)
		(void)follow_calls(kernel, &own, 1);
}

void kernel_follow_calls(struct kernel *kernel)
{
	unsigned first = kernel->calls_of, written = 1;

	if (!kernel->select || !kernel->source->ops->follow || first == kernel->processes)
		return;
	for (unsigned look = 0; look < LOOKS_MAX && written; look++, first = 0) {
		struct tids tids = threads_from(kernel, first);

		written = tids.count ? follow_calls(kernel, tids.tid, tids.count) : 0;
		free(tids.tid);
	}
	kernel->calls_of = kernel->processes;
}

/* ---- after a loss ---- */

void kernel_follow_again(struct kernel *kernel, uint64_t now_ns)
{
	uint64_t lost = 0;
	unsigned kept = 0;

	if (!kernel->select || now_ns < kernel->looked_ns + LOOK_AGAIN_NS)
		return;
	for (unsigned i = 0; i < kernel->source->cpus; i++)
		lost += kernel->stream[i].lost;
	if (lost == kernel->lost)
		return;
	kernel->looked_ns = now_ns;
	kernel->lost = lost;
	for (unsigned i = 0; i < kernel->processes; i++)
		if (kill(kernel->process[i], 0) == 0 || errno != ESRCH) {
			select_threads(kernel, kernel->process[i]);
			kernel->process[kept++] = kernel->process[i];
		}
	kernel->processes = kept;
	kernel->calls_of = 0;
}
