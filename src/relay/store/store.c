/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the relay: jobs for the disk's thread, and the locks on what is not readable yet. See
 * store.h. */
#include "relay/store/store.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "relay/store/store_tree.h"

#define ENTRY_WORDS (sizeof(struct ctf_index_entry) / 8)
#define SEQ_WORD (CTF_INDEX_LTTNG / 8 - 1)

enum op { OP_OPEN, OP_WRITE, OP_ENTRY, OP_CUT, OP_READY, OP_SYNC, OP_RELEASE, OP_CLOSE };

struct file_job {
	struct disk_job job;
	enum op op;
	struct store_file *file;
	uint64_t offset;
	size_t size, padding;
	uint64_t range; /* bytes of the file that may be read from now on */
	struct ctf_sync sync;
	int error; /* errno */
	store_done *done;
	void *context;
	uint8_t bytes[];
};

/* ---- in the disk's thread ---- */

static int write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t done = pwrite(fd, at, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? errno : EIO;
		at += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return 0;
}

/* Never makes it longer. */
static int cut(int fd, uint64_t size)
{
	struct stat now;

	if (fstat(fd, &now) < 0)
		return errno;
	return (uint64_t)now.st_size > size && ftruncate(fd, (off_t)size) < 0 ? errno : 0;
}

/* All or nothing. */
static int append(int fd, const void *bytes, size_t size)
{
	const off_t end = lseek(fd, 0, SEEK_END);
	const int error = end < 0 ? errno : write_at(fd, bytes, size, (uint64_t)end);

	if (error && end >= 0)
		(void)cut(fd, (uint64_t)end);
	return error;
}

/* The disk did not take something: what is in the file stays, and it gets no more. */
static int break_off(struct store_file *file, uint64_t good, int error)
{
	if (!file->broken && file->fd >= 0)
		(void)cut(file->fd, good);
	file->broken = true;
	return error;
}

static int open_index(const struct store_file *file, const char *suffix, int *fd)
{
	const uint32_t header[] = {
		htobe32(CTF_INDEX_MAGIC),
		htobe32(CTF_INDEX_MAJOR),
		htobe32(file->entry_size >= CTF_INDEX_LTTNG ? 1 : 0),
		htobe32(file->entry_size),
	};
	const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
	char path[STORE_PATH_MAX + 16];

	(void)snprintf(path, sizeof(path), "%.*sindex/%s.%s", (int)(name - file->path), file->path,
		       name, suffix);
	*fd = tree_create(file->store->root, path);
	if (*fd < 0)
		return errno;
	(void)ctf_lock_all(*fd, sizeof(header));
	return append(*fd, header, sizeof(header));
}

static int do_open(struct store_file *file)
{
	file->fd = tree_create(file->store->root, file->path);
	if (file->fd < 0)
		return errno;
	if (file->kind == STORE_SYNC)
		return -ctf_sync_begin(file->fd);
	(void)ctf_lock_all(file->fd, 0);
	return file->entry_size ? open_index(file, "idx", &file->index_fd) : 0;
}

/* Padding becomes a hole: nothing is written, however large it is said to be. */
static int write_bytes(const struct file_job *job)
{
	const off_t end = (off_t)(job->offset + job->size + job->padding);
	const int error = write_at(job->file->fd, job->bytes, job->size, job->offset);
	struct stat now;

	if (error || !job->padding)
		return error;
	if (fstat(job->file->fd, &now) < 0)
		return errno;
	return now.st_size < end && ftruncate(job->file->fd, end) < 0 ? errno : 0;
}

static int do_write(const struct file_job *job)
{
	struct store_file *file = job->file;
	const bool indexed = file->kind == STORE_PACKETS && file->entry_size;
	const int error = file->broken ? EIO : write_bytes(job);

	if (error)
		return break_off(file, indexed ? file->good : job->range, error);
	if (file->kind == STORE_METADATA)
		(void)ctf_lock_ready(file->fd, job->offset, job->size + job->padding);
	return 0;
}

/* All or nothing, like append(): an entry that is not on disk for good is none. */
static int append_entry(const struct store_file *file, const struct file_job *job)
{
	int error = append(file->index_fd, job->bytes, job->size);

	if (error || !file->store->sync || !fdatasync(file->index_fd))
		return error;
	error = errno;
	(void)cut(file->index_fd, CTF_INDEX_HEADER + file->written * file->entry_size);
	return error;
}

