/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo query` prints: results of statements, and the definitions of the tables; and its
 * prompt. */
#ifndef KYMO_CLI_QUERY_PRINT_H
#define KYMO_CLI_QUERY_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/table/table.h"
#include "cli/common/progress.h"
#include "query/query.h"

/**
 * query_print() - run all statements of @sql and print a table for each
 * @out: stdout, or what ends there
 * @progress: shown while events are read
 *
 * Return: 0, or -1 with @err filled; what was printed before stays.
 */
int query_print(struct query *query, const char *sql, enum table_format format, FILE *out,
		struct progress *progress, struct kymo_err *err);

/** query_print_error() - @err on stderr, line by line and without what a terminal would obey */
void query_print_error(const char *prefix, const struct kymo_err *err);

/**
 * query_print_schema() - tables with columns and documentation
 * @table: its number, or -1 for all
 *
 * Return: 0, or -errno of the stream.
 */
int query_print_schema(int table, enum table_format format, FILE *out);

/**
 * query_prompt() - read statements and dot commands from the terminal until the user leaves
 *
 * Ctrl-C ends the statement that runs, or drops the one that is being written.
 * Context: owns SIGINT while it runs.
 * Return: exit status.
 */
int query_prompt(struct query *query, const char *path, enum table_format format);

/** query_is_command() - does @text begin with a dot, as the commands of the prompt? Context:
 * wait-free. */
bool query_is_command(const char *text);

/**
 * query_script() - run @text, which is not a prompt's: statements, and dot commands on lines of
 * their own
 * @text: is changed
 * @out: of the statements: stdout, or what ends there
 *
 * Return: 0; -1 with @err filled; what was printed before stays.
 */
int query_script(struct query *query, char *text, enum table_format format, FILE *out,
		 struct progress *progress, struct kymo_err *err);

/**
 * query_is_same() - will @sql give the same rows each time? Not if it has a dot command, a random
 * number or the time of day. Context: wait-free. Return: false when in doubt.
 */
bool query_is_same(const char *sql);

#endif
