/* SPDX-License-Identifier: Apache-2.0 */
/* See realtime_names.h. */
#include "report/sections/realtime_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int no_memory(struct kymo_err *err)
{
	return err_no_memory(err);
}

int realtime_names_add(struct realtime_names *names, const char *name, struct kymo_err *err)
{
	char *copy;

	if (!*name || strcmp(name, "!") == 0)
		return err_set(err, KYMO_EXIT_USAGE, "a real-time name is empty; write one such as /imu_driver, '/control/* timer*' or control:step");
	if (strlen(name) >= REALTIME_NAME_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "a real-time name is longer than %d bytes; use * for a part of it", REALTIME_NAME_MAX - 1);
	if (names->count == REALTIME_NAMES_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "more than %d real-time names; use * to match several with one", REALTIME_NAMES_MAX);
	copy = ARRAY_ROOM(names->name, names->count, names->room) ? strdup(name) : NULL;
	if (!copy)
		return no_memory(err);
	names->name[names->count++] = copy;
	return 0;
}

/* What stands in a line, which is changed. */
static char *strip(char *line)
{
	size_t size;

	while (isspace((unsigned char)*line))
		line++;
	for (size = strlen(line); size && isspace((unsigned char)line[size - 1]); size--)
		;
	line[size] = '\0';
	return line;
}

static int add_line(struct realtime_names *names, char *line, struct kymo_err *err)
{
	const char *name = strip(line);

	if (!*name || *name == '#')
		return 0;
	if (*name == '"' || *name == '\'')
		return err_set(err, KYMO_EXIT_INPUT, "write the name without quotation marks: %.*s", (int)strcspn(name + 1, "\"'"), name + 1);
	if (strncmp(name, "--", 2) == 0)
		return err_set(err, KYMO_EXIT_INPUT, "options are not allowed here; a line is only a name, such as /imu_driver");
	return realtime_names_add(names, name, err);
}

int realtime_names_file(struct realtime_names *names, const char *path, struct kymo_err *err)
{
	unsigned number = 0, before = names->count;
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int rc = 0;

	if (!file)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read real-time names from '%s': %s; pass a text file with "
			       "lines such as /imu_driver or control:step", path, strerror(errno));
	while (rc == 0 && (length = getline(&line, &room, file)) >= 0) {
		number++;
		rc = strlen(line) < (size_t)length ?
		     err_set(err, KYMO_EXIT_INPUT, "not a text file; write one name per line, such as /imu_driver or control:step") :
		     add_line(names, line, err);
	}
	if (rc == 0 && ferror(file))
		rc = err_set(err, KYMO_EXIT_INPUT, "%s", strerror(errno));
	free(line);
	(void)fclose(file);
	if (rc == 0 && names->count == before)
		return err_set(err, KYMO_EXIT_INPUT, "no real-time names in '%s'; write one name per line, such as /imu_driver or "
			       "control:step, not only comments", path);
	if (rc == 0)
		return 0;
	if (err && err->status == KYMO_EXIT_USAGE)
		err->status = KYMO_EXIT_INPUT;
	return err_wrap(err, "%s:%u", path, number);
}

void realtime_names_free(struct realtime_names *names)
{
	for (unsigned i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct realtime_names){ 0 };
}
