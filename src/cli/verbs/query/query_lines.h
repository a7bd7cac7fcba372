/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that the user types at a prompt, with a history if an editor was built in, and Ctrl-C.
 *
 * Ctrl-C stops the running statement. At the prompt it drops the line. There the signal is blocked
 * except in ppoll(), so that it never interrupts the line editor, as a jump out of the handler
 * would.
 *
 * One prompt at a time. Context: the main thread; owns SIGINT between open and close.
 */
#ifndef KYMO_CLI_QUERY_LINES_H
#define KYMO_CLI_QUERY_LINES_H

#include <signal.h>
#include <stdbool.h>

#include "cli/common/common.h"

struct query;

struct query_lines {
	char history[CLI_PATH_MAX];	/* "": kept nowhere */
	struct sigaction before;	/* of SIGINT */
};

void query_lines_open(struct query_lines *lines);
void query_lines_close(struct query_lines *lines);

/**
 * query_lines_next() - print @prompt and read a line, without its newline
 * @interrupted: set to whether Ctrl-C dropped the line
 *
 * Return: the line, to be freed; NULL: the end of the input, or interrupted. Context: blocks.
 */
char *query_lines_next(const char *prompt, bool *interrupted);

/** query_lines_keep() - add @line to the history. */
void query_lines_keep(const char *line);

/** query_lines_run() - from now on Ctrl-C stops @query's statement; NULL: none runs any more. */
void query_lines_run(struct query *query);

#endif
