/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --model of verbs that follow a chain: an operand is the name of an activity or a region in the
 * user's file.
 *
 *   if (cli_model_operand(o.model, &model, &asked, err) < 0)
 *       return -1;
 *   ... asked is a chain, a callback or a span now ...
 *   behaviours_free(model);
 *
 * Context: not thread-safe; allocates and blocks.
 */
#ifndef KYMO_CLI_INPUT_MODEL_H
#define KYMO_CLI_INPUT_MODEL_H

#include "analysis/behaviour/behaviour.h"

/**
 * cli_model_operand() - replace the name in @operand by what the name stands for in @file
 * @file: of --model; NULL: nothing happens
 * @model: receives the file, on errors as well; *@operand is valid as long as it is
 * @operand: NULL in it: no operand, which is an error
 *
 * Return: enum behaviour_operand, 0 without @file; -1 with @err.
 */
int cli_model_operand(const char *file, struct behaviours **model, const char **operand,
		      struct kymo_err *err);

#endif
