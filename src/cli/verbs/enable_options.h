/* SPDX-License-Identifier: Apache-2.0 */
/* For whom programs start with the preload library: the options of kymo enable and kymo disable. */
#ifndef KYMO_CLI_ENABLE_OPTIONS_H
#define KYMO_CLI_ENABLE_OPTIONS_H

#include "base/opt.h"
#include "recorder/launch/enable.h"

struct enable_for {
	const char *workspace;
	bool user;
};

/* Rows; @member of the verb's options struct @type is a struct enable_for. */
#define ENABLE_FOR_OPTS(type, member, of_user, of_workspace)                            \
	{ "user", 0, OPT_FLAG, offsetof(type, member.user), NULL, of_user, NULL },      \
	{ "workspace", 'w', OPT_TEXT, offsetof(type, member.workspace), "DIR", of_workspace, NULL }

/** enable_for_place() - what the options name. Context: blocks as the disk does. Return: 0; -1 with
 * @err: both options, or no such place. */
int enable_for_place(const struct enable_for *wanted, struct enable_place *place,
		     struct kymo_err *err);

#endif
