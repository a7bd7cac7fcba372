/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime directory: where traced processes and recorders meet. */
#ifndef KYMO_RECORDER_RUNDIR_H
#define KYMO_RECORDER_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct rundir {
	int fd;
	bool created;
	char path[512];
};

/**
 * rundir_choose() - the directory that user @uid uses with KYMO_DIR=@chosen; NULL or "":
 * /dev/shm/kymo-<uid> Return: bytes that @path needs without its NUL, as snprintf().
 */
int rundir_choose(char *path, size_t size, const char *chosen, unsigned uid);

/**
 * rundir_path() - $KYMO_DIR, else /dev/shm/kymo-<uid>
 * Return: 0; -1 with @err when $KYMO_DIR is too long or relative.
 */
int rundir_path(char *path, unsigned size, struct kymo_err *err);

/**
 * rundir_open() - open the runtime directory
 * @path: NULL for rundir_path()
 * @create: create it if it does not exist
 *
 * Refused, with what to do about it: not a directory, a symbolic link, owned by another user
 * (unless we are root), open to other users.
 * Return: 0; 1 without @create if it does not exist; -1 with @err. Context: blocks.
 */
int rundir_open(struct rundir *dir, const char *path, bool create, struct kymo_err *err);

void rundir_close(struct rundir *dir);

/** rundir_list() - call @each for the name of every file in @dir, "." and ".." too; not from @each.
 * Return: 0; -errno. Context: blocks; needs no descriptor. */
int rundir_list(const struct rundir *dir, void (*each)(void *context, const char *name),
		void *context);

#endif
