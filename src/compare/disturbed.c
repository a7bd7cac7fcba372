/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the machine from /proc and /sys, and what they say about a run; see disturbed.h.
 *
 * The idea: CPU time with work that was not of our own children is that of others. Our share comes
 * from getrusage(RUSAGE_CHILDREN), which counts a child only after it has ended and was waited
 * for. So the counters are read before the run starts, and after it has ended. Ticks of /proc/stat
 * are as proc(5) defines them.
 */
#include "compare/disturbed.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX 4096u

static FILE *open_below(const char *root, const char *path)
{
	char whole[PATH_MAX];

	if ((size_t)snprintf(whole, sizeof(whole), "%s%s", root, path) >= sizeof(whole))
		return NULL;
	return fopen(whole, "re");
}

/* The first line of /proc/stat, in ticks: user nice system idle iowait irq softirq steal. */
static void read_stat(struct machine *machine, const char *root)
{
	unsigned long long tick[8] = { 0 };
	const double hz = (double)sysconf(_SC_CLK_TCK);
	FILE *file = open_below(root, "/proc/stat");

	if (!file)
		return;
	if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &tick[0], &tick[1],
		   &tick[2], &tick[3], &tick[4], &tick[5], &tick[6], &tick[7]) == 8) {
		for (unsigned i = 0; i < 8; i++)
			machine->all_s += (double)tick[i] / hz;
		machine->stolen_s = (double)tick[7] / hz;
		machine->busy_s =
			machine->all_s - (double)(tick[3] + tick[4]) / hz - machine->stolen_s;
	}
	(void)fclose(file);
}

/* Each core counts how often it became too hot; machines without such a counter have no file. */
static void read_throttles(struct machine *machine, const char *root)
{
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		unsigned long long count;
		char path[128];
		FILE *file;

		(void)snprintf(path, sizeof(path),
			       "/sys/devices/system/cpu/cpu%u/thermal_throttle/core_throttle_count",
			       cpu);
		file = open_below(root, path);
		if (!file)
			return;
		if (fscanf(file, "%llu", &count) == 1)
			machine->throttles += count;
		(void)fclose(file);
	}
}

/* The directory of this process's control group: "0::PATH" (version 2). Return: false: none. */
static bool find_group(const char *root, char *path, size_t size)
{
	char line[PATH_MAX];
	FILE *file = open_below(root, "/proc/self/cgroup");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		found = !strncmp(line, "0::/", 4) &&
			(size_t)snprintf(path, size, "/sys/fs/cgroup%s/cpu.stat", line + 3) < size;
	}
	if (file)
		(void)fclose(file);
	return found;
}

/* A container with a limit of CPU time is stopped when it has used it up. */
static void read_group(struct machine *machine, const char *root)
{
	char path[PATH_MAX], line[256];
	unsigned long long us;
	FILE *file;

	if (!find_group(root, path, sizeof(path)))
		return;
	file = open_below(root, path);
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "throttled_usec %llu", &us) == 1)
			machine->held_s = (double)us / 1e6;
	if (file)
		(void)fclose(file);
}

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

void machine_read(struct machine *machine, const char *root)
{
	struct rusage usage;
	struct timespec now;

	*machine = (struct machine){ 0 };
	read_stat(machine, root);
	read_throttles(machine, root);
	read_group(machine, root);
	if (getrusage(RUSAGE_CHILDREN, &usage) == 0)
		machine->ours_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	if (clock_gettime(CLOCK_MONOTONIC, &now) == 0)
		machine->now_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double share(double part, double all)
{
	return part > 0 && all > 0 ? part / all : 0;
}

void machine_between(struct meanwhile *meanwhile, const struct machine *from,
		     const struct machine *to)
{
	const double all = to->all_s - from->all_s;

	*meanwhile = (struct meanwhile){
		.others = share(to->busy_s - from->busy_s - (to->ours_s - from->ours_s), all),
		.stolen = share(to->stolen_s - from->stolen_s, all),
		.held = share(to->held_s - from->held_s, to->now_s - from->now_s),
		.throttles = to->throttles > from->throttles ? to->throttles - from->throttles : 0,
	};
}

bool disturbed(const struct disturbed_rule *rule, const struct meanwhile *meanwhile, char *why,
	       size_t size)
{
	if (meanwhile->throttles)
		(void)snprintf(why, size, "a CPU became too hot and was slowed down");
	else if (meanwhile->stolen > rule->stolen)
		(void)snprintf(why, size, "other machines of the host took %.0f %% of the CPUs",
			       100 * meanwhile->stolen);
	else if (meanwhile->held > rule->held)
		(void)snprintf(why, size,
			       "the container had used up its CPU time for %.0f %% of the run",
			       100 * meanwhile->held);
	else if (meanwhile->others > rule->others)
		(void)snprintf(why, size, "other programs took %.0f %% of the CPUs",
			       100 * meanwhile->others);
	else
		return false;
	return true;
}
