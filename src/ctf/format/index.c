/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes index files. An index is written under a name that readers ignore, and renamed at the end: readers trust
 * an index, and one that a crash left short would hide the packets behind its end.
 */
#include "ctf/format/index.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctf/format/lock.h"
#include "base/io.h"

static_assert(sizeof(struct ctf_index_entry) == 72, "entry length of LTTng index 1.1");

struct index_header {
	uint32_t magic, major, minor, entry_size;
};

static void index_path(char *path, size_t size, const char *name, const char *suffix)
{
	(void)snprintf(path, size, "index/%s.%s", name, suffix);	/* a name that was truncated fails to open */
}

static int write_pending(struct ctf_index *index, int dir_fd, const char *name)
{
	const struct index_header header = {
		htobe32(CTF_INDEX_MAGIC), htobe32(CTF_INDEX_MAJOR), htobe32(CTF_INDEX_MINOR),
		htobe32(sizeof(struct ctf_index_entry)),
	};
	int flags = index->begun ? O_APPEND : O_CREAT | O_TRUNC;
	char path[256];
	int fd, rc = 0;

	index_path(path, sizeof path, name, "part");
	fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0644);
	if (fd < 0)
		return -1;
	(void)ctf_lock_all(fd, index->length);	/* until it is closed */
	if (!index->begun)
		rc = write_all(fd, &header, sizeof header);
	index->length += index->begun ? 0 : sizeof header;
	index->begun = 1;
	if (rc == 0)
		rc = write_all(fd, index->pending, index->pending_count * sizeof *index->pending);
	index->length += index->pending_count * sizeof *index->pending;
	index->pending_count = 0;
	return close(fd) < 0 ? -1 : rc;
}

static void index_give_up(struct ctf_index *index, int dir_fd, const char *name)
{
	char path[256];

	index->broken = 1;
	free(index->pending);
	index->pending = NULL;
	index_path(path, sizeof path, name, "part");
	(void)unlinkat(dir_fd, path, 0);	/* may not exist yet */
}

void ctf_index_add(struct ctf_index *index, int dir_fd, const char *name,
		   const struct ctf_index_entry *entry)
{
	if (index->broken)
		return;
	if (!index->pending)
		index->pending = malloc(CTF_INDEX_PENDING * sizeof *index->pending);
	if (!index->pending) {
		index_give_up(index, dir_fd, name);
		return;
	}
	index->pending[index->pending_count++] = (struct ctf_index_entry){
		htobe64(entry->offset), htobe64(entry->packet_size), htobe64(entry->content_size),
		htobe64(entry->timestamp_begin), htobe64(entry->timestamp_end),
		htobe64(entry->events_discarded), htobe64(entry->stream_id),
		htobe64(entry->stream_instance_id), htobe64(entry->packet_seq_num),
	};
	if (index->pending_count == CTF_INDEX_PENDING)
		(void)ctf_index_flush(index, dir_fd, name);
}

int ctf_index_flush(struct ctf_index *index, int dir_fd, const char *name)
{
	if (index->broken || !index->pending_count)
		return 0;
	if (write_pending(index, dir_fd, name) < 0)
		index_give_up(index, dir_fd, name);
	return 1;
}

void ctf_index_finish(struct ctf_index *index, int dir_fd, const char *name)
{
	char part[256], final[256];

	(void)ctf_index_flush(index, dir_fd, name);
	free(index->pending);
	index->pending = NULL;
	if (index->broken || !index->begun)
		return;
	index_path(part, sizeof part, name, "part");
	index_path(final, sizeof final, name, "idx");
	(void)renameat(dir_fd, part, dir_fd, final);	/* without an index, readers scan the stream */
}
