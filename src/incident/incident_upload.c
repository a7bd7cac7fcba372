/* SPDX-License-Identifier: Apache-2.0 */
/* Incidents that go to another place: who holds one, and where it is already. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/io.h"
#include "incident/incident.h"

#define MARKS_MOST (64u << 10) /* bytes */

int incident_hold(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int error = 0;
	struct stat held, named;

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 &&
	    errno == EWOULDBLOCK) /* others: a file system without locks */
		error = EBUSY;
	else if (fstat(fd, &held) < 0 || lstat(path, &named) < 0 || held.st_dev != named.st_dev ||
		 held.st_ino != named.st_ino)
		error = ENOENT;
	if (!error)
		return fd;
	(void)close(fd);
	errno = error;
	return -1;
}

/* A process that was forked meanwhile has the descriptor, too: closing alone would not unlock. */
void incident_let_go(int hold)
{
	if (hold < 0)
		return;
	(void)flock(hold, LOCK_UN);
	(void)close(hold);
}

static bool mark_path(const char *path, char file[INCIDENT_PATH_MAX])
{
	return (size_t)snprintf(file, INCIDENT_PATH_MAX, "%s/" INCIDENT_UPLOADED, path) <
	       INCIDENT_PATH_MAX;
}

bool incident_is_uploaded(const char *path, const char *place)
{
	char file[INCIDENT_PATH_MAX], *text, *rest, *line;
	bool found = false;
	struct kymo_err err;
	size_t size;

	if (!mark_path(path, file) || file_load(file, MARKS_MOST, &text, &size, &err) < 0)
		return false;
	rest = text;
	while (!found && (line = strsep(&rest, "\n"))) {
		const char *to = strchr(line, ' ');

		found = rest && to &&
			strcmp(to + 1, place) == 0; /* a line without an end is not whole */
	}
	free(text);
	return found;
}

int incident_set_uploaded(const char *path, const char *place, struct kymo_err *err)
{
	char file[INCIDENT_PATH_MAX], line[INCIDENT_PATH_MAX + 64], stamp[32];
	const time_t now = time(NULL);
	struct tm tm;
	int fd, rc;

	(void)gmtime_r(&now, &tm);
	(void)strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &tm);
	(void)snprintf(line, sizeof line, "%s %.*s\n", stamp, INCIDENT_PATH_MAX, place);
	if (!mark_path(path, file))
		return err_set(err, KYMO_EXIT_FAILED, "the path of the incident is too long");
	fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	rc = fd < 0 ? -errno : write_all(fd, line, strlen(line));
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	if (fd >= 0)
		(void)close(fd);
	return rc == 0 ? 0
		       : err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", file, strerror(-rc));
}
