/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the terminal's files in a kymo that was built without ncurses. */
#include "top/top.h"

int top_screen(const struct top_options *options, struct kymo_err *err)
{
	(void)options;
	return err_set(err, KYMO_EXIT_FAILED,
		       "this kymo was built without ncurses (libncurses-dev), so it has no screen; "
		       "\"kymo top --once\" prints a table");
}
