/* SPDX-License-Identifier: Apache-2.0 */
/* The page for browsers, which several verbs write. */
#ifndef KYMO_CLI_INPUT_REPORT_PAGE_H
#define KYMO_CLI_INPUT_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "caret/paths/caret_paths.h"

struct expectations;
struct report_judge;

struct report_page_request {
	const char *verb;    /* for messages */
	const char *command; /* that was typed, for the page */
	const char *output;  /* "-": standard output; NULL: the trace's name with .html */
	bool overwrite;      /* an existing file */
	bool quiet;          /* no progress, no line about the file */
	bool strict;
	bool *lost; /* set to whether events were lost; NULL: not */
	const struct cli_times *times;
	const char *const *realtime; /* [realtimes] as of report_options */
	unsigned realtimes;
	struct expectations *expect; /* whether these held; NULL: none */
	struct caret_options *paths; /* that expectations name; NULL: none */
	const struct report_judge *judge; /* of budgets; NULL: none */
};

/** report_page_command() - "kymo VERB WORDS", as a shell takes them. Return: @buffer. */
char *report_page_command(char *buffer, size_t size, const char *verb, int argc, char **argv);

/**
 * report_page_write() - write the page of the traces among the operands, and on stderr where it is
 *
 * Context: allocates, blocks. Return: exit status, KYMO_EXIT_BUDGET if an expectation did not hold;
 * or -1 with @err.
 */
int report_page_write(const struct report_page_request *request, int argc, char **argv,
		      struct kymo_err *err);

#endif
