/* SPDX-License-Identifier: Apache-2.0 */
/* `-p PID|NAME`: which processes belong to a session. */
#ifndef KYMO_CLI_SELECT_H
#define KYMO_CLI_SELECT_H

#include "base/opt.h"
#include "recorder/session/session.h"

/**
 * select_processes() - put what -p says into @session
 * @verb: for hints on standard error: a process that is not traced may be waited for in vain
 *
 * Numbers are processes, anything else is a glob of names. The texts in @list stay in use.
 * Return: 0; -1 with @err: no number, no such process.
 */
int select_processes(const char *verb, const struct opt_list *list, struct session_options *session,
		     struct kymo_err *err);

#endif
