/* SPDX-License-Identifier: Apache-2.0 */
/* See spool.h. What is appended is there for the reader when the end has moved behind it. */
#include "relay/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC		0x6b73706fu
#define SEGMENTS	16u		/* the limit in so many */
#define SEGMENT_MAX	((uint64_t)16 << 20)
#define PARTS_MAX	3u

struct segment {
	int fd;				/* -1: released */
	uint64_t number;
	uint64_t begin, size;		/* bytes: position in the log, of what was written */
};

struct spool {
	char path[PATH_MAX];
	int dir, facts;
	uint64_t limit, segment_size;
	pthread_mutex_t lock;		/* of what follows; files are read and written without it */
	uint64_t facts_end, run_end;
	uint64_t released;
	struct segment *segment;	/* [count] those that are not released, in order */
	unsigned count;
	uint64_t made;
};

/* ---- life ---- */

/* All directories of @path that are not there. */
static int make_path(const char *path)
{
	char above[PATH_MAX];

	if ((size_t)snprintf(above, sizeof above, "%s", path) >= sizeof above)
		return -ENAMETOOLONG;
	for (char *at = above + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = 0;
		if (mkdir(above, 0700) < 0 && errno != EEXIST)
			return -errno;
		*at = '/';
	}
	return mkdir(above, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

static int make_files(struct spool *spool, const char *parent)
{
	int rc = make_path(parent);

	if (rc < 0)
		return rc;
	if (snprintf(spool->path, sizeof spool->path, "%s/%d-XXXXXX", parent, (int)getpid()) >=
	    (int)sizeof spool->path)
		return -ENAMETOOLONG;
	if (!mkdtemp(spool->path)) {
		spool->path[0] = 0;
		return -errno;
	}
	spool->dir = open(spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool->dir < 0)
		return -errno;
	spool->facts = openat(spool->dir, "facts", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (spool->facts < 0)
		return -errno;
	(void)flock(spool->facts, LOCK_EX | LOCK_NB);	/* as long as its recorder lives */
	return 0;
}

int spool_create(const char *parent, uint64_t limit, struct spool **result, struct err *err)
{
	struct spool *spool = calloc(1, sizeof *spool);
	int rc;

	if (!spool)
		return err_set(err, EXIT_FAILED, "out of memory");
	(void)pthread_mutex_init(&spool->lock, NULL);
	spool->dir = spool->facts = -1;
	spool->limit = limit;
	spool->segment_size = limit / SEGMENTS < SEGMENT_MAX ? limit / SEGMENTS : SEGMENT_MAX;
	rc = make_files(spool, parent);
	if (rc < 0) {
		spool_close(spool, false);
		return err_set(err, EXIT_FAILED, "cannot make a spool in %s: %s; name another place in "
			       "$KYMO_SPOOL_DIR", parent, strerror(-rc));
	}
	*result = spool;
	return 0;
}

const char *spool_path(const struct spool *spool)
{
	return spool->path;
}

static void segment_name(char name[32], uint64_t number)
{
	(void)snprintf(name, 32, "run-%llu", (unsigned long long)number);
}

static void segment_close(struct spool *spool, const struct segment *segment, bool keep)
{
	char name[32];

	(void)close(segment->fd);
	segment_name(name, segment->number);
	if (!keep)
		(void)unlinkat(spool->dir, name, 0);
}

void spool_close(struct spool *spool, bool keep)
{
	if (!spool)
		return;
	for (unsigned i = 0; i < spool->count; i++)
		segment_close(spool, &spool->segment[i], keep);
	if (spool->facts >= 0) {
		if (!keep)
			(void)unlinkat(spool->dir, "facts", 0);
		(void)close(spool->facts);
	}
	if (spool->dir >= 0)
		(void)close(spool->dir);
	if (!keep && spool->path[0])
		(void)rmdir(spool->path);
	(void)pthread_mutex_destroy(&spool->lock);
	free(spool->segment);
	free(spool);
}

/* ---- adding ---- */

/* A segment for @size more bytes. Return: its descriptor, *@number and *@offset; -errno. */
static int segment_for(struct spool *spool, uint64_t size, uint64_t *number, uint64_t *offset)
{
	struct segment *last = spool->count ? &spool->segment[spool->count - 1] : NULL, *grown;
	char name[32];
	int fd;

	if (spool->run_end - spool->released + size > spool->limit)
		return -ENOBUFS;
	if (last && last->size + size <= spool->segment_size) {
		*number = last->number;
		*offset = last->size;
		return last->fd;
	}
	grown = realloc(spool->segment, (spool->count + 1) * sizeof *grown);
	if (!grown)
		return -ENOMEM;
	spool->segment = grown;
	segment_name(name, spool->made);
	fd = openat(spool->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	grown[spool->count++] = (struct segment){ .fd = fd, .number = spool->made++, .begin = spool->run_end };
	*number = grown[spool->count - 1].number;
	*offset = 0;
	return fd;
}

static int write_all(int fd, const struct iovec *part, unsigned parts, uint64_t offset, uint64_t size)
{
	ssize_t done = pwritev(fd, part, (int)parts, (off_t)offset);

	if (done == (ssize_t)size)
		return 0;
	return done < 0 ? -errno : -ENOSPC;	/* the next one overwrites it */
}

int spool_add(struct spool *spool, enum spool_log log, struct spool_record *record, const struct iovec *part,
	      unsigned parts, const struct spool_watch *watch)
{
	struct iovec all[PARTS_MAX + 1] = { { record, sizeof *record } };
	uint64_t size = sizeof *record, number = 0, offset;
	char name[32] = "facts";
	int fd, rc;

	for (unsigned i = 0; i < parts && i < PARTS_MAX; i++) {
		all[i + 1] = part[i];
		size += part[i].iov_len;
	}
	record->magic = MAGIC;
	record->size = (uint32_t)(size - sizeof *record);
	if (size - sizeof *record > SPOOL_BODY_MAX)
		return -EMSGSIZE;
	(void)pthread_mutex_lock(&spool->lock);
	offset = spool->facts_end;
	fd = log == SPOOL_FACTS ? spool->facts : segment_for(spool, size, &number, &offset);
	(void)pthread_mutex_unlock(&spool->lock);
	if (fd < 0)
		return fd;
	if (log == SPOOL_RUN)
		segment_name(name, number);
	if (watch)
		watch->before(watch->context, spool->path, name, offset + sizeof *record);
	rc = write_all(fd, all, parts + 1, offset, size);
	if (rc < 0)
		return rc;
	(void)pthread_mutex_lock(&spool->lock);
	if (log == SPOOL_FACTS) {
		spool->facts_end += size;
	} else {
		spool->run_end += size;
		spool->segment[spool->count - 1].size += size;
	}
	(void)pthread_mutex_unlock(&spool->lock);
	return 0;
}

/* ---- reading ---- */

uint64_t spool_end(struct spool *spool, enum spool_log log)
{
	uint64_t end;

	(void)pthread_mutex_lock(&spool->lock);
	end = log == SPOOL_FACTS ? spool->facts_end : spool->run_end;
	(void)pthread_mutex_unlock(&spool->lock);
	return end;
}

/* Which file @position is in. It stays open until it is released, which the reader does. */
static int place_of(struct spool *spool, enum spool_log log, uint64_t position, uint64_t *offset)
{
	int fd = -1;

	*offset = position;
	if (log == SPOOL_FACTS)
		return spool->facts;
	(void)pthread_mutex_lock(&spool->lock);
	for (unsigned i = 0; i < spool->count; i++) {
		const struct segment *segment = &spool->segment[i];

		if (position < segment->begin || position >= segment->begin + segment->size)
			continue;
		fd = segment->fd;
		*offset = position - segment->begin;
	}
	(void)pthread_mutex_unlock(&spool->lock);
	return fd;
}

uint64_t spool_read(struct spool *spool, enum spool_log log, uint64_t position, struct spool_record *record,
		    void **body, size_t *room)
{
	uint64_t offset;
	int fd = place_of(spool, log, position, &offset);
	void *grown;

	if (fd < 0 || pread(fd, record, sizeof *record, (off_t)offset) != (ssize_t)sizeof *record ||
	    record->magic != MAGIC || record->size > SPOOL_BODY_MAX)
		return 0;
	if (record->size > *room) {
		grown = realloc(*body, record->size);
		if (!grown)
			return 0;
		*body = grown;
		*room = record->size;
	}
	if (record->size &&
	    pread(fd, *body, record->size, (off_t)(offset + sizeof *record)) != (ssize_t)record->size)
		return 0;
	return position + sizeof *record + record->size;
}

void spool_release(struct spool *spool, uint64_t position)
{
	unsigned gone = 0;

	(void)pthread_mutex_lock(&spool->lock);
	if (position > spool->released)
		spool->released = position;
	/* Not the last: it is being written. */
	while (gone + 1 < spool->count && spool->segment[gone].begin + spool->segment[gone].size <= position)
		segment_close(spool, &spool->segment[gone++], false);
	spool->count -= gone;
	memmove(spool->segment, spool->segment + gone, spool->count * sizeof *spool->segment);
	(void)pthread_mutex_unlock(&spool->lock);
}

uint64_t spool_waiting(struct spool *spool)
{
	uint64_t bytes;

	(void)pthread_mutex_lock(&spool->lock);
	bytes = spool->run_end - spool->released;
	(void)pthread_mutex_unlock(&spool->lock);
	return bytes;
}
