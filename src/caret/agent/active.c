/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a session is active: asks LTTng's session daemon, or looks for a file. See agent.h. */
#include "caret/agent/agent.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARKER "caret_lttng_session_started"

/* --no-sessiond does not start a session daemon: without one nothing is active. */
static const char list_sessions[] = "exec timeout 5 lttng --no-sessiond list 2>/dev/null </dev/null";

static bool lttng_is_active(void)
{
	FILE *list = popen(list_sessions, "re");
	char line[1024];
	bool found = false;

	if (!list)
		return false;
	while (fgets(line, sizeof line, list))
		found |= strstr(line, "[active]") != NULL;
	(void)pclose(list);
	return found;
}

static bool file_is_there(const char *file)
{
	const char *directory = getenv("TMPDIR");
	char path[PATH_MAX];

	if (file)
		return access(file, F_OK) == 0;
	(void)snprintf(path, sizeof path, "%s/" MARKER, directory && *directory ? directory : "/tmp");
	return access(path, F_OK) == 0;
}

bool active_elsewhere(const struct active *active, bool starts)
{
	return active->kind == ACTIVE_LTTNG ? lttng_is_active() :
	       active->kind == ACTIVE_FILE ? file_is_there(active->file) :
	       active->kind == ACTIVE_ALWAYS && starts;
}
