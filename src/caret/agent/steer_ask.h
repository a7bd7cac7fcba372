/* SPDX-License-Identifier: Apache-2.0 */
/* What steer.c needs for a recorder: a request to it, and the environment of a new one. */
#ifndef KYMO_CARET_STEER_ASK_H
#define KYMO_CARET_STEER_ASK_H

#include <stdbool.h>

#include "base/err.h"
#include "caret/agent/start.h"
#include "recorder/runtime/ros_domains.h"
#include "recorder/runtime/rundir.h"

struct json_object;

#define STEER_OWN_VARIABLE "KYMO_AGENT"		/* in the environment of a recorder that an agent started */

/** steer_request() - a request of the kind @what, for processes of @ros; NULL: for all. Return: to
 * be freed. */
struct json_object *steer_request(const char *what, const struct ros_domains *ros);

/** steer_filter_request() - the request to record what CARET's lists of @start select. Return: to
 * be freed. */
struct json_object *steer_filter_request(const struct start *start);

/**
 * steer_ask() - send a request to the recorder of @dir; retries, since a new recorder needs a
 * moment until it answers
 * @request: freed
 * @stopped: set to whether the recorder stops; may be NULL
 *
 * Return: 0; -1 with @err. Context: blocks until it has answered.
 */
int steer_ask(const struct rundir *dir, struct json_object *request, bool *stopped,
	      struct kymo_err *err);

/**
 * steer_environment() - our environment, with the mark of an agent's recorder and the directory of
 * its traces
 * @output: NULL: unchanged
 *
 * Return: to be freed, with its first two texts; NULL: out of memory.
 */
char **steer_environment(const char *output);

/** steer_began() - whether an agent began the recorder @pid. Return: 1, 0; -1: it cannot be read.
 * Context: reads /proc. */
int steer_began(int pid);

#endif
