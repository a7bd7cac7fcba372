/* SPDX-License-Identifier: Apache-2.0 */
/* In the program that does not speak DDS: the way to the one that does. */
#include "caret/agent/caret_control.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caret/agent/agent.h"
#include "caret/agent/remote.h"
#include "recorder/launch/preload.h"

int control_enter(const char *verb, int argc, char **argv, const char *libdir, struct kymo_err *err)
{
	char path[PATH_MAX], **vector;

	if (preload_beside(path, sizeof path, CONTROL_PROGRAM, libdir) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "this kymo was built without CycloneDDS, which \"kymo %s\" needs: install "
			       "cyclonedds-dev and cyclonedds-tools, and build it again (%s is not there)", verb,
			       CONTROL_PROGRAM);
	vector = calloc((size_t)argc + 3, sizeof *vector);
	if (!vector)
		return err_no_memory(err);
	vector[0] = (char *)"kymo";
	vector[1] = (char *)verb;
	memcpy(vector + 2, argv, (size_t)argc * sizeof *vector);
	(void)execv(path, vector);
	free(vector);
	return err_set(err, KYMO_EXIT_FAILED, "cannot run %s: %s", path, strerror(errno));
}

/* control_enter() does not return here: these are never called. */

static int nothing(struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "this program does not speak DDS");
}

int remote_run(const struct remote_options *options, struct hosts *hosts, struct kymo_err *err)
{
	(void)options;
	(void)hosts;
	return nothing(err);
}

int agent_run(const struct agent_options *options, struct kymo_err *err)
{
	(void)options;
	return nothing(err);
}
