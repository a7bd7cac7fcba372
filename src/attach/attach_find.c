/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes there are to attach to: those that have libtracetools.so. */
#include <ctype.h>
#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/attach.h"
#include "attach/attach.h"
#include "attach/attach_maps.h"
#include "base/array.h"
#include "base/text.h"

/* Its name in @name, and whether it is called @wanted. */
static bool is_called(unsigned pid, const char *wanted, char name[64])
{
	char path[64], program[PATH_MAX];
	ssize_t length;
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/%u/comm", pid);
	file = fopen(path, "re");
	name[0] = 0;
	if (file && fgets(name, 64, file))
		name[strcspn(name, "\n")] = 0;
	if (file)
		(void)fclose(file);
	(void)snprintf(path, sizeof path, "/proc/%u/exe", pid);
	length = readlink(path, program, sizeof program - 1);
	if (length <= 0)
		return false; /* a thread of the kernel, or another user's */
	program[length] = 0;
	return !wanted || !fnmatch(wanted, name, 0) || !fnmatch(wanted, text_base_name(program), 0);
}

/* A linker maps the file of a library, too, but never to run it. */
static bool is_loaded(const struct maps *maps, const char *name)
{
	const struct attach_map *object = maps_object(maps, name);

	for (unsigned i = 0; object && i < maps->count; i++)
		if (maps->map[i].execute &&
		    !strcmp(maps_path(maps, &maps->map[i]), maps_path(maps, object)))
			return true;
	return false;
}

static enum attach_kind kind_of(unsigned pid)
{
	enum attach_kind kind = ATTACH_OTHER;
	const struct attach_map *library;
	uint32_t held = KYMO_ATTACH_NEVER;
	struct kymo_err ignored;
	struct maps maps;

	if (maps_read(&maps, pid, &ignored) < 0)
		return kind;
	library = maps_object(&maps, "libkymo-ros2.so");
	if (library) {
		const uint64_t at = maps_symbol(&maps, library, KYMO_ATTACH_HELD, NULL);

		if (at)
			(void)memory_read(pid, at, &held, sizeof held);
		kind = held == KYMO_ATTACH_IS_ON ? ATTACH_ATTACHED
		       : held                    ? ATTACH_DETACHED
						 : ATTACH_STARTED;
	} else if (is_loaded(&maps, "libtracetools.so")) {
		kind = ATTACH_ROS2;
	}
	maps_free(&maps);
	return kind;
}

int attach_find(const char *name, struct attach_found **found, struct kymo_err *err)
{
	const struct dirent *entry;
	unsigned count = 0, room = 0;
	DIR *dir = opendir("/proc");

	*found = NULL;
	if (!dir)
		return err_set(err, KYMO_EXIT_FAILED, "cannot read /proc");
	while ((entry = readdir(dir))) {
		struct attach_found one = { .pid = (unsigned)strtoul(entry->d_name, NULL, 10) };

		if (!isdigit((unsigned char)*entry->d_name) || one.pid == (unsigned)getpid() ||
		    !is_called(one.pid, name, one.name))
			continue;
		one.kind = kind_of(one.pid);
		if (!ARRAY_ROOM(*found, count, room)) {
			(void)closedir(dir);
			free(*found);
			return err_no_memory(err);
		}
		(*found)[count++] = one;
	}
	(void)closedir(dir);
	return (int)count;
}
