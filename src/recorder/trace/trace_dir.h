/* SPDX-License-Identifier: Apache-2.0 */
/* Trace directories as files: made, measured, taken away. Links are never followed. */
#ifndef KYMO_RECORDER_TRACE_DIR_H
#define KYMO_RECORDER_TRACE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Beside kymo.json: entries of processes that ended, a line each, of which it has only sums. */
#define TRACE_DIR_EARLIER "kymo-earlier.jsonl"

/**
 * trace_dir_make() - make @path, which must not exist or be an empty directory
 * @existed: set when it did
 * @absolute: its absolute path, to be freed; NULL after a failure
 *
 * Return: 0; -1 with @err. Context: allocates, blocks.
 */
int trace_dir_make(const char *path, bool *existed, char **absolute, struct kymo_err *err);

/** trace_dir_without_option() - an error of here, for callers without an option -o for the place. */
void trace_dir_without_option(struct kymo_err *err);

/**
 * trace_dir_remove_empty() - take away traces without any packet below @path: metadata and indexes
 * @existed: the directory itself stays
 *
 * What else lies there stays, and so do the directories around it. Context: blocks.
 */
void trace_dir_remove_empty(const char *path, bool existed);

/**
 * trace_dir_remove() - remove directory @name below @dir_fd with all that is in it, metadata first
 * Return: 0; -errno of the first thing that stayed. Context: blocks.
 */
int trace_dir_remove(int dir_fd, const char *name);

/** trace_dir_bytes() - sum of the sizes of all files in directory @name below @dir_fd. Context: blocks. */
uint64_t trace_dir_bytes(int dir_fd, const char *name);

/** trace_dir_write() - replace @name in @directory by @text, whole or not at all. Return: 0; -errno. */
int trace_dir_write(const char *directory, const char *name, const char *text, size_t size);

/**
 * trace_dir_extend() - append @text to @name in @directory
 * @end: byte at which that ends, for all one knows; moves on. One that was taken away begins anew
 *
 * What a failure leaves behind there is cut off again, if it can be. Return: 0; -errno. Context: blocks.
 */
int trace_dir_extend(const char *directory, const char *name, uint64_t *end, const char *text, size_t size);

#endif
