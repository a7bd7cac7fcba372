/* SPDX-License-Identifier: Apache-2.0 */
/* Room on the disk for the last kymo.json. */
#include "recorder/trace/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define RESERVE_MIN ((off_t)16 << 10) /* bytes */
#define RESERVE_MAX ((off_t)8 << 20)
#define BLOCK 512 /* bytes, of st_blocks */

struct reserve_path {
	char text[PATH_MAX + 32];
};

static const char *reserve_path(struct reserve_path *path, const char *directory, const char *name)
{
	(void)snprintf(path->text, sizeof path->text, "%s/%s.reserve", directory, name);
	return path->text;
}

bool reserve_keep(const char *directory, const char *name, size_t size)
{
	struct reserve_path path;
	off_t need = (off_t)size * 2;
	bool can_reserve = true;
	struct stat st;
	int fd;

	need = need < RESERVE_MIN ? RESERVE_MIN : need > RESERVE_MAX ? RESERVE_MAX : need;
	fd = open(reserve_path(&path, directory, name), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		  0644);
	if (fd < 0)
		return true;
	/* The size stays 0: who looks at the directory sees no bytes that mean nothing. */
	if (fstat(fd, &st) == 0 && st.st_blocks * BLOCK < need &&
	    fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, need) < 0) {
		can_reserve = errno != EOPNOTSUPP && errno != ENOSYS;
		if (!st.st_blocks)
			(void)unlink(path.text);
	}
	(void)close(fd);
	return can_reserve;
}

int reserve_use(const char *directory, const char *name, const char *text, size_t size)
{
	char final[PATH_MAX + 32];
	struct reserve_path path;
	int fd, rc;

	fd = open(reserve_path(&path, directory, name), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, size);
	(void)!ftruncate(fd, (off_t)size); /* gives back what was not needed */
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	(void)snprintf(final, sizeof final, "%s/%s", directory, name);
	if (rc == 0 && rename(path.text, final) < 0)
		rc = -errno;
	return rc;
}

void reserve_end(const char *directory, const char *name)
{
	struct reserve_path path;

	(void)unlink(reserve_path(&path, directory, name));
}