static int do_entry(struct file_job *job)
{
	struct store_file *file = job->file;
	const bool lost = job->offset == UINT64_MAX;
	int error;

	if (file->broken && !lost)
		return EIO;
	if (lost && file->lost_fd < 0) {
		error = open_index(file, "lost", &file->lost_fd);
		if (error && file->lost_fd >= 0)
			(void)close(file->lost_fd);
		if (error) {
			file->lost_fd = -1;
			return error;
		}
	}
	if (file->store->sync && !lost && fdatasync(file->fd))
		return break_off(file, file->good, errno);
	if (!lost)
		(void)ctf_lock_ready(file->fd, job->offset, job->range);
	error = lost ? append(file->lost_fd, job->bytes, job->size) : append_entry(file, job);
	if (error && !lost)
		return break_off(file, file->good, error);
	if (!error && !lost && job->offset + job->range > file->good)
		file->good = job->offset + job->range;
	if (!error && lost)
		(void)ctf_lock_ready(file->lost_fd,
				     CTF_INDEX_HEADER + file->lost++ * file->entry_size,
				     file->entry_size);
	else if (!error)
		(void)ctf_lock_ready(file->index_fd,
				     CTF_INDEX_HEADER + file->written++ * file->entry_size,
				     file->entry_size);
	return error;
}

static int do_cut(const struct file_job *job)
{
	struct store_file *file = job->file;
	int error;

	(void)ctf_lock_all(file->fd, job->offset);
	error = cut(file->fd, job->offset);
	/* Metadata begin again, with all that the disk did not take. */
	if (!error && !job->offset && file->kind == STORE_METADATA)
		file->broken = false;
	return error;
}

/* -EAGAIN: another program reads the last point right now; it gets the next one. */
static int do_sync(const struct file_job *job)
{
	const int rc = ctf_sync_write(job->file->fd, &job->sync);

	return rc == -EAGAIN || rc == -EACCES ? 0 : -rc;
}

static void do_release(const struct store_file *file)
{
	(void)ctf_lock_ready(file->fd, 0, CTF_LOCK_REST);
	if (file->index_fd >= 0)
		(void)ctf_lock_ready(file->index_fd, 0, CTF_LOCK_REST);
	if (file->lost_fd >= 0)
		(void)ctf_lock_ready(file->lost_fd, 0, CTF_LOCK_REST);
}

