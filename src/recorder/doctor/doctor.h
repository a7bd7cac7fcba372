/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can this machine, this program, this process be traced, and if not, why? The doctor only looks:
 * it runs nothing of the program and changes nothing in the process.
 */
#ifndef KYMO_RECORDER_DOCTOR_H
#define KYMO_RECORDER_DOCTOR_H

#include <stdbool.h>

#include "base/err.h"

enum doctor_result { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_PROBLEM };

/* What was looked at; findings.def has its name. */
enum doctor_check {
#define CHECK(check, name) DOCTOR_CHECK_##check,
#include "recorder/doctor/findings.def"
};

struct doctor_found {
	enum doctor_check check;
	enum doctor_result result;
	const char *name;		/* of the check, "runtime directory" */
	const char *text;		/* what was found */
	const char *remedy;		/* NULL: there is nothing to do */
};

struct doctor {
	const char *libdir; /* where the preload library was to be installed; for preload_find() */
	/* Called with each finding; its texts are valid during the call. */
	void (*found)(void *context, const struct doctor_found *found);
	void *context;
	unsigned problems;	/* DOCTOR_PROBLEM findings so far */
};

/** doctor_library() - only the preload library. Context: blocks. */
void doctor_library(struct doctor *doctor);

/** doctor_machine() - the preload library, the runtime directory, clocks, limits, the agent. */
void doctor_machine(struct doctor *doctor);

/**
 * doctor_program() - a program that is not running
 * @program: a path, or a name to be found in $PATH
 *
 * Return: 0, or -1 with @err (KYMO_EXIT_INPUT) when there is no such program. Context: blocks.
 */
int doctor_program(struct doctor *doctor, const char *program, struct kymo_err *err);

/**
 * doctor_loads() - whether the loader would load the library into @program: setuid, static and so
 * on
 *
 * Does not look at libraries and tracepoints. Return, Context: as doctor_program().
 */
int doctor_loads(struct doctor *doctor, const char *program, struct kymo_err *err);

/**
 * doctor_command() - a command line: the commands before its program, and the program as in
 * doctor_program()
 * @command: ends with NULL
 *
 * Return, Context: as doctor_program().
 */
int doctor_command(struct doctor *doctor, char *const *command, struct kymo_err *err);

/**
 * doctor_process() - a process that is running
 *
 * Return: 0, or -1 with @err (KYMO_EXIT_INPUT) when there is no such process. Context: blocks.
 */
int doctor_process(struct doctor *doctor, unsigned pid, struct kymo_err *err);

/* A process of a recorded command that is not traced. */
struct stranger {
	bool calls;		/* it has libtracetools, so it was meant to be traced */
	char text[512];		/* which process, and why it is not traced; empty: there is none */
	char remedy[512];
};

/**
 * doctor_strangers() - look for untraced processes among the descendants of process @command, and
 * at itself
 * @stranger: zeroed, or the result of an earlier call: a process that has libtracetools replaces
 * one that has not
 *
 * Context: blocks: reads /proc and the files of programs. Some milliseconds for each process; at
 * most 256 processes.
 */
void doctor_strangers(int command, struct stranger *stranger);

#endif
