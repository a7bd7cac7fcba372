/* SPDX-License-Identifier: Apache-2.0 */
/* A file is copied into a directory, such as a disk of the network. It has its name when it is
 * whole. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "fleet/upload/upload_internal.h"

#define PIECE (64u << 10)
#define PART ".kymo-part" /* what is not whole */

/* Return: 0; -errno, and @reading says of which side; -ECANCELED: it is to stop. */
static int copy(const struct upload_place *place, const struct upload_file *file, int to,
		bool *reading)
{
	char *piece = malloc(PIECE);
	uint64_t at = 0;
	int rc = piece ? 0 : -ENOMEM;

	*reading = false;
	while (!rc && at < file->size) {
		const uint64_t left = file->size - at;
		const ssize_t got = pread(file->fd, piece, left < PIECE ? left : PIECE, (off_t)at);

		*reading = got <= 0;
		if (got <= 0)
			rc = got < 0 ? -errno : -EIO;
		else if (atomic_load(place->options.stop))
			rc = -ECANCELED;
		else
			rc = write_all(to, piece, (size_t)got);
		at += got > 0 ? (uint64_t)got : 0;
	}
	free(piece);
	return rc;
}

static enum upload_result failed(const struct upload_file *file, const char *path, int rc,
				 bool reading, struct kymo_err *err)
{
	if (reading)
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot read %s: %s", file->name,
			      strerror(-rc));
	else
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", path, strerror(-rc));
	return rc == -ENAMETOOLONG || rc == -EINVAL || rc == -EILSEQ ? UPLOAD_GONE
	       : reading || rc == -ECANCELED || rc == -ENOSPC || rc == -EDQUOT || rc == -EIO ||
			       rc == -ENOMEM
		       ? UPLOAD_AGAIN
		       : UPLOAD_WRONG;
}

/* Only a directory that exists: an empty mount point would fill the robot's own disk. */
static bool exists(const struct upload_place *place, struct kymo_err *err)
{
	struct stat status;

	if (stat(place->path, &status)) {
		(void)err_set(err, KYMO_EXIT_FAILED,
			      "cannot write into %s: %s; create the directory, or mount its disk",
			      place->path, strerror(errno));
		return false;
	}
	if (S_ISDIR(status.st_mode))
		return true;
	(void)err_set(err, KYMO_EXIT_FAILED, "cannot write into %s: it is not a directory",
		      place->path);
	return false;
}

enum upload_result upload_to_directory(struct upload_place *place, const struct upload_file *file,
				       struct kymo_err *err)
{
	char path[PATH_MAX], part[PATH_MAX];
	bool reading = false;
	int fd, rc;

	if (!exists(place, err))
		return UPLOAD_WRONG;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", place->path, file->key) >=
	    sizeof(path) - sizeof(PART))
		return failed(file, place->path, -ENAMETOOLONG, false, err);
	snprintf(part, sizeof(part), "%.*s" PART, (int)(strrchr(path, '/') + 1 - path), path);
	make_parents(path);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	rc = fd < 0 ? -errno : copy(place, file, fd, &reading);
	if (!rc && fsync(fd))
		rc = -errno;
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(part, path))
		rc = -errno;
	if (!rc)
		return UPLOAD_SENT;
	if (fd >= 0)
		(void)unlink(part);
	return failed(file, path, rc, reading, err);
}
