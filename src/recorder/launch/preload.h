/* SPDX-License-Identifier: Apache-2.0 */
/* Where the preload library is, and how a program gets it. */
#ifndef KYMO_RECORDER_PRELOAD_H
#define KYMO_RECORDER_PRELOAD_H

#include <stddef.h>

#include "base/err.h"

#define PRELOAD_LIBRARY "libkymo-ros2.so"
#define PRELOAD_MALLOC_LIBRARY "libkymo-malloc.so"
#define PRELOAD_FUNCTIONS_LIBRARY "libkymo-functions.so"
#define PRELOAD_PYTHON_FILE "python/sitecustomize.py" /* loads the hook for rclpy */

/**
 * preload_find() - path of libkymo-ros2.so
 * @libdir: directory it was configured to be installed in; may be NULL
 *
 * Looked for in $KYMO_PRELOAD (the file itself), in lib beside the directory of the running
 * program (a build, or an installation that was moved), in @libdir. The first that exists wins.
 * Return: 0, or -1 with @err filled. Context: blocks.
 */
int preload_find(char *path, size_t size, const char *libdir, struct kymo_err *err);

/**
 * preload_beside() - path of another file that is installed with it, @name
 *
 * Looked for in the same places, but for the environment. Return: 0; -1: it does not exist.
 * Context: blocks.
 */
int preload_beside(char *path, size_t size, const char *name, const char *libdir);

/**
 * preload_value() - what LD_PRELOAD must be for a program to get the library at @path
 * @before: the present value of LD_PRELOAD; may be NULL. The libraries that it names are kept.
 *
 * Return: 0, or -1 with @err filled: LD_PRELOAD cannot name a path with a colon or a blank in it.
 */
int preload_value(char *value, size_t size, const char *path, const char *before,
		  struct kymo_err *err);

#endif
