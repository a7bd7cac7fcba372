/* SPDX-License-Identifier: Apache-2.0 */
/* What pack.c, which writes packed files, and packed.c, which reads them, share. */
#ifndef KYMO_CTF_PACKED_INTERNAL_H
#define KYMO_CTF_PACKED_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/* The table of zstd's seekable format, little endian. */
#define TABLE_MAGIC	0x184D2A5Eu	/* of the skippable frame that it is */
#define TABLE_FOOT_MAGIC 0x8F92EAB1u
#define TABLE_HEAD	8u		/* magic, bytes that follow */
#define TABLE_FOOT	9u		/* entries u32, descriptor u8, magic u32 */
#define TABLE_ENTRY_MAX	12u
#define TABLE_CHECKSUMS	0x80u		/* descriptor: entries have one more u32 */
#define TABLE_RESERVED	0x7cu		/* descriptor: bits that must be 0 */

/** packed_read_at() - all of @size bytes at offset @at. Return: 0; -errno; -EIO: the file is
 * shorter. Context: any thread, for it does not move the file's offset; blocks. */
int packed_read_at(int fd, void *to, size_t size, uint64_t at);

#endif
