/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded piece of a stream file in memory, refilled by pread(). Large enough to make the
 * system call cheap, small enough to stay in the L2 cache; grows only when one event does not
 * fit. Files are closed between reads when there are very many streams, or few descriptors.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/io.h"
#include "ctf/read/stream_impl.h"

#define WINDOW_MAX ((size_t)256 << 10)	/* bytes, of one stream */
#define WINDOW_MIN ((size_t)8 << 10)
#define WINDOW_LEAST ((size_t)512)	/* of a small file, or of very many streams */
/* bytes, over all streams as far as WINDOW_MIN allows: L2 */
#define WINDOW_TOTAL ((size_t)2 << 20)
#define WINDOW_EVENT_MAX ((uint64_t)1 << 30)	/* no event or packet header may be longer */
#define OPEN_FILES_MAX 128

static size_t usual_size(const struct ctf_stream *s)
{
	unsigned streams = s->reader->stream_count ? s->reader->stream_count : 1;
	size_t share = WINDOW_TOTAL / streams, least = WINDOW_LEAST;
	const uint64_t left = s->reader->held_most - s->reader->held;

	if (s->window_size)
		return s->window_size;
	if (s->quiet || share < WINDOW_MIN)
		share = WINDOW_MIN;	/* only packet headers are looked at, or many streams */
	if (share > WINDOW_MAX)
		share = WINDOW_MAX;
	/* All share what the files leave of the memory of the reader: reader_state.c. */
	if (share > left / streams)
		share = left / streams > WINDOW_LEAST ? left / streams : WINDOW_LEAST;
	/* A small file needs no more than it has. */
	while (least < share && least < s->file[s->file_index].size)
		least *= 2;
	return least < share ? least : share;
}

static int failed(struct ctf_stream *s, const char *what, const char *why)
{
	s->window.failed = true;
	reader_warn(s->reader, "%s: %s: %s", s->file[s->file_index].path, what, why);
	return -1;
}

void window_close(struct ctf_stream *s)
{
	if (s->window.fd >= 0) {
		close(s->window.fd);
		__atomic_fetch_sub(&s->reader->open_files, 1, __ATOMIC_RELAXED);
	}
	packed_close(s->window.packed);
	s->window.packed = NULL;
	s->window.fd = -1;
	s->window.used = 0;
	s->window.failed = false;
}

void window_free(struct ctf_stream *s)
{
	window_close(s);
	free(s->window.bytes);
	s->window.bytes = NULL;
	s->window.capacity = 0;
}

/* A chunk may have got its final name meanwhile, and the file may have been compressed. */
static int open_now(const char *path, bool *is_packed)
{
	char *now = chunk_file_now(path);
	int fd = now ? file_open(now) : -ENOENT;

	*is_packed = now && packed_is_name(now);
	free(now);
	return fd;
}

static int window_fd(struct ctf_stream *s)
{
	int fd;

	if (s->window.fd < 0) {
		const char *path = s->file[s->file_index].path;

		fd = file_open(path);
		s->window.is_packed = packed_is_name(path);
		if (fd == -ENOENT)
			fd = open_now(path, &s->window.is_packed);
		if (fd < 0)
			return failed(s, "cannot be opened", file_why(fd));
		s->window.fd = fd;
		__atomic_fetch_add(&s->reader->open_files, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

/* Return: 0; -1: the file cannot be decompressed; a warning says why. */
static int window_unpack(struct ctf_stream *s)
{
	const char *path = s->file[s->file_index].path;
	struct window *w = &s->window;
	struct kymo_err err;

	if (!w->is_packed || w->packed)
		return 0;
	if (packed_open(w->fd, &w->packed, &err)) {
		w->failed = true;
		reader_warn(s->reader, "%s: %s", path, err.text);
		return -1;
	}
	if (packed_is_cut(w->packed))
		reader_warn(s->reader, "%s: the compressed file is cut off: its first %llu bytes can be "
			    "read, the rest is left out", path, (unsigned long long)packed_size(w->packed));
	return 0;
}

static ssize_t window_read(struct window *w, void *to, size_t size, uint64_t offset)
{
	return w->packed ? packed_read(w->packed, w->fd, to, size, offset) :
			   pread(w->fd, to, size, (off_t)offset);
}

static int fill(struct ctf_stream *s, size_t want)
{
	struct window *w = &s->window;

	if (window_fd(s) || window_unpack(s))
		return -1;
	while (w->used < want) {
		ssize_t n = window_read(w, w->bytes + w->used, want - w->used, w->offset + w->used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(
				s, errno == EBADMSG ? "cannot be decompressed" : "cannot be read",
				strerror(errno));
		if (!n)
			break;
		w->used += (size_t)n;
	}
	if (__atomic_load_n(&s->reader->open_files, __ATOMIC_RELAXED) > OPEN_FILES_MAX ||
	    fds_exceed(w->fd, 4)) {
		close(w->fd);
		w->fd = -1;
		__atomic_fetch_sub(&s->reader->open_files, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static int make_room(struct ctf_stream *s, uint64_t size)
{
	size_t want = usual_size(s);

	while (want < size)
		want *= 2;
	return ARRAY_FIT(s->window.bytes, want, s->window.capacity)
		       ? 0
		       : failed(s, "cannot be held in memory", strerror(errno));
}

/* How much to read at once. A copy of a stream drops what is behind the packet, so it reads no
 * further. */
static uint64_t read_ahead(const struct ctf_stream *s, uint64_t offset, uint64_t size)
{
	uint64_t want = s->window.capacity, packet = s->packet_bytes;

	if (s->window_size && packet)
		want = s->packet_offset + packet - offset;
	else if (s->window_size && s->has_before)
		want = s->before.size / 8;	/* not known yet; the next is like that before */
	if (want < size)
		want = size;
	return want < s->window.capacity ? want : s->window.capacity;
}

int64_t window_need(struct ctf_stream *s, uint64_t offset, uint64_t size)
{
	struct window *w = &s->window;
	uint64_t file = s->file[s->file_index].size;
	uint64_t have, left;

	if (offset >= file)
		return 0;
	left = file - offset;
	if (size > left)
		size = left;
	if (size > WINDOW_EVENT_MAX)
		size = WINDOW_EVENT_MAX;
	if (offset < w->offset || offset - w->offset > w->used) {
		w->used = 0;
		w->offset = offset;
	}
	have = w->used - (offset - w->offset);
	if (have >= size)
		return (int64_t)size;
	if (make_room(s, size))
		return -1;
	/* Move what is needed to the front and fill up behind it. */
	memmove(w->bytes, w->bytes + (offset - w->offset), have);
	w->used = have;
	w->offset = offset;
	size = size < left ? size : left;
	have = read_ahead(s, offset, size);
	if (fill(s, have < left ? (size_t)have : (size_t)left))
		return -1;
	return (int64_t)(w->used < size ? w->used : size);
}
