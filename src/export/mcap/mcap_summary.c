/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary at the end of a file: schemas, channels, statistics, and where chunks and metadata
 * are, in groups, with offsets of the groups; then the footer. A reader begins here.
 */
#include <stdlib.h>

#include "export/mcap/mcap_internal.h"

static void put_statistics(const struct mcap *file, struct record_bytes *bytes)
{
	const size_t record = record_open(bytes, MCAP_STATISTICS);
	size_t map;

	record_u64(bytes, file->messages);
	record_u16(bytes, (uint16_t)file->schemas);
	record_u32(bytes, file->channels);
	record_u32(bytes, 0); /* attachments */
	record_u32(bytes, file->metadata);
	record_u32(bytes, file->chunks);
	mcap_put_range(bytes, &file->all);
	map = record_open_map(bytes);
	for (unsigned i = 0; i < file->channels; i++) {
		record_u16(bytes, (uint16_t)(i + 1));
		record_u64(bytes, file->channel[i].messages);
	}
	record_close_map(bytes, map);
	record_close(bytes, record);
}

/* A group of the summary, and in @offsets where it is. */
static void put_group(struct mcap *file, struct record_bytes *offsets, enum mcap_opcode opcode,
		      const struct record_bytes *records)
{
	size_t record;

	file->out.failed |= records->failed;
	if (!records->size)
		return;
	record = record_open(offsets, MCAP_SUMMARY_OFFSET);
	record_u8(offsets, (uint8_t)opcode);
	record_u64(offsets, file->written + file->out.size);
	record_u64(offsets, records->size);
	record_close(offsets, record);
	record_put(&file->out, records->data, records->size);
}

void mcap_put_summary(struct mcap *file)
{
	struct record_bytes offsets = { 0 }, statistics = { 0 }, crc = { 0 };
	const uint64_t summary = file->written;
	uint64_t offset_start;
	size_t record;

	file->crc = 0;
	put_statistics(file, &statistics);
	put_group(file, &offsets, MCAP_SCHEMA, &file->schema_records);
	put_group(file, &offsets, MCAP_CHANNEL, &file->channel_records);
	put_group(file, &offsets, MCAP_STATISTICS, &statistics);
	put_group(file, &offsets, MCAP_CHUNK_INDEX, &file->chunk_records);
	put_group(file, &offsets, MCAP_METADATA_INDEX, &file->metadata_records);
	file->out.failed |= offsets.failed;
	offset_start = file->written + file->out.size;
	record_put(&file->out, offsets.data, offsets.size);
	record = record_open(&file->out, MCAP_FOOTER);
	record_u64(&file->out, summary);
	record_u64(&file->out, offset_start);
	record_u32(&file->out, 0);
	record_close(&file->out, record);
	file->out.size -= file->out.failed ? 0 : 4; /* the sum of all before it */
	mcap_flush_out(file);
	record_u32(&crc, file->crc);
	record_put(&crc, mcap_magic, sizeof(mcap_magic));
	file->out.failed |= crc.failed;
	mcap_put_out(file, crc.data, crc.size);
	free(crc.data);
	free(offsets.data);
	free(statistics.data);
}
