/* SPDX-License-Identifier: Apache-2.0 */
/* What steer.c needs of a recorder: to ask it, and the environment of one that it starts. */
#ifndef KYMO_CONTROL_STEER_ASK_H
#define KYMO_CONTROL_STEER_ASK_H

#include <stdbool.h>

#include "base/err.h"
#include "recorder/runtime/rundir.h"

struct json_object;

#define STEER_OWN_VARIABLE "KYMO_AGENT"		/* in the environment of a recorder that an agent started */

/**
 * steer_ask() - ask the recorder of @dir; it is there a moment before it can be asked
 * @request: freed
 * @stopped: set if it says that it stops; may be NULL
 *
 * Return: 0; -1 with @err. Context: blocks until it has answered.
 */
int steer_ask(const struct rundir *dir, struct json_object *request, bool *stopped, struct kymo_err *err);

/**
 * steer_environment() - ours, with what marks a recorder of our own and says where its traces go
 * @output: NULL: as it is
 *
 * Return: to be freed, with its first two texts; NULL without memory.
 */
char **steer_environment(const char *output);

#endif
