/* SPDX-License-Identifier: Apache-2.0 */
/* Is this process traced, or could it be? Reads /proc and the process's region. See doctor.h. */
#include "recorder/doctor/doctor_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/hash.h"
#include "abi/points.h"
#include "abi/region.h"
#include "base/array.h"
#include "base/elf.h"
#include "recorder/launch/preload.h"
#include "recorder/runtime/alive.h"
#include "recorder/runtime/rundir.h"

/* What is behind @key in /proc/PID/status. Return: "": it has no such line. */
static const char *status_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? at + strlen(key) : "";
}

static bool read_status(struct doctor_process *process)
{
	const uint32_t inner_pid = alive_inner_pid((int)process->pid);
	char text[4096];

	if (!alive_read_file((int)process->pid, "status", text, sizeof text))
		return false;
	process->inner_pid = inner_pid ? inner_pid : process->pid;
	(void)sscanf(status_of(text, "Name:\t"), "%63[^\n]", process->name);
	process->state = *status_of(text, "\nState:\t");
	process->parent = atoi(status_of(text, "\nPPid:\t"));
	(void)sscanf(status_of(text, "\nUid:\t"), "%*u %u", &process->uid); /* the effective one */
	return true;
}

int doctor_parent(int pid, char name[64])
{
	struct doctor_process process = { .pid = (unsigned)pid };
	const bool known = read_status(&process);

	memcpy(name, process.name, sizeof process.name);
	return known ? process.parent : 0;
}

const char *doctor_variable(const struct doctor_process *process, const char *name)
{
	return environment_value(process->environment, process->environment_size, name);
}

/* ---- what is loaded in it ---- */

static bool read_maps(const struct doctor_process *process, struct doctor_loaded *loaded)
{
	char path[64], line[PATH_MAX + 128];
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/%u/maps", process->pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	memset(loaded, 0, sizeof *loaded);
	while (fgets(line, sizeof line, file)) {
		char *name = strchr(line, '/');
		const char *base;

		if (!name)
			continue;
		name[strcspn(name, "\n")] = 0;
		base = strrchr(name, '/') + 1;
		loaded->rclpy |= strstr(base, "_rclpy") != NULL;
		loaded->malloc |=
			!strncmp(base, PRELOAD_MALLOC_LIBRARY, strlen(PRELOAD_MALLOC_LIBRARY));
		if (!strncmp(base, PRELOAD_LIBRARY, strlen(PRELOAD_LIBRARY))) {
			loaded->preload = true;
			loaded->deleted = strstr(base, " (deleted)");
		} else if (!strncmp(base, "libkymo.so", 10)) {
			loaded->tracer = true;
			(void)snprintf(loaded->libkymo, sizeof loaded->libkymo, "%.*s", PATH_MAX - 1, name);
		} else if (!strncmp(base, "libtracetools.so", 16)) {
			(void)snprintf(loaded->tracetools, sizeof loaded->tracetools, "%.*s",
				       PATH_MAX - 1, name);
		} else if (!strncmp(base, "librclcpp.so", 12)) {
			(void)snprintf(loaded->rclcpp, sizeof loaded->rclcpp, "%.*s", PATH_MAX - 1, name);
		}
	}
	fclose(file);
	return true;
}

static void say_loaded(struct doctor *doctor, const struct doctor_process *process,
		       const struct doctor_loaded *loaded)
{
	const char *preload = doctor_variable(process, "LD_PRELOAD");

	if (loaded->deleted)
		doctor_say(doctor, PRELOAD_REPLACED);
	else if (loaded->preload)
		doctor_say(doctor, PRELOAD_LOADED);
	else if (loaded->tracer)
		doctor_say(doctor, PRELOAD_LINKED);
	else if (doctor_no_preload(doctor, process))
		return;
	else if (preload && strstr(preload, PRELOAD_LIBRARY))
		doctor_say(doctor, PRELOAD_IGNORED);
	else
		doctor_say(doctor, PRELOAD_MISSING);
}

