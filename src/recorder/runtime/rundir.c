/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, creates and checks the runtime directory. */
#include "recorder/runtime/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int rundir_choose(char *path, size_t size, const char *chosen, unsigned uid)
{
	return chosen && *chosen ? snprintf(path, size, "%s", chosen)
				 : snprintf(path, size, "/dev/shm/kymo-%u", uid);
}

int rundir_path(char *path, unsigned size, struct kymo_err *err)
{
	const int used = rundir_choose(path, size, getenv("KYMO_DIR"), geteuid());

	if (*path != '/')
		return err_set(err, KYMO_EXIT_FAILED,
			       "KYMO_DIR is \"%s\"; it must be an absolute path, "
			       "because traced programs change their directory",
			       path);
	if (used < 0 || (unsigned)used >= size)
		return err_set(err, KYMO_EXIT_FAILED,
			       "KYMO_DIR is longer than %u bytes; choose a shorter path", size - 1);
	return 0;
}

static int rundir_check(const struct rundir *dir, struct kymo_err *err)
{
	struct stat st;

	if (fstat(dir->fd, &st) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot read %s: %s", dir->path, strerror(errno));
	if (st.st_uid != geteuid() && geteuid() != 0)
		return err_set(err, KYMO_EXIT_FAILED, "%s belongs to uid %u, not to you (uid %u); set "
			       "KYMO_DIR to a directory of your own, for the traced programs too",
			       dir->path, (unsigned)st.st_uid, (unsigned)geteuid());
	if (st.st_mode & 077)
		return err_set(err, KYMO_EXIT_FAILED, "%s is open to other users (mode %04o); run "
			       "\"chmod 700 %s\" or set KYMO_DIR to another directory",
			       dir->path, (unsigned)(st.st_mode & 07777), dir->path);
	return 0;
}

int rundir_open(struct rundir *dir, const char *path, bool create, struct kymo_err *err)
{
	struct rundir result = { .fd = -1 };

	if (path && strlen(path) >= sizeof result.path)
		return err_set(err, KYMO_EXIT_FAILED, "the runtime directory's path is too long: %s", path);
	if (path)
		(void)snprintf(result.path, sizeof result.path, "%s", path);
	else if (rundir_path(result.path, sizeof result.path, err) < 0)
		return -1;
	if (create && mkdir(result.path, 0700) == 0)
		result.created = true;
	else if (create && errno != EEXIST)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create the runtime directory %s: %s; set "
			       "KYMO_DIR to a directory that can be created", result.path, strerror(errno));
	result.fd = open(result.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (result.fd < 0 && errno == ENOENT && !create) {
		*dir = result;
		return 1;
	}
	if (result.fd < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot use the runtime directory %s: %s; it must be "
			       "a directory of yours, not a symbolic link", result.path,
			       strerror(errno));
	if (rundir_check(&result, err) < 0) {
		(void)close(result.fd);
		return -1;
	}
	*dir = result;
	return 0;
}

void rundir_close(struct rundir *dir)
{
	if (dir->fd >= 0)
		(void)close(dir->fd);
	dir->fd = -1;
}

/* Not opendir(): that needs a descriptor, and a program that has none left must still find what
 * nobody reads. */
int rundir_list(const struct rundir *dir, void (*each)(void *context, const char *name),
		void *context)
{
	_Alignas(struct dirent64) char buffer[8192];
	ssize_t got;

	if (lseek(dir->fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((got = getdents64(dir->fd, buffer, sizeof buffer)) > 0)
		for (ssize_t at = 0; at < got;) {
			const struct dirent64 *entry = (const void *)(buffer + at);

			at += entry->d_reclen;
			each(context, entry->d_name);
		}
	return got < 0 ? -errno : 0;
}
