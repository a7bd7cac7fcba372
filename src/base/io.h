/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors: writing all of some bytes, and how many descriptors are left; the directories
 * above a path. */
#ifndef KYMO_BASE_IO_H
#define KYMO_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/**
 * write_all() - write @size bytes, however many write(2) accepts at a time
 * Return: 0; -errno when @fd refused, or io_took_nothing(): some of the bytes may be written.
 * Context: blocks.
 */
int write_all(int fd, const void *data, size_t size);

/**
 * io_took_nothing() - why a write to @fd accepted nothing and did not say why, as file systems in
 * user space do
 * Return: -ENOSPC where no space is left, else -EIO. Context: blocks.
 */
int io_took_nothing(int fd);

/** pwrite_all() - the same at @offset of a file: a first part that was accepted does not hide why
 * the rest was not. */
int pwrite_all(int fd, const void *data, size_t size, off_t offset);

/** pwritev_all() - pwrite_all() of @parts pieces, normally in one call. */
int pwritev_all(int fd, const struct iovec *part, unsigned parts, off_t offset);

/**
 * fds_exceed() - whether @eighths of the descriptors that RLIMIT_NOFILE allows are in use
 * @fd: the descriptor that was opened last. A new descriptor has the least number that is free, so
 *      its number tells how many are in use, whoever opened them.
 *
 * Who can do without a descriptor gives it up in time: the last eighth is for the regions of new
 * programs, accounts and /proc.
 *
 * Context: makes a system call.
 */
bool fds_exceed(int fd, unsigned eighths);

/**
 * make_parents() - create the directories above @path that do not exist, as mkdir -p does; with
 * 0777 and the umask
 *
 * What fails shows when @path is created. Context: blocks.
 */
void make_parents(const char *path);

/* ---- a file that gets its name when it is complete ---- */

/*
 * Half of a file never looks like the whole: it is written beside its place, under a name that
 * nobody else has.
 *
 *   fd = new_file_open(&file, path);
 *   ... write ...
 *   error = new_file_close(&file, complete);
 *
 * A symbolic link stays, and what it names is replaced. What is no regular file (/dev/null, a FIFO,
 * standard output) is written as it is.
 */
struct new_file {
	char *path, *part; /* part NULL: the file itself is written */
};

/**
 * new_file_open() - begin to write @path
 *
 * A file that is there keeps its mode. Return: a descriptor, the caller's to close before
 * new_file_close(); -errno: nothing is to be closed. Context: allocates, blocks.
 */
int new_file_open(struct new_file *beside, const char *path);

/** new_file_close() - give it its name; without @complete, remove it. Return: 0; -errno. */
int new_file_close(struct new_file *beside, bool complete);

#endif
