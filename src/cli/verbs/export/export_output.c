/* SPDX-License-Identifier: Apache-2.0 */
/* Where an export goes, and what is wrong with that place. See export.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/verbs/export/export.h"

int export_name(const char *trace, char name[CLI_PATH_MAX], struct kymo_err *err)
{
	char *whole = realpath(trace, NULL);
	const char *base;

	if (!whole)
		return err_set(err, KYMO_EXIT_INPUT,
			       "cannot open the trace %s: %s; name a trace directory (\"kymo ls\" lists them)", trace,
			       strerror(errno));
	base = strrchr(whole, '/') + 1;
	(void)snprintf(name, CLI_PATH_MAX, "%s", *base ? base : "trace");
	free(whole);
	return 0;
}

const char *export_output(const struct export_request *request, const char *suffix,
			  char made[CLI_PATH_MAX + 16])
{
	if (request->output)
		return request->output;
	(void)snprintf(made, CLI_PATH_MAX + 16, "%s%s", request->name, suffix);
	return made;
}

bool export_is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

const char *export_shown(const char *path)
{
	return export_is_stdout(path) ? "standard output" : path;
}

int export_unwritable(const char *path, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s; choose another place with -o", path, strerror(errno));
}

void export_remove(const char *path)
{
	struct stat status;

	if (!lstat(path, &status) && S_ISREG(status.st_mode))
		(void)unlink(path);
}

int export_open(const char *path, bool force, bool *made, struct kymo_err *err)
{
	struct stat status;
	int fd;

	*made = false;
	if (export_is_stdout(path)) {
		if (isatty(STDOUT_FILENO))
			return err_set(err, KYMO_EXIT_USAGE, "cannot write a binary file to a terminal; choose a file with -o, or "
				       "redirect standard output");
		return STDOUT_FILENO;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0) {
		*made = true;
		return fd;
	}
	if (errno == EEXIST && !force && !stat(path, &status) && S_ISREG(status.st_mode))
		return cli_exists(path, err);
	fd = errno == EEXIST ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : -1;
	return fd < 0 ? export_unwritable(path, err) : fd;
}
