/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that ask the running recorder of the runtime directory for something. */
#ifndef KYMO_CLI_ASK_H
#define KYMO_CLI_ASK_H

#include <json-c/json.h>

#include "base/err.h"
#include "recorder/runtime/domain.h"
#include "recorder/runtime/rundir.h"

/**
 * ask_open() - the runtime directory and its recorder
 * Return: 0, and @dir is open; -1 with @err, KYMO_EXIT_EMPTY when no recorder is running.
 */
int ask_open(struct rundir *dir, struct domain_info *info, struct kymo_err *err);

/**
 * ask_for() - ask the recorder that ask_open() found
 * @what: name of the request, which has no arguments
 * @timeout_ns: for all of it, at least a millisecond
 * @reply: to be released with json_object_put()
 *
 * Return: 0; -1 with @err. Context: blocks.
 */
int ask_for(const struct rundir *dir, const struct domain_info *info, const char *what,
	    int64_t timeout_ns, struct json_object **reply, struct kymo_err *err);

#endif
