/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index files: DIR/index/NAME.idx has a header and one entry a packet, all big-endian. An index is
 * written under a name that readers ignore, and renamed at the end: one that a crash left short
 * would hide the packets behind its end. Reading it saves reading each packet's header in files of
 * gigabytes. It is not trusted: entries must cover the file without a gap, and users of an entry
 * check the packet itself.
 */
#include "ctf/format/index.h"

#include <assert.h>
#include <endian.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/format/lock.h"
#include "ctf/format/packed.h"
#include "base/array.h"
#include "base/file.h"
#include "base/io.h"

static_assert(offsetof(struct ctf_index_entry, events_discarded_len) == CTF_INDEX_LTTNG,
	      "entry length of LTTng index 1.1");

struct index_header {
	uint32_t magic, major, minor, entry_size;
};

static void index_path(char *path, size_t size, const char *name, const char *suffix)
{
	(void)snprintf(path, size, "index/%s.%s", name, suffix);	/* a name that was truncated fails to open */
}

/* The .part file, locked from its end on. */
static int open_part(const struct ctf_index *index, int dir_fd, const char *name)
{
	int flags = index->begun ? O_APPEND : O_CREAT | O_TRUNC | O_APPEND;
	char path[256];
	int fd;

	if (index->held)
		return index->held - 1;
	index_path(path, sizeof path, name, "part");
	fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0644);
	if (fd >= 0)
		(void)ctf_lock_all(fd, index->length);
	return fd;
}

static int write_pending(struct ctf_index *index, int dir_fd, const char *name)
{
	const struct index_header header = {
		htobe32(CTF_INDEX_MAGIC), htobe32(CTF_INDEX_MAJOR), htobe32(CTF_INDEX_MINOR),
		htobe32(sizeof(struct ctf_index_entry)),
	};
	const size_t size = index->pending_count * sizeof *index->pending;
	const uint64_t from = index->length;
	int fd = open_part(index, dir_fd, name), rc = 0;

	if (fd < 0)
		return -1;
	if (!index->begun)
		rc = write_all(fd, &header, sizeof header);
	index->length += index->begun ? 0 : sizeof header;
	index->begun = 1;
	if (rc == 0)
		rc = write_all(fd, index->pending, size);
	index->length += size;
	index->pending_count = 0;
	index->held = index->hold ? fd + 1 : 0;
	if (!index->held)
		return close(fd) < 0 ? -1 : rc;
	(void)ctf_lock_ready(fd, from, index->length - from);
	return rc;
}

void ctf_index_let_go(struct ctf_index *index)
{
	if (!index->held)
		return;
	/* A child that was forked may have it open, too. */
	(void)ctf_lock_ready(index->held - 1, 0, CTF_LOCK_REST);
	(void)close(index->held - 1);
	index->held = 0;
}

static void index_give_up(struct ctf_index *index, int dir_fd, const char *name)
{
	char path[256];

	index->broken = 1;
	ctf_index_let_go(index);
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
		htobe64(entry->offset),         htobe64(entry->packet_size),
		htobe64(entry->content_size),   htobe64(entry->timestamp_begin),
		htobe64(entry->timestamp_end),  htobe64(entry->events_discarded),
		htobe64(entry->stream_id),      htobe64(entry->stream_instance_id),
		htobe64(entry->packet_seq_num), htobe64(entry->events_discarded_len),
		htobe64(entry->events),
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
	ctf_index_let_go(index);
	free(index->pending);
	index->pending = NULL;
	if (index->broken || !index->begun)
		return;
	index_path(part, sizeof part, name, "part");
	index_path(final, sizeof final, name, "idx");
	(void)renameat(dir_fd, part, dir_fd, final); /* without an index, readers scan the stream */
}

/* ---- reading ---- */

#define ENTRY_MIN \
	56 /* version 1.0; 1.1 has 72 bytes, the last 8 are the sequence number; kymo's has 88 */
#define ENTRY_SEQ 64
#define ENTRY_MAX 4096
#define PLACES_MAX (1u << 26)
#define LOST_MAX (1u << 22)

static FILE *open_index(const char *stream_path, struct stat *st)
{
	const char *slash = strrchr(stream_path, '/');
	char path[4096 + 16];
	FILE *file;

	if (!slash ||
	    snprintf(path, sizeof path, "%.*s/index%.*s.idx", (int)(slash - stream_path),
		     stream_path, (int)packed_plain_length(slash), slash) >= (int)sizeof path)
		return NULL;
	file = file_stream(path);
	if (file && fstat(fileno(file), st)) {
		fclose(file);
		return NULL;
	}
	return file;
}

static uint64_t field(const uint8_t *entry, unsigned number)
{
	uint64_t value;

	memcpy(&value, entry + 8 * number, sizeof value);
	return be64toh(value);
}

