/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions and callbacks of a profile; see system_profile.h. */
#include <string.h>

#include "analysis/model/model.h"
#include "analysis/system/system_profile.h"

/* The name of the callback that a run was of; of those that had the same address, the latest. NULL:
 * not known. */
static const char *callback_name(const struct kymo_ctf_reader *reader, const struct model *model,
				 const struct profile_thread *thread,
				 const struct profile_call *call, char *out, size_t size)
{
	const char *host = kymo_ctf_trace(reader, thread->trace)->hostname;

	for (unsigned i = model_count(model, MODEL_CALLBACK); i; i--) {
		const struct model_callback *callback = model_callback(model, i - 1);

		if (callback->address == call->address &&
		    callback->process->pid == thread->os.pid &&
		    strcmp(callback->process->hostname, host) == 0)
			return model_callback_label(callback, out, size);
	}
	return NULL;
}

const char *profile_call_name(struct profile *profile, const struct kymo_ctf_reader *reader,
			      const struct model *model, const struct profile_thread *thread,
			      const struct profile_call *call, const char **file, char *out,
			      size_t size)
{
	if (!call->is_callback)
		return modules_name(&profile->modules, thread->trace, thread->os.pid, call->address,
				    file);
	*file = "callback";
	return callback_name(reader, model, thread, call, out, size);
}
