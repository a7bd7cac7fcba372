/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a spool. See spool.h. Writer and reader share the ends of the logs, under the lock: a
 * record is written first, then the end moves behind it, so the reader only sees complete records.
 */
#include "relay/send/spool_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"

#define DISCARDED_LEN 64u               /* bits of the counter in packets of our recorders */
#define SEGMENTS	16u		/* number of segments that the limit is divided into */
#define SEGMENT_MAX	((uint64_t)16 << 20)
#define PARTS_MAX	3u

/* ---- life ---- */

/* Creates all missing directories of @path. */
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
	spool->stored = openat(spool->dir, "stored", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (spool->stored < 0)
		return -errno;
	(void)flock(spool->facts, LOCK_EX);	/* held while its recorder lives */
	return 0;
}

struct spool *spool_new(void)
{
	struct spool *spool = calloc(1, sizeof *spool);

	if (!spool)
		return NULL;
	(void)pthread_mutex_init(&spool->lock, NULL);
	spool->dir = spool->facts = spool->stored = -1;
	return spool;
}

int spool_create(const char *parent, uint64_t limit, struct spool **result, struct kymo_err *err)
{
	struct spool *spool = spool_new();
	int rc;

	if (!spool)
		return err_no_memory(err);
	spool->limit = limit;
	spool->segment_size = limit / SEGMENTS < SEGMENT_MAX ? limit / SEGMENTS : SEGMENT_MAX;
	rc = make_files(spool, parent);
	if (rc < 0) {
		spool_close(spool, false);
		return err_set(err, KYMO_EXIT_FAILED, "cannot create a spool in %s: %s; set another directory in "
			       "$KYMO_SPOOL_DIR", parent, strerror(-rc));
	}
	*result = spool;
	return 0;
}

const char *spool_path(const struct spool *spool)
{
	return spool->path;
}

static void segment_name(char name[32], uint64_t begin)
{
	(void)snprintf(name, 32, "run-%020llu", (unsigned long long)begin);
}

static void segment_close(struct spool *spool, const struct spool_segment *segment, bool keep)
{
	char name[32];

	(void)close(segment->fd);
	segment_name(name, segment->begin);
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
	if (spool->stored >= 0)
		(void)close(spool->stored);
	if (!keep && spool->dir >= 0) {
		(void)unlinkat(spool->dir, "stored", 0);
		(void)unlinkat(spool->dir, "note", 0);
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

/* Finds or creates a segment for @size more bytes. Return: its descriptor, *@begin and *@offset;
 * -errno. */
static int segment_for(struct spool *spool, uint64_t size, uint64_t *begin, uint64_t *offset)
{
	struct spool_segment *last = spool->count ? &spool->segment[spool->count - 1] : NULL;
	char name[32];
	int fd;

	if (spool->run_end - spool->released.position + size > spool->limit)
		return -ENOBUFS;
	if (last && last->size + size <= spool->segment_size) {
		*begin = last->begin;
		*offset = last->size;
		return last->fd;
	}
	if (!ARRAY_ROOM(spool->segment, spool->count, spool->room))
		return -ENOMEM;
	segment_name(name, spool->run_end);
	fd = openat(spool->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	spool->segment[spool->count++] = (struct spool_segment){
		.fd = fd, .begin = spool->run_end,
	};
	*begin = spool->run_end;
	*offset = 0;
	return fd;
}

int spool_add(struct spool *spool, enum spool_log log, struct spool_record *record,
	      const struct iovec *part, unsigned parts, const struct spool_watch *watch)
{
	struct iovec all[PARTS_MAX + 1] = { { record, SPOOL_RECORD } };
	uint64_t size = SPOOL_RECORD, begin = 0, offset;
	char name[32] = "facts";
	int fd, rc;

	for (unsigned i = 0; i < parts && i < PARTS_MAX; i++) {
		all[i + 1] = part[i];
		size += part[i].iov_len;
	}
	record->magic = SPOOL_MAGIC;
	record->size = (uint32_t)(size - SPOOL_RECORD);
	if (size - SPOOL_RECORD > SPOOL_BODY_MAX)
		return -EMSGSIZE;
	(void)pthread_mutex_lock(&spool->lock);
	offset = spool->facts_end;
	fd = log == SPOOL_FACTS ? spool->facts : segment_for(spool, size, &begin, &offset);
	(void)pthread_mutex_unlock(&spool->lock);
	if (fd < 0)
		return fd;
	if (log == SPOOL_RUN)
		segment_name(name, begin);
	if (watch)
		watch->before(watch->context, spool->path, name, offset + SPOOL_RECORD);
	rc = pwritev_all(fd, all, parts + 1,
			 (off_t)offset); /* after a failure the next record overwrites it */
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

/* Finds the file of @position. It stays open until the reader releases it. */
static int place_of(struct spool *spool, enum spool_log log, uint64_t position, uint64_t *offset)
{
	int fd = -1;

	*offset = position;
	if (log == SPOOL_FACTS)
		return spool->facts;
	(void)pthread_mutex_lock(&spool->lock);
	for (unsigned i = 0; i < spool->count; i++) {
		const struct spool_segment *segment = &spool->segment[i];

		if (position < segment->begin || position >= segment->begin + segment->size)
			continue;
		fd = segment->fd;
		*offset = position - segment->begin;
	}
	(void)pthread_mutex_unlock(&spool->lock);
	return fd;
}

uint64_t spool_read(struct spool *spool, enum spool_log log, uint64_t position,
		    struct spool_record *record, void **body, size_t *room)
{
	uint64_t offset;
	int fd = place_of(spool, log, position, &offset);
	void *grown;

	if (fd < 0 || pread(fd, record, SPOOL_RECORD, (off_t)offset) != (ssize_t)SPOOL_RECORD ||
	    record->magic != SPOOL_MAGIC || record->size > SPOOL_BODY_MAX)
		return 0;
	if (record->size > *room) {
		grown = array_fit(*body, record->size, room, 1);
		if (!grown)
			return 0;
		*body = grown;
	}
	if (record->size &&
	    pread(fd, *body, record->size, (off_t)(offset + SPOOL_RECORD)) != (ssize_t)record->size)
		return 0;
	record->entry.events_discarded_len = DISCARDED_LEN;
	record->entry.events = record->events;
	return position + SPOOL_RECORD + record->size;
}

void spool_release(struct spool *spool, const struct spool_stored *stored)
{
	const uint64_t position = stored->position;
	unsigned gone = 0;

	(void)pthread_mutex_lock(&spool->lock);
	if (position > spool->released.position) {
		spool->released = *stored;
		(void)!pwrite(spool->stored, stored, sizeof *stored,
			      0); /* on failure packets may be sent twice */
	}
	/* Not the last segment: it is being written. */
	while (gone + 1 < spool->count &&
	       spool->segment[gone].begin + spool->segment[gone].size <= position)
		segment_close(spool, &spool->segment[gone++], false);
	spool->count -= gone;
	if (gone)
		memmove(spool->segment, spool->segment + gone,
			spool->count * sizeof *spool->segment);
	(void)pthread_mutex_unlock(&spool->lock);
}

uint64_t spool_waiting(struct spool *spool)
{
	uint64_t bytes;

	(void)pthread_mutex_lock(&spool->lock);
	bytes = spool->run_end - spool->released.position;
	(void)pthread_mutex_unlock(&spool->lock);
	return bytes;
}

struct spool_stored spool_stored(struct spool *spool)
{
	struct spool_stored stored;

	(void)pthread_mutex_lock(&spool->lock);
	stored = spool->released;
	(void)pthread_mutex_unlock(&spool->lock);
	return stored;
}
