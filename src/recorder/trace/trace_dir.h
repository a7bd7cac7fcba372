/* SPDX-License-Identifier: Apache-2.0 */
/* Trace directories as files: creates, measures and removes them. Symbolic links are never
 * followed. */
#ifndef KYMO_RECORDER_TRACE_DIR_H
#define KYMO_RECORDER_TRACE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Beside kymo.json, which only has their sums: entries of processes that ended long ago, a line
 * each. */
#define TRACE_DIR_EARLIER "kymo-earlier.jsonl"

/**
 * trace_dir_make() - create @path and the directories above it, or use it if it is an empty
 * directory
 * @existed: set to whether it existed
 * @absolute: its absolute path, malloc'ed; NULL after a failure
 *
 * Return: 0; -1 with @err. Context: allocates, blocks.
 */
int trace_dir_make(const char *path, bool *existed, char **absolute, struct kymo_err *err);

/** trace_dir_without_option() - take the option -o out of an error of these functions, for callers
 * that have no such option. */
void trace_dir_without_option(struct kymo_err *err);

/**
 * trace_dir_remove_empty() - remove traces without any packet below @path: metadata and indexes
 * @existed: the directory itself stays
 *
 * Other files stay, and so do the directories they are in. Context: blocks.
 */
void trace_dir_remove_empty(const char *path, bool existed);

/**
 * trace_dir_remove() - remove directory @name below @dir_fd and everything in it, metadata first
 * Return: 0; -errno of the first file that could not be removed. Context: blocks.
 */
int trace_dir_remove(int dir_fd, const char *name);

/** trace_dir_bytes() - sum of the sizes of all files in directory @name below @dir_fd. Context:
 * blocks. */
uint64_t trace_dir_bytes(int dir_fd, const char *name);

/** trace_dir_write() - replace @name in @directory by @text, whole or not at all. Return: 0;
 * -errno. */
int trace_dir_write(const char *directory, const char *name, const char *text, size_t size);

/**
 * trace_dir_extend() - append @text to @name in @directory
 * @end: byte at which the file ended last time; advances. If the file was removed, it begins anew
 *
 * What a failure leaves is cut off again, if possible. Return: 0; -errno. Context: blocks.
 */
int trace_dir_extend(const char *directory, const char *name, uint64_t *end, const char *text,
		     size_t size);

#endif
