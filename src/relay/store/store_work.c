/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs that the disk's thread does, and the locks on what is not readable yet. See store.h. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay/store/store_internal.h"
#include "relay/store/store_tree.h"

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

static int do_metadata(const struct file_job *job)
{
	const int error = do_write(job);

	if (!error)
		(void)ctf_lock_ready(job->file->fd, job->offset, job->size + job->padding);
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
		if (error)
			return error;
	}
	if (file->store->sync && !lost && fdatasync(file->fd))
		return errno;
	if (!lost)
		(void)ctf_lock_ready(file->fd, job->offset, job->range);
	error = append(lost ? file->lost_fd : file->index_fd, job->bytes, job->size);
	if (!error && file->store->sync && !lost && fdatasync(file->index_fd))
		error = errno;
	if (!error && !lost)
		(void)ctf_lock_ready(file->index_fd, CTF_INDEX_HEADER + file->written++ * file->entry_size,
				     file->entry_size);
	return error;
}

static int do_cut(const struct file_job *job)
{
	(void)ctf_lock_all(job->file->fd, job->offset);
	return ftruncate(job->file->fd, (off_t)job->offset) ? errno : 0;
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

void store_work(struct disk_job *disk_job)
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
		job->error = job->file->kind == STORE_METADATA ? do_metadata(job) : do_write(job);
		job->file->broken |= job->error != 0;
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
