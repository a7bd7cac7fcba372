/* SPDX-License-Identifier: Apache-2.0 */
/* One run of `kymo bench`: a command, recorded, and what else the machine did meanwhile. */
#ifndef KYMO_CLI_BENCH_RUN_H
#define KYMO_CLI_BENCH_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "compare/disturbed.h"

struct bench_run {
	const char *command; /* for sh -c */
	const char *path;    /* of the recording */
	const char *log;     /* of what recorder and command print */
	int64_t duration_ns; /* ends the command after so long; 0: it ends by itself */
	bool kernel;         /* with the kernel's events, if kymo may record them */
};

/**
 * bench_run() - record @run to its end
 * @meanwhile: set to what the machine did until then
 * @lost: set to how many events were lost
 *
 * A command that --duration ended with a signal has not failed.
 * Context: starts a process and waits for it. Return: 0; -1 with @err: the command failed, or
 * nothing was recorded.
 */
int bench_run(const struct bench_run *run, struct meanwhile *meanwhile, uint64_t *lost,
	      struct kymo_err *err);

/** bench_run_has_kernel() - has the recording @path the kernel's events? Context: blocks. */
bool bench_run_has_kernel(const char *path);

#endif
