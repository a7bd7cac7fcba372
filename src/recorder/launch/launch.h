/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a command so that it can be traced. */
#ifndef KYMO_RECORDER_LAUNCH_H
#define KYMO_RECORDER_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* What is added to our environment for a traced command. */
struct launch {
	const char *fallback_libdir;	/* where libkymo-ros2.so is installed */
	uint64_t tag;			/* KYMO_SESSION; 0: not set */
	uint64_t ring_size;		/* KYMO_RING_SIZE in bytes; 0: not set */
	int64_t block_ns;               /* KYMO_BLOCK; 0: not set */
	const char *rules;		/* appended to KYMO_FILTER; NULL: as it is */
	bool flight;			/* KYMO_FLIGHT=1; false: as it is */
	bool malloc;			/* also preload libkymo-malloc.so */
	bool malloc_sums;               /* and KYMO_MALLOC=sums */
	bool functions;                 /* also preload libkymo-functions.so */
	bool plain;                     /* no LD_PRELOAD: the command cannot load the libraries */
};

/**
 * launch_find() - where the program @name would be run from
 * Return: 0; -1 with @err (KYMO_EXIT_INPUT): there is none, or it cannot be executed.
 */
int launch_find(const char *name, struct kymo_err *err);

#define LAUNCH_SCRIPT_DEPTH_MAX 4 /* scripts that are run by scripts, as the kernel has it */

/** launch_path() - the @path of the program @name. Return: 0; -1 with @err. Context: blocks. */
int launch_path(const char *name, char path[PATH_MAX], struct kymo_err *err);

/**
 * launch_script() - the program @out that runs the script @path, also through env
 *
 * Return: 0; 1: @path is no script; -1 with @err. Context: blocks.
 */
int launch_script(const char *path, char out[PATH_MAX], struct kymo_err *err);

/**
 * launch_program() - the file @path that @command runs in the end: behind prefixes such as nice,
 * and the interpreter of a script. Return: false: not found. Context: blocks.
 */
bool launch_program(char *const *command, char path[PATH_MAX]);

/** launch_is_glibc() - does the @loader of a program belong to the GNU C library? Context:
 * wait-free. */
bool launch_is_glibc(const char *loader);

#define LAUNCH_WHY_MAX 512

/**
 * launch_is_foreign() - can @command not load our libraries, because it is of another libc or
 * architecture?
 * @why: set to what it is, and the remedy
 *
 * Only the words and the files they name are looked at. Context: blocks.
 */
bool launch_is_foreign(char *const *command, char why[LAUNCH_WHY_MAX]);

/** launch_is_program() - is the file @path a program that this user may execute? Context:
 * blocks. */
bool launch_is_program(const char *path);

/** launch_in_path() - the first program called @name in $PATH. Return: false: there is none.
 * Context: blocks. */
bool launch_in_path(const char *name, char program[PATH_MAX]);

/**
 * launch_environment() - our environment with the preload library and the rest of @launch
 *
 * The library is found by preload_find() and put in front of an existing LD_PRELOAD.
 * TRACETOOLS_RUNTIME_DISABLE=1 keeps LTTng's tracing out of the command, unless KYMO_FORWARD=1 asks
 * for both. ASAN_OPTIONS gets verify_asan_link_order=0, for programs built with gcc's
 * AddressSanitizer. PYTHONPATH begins with the directory of the hook for rclpy, unless
 * KYMO_RCLPY=0.
 *
 * Context: allocates; free with launch_free().
 * Return: a vector for execve(); NULL with @err.
 */
char **launch_environment(const struct launch *launch, struct kymo_err *err);

/* "0": programs in Python do not get the hook for rclpy; another value: they get it, or are not
 * started. */
#define LAUNCH_RCLPY "KYMO_RCLPY"

void launch_free(char **environment);

#endif
