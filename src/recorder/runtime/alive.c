/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness from /proc. A pid may have been reused, so the start time must match, too. */
#include "recorder/runtime/alive.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PF_EXITING 4 /* of the kernel's flags of a task, in /proc/PID/stat */

size_t alive_read_file(int pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? 0 : read(fd, text, size - 1);
	if (fd >= 0)
		(void)close(fd);
	text[got > 0 ? got : 0] = 0;
	return got > 0 ? (size_t)got : 0;
}

void alive_read_name(int pid, char *name, size_t size)
{
	(void)alive_read_file(pid, "comm", name, size);
	name[strcspn(name, "\n")] = 0;
}

uint64_t alive_start_time(int pid)
{
	char text[1024], state;
	uint64_t start = 0;
	long threads = 0;
	const char *at;

	if (!alive_read_file(pid, "stat", text, sizeof text))
		return 0;
	at = strrchr(text, ')');	/* the name may contain anything, so read from behind it */
	if (!at || sscanf(at, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			  "%ld %*d %" SCNu64, &state, &threads, &start) != 3)
		return 0;
	/* A main thread that ended is a zombie while others run on. */
	if ((state == 'Z' || state == 'X') && threads <= 1)
		return 0;
	return start;
}

bool alive_is_ending(int pid)
{
	char text[1024];
	unsigned flags;
	const char *at;

	(void)alive_read_file(pid, "stat", text, sizeof text);
	at = strrchr(text, ')');
	return at && sscanf(at, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && flags & PF_EXITING;
}

enum alive alive_check(int host_pid, uint64_t start_time)
{
	uint64_t start;

	if (kill(host_pid, 0) < 0 && errno == ESRCH)
		return ALIVE_DEAD;
	errno = 0;
	start = alive_start_time(host_pid);
	if (!start && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return ALIVE_UNKNOWN;
	return start == start_time ? ALIVE_YES : ALIVE_DEAD;
}

static uint64_t namespace_of(const char *pid, const char *kind)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof path, "/proc/%.20s/ns/%s", pid, kind);
	return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

static uint64_t pid_namespace(const char *pid)
{
	return namespace_of(pid, "pid");
}

/* How far CLOCK_MONOTONIC of @pid is ahead of the machine's own. Return: false: unknown. */
static bool clock_ahead(int pid, int64_t *ahead_ns)
{
	long long seconds, ns;
	char text[256];

	alive_read_file(pid, "timens_offsets", text, sizeof text);
	if (sscanf(text, "monotonic %lld %lld", &seconds, &ns) != 2)
		return false;
	*ahead_ns = (int64_t)((uint64_t)seconds * 1000000000u + (uint64_t)ns);
	return true;
}

bool alive_shares_clock(uint64_t time_ns, int host_pid)
{
	const uint64_t own = namespace_of("self", "time");
	int64_t theirs, ours;

	if (!time_ns || !own || time_ns == own)
		return true;
	return host_pid && clock_ahead(host_pid, &theirs) && clock_ahead(getpid(), &ours) &&
	       theirs == ours;
}

uint64_t alive_own_pid_ns(void)
{
	return pid_namespace("self");
}

/* The last pid of the NSpid line is the one in the process's own namespace. */
uint32_t alive_inner_pid(int pid)
{
	char text[4096], *at, *end;

	if (!alive_read_file(pid, "status", text, sizeof text))
		return 0;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return 0;
	at += strlen("\nNSpid:");
	end = strchr(at, '\n');
	if (end)
		*end = 0;
	at = strrchr(at, '\t');
	return at ? (uint32_t)strtoul(at + 1, NULL, 10) : 0;
}

static int search_proc(uint32_t pid, uint64_t pid_ns, uint64_t start_time)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int found = 0;

	if (!proc)
		return 0;
	while (!found && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    pid_namespace(entry->d_name) != pid_ns)
			continue;
		if (alive_inner_pid(atoi(entry->d_name)) == pid &&
		    alive_start_time(atoi(entry->d_name)) == start_time)
			found = atoi(entry->d_name);
	}
	(void)closedir(proc);
	return found;
}

enum alive alive_find(uint32_t pid, uint64_t pid_ns, uint64_t start_time, int *host_pid)
{
	enum alive alive;

	*host_pid = 0;
	if (alive_own_pid_ns() == pid_ns) {
		alive = pid && pid <= INT32_MAX ? alive_check((int)pid, start_time) : ALIVE_DEAD;
		*host_pid = alive == ALIVE_DEAD ? 0 : (int)pid;
		return alive;
	}
	*host_pid = search_proc(pid, pid_ns, start_time);
	return *host_pid ? ALIVE_YES : ALIVE_UNKNOWN;
}

/* ---- environment ---- */

#define ENVIRONMENT_MAX (2u << 20) /* bytes: what exec() takes by default, about */

char *environment_read(int pid, size_t *size)
{
	char path[64], *text = NULL;
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/environ", pid);
	fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	text = malloc(ENVIRONMENT_MAX);
	*size = 0;
	while (text && *size < ENVIRONMENT_MAX - 1 &&
	       (got = read(fd, text + *size, ENVIRONMENT_MAX - 1 - *size)) > 0)
		*size += (size_t)got;
	(void)close(fd);
	if (text)
		text[*size] = 0;
	return text;
}

const char *environment_value(const char *environment, size_t size, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = environment; at && at < environment + size; at += strlen(at) + 1)
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return at + length + 1;
	return NULL;
}
