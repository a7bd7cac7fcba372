/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `kymo export` that writes CARET's architecture file. */
#ifndef KYMO_CLI_EXPORT_ARCHITECTURE_H
#define KYMO_CLI_EXPORT_ARCHITECTURE_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/input/input_traces.h"

struct export_architecture {
	const struct cli_traces *traces;	/* several: one architecture of all their nodes */
	const char *output;		/* NULL: architecture.yaml; "-": standard output */
	bool force, quiet;
};

/**
 * export_architecture() - write what @request says, with a summary on stderr
 * @lost: set to whether events were lost while recording
 *
 * Return: 0, or -1 with @err filled; then nothing incomplete is left behind.
 */
int export_architecture(const struct export_architecture *request, bool *lost, struct kymo_err *err);

#endif
