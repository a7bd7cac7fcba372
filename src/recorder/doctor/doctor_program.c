/* SPDX-License-Identifier: Apache-2.0 */
/* Can this program be traced? Reads its file and those of its libraries. See doctor.h. */
#include "recorder/doctor/doctor_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "abi/points.h"
#include "recorder/launch/launch.h"
#include "recorder/launch/prefixes.h"
#include "recorder/launch/preload.h"
#include "base/array.h"

/* ---- the file itself ---- */

static void privileges(struct doctor *doctor, const char *path)
{
	struct stat status;
	bool raised = false;

	if (stat(path, &status))
		return;
	if ((status.st_mode & S_ISUID) && status.st_uid != geteuid())
		raised = doctor_say(doctor, PRIVILEGES_SETUID, (unsigned)status.st_uid);
	if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid())
		raised = doctor_say(doctor, PRIVILEGES_SETGID, (unsigned)status.st_gid);
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		/* Root has them anyway: nothing is gained, and LD_PRELOAD is kept. */
		raised = geteuid() ? doctor_say(doctor, PRIVILEGES_FILE)
				   : doctor_say(doctor, PRIVILEGES_FILE_ROOT);
	if (!raised)
		doctor_say(doctor, PRIVILEGES_NONE);
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
	if (!preload_find(path, sizeof path, doctor->libdir, NULL) &&
	    !elf_open(&library, path, NULL)) {
		machine = library.machine;
		elf_close(&library);
	}
	if (!elf->readable || elf->machine != machine)
		return !doctor_say(doctor, ARCHITECTURE_OTHER, elf->bits,
				   elf_machine_name(elf->machine, name),
				   elf_machine_name(machine, own));
	doctor_say(doctor, ARCHITECTURE_SAME, elf->bits, elf_machine_name(elf->machine, name));
	if (!*elf->interpreter)
		return !doctor_say(doctor, LINKING_STATIC,
				   elf->type == ET_REL ? "an object file, not a program"
				   : elf->dynamic ? "no dynamic loader: static, or a shared library"
						  : "statically linked");
	if (access(elf->interpreter, X_OK))
		return !doctor_say(doctor, LINKING_NO_LOADER, elf->interpreter, strerror(errno));
	if (!launch_is_glibc(elf->interpreter))
		return !doctor_say(doctor, LINKING_NOT_GLIBC, elf->interpreter);
	return doctor_say(doctor, LINKING_DYNAMIC, elf->interpreter);
}

/* ---- its libraries ---- */

/* Adds the name after @count others to a list that has three of them: "a, b, c, ..." */
static void add_name(char list[512], unsigned count, const char *name)
{
	const size_t used = strlen(list);

	if (count <= 3)
		(void)snprintf(list + used, 512 - used, "%s%s", count ? ", " : "",
			       count < 3 ? name : "...");
}

static void missing(struct doctor *doctor, const struct libraries *libraries)
{
	char names[512] = "";
	unsigned count = 0;

	for (unsigned i = 1; i < libraries->count; i++)
		if (!libraries->item[i].path)
			add_name(names, count++, libraries->item[i].name);
	if (count)
		doctor_say(doctor, LIBRARIES_MISSING, count, libraries->count - 1, names);
	else
		doctor_say(doctor, LIBRARIES_FOUND, libraries->count - 1);
}

/* The shared runtime of gcc; the one of clang is part of the program, and accepts other libraries
 * before it. */
static void sanitizer(struct doctor *doctor, const struct libraries *libraries)
{
	for (unsigned i = 1; i < libraries->count; i++) {
		const char *name = basename(libraries->item[i].name);

		if (strncmp(name, "libasan.so", 10) == 0) {
			doctor_say(doctor, SANITIZER_SHARED, name);
			return;
		}
	}
}

struct callers {
	unsigned users;		/* files that call tracepoints */
	unsigned symbols;
	char names[512];
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
		const char *name = basename(item->name);
		unsigned uses = elf_uses(&item->elf, "ros_trace_");

