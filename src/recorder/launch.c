/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command and the preload library, and builds the command's environment. */
#include "recorder/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char preload[] = "libkymo-ros2.so";

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int launch_find(const char *name, struct err *err)
{
	const char *path = getenv("PATH");
	char candidate[PATH_MAX];

	if (strchr(name, '/')) {
		if (is_program(name))
			return 0;
		return err_set(err, EXIT_INPUT, access(name, F_OK) == 0 ?
			       "%s cannot be executed; is it a program?" :
			       "there is no program %s; check its path", name);
	}
	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	while (*name && *path) {
		size_t length = strcspn(path, ":");

		(void)snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length,
			       length ? path : ".", name);
		if (is_program(candidate))
			return 0;
		path += length + (path[length] == ':');
	}
	return err_set(err, EXIT_INPUT, "there is no program \"%s\" in PATH; is the ROS 2 environment "
		       "set up (source install/setup.bash)?", name);
}

/* "../lib" seen from a bin directory also fits a build tree. */
static int find_preload(const char *fallback, char *path, size_t size, struct err *err)
{
	char self[PATH_MAX], *slash;
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (length > 0) {
		self[length] = 0;
		slash = strrchr(self, '/');
		if (slash)
			*slash = 0;
		slash = strrchr(self, '/');
		if (slash) {
			*slash = 0;
			(void)snprintf(path, size, "%s/lib/%s", self, preload);
			if (access(path, R_OK) == 0)
				return 0;
		}
	}
	(void)snprintf(path, size, "%s/%s", fallback, preload);
	if (access(path, R_OK) == 0)
		return 0;
	return err_set(err, EXIT_FAILED, "%s is neither in the lib directory beside this program nor in "
		       "%s; install kymo completely (make install)", preload, fallback);
}

static char *variable(const char *name, const char *value)
{
	char *text = NULL;

	return asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text;
}

static bool is_set_by_us(const char *entry, const char *const ours[])
{
	for (; *ours; ours++) {
		size_t length = strlen(*ours);

		if (strncmp(entry, *ours, length) == 0 && entry[length] == '=')
			return true;
	}
	return false;
}

static char *preload_value(const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	char *text = NULL;

	if (!old || !old[0])
		return variable("LD_PRELOAD", library);
	return asprintf(&text, "LD_PRELOAD=%s:%s", library, old) < 0 ? NULL : text;
}

void launch_free(char **environment)
{
	for (char **entry = environment; entry && *entry; entry++)
		free(*entry);
	free(environment);
}

#define OURS_MAX 4	/* variables that are set here */

char **launch_environment(const struct launch *launch, struct err *err)
{
	const char *names[OURS_MAX + 1] = { "LD_PRELOAD" };
	const char *forward = getenv("KYMO_FORWARD");
	char library[PATH_MAX + 32], number[32], **result;
	unsigned count = 0, named = 1;

	if (find_preload(launch->fallback_libdir, library, sizeof library, err) < 0)
		return NULL;
	while (environ[count])
		count++;
	result = calloc(count + OURS_MAX + 1, sizeof *result);
	if (!result)
		goto fail;
	count = 0;
	result[count++] = preload_value(library);
	if (!forward || strcmp(forward, "1") != 0) {
		names[named++] = "TRACETOOLS_RUNTIME_DISABLE";
		result[count++] = variable("TRACETOOLS_RUNTIME_DISABLE", "1");
	}
	if (launch->tag) {
		names[named++] = "KYMO_SESSION";
		(void)snprintf(number, sizeof number, "%" PRIx64, launch->tag);
		result[count++] = variable("KYMO_SESSION", number);
	}
	if (launch->ring_size) {
		names[named++] = "KYMO_RING_SIZE";
		(void)snprintf(number, sizeof number, "%" PRIu64, launch->ring_size);
		result[count++] = variable("KYMO_RING_SIZE", number);
	}
	for (unsigned i = 0; i < count; i++)
		if (!result[i])
			goto fail;
	for (char **entry = environ; *entry; entry++) {
		if (is_set_by_us(*entry, names))
			continue;
		result[count] = strdup(*entry);
		if (!result[count++])
			goto fail;
	}
	return result;
fail:
	launch_free(result);
	(void)err_set(err, EXIT_FAILED, "out of memory");
	return NULL;
}
