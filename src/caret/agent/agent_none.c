/* SPDX-License-Identifier: Apache-2.0 */
/* In the program without DDS: run the program with DDS. */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caret/agent/agent.h"
#include "caret/agent/remote.h"
#include "recorder/launch/preload.h"

int caret_enter(const char *verb, int argc, char **argv, const char *libdir, struct kymo_err *err)
{
	char path[PATH_MAX], **vector;

	if (preload_beside(path, sizeof path, CARET_DDS_PROGRAM, libdir) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot run kymo %s: this kymo was built without CycloneDDS (%s does not exist); "
			       "install cyclonedds-dev and cyclonedds-tools and build it again", verb,
			       CARET_DDS_PROGRAM);
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

/* Never called, because caret_enter() does not return here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int remote_run(const struct remote_options *options, struct hosts *hosts, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "this program does not use DDS");
}

int agent_run(const struct agent_options *options, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "this program does not use DDS");
}
