/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the files of a trace. See file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* No file of a trace gives this error itself. */
#define NOT_REGULAR ENOTBLK

/*
 * Asked twice: before, so that a device is not touched; behind, because the name may lead elsewhere
 * by then. A FIFO that comes between the two is opened without waiting.
 */
int file_open(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -NOT_REGULAR;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return -NOT_REGULAR;
	}
	return fd;
}

FILE *file_stream(const char *path)
{
	const int fd = file_open(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd < 0)
		errno = -fd;
	else if (!file)
		(void)close(fd);
	return file;
}

const char *file_why(int error)
{
	return error == -NOT_REGULAR ? "not a regular file" : strerror(-error);
}

/* Return: bytes, fewer where the file ends; -errno. */
static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t used = 0;

	while (used < size) {
		const ssize_t got = read(fd, text + used, size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

static int load(int fd, const char *path, size_t most, char **text, size_t *size,
		struct kymo_err *err)
{
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st) < 0)
		return err_set(err, KYMO_EXIT_INPUT, "%s: cannot be read: %s", path,
			       strerror(errno));
	if ((uint64_t)st.st_size > most)
		return err_set(
			err, KYMO_EXIT_INPUT,
			"%s: larger than %zu MiB, which is the most that is read of such a file",
			path, most >> 20);
	*text = malloc((size_t)st.st_size + 1);
	if (!*text)
		return err_no_memory(err);
	got = read_all(fd, *text, (size_t)st.st_size);
	if (got < 0) {
		free(*text);
		return err_set(err, KYMO_EXIT_INPUT, "%s: cannot be read: %s", path,
			       strerror((int)-got));
	}
	(*text)[got] = 0;
	*size = (size_t)got;
	return 0;
}

int file_load(const char *path, size_t most, char **text, size_t *size, struct kymo_err *err)
{
	const int fd = file_open(path);
	int rc;

	if (fd < 0)
		return err_set(err, KYMO_EXIT_INPUT, "%s: cannot be opened: %s", path,
			       file_why(fd));
	rc = load(fd, path, most, text, size, err);
	(void)close(fd);
	return rc;
}

size_t file_line(FILE *file, char **line, size_t *room, size_t most)
{
	size_t used = 0;
	int c = 0;

	while (c != '\n' && (c = getc_unlocked(file)) != EOF) {
		if (used == most || !ARRAY_FIT(*line, used + 2, *room))
			return 0;
		(*line)[used++] = (char)c;
		(*line)[used] = 0;
	}
	return used;
}
