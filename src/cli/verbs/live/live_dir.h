/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo live DIR`: a trace directory that somebody writes meanwhile. */
#ifndef KYMO_CLI_LIVE_DIR_H
#define KYMO_CLI_LIVE_DIR_H

#include "cli/verbs/live/live_show.h"

/**
 * live_dir() - show what comes in @path, until its writer has gone, it is enough, or a signal came
 * @period_ns: between blocks of tables
 * @quiet: do not say that a trace is waited for
 *
 * Return: 0, or -1 with @err filled. Context: blocks; takes SIGINT and SIGTERM.
 */
int live_dir(const char *path, struct live_show *show, int64_t period_ns, bool quiet, struct kymo_err *err);

#endif
