/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions and callbacks of a profile; see profile_names.h. */
#include "report/sections/profile_names.h"

const char *profile_name(const struct report *report, struct profile *profile,
			 const struct profile_thread *thread, const struct profile_call *call,
			 const char **file, char *out, size_t size)
{
	return profile_call_name(profile, report->reader, report->model, thread, call, file, out,
				 size);
}
