/* SPDX-License-Identifier: Apache-2.0 */
/* The files of --capture, for the verbs that read them. */
#ifndef KYMO_CLI_INPUT_CAPTURES_H
#define KYMO_CLI_INPUT_CAPTURES_H

#include "base/err.h"
#include "base/opt.h"

struct captures;

/**
 * cli_captures() - read the files of --capture, and print as @verb what could not be read
 * @captures: NULL if there are none; free it with captures_free()
 *
 * Context: allocates; blocks as the files and stderr do. Return: 0, or -1 with @err.
 */
int cli_captures(const char *verb, const struct opt_list *files, struct captures **captures,
		 struct kymo_err *err);

#endif
