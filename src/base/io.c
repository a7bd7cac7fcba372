/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

int io_took_nothing(int fd)
{
	struct statvfs st;

	return fstatvfs(fd, &st) == 0 && st.f_blocks && !st.f_bavail ? -ENOSPC : -EIO;
}

int write_all(int fd, const void *data, size_t size)
{
	for (const char *at = data; size;) {
		const ssize_t done = write(fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : io_took_nothing(fd);
		at += done;
		size -= (size_t)done;
	}
	return 0;
}

int pwrite_all(int fd, const void *data, size_t size, off_t offset)
{
	for (const char *at = data; size;) {
		const ssize_t done = pwrite(fd, at, size, offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : io_took_nothing(fd);
		at += done;
		offset += done;
		size -= (size_t)done;
	}
	return 0;
}

int pwritev_all(int fd, const struct iovec *part, unsigned parts, off_t offset)
{
	ssize_t done;
	int rc = 0;

	do
		done = pwritev(fd, part, (int)parts, offset);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	for (unsigned i = 0; i < parts && rc == 0; i++) {
		const size_t size = part[i].iov_len;
		const size_t skip = (size_t)done < size ? (size_t)done : size;

		if (skip < size)	/* an empty part may have no address */
			rc = pwrite_all(fd, (const char *)part[i].iov_base + skip, size - skip,
					offset + (off_t)skip);
		offset += (off_t)size;
		done -= (ssize_t)skip;
	}
	return rc;
}

bool fds_exceed(int fd, unsigned eighths)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd >= limit.rlim_cur / 8 * eighths;
}

void make_parents(const char *path)
{
	const size_t size = strlen(path);
	char part[PATH_MAX];

	if (size >= sizeof(part))
		return;
	memcpy(part, path, size + 1);
	for (size_t i = 1; i < size; i++) {
		if (part[i] != '/' || part[i + 1 + strspn(part + i + 1, "/")] == '\0')
			continue;
		part[i] = '\0';
		(void)mkdir(part, 0777);
		part[i] = '/';
	}
}

/* ---- a file that gets its name when it is complete ---- */

#define TRIES 100u /* names that killed processes may have left */

/* O_EXCL: a link that somebody put there is not followed. */
static int open_part(struct new_file *beside)
{
	const size_t size = strlen(beside->path) + 48;
	int fd = -1;

	beside->part = malloc(size);
	if (!beside->part)
		return -ENOMEM;
	for (unsigned i = 0; fd < 0 && i < TRIES; i++) {
		(void)snprintf(beside->part, size, "%s.%d-%u.part", beside->path, (int)getpid(), i);
		fd = open(beside->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

static void forget(struct new_file *beside)
{
	free(beside->path);
	free(beside->part);
	*beside = (struct new_file){ 0 };
}

int new_file_open(struct new_file *beside, const char *path)
{
	struct stat status;
	const bool is_there = stat(path, &status) == 0;
	int fd;

	*beside = (struct new_file){ 0 };
	if (is_there && !S_ISREG(status.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	beside->path = is_there ? realpath(path, NULL) : strdup(path);
	if (!beside->path)
		return -errno;
	fd = open_part(beside);
	if (fd < 0)
		forget(beside);
	else if (is_there)
		(void)fchmod(fd, status.st_mode & 0777);
	return fd;
}

int new_file_close(struct new_file *beside, bool complete)
{
	int error = 0;

	if (beside->part && complete && rename(beside->part, beside->path) < 0) {
		error = -errno;
		complete = false;
	}
	if (beside->part && !complete)
		(void)unlink(beside->part);
	forget(beside);
	return error;
}
