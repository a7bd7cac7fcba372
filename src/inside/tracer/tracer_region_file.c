/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the region's file, and the lock by which others see that its process is alive. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inside/tracer/tracer_process.h"
#include "inside/tracer/tracer_region_file.h"

int kymo_region_find_directory(struct kymo_process *process)
{
	const char *set = kymo_setting("KYMO_DIR");
	char *path = process->directory;
	struct stat st;
	int length;

	if (set && *set)
		length = snprintf(path, sizeof process->directory, "%s", set);
	else
		length = snprintf(path, sizeof process->directory, "/dev/shm/kymo-%u", geteuid());
	if (length < 0 || (size_t)length + 64 > sizeof process->directory)
		return -ENAMETOOLONG;
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_uid != geteuid() || (st.st_mode & 077))
		return -EPERM;	/* another user owns the directory, or may open it */
	return 0;
}

/* A region with this pid and start time belongs to the program that ran here before exec(). */
static void mark_replaced(const char *path)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	uint32_t flags = 0;
	const off_t offset = offsetof(struct kymo_region, flags);

	if (fd < 0)
		return;
	if (pread(fd, &flags, sizeof flags, offset) == sizeof flags) {
		flags |= KYMO_REGION_REPLACED;
		(void)!pwrite(fd, &flags, sizeof flags, offset);
	}
	(void)close(fd);
}

void kymo_region_choose_path(struct kymo_process *process)
{
	const unsigned long long start = kymo_own_start_time(), space = kymo_own_pid_ns();
	const size_t size = sizeof process->path;

	/* Processes of two containers may have the same pid and start time (1/100 s), so the name
	 * contains the pid namespace. */
	(void)snprintf(process->path, size, "%.*s/%u-%llu-%llx.region", (int)size - 80, process->directory,
		       getpid(), start, space);
	for (unsigned n = 1; n < 1000 && !access(process->path, F_OK); n++) {
		mark_replaced(process->path);
		(void)snprintf(process->path, size, "%.*s/%u-%llu-%llx.%u.region", (int)size - 80,
			       process->directory, getpid(), start, space, n);
	}
}

static struct flock alive_byte(void)
{
	return (struct flock){
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = KYMO_LOCK_ALIVE, .l_len = 1,
	};
}

void kymo_region_lock_alive(int fd)
{
	struct flock lock = alive_byte();

	(void)fcntl(fd, F_OFD_SETLK, &lock);
}

bool kymo_region_holds_lock(const char *path)
{
	struct flock lock = alive_byte();
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	bool held;

	if (fd < 0)
		return false;
	held = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
	(void)close(fd);
	return held;
}
