/* SPDX-License-Identifier: Apache-2.0 */
/* Can this program be traced? Reads its file and those of its libraries. See doctor.h. */
#include "recorder/doctor/doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "recorder/launch/program_libraries.h"
#include "recorder/launch/prefixes.h"
#include "recorder/launch/preload.h"
#include "recorder/launch/program_tracetools.h"
#include "base/array.h"

#define SCRIPT_DEPTH_MAX 4	/* as the kernel has it */

/* ---- the file itself ---- */

static void privileges(struct doctor *doctor, const char *path)
{
	static const char *const remedy =
		"run it without: give the process its privileges in another way (systemd's AmbientCapabilities=, limits.conf for real-time priorities)";
	struct stat status;
	bool plain = true;

	if (stat(path, &status))
		return;
	if ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) {
		plain = false;
		doctor_say(doctor, "privileges", DOCTOR_PROBLEM, remedy,
			   "setuid (user %u): the loader ignores LD_PRELOAD", (unsigned)status.st_uid);
	}
	if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid()) {
		plain = false;
		doctor_say(doctor, "privileges", DOCTOR_PROBLEM, remedy,
			   "setgid (group %u): the loader ignores LD_PRELOAD", (unsigned)status.st_gid);
	}
	if (getxattr(path, "security.capability", NULL, 0) > 0) {
		plain = false;
		/* Root has them anyway; then nothing is gained and LD_PRELOAD is kept. */
		doctor_say(doctor, "privileges", geteuid() ? DOCTOR_PROBLEM : DOCTOR_WARNING, remedy,
			   "the file has capabilities: the loader ignores LD_PRELOAD");
	}
	if (plain)
		doctor_say(doctor, "privileges", DOCTOR_OK, NULL, "no setuid, no file capabilities");
}

/* Architecture and loader. Return: whether a preload library of ours can be loaded at all. */
static bool loadable(struct doctor *doctor, const struct elf *elf)
{
	char name[32], own[32], path[PATH_MAX];
	struct elf library;
	unsigned machine;

#if defined(__aarch64__)
	machine = EM_AARCH64;
#else
	machine = EM_X86_64;
#endif
	if (!preload_find(path, sizeof path, doctor->libdir, NULL) && !elf_open(&library, path, NULL)) {
		machine = library.machine;
		elf_close(&library);
	}
	if (!elf->readable || elf->machine != machine) {
		doctor_say(doctor, "architecture", DOCTOR_PROBLEM,
			   "build the program for the architecture kymo was built for",
			   "%u-bit %s; kymo's library is 64-bit %s", elf->bits,
			   elf_machine_name(elf->machine, name), elf_machine_name(machine, own));
		return false;
	}
	doctor_say(doctor, "architecture", DOCTOR_OK, NULL, "%u-bit %s", elf->bits,
		   elf_machine_name(elf->machine, name));
	if (!*elf->interpreter) {
		doctor_say(doctor, "linking", DOCTOR_PROBLEM,
			   "link it dynamically; a static program takes no LD_PRELOAD",
			   elf->type == ET_REL ? "an object file, not a program" :
			   elf->dynamic ? "no dynamic loader: static, or a shared library" :
					  "statically linked");
		return false;
	}
	if (access(elf->interpreter, X_OK)) {
		doctor_say(doctor, "linking", DOCTOR_PROBLEM, "install the libc it was built for",
			   "its loader %s cannot be run: %s", elf->interpreter, strerror(errno));
		return false;
	}
	if (!strstr(elf->interpreter, "ld-linux")) {
		doctor_say(doctor, "linking", DOCTOR_PROBLEM, "build it for the GNU C library",
			   "its loader %s is not that of the GNU C library", elf->interpreter);
		return false;
	}
	doctor_say(doctor, "linking", DOCTOR_OK, NULL, "dynamic, loader %s", elf->interpreter);
	return true;
}

/* ---- its libraries ---- */

static void missing(struct doctor *doctor, const struct libraries *libraries)
{
	char names[512] = "";
	size_t used = 0;
	unsigned count = 0;

	for (unsigned i = 1; i < libraries->count; i++) {
		const struct library *item = &libraries->item[i];

		if (item->path)
			continue;
		if (count++ < 3 && used < sizeof names)
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
						 count > 1 ? ", " : "", item->name);
	}
	if (count)
		doctor_say(doctor, "libraries", DOCTOR_PROBLEM,
			   "source the setup file of the ROS 2 installation and of the workspace first",
			   "%u of %u cannot be found: %s%s", count, libraries->count - 1, names,
			   count > 3 ? ", ..." : "");
	else
		doctor_say(doctor, "libraries", DOCTOR_OK, NULL, "%u, all found",
			   libraries->count - 1);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct callers {
	unsigned users;		/* files that call tracepoints */
	unsigned symbols;
	const char *names[3];
	const char *silent;	/* a library that should call them and does not */
	bool loads_more;	/* something calls dlopen */
	bool spans;		/* calls kymo itself */
};

static struct callers find_callers(const struct libraries *libraries)
{
	static const char *const traced[] = { "librclcpp.so", "librcl.so" };
	struct callers callers = { 0 };

