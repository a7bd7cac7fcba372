/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the relay, in the loop's thread: references, and jobs for the disk's thread. See
 * store.h. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay/store/store_internal.h"

#define ENTRY_WORDS (sizeof(struct ctf_index_entry) / 8)
#define SEQ_WORD (CTF_INDEX_LTTNG / 8 - 1)

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
	struct store_job *job = (struct store_job *)disk_job;

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

static struct store_job *job_new(struct store_file *file, enum store_op op, size_t bytes)
{
	struct store_job *job = calloc(1, sizeof(*job) + bytes);

	if (!job)
		return NULL;
	job->job = (struct disk_job){
		.bytes = sizeof(*job) + bytes, .work = store_work, .done = done
	};
	job->op = op;
	job->file = file;
	job->size = bytes;
	if (op != OP_CLOSE)
		file->refs++;
	return job;
}

/* Return: 0; -1: there was no memory for @job. */
static int post(struct store_job *job)
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
	struct store_job *job = job_new(file, OP_WRITE, size);

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
	struct store_job *job = job_new(file, OP_ENTRY, file->entry_size);
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
	struct store_job *job = job_new(file, OP_CUT, 0);

	if (job)
		job->offset = size;
	return post(job);
}

int store_ready(struct store_file *file, uint64_t offset, uint64_t size)
{
	struct store_job *job = job_new(file, OP_READY, 0);

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
	struct store_job *job = job_new(file, OP_SYNC, 0);

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
