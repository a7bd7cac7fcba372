/* SPDX-License-Identifier: Apache-2.0 */
/* See attach_process.h. Each refusal names what would allow it. */
#include "attach/attach_process.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/attach_trust.h"
#include "base/array.h"

#define AUXV_MAX 64

static void read_line(struct attach_process *process, const char *line)
{
	(void)sscanf(line, "State: %c", &process->state);
	(void)sscanf(line, "Tgid: %u", &process->group);
	(void)sscanf(line, "TracerPid: %u", &process->tracer);
	(void)sscanf(line, "Seccomp: %u", &process->seccomp);
	(void)sscanf(line, "Seccomp_filters: %u", &process->filters);
	(void)sscanf(line, "Uid: %u %u %u %u", &process->uid[0], &process->uid[1], &process->uid[2],
		     &process->uid[3]);
	(void)sscanf(line, "Name: %63[^\n]", process->name);
}

static bool differs(unsigned pid, const char *what)
{
	char path[64], own[64];
	struct stat theirs, ours;

	(void)snprintf(path, sizeof path, "/proc/%u/%s", pid, what);
	(void)snprintf(own, sizeof own, "/proc/self/%s", what);
	return !stat(path, &theirs) && !stat(own, &ours) &&
	       (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino);
}

int process_read(struct attach_process *process, unsigned pid, struct kymo_err *err)
{
	char path[64], line[512];
	FILE *file;

	*process = (struct attach_process){ .pid = pid };
	(void)snprintf(path, sizeof path, "/proc/%u/status", pid);
	file = fopen(path, "re");
	if (!file)
		return err_set(err, KYMO_EXIT_INPUT, "no process %u exists; \"kymo attach\" lists those that can be attached", pid);
	while (fgets(line, sizeof line, file))
		read_line(process, line);
	(void)fclose(file);
	process->container = differs(pid, "ns/mnt") || differs(pid, "root");
	if (process->group != pid)
		return err_set(err, KYMO_EXIT_INPUT, "%u is a thread; name its process, %u", pid,
			       process->group);
	return 0;
}

/* The kernel gave the program more rights than its user has. */
static bool is_secure(unsigned pid)
{
	Elf64_auxv_t entry[AUXV_MAX];
	char path[64];
	size_t count = 0;
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/%u/auxv", pid);
	file = fopen(path, "re");
	if (file) {
		count = fread(entry, sizeof *entry, AUXV_MAX, file);
		(void)fclose(file);
	}
	for (size_t i = 0; i < count; i++)
		if (entry[i].a_type == AT_SECURE)
			return entry[i].a_un.a_val != 0;
	return false;
}

static int check_user(const struct attach_process *process, struct kymo_err *err)
{
	const unsigned own = (unsigned)geteuid();

	if (own == 0)
		return 0;
	for (unsigned i = 0; i < 4; i++)
		if (process->uid[i] != own)
			return err_set(err, KYMO_EXIT_FAILED,
				       "%s (%u) runs as user %u, you are user %u: only root may "
				       "attach to other users' programs; use sudo",
				       process->name, process->pid, process->uid[i], own);
	return 0;
}

/* A filter that kills the process at mmap() or openat() cannot be read without rights. Filters that
 * are also ours are harmless. */
static int check_sandbox(const struct attach_process *process, struct kymo_err *err)
{
	struct attach_process own;

	if (process->seccomp == 0)
		return 0;
	if (process->seccomp == 2 && process_read(&own, (unsigned)getpid(), err) == 0 &&
	    own.filters == process->filters)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED,
		       "%s (%u) is sandboxed (seccomp), and a forbidden system call would end it; "
		       "run kymo in the same container, or start it with \"kymo run\"",
		       process->name, process->pid);
}

int process_allows(const struct attach_process *process, struct kymo_err *err)
{
	if (process->pid == (unsigned)getpid())
		return err_set(err, KYMO_EXIT_USAGE, "%u is kymo itself", process->pid);
	if (process->state == 'Z' || process->state == 'X')
		return err_set(err, KYMO_EXIT_INPUT, "%s (%u) has ended", process->name,
			       process->pid);
	if (check_user(process, err) < 0)
		return -1;
	if (process->tracer)
		return err_set(err, KYMO_EXIT_FAILED,
			       "process %u already traces %s (%u), as a debugger or strace does; "
			       "end it first",
			       process->tracer, process->name, process->pid);
	if (process->state == 'T')
		return err_set(err, KYMO_EXIT_FAILED,
			       "%s (%u) is stopped; let it continue first: kill -CONT %u",
			       process->name, process->pid, process->pid);
	if (is_secure(process->pid))
		return err_set(err, KYMO_EXIT_FAILED,
			       "%s (%u) is a setuid program, or has file capabilities: kymo does "
			       "not trace such programs",
			       process->name, process->pid);
	return check_sandbox(process, err);
}

static bool is_of_32_bits(unsigned pid)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/%u/exe", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	(void)!fread(ident, 1, sizeof ident, file);
	(void)fclose(file);
	return ident[EI_CLASS] == ELFCLASS32;
}

/* The thread sanitizer must know every thread, and does not see the one that we create. */
static bool has_thread_sanitizer(const struct maps *maps)
{
	for (unsigned i = 0; i < maps->count; i++)
		if (!maps->map[i].offset && !strcmp(maps_path(maps, &maps->map[i]), maps->program))
			return maps_symbol(maps, &maps->map[i], "__tsan_init", NULL) ||
			       maps_object(maps, "libtsan.so");
	return maps_object(maps, "libtsan.so") != NULL;
}