static void say_tracetools(struct doctor *doctor, const struct doctor_process *process,
			   const struct doctor_loaded *loaded)
{
	char path[PATH_MAX + 64];
	struct tracetools_facts facts;
	struct elf elf;

	if (!*loaded->tracetools && doctor_no_tracetools(doctor, process, loaded))
		return;
	if (!*loaded->tracetools) {
		(void)(loaded->tracer ? doctor_say(doctor, TRACETOOLS_NOT_NEEDED)
				      : doctor_say(doctor, TRACETOOLS_NOT_LOADED));
		return;
	}
	/* In a container the path means another file: look through the process's own root. */
	(void)snprintf(path, sizeof path, "/proc/%u/root%s", process->pid, loaded->tracetools);
	if (elf_open(&elf, path, NULL)) {
		doctor_say(doctor, TRACETOOLS_LOADED, loaded->tracetools);
		return;
	}
	if (doctor_is_disabled(doctor, &elf, loaded->tracetools)) {
		elf_close(&elf);
		return;
	}
	program_tracetools(&elf, path, &facts);
	elf_close(&elf);
	doctor_say(doctor, TRACETOOLS_VERSION, loaded->tracetools, facts.version, facts.evidence);
	(void)snprintf(path, sizeof path, "/proc/%u/root%s", process->pid, loaded->rclcpp);
	if (!*loaded->rclcpp || elf_open(&elf, path, NULL))
		return;
	doctor_symbols(doctor, path, &elf, &facts);
	elf_close(&elf);
}

/* LTTng-UST names its listener threads after the process, with "-ust" at the end. */
static void say_threads(struct doctor *doctor, const struct doctor_process *process)
{
	const char *disabled = doctor_variable(process, "TRACETOOLS_RUNTIME_DISABLE");
	unsigned threads = 0, listeners = 0;
	char path[300], name[32];
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof path, "/proc/%u/task", process->pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		size_t got;

		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		(void)snprintf(path, sizeof path, "task/%.32s/comm", entry->d_name);
		got = alive_read_file((int)process->pid, path, name, sizeof name);
		threads++;
		listeners += got > 4 && !memcmp(name + got - 5, "-ust\n", 5);
	}
	if (dir)
		closedir(dir);
	if (listeners && disabled && !strcmp(disabled, "1"))
		doctor_say(doctor, THREADS_OF_LTTNG_ANYWAY, threads, listeners);
	else if (listeners)
		doctor_say(doctor, THREADS_OF_LTTNG, threads, listeners);
	else
		doctor_say(doctor, THREADS_FOUND, threads, disabled ? "; TRACETOOLS_RUNTIME_DISABLE keeps only LTTng out" : "");
}

/* ---- its region ---- */

