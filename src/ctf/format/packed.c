/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads packed files. See packed.h.
 *
 * The table at the end says where each frame begins. It counts only if its frames account for every
 * byte in front of it. Else the frames are found one after the other, from the begin to the first
 * one that is not whole. An offset leads to its frame by a binary search; the frame that was
 * unpacked last is kept.
 */
#include "base/text.h"
#include "ctf/format/packed.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/file.h"
#include "ctf/format/packed_internal.h"

#define SCAN_HEAD 18u		/* the longest frame header */
#define NONE UINT32_MAX

struct packed_frame {
	uint64_t at, begin; /* position in the file; position of its content, unpacked */
	uint32_t packed, size;
};

struct packed {
	struct packed_frame *frame;
	uint32_t count, room;
	bool cut;
	uint64_t size;
	ZSTD_DCtx *context;
	uint8_t *bytes, *source;	/* of frame `held`; what it was unpacked from */
	size_t bytes_room, source_room;
	uint32_t held;
};

bool packed_is_name(const char *name)
{
	return text_ends_with(name, PACKED_SUFFIX);
}

size_t packed_plain_length(const char *name)
{
	return strlen(name) - (packed_is_name(name) ? strlen(PACKED_SUFFIX) : 0);
}

int packed_read_at(int fd, void *to, size_t size, uint64_t at)
{
	uint8_t *bytes = to;

	while (size) {
		ssize_t got = pread(fd, bytes, size, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		bytes += got;
		at += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}

static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
	return packed_read_at(fd, to, size, at) == 0;
}

/* ---- where the frames are ---- */

static bool sizes_are_sane(uint32_t packed, uint32_t size)
{
	return packed && size <= PACKED_FRAME_MAX && packed <= ZSTD_compressBound(PACKED_FRAME_MAX);
}

static bool add_frame(struct packed *p, uint64_t at, uint32_t packed, uint32_t size)
{
	if (p->count == PACKED_FRAMES_MAX ||
	    !ARRAY_ADD(p->frame, p->count, p->room,
		       (struct packed_frame){ at, p->size, packed, size }))
		return false;
	p->size += size;
	return true;
}

static bool read_entries(struct packed *p, int fd, uint64_t table, uint32_t count,
			 size_t entry_size)
{
	uint8_t entries[64 * TABLE_ENTRY_MAX];
	uint64_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *entry = entries + i % 64 * entry_size;
		uint32_t word[2], left = count - i < 64 ? count - i : 64;

		if (i % 64 == 0 &&
		    !read_at(fd, entries, left * entry_size, table + TABLE_HEAD + i * entry_size))
			return false;
		memcpy(word, entry, sizeof word);
		word[0] = le32toh(word[0]);
		word[1] = le32toh(word[1]);
		if (!sizes_are_sane(word[0], word[1]) || word[0] > table - at ||
		    !add_frame(p, at, word[0], word[1]))
			return false;
		at += word[0];
	}
	return at == table;
}

/* Reads the table at the end, which must account for every byte before it. */
static bool read_table(struct packed *p, int fd, uint64_t bytes)
{
	uint8_t foot[TABLE_FOOT], head[TABLE_HEAD];
	uint32_t count, magic, size;
	uint64_t table_bytes;
	size_t entry_size;

	if (bytes < TABLE_HEAD + TABLE_FOOT || !read_at(fd, foot, sizeof foot, bytes - sizeof foot))
		return false;
	memcpy(&count, foot, sizeof count);
	memcpy(&magic, foot + 5, sizeof magic);
	count = le32toh(count);
	entry_size = foot[4] & TABLE_CHECKSUMS ? 12 : 8;
	table_bytes = TABLE_HEAD + TABLE_FOOT + (uint64_t)count * entry_size;
	if (le32toh(magic) != TABLE_FOOT_MAGIC || foot[4] & TABLE_RESERVED ||
	    count > PACKED_FRAMES_MAX || table_bytes > bytes ||
	    !read_at(fd, head, sizeof head, bytes - table_bytes))
		return false;
	memcpy(&magic, head, sizeof magic);
	memcpy(&size, head + 4, sizeof size);
	if (le32toh(magic) != TABLE_MAGIC || le32toh(size) != table_bytes - TABLE_HEAD)
		return false;
	return read_entries(p, fd, bytes - table_bytes, count, entry_size);
}

/* Bytes of the frame at @at, packed and unpacked. Return: false: not a frame, or not a whole
 * one. */
