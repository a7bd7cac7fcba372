/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that a session records on: what makes measurements of two machines unlike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/runtime/alive.h"
#include "recorder/session/session_internal.h"

/* The rest of the first line of @path that begins with @key; "" when there is none. */
static void read_line(char *out, size_t size, const char *path, const char *key)
{
	const size_t length = strlen(key);
	char line[512];
	FILE *file = fopen(path, "re");

	*out = '\0';
	while (file && !*out && fgets(line, sizeof line, file)) {
		const char *value = line + length;

		if (strncmp(line, key, length) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		value += strspn(value, " \t:=\"");
		(void)snprintf(out, size, "%s", value);
		out[strcspn(out, "\"")] = '\0';
	}
	if (file)
		(void)fclose(file);
}

void session_read_machine(struct session_machine *machine)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	read_line(machine->cpu, sizeof machine->cpu, "/proc/cpuinfo", "model name");
	/* Boards of other architectures say there what they are. */
	if (!*machine->cpu)
		read_line(machine->cpu, sizeof machine->cpu, "/proc/device-tree/model", "");
	machine->cpus = cpus > 0 ? (uint64_t)cpus : 0;
	read_line(machine->governor, sizeof machine->governor,
		  "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "");
	read_line(machine->os, sizeof machine->os, "/etc/os-release", "PRETTY_NAME");
}

void session_read_rmw(struct drained_process *process)
{
	size_t size = 0;
	char *environment =
		process->alive == ALIVE_DEAD ? NULL : environment_read(process->host_pid, &size);
	const char *rmw = environment_value(environment, size, "RMW_IMPLEMENTATION");

	(void)snprintf(process->rmw, sizeof process->rmw, "%s", rmw ? rmw : "");
	free(environment);
}
