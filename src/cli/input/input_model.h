/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --model of verbs that follow a chain: an operand is the name of an activity or a region in the
 * user's file.
 *
 *   if (cli_model_operand(o.model, &model, &argc, argv, &name, &operand, err) < 0)
 *       return -1;
 *   ... operand is a chain, a callback or a span; argv has the traces ...
 *   behaviours_free(model);
 *
 * Context: not thread-safe; allocates and blocks.
 */
#ifndef KYMO_CLI_INPUT_MODEL_H
#define KYMO_CLI_INPUT_MODEL_H

#include "analysis/behaviour/behaviour.h"

/**
 * cli_model_operand() - take the one operand out that is a name of @file; the others are traces
 * @file: of --model
 * @model: receives the file, on errors as well
 * @name: receives the name, as typed
 * @operand: receives what it stands for; valid as long as @model
 *
 * A name wins over a trace of the same name, unless another operand is a name, too.
 * Return: enum behaviour_operand; -1 with @err: there is no name, or several.
 */
int cli_model_operand(const char *file, struct behaviours **model, int *argc, char **argv,
		      const char **name, const char **operand, struct kymo_err *err);

#endif
