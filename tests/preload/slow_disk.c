/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD: a disk that does not answer. What works on files waits as long as the file $KYMO_TEST_DISK_STOPS is there;
 * sockets and pipes are left alone, because only calls that files have are caught.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(void)
{
	const struct timespec moment = { .tv_nsec = 5000000 };
	const char *stops = getenv("KYMO_TEST_DISK_STOPS");

	while (stops && access(stops, F_OK) == 0)
		(void)nanosleep(&moment, NULL);
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
