/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt of `kymo query`. */
#ifndef KYMO_CLI_QUERY_PROMPT_H
#define KYMO_CLI_QUERY_PROMPT_H

#include "base/table.h"
#include "query/query.h"

/**
 * query_prompt() - read statements and dot commands from the terminal until the user leaves
 *
 * @wide: as in query_print(), to begin with
 *
 * Ctrl-C ends the statement that runs, or drops the one that is being written.
 * Context: owns SIGINT while it runs.
 * Return: exit status.
 */
int query_prompt(struct query *query, const char *path, enum table_format format, bool wide);

#endif
