/* SPDX-License-Identifier: Apache-2.0 */
/* The manual pages of the command as a whole. Those of verbs are printed by opt_man(). */
#ifndef KYMO_CLI_MANUAL_H
#define KYMO_CLI_MANUAL_H

#include <stdio.h>

#include "base/opt.h"

/**
 * manual_command() - print kymo(1): verbs, exit statuses, environment, files
 * @verbs: ends with NULL
 *
 * Context: blocks on @out.
 */
void manual_command(const struct verb *const *verbs, const char *version, FILE *out);

/** manual_overview() - print kymo(7): what kymo is, its terms, first steps, and the same tables. Otherwise as manual_command(). */
void manual_overview(const struct verb *const *verbs, const char *version, FILE *out);

#endif
