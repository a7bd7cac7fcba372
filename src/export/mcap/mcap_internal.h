/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is being written: mcap_file.c puts the data, mcap_summary.c the summary. */
#ifndef KYMO_EXPORT_MCAP_INTERNAL_H
#define KYMO_EXPORT_MCAP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "export/mcap/mcap_bytes.h"
#include "export/mcap/mcap_file.h"

enum mcap_opcode {
	MCAP_HEADER = 1, MCAP_FOOTER, MCAP_SCHEMA, MCAP_CHANNEL, MCAP_MESSAGE, MCAP_CHUNK,
	MCAP_MESSAGE_INDEX, MCAP_CHUNK_INDEX, MCAP_STATISTICS = 11, MCAP_METADATA,
	MCAP_METADATA_INDEX, MCAP_SUMMARY_OFFSET, MCAP_DATA_END
};

struct mcap_range {
	int64_t begin_ns, end_ns; /* end < begin: empty */
};
#define MCAP_NO_RANGE ((struct mcap_range){ INT64_MAX, -1 })

struct mcap_file_channel {
	uint64_t messages;
	struct record_bytes index; /* of its messages in the present chunk */
};

struct mcap {
	int fd, error; /* errno of the first failure */
	bool compress;
	uint64_t written;
	uint32_t crc; /* of what was written since the data or the summary began */
	struct record_bytes chunk, packed, out; /* out: what is put together before it is written */
	struct mcap_range in_chunk, all;
	uint64_t messages;
	struct record_bytes schema_records, channel_records, chunk_records,
		metadata_records; /* for the summary */
	unsigned schemas, chunks, metadata;
	struct mcap_file_channel *channel;
	unsigned channels, channels_room;
};

#define MCAP_MAGIC_SIZE 8
extern const uint8_t mcap_magic[MCAP_MAGIC_SIZE];

/* Writes them; file->crc goes on. */
void mcap_put_out(struct mcap *file, const void *data, size_t size);
/* The same for file->out, which is empty then. */
void mcap_flush_out(struct mcap *file);
void mcap_put_range(struct record_bytes *bytes, const struct mcap_range *range);

/* The summary, the footer, and the magic at the end. */
void mcap_put_summary(struct mcap *file);

#endif
