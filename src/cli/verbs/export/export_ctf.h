/* SPDX-License-Identifier: Apache-2.0 */
/* What the exporters of CTF share: plain CTF, and the CTF that caret_analyze reads. */
#ifndef KYMO_CLI_EXPORT_CTF_H
#define KYMO_CLI_EXPORT_CTF_H

#include "analysis/align/align.h"
#include "cli/verbs/export/export.h"
#include "ctf/read/reader.h"

/* Of several hosts, whose clocks were compared. */
struct export_host {
	/* the trace has times of the first host's clock; NULL: of its own */
	const struct align *align;
	unsigned first_trace;		/* with align: the number of its first trace there */
};

/*
 * Writes what @reader has into the directory @output, which is new or empty. Return: 0; -1 with
 * @err.
 */
typedef int export_ctf_fn(struct kymo_ctf_reader *reader, const struct export_request *request,
			  const char *output, bool *lost, struct kymo_err *err);

/** export_ctf_as() - a directory by @write, named after the trace with @suffix if @request does
 * not say. Context: reads the trace; allocates and blocks. Return: as export_ctf(). */
int export_ctf_as(const struct export_request *request, const struct export_host *host,
		  const char *suffix, export_ctf_fn *write, bool *lost, struct kymo_err *err);

#endif
