/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU times from /proc, of the processes that the board knows. A thread's line takes some
 * microseconds to read, so of threads only if they are shown. See board.h.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "top/board_internal.h"

struct stat_line {
	char name[32];
	uint64_t ticks; /* user and system */
};

/* "123 (a (name)) S 1 ...": the name ends at the last parenthesis; fields 14 and 15 are the times.
 */
static bool parse(char *text, struct stat_line *line)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *at = close;
	unsigned long long user, system;

	if (!open || !close || close < open)
		return false;
	*close = 0;
	(void)snprintf(line->name, sizeof(line->name), "%.31s", open + 1);
	for (unsigned field = 2; field < 14; field++) {
		at = strchr(at + 1, ' ');
		if (!at)
			return false;
	}
	if (sscanf(at, "%llu %llu", &user, &system) != 2)
		return false;
	line->ticks = user + system;
	return true;
}

static bool read_stat(const char *path, struct stat_line *line)
{
	char text[1024];
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file)
		return false;
	size = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	text[size] = 0;
	return size && parse(text, line);
}

static int64_t ticks_ns(uint64_t ticks)
{
	return (int64_t)(ticks * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK)));
}

/* What a thread used since it was read last. /proc counts in 10 ms. */
static void read_thread(struct board *board, const struct board_proc *process, int tid)
{
	struct stat_line line;
	struct row *row;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process->pid, tid);
	if (!read_stat(path, &line))
		return;
	row = board_find(board, &(struct board_row){ .page = BOARD_THREADS,
						     .name = line.name,
						     .process = process->name,
						     .pid = process->pid,
						     .tid = tid });
	if (!row)
		return;
	if (row->last)
		board_now(board, row)->cpu_ns = ticks_ns(line.ticks - (row->last - 1));
	row->last = line.ticks + 1;
}

static void read_threads(struct board *board, const struct board_proc *process)
{
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			read_thread(board, process, atoi(entry->d_name));
	(void)closedir(tasks);
}

void board_read_cpu(struct board *board)
{
	for (unsigned i = 0; i < board->process_count; i++) {
		struct board_proc *process = board->process[i];
		struct stat_line line;
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/%d/stat", process->pid);
		if (!read_stat(path, &line)) {
			process->cpu = -1;
			continue;
		}
		if (process->read_ns && now_ns() > process->read_ns)
			process->cpu = (double)ticks_ns(line.ticks - process->cpu_ticks) /
				       (double)(now_ns() - process->read_ns);
		process->cpu_ticks = line.ticks;
		process->read_ns = now_ns();
		if (board->threads_wanted &&
		    selection_process(board->options.selection, process->name, process->pid))
			read_threads(board, process);
	}
}
