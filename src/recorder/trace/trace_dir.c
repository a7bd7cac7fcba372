/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/trace/trace_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/format/lock.h"
#include "accounts/accounts.h"
#include "base/io.h"

#define DEPTH_MAX 4		/* a chunk, its traces, their indexes */

/* ---- creating ---- */

/* The next entry apart from "." and "..". */
static struct dirent *next_entry(DIR *dir)
{
	struct dirent *entry = readdir(dir);

	while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0))
		entry = readdir(dir);
	return entry;
}

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	const bool empty = dir && !next_entry(dir);

	if (dir)
		(void)closedir(dir);
	return empty;
}

int trace_dir_make(const char *path, bool *existed, char **absolute, struct kymo_err *err)
{
	*existed = false;
	*absolute = NULL;
	if (strlen(path) > PATH_MAX - 128)
		return err_set(err, KYMO_EXIT_FAILED, "the path of the trace is too long: %.80s...", path);
	make_parents(path);
	if (mkdir(path, 0755) < 0) {
		*existed = true;
		if (errno == EEXIST && !is_empty(path))
			return err_set(err, KYMO_EXIT_FAILED, "%s already exists and is not an empty directory; "
				       "choose another place with -o DIR", path);
		if (errno != EEXIST)
			return err_set(err, KYMO_EXIT_FAILED, "cannot create the trace directory %s: %s; choose "
				       "another place with -o DIR", path, strerror(errno));
	}
	*absolute = realpath(path, NULL);
	if (*absolute && access(*absolute, W_OK | X_OK) == 0)
		return 0;
	free(*absolute);
	*absolute = NULL;
	return err_set(err, KYMO_EXIT_FAILED, "cannot write to %s: %s; choose another place with -o DIR", path,
		       strerror(errno));
}

void trace_dir_without_option(struct kymo_err *err)
{
	static const char option[] = " with -o DIR";
	char *at = strstr(err->text, option);

	if (at)
		memmove(at, at + strlen(option), strlen(at + strlen(option)) + 1);
}

/* ---- removing ---- */

static DIR *open_below(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		(void)close(fd);
	return dir;
}

static void remove_empty(int dir_fd, const char *name, unsigned depth)
{
	DIR *dir = open_below(dir_fd, name);
	struct dirent *entry;

	if (!dir)
		return;
	(void)unlinkat(dirfd(dir), "metadata", 0);
	(void)unlinkat(dirfd(dir), ACCOUNTS_FILE, 0);
	(void)unlinkat(dirfd(dir), TRACE_DIR_EARLIER, 0);
	(void)unlinkat(dirfd(dir), CTF_SYNC_NAME, 0);
	/* But not kernel/ and stacks/: their writers remove them if they are empty. */
	while (depth < DEPTH_MAX && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && (depth || (strcmp(entry->d_name, "kernel") != 0 &&
							  strcmp(entry->d_name, "stacks") != 0)))
			remove_empty(dirfd(dir), entry->d_name, depth + 1);
	(void)closedir(dir);
	if (depth)
		(void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

void trace_dir_remove_empty(const char *path, bool existed)
{
	remove_empty(AT_FDCWD, path, 0);
	if (!existed)
		(void)rmdir(path);
}

static int remove_below(int dir_fd, const char *name, unsigned depth)
{
	DIR *dir = open_below(dir_fd, name);
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	/* Metadata first: without it, readers do not take the rest for a trace. */
	(void)unlinkat(dirfd(dir), "metadata", 0);
	while ((entry = next_entry(dir))) {
		if (unlinkat(dirfd(dir), entry->d_name, 0) == 0)
			continue;
		if ((errno == EISDIR || errno == EPERM) && depth < DEPTH_MAX)
			errno = -remove_below(dirfd(dir), entry->d_name, depth + 1);
		if (errno && rc == 0)
			rc = -errno;
	}
	(void)closedir(dir);
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

int trace_dir_remove(int dir_fd, const char *name)
{
	return remove_below(dir_fd, name, 0);
}

/* ---- measuring ---- */

static uint64_t bytes_below(int dir_fd, const char *name, unsigned depth)
{
	DIR *dir = open_below(dir_fd, name);
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	if (!dir)
		return 0;
	while ((entry = next_entry(dir))) {
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
		else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			bytes += bytes_below(dirfd(dir), entry->d_name, depth + 1);
	}
	(void)closedir(dir);
	return bytes;
}

uint64_t trace_dir_bytes(int dir_fd, const char *name)
{
	return bytes_below(dir_fd, name, 0);
}

/* ---- files ---- */

static int write_file(const char *path, const char *text, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), rc;

	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, size);
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

int trace_dir_write(const char *directory, const char *name, const char *text, size_t size)
{
	char part[PATH_MAX + 32], final[PATH_MAX + 32];
	int rc;

	(void)snprintf(part, sizeof part, "%s/%s.part", directory, name);
	(void)snprintf(final, sizeof final, "%s/%s", directory, name);
	rc = write_file(part, text, size);
	if (rc == 0 && rename(part, final) < 0)
		rc = -errno;
	if (rc < 0)
		(void)unlink(part);	/* the last complete one stays */
	return rc;
}

int trace_dir_extend(const char *directory, const char *name, uint64_t *end, const char *text,
		     size_t size)
{
	char path[PATH_MAX + 32];
	struct stat st;
	int fd, rc = 0;

	(void)snprintf(path, sizeof path, "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size < *end)
		*end = 0;
	if (lseek(fd, (off_t)*end, SEEK_SET) < 0)
		rc = -errno;
	if (rc == 0)
		rc = write_all(fd, text, size);
	if (rc < 0)
		(void)!ftruncate(fd, (off_t)*end); /* if that fails, the next text overwrites it */
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0)
		*end += size;
	return rc;
}
