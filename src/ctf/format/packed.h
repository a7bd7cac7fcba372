/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed stream files, NAME.zst: independent zstd frames one after the other, and at the end a
 * table of their sizes (zstd's "seekable format"), so that any byte is found by reading one frame.
 *
 *   | frame | frame | ... | table: skippable frame with (packed size u32, size u32) each, 9 bytes of footer |
 *
 * Any zstd can unpack such a file as a whole. Nothing in it is trusted. A file without its end is
 * read up to the last whole frame.
 */
#ifndef KYMO_CTF_PACKED_H
#define KYMO_CTF_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define PACKED_SUFFIX ".zst"
#define PACKED_FRAME_MAX ((size_t)8 << 20)	/* bytes of a frame when unpacked */
#define PACKED_FRAMES_MAX (1u << 22)

struct packed;

/** packed_is_name() - whether @name is that of a packed file. */
bool packed_is_name(const char *name);

/** packed_plain_length() - bytes of @name without the suffix. */
size_t packed_plain_length(const char *name);

/**
 * packed_open() - find the frames of @fd, which stays the caller's
 * Return: 0 and *@packed; -1 with @err: not such a file, frames are too large, out of memory.
 * Context: allocates, blocks.
 */
int packed_open(int fd, struct packed **packed, struct kymo_err *err);

/** packed_size() - bytes, unpacked. */
uint64_t packed_size(const struct packed *packed);

/** packed_is_cut() - whether the end is missing: only whole frames up to there are read. */
bool packed_is_cut(const struct packed *packed);

/**
 * packed_read() - as pread(), of the unpacked content
 *
 * Unpacks a frame at a time, and keeps the last one: memory is at most twice PACKED_FRAME_MAX, and
 * depends on the largest frame read so far.
 * Return: bytes, fewer at the end; -1 with errno: EBADMSG: a frame does not unpack to what it says;
 * EIO; ENOMEM. Context: one thread for each struct packed; allocates, blocks.
 */
ssize_t packed_read(struct packed *packed, int fd, void *to, size_t size, uint64_t offset);

void packed_close(struct packed *packed);

/** packed_stat() - size of stream file @path: unpacked, if it is packed. Return: false: it cannot
 * be read. Context: allocates, blocks. */
bool packed_stat(const char *path, uint64_t *size);

/**
 * packed_file() - replace file @name in directory @directory by a packed one
 * @frame: bytes of a frame, as far as packets allow
 * @stopped: stop when it becomes true; atomic
 *
 * Whenever and however it ends, one of the two files exists and is whole; for a moment both do. A
 * frame ends where a packet ends, if the stream has an index. A file that would not become smaller
 * stays as it is.
 * Return: 0; -errno. Context: allocates, blocks.
 */
int packed_file(const char *directory, const char *name, size_t frame, const bool *stopped);

#endif
