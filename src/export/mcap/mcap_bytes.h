/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of records: little endian, texts with their length before them.
 *
 * Context of all functions: not thread-safe; allocate; do not block. Without memory they set
 * `failed`, and the caller looks at it once at the end.
 */
#ifndef KYMO_EXPORT_MCAP_BYTES_H
#define KYMO_EXPORT_MCAP_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_bytes {
	uint8_t *data;
	size_t size, room;
	bool failed; /* no memory: something is missing */
};

void record_put(struct record_bytes *bytes, const void *data, size_t size);
void record_u8(struct record_bytes *bytes, uint8_t value);
void record_u16(struct record_bytes *bytes, uint16_t value);
void record_u32(struct record_bytes *bytes, uint32_t value);
void record_u64(struct record_bytes *bytes, uint64_t value);
void record_text(struct record_bytes *bytes, const char *text);

/** record_open() - begin a record of the kind @opcode. Return: what record_close() needs. */
size_t record_open(struct record_bytes *bytes, uint8_t opcode);
void record_close(struct record_bytes *bytes, size_t opened);

/** record_open_map() - begin a map or an array, which has its size in bytes before it. */
size_t record_open_map(struct record_bytes *bytes);
void record_close_map(struct record_bytes *bytes, size_t opened);

#endif
