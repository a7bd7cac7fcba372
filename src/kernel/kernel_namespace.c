/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this process is in the namespaces that the kernel's events are about. */
#include <string.h>
#include <sys/stat.h>

#include "kernel/kernel_format.h"
#include "base/array.h"

/* The inodes of the host's namespaces, the same in every kernel. */
static const struct {
	const char *kind, *path;
	ino_t first;
} spaces[] = {
	{ "user", "/proc/self/ns/user", 0xeffffffdu },
	{ "pid", "/proc/self/ns/pid", 0xeffffffcu },
};

/* Return: its inode; 0: it is that of the host, or unknown. */
static uint64_t other(const char *kind)
{
	struct stat mine;

	for (unsigned i = 0; i < COUNT_OF(spaces); i++)
		if (strcmp(spaces[i].kind, kind) == 0)
			return stat(spaces[i].path, &mine) < 0 || mine.st_ino == spaces[i].first
				       ? 0
				       : mine.st_ino;
	return 0;
}

bool namespace_is_first(const char *kind)
{
	return !other(kind);
}

uint64_t namespace_other_pid(void)
{
	return other("pid");
}
