/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo live DIR`: a trace directory that another program writes meanwhile. */
#ifndef KYMO_CLI_LIVE_DIR_H
#define KYMO_CLI_LIVE_DIR_H

#include "cli/verbs/live/live_show.h"

/**
 * live_dir() - show new events in @path, until the writer has gone, enough was printed, or a signal arrived
 * @period_ns: between blocks of tables
 * @quiet: do not report that it waits for a trace
 *
 * Return: 0, or -1 with @err filled. Context: blocks; takes SIGINT and SIGTERM.
 */
int live_dir(const char *path, struct live_show *show, int64_t period_ns, bool quiet, struct kymo_err *err);

#endif
