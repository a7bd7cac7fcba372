/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo record --user`: other users whose processes are recorded. */
#ifndef KYMO_CLI_RECORD_USERS_H
#define KYMO_CLI_RECORD_USERS_H

#include "base/err.h"
#include "base/opt.h"
#include "recorder/session/session.h"

#define RECORD_USERS_OPT(type, member) \
	{ "user", 0, OPT_LIST, offsetof(type, member), "USER", \
	  "as root: also record the processes of USER: a name, a number, or the path of a runtime directory; may be " \
	  "repeated", NULL }

/**
 * record_users() - enter @users into the session's options. Return: 0; -1 with @err. Context:
 * allocates.
 */
int record_users(const struct opt_list *users, struct session_options *session,
		 struct kymo_err *err);

#endif
