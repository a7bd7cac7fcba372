/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says about a process, and whether kymo may and can be attached to it. Private to
 * src/attach. */
#ifndef KYMO_ATTACH_PROCESS_H
#define KYMO_ATTACH_PROCESS_H

#include <stdbool.h>

#include "attach/attach_maps.h"

struct attach_process {
	unsigned pid;
	char name[64];             /* of its main thread */
	char state;                /* of its main thread: R S D T t Z X */
	unsigned group;            /* the pid, if @pid is the number of a thread */
	unsigned uid[4];           /* real, effective, saved, file system */
	unsigned tracer;           /* 0: none */
	unsigned seccomp, filters; /* 0: none, 1: strict, 2: filters, and how many */
	bool container;            /* its root directory or its mounts are not ours */
};

/** process_read() - read /proc/<pid>/status. Return: 0, or -1 with @err (KYMO_EXIT_INPUT): no such
 * process. Context: blocks. */
int process_read(struct attach_process *process, unsigned pid, struct kymo_err *err);

/**
 * process_allows() - may we trace this process, and would it live on?
 *
 * Refuses other users' processes (unless we are root), setuid programs, processes that a debugger
 * has, that are stopped, or that are sandboxed by other filters than ours. Return: 0, or -1 with
 * @err, which says what would allow it. Context: blocks.
 */
int process_allows(const struct attach_process *process, struct kymo_err *err);

/** process_suits() - has the process a dynamic linker and a libc that kymo knows? Return: 0, or -1
 * with @err. Context: blocks. */
int process_suits(const struct attach_process *process, const struct maps *maps,
		  struct kymo_err *err);

/** process_refused() - the error for a system call of ptrace that failed with @error. Return:
 * -1. */
int process_refused(const struct attach_process *process, int error, struct kymo_err *err);

/**
 * process_library() - is @library a file that may be loaded into the process?
 *
 * It must exist in the root directory of the process, belong to root or to us, and nobody else may
 * write to it or replace it. Return: 0, or -1 with @err. Context: blocks.
 */
int process_library(const struct attach_process *process, const char *library,
		    struct kymo_err *err);

#endif
