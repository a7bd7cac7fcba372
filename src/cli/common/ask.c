/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/common/ask.h"

#include "recorder/control/control.h"
#include "recorder/runtime/states.h"

int ask_open(struct rundir *dir, struct domain_info *info, struct kymo_err *err)
{
	int rc = rundir_open(dir, NULL, false, err);

	if (rc == 1)
		return states_nobody(dir->path, err);
	if (rc == 0)
		rc = domain_inspect(dir, info, err);
	if (rc < 0)
		return -1;
	if (info->active)
		return 0;
	rc = states_nobody(dir->path, err);
	rundir_close(dir);
	return rc;
}

int ask_for(const struct rundir *dir, const struct domain_info *info, const char *what,
	    int64_t timeout_ns, struct json_object **reply, struct kymo_err *err)
{
	struct json_object *request = json_object_new_object();
	int rc;

	json_object_object_add(request, "request", json_object_new_string(what));
	rc = control_ask(dir, request, (int)(timeout_ns / 1000000), reply, err);
	json_object_put(request);
	if (rc == 1)
		return err_set(err, KYMO_EXIT_FAILED, "cannot ask process %d to %s: it records, but does not answer; a program that "
			       "records itself must end its session itself, and \"kill -INT %d\" ends a kymo record",
			       info->pid, what, info->pid);
	return rc;
}