static bool read_frame_size(struct packed *p, int fd, uint64_t at, uint64_t bytes, uint32_t *packed,
			    uint32_t *size)
{
	uint64_t left = bytes - at;
	unsigned long long content;
	uint8_t head[SCAN_HEAD];
	size_t most, found;

	if (left < SCAN_HEAD / 2 ||
	    !read_at(fd, head, left < SCAN_HEAD ? (size_t)left : SCAN_HEAD, at))
		return false;
	content = ZSTD_getFrameContentSize(head, left < SCAN_HEAD ? (size_t)left : SCAN_HEAD);
	if (content > PACKED_FRAME_MAX)
		return false;		/* also the values for "unknown" and "not a frame" */
	most = ZSTD_compressBound((size_t)content) + SCAN_HEAD;
	if (most > left)
		most = (size_t)left;
	if (!ARRAY_FIT(p->source, most, p->source_room) || !read_at(fd, p->source, most, at))
		return false;
	found = ZSTD_findFrameCompressedSize(p->source, most);
	if (ZSTD_isError(found) || found > UINT32_MAX)
		return false;
	*packed = (uint32_t)found;
	*size = (uint32_t)content;
	return sizes_are_sane(*packed, *size);
}

/* Without a table: finds the frames one after the other, as long as they are whole. */
static void scan(struct packed *p, int fd, uint64_t bytes)
{
	uint32_t packed, size;
	uint64_t at = 0;

	p->count = 0;
	p->size = 0;
	p->cut = true;
	while (at < bytes && read_frame_size(p, fd, at, bytes, &packed, &size) &&
	       add_frame(p, at, packed, size))
		at += packed;
}

static bool begins_with_frame(int fd)
{
	uint32_t magic;

	return read_at(fd, &magic, sizeof magic, 0) &&
	       (le32toh(magic) == ZSTD_MAGICNUMBER || le32toh(magic) == TABLE_MAGIC);
}

int packed_open(int fd, struct packed **result, struct kymo_err *err)
{
	struct packed *p = calloc(1, sizeof *p);
	struct stat st;

	if (!p)
		return err_no_memory(err);
	p->held = NONE;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		packed_close(p);
		return err_set(err, KYMO_EXIT_INPUT, "cannot be read");
	}
	if (!read_table(p, fd, (uint64_t)st.st_size))
		scan(p, fd, (uint64_t)st.st_size);
	if (p->cut && !p->count && !begins_with_frame(fd)) {
		packed_close(p);
		return err_set(err, KYMO_EXIT_INPUT, "is not compressed, although its name ends in " PACKED_SUFFIX);
	}
	*result = p;
	return 0;
}

uint64_t packed_size(const struct packed *p)
{
	return p->size;
}

bool packed_is_cut(const struct packed *p)
{
	return p->cut;
}

void packed_close(struct packed *p)
{
	if (!p)
		return;
	ZSTD_freeDCtx(p->context);
	free(p->bytes);
	free(p->source);
	free(p->frame);
	free(p);
}

/* ---- reading their content ---- */

static uint32_t frame_at(const struct packed *p, uint64_t offset)
{
	uint32_t low = 0, high = p->count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (p->frame[middle].begin <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int hold(struct packed *p, int fd, uint32_t index)
{
	const struct packed_frame *frame = &p->frame[index];
	size_t got;

	if (p->held == index)
		return 0;
	p->held = NONE;
	if (!p->context)
		p->context = ZSTD_createDCtx();
	if (!p->context || !ARRAY_FIT(p->source, frame->packed, p->source_room) ||
	    !ARRAY_FIT(p->bytes, frame->size + 1, p->bytes_room)) {
		errno = ENOMEM;
		return -1;
	}
	if (!read_at(fd, p->source, frame->packed, frame->at)) {
		errno = EIO;
		return -1;
	}
	got = ZSTD_decompressDCtx(p->context, p->bytes, frame->size, p->source, frame->packed);
	if (ZSTD_isError(got) || got != frame->size) {
		errno = EBADMSG;
		return -1;
	}
	p->held = index;
	return 0;
}

ssize_t packed_read(struct packed *p, int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size && offset < p->size) {
		uint32_t index = frame_at(p, offset);
		const struct packed_frame *frame = &p->frame[index];
		uint64_t from = offset - frame->begin;
		size_t part = frame->size - from < size - done ? (size_t)(frame->size - from)
							       : size - done;

		if (hold(p, fd, index) < 0)
			return done ? (ssize_t)done : -1;
		memcpy((uint8_t *)to + done, p->bytes + from, part);
		done += part;
		offset += part;
	}
	return (ssize_t)done;
}

bool packed_stat(const char *path, uint64_t *size)
{
	struct packed *packed;
	struct stat st;
	int fd;

	if (!packed_is_name(path)) {
		bool found = !stat(path, &st) && S_ISREG(st.st_mode);

		*size = found ? (uint64_t)st.st_size : 0;
		return found;
	}
	fd = file_open(path);
	*size = 0;
	if (fd < 0)
		return false;
	if (packed_open(fd, &packed, NULL) == 0) {
		*size = packed_size(packed);
		packed_close(packed);
	}
	close(fd);
	return true;
}