/* The newest "<pid>-....region" of the directory. */
static bool find_region(const char *directory, unsigned pid, char *path, size_t size)
{
	size_t length = strlen(directory);
	struct timespec newest = { 0 };
	struct dirent *entry;
	struct stat status;
	bool found = false;
	char prefix[16];
	DIR *dir = opendir(directory);

	(void)snprintf(prefix, sizeof prefix, "%u-", pid);
	while (dir && (entry = readdir(dir))) {
		const char *end = strrchr(entry->d_name, '.');

		if (strncmp(entry->d_name, prefix, strlen(prefix)) || !end ||
		    strcmp(end, ".region") || length + strlen(entry->d_name) + 2 > size ||
		    fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(status.st_mode))
			continue;
		if (found && (status.st_ctim.tv_sec < newest.tv_sec ||
			      (status.st_ctim.tv_sec == newest.tv_sec &&
			       status.st_ctim.tv_nsec < newest.tv_nsec)))
			continue;
		newest = status.st_ctim;
		found = true;
		(void)snprintf(path, size, "%s/%s", directory, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

static const char *state_of(const struct kymo_region *region)
{
	static const char *const states[] = { "?", "waiting for a recorder", "about to be recorded",
					      "being recorded" };

	return region->flags & KYMO_REGION_REPLACED ? "of a program that was replaced by exec"
	       : region->flags & KYMO_REGION_EXITED ? "of a process that ended"
	       : region->state < COUNT_OF(states)   ? states[region->state]
						    : states[0];
}

static void say_region(struct doctor *doctor, unsigned pid, const char *path, const char *library)
{
	struct kymo_region region;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t got = fd < 0 ? -1 : pread(fd, &region, sizeof region, 0);

	if (fd >= 0)
		(void)close(fd);
	if (got != sizeof region)
		doctor_say(doctor, REGION_UNREADABLE, path, got < 0 ? ": " : "", got < 0 ? strerror(errno) : "");
	else if (region.magic != KYMO_REGION_MAGIC)
		doctor_say(doctor, REGION_DAMAGED, path);
	else if (region.abi_version != KYMO_ABI_VERSION)
		doctor_say(doctor, REGION_LAYOUT, path, region.abi_version, KYMO_ABI_VERSION,
			   library);
	else if (region.points_table != KYMO_POINTS_TABLE || region.table_hash != kymo_table_hash())
		doctor_say(doctor, REGION_POINTS, path, region.points_table,
			   (unsigned)KYMO_POINTS_TABLE, library);
	else {
		doctor_say(doctor, REGION_FOUND, state_of(&region), region.ring_count,
			   region.tracetools ? region.tracetools_version : "not seen yet");
		if (!alive_shares_clock(region.time_ns, (int)pid))
			doctor_say(doctor, CONTAINER_CLOCK);
	}
}

static void say_directory(struct doctor *doctor, const struct doctor_process *process,
			  const struct doctor_loaded *loaded)
{
	const char *disabled = doctor_variable(process, "KYMO_DISABLE");
	char inner[PATH_MAX], path[PATH_MAX + 64], file[PATH_MAX + 512];

	(void)rundir_choose(inner, sizeof inner, doctor_variable(process, "KYMO_DIR"),
			    process->uid);
	/* In a container /dev/shm is another one; the recorder there sees the same as the
	 * process. */
	(void)snprintf(path, sizeof path, "/proc/%u/root%s", process->pid, inner);
	doctor_same_directory(doctor, process, inner, path);
	if (find_region(path, process->inner_pid, file, sizeof file)) {
		say_region(doctor, process->pid, file,
			   *loaded->libkymo ? loaded->libkymo : "its libkymo");
		if (process->inner_pid != process->pid)
			doctor_say(doctor, CONTAINER_INSIDE, process->inner_pid, inner);
		return;
	}
	if (!loaded->preload && !loaded->tracer)
		return;		/* the reason was reported already */
	if (disabled && !strcmp(disabled, "1")) {
		doctor_say(doctor, REGION_OFF);
		return;
	}
	doctor_say(doctor, REGION_NONE, inner);
	doctor_directory(doctor, path, process->uid);
}

int doctor_process(struct doctor *doctor, unsigned pid, struct kymo_err *err)
{
	struct doctor_process process = { .pid = pid };
	struct doctor_loaded loaded;
	char path[64], exe[PATH_MAX];
	ssize_t length;

	if (!read_status(&process) || process.state == 'Z')
		return err_set(err, KYMO_EXIT_INPUT, "no process %u%s", pid,
			       process.state == 'Z' ? ": it ended and is a zombie" : "");
	(void)snprintf(path, sizeof path, "/proc/%u/exe", pid);
	length = readlink(path, exe, sizeof exe - 1);
	exe[length > 0 ? length : 0] = 0;
	doctor_say(doctor, PROCESS_FOUND, pid, process.name, *exe ? ", " : "", exe);
	if (length < 0 && errno == ENOENT)
		return !doctor_say(doctor, PROCESS_KERNEL);
	if (process.uid != geteuid() && geteuid())
		return !doctor_say(doctor, OWNER_OTHER, process.uid, (unsigned)geteuid());
	doctor_say(doctor, OWNER_SAME, process.uid);
	if (!read_maps(&process, &loaded))
		return !doctor_say(doctor, PROCESS_CLOSED, pid, strerror(errno));
	process.environment = environment_read((int)pid, &process.environment_size);
	say_loaded(doctor, &process, &loaded);
	say_tracetools(doctor, &process, &loaded);
	say_threads(doctor, &process);
	doctor_python(doctor, &process, &loaded);
	if (loaded.malloc)
		doctor_malloc(doctor, &process);
	say_directory(doctor, &process, &loaded);
	free(process.environment);
	return 0;
}
