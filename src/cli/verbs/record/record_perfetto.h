/* SPDX-License-Identifier: Apache-2.0 */
/* A Perfetto file of a trace while it is recorded, written by a child of the recorder. */
#ifndef KYMO_CLI_RECORD_PERFETTO_H
#define KYMO_CLI_RECORD_PERFETTO_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct record_perfetto {
	pid_t child;		/* 0: there is none */
	int open;		/* closed when the recording is over */
};

/**
 * record_perfetto_begin() - write @file from the trace that a recorder will write into the
 * directory @trace
 * @quiet: say nothing but errors
 *
 * The file must not exist. It can be opened at any time, and contains what was recorded until some
 * 300 ms before, also when the recorder or the child is killed. Call this before any thread is
 * created.
 * Return: 0, or -1 with @err.
 */
int record_perfetto_begin(struct record_perfetto *perfetto, const char *file, const char *trace,
			  bool quiet, struct kymo_err *err);

/**
 * record_perfetto_end() - the recording is over: the file is completed
 *
 * Return: 0; -1: the file is incomplete, and the child has reported why. Context: blocks.
 */
int record_perfetto_end(struct record_perfetto *perfetto);

#endif