int process_suits(const struct attach_process *process, const struct maps *maps,
		  struct kymo_err *err)
{
	uint8_t byte;

	if (!maps->count)
		return err_set(
			err, KYMO_EXIT_INPUT,
			"%s (%u) has no memory: it is a thread of the kernel, or it has ended",
			process->name, process->pid);
	if (!memory_read(process->pid, maps->map[0].from, &byte, sizeof byte) && errno != EFAULT &&
	    errno != EIO)
		return process_refused(process, errno, err);
	if (is_of_32_bits(process->pid))
		return err_set(err, KYMO_EXIT_FAILED,
			       "%s (%u) is a 32-bit program; kymo traces 64-bit programs",
			       process->name, process->pid);
	if (has_thread_sanitizer(maps))
		return err_set(err, KYMO_EXIT_FAILED,
			       "%s (%u) is built with the thread sanitizer, which does not know "
			       "threads of kymo; start it with \"kymo run\"",
			       process->name, process->pid);
	if (maps_object(maps, "libc.so.6") || maps_object(maps, "libc-2"))
		return 0;
	for (unsigned i = 0; i < maps->count; i++)
		if (strstr(maps_path(maps, &maps->map[i]), "ld-musl"))
			return err_set(err, KYMO_EXIT_FAILED,
				       "%s (%u) uses musl as its libc; kymo's library needs the "
				       "GNU C library",
				       process->name, process->pid);
	return err_set(
		err, KYMO_EXIT_FAILED,
		"%s (%u) is statically linked: no dynamic linker can load kymo's library into it",
		process->name, process->pid);
}

/* The value of Yama's switch; 0: not set, or no Yama. */
static int yama_scope(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%d", &scope) != 1)
		scope = 0;
	(void)fclose(file);
	return scope;
}

int process_refused(const struct attach_process *process, int error, struct kymo_err *err)
{
	const int scope = yama_scope();

	if (error == ESRCH)
		return err_set(err, KYMO_EXIT_INPUT, "%s (%u) has ended", process->name,
			       process->pid);
	if (error != EPERM && error != EACCES)
		return err_set(err, KYMO_EXIT_FAILED, "cannot trace %s (%u): %s", process->name,
			       process->pid, strerror(error));
	if (scope == 3)
		return err_set(
			err, KYMO_EXIT_FAILED,
			"this machine forbids ptrace until it is started again "
			"(kernel.yama.ptrace_scope is 3); start the program with \"kymo run\"");
	if (scope == 2 || (scope == 1 && geteuid()))
		return err_set(err, KYMO_EXIT_FAILED,
			       "the kernel does not let you trace %s (%u): "
			       "kernel.yama.ptrace_scope is %d; use sudo%s",
			       process->name, process->pid, scope,
			       scope == 1 ? ", or: sudo sysctl kernel.yama.ptrace_scope=0" : "");
	return err_set(err, KYMO_EXIT_FAILED,
		       "the kernel does not let you trace %s (%u): use sudo; in a container, start "
		       "it with --cap-add SYS_PTRACE",
		       process->name, process->pid);
}

/* What libkymo-ros2.so loads, in the build and where it is installed. */
static const char *const beside[] = { "libkymo.so.0",
				      "../libkymo.so.0",
				      "libkymo-attach.so",
				      "python/kymo_rclpy_attach.py",
				      "python/kymo_rclpy_hook.py" };

static int judge_file(const struct attach_process *process, const char *path, struct kymo_err *err)
{
	char root[32], where[PATH_MAX];
	const struct trust trust = { root, { geteuid(), process->uid[0] } };

	(void)snprintf(root, sizeof root, "/proc/%u/root", process->pid);
	switch (trust_file(&trust, path, where)) {
	case TRUST_OURS:
		return 0;
	case TRUST_OTHERS:
		return err_set(err, KYMO_EXIT_FAILED,
			       "%s could be replaced by another user (see the owner and the mode "
			       "of %s); install kymo where only root or you may write",
			       path, where);
	default:
		return 1;
	}
}

int process_library(const struct attach_process *process, const char *library, struct kymo_err *err)
{
	const char *slash = strrchr(library, '/');
	char path[PATH_MAX + 32];
	struct stat st;
	int result;

	(void)snprintf(path, sizeof path, "/proc/%u/root%s", process->pid, library);
	result = judge_file(process, library, err);
	if (result < 0)
		return -1;
	if (result > 0 && process->container && errno == ENOENT)
		return err_set(err, KYMO_EXIT_FAILED,
			       "%s (%u) runs in a container that has no %s; install kymo there, "
			       "or set KYMO_PRELOAD to the library's path in the container",
			       process->name, process->pid, library);
	if (result > 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot find %s as %s (%u) sees it: %s",
			       library, process->name, process->pid, strerror(errno));
	for (unsigned i = 0; slash && i < COUNT_OF(beside); i++) {
		const int length = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - library),
					    library, beside[i]);

		if (length < PATH_MAX && judge_file(process, path, err) < 0)
			return -1; /* if it does not exist, loading says so */
	}
	(void)snprintf(path, sizeof path, "/proc/%u/root%s", process->pid, library);
	if (!process->container && stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(err, KYMO_EXIT_FAILED, "%s is not a file", library);
	return 0;
}
