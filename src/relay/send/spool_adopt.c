/* SPDX-License-Identifier: Apache-2.0 */
/* A spool that another session left behind: what its files hold is taken over. See spool.h. */
#include "relay/send/spool_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"

int spool_note(struct spool *spool, const char *text)
{
	int fd = openat(spool->dir, "note.part", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), rc;

	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, strlen(text));
	(void)close(fd);
	if (rc == 0 && renameat(spool->dir, "note.part", spool->dir, "note") < 0)
		rc = -errno;
	return rc;
}

void spool_noted(const struct spool *spool, char *text, size_t size)
{
	int fd = openat(spool->dir, "note", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);

	text[got > 0 ? got : 0] = 0;
	if (fd >= 0)
		(void)close(fd);
}

/* How many bytes of the file @fd are complete records. */
static uint64_t whole_records(int fd)
{
	struct spool_record record;
	struct stat st;
	uint64_t at = 0;

	if (fstat(fd, &st) < 0)
		return 0;
	while (pread(fd, &record, SPOOL_RECORD, (off_t)at) == (ssize_t)SPOOL_RECORD &&
	       record.magic == SPOOL_MAGIC && record.size <= SPOOL_BODY_MAX &&
	       at + SPOOL_RECORD + record.size <= (uint64_t)st.st_size)
		at += SPOOL_RECORD + record.size;
	return at;
}

static int by_begin(const void *a, const void *b)
{
	const struct spool_segment *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static int adopt_segment(struct spool *spool, const char *name)
{
	char *end;
	const uint64_t begin = strtoull(name + 4, &end, 10);
	int fd;

	if (*end)
		return 0;
	if (!ARRAY_ROOM(spool->segment, spool->count, spool->room))
		return -ENOMEM;
	fd = openat(spool->dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	spool->segment[spool->count++] =
		(struct spool_segment){ .fd = fd, .begin = begin, .size = whole_records(fd) };
	return 0;
}

static int adopt_segments(struct spool *spool)
{
	int fd = openat(spool->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!list)
		return -errno;
	while (rc == 0 && (entry = readdir(list)))
		if (strncmp(entry->d_name, "run-", 4) == 0)
			rc = adopt_segment(spool, entry->d_name);
	(void)closedir(list);
	if (rc < 0 || !spool->count)
		return rc;
	qsort(spool->segment, spool->count, sizeof *spool->segment, by_begin);
	spool->run_end =
		spool->segment[spool->count - 1].begin + spool->segment[spool->count - 1].size;
	if (spool->released.position < spool->segment[0].begin ||
	    spool->released.position > spool->run_end)
		spool->released = (struct spool_stored){ .position = spool->segment[0].begin };
	return 0;
}

static int adopt_files(struct spool *spool)
{
	spool->dir = open(spool->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (spool->dir < 0)
		return -errno;
	spool->facts = openat(spool->dir, "facts", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (spool->facts < 0 || flock(spool->facts, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	spool->stored = openat(spool->dir, "stored", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (spool->stored < 0 ||
	    pread(spool->stored, &spool->released, sizeof spool->released, 0) < 0)
		return -errno;
	spool->facts_end = whole_records(spool->facts);
	return adopt_segments(spool);
}

int spool_adopt(const char *parent, const char *name, struct spool **result)
{
	struct spool *spool = spool_new();
	int rc = spool ? 0 : -ENOMEM;

	if (spool && snprintf(spool->path, sizeof spool->path, "%s/%s", parent, name) >= (int)sizeof spool->path)
		rc = -ENAMETOOLONG;
	if (rc == 0)
		rc = adopt_files(spool);
	if (rc == 0)
		*result = spool;
	else
		spool_close(spool, true);
	return rc;
}
