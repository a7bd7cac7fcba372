/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the files of a trace for reading. All readers of traces do it here, by one rule: a trace
 * directory may come from anybody, so it may hold a FIFO, a device, or a file without an end, where
 * a plain open() or read() hangs.
 */
#ifndef KYMO_BASE_FILE_H
#define KYMO_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

/**
 * file_open() - open the regular file @path for reading
 *
 * Symbolic links are followed. What is not a regular file is not opened at all: opening a device
 * can have effects. Return: a descriptor; -errno, which file_why() explains. Context: blocks as the
 * disk does, never for another program.
 */
int file_open(const char *path);

/** file_stream() - the same as a stream. Return: NULL: errno is set, for file_why(-errno). Context:
 * allocates. */
FILE *file_stream(const char *path);

/** file_why() - why file_open() returned @error, which is below 0: "not a regular file" or
 * strerror(). */
const char *file_why(int error);

/**
 * file_load() - read all of @path into memory
 * @most: bytes; a larger file is an error
 * @text: receives the bytes and a NUL behind them; free() it
 * @size: receives the bytes without the NUL; of a file that grows, those of the moment it was
 * opened
 *
 * Return: 0; -1 with @err (KYMO_EXIT_INPUT), which begins with @path. Context: allocates, blocks.
 */
int file_load(const char *path, size_t most, char **text, size_t *size, struct kymo_err *err);

/**
 * file_line() - read the next line with its end, as getline(), but not more than @most bytes of it
 *
 * Return: bytes; 0: the file ends here, or the line is longer than @most, or no memory. Context:
 * allocates, blocks.
 */
size_t file_line(FILE *file, char **line, size_t *room, size_t most);

#endif
