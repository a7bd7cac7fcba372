/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `kymo export` that writes plain CTF. */
#ifndef KYMO_CLI_EXPORT_CTF_H
#define KYMO_CLI_EXPORT_CTF_H

#include <stdbool.h>

#include "analysis/align/align.h"
#include "base/err.h"

struct export_ctf {
	const char *trace;		/* path */
	const char *name;		/* of the trace, for the name of the output */
	const char *output;		/* NULL: made of the name */
	const char *begin, *end;	/* as on the command line; NULL: none */
	const struct align *align;	/* of several hosts: by the first one's clock; NULL: by its own */
	unsigned first_trace;		/* with align: the number of its first trace there */
	bool quiet;
};

/**
 * export_ctf() - write what @request says into a new directory
 * @lost: set to whether events were lost while recording
 *
 * Return: 0, or -1 with @err filled; what was written stays then.
 */
int export_ctf(const struct export_ctf *request, bool *lost, struct kymo_err *err);

/* Writes what @reader has into the directory @output, which is new or empty. Return: 0; -1 with @err. */
struct kymo_ctf_reader;
typedef int export_ctf_fn(struct kymo_ctf_reader *reader, const struct export_ctf *request, const char *output, bool *lost,
			  struct kymo_err *err);

/** export_ctf_as() - the same by @write; the directory is called as the trace with @suffix, if @request does not say. */
int export_ctf_as(const struct export_ctf *request, const char *suffix, export_ctf_fn *write, bool *lost, struct kymo_err *err);

#endif
