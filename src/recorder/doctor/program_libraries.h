/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared libraries a program will load when it starts, found as the dynamic loader finds
 * them, without running anything of the program.
 */
#ifndef KYMO_RECORDER_LIBRARIES_H
#define KYMO_RECORDER_LIBRARIES_H

#include "base/err.h"
#include "base/elf.h"

#define LIBRARIES_MAX 1024	/* a large ROS 2 node loads some 300 */

struct library {
	char *path;		/* NULL: not found */
	char *name;		/* as its user names it */
	unsigned user;		/* index of the first that needs it */
	struct elf elf;		/* closed (fd -1) when it could not be read */
};

struct libraries {
	unsigned count;
	struct library item[LIBRARIES_MAX];	/* [0] is the program itself */
	char **system_dirs;	/* of /etc/ld.so.conf, and the built-in ones */
	unsigned system_dir_count;
};

/**
 * libraries_open() - the program at @path and everything it needs, nearest first
 *
 * Uses LD_LIBRARY_PATH of this process, as `kymo run` hands it on.
 * Return: 0 and an object for libraries_close(), or -1 with @err. Context: allocates, blocks.
 */
int libraries_open(struct libraries **libraries, const char *path, struct kymo_err *err);

void libraries_close(struct libraries *libraries);

#endif