static void do_close(struct store_file *file)
{
	const int fds[] = {file->fd, file->index_fd, file->lost_fd};

	for (unsigned i = 0; i < COUNT_OF(fds); i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
}

static void work(struct disk_job *disk_job)
{
	struct file_job *job = (struct file_job *)disk_job;

	if (job->op == OP_CLOSE) {
		do_close(job->file);
		return;
	}
	if (job->op != OP_OPEN && job->file->fd < 0) {
		job->error = EBADF;
		return;
	}
	switch (job->op) {
	case OP_OPEN:
		job->error = do_open(job->file);
		job->file->broken = job->error != 0;
		break;
	case OP_WRITE:
		job->error = do_write(job);
		break;
	case OP_ENTRY:
		job->error = do_entry(job);
		break;
	case OP_CUT:
		job->error = do_cut(job);
		break;
	case OP_READY:
		(void)ctf_lock_ready(job->file->fd, job->offset, job->range);
		break;
	case OP_SYNC:
		job->error = do_sync(job);
		break;
	default:
		do_release(job->file);
	}
}

/* ---- in the loop's thread ---- */

static void failed(struct store_file *file, int error)
{
	char text[STORE_PATH_MAX + 512];

	file->failed = true;
	if (file->told)
		return;
	file->told = true;
	(void)snprintf(text, sizeof(text), "cannot write %s/%s: %s; its packets count as lost until "
		       "the next file begins; free some disk space, or choose another directory (-o)",
		       file->store->root_path, file->path, strerror(error));
	file->store->say(file->store->context, text);
}

/* A file of lost packets is rare, and not counted. */
static unsigned descriptors(const struct store_file *file)
{
	return file->entry_size ? 2 : 1;
}

static void done(struct disk_job *disk_job)
{
	struct file_job *job = (struct file_job *)disk_job;

	if (job->op == OP_CLOSE) {
		free(job->file);
		free(job);
		return;
	}
	if (job->error)
		failed(job->file, job->error);
	if (job->done)
		job->done(job->context, !job->error);
	store_unref(job->file);
	free(job);
}

static struct file_job *job_new(struct store_file *file, enum op op, size_t bytes)
{
	struct file_job *job = calloc(1, sizeof(*job) + bytes);

	if (!job)
		return NULL;
	job->job = (struct disk_job){.bytes = sizeof(*job) + bytes, .work = work, .done = done};
	job->op = op;
	job->file = file;
	job->size = bytes;
	if (op != OP_CLOSE)
		file->refs++;
	return job;
}

/* Return: 0; -1: there was no memory for @job. */
static int post(struct file_job *job)
{
	if (!job)
		return -1;
	disk_do(job->file->store->disk, &job->job);
	return 0;
}

struct store_file *store_create(struct store *store, const char *path, enum store_kind kind,
				unsigned entry_size)
{
	const size_t length = strlen(path);
	struct store_file *file =
		store_path_is_safe(path) ? calloc(1, sizeof(*file) + length + 1) : NULL;

	if (!file)
		return NULL;
	file->store = store;
	file->refs = 1;
	file->kind = kind;
	file->entry_size = entry_size;
	file->fd = file->index_fd = file->lost_fd = -1;
	memcpy(file->path, path, length + 1);
	if (post(job_new(file, OP_OPEN, 0)) < 0) {
		free(file);
		return NULL;
	}
	store->files += descriptors(file);
	return file;
}

struct store_file *store_ref(struct store_file *file)
{
	file->refs++;
	return file;
}

void store_unref(struct store_file *file)
{
	if (!file || --file->refs)
		return;
	file->store->files -= descriptors(file);
	(void)post(job_new(file, OP_CLOSE, 0)); /* without memory it stays open */
}

int store_write(struct store_file *file, uint64_t offset, const void *bytes, size_t size,
		size_t padding, store_done *when_done, void *context)
{
	struct file_job *job = job_new(file, OP_WRITE, size);

	if (!job)
		return -1;
	job->offset = offset;
	job->padding = padding;
	job->range = file->kind == STORE_METADATA ? offset : file->begin;
	job->done = when_done;
	job->context = context;
	if (size)
		memcpy(job->bytes, bytes, size);
	return post(job);
}

int store_entry(struct store_file *file, const struct ctf_index_entry *entry, store_done *when_done,
		void *context)
{
	struct file_job *job = job_new(file, OP_ENTRY, file->entry_size);
	uint64_t words[ENTRY_WORDS];

	if (!job)
		return -1;
	memcpy(words, entry, sizeof(words));
	for (unsigned i = 0; i < ENTRY_WORDS; i++)
		words[i] = htobe64(words[i]);
	memcpy(job->bytes, words, file->entry_size);
	job->offset = entry->offset;
	job->range = entry->packet_size / 8;
	job->done = when_done;
	job->context = context;
	return post(job);
}

int store_cut(struct store_file *file, uint64_t size)
{
	struct file_job *job = job_new(file, OP_CUT, 0);

	if (job)
		job->offset = size;
	return post(job);
}

int store_ready(struct store_file *file, uint64_t offset, uint64_t size)
{
	struct file_job *job = job_new(file, OP_READY, 0);

	if (job) {
		job->offset = offset;
		job->range = size;
	}
	return post(job);
}

int store_release(struct store_file *file)
{
	return post(job_new(file, OP_RELEASE, 0));
}

int store_sync(struct store_file *file, const struct ctf_sync *sync, store_done *when_done,
	       void *context)
{
	struct file_job *job = job_new(file, OP_SYNC, 0);

	if (job) {
		job->sync = *sync;
		job->done = when_done;
		job->context = context;
	}
	return post(job);
}

/* ---- reading ---- */

ssize_t store_read(const struct store_file *file, uint64_t offset, void *bytes, size_t size)
{
	size_t got = 0;

	if (offset > INT64_MAX - size) {
		errno = EINVAL;
		return -1;
	}
	while (got < size) {
		ssize_t some =
			pread(file->fd, (char *)bytes + got, size - got, (off_t)(offset + got));

		if (some < 0 && errno == EINTR)
			continue;
		if (some < 0)
			return -1;
		if (some == 0)
			break;
		got += (size_t)some;
	}
	return (ssize_t)got;
}

int store_read_entry(const struct store_file *file, uint64_t number, struct ctf_index_entry *entry)
{
	uint64_t words[ENTRY_WORDS] = { 0 };
	const off_t at = (off_t)(16 + number * file->entry_size);

	words[SEQ_WORD] = UINT64_MAX; /* an index of version 1.0 has no packet_seq_num */
	if (pread(file->index_fd, words, file->entry_size, at) != (ssize_t)file->entry_size)
		return -1;
	for (unsigned i = 0; i < ENTRY_WORDS; i++)
		words[i] = be64toh(words[i]);
	memcpy(entry, words, sizeof(words));
	return 0;
}
