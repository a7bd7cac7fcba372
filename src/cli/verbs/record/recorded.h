/* SPDX-License-Identifier: Apache-2.0 */
/* The summary that `record`, `stop` and `recover` print for the trace that was written. */
#ifndef KYMO_CLI_RECORDED_H
#define KYMO_CLI_RECORDED_H

#include <stdbool.h>

#include "accounts/accounts.h"
#include "recorder/record/record.h"

/**
 * recorded_once() - a whole session that reads everything once, and ends
 * @options: of a session of processes that no longer change (only_dead, frozen)
 *
 * Return: 0; -1 with @err. @stats is filled if the session could begin. Context: blocks.
 */
int recorded_once(const struct session_options *options, struct session_stats *stats,
		  struct kymo_err *err);

/** recorded_lossy() - is anything missing in the trace? */
bool recorded_lossy(const struct session_stats *stats);

/**
 * recorded_print() - summary and losses on stderr; a table on stdout for json and csv
 * @kernel: counts of the kernel's events; NULL: not recorded
 * @stacks: of call stacks, likewise
 * @quiet: losses only
 * Return: exit status.
 */
int recorded_print(const char *verb, const struct session_stats *stats,
		   const struct kernel_stats *kernel, const struct stacks_stats *stacks,
		   const char *output, int format, bool quiet);

/** recorded_kernel() - summary and losses of the kernel's events on stderr. @quiet: losses only */
void recorded_kernel(const char *verb, const struct kernel_stats *kernel, bool quiet);

/** recorded_accounts() - the same summary on stderr, of the accounts of a recording that ended. */
void recorded_accounts(const char *verb, const struct accounts *accounts);

#endif
