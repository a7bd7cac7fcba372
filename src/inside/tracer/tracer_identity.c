/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of this process: the constant part of the region's header. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/hash.h"
#include "abi/points.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_process.h"

static ssize_t read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, text, size - 1);
	(void)close(fd);
	text[got > 0 ? got : 0] = 0;
	return got;
}

uint64_t kymo_start_time(const char *pid)
{
	char path[64], text[512], *at; /* the 22 fields are shorter */

	(void)snprintf(path, sizeof path, "/proc/%s/stat", pid);
	if (read_text(path, text, sizeof text) <= 0)
		return 0;
	at = strrchr(text, ')');	/* the last one: the process name may contain ')' */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

/*
 * Emulators fake /proc/self/stat, with a start time that is wrong by a tick. They do not fake the
 * file of the main thread, so that file is read first.
 */
uint64_t kymo_own_start_time(void)
{
	char leader[32];
	uint64_t start;

	(void)snprintf(leader, sizeof leader, "self/task/%d", getpid());
	start = kymo_start_time(leader);
	return start ? start : kymo_start_time("self");
}

/* These variables survive fork(), so a child's region gets the same version. */
static unsigned tracetools_version;
static char tracetools_text[sizeof ((struct kymo_region *)0)->tracetools_version];

static void tell_tracetools(struct kymo_region *region)
{
	memcpy(region->tracetools_version, tracetools_text, sizeof tracetools_text);
	__atomic_store_n(&region->tracetools, tracetools_version, __ATOMIC_RELEASE);
}

void kymo__set_tracetools(unsigned version, const char *text)
{
	(void)snprintf(tracetools_text, sizeof tracetools_text, "%s", text);
	tracetools_version = version;
	if (kymo_thread_slot())
		tell_tracetools(kymo_process->region);
}

uint64_t kymo_own_pid_ns(void)
{
	struct stat ns;

	return stat("/proc/self/ns/pid", &ns) ? 0 : (uint64_t)ns.st_ino;
}

uint64_t kymo_own_time_ns(void)
{
	struct stat ns;

	return stat("/proc/self/ns/time", &ns) ? 0 : (uint64_t)ns.st_ino;
}

void kymo_region_identify(struct kymo_region *region)
{
	ssize_t length;
	char name[32];

	region->abi_version = KYMO_ABI_VERSION;
	region->points_table = KYMO_POINTS_TABLE;
	region->table_hash = kymo_table_hash();
	region->pid = (uint32_t)getpid();
	region->uid = (uint32_t)geteuid();
	region->start_time = kymo_own_start_time();
	region->pid_ns = kymo_own_pid_ns();
	region->time_ns = kymo_own_time_ns();
	region->birth_ns = kymo_clock_ns();
	region->session_tag = kymo_settings.session_tag;
	region->ros_domain = __atomic_load_n(&kymo_settings.ros_domain, __ATOMIC_RELAXED);
	length = read_text("/proc/self/comm", name, sizeof name);
	if (length > 0)
		memcpy(region->procname, name, strcspn(name, "\n") < sizeof region->procname
		       ? strcspn(name, "\n") : sizeof region->procname - 1);
	length = readlink("/proc/self/exe", region->exe, sizeof region->exe - 1);
	region->exe[length > 0 ? length : 0] = 0;
	region->flags = KYMO_REGION_COUNTS | KYMO_REGION_COUNTS_SPANS |
			(kymo_settings.flight ? KYMO_REGION_FLIGHT : 0);
	tell_tracetools(region);
}