		if (!strncmp(name, "libtracetools.so", 16) || !strncmp(name, "libkymo", 7))
			continue;
		callers.spans |= elf_uses(&item->elf, "kymo_") > 0;
		if (strncmp(name, "libc.so", 7) && strncmp(name, "ld-linux", 8) &&
		    strncmp(name, "libdl.so", 8))
			callers.loads_more |= elf_uses(&item->elf, "dlopen") > 0;
		if (uses)
			add_name(callers.names, callers.users++, name);
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
		doctor_say(doctor, TRACEPOINTS_OF_KYMO);
	else if (callers->silent)
		doctor_say(doctor, TRACEPOINTS_DISABLED, callers->silent);
	else if (!strncmp(basename(path), "python", 6))
		doctor_say(doctor, TRACEPOINTS_PYTHON);
	else if (callers->loads_more)
		doctor_say(doctor, TRACEPOINTS_LATER);
	else
		doctor_say(doctor, TRACEPOINTS_NONE);
}

/* A function that the preload library wraps, because no tracepoint reports what it does. */
struct wrapped {
	const char *name, *library;
	unsigned from, to;		/* KYMO_V() */
	const char *tells, *text;
};

static const struct wrapped wrapped[] = {
#define SYMBOL(symbol, library, from, to, before, after, tells, text)			\
	{ #symbol, #library, from, to, #tells, text },
#include "abi/symbols.def"
};

void doctor_symbols(struct doctor *doctor, const char *library, const struct elf *elf,
		    const struct tracetools_facts *facts)
{
	const char *base = basename(library);
	unsigned there = 0, wanted = 0;

	for (size_t i = 0; i < COUNT_OF(wrapped); i++) {
		const struct wrapped *function = &wrapped[i];
		const size_t length = strlen(function->library);

		if (strncmp(base, function->library, length) || strncmp(base + length, ".so", 3) ||
		    facts->from < function->from || facts->to > function->to)
			continue;
		wanted++;
		if (elf_symbol(elf, function->name))
			there++;
		else
			doctor_report(doctor, DOCTOR_FINDING_FUNCTIONS_MISSING, base, NULL,
				      doctor_text_FUNCTIONS_MISSING, function->text,
				      function->tells);
	}
	if (wanted)
		doctor_report(doctor, DOCTOR_FINDING_FUNCTIONS_FOUND, base, NULL,
			      doctor_text_FUNCTIONS_FOUND, there, wanted);
}

static void libtracetools(struct doctor *doctor, const struct libraries *libraries,
			  const struct library *library)
{
	struct tracetools_facts facts;

	if (!library || !library->path) {
		doctor_say(doctor, TRACETOOLS_NOT_FOUND);
		return;
	}
	if (doctor_is_disabled(doctor, &library->elf, library->path))
		return;
	program_tracetools(&library->elf, library->path, &facts);
	if (facts.guessed)
		doctor_say(doctor, TRACETOOLS_GUESSED, library->path, facts.version,
			   facts.evidence);
	else
		doctor_say(doctor, TRACETOOLS_VERSION, library->path, facts.version,
			   facts.evidence);
	if (facts.lttng)
		doctor_say(doctor, LTTNG_WITH);
	else
		doctor_say(doctor, LTTNG_WITHOUT);
	for (unsigned i = 1; i < libraries->count; i++)
		if (libraries->item[i].path)
			doctor_symbols(doctor, libraries->item[i].path, &libraries->item[i].elf,
				       &facts);
}

static void tracepoints(struct doctor *doctor, const struct libraries *libraries)
{
	struct callers callers = find_callers(libraries);
	const struct library *library = NULL;

	/* Its own copy of the functions wins over any library: the loader looks there first. */
	if (elf_defines(&libraries->item[0].elf, "ros_trace_")) {
		doctor_say(doctor, TRACEPOINTS_LINKED);
		return;
	}
	for (unsigned i = 1; i < libraries->count; i++) {
		if (!strncmp(basename(libraries->item[i].name), "libtracetools.so", 16))
			library = &libraries->item[i];
	}
	if (callers.users)
		doctor_say(doctor, TRACEPOINTS_USED, callers.symbols, callers.names);
	else
		no_callers(doctor, &callers, libraries->item[0].path);
	if (callers.users || library)
		libtracetools(doctor, libraries, library);
}

static void program_file(struct doctor *doctor, const char *path)
{
	struct libraries *libraries;
	struct kymo_err err;

	if (libraries_open(&libraries, path, &err)) {
		doctor_say(doctor, PROGRAM_IS_NONE, err.text);
		return;
	}
	if (loadable(doctor, &libraries->item[0].elf)) {
		missing(doctor, libraries);
		sanitizer(doctor, libraries);
		tracepoints(doctor, libraries);
		doctor_own_malloc(doctor, &libraries->item[0].elf);
		for (unsigned i = 0; i < libraries->count; i++)
			if (libraries->item[i].path)
				doctor_calls(doctor, libraries->item[i].path,
					     &libraries->item[i].elf);
	}
	libraries_close(libraries);
}

/* ---- finding it ---- */

/* Return: 0 with the @path of what will be run, 1: a problem with that was told, -1 with @err. */
static int resolve(struct doctor *doctor, const char *program, char path[PATH_MAX],
		   struct kymo_err *err)
{
	char next[PATH_MAX];

	if (launch_path(program, path, err))
		return -1;
	doctor_say(doctor, PROGRAM_FOUND, path);
	if (!launch_is_program(path))
		doctor_say(doctor, PROGRAM_NOT_EXECUTABLE, path);
	for (unsigned depth = 0;; depth++) {
		int result = launch_script(path, next, err);

		if (result < 0) {
			doctor_say(doctor, INTERPRETER_NOT_FOUND, err->text);
			return 1;
		}
		if (result || depth >= LAUNCH_SCRIPT_DEPTH_MAX)
			return 0;
		doctor_say(doctor, INTERPRETER_FOUND, next);
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
	program_file(doctor, path);
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

/* ---- ros2 run ---- */

/* The words behind "ros2 run": options, the package, the program. Return: whether there are
 * both. */
static bool ros2_run(char *const *command, const char **package, const char **program)
{
	if (strcmp(basename(command[0]), "ros2") || !command[1] || strcmp(command[1], "run"))
		return false;
	for (command += 2; *command && **command == '-'; command++)
		if (!strcmp(*command, "--prefix") && command[1])
			command++;
	*package = *command;
	*program = *command ? command[1] : NULL;
	return *package && *program;
}

/* As ros2 run does it: PREFIX/lib/PACKAGE/PROGRAM, the first prefix wins. */
static bool find_node(const char *package, const char *program, char path[PATH_MAX])
{
	const char *prefix = getenv("AMENT_PREFIX_PATH");
	struct stat status;

	while (prefix && *prefix) {
		const int length = (int)strcspn(prefix, ":");

		if (length &&
		    snprintf(path, PATH_MAX, "%.*s/lib/%s/%s", length, prefix, package, program) <
			    PATH_MAX &&
		    !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK))
			return true;
		prefix += length + (prefix[length] == ':');
	}
	return false;
}

/* ros2 is a script that starts another program: that one is of interest. */
static int started(struct doctor *doctor, const char *package, const char *program,
		   struct kymo_err *err)
{
	char path[PATH_MAX];

	if (!find_node(package, program, path)) {
		doctor_say(doctor, COMMAND_STARTS_NOTHING, program, package);
		return 0;
	}
	doctor_say(doctor, COMMAND_STARTS, path);
	return doctor_program(doctor, path, err);
}

int doctor_command(struct doctor *doctor, char *const *command, struct kymo_err *err)
{
	const char *package, *program;
	struct prefixes found;
	char words[256], *before[2] = { command[0], NULL };

	prefixes_parse(command, "record", &found);
	if (*found.problem)
		doctor_report(doctor, DOCTOR_FINDING_COMMAND_LOSES, NULL, found.remedy,
			      doctor_text_COMMAND_LOSES, found.problem);
	else if (found.program)
		doctor_say(doctor, COMMAND_PASSES, prefixes_line(before, words, sizeof words),
			   found.program > 1 ? " ..." : "");
	if (ros2_run(command + found.program, &package, &program))
		return started(doctor, package, program, err);
	return doctor_program(doctor, command[found.program], err);
}
