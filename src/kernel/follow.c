/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of processes that exist already; see kernel_select.h. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/kernel_select.h"

#define LOOKS_MAX 8		/* at a process that creates threads meanwhile */

void follow_calls(struct ksource *source, int32_t tid)
{
	if (source->ops->follow)
		source->ops->follow(source, tid);
}

/* Return: whether it was not followed before. */
static bool follow_thread(struct select *select, struct ksource *source, int32_t tid)
{
	if (select_follow(select, tid) <= 0)
		return false;
	follow_calls(source, tid);
	return true;
}

/* Return: whether a thread was new. */
static bool follow_those_of(struct select *select, struct ksource *source, int pid)
{
	bool any = follow_thread(select, source, pid);
	const struct dirent *entry;
	char path[32];
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;		/* it has ended */
	while ((entry = readdir(dir)))
		any |= follow_thread(select, source, (int32_t)strtol(entry->d_name, NULL, 10));
	(void)closedir(dir);
	return any;
}

void follow_threads(struct select *select, struct ksource *source, int pid)
{
	for (unsigned i = 0; i < LOOKS_MAX && follow_those_of(select, source, pid); i++)
		;
}
