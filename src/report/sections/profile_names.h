/* SPDX-License-Identifier: Apache-2.0 */
/* Names of what a profile of functions has: the functions, and the callbacks that called them. */
#ifndef KYMO_REPORT_PROFILE_NAMES_H
#define KYMO_REPORT_PROFILE_NAMES_H

#include "analysis/system/system_profile.h"
#include "report/report_internal.h"

/** profile_name() - profile_call_name() with the model of @report. */
const char *profile_name(const struct report *report, struct profile *profile,
			 const struct profile_thread *thread, const struct profile_call *call,
			 const char **file, char *out, size_t size);

#endif
