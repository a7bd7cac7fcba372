/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of a trace: its directory or store, from creation to the end. */
#include "ctf/write/writer_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void ctf_writer_watch(struct ctf_writer *writer, ctf_watch_fn *before, void *context)
{
	writer->watch = before;
	writer->watch_context = context;
}

void writer_announce(const struct ctf_writer *writer, const char *name, uint64_t offset,
		     uint64_t size, const void *head, size_t bytes)
{
	if (writer->watch)
		writer->watch(writer->watch_context, &(struct ctf_place){
			writer->dir, name, offset, size, head, bytes,
		});
}

int writer_cut(int fd, uint64_t length)
{
	return ftruncate(fd, (off_t)length) < 0 ? -errno : 0;
}

static int writer_open(struct ctf_writer *writer, const char *dir,
		       const struct ctf_trace_desc *desc)
{
	int fd;

	writer->dir = strdup(dir);
	if (!writer->dir)
		return -ENOMEM;
	fd = writer_dir(writer);
	if (fd < 0)
		return fd;
	if (mkdirat(fd, "index", 0755) < 0 && errno != EEXIST)
		return -errno;
	return writer_metadata_begin(writer, desc);
}

int ctf_writer_create(const char *dir, const struct ctf_trace_desc *desc,
		      struct ctf_writer **result, struct kymo_err *err)
{
	struct ctf_writer *writer = calloc(1, sizeof *writer);
	int rc;

	if (!writer)
		return err_no_memory(err);
	writer->dir_fd = -1;
	rc = writer_open(writer, dir, desc);
	if (rc < 0) {
		ctf_writer_close(writer);
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot create a trace in %s: %s; choose another "
			      "place with -o DIR", dir, strerror(-rc));
		errno = -rc;
		return -1;
	}
	*result = writer;
	return 0;
}

int ctf_writer_create_in(const struct ctf_store *store, const struct ctf_trace_desc *desc,
			 struct ctf_writer **result, struct kymo_err *err)
{
	struct ctf_writer *writer = calloc(1, sizeof *writer);
	int rc = -ENOMEM;

	if (writer) {
		writer->store = store;
		writer->dir_fd = -1;
		rc = writer_metadata_begin(writer, desc);
	}
	if (rc < 0) {
		ctf_writer_close(writer);
		return err_set(err, KYMO_EXIT_FAILED, "cannot create a trace: %s", strerror(-rc));
	}
	*result = writer;
	return 0;
}

uint64_t ctf_writer_bytes(const struct ctf_writer *writer)
{
	return writer->bytes;
}

uint64_t ctf_writer_disk(const struct ctf_writer *writer)
{
	return (uint64_t)writer->metadata_length + writer->bytes + writer->index_bytes +
	       (writer->share.active ? CTF_SYNC_BYTES : 0);
}

bool ctf_writer_is_gone(const struct ctf_writer *writer)
{
	struct stat st;
	char path[PATH_MAX];

	if (writer->store)
		return false;
	(void)snprintf(path, sizeof path, "%s/metadata", writer->dir);
	if (lstat(path, &st) < 0 || stat(writer->dir, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR;
	return st.st_ino != writer->dir_ino || st.st_dev != writer->dir_dev;
}

void ctf_writer_close(struct ctf_writer *writer)
{
	if (!writer)
		return;
	while (writer->outs)
		ctf_out_close(writer->outs);
	ctf_share_end(&writer->share);
	writer_shut_dir(writer);
	free(writer->dir);
	free(writer->head);
	free(writer);
}

void ctf_writer_share(struct ctf_writer *writer)
{
	if (!writer->store && writer_dir(writer) >= 0)
		ctf_share_begin(&writer->share, writer->dir_fd, (uint64_t)writer->metadata_length);
}

unsigned ctf_writer_point(struct ctf_writer *writer, uint64_t ns)
{
	unsigned flushed = 0;

	if (!writer->share.active)
		return 0;
	for (struct ctf_out *out = writer->outs; out; out = out->next)
		flushed += (unsigned)out_index(out, NULL);
	ctf_share_point(&writer->share, ns, writer->out_count);
	return flushed;
}
