/* SPDX-License-Identifier: Apache-2.0 */
/* Writes packed files. See packed.h. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/io.h"
#include "ctf/format/packed.h"
#include "ctf/format/packed_internal.h"
#include "ctf/format/index.h"

#define LEVEL 1			/* docs/decisions/compression.md */

struct table_entry {			/* little endian */
	uint32_t packed, size;
};
static_assert(sizeof(struct table_entry) == 8, "as the table has it");

struct packing {
	int from, to;
	uint64_t bytes;			/* of the plain file */
	size_t target;			/* bytes of a frame */
	struct packet_index index;	/* count 0: the stream has no index */
	uint32_t packet;		/* the next one */
	ZSTD_CCtx *context;
	uint8_t *plain, *packed;
	size_t plain_room, packed_room;
	struct table_entry *entry;
	uint32_t count, entry_room;
	uint64_t written;
};

static int put(struct packing *p, const void *data, size_t size)
{
	const int rc = write_all(p->to, data, size);

	if (rc == 0)
		p->written += size;
	return rc;
}

/* Bytes of the frame that begins at @at: whole packets, at least one. */
static size_t frame_size(struct packing *p, uint64_t at)
{
	uint64_t end = at;

	while (p->packet < p->index.count) {
		const struct packet_place *place = &p->index.place[p->packet];
		uint64_t next = place->offset + place->size / 8;

		if (end > at && next - at > p->target)
			break;
		end = next;
		p->packet++;
	}
	if (!p->index.count)
		end = p->bytes - at < p->target ? p->bytes : at + p->target;
	return (size_t)(end - at);
}

static bool make_room(struct packing *p, size_t size)
{
	return ARRAY_FIT(p->plain, size, p->plain_room) &&
	       ARRAY_FIT(p->packed, ZSTD_compressBound(size), p->packed_room) &&
	       ARRAY_ROOM(p->entry, p->count, p->entry_room);
}

static int pack_frame(struct packing *p, uint64_t at, size_t size)
{
	size_t packed;
	int rc;

	if (size > PACKED_FRAME_MAX || p->count == PACKED_FRAMES_MAX)
		return -EFBIG;
	if (!make_room(p, size))
		return -ENOMEM;
	rc = packed_read_at(p->from, p->plain, size, at);
	if (rc < 0)
		return rc;
	packed = ZSTD_compress2(p->context, p->packed, p->packed_room, p->plain, size);
	if (ZSTD_isError(packed))
		return -EIO;
	p->entry[p->count++] =
		(struct table_entry){ htole32((uint32_t)packed), htole32((uint32_t)size) };
	return put(p, p->packed, packed);
}

static int write_table(struct packing *p)
{
	uint32_t head[2] = { htole32(TABLE_MAGIC), htole32(8 * p->count + TABLE_FOOT) };
	uint32_t count = htole32(p->count), magic = htole32(TABLE_FOOT_MAGIC);
	uint8_t foot[TABLE_FOOT] = { 0 };
	int rc = put(p, head, sizeof head);

	memcpy(foot, &count, sizeof count);
	memcpy(foot + 5, &magic, sizeof magic);
	if (rc == 0)
		rc = put(p, p->entry, p->count * sizeof *p->entry);
	return rc == 0 ? put(p, foot, sizeof foot) : rc;
}

static int pack_all(struct packing *p, const bool *stopped)
{
	uint64_t at = 0;
	int rc = 0;

	p->context = ZSTD_createCCtx();
	if (!p->context)
		return -ENOMEM;
	(void)ZSTD_CCtx_setParameter(p->context, ZSTD_c_compressionLevel, LEVEL);
	(void)ZSTD_CCtx_setParameter(p->context, ZSTD_c_checksumFlag, 1);
	while (rc == 0 && at < p->bytes) {
		size_t size = frame_size(p, at);

		if (__atomic_load_n(stopped, __ATOMIC_RELAXED))
			return -ECANCELED;
		rc = size ? pack_frame(p, at, size) : -EIO;
		at += size;
	}
	return rc == 0 ? write_table(p) : rc;
}

static int begin(struct packing *p, const char *plain, const char *part)
{
	struct stat st;

	p->from = open(plain, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (p->from < 0 || fstat(p->from, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	p->bytes = (uint64_t)st.st_size;
	p->to = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (p->to < 0)
		return -errno;
	(void)index_read(&p->index, plain, p->bytes);	/* without an index, frames end anywhere */
	return 0;
}

static void release(struct packing *p)
{
	if (p->from >= 0)
		(void)close(p->from);
	if (p->to >= 0)
		(void)close(p->to);
	index_free(&p->index);
	ZSTD_freeCCtx(p->context);
	free(p->plain);
	free(p->packed);
	free(p->entry);
}

int packed_file(const char *directory, const char *name, size_t frame, const bool *stopped)
{
	char plain[PATH_MAX + 64], part[PATH_MAX + 64], final[PATH_MAX + 64];
	struct packing p = { .from = -1, .to = -1, .target = frame };
	bool smaller;
	int rc;

	/* Readers skip names that begin with a dot. */
	if (snprintf(plain, sizeof plain, "%s/%s", directory, name) >= (int)sizeof plain ||
	    snprintf(part, sizeof part, "%s/.%s" PACKED_SUFFIX, directory, name) >= (int)sizeof part ||
	    snprintf(final, sizeof final, "%s/%s" PACKED_SUFFIX, directory, name) >= (int)sizeof final)
		return -ENAMETOOLONG;
	rc = begin(&p, plain, part);
	if (rc == 0 && p.bytes)
		rc = pack_all(&p, stopped);
	smaller = p.written && p.written < p.bytes;
	/* The packed file must be on the disk before the other is removed, even if the power
	 * fails. */
	if (rc == 0 && smaller && fdatasync(p.to) < 0)
		rc = -errno;
	release(&p);
	if (rc == 0 && smaller && rename(part, final) == 0)
		return unlink(plain) < 0 ? -errno : 0;
	(void)unlink(part);
	return rc;
}
