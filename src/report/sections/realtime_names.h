/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of callbacks and spans that are to be real-time, as --realtime and files of --realtime-file
 * give them.
 *
 * A file is text with a name a line; empty lines and those that begin with # count for nothing. A
 * name is a node, a callback, or a span as category:name, may have * and ?, and leaves out with a !
 * in front.
 *
 * Context of all functions: not thread-safe; allocate; realtime_names_file() blocks.
 */
#ifndef KYMO_REPORT_REALTIME_NAMES_H
#define KYMO_REPORT_REALTIME_NAMES_H

#include "base/err.h"

#define REALTIME_NAMES_MAX 1024
#define REALTIME_NAME_MAX 512		/* bytes */

struct realtime_names {
	char **name;
	unsigned count, room;
};

/**
 * realtime_names_add() - one more. Return: 0; -1 with @err (KYMO_EXIT_USAGE): it is none, or there
 * are too many.
 */
int realtime_names_add(struct realtime_names *names, const char *name, struct kymo_err *err);

/**
 * realtime_names_file() - those of @path. Return: 0; -1 with @err (KYMO_EXIT_INPUT), which names
 * the file, the line and what to write.
 */
int realtime_names_file(struct realtime_names *names, const char *path, struct kymo_err *err);

void realtime_names_free(struct realtime_names *names);

#endif
