/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the relay; the jobs that the disk's thread does on them. See store.h. */
#include "relay/store.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay/store_tree.h"

#define ENTRY_WORDS	9

enum op { OP_OPEN, OP_WRITE, OP_ENTRY, OP_CUT, OP_CLOSE };

struct file_job {
	struct disk_job job;
	enum op op;
	struct store_file *file;
	uint64_t offset;
	size_t size, padding;
	int error;			/* errno */
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

static int append(int fd, const void *bytes, size_t size)
{
	const off_t end = lseek(fd, 0, SEEK_END);

	return end < 0 ? errno : write_at(fd, bytes, size, (uint64_t)end);
}

static int open_index(const struct store_file *file, const char *suffix, int *fd)
{
	const uint32_t header[] = {
		htobe32(CTF_INDEX_MAGIC), htobe32(CTF_INDEX_MAJOR),
		htobe32(file->entry_size == 8 * ENTRY_WORDS ? 1 : 0), htobe32(file->entry_size),
	};
	const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
	char path[STORE_PATH_MAX + 16];

	(void)snprintf(path, sizeof(path), "%.*sindex/%s.%s", (int)(name - file->path), file->path, name, suffix);
	*fd = tree_create(file->store->root, path);
	return *fd < 0 ? errno : append(*fd, header, sizeof(header));
}

static int do_open(struct store_file *file)
{
	file->fd = tree_create(file->store->root, file->path);
	if (file->fd < 0)
		return errno;
	return file->entry_size ? open_index(file, "idx", &file->index_fd) : 0;
}

/* Padding is a hole: it costs no writing, however much of it somebody announces. */
static int do_write(const struct file_job *job)
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

static int do_entry(struct file_job *job)
{
	struct store_file *file = job->file;
	const bool lost = job->offset == UINT64_MAX;
	int error;

	if (file->broken && !lost)
		return EIO;
	if (lost && file->lost_fd < 0) {
		error = open_index(file, "lost", &file->lost_fd);
		if (error)
			return error;
	}
	if (file->store->sync && !lost && fdatasync(file->fd))
		return errno;
	error = append(lost ? file->lost_fd : file->index_fd, job->bytes, job->size);
	if (!error && file->store->sync && !lost && fdatasync(file->index_fd))
		error = errno;
	return error;
}

static void do_close(struct store_file *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	if (file->index_fd >= 0)
		(void)close(file->index_fd);
	if (file->lost_fd >= 0)
		(void)close(file->lost_fd);
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
		break;
	case OP_WRITE:
		job->error = do_write(job);
		job->file->broken |= job->error != 0;
		break;
	case OP_ENTRY:
		job->error = do_entry(job);
		break;
	default:
		job->error = ftruncate(job->file->fd, (off_t)job->offset) ? errno : 0;
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
	(void)snprintf(text, sizeof(text), "%s/%s cannot be written: %s; what comes for it is counted as lost until "
		       "a new file begins; make room, or choose another directory (-o)",
		       file->store->root_path, file->path, strerror(error));
	file->store->say(file->store->context, text);
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
	job->job = (struct disk_job){ .bytes = sizeof(*job) + bytes, .work = work, .done = done };
	job->op = op;
	job->file = file;
	job->size = bytes;
	if (op != OP_CLOSE)
		file->refs++;
	return job;
}

struct store_file *store_create(struct store *store, const char *path, unsigned entry_size)
{
	const size_t length = strlen(path);
	struct store_file *file = store_path_is_safe(path) ? calloc(1, sizeof(*file) + length + 1) : NULL;
	struct file_job *job;

	if (!file)
		return NULL;
	file->store = store;
	file->refs = 1;
	file->entry_size = entry_size;
	file->fd = file->index_fd = file->lost_fd = -1;
	memcpy(file->path, path, length + 1);
	job = job_new(file, OP_OPEN, 0);
	if (!job) {
		free(file);
		return NULL;
	}
	disk_do(store->disk, &job->job);
	return file;
}

struct store_file *store_ref(struct store_file *file)
{
	file->refs++;
	return file;
}

void store_unref(struct store_file *file)
{
	struct file_job *job;

	if (!file || --file->refs)
		return;
	job = job_new(file, OP_CLOSE, 0);
	if (job)			/* else it stays open, and that is all */
		disk_do(file->store->disk, &job->job);
}

int store_write(struct store_file *file, uint64_t offset, const void *bytes, size_t size, size_t padding,
		store_done *when_done, void *context)
{
	struct file_job *job = job_new(file, OP_WRITE, size);

	if (!job)
		return -1;
	job->offset = offset;
	job->padding = padding;
	job->done = when_done;
	job->context = context;
	if (size)
		memcpy(job->bytes, bytes, size);
	disk_do(file->store->disk, &job->job);
	return 0;
}

int store_entry(struct store_file *file, const struct ctf_index_entry *entry, store_done *when_done, void *context)
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
	job->done = when_done;
	job->context = context;
	disk_do(file->store->disk, &job->job);
	return 0;
}

int store_cut(struct store_file *file, uint64_t size)
{
	struct file_job *job = job_new(file, OP_CUT, 0);

	if (!job)
		return -1;
	job->offset = size;
	disk_do(file->store->disk, &job->job);
	return 0;
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
		ssize_t some = pread(file->fd, (char *)bytes + got, size - got, (off_t)(offset + got));

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

	words[ENTRY_WORDS - 1] = UINT64_MAX;	/* no packet_seq_num in an index of version 1.0 */
	if (pread(file->index_fd, words, file->entry_size, at) != (ssize_t)file->entry_size)
		return -1;
	for (unsigned i = 0; i < ENTRY_WORDS; i++)
		words[i] = be64toh(words[i]);
	memcpy(entry, words, sizeof(words));
	return 0;
}