	for (unsigned i = 0; i < libraries->count; i++) {
		const struct library *item = &libraries->item[i];
		const char *name = base_name(item->name);
		unsigned uses = elf_uses(&item->elf, "ros_trace_");

		if (!strncmp(name, "libtracetools.so", 16) || !strncmp(name, "libkymo", 7))
			continue;
		callers.spans |= elf_uses(&item->elf, "kymo_") > 0;
		if (strncmp(name, "libc.so", 7) && strncmp(name, "ld-linux", 8) &&
		    strncmp(name, "libdl.so", 8))
			callers.loads_more |= elf_uses(&item->elf, "dlopen") > 0;
		if (uses && callers.users < 3)
			callers.names[callers.users] = name;
		callers.users += uses > 0;
		callers.symbols += uses;
		for (size_t k = 0; !uses && item->path && k < COUNT_OF(traced); k++) {
			if (!strncmp(name, traced[k], strlen(traced[k])))
				callers.silent = name;
		}
	}
	return callers;
}

static void no_callers(struct doctor *doctor, const struct callers *callers, const char *path)
{
	if (callers->spans)
		doctor_say(doctor, "tracepoints", DOCTOR_OK, NULL,
			   "none of ROS 2, but it calls libkymo itself");
	else if (callers->silent)
		doctor_say(doctor, "tracepoints", DOCTOR_PROBLEM,
			   "build ROS 2 without TRACETOOLS_DISABLED; Debian packages from Iron on have tracepoints",
			   "%s has none: built with TRACETOOLS_DISABLED", callers->silent);
	else if (!strncmp(base_name(path), "python", 6))
		doctor_say(doctor, "tracepoints", DOCTOR_WARNING,
			   "start it with 'kymo run', then ask 'kymo doctor -p PID'",
			   "not to be seen before it runs: Python loads rcl when a script imports rclpy");
	else if (callers->loads_more)
		doctor_say(doctor, "tracepoints", DOCTOR_WARNING,
			   "start it with 'kymo run', then ask 'kymo doctor -p PID'",
			   "none yet, but it can load libraries while it runs");
	else
		doctor_say(doctor, "tracepoints", DOCTOR_PROBLEM,
			   "choose a ROS 2 program, or put spans into it with kymo.h",
			   "neither it nor its libraries call ros_trace_*: there is nothing to record");
}

static void symbols(struct doctor *doctor, const struct libraries *libraries, const struct tracetools_facts *facts)
{
	for (unsigned i = 1; i < libraries->count; i++)
		if (libraries->item[i].path)
			doctor_symbols(doctor, libraries->item[i].path, &libraries->item[i].elf, facts);
}

static void libtracetools(struct doctor *doctor, const struct libraries *libraries, const struct library *library)
{
	struct tracetools_facts facts;

	if (!library || !library->path) {
		doctor_say(doctor, "libtracetools", DOCTOR_PROBLEM,
			   "source the setup file of the ROS 2 installation first",
			   "not found, though its tracepoints are called");
		return;
	}
	if (doctor_is_disabled(doctor, &library->elf, library->path))
		return;
	tracetools_look(&library->elf, library->path, &facts);
	doctor_say(doctor, "libtracetools", facts.guessed ? DOCTOR_WARNING : DOCTOR_OK,
		   facts.guessed ? "set ROS_DISTRO, or install the package.xml of tracetools" : NULL,
		   "%s, version %s (%s)", library->path, facts.version, facts.evidence);
	doctor_say(doctor, "LTTng", DOCTOR_OK,
		   facts.lttng ? "kymo run sets TRACETOOLS_RUNTIME_DISABLE; older versions ignore it and start LTTng's threads" :
				 NULL,
		   facts.lttng ? "tracetools was built with LTTng" :
				 "tracetools was built without LTTng; kymo does not need it");
	symbols(doctor, libraries, &facts);
}

static void tracepoints(struct doctor *doctor, const struct libraries *libraries)
{
	struct callers callers = find_callers(libraries);
	const struct library *library = NULL;

	/* Its own copy of the functions wins over any library: the loader looks there first. */
	if (elf_defines(&libraries->item[0].elf, "ros_trace_")) {
		doctor_say(doctor, "tracepoints", DOCTOR_PROBLEM,
			   "link it against libtracetools.so instead of libtracetools.a",
			   "libtracetools is linked into the program: its calls cannot be caught");
		return;
	}
	for (unsigned i = 1; i < libraries->count; i++) {
		if (!strncmp(base_name(libraries->item[i].name), "libtracetools.so", 16))
			library = &libraries->item[i];
	}
	if (!callers.users) {
		no_callers(doctor, &callers, libraries->item[0].path);
	} else {
		doctor_say(doctor, "tracepoints", DOCTOR_OK, NULL, "%u used by %s%s%s%s%s%s",
			   callers.symbols, callers.names[0], callers.users > 1 ? ", " : "",
			   callers.users > 1 ? callers.names[1] : "", callers.users > 2 ? ", " : "",
			   callers.users > 2 ? callers.names[2] : "", callers.users > 3 ? ", ..." : "");
	}
	if (callers.users || library)
		libtracetools(doctor, libraries, library);
}

