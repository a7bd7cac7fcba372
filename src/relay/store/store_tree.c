/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of the store. No component may be a symbolic link, so no path leaves the root. */
#include "relay/store/store_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay/store/store.h"

#define DEPTH_MAX 64

bool store_path_is_safe(const char *path)
{
	const char *at = path;

	if (strlen(path) >= STORE_PATH_MAX)
		return false;
	for (;;) {
		size_t length = strcspn(at, "/");

		if (length == 0 || length > NAME_MAX || (length == 1 && at[0] == '.') ||
		    (length == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		if (!at[length])
			return true;
		at += length + 1;
	}
}

/* Opens the directory of @path, and creates it if @make. *name: the last component. */
static int open_parent(int root, const char *path, const char **name, bool make)
{
	int at = fcntl(root, F_DUPFD_CLOEXEC, 3), next;
	char part[NAME_MAX + 1];
	const char *slash;

	for (; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (make)
			(void)mkdirat(at, part,
				      0777); /* if that failed, the next call reports it */
		next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		(void)close(at);
		at = next;
	}
	*name = path;
	return at;
}

static int close_keeping_errno(int fd, int result)
{
	const int error = errno;

	(void)close(fd);
	errno = error;
	return result;
}

int tree_create(int root, const char *path)
{
	const char *name;
	int parent = open_parent(root, path, &name, true), fd;

	if (parent < 0)
		return -1;
	/* A program that has the old file open continues to read it. */
	(void)unlinkat(parent, name, 0);
	fd = openat(parent, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return close_keeping_errno(parent, fd);
}

int tree_open_file(int root, const char *path)
{
	const char *name;
	int parent = open_parent(root, path, &name, false), fd;

	if (parent < 0)
		return -1;
	fd = openat(parent, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return close_keeping_errno(parent, fd);
}

/* Renames @from to @to, and creates the directories above it. Return: 0 or -1. */
static int tree_move(int root, const char *from, const char *to)
{
	const char *old_name, *new_name;
	int old_parent = open_parent(root, from, &old_name, false), new_parent, rc;

	if (old_parent < 0)
		return -1;
	new_parent = open_parent(root, to, &new_name, true);
	if (new_parent < 0)
		return close_keeping_errno(old_parent, -1);
	rc = renameat(old_parent, old_name, new_parent, new_name);
	(void)close_keeping_errno(new_parent, 0);
	return close_keeping_errno(old_parent, rc);
}

static int remove_below(int parent, const char *name, unsigned depth)
{
	struct dirent *entry;
	int fd, rc = 0;
	DIR *dir;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if ((errno != EISDIR && errno != EPERM) || depth > DEPTH_MAX)
		return -1;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return fd < 0 ? -1 : close_keeping_errno(fd, -1);
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    remove_below(fd, entry->d_name, depth + 1) < 0)
			rc = -1;
	(void)closedir(dir);
	return rc < 0 || unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -1 : 0;
}

int tree_remove(int root, const char *path)
{
	const char *name;
	int parent = open_parent(root, path, &name, false);

	if (parent < 0)
		return errno == ENOENT ? 0 : -1;
	return close_keeping_errno(parent, remove_below(parent, name, 0));
}

bool store_has(const struct store *store, const char *path)
{
	const char *name;
	int parent = open_parent(store->root, path, &name, false);
	struct stat st;
	bool has;

	if (parent < 0)
		return false;
	has = fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	(void)close(parent);
	return has;
}

/* ---- as jobs ---- */

struct tree_job {
	struct disk_job job;
	struct store *store;
	int error;
	char *to;			/* NULL: remove */
	char from[];
};

static void work(struct disk_job *disk_job)
{
	struct tree_job *job = (struct tree_job *)disk_job;
	int rc = job->to ? tree_move(job->store->root, job->from, job->to)
			 : tree_remove(job->store->root, job->from);

	/* A chunk without files has no directory. */
	job->error = rc < 0 && errno != ENOENT ? errno : 0;
}

static void done(struct disk_job *disk_job)
{
	struct tree_job *job = (struct tree_job *)disk_job;
	char text[STORE_PATH_MAX + 256];

	if (job->error) {
		(void)snprintf(text, sizeof(text), "cannot %s %s/%s: %s; it stays where it is",
			       job->to ? "move" : "remove", job->store->root_path, job->from, strerror(job->error));
		job->store->say(job->store->context, text);
	}
	free(job->to);
	free(job);
}

int store_move(struct store *store, const char *from, const char *to)
{
	const size_t size = strlen(from) + 1;
	struct tree_job *job;

	if (!store_path_is_safe(from) || (to && !store_path_is_safe(to)))
		return -1;
	job = calloc(1, sizeof(*job) + size);
	if (!job)
		return -1;
	job->job = (struct disk_job){ .bytes = sizeof(*job) + size, .work = work, .done = done };
	job->store = store;
	memcpy(job->from, from, size);
	job->to = to ? strdup(to) : NULL;
	if (to && !job->to) {
		free(job);
		return -1;
	}
	disk_do(store->disk, &job->job);
	return 0;
}
