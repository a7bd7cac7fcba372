/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds traced processes by their regions, and compares what each of them and the session do with
 * the last update. See roster.h. A change of the directory brings new processes; only a thorough
 * update checks whether old ones live.
 */
#include "caret/agent/roster.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/runtime/claim.h"
#include "base/now.h"

/* within this time a session begins to record a process, or releases it */
#define OUTSIDE_NS	500000000u

/* ---- names ---- */

static const char *boot_id(void)
{
	static char id[40];
	int fd;

	if (*id)
		return id;
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, id, sizeof id - 1) <= 0)
		(void)snprintf(id, sizeof id, "?");
	if (fd >= 0)
		(void)close(fd);
	return id;
}

/* FNV-1a, with a final round so that the first bytes influence all bits. */
static uint64_t hash(uint64_t seed, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t value = 0xcbf29ce484222325ull ^ seed;

	for (size_t i = 0; i < size; i++)
		value = (value ^ at[i]) * 0x100000001b3ull;
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93ull;
	return value ^ value >> 32;
}

void roster_name(char name[ROSTER_NAME_MAX], const struct region *region)
{
	char identity[256];
	int size =
		snprintf(identity, sizeof identity, "%s %u %llu %llu %llu", boot_id(), region->pid,
			 (unsigned long long)region->start_time, (unsigned long long)region->pid_ns,
			 (unsigned long long)region->birth_ns);
	uint64_t high = hash(0, identity, (size_t)size),
		 low = hash(0x9e3779b97f4a7c15ull, identity, (size_t)size);

	high = (high & ~0xf000ull) | 0x8000; /* a UUID of version 8: of our own making */
	low = (low & ~(3ull << 62)) | 2ull << 62;
	(void)snprintf(name, ROSTER_NAME_MAX, "caret_trace_%08x_%04x_%04x_%04x_%012llx",
		       (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff),
		       (unsigned)(high & 0xffff), (unsigned)(low >> 48),
		       (unsigned long long)(low & 0xffffffffffffull));
}

/* ---- processes appear and end ---- */

static void forget(struct roster_process *process)
{
	nodes_free(&process->nodes);
	region_close(&process->region);
	free(process);
}

static bool is_known(const struct roster *roster, const char *name)
{
	for (unsigned i = 0; i < roster->count; i++)
		if (strcmp(roster->process[i]->region.name, name) == 0)
			return true;
	return false;
}

/* Whether the process has ended, or another program has replaced it. */
static bool is_over(struct roster_process *process)
{
	const struct kymo_region *header = region_header(&process->region);
	int pid = 0;
	const enum alive alive = region_alive(&process->region, &pid);

	if (pid)			/* after its end the last pid is kept for the reports */
		process->host_pid = pid;
	return alive == ALIVE_DEAD || !region_intact(&process->region) ||
	       __atomic_load_n(&header->flags, __ATOMIC_ACQUIRE) & KYMO_REGION_REPLACED ||
	       region_is_left(&process->region);
}

static struct roster_process *meet(struct roster *roster, const char *name)
{
	struct roster_process *process =
		roster->count < ROSTER_MAX ? calloc(1, sizeof *process) : NULL;

	if (!process)
		return NULL;
	if (region_open(&process->region, &roster->dir, name, false, NULL)) {
		free(process);
		return NULL;
	}
		/* The agent itself is traced when it records /clock; it is not listed. */
	if (is_over(process) || process->host_pid == (int)getpid()) {
		forget(process);
		return NULL;
	}
	roster_name(process->name, &process->region);
	process->domain = process->region.ros_domain <= KYMO_ROS_DOMAIN_MAX + 1
				  ? (int)process->region.ros_domain - 1
				  : -1;
	roster->process[roster->count++] = process;
	return process;
}

/* ---- what the session does for a process ---- */

