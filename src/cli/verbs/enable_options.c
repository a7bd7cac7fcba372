/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/enable_options.h"

int enable_for_place(const struct enable_for *wanted, struct enable_place *place,
		     struct kymo_err *err)
{
	if (wanted->user && wanted->workspace)
		return err_set(err, KYMO_EXIT_USAGE, "--user and --workspace: one at a time");
	return wanted->workspace ? enable_of_workspace(place, wanted->workspace, err)
				 : enable_of_user(place, err);
}
