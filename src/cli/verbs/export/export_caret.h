/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `kymo export` that writes what caret_analyze reads. */
#ifndef KYMO_CLI_EXPORT_CARET_H
#define KYMO_CLI_EXPORT_CARET_H

#include "cli/verbs/export/export_ctf.h"
#include "cli/input/input_traces.h"

/** export_caret() - as export_ctf(); without a window. */
int export_caret(const struct export_ctf *request, bool *lost, struct kymo_err *err);

/**
 * export_caret_hosts() - several traces, each of one host, into a directory of its own below the output, with times of
 * the first host's clock: a list of them is what caret_analyze wants of several hosts
 */
int export_caret_hosts(const struct export_ctf *request, const struct cli_traces *traces, bool *lost, struct kymo_err *err);

#endif
