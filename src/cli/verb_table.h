/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs and their options for programs: `kymo help --format json`. */
#ifndef KYMO_CLI_VERB_TABLE_H
#define KYMO_CLI_VERB_TABLE_H

#include "base/opt.h"
#include "base/table.h"

/**
 * verb_table_print() - print the tables "verbs" and "options", what the help is made of; for all verbs also
 * "statuses", "variables" and "files"
 * @verbs: ends with NULL
 * @only: the verb it is about; NULL: all
 *
 * Return: exit status.
 * Context: one thread; allocates, may block on stdout.
 */
int verb_table_print(const struct verb *const *verbs, const struct verb *only, enum table_format format);

#endif
