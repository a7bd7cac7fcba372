/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD: a disk that does not answer. What works on files waits as long as the file
 * $KYMO_TEST_DISK_STOPS is there; sockets and pipes are left alone, because only calls that files
 * have are caught. fdatasync() waits for the file $KYMO_TEST_SYNC_STOPS instead, and creates a file
 * of that name with ".reached" behind it when it begins to wait. So does fstatat(), for
 * $KYMO_TEST_STAT_STOPS. With $KYMO_TEST_SYNC_FAILS, fdatasync() of a file of that ending fails.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static void wait_for(const char *stops)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	while (stops && access(stops, F_OK) == 0)
		(void)nanosleep(&moment, NULL);
}

static void wait_for_disk(void)
{
	wait_for(getenv("KYMO_TEST_DISK_STOPS"));
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset);
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset);

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
	static ssize_t (*next)(int, const void *, size_t, off64_t);

	wait_for_disk();
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pwrite64");
	return next(fd, bytes, size, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	return pwrite64(fd, bytes, size, offset);
}

int ftruncate64(int fd, off64_t size);
int ftruncate(int fd, off_t size);

int ftruncate64(int fd, off64_t size)
{
	static int (*next)(int, off64_t);

	wait_for_disk();
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ftruncate64");
	return next(fd, size);
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

static void say_and_wait(const char *stops)
{
	char reached[256];
	int mark;

	if (stops && access(stops, F_OK) == 0) {
		snprintf(reached, sizeof reached, "%s.reached", stops);
		mark = open(reached, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		if (mark >= 0)
			close(mark);
		wait_for(stops);
	}
}

static bool ends_with(int fd, const char *ending)
{
	char link[32], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	if (length < (ssize_t)strlen(ending))
		return false;
	path[length] = 0;
	return strcmp(path + length - strlen(ending), ending) == 0;
}

int fdatasync(int fd)
{
	static int (*next)(int);
	const char *fails = getenv("KYMO_TEST_SYNC_FAILS");

	if (fails && ends_with(fd, fails)) {
		errno = EIO;
		return -1;
	}
	say_and_wait(getenv("KYMO_TEST_SYNC_STOPS"));
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fdatasync");
	return next(fd);
}

int fstatat64(int dir, const char *path, struct stat64 *st, int flags);
int fstatat(int dir, const char *path, struct stat *st, int flags);

int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
	static int (*next)(int, const char *, struct stat64 *, int);

	say_and_wait(getenv("KYMO_TEST_STAT_STOPS"));
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fstatat64");
	return next(dir, path, st, flags);
}

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	return fstatat64(dir, path, (struct stat64 *)st, flags);
}
