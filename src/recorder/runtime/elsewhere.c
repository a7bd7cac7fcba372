/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/runtime/elsewhere.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/runtime/alive.h"
#include "recorder/runtime/rundir.h"

#define PRELOAD "libkymo"		/* in LD_PRELOAD */
#define AGENT "kymo-dds"		/* the program that speaks DDS */

const char *elsewhere_network_name(enum elsewhere_network which)
{
	static const char *const names[ELSEWHERE_NETWORKS] = {
		[ELSEWHERE_URI] = "CYCLONEDDS_URI",
		[ELSEWHERE_RANGE] = "ROS_AUTOMATIC_DISCOVERY_RANGE",
		[ELSEWHERE_PEERS] = "ROS_STATIC_PEERS",
		[ELSEWHERE_LOCALHOST] = "ROS_LOCALHOST_ONLY",
	};

	return names[which];
}

/* A process in another network namespace is on another host, or in a container. */
static bool is_here(const char *pid)
{
	char path[64];
	struct stat own, other, process;

	(void)snprintf(path, sizeof path, "/proc/%.20s/ns/net", pid);
	if (stat("/proc/self/ns/net", &own) < 0 || stat(path, &other) < 0 || own.st_ino != other.st_ino)
		return false;
	(void)snprintf(path, sizeof path, "/proc/%.20s", pid);
	return stat(path, &process) == 0 && process.st_uid == geteuid();
}

static bool read_agent(struct elsewhere_process *process)
{
	char words[4096];
	size_t size = alive_read_file(process->pid, "cmdline", words, sizeof words);
	const char *before = "";
	bool agent = false;

	for (const char *at = words; at < words + size; at += strlen(at) + 1) {
		agent |= strcmp(at, "agent") == 0;
		process->no_clock |= strcmp(at, "--sim-rate=0") == 0 || (strcmp(before, "--sim-rate") == 0 && strcmp(at, "0") == 0);
		before = at;
	}
	return agent;
}

static bool read_process(struct elsewhere_process *process, const char *environment, size_t size)
{
	const char *preload = environment_value(environment, size, "LD_PRELOAD");

	alive_read_name(process->pid, process->name, sizeof process->name);
	process->agent = strcmp(process->name, AGENT) == 0 && read_agent(process);
	if (!process->agent && !(preload && strstr(preload, PRELOAD)))
		return false;
	(void)rundir_choose(process->dir, sizeof process->dir,
			    environment_value(environment, size, "KYMO_DIR"), geteuid());
	for (unsigned i = 0; i < ELSEWHERE_NETWORKS; i++)
		process->network[i] =
			environment_value(environment, size, elsewhere_network_name(i));
	return true;
}

void elsewhere_scan(void (*each)(void *context, const struct elsewhere_process *process),
		    void *context)
{
	DIR *list = opendir("/proc");
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		struct elsewhere_process process = { .pid = atoi(entry->d_name) };
		size_t size = 0;
		char *environment;

		if (process.pid <= 0 || !is_here(entry->d_name))
			continue;
		environment = environment_read(process.pid, &size);
		if (environment && read_process(&process, environment, size))
			each(context, &process);
		free(environment);
	}
	if (list)
		(void)closedir(list);
}
