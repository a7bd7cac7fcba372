/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a directory holds one recording, or several that have nothing to do with each other, such
 * as ~/.ros/tracing. Read as one, these would be a robot that started ten times under the same
 * names.
 */
#ifndef KYMO_CLI_INPUT_RUNS_H
#define KYMO_CLI_INPUT_RUNS_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/input/answer.h"

/* bool merge */
#define CLI_OPT_MERGE(type)                                                   \
	{                                                                     \
		"merge", 0, OPT_FLAG, offsetof(type, merge), NULL,            \
			"read a directory of several recordings as one", NULL \
	}

/**
 * cli_one_run() - check that the only trace of @answer is one recording
 *
 * Parts of one recording are its chunks, its domains (ust, kernel) and snapshots, and whatever
 * overlaps in time, as several processes and hosts do. Several operands are meant to be read
 * together and pass. Lists the recordings on stderr if there are several. Return: 0, or -1 with
 * @err (KYMO_EXIT_USAGE). Context: reads packet headers or indexes; allocates.
 */
int cli_one_run(const struct answer *answer, struct kymo_err *err);

#endif
