/* SPDX-License-Identifier: Apache-2.0 */
/* See taking_place.h. */
#include "top/taking_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "relay/store/store_tree.h"

#define TRACE_NAME "trace"
#define LOCK_TRIES 10
#define LEFT_S 60 /* a living recorder writes the trace's kymo.json each second */
#define LEAST_BYTES (4ull << 20)  /* free ones of a place; the trace takes half of them at most */
#define FULL_BYTES (128ull << 10) /* with fewer, the recorder can't write, or soon can't */

/* A directory of ours whose `kymo top` and child were killed: nobody has it locked. But an older
 * `kymo top` does not lock, and a recorder may still write what a killed one asked it for: so
 * nothing has changed in the trace for a while, either. */
static bool is_left(int fd)
{
	struct stat own, trace;

	if (fstat(fd, &own) < 0 || own.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	if (fstatat(fd, TRACE_NAME, &trace, AT_SYMLINK_NOFOLLOW) < 0)
		trace = own; /* killed before it had a trace */
	return time(NULL) - trace.st_mtime >= LEFT_S;
}

static void remove_if_left(int place, const char *name)
{
	const int fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (is_left(fd))
		(void)tree_remove(place, name);
	(void)close(fd);
}

static void remove_left(const char *path)
{
	static const char start[] = PLACE_NAME;
	const char *name = &start[1]; /* without the slash */
	DIR *place = opendir(path);
	const struct dirent *entry;

	while (place && (entry = readdir(place)))
		if (strncmp(entry->d_name, name, strlen(name)) == 0)
			remove_if_left(dirfd(place), entry->d_name);
	if (place)
		(void)closedir(place);
}

/* Until it is locked, another `kymo top` may take the new directory for one that was left. Return:
 * 0; 1: so it was, try again; -1 with errno. */
static int make_locked(struct taking_place *place, const char *in)
{
	struct stat st;

	(void)snprintf(place->directory, sizeof(place->directory), "%s" PLACE_NAME "XXXXXX", in);
	if (!mkdtemp(place->directory))
		return -1;
	place->fd = open(place->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (place->fd >= 0 && flock(place->fd, LOCK_EX) == 0 && fstat(place->fd, &st) == 0 &&
	    st.st_nlink)
		return 0;
	if (place->fd >= 0)
		(void)close(place->fd);
	place->fd = -1;
	(void)rmdir(place->directory);
	return 1;
}

static uint64_t free_bytes(const char *path)
{
	struct statvfs space;

	return statvfs(path, &space) ? UINT64_MAX : (uint64_t)space.f_bavail * space.f_frsize;
}

/* Return: 0; -1 with @why. */
static int make_in(struct taking_place *place, const char *in, uint64_t *room, char *why,
		   size_t size)
{
	char left[TEXT_QUANTITY_MAX];
	int rc = 1;

	remove_left(in);
	*room = free_bytes(in);
	for (int try = 0; rc == 1 && try < LOCK_TRIES && *room >= LEAST_BYTES; try++)
		rc = make_locked(place, in);
	if (rc) {
		(void)snprintf(why, size, "%s%s%s", in,
			       *room < LEAST_BYTES ? " has only " : ": ",
			       *room < LEAST_BYTES ? text_bytes(left, *room) : strerror(errno));
		return -1;
	}
	(void)snprintf(place->path, sizeof(place->path), "%s/" TRACE_NAME, place->directory);
	return 0;
}

int taking_place_make(struct taking_place *place, uint64_t *room, struct kymo_err *err)
{
	char why[2][128] = { "", "" };

	if (make_in(place, "/dev/shm", room, why[0], sizeof(why[0])) == 0 ||
	    make_in(place, "/tmp", room, why[1], sizeof(why[1])) == 0)
		return 0;
	place->directory[0] = 0;
	return err_set(err, KYMO_EXIT_FAILED,
		       "cannot keep the newest events, which takes 4 MiB at least: %s, %s; free some "
		       "space there",
		       why[0], why[1]);
}

void taking_place_remove(const struct taking_place *place)
{
	const char *slash = strrchr(place->directory, '/');
	char above[sizeof(place->directory)];
	int parent;

	if (!slash)
		return;
	(void)snprintf(above, sizeof(above), "%.*s", (int)(slash - place->directory),
		       place->directory);
	parent = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return;
	(void)tree_remove(parent, slash + 1);
	(void)close(parent);
}

bool taking_place_full(const struct taking_place *place, char *text, size_t size)
{
	const uint64_t room = free_bytes(place->directory);
	char left[TEXT_QUANTITY_MAX];

	if (room >= FULL_BYTES)
		return false;
	(void)snprintf(text, size,
		       "%s has only %s left: events of this time are lost; free some",
		       place->directory, text_bytes(left, room));
	return true;
}
