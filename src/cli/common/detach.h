/* SPDX-License-Identifier: Apache-2.0 */
/* Go on in the background, with a log file instead of the terminal. */
#ifndef KYMO_CLI_DETACH_H
#define KYMO_CLI_DETACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "cli/common/common.h"

struct detach {
	bool active;
	char log[CLI_PATH_MAX];		/* absolute */
	int log_fd, ready_fd;
	pid_t child;			/* in the parent */
};

/**
 * detach() - fork; the child goes on, in a session of its own without input
 * @log: file for its messages, which is created; the directory must exist
 *
 * The child still has the terminal for its errors, until it calls detach_ready(). Call this before
 * any thread is created.
 * Return: 0: in the child; 1: in the parent, when the child is ready or has ended, with *@status:
 * its exit status, 0 when it runs; -1 with @err. Context: blocks.
 */
int detach(struct detach *detach, const char *log, int *status, struct kymo_err *err);

/** detach_ready() - in the child: it works. From now on all output goes to the log. */
void detach_ready(struct detach *detach);

/** detach_end() - in the child, at its end: an empty log is removed. */
void detach_end(const struct detach *detach);

#endif
