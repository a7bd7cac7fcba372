/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the doctor: doctor.c (the machine), doctor_program.c (a file),
 * doctor_process.c (a process), doctor_untraced.c (why a process is not traced), doctor_agent.c
 * (the agent).
 */
#ifndef KYMO_RECORDER_DOCTOR_INTERNAL_H
#define KYMO_RECORDER_DOCTOR_INTERNAL_H

#include <limits.h>
#include <stdbool.h>

#include "base/elf.h"
#include "recorder/doctor/doctor.h"

/* ---- findings ---- */

enum doctor_finding {
#define FINDING(check, finding, ...) DOCTOR_FINDING_##finding,
#include "recorder/doctor/findings.def"
};

/* The texts by name, so that the compiler checks their arguments. */
#define FINDING(check, finding, result, remedy, text) \
	static const char doctor_text_##finding[] __attribute__((unused)) = text;
#include "recorder/doctor/findings.def"

/**
 * doctor_say() - report @finding, a row of findings.def; its arguments follow
 * Return: true, so that `return doctor_say(...)` reads well: it was reported.
 */
#define doctor_say(doctor, finding, ...)                                                   \
	doctor_report(doctor, DOCTOR_FINDING_##finding, NULL, NULL, doctor_text_##finding, \
		      ##__VA_ARGS__)

/** doctor_report() - the same with a @name and @remedy of its own; NULL: those of the row. */
__attribute__((format(printf, 5, 6))) bool doctor_report(struct doctor *doctor,
							 enum doctor_finding finding,
							 const char *name, const char *remedy,
							 const char *text, ...);

/* ---- the machine ---- */

/** doctor_preload() - does the preload library exist, and does the loader accept it? */
void doctor_preload(struct doctor *doctor);

/** doctor_directory() - can user @uid use @path as runtime directory? */
void doctor_directory(struct doctor *doctor, const char *path, unsigned uid);

/** doctor_agent() - does a kymo agent serve the runtime directory @dir, and can CARET's command
 * line reach it? */
void doctor_agent(struct doctor *doctor, const char *dir);

/* ---- a program ---- */

struct library {
	char *path;     /* NULL: not found */
	char *name;     /* as its user names it */
	unsigned user;  /* index of the first that needs it */
	struct elf elf; /* closed (fd -1) when it could not be read */
};

#define LIBRARIES_MAX 1024 /* a large ROS 2 node loads some 300 */
#define SYSTEM_DIRS_MAX 256

/*
 * The shared libraries a program will load when it starts, found as the dynamic loader finds them,
 * without running anything of the program.
 */
struct libraries {
	unsigned count;
	struct library item[LIBRARIES_MAX]; /* [0] is the program itself */
	char *system_dirs[SYSTEM_DIRS_MAX]; /* of /etc/ld.so.conf, and the built-in ones */
	unsigned system_dir_count;
};

/**
 * libraries_open() - the program at @path and everything it needs, nearest first
 *
 * Uses LD_LIBRARY_PATH of this process, as `kymo run` hands it on.
 * Return: 0 and an object for libraries_close(), or -1 with @err. Context: allocates, blocks.
 */
int libraries_open(struct libraries **libraries, const char *path, struct kymo_err *err);

void libraries_close(struct libraries *libraries);

/* Which version is the file libtracetools.so? The preload library asks the same in its process:
 * abi/tracetools.h. */
struct tracetools_facts {
	char version[64];     /* "8.2.2", or a range "8.0 to 8.4" */
	unsigned from, to;    /* the same as KYMO_V(); unknown: 0 and KYMO_V_LAST */
	const char *evidence; /* "by its symbols" */
	bool guessed;         /* Iron or Jazzy, and nothing tells them apart */
	bool lttng;           /* built with LTTng */
};

/** program_tracetools() - fill @facts from the open file @elf at @path. Context: blocks. */
void program_tracetools(const struct elf *elf, const char *path, struct tracetools_facts *facts);

/** doctor_own_malloc() - reports a malloc() that the program @elf defines itself. */
void doctor_own_malloc(struct doctor *doctor, const struct elf *elf);

/** doctor_calls() - reports whether the functions of the file @elf at @path call kymo, or have
 * empty places for such calls. Context: allocates, blocks. */
void doctor_calls(struct doctor *doctor, const char *path, const struct elf *elf);

/** doctor_symbols() - does the library @elf, at @library, have the functions of abi/symbols.def? */
void doctor_symbols(struct doctor *doctor, const char *library, const struct elf *elf,
		    const struct tracetools_facts *facts);

/* ---- a process ---- */

struct doctor_process {
	unsigned pid;
	unsigned inner_pid;	/* in its own pid namespace */
	unsigned uid;
	int parent;
	char name[64];
	char state;
	char *environment;	/* environment_read() */
	size_t environment_size;
};

struct doctor_loaded {
	bool preload, tracer, deleted, malloc, rclpy;
	char tracetools[PATH_MAX], rclcpp[PATH_MAX], libkymo[PATH_MAX];
};

/** doctor_variable() - of the environment with which the process was started. Return: NULL: not
 * set. */
const char *doctor_variable(const struct doctor_process *process, const char *name);

/** doctor_parent() - name and parent of @pid. Return: the parent; 0: it has ended, or has none. */
int doctor_parent(int pid, char name[64]);

/** doctor_no_preload() - why a process does not have the preload library. Return: false: no reason
 * found, nothing reported. */
bool doctor_no_preload(struct doctor *doctor, const struct doctor_process *process);

/** doctor_is_disabled() - reports that the libtracetools @elf, at @library, has no tracepoints.
 * Return: whether that is so. */
bool doctor_is_disabled(struct doctor *doctor, const struct elf *elf, const char *library);

/** doctor_no_tracetools() - why a process does not have libtracetools. Return: false: no reason
 * found, nothing reported. */
bool doctor_no_tracetools(struct doctor *doctor, const struct doctor_process *process,
			  const struct doctor_loaded *loaded);

/** doctor_python() - what is recorded of a Python program; nothing for others. */
void doctor_python(struct doctor *doctor, const struct doctor_process *process,
		   const struct doctor_loaded *loaded);

/** doctor_malloc() - does the program's own malloc() prevent --malloc? */
void doctor_malloc(struct doctor *doctor, const struct doctor_process *process);

/** doctor_same_directory() - is the process's runtime directory @inner, which is @path for us, the
 * one that kymo uses here? */
void doctor_same_directory(struct doctor *doctor, const struct doctor_process *process,
			   const char *inner, const char *path);

#endif