static enum machine_session session_of(const struct roster *roster,
				       const struct roster_process *process)
{
	const struct kymo_region *header = region_header(&process->region);
	const struct domain_info *session = &roster->session;
	/* While only processes of other ROS domains are recorded, this one waits for a Start in its
	 * domain. */
	const bool waits = session->state == KYMO_STATE_RECORD &&
			   !ros_domains_has(&session->ros, process->region.ros_domain);
	const uint32_t state = __atomic_load_n(&header->state, __ATOMIC_ACQUIRE);
	const bool ours =
		session->active &&
		__atomic_load_n(&header->generation, __ATOMIC_RELAXED) == session->generation &&
		__atomic_load_n(&header->mode, __ATOMIC_RELAXED) == KYMO_MODE_DISCARD &&
		state != KYMO_STATE_WAIT;

	if (!ours)
		return MACHINE_NONE;
	if (state !=
	    (waits ? KYMO_STATE_PREPARE : session->state)) /* it is being switched right now */
		return process->session;
	if (state == KYMO_STATE_RECORD)
		return MACHINE_RECORDS;
	return session->armed || waits ? MACHINE_ARMED : MACHINE_PAUSED;
}

/* Return: whether something of it changed. */
static bool update_process(const struct roster *roster, struct roster_process *process,
			   bool thorough)
{
	const enum machine_session session = session_of(roster, process);
	bool changed = session != process->session, left_out;

	process->session = session;
	if (session != MACHINE_NONE ||
	    !(roster->session.active || claim_is_taken(process->region.fd)))
		process->outside_since = 0;
	else if (!process->outside_since)
		process->outside_since = (uint64_t)now_ns();
	left_out =
		process->outside_since && (uint64_t)now_ns() - process->outside_since > OUTSIDE_NS;
	changed |= left_out != process->left_out;
	process->left_out = left_out;
	if (thorough && region_grow(&process->region) == 0)
		changed |= nodes_read(&process->nodes, &process->region);
	return changed;
}

/* ---- updates ---- */

static bool directory_changed(struct roster *roster)
{
	struct stat st;

	if (fstat(roster->dir.fd, &st) < 0 || (st.st_mtim.tv_sec == roster->changed.tv_sec &&
					       st.st_mtim.tv_nsec == roster->changed.tv_nsec))
		return false;
	roster->changed = st.st_mtim;
	return true;
}

static void find_new(struct roster *roster, const struct roster_calls *calls)
{
	int fd = openat(roster->dir.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!list) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((entry = readdir(list))) {
		struct roster_process *process;

		if (!region_is_name(entry->d_name) || is_known(roster, entry->d_name))
			continue;
		process = meet(roster, entry->d_name);
		if (!process)
			continue;
		(void)update_process(roster, process, true);
		calls->found(calls->context, process);
	}
	(void)closedir(list);
}

static bool says_it_ends(const struct roster_process *process)
{
	return __atomic_load_n(&region_header(&process->region)->flags, __ATOMIC_ACQUIRE) &
	       (KYMO_REGION_EXITED | KYMO_REGION_REPLACED);
}

void roster_update(struct roster *roster, bool thorough, const struct roster_calls *calls)
{
	if (domain_inspect(&roster->dir, &roster->session, NULL) < 0)
		roster->session = (struct domain_info){ 0 };
	for (unsigned i = 0; i < roster->count;) {
		struct roster_process *process = roster->process[i];

		if ((thorough || says_it_ends(process)) && is_over(process)) {
			roster->process[i] = roster->process[--roster->count];
			calls->gone(calls->context, process);
			forget(process);
			continue;
		}
		if (update_process(roster, process, thorough))
			calls->changed(calls->context, process);
		i++;
	}
	if (directory_changed(roster) || thorough)
		find_new(roster, calls);
}

int roster_open(struct roster *roster, const char *runtime_dir, struct kymo_err *err)
{
	*roster = (struct roster){ 0 };
	return rundir_open(&roster->dir, runtime_dir, true, err) < 0 ? -1 : 0;
}

void roster_close(struct roster *roster)
{
	for (unsigned i = 0; i < roster->count; i++)
		forget(roster->process[i]);
	rundir_close(&roster->dir);
	*roster = (struct roster){ 0 };
}