void doctor_elf(struct doctor *doctor, const char *path)
{
	struct libraries *libraries;
	struct kymo_err err;

	if (libraries_open(&libraries, path, &err)) {
		doctor_say(doctor, "program", DOCTOR_PROBLEM,
			   "name an executable, or a script that begins with #!", "%s", err.text);
		return;
	}
	if (loadable(doctor, &libraries->item[0].elf)) {
		missing(doctor, libraries);
		tracepoints(doctor, libraries);
		doctor_own_malloc(doctor, &libraries->item[0].elf);
	}
	libraries_close(libraries);
}

/* ---- finding it ---- */

static bool runnable(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

static int find_program(const char *name, char path[PATH_MAX], struct kymo_err *err)
{
	const char *dirs = getenv("PATH");
	struct stat status;

	if (strchr(name, '/')) {
		(void)snprintf(path, PATH_MAX, "%s", name);
		if (stat(path, &status))
			return err_set(err, KYMO_EXIT_INPUT, "no program %s: %s", path, strerror(errno));
		if (!S_ISREG(status.st_mode))
			return err_set(err, KYMO_EXIT_INPUT, "%s is no file", path);
		return 0;
	}
	for (; dirs && *dirs; dirs += strcspn(dirs, ":"), dirs += *dirs == ':') {
		int length = snprintf(path, PATH_MAX, "%.*s/%s", (int)strcspn(dirs, ":"), dirs, name);

		if (length > 0 && length < PATH_MAX && runnable(path))
			return 0;
	}
	return err_set(err, KYMO_EXIT_INPUT, "no program %s in PATH; name it with its path", name);
}

/* "#!interpreter argument". Return: 0 with the program that will run, 1 for no script, -1. */
static int interpreter(const char *path, char out[PATH_MAX], struct kymo_err *err)
{
	FILE *file = fopen(path, "re");
	char line[256] = "", *word, *rest;
	size_t got;

	if (!file)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
	got = fread(line, 1, sizeof line - 1, file);
	fclose(file);
	if (got < 3 || memcmp(line, "#!", 2))
		return 1;
	line[strcspn(line, "\n")] = 0;
	word = line + 2 + strspn(line + 2, " \t");
	rest = word + strcspn(word, " \t");
	if (*rest)
		*rest++ = 0;
	rest += strspn(rest, " \t");
	if (!strcmp(base_name(word), "env") && *rest) {
		if (!strncmp(rest, "-S", 2))
			rest += 2 + strspn(rest + 2, " \t");
		word = rest;
		word[strcspn(word, " \t")] = 0;
	}
	return find_program(word, out, err);
}

/* Return: 0 with the @path of what will be run, 1: a problem with that was told, -1 with @err. */
static int resolve(struct doctor *doctor, const char *program, char path[PATH_MAX], struct kymo_err *err)
{
	char next[PATH_MAX];

	if (find_program(program, path, err))
		return -1;
	doctor_say(doctor, "program", DOCTOR_OK, NULL, "%s", path);
	if (!runnable(path))
		doctor_say(doctor, "program", DOCTOR_PROBLEM, "chmod +x the file",
			   "%s may not be executed by you", path);
	for (unsigned depth = 0;; depth++) {
		int result = interpreter(path, next, err);

		if (result < 0) {
			doctor_say(doctor, "interpreter", DOCTOR_PROBLEM,
				   "install it, or make the file readable", "%s", err->text);
			return 1;
		}
		if (result || depth >= SCRIPT_DEPTH_MAX)
			return 0;
		doctor_say(doctor, "interpreter", DOCTOR_OK, NULL, "a script, run by %s", next);
		memcpy(path, next, PATH_MAX);
	}
}

int doctor_program(struct doctor *doctor, const char *program, struct kymo_err *err)
{
	char path[PATH_MAX];
	int rc = resolve(doctor, program, path, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	privileges(doctor, path);
	doctor_elf(doctor, path);
	doctor_preload(doctor);
	return 0;
}

int doctor_loads(struct doctor *doctor, const char *program, struct kymo_err *err)
{
	char path[PATH_MAX];
	int rc = resolve(doctor, program, path, err);
	struct elf elf;

	if (rc)
		return rc < 0 ? -1 : 0;
	privileges(doctor, path);
	if (elf_open(&elf, path, NULL))
		return 0;
	(void)loadable(doctor, &elf);
	elf_close(&elf);
	return 0;
}

int doctor_command(struct doctor *doctor, char *const *command, struct kymo_err *err)
{
	struct prefixes found;
	char words[256], *before[2] = { command[0], NULL };

	prefixes_look(command, "record", &found);
	if (*found.problem)
		doctor_say(doctor, "command", DOCTOR_PROBLEM, found.remedy, "%s", found.problem);
	else if (found.program)
		doctor_say(doctor, "command", DOCTOR_OK, NULL, "%s%s passes LD_PRELOAD on", prefixes_line(before, words, sizeof words),
			   found.program > 1 ? " ..." : "");
	return doctor_program(doctor, command[found.program], err);
}
