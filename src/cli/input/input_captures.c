/* SPDX-License-Identifier: Apache-2.0 */
/* The files of --capture. */
#include "analysis/capture/capture.h"
#include "cli/common/common.h"
#include "cli/input/input_captures.h"

int cli_captures(const char *verb, const struct opt_list *files, struct captures **captures,
		 struct kymo_err *err)
{
	const char *warning;

	if (!files->count)
		return 0;
	if (captures_read(captures, files->item, files->count, err))
		return -1;
	for (unsigned i = 0; (warning = captures_warning(*captures, i)); i++)
		cli_say((void *)verb, warning);
	return 0;
}
