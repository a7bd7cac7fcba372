/* SPDX-License-Identifier: Apache-2.0 */
/* Why a process is not traced although it should be: the common mistakes. docs/record/doctor.md
 * lists them. */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/doctor/doctor_internal.h"
#include "base/array.h"
#include "recorder/runtime/alive.h"
#include "recorder/launch/preload.h"
#include "recorder/runtime/rundir.h"

#define ANCESTORS_MAX 32

static bool open_program(struct elf *elf, const struct doctor_process *process)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%u/exe", process->pid);
	return elf_open(elf, path, NULL) == 0;
}

/* ---- LD_PRELOAD was ignored, or did not arrive ---- */

/* As the kernel reported it to the loader when the program began. */
static bool is_secure(unsigned pid)
{
	Elf64_auxv_t entry[64];
	const size_t size = alive_read_file((int)pid, "auxv", (char *)entry, sizeof entry);

	for (size_t i = 0; i < size / sizeof *entry; i++)
		if (entry[i].a_type == AT_SECURE && entry[i].a_un.a_val)
			return true;
	return false;
}

/* It was started to be traced, or is the recorder that starts a command. */
static bool hands_down(int pid, const char *name)
{
	size_t size = 0;
	char *environment = environment_read(pid, &size);
	const char *preload = environment_value(environment, size, "LD_PRELOAD");
	bool does = (preload && strstr(preload, PRELOAD_LIBRARY)) || !strcmp(name, "kymo");

	free(environment);
	return does;
}

static bool was_stripped(struct doctor *doctor, const struct doctor_process *process)
{
	char name[64], below[64];
	int pid = doctor_parent((int)process->pid, below), under = (int)process->pid;

	for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		int next = doctor_parent(pid, name);

		if (hands_down(pid, name))
			return doctor_say(doctor, PRELOAD_REMOVED, pid, name, under, below);
		under = pid;
		memcpy(below, name, sizeof below);
		pid = next;
	}
	return false;
}

bool doctor_no_preload(struct doctor *doctor, const struct doctor_process *process)
{
	const char *preload = doctor_variable(process, "LD_PRELOAD");
	struct elf elf;
	bool is_static = false;

	if (is_secure(process->pid))
		return doctor_say(doctor, PRELOAD_SECURE);
	if (open_program(&elf, process)) {
		is_static = elf.readable && !*elf.interpreter;
		elf_close(&elf);
	}
	if (is_static)
		return doctor_say(doctor, PRELOAD_STATIC);
	return !(preload && strstr(preload, PRELOAD_LIBRARY)) && was_stripped(doctor, process);
}

/* ---- no tracepoints ---- */

bool doctor_is_disabled(struct doctor *doctor, const struct elf *elf, const char *library)
{
	if (!elf->readable || !elf->symbol_count || elf_symbol(elf, "ros_trace_rcl_init") || elf_defines(elf, "ros_trace_"))
		return false;
	return doctor_say(doctor, TRACETOOLS_EMPTY, library);
}

bool doctor_no_tracetools(struct doctor *doctor, const struct doctor_process *process,
			  const struct doctor_loaded *loaded)
{
	struct elf elf;
	bool linked = false;

	if (open_program(&elf, process)) {
		linked = elf_defines(&elf, "ros_trace_");
		elf_close(&elf);
	}
	if (linked)
		return doctor_say(doctor, TRACETOOLS_LINKED);
	return *loaded->rclcpp && doctor_say(doctor, TRACETOOLS_DISABLED, loaded->rclcpp);
}

/* ---- Python, malloc ---- */

/* Started by kymo run or kymo record. */
static bool waits_for_rclpy(const struct doctor_process *process)
{
	const char *path = doctor_variable(process, "PYTHONPATH"),
		   *off = doctor_variable(process, "KYMO_RCLPY");
	char file[PATH_MAX];
	size_t length;

	if (!path || (off && strcmp(off, "0") == 0))
		return false;
	length = strcspn(path, ":");
	return snprintf(file, sizeof file, "%.*s/kymo_rclpy_hook.py", (int)length, path) <
		       (int)sizeof file &&
	       access(file, R_OK) == 0;
}

void doctor_python(struct doctor *doctor, const struct doctor_process *process,
		   const struct doctor_loaded *loaded)
{
	const char *asked = doctor_variable(process, "KYMO_RCLPY");
	char words[4096];
	size_t got;

	if (!loaded->rclpy)
		return;
	got = alive_read_file((int)process->pid, "cmdline", words, sizeof words);
	if ((asked && *asked && strcmp(asked, "0") != 0) ||
	    memmem(words, got, "kymo.rclpy_hook", 15) || waits_for_rclpy(process))
		doctor_say(doctor, RCLPY_HOOKED);
	else
		doctor_say(doctor, RCLPY_PLAIN);
}

void doctor_own_malloc(struct doctor *doctor, const struct elf *elf)
{
	if (elf_symbol(elf, "malloc"))
		doctor_say(doctor, MALLOC_OWN);
}

void doctor_calls(struct doctor *doctor, const char *path, const struct elf *elf)
{
	static const char *const called[] = { "__cyg_profile_func_enter", "mcount", "_mcount",
					      "__fentry__" };
	bool calls = false;

	for (size_t i = 0; i < COUNT_OF(called); i++)
		calls |= elf_uses(elf, called[i]) > 0;
	if (calls)
		doctor_say(doctor, CALLS_REPORTED, basename(path));
	else if (elf_has_section(elf, "__patchable_function_entries"))
		doctor_say(doctor, CALLS_PATCHABLE, basename(path));
}

void doctor_malloc(struct doctor *doctor, const struct doctor_process *process)
{
	struct elf elf;

	if (!open_program(&elf, process))
		return;
	doctor_own_malloc(doctor, &elf);
	elf_close(&elf);
}

/* ---- another directory ---- */

static bool is_same(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

void doctor_same_directory(struct doctor *doctor, const struct doctor_process *process,
			   const char *inner, const char *path)
{
	char own[512], mounts[64];
	struct stat there;
	struct kymo_err err;

	(void)snprintf(mounts, sizeof mounts, "/proc/%u/ns/mnt", process->pid);
	if (rundir_path(own, sizeof own, &err) || is_same(own, path) || stat(path, &there))
		return;
	if (!is_same("/proc/self/ns/mnt", mounts))
		doctor_say(doctor, CONTAINER_APART, inner, own);
	else if (process->uid != geteuid())
		doctor_say(doctor, DIRECTORY_OTHER_USER, inner, own);
	else
		doctor_say(doctor, DIRECTORY_OTHER, inner, own);
}
