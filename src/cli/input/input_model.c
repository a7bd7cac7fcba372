/* SPDX-License-Identifier: Apache-2.0 */
/* --model of verbs that follow a chain. */
#include "cli/input/input_model.h"

int cli_model_operand(const char *file, struct behaviours **model, const char **operand,
		      struct kymo_err *err)
{
	if (!file)
		return 0;
	if (behaviours_read(model, file, err))
		return -1;
	return behaviours_operand(*model, *operand, operand, err);
}