static struct packet_place place_of(const uint8_t *entry, uint32_t entry_bytes)
{
	struct packet_place place = {
		.offset = field(entry, 0),
		.size = field(entry, 1),
		.content = field(entry, 2),
		.begin = field(entry, 3),
		.end = field(entry, 4),
		.discarded = field(entry, 5),
	};

	if (entry_bytes >= ENTRY_SEQ + 8)
		place.seq = field(entry, ENTRY_SEQ / 8);
	if (entry_bytes < sizeof(struct ctf_index_entry))
		return place;
	place.discarded_len = field(entry, CTF_INDEX_LTTNG / 8);
	place.events = field(entry, CTF_INDEX_LTTNG / 8 + 1);
	return place;
}

/* Return: bytes of an entry; 0: not an index, or of an unknown version. */
static uint32_t read_header(FILE *file)
{
	uint32_t header[CTF_INDEX_HEADER / 4], entry;

	if (fread(header, sizeof header, 1, file) != 1 || be32toh(header[0]) != CTF_INDEX_MAGIC ||
	    be32toh(header[1]) != CTF_INDEX_MAJOR)
		return 0;
	entry = be32toh(header[3]);
	return entry >= ENTRY_MIN && entry <= ENTRY_MAX ? entry : 0;
}

static bool read_places(FILE *file, uint32_t entry_bytes, struct packet_index *index)
{
	uint8_t entry[ENTRY_MAX];

	for (uint32_t i = 0; i < index->count; i++) {
		struct packet_place *place = &index->place[i];
		const struct packet_place *before = place - 1;
		uint64_t expected = i ? before->offset + before->size / 8 : 0;

		if (fread(entry, entry_bytes, 1, file) != 1)
			return false;
		*place = place_of(entry, entry_bytes);
		if (place->offset != expected || !place->size || place->size & 7 ||
		    place->size / 8 > UINT64_MAX / 8 - expected || place->content > place->size ||
		    place->end < place->begin || (i && place->end < before->end) ||
		    place->discarded_len > 64)
			return false;
	}
	return true;
}

bool index_read(struct packet_index *index, const char *stream_path, uint64_t stream_bytes)
{
	struct stat st;
	FILE *file = open_index(stream_path, &st);
	uint32_t entry_bytes;
	bool good = false;
	uint64_t count;

	*index = (struct packet_index){0};
	if (!file)
		return false;
	entry_bytes = read_header(file);
	count = entry_bytes && st.st_size > CTF_INDEX_HEADER
			? ((uint64_t)st.st_size - CTF_INDEX_HEADER) / entry_bytes
			: 0;
	/* A packet has at least a byte. */
	if (count && ((uint64_t)st.st_size - CTF_INDEX_HEADER) % entry_bytes == 0 &&
	    count <= PLACES_MAX && count <= stream_bytes) {
		index->count = (uint32_t)count;
		index->place = malloc(index->count * sizeof *index->place);
		good = index->place && read_places(file, entry_bytes, index);
	}
	fclose(file);
	if (good) {
		const struct packet_place *last = &index->place[index->count - 1];

		good = last->offset + last->size / 8 == stream_bytes;
	}
	if (!good)
		index_free(index);
	return good;
}

static bool read_lost_entries(FILE *file, uint64_t left, struct ctf_index_entry **to,
			      uint32_t *count, uint32_t *room)
{
	const uint32_t bytes = read_header(file);
	uint8_t entry[ENTRY_MAX];

	if (!bytes)
		return false;
	for (left /= bytes; left && fread(entry, bytes, 1, file) == 1; left--) {
		const struct packet_place place = place_of(entry, bytes);

		if (place.offset != UINT64_MAX || place.end < place.begin ||
		    place.end > INT64_MAX || place.discarded_len > 64 ||
		    place.events > place.content)
			continue;
		if (*count == LOST_MAX || !ARRAY_ROOM(*to, *count, *room))
			return *count == LOST_MAX;
		(*to)[(*count)++] = (struct ctf_index_entry){
			UINT64_MAX,
			place.size,
			place.content,
			place.begin,
			place.end,
			place.discarded,
			field(entry, 6),
			bytes >= ENTRY_SEQ + 8 ? field(entry, 7) : 0,
			bytes >= ENTRY_SEQ + 8 ? place.seq : UINT64_MAX,
			place.discarded_len,
			place.events,
		};
	}
	return true;
}

int index_read_lost(const char *path, uint64_t bytes, struct ctf_index_entry **entry,
		    uint32_t *count, uint32_t *room)
{
	FILE *file = file_stream(path);
	bool good;

	if (!file)
		return -1;
	good = read_lost_entries(file, bytes < CTF_INDEX_HEADER ? 0 : bytes - CTF_INDEX_HEADER,
				 entry, count, room);
	fclose(file);
	return good ? 0 : -1;
}

void index_free(struct packet_index *index)
{
	free(index->place);
	*index = (struct packet_index){0};
}
