/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a tar archive (POSIX ustar) of regular files, whose contents the caller streams.
 *
 *   tar_open(&tar, fd, &err);
 *   tar_begin(&tar, "a.txt", &err);	any number of
 *   write(fd, ...);			files
 *   tar_end(&tar, &err);
 *   tar_close(&tar, &err);
 *
 * The size of a file is written before the file and known only after it: so the output must be
 * seekable. A name has at most 99 bytes: longer names would need the prefix field, which this
 * writer does not use.
 */
#ifndef KYMO_EXPORT_TAR_H
#define KYMO_EXPORT_TAR_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* bytes of a name with its NUL, so that one field holds it */
#define TAR_NAME_MAX 100
#define TAR_FILE_MAX INT64_C(077777777777)	/* bytes of a file: 11 octal digits */

struct tar {
	int fd;
	off_t header;			/* where that of the present file is */
	int64_t now;			/* epoch seconds, the time of all files */
	char name[TAR_NAME_MAX];
};

/**
 * tar_open() - begin an archive at the present position of @fd
 * @fd: stays the caller's
 *
 * Context: of all functions here: no allocation, blocks in write(2).
 * Return: 0; -1 with @err if @fd is not seekable (a pipe).
 */
int tar_open(struct tar *tar, int fd, struct kymo_err *err);

/** tar_begin() - begin a file @name; a name of TAR_NAME_MAX bytes or more is cut. Return: 0, -1
 * with @err. */
int tar_begin(struct tar *tar, const char *name, struct kymo_err *err);

/**
 * tar_end() - what was written to the descriptor since tar_begin() is the file
 *
 * Return: 0; -1 with @err when writing fails or the file has more than TAR_FILE_MAX bytes.
 */
int tar_end(struct tar *tar, struct kymo_err *err);

/** tar_close() - end the archive. Return: 0, -1 with @err. */
int tar_close(struct tar *tar, struct kymo_err *err);

#endif
