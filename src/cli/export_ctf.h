/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `kymo export` that writes plain CTF. */
#ifndef KYMO_CLI_EXPORT_CTF_H
#define KYMO_CLI_EXPORT_CTF_H

#include <stdbool.h>

#include "base/err.h"

struct export_ctf {
	const char *trace;		/* path */
	const char *name;		/* of the trace, for the name of the output */
	const char *output;		/* NULL: made of the name */
	const char *begin, *end;	/* as on the command line; NULL: none */
	bool quiet;
};

/**
 * export_ctf() - write what @request says into a new directory
 * @lost: set to whether events were lost while recording
 *
 * Return: 0, or -1 with @err filled; what was written stays then.
 */
int export_ctf(const struct export_ctf *request, bool *lost, struct err *err);

#endif
