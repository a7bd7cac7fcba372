/* SPDX-License-Identifier: Apache-2.0 */
/* In the program that speaks DDS: it is here. */
#include "caret/agent/caret_control.h"

int control_enter(const char *verb, int argc, char **argv, const char *libdir, struct kymo_err *err)
{
	(void)verb;
	(void)argc;
	(void)argv;
	(void)libdir;
	(void)err;
	return 0;
}
