/* SPDX-License-Identifier: Apache-2.0 */
/* Names of what a profile of functions has: the functions, and the callbacks that called them. */
#ifndef KYMO_REPORT_PROFILE_NAMES_H
#define KYMO_REPORT_PROFILE_NAMES_H

#include "analysis/system/system_profile.h"
#include "report/report_internal.h"

/**
 * profile_name() - the name of @call on @thread
 * @file: set to the file that the function is in, "callback" for a callback; NULL: not known
 * @out: room for the name of a callback, @size bytes
 *
 * Return: NULL: not known; otherwise valid until profile_free(), or as long as @out.
 * Context: not thread-safe; may read files of programs; blocks.
 */
const char *profile_name(const struct report *report, struct profile *profile,
			 const struct profile_thread *thread, const struct profile_call *call,
			 const char **file, char *out, size_t size);

#endif
