/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a directory holds one recording, or several that have nothing to do with each other, such
 * as ~/.ros/tracing. Read as one, these would be a robot that started ten times under the same
 * names.
 */
#ifndef KYMO_CLI_INPUT_RUNS_H
#define KYMO_CLI_INPUT_RUNS_H

#include "base/err.h"
#include "cli/input/input_traces.h"

/**
 * cli_one_run() - check that the only trace of @traces, which @reader has open, is one recording
 *
 * Parts of one recording are its chunks, its domains (ust, kernel) and snapshots, and whatever
 * overlaps in time, as several processes and hosts do. Several operands are meant to be read
 * together and pass. If there are several recordings, the error and a list of them are printed on
 * stderr. Return: 0, or -1 with @err: KYMO_EXIT_USAGE without a text, so that cli_fail() prints
 * nothing more. Context: reads packet headers or indexes; allocates.
 */
int cli_one_run(const char *verb, const struct cli_traces *traces,
		const struct kymo_ctf_reader *reader, struct kymo_err *err);

/** cli_one_run_below() - the same for @traces that are not open. Context: opens them; allocates. */
int cli_one_run_below(const char *verb, const struct cli_traces *traces, struct kymo_err *err);

#endif
