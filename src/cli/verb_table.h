/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed of the tables of all verbs: for programs, for shells, and as manual pages. */
#ifndef KYMO_CLI_VERB_TABLE_H
#define KYMO_CLI_VERB_TABLE_H

#include <stdio.h>

#include "base/opt.h"
#include "base/table/table.h"

/**
 * verb_table_print() - print the tables "verbs" and "options", what the help is made of; for all verbs also
 * "statuses", "variables" and "files"
 * @verbs: ends with NULL
 * @only: the verb it is about; NULL: all
 *
 * Return: exit status.
 * Context: one thread; allocates, may block on stdout.
 */
int verb_table_print(const struct verb *const *verbs, const struct verb *only,
		     enum table_format format);

/**
 * complete_print() - print the completion script for @shell: "bash", "zsh" or "fish"
 * @verbs: ends with NULL
 *
 * Context: blocks on @out. Return: 0, or -1 for another shell; then nothing is printed.
 */
int complete_print(const struct verb *const *verbs, const char *shell, FILE *out);

/**
 * manual_command() - print kymo(1): verbs, exit statuses, environment, files
 * @verbs: ends with NULL
 *
 * Context: blocks on @out.
 */
void manual_command(const struct verb *const *verbs, const char *version, FILE *out);

/** manual_overview() - print kymo(7): what kymo is, its terms, first steps, and the same tables.
 * Otherwise as manual_command(). */
void manual_overview(const struct verb *const *verbs, const char *version, FILE *out);

#endif
