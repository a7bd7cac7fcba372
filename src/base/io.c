/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

int write_all(int fd, const void *data, size_t size)
{
	for (const char *at = data; size;) {
		const ssize_t done = write(fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -ENOSPC;
		at += done;
		size -= (size_t)done;
	}
	return 0;
}

bool fds_exceed(int fd, unsigned eighths)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd >= limit.rlim_cur / 8 * eighths;
}
