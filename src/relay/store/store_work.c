/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the relay, in the disk's thread: does the jobs, and locks what is not readable yet. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "relay/store/store_internal.h"
#include "relay/store/store_tree.h"

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
	const int error = end < 0 ? errno : -pwrite_all(fd, bytes, size, end);

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
static int write_bytes(const struct store_job *job)
{
	const off_t end = (off_t)(job->offset + job->size + job->padding);
	const int error =
		-pwrite_all(job->file->fd, job->bytes, job->size, (off_t)job->offset);
	struct stat now;

	if (error || !job->padding)
		return error;
	if (fstat(job->file->fd, &now) < 0)
		return errno;
	return now.st_size < end && ftruncate(job->file->fd, end) < 0 ? errno : 0;
}

static int do_write(const struct store_job *job)
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
static int append_entry(const struct store_file *file, const struct store_job *job)
{
	int error = append(file->index_fd, job->bytes, job->size);

	if (error || !file->store->sync || !fdatasync(file->index_fd))
		return error;
	error = errno;
	(void)cut(file->index_fd, CTF_INDEX_HEADER + file->written * file->entry_size);
	return error;
}

static int do_entry(struct store_job *job)
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

static int do_cut(const struct store_job *job)
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
static int do_sync(const struct store_job *job)
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

void store_work(struct disk_job *disk_job)
{
	struct store_job *job = (struct store_job *)disk_job;

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
