/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path is followed as the kernel follows it, name by name, so that every directory is seen in
 * which somebody could put something else in the place of a name:
 *
 *     /opt/kymo/lib/libkymo-ros2.so       opt ─▶ kymo ─▶ lib is a link to /srv/lib
 *                                                           └─▶ srv ─▶ lib ─▶ libkymo-ros2.so
 *
 * Who may write to a directory may replace what is in it. In a directory with the sticky bit, as
 * /tmp, only the owner of an entry may do so: therefore the owner of each entry counts, that of a
 * link, too.
 */
#include "attach/attach_trust.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel */

struct trust_walk {
	const struct trust *trust;
	char at[PATH_MAX];   /* so far, without links; "": the root directory */
	char rest[PATH_MAX]; /* that is still to follow */
	unsigned links;
};

/* Many systems give each user a group of the same number, and let this group write. */
static bool is_ours(const struct trust *trust, const struct stat *st)
{
	if (st->st_uid && st->st_uid != trust->user[0] && st->st_uid != trust->user[1])
		return false;
	if (S_ISLNK(st->st_mode) || (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX))
		return true;
	return !(st->st_mode & 002) && (!(st->st_mode & 020) || st->st_gid == st->st_uid);
}

/* @walk->at as we see it. */
static bool look(const struct trust_walk *walk, struct stat *st)
{
	char path[PATH_MAX + 32];

	(void)snprintf(path, sizeof path, "%s%s", walk->trust->root, walk->at);
	if (*walk->at)
		return lstat(path, st) == 0;
	return stat(*path ? path : "/", st) == 0;
}

/* Write the target of the link @walk->at in front of the rest, and begin where the link begins.
 * Return: false: errno. */
static bool follow(struct trust_walk *walk)
{
	char path[PATH_MAX + 32], target[PATH_MAX];
	ssize_t length;
	int needed;

	(void)snprintf(path, sizeof path, "%s%s", walk->trust->root, walk->at);
	length = readlink(path, target, sizeof target);
	if (length < 0)
		return false;
	if (walk->links++ == LINKS_MAX) {
		errno = ELOOP;
		return false;
	}
	needed = (int)length + 1 + (int)strlen(walk->rest) + 1;
	if (needed > PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	memmove(walk->rest + length + 1, walk->rest, strlen(walk->rest) + 1);
	memcpy(walk->rest, target, (size_t)length);
	walk->rest[length] = '/';
	*(*target == '/' ? walk->at : strrchr(walk->at, '/')) = 0;
	return true;
}

/* Go to the next name of the rest. Return: false: there is none, or errno. */
static bool step(struct trust_walk *walk)
{
	char *name = walk->rest + strspn(walk->rest, "/");
	const size_t length = strcspn(name, "/"), before = strlen(walk->at);
	char *slash = strrchr(walk->at, '/');

	errno = 0;
	if (!length)
		return false;
	if (length == 2 && !memcmp(name, "..", 2)) {
		if (slash)
			*slash = 0;
	} else if (length > 1 || *name != '.') {
		if (before + 1 + length >= sizeof walk->at) {
			errno = ENAMETOOLONG;
			return false;
		}
		walk->at[before] = '/';
		memcpy(walk->at + before + 1, name, length);
		walk->at[before + 1 + length] = 0;
	}
	memmove(walk->rest, name + length, strlen(name + length) + 1);
	return true;
}

enum trust_verdict trust_file(const struct trust *trust, const char *path, char where[PATH_MAX])
{
	struct trust_walk walk = { .trust = trust };
	struct stat st;

	if (strlen(path) >= sizeof walk.rest) {
		errno = ENAMETOOLONG;
		return TRUST_NONE;
	}
	(void)snprintf(walk.rest, sizeof walk.rest, "%s", path);
	do {
		if (!look(&walk, &st))
			return TRUST_NONE;
		if (!is_ours(trust, &st)) {
			(void)snprintf(where, PATH_MAX, "%s", *walk.at ? walk.at : "/");
			return TRUST_OTHERS;
		}
		if (S_ISLNK(st.st_mode) && !follow(&walk))
			return TRUST_NONE;
	} while (step(&walk));
	return errno ? TRUST_NONE : TRUST_OURS;
}
