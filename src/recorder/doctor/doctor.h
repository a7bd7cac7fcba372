/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can this machine, this program, this process be traced, and if not, why? Looks only: nothing of
 * the program is run, nothing of the process is touched.
 */
#ifndef KYMO_RECORDER_DOCTOR_H
#define KYMO_RECORDER_DOCTOR_H

#include <stdarg.h>

#include "base/elf.h"
#include "base/err.h"

struct tracetools_facts;

enum doctor_result { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_PROBLEM };

struct doctor {
	const char *libdir;	/* where the preload library was to be installed; for preload_find() */
	/* Called with each finding; @check and @text are valid during the call. @remedy is NULL where there is nothing to do. */
	void (*found)(void *context, const char *check, enum doctor_result result, const char *text,
		      const char *remedy);
	void *context;
	unsigned problems;	/* DOCTOR_PROBLEM findings so far */
};

/** doctor_machine() - the preload library, the runtime directory, clocks, limits. */
void doctor_machine(struct doctor *doctor);

/**
 * doctor_program() - a program that is not running
 * @program: a path, or a name to be found in $PATH
 *
 * Return: 0, or -1 with @err (KYMO_EXIT_INPUT) when there is no such program. Context: blocks.
 */
int doctor_program(struct doctor *doctor, const char *program, struct kymo_err *err);

/**
 * doctor_loads() - whether the loader would give the library to @program: setuid, static and so on
 *
 * Does not look at libraries and tracepoints. Return, Context: as doctor_program().
 */
int doctor_loads(struct doctor *doctor, const char *program, struct kymo_err *err);

/**
 * doctor_command() - a command line: what stands before its program, and the program as doctor_program() has it
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

/* ---- for the doctor's own files ---- */

/** doctor_say() - report one finding; @remedy NULL or ready text, @format what was found. */
__attribute__((format(printf, 5, 6)))
void doctor_say(struct doctor *doctor, const char *check, enum doctor_result result,
		const char *remedy, const char *format, ...);

/** doctor_preload() - is the preload library there, and does the loader take it? */
void doctor_preload(struct doctor *doctor);

/** doctor_directory() - is @path fit as runtime directory of user @uid? */
void doctor_directory(struct doctor *doctor, const char *path, unsigned uid);

/** doctor_refused() - processes in the runtime directory @dir that this kymo cannot record: of other versions, damaged. */
void doctor_refused(struct doctor *doctor, const char *dir);

/** doctor_agent() - is there a kymo agent for the runtime directory @dir, and is anything in its way? */
void doctor_agent(struct doctor *doctor, const char *dir);

/** doctor_elf() - the program file @path: kind, loader, libraries, tracepoints. */
void doctor_elf(struct doctor *doctor, const char *path);

/** doctor_is_disabled() - has the libtracetools @elf, at @library, no tracepoints? Then that is said. */
bool doctor_is_disabled(struct doctor *doctor, const struct elf *elf, const char *library);

/** doctor_own_malloc() - has the program @elf a malloc() of its own? Then that is said. */
void doctor_own_malloc(struct doctor *doctor, const struct elf *elf);

/** doctor_symbols() - has the library @elf, at @library, what abi/symbols.def says it has? */
void doctor_symbols(struct doctor *doctor, const char *library, const struct elf *elf,
		    const struct tracetools_facts *facts);

#endif
