/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the preload library. See preload.h. */
#include "recorder/launch/preload.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the directory @directory + @at? */
static bool is_there(char *path, size_t size, const char *directory, const char *at,
		     const char *name)
{
	int used = snprintf(path, size, "%s%s/%s", directory, at, name);

	return used > 0 && (size_t)used < size && !access(path, R_OK);
}

/*
 * Beside the running program, in an installation that was moved as a whole. For /x/bin/kymo: in
 * /x/lib, where a build has it, or in /x/lib/<machine>/kymo when @libdir ends so; for
 * /x/lib/<machine>/kymo/kymo-dds: in its own directory.
 */
static bool beside_program(char *path, size_t size, const char *name, const char *libdir)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	const char *at = "/lib";

	if (length <= 0)
		return false;
	self[length] = 0;
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(self, '/');

		if (!slash)
			return false;
		*slash = 0;
		if (up == 0 && is_there(path, size, self, "", name))
			return true;
	}
	for (; at; at = libdir ? strstr(libdir, "/lib") : NULL, libdir = at ? at + 1 : NULL)
		if (is_there(path, size, self, at, name))
			return true;
	return false;
}

int preload_beside(char *path, size_t size, const char *name, const char *libdir)
{
	if (beside_program(path, size, name, libdir))
		return 0;
	return libdir && is_there(path, size, libdir, "", name) ? 0 : -1;
}

int preload_find(char *path, size_t size, const char *libdir, struct kymo_err *err)
{
	const char *chosen = getenv("KYMO_PRELOAD");
	int used;

	if (chosen && *chosen) {
		if (access(chosen, R_OK))
			return err_set(err, KYMO_EXIT_FAILED, "KYMO_PRELOAD names %s, which cannot be read",
				       chosen);
		used = snprintf(path, size, "%s", chosen);
		if (used > 0 && (size_t)used < size)
			return 0;
		return err_set(err, KYMO_EXIT_FAILED, "KYMO_PRELOAD is too long");
	}
	if (preload_beside(path, size, PRELOAD_LIBRARY, libdir) == 0)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED,
		       "cannot find %s, neither in lib beside the directory of kymo nor in %s; install kymo, or set KYMO_PRELOAD to the library's path",
		       PRELOAD_LIBRARY, libdir ? libdir : "another place");
}

int preload_value(char *value, size_t size, const char *path, const char *before,
		  struct kymo_err *err)
{
	bool more = before && *before;
	int used;

	if (strpbrk(path, ": \t\n"))
		return err_set(err, KYMO_EXIT_FAILED,
			       "LD_PRELOAD cannot name \"%s\": there is a colon or a blank in it; install kymo in another directory",
			       path);
	used = snprintf(value, size, "%s%s%s", path, more ? ":" : "", more ? before : "");
	if (used < 0 || (size_t)used >= size)
		return err_set(err, KYMO_EXIT_FAILED, "LD_PRELOAD would be longer than %zu bytes", size);
	return 0;
}
