/* SPDX-License-Identifier: Apache-2.0 */
/* Shell completion, printed from the tables of the verbs. */
#ifndef KYMO_CLI_COMPLETE_H
#define KYMO_CLI_COMPLETE_H

#include <stdio.h>

#include "base/opt.h"

/**
 * complete_print() - print the completion script for @shell: "bash", "zsh" or "fish"
 * @verbs: ends with NULL
 *
 * Return: 0, or -1 for another shell.
 */
int complete_print(const struct verb *const *verbs, const char *shell, FILE *out);

#endif
