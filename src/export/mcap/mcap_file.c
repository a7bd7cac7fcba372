/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is: magic, header, chunks, each with an index of its messages behind it, the end of the
 * data; then the summary (mcap_summary.c); footer, magic. Schemas and
 * channels stand in the chunk where they are first used, and in the summary.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/array.h"
#include "base/io.h"
#include "export/mcap/mcap_internal.h"

#define CHUNK_BYTES (1u << 20)
#define ZSTD_LEVEL 3

const uint8_t mcap_magic[MCAP_MAGIC_SIZE] = { 0x89, 'M', 'C', 'A', 'P', 0x30, '\r', '\n' };

void mcap_put_out(struct mcap *file, const void *data, size_t size)
{
	file->crc = (uint32_t)crc32_z(file->crc, data, size);
	file->written += size;
	if (!file->error)
		file->error = -write_all(file->fd, data, size);
}

void mcap_flush_out(struct mcap *file)
{
	if (file->out.failed)
		file->error = ENOMEM;
	mcap_put_out(file, file->out.data, file->out.size);
	file->out.size = 0;
}

struct mcap *mcap_begin(int fd, const char *library, bool compress, struct kymo_err *err)
{
	struct mcap *file = calloc(1, sizeof(*file));
	size_t record;

	if (!file) {
		(void)err_no_memory(err);
		return NULL;
	}
	file->fd = fd;
	file->compress = compress;
	file->all = file->in_chunk = MCAP_NO_RANGE;
	record_put(&file->out, mcap_magic, sizeof(mcap_magic));
	record = record_open(&file->out, MCAP_HEADER);
	record_text(&file->out, "");
	record_text(&file->out, library);
	record_close(&file->out, record);
	mcap_flush_out(file);
	return file;
}

/* ---- what messages are of ---- */

static void put_schema(struct record_bytes *bytes, unsigned number, const char *name,
		       const char *text)
{
	const size_t record = record_open(bytes, MCAP_SCHEMA);

	record_u16(bytes, (uint16_t)number);
	record_text(bytes, name);
	record_text(bytes, "jsonschema");
	record_text(bytes, text);
	record_close(bytes, record);
}

unsigned mcap_schema(struct mcap *file, const char *name, const char *text)
{
	put_schema(&file->chunk, ++file->schemas, name, text);
	put_schema(&file->schema_records, file->schemas, name, text);
	return file->schemas;
}

static void put_channel(struct record_bytes *bytes, unsigned number, unsigned schema,
			const char *topic, const char *name)
{
	const size_t record = record_open(bytes, MCAP_CHANNEL);
	size_t map;

	record_u16(bytes, (uint16_t)number);
	record_u16(bytes, (uint16_t)schema);
	record_text(bytes, topic);
	record_text(bytes, "json");
	map = record_open_map(bytes);
	record_text(bytes, "name");
	record_text(bytes, name);
	record_close_map(bytes, map);
	record_close(bytes, record);
}

unsigned mcap_channel(struct mcap *file, unsigned schema, const char *topic, const char *name)
{
	if (file->channels == MCAP_CHANNELS_MAX)
		return 0;
	if (!ARRAY_ROOM(file->channel, file->channels, file->channels_room)) {
		file->error = ENOMEM;
		return 0;
	}
	file->channel[file->channels++] = (struct mcap_file_channel){ 0 };
	put_channel(&file->chunk, file->channels, schema, topic, name);
	put_channel(&file->channel_records, file->channels, schema, topic, name);
	return file->channels;
}

/* ---- chunks ---- */

static void extend(struct mcap_range *range, int64_t ns)
{
	if (ns < range->begin_ns)
		range->begin_ns = ns;
	if (ns > range->end_ns)
		range->end_ns = ns;
}

void mcap_put_range(struct record_bytes *bytes, const struct mcap_range *range)
{
	const bool empty = range->end_ns < range->begin_ns;

	record_u64(bytes, empty ? 0 : (uint64_t)range->begin_ns);
	record_u64(bytes, empty ? 0 : (uint64_t)range->end_ns);
}

/* The records of the present chunk, packed if that is wanted. Return: NULL: no memory. */
static const struct record_bytes *pack(struct mcap *file)
{
	const size_t bound = ZSTD_compressBound(file->chunk.size);
	size_t size;

	if (!file->compress)
		return &file->chunk;
	if (file->packed.room < bound) {
		free(file->packed.data);
		file->packed = (struct record_bytes){ .data = malloc(bound), .room = bound };
		if (!file->packed.data) {
			file->packed.room = 0;
			return NULL;
		}
	}
	size = ZSTD_compress(file->packed.data, bound, file->chunk.data, file->chunk.size,
			     ZSTD_LEVEL);
	if (ZSTD_isError(size))
		return NULL;
	file->packed.size = size;
	return &file->packed;
}

/* The indexes of the present chunk's messages. @offsets: gets where that of each channel is. */
static void put_indexes(struct mcap *file, struct record_bytes *offsets)
{
	for (unsigned i = 0; i < file->channels; i++) {
		struct record_bytes *index = &file->channel[i].index;
		size_t record, map;

		if (!index->size)
			continue;
		record_u16(offsets, (uint16_t)(i + 1));
		record_u64(offsets, file->written + file->out.size);
		record = record_open(&file->out, MCAP_MESSAGE_INDEX);
		record_u16(&file->out, (uint16_t)(i + 1));
		map = record_open_map(&file->out);
		record_put(&file->out, index->data, index->size);
		record_close_map(&file->out, map);
		record_close(&file->out, record);
		file->out.failed |= index->failed;
		index->size = 0;
	}
}

static void put_chunk(struct mcap *file, const struct record_bytes *packed)
{
	const char *compression = file->compress ? "zstd" : "";
	const uint32_t crc = (uint32_t)crc32_z(0, file->chunk.data, file->chunk.size);
	const uint64_t begin = file->written;
	struct record_bytes offsets = { 0 };
	size_t record = record_open(&file->out, MCAP_CHUNK);
	uint64_t chunk_size;

	mcap_put_range(&file->out, &file->in_chunk);
	record_u64(&file->out, file->chunk.size);
	record_u32(&file->out, crc);
	record_text(&file->out, compression);
	record_u64(&file->out, packed->size);
	record_put(&file->out, packed->data, packed->size);
	record_close(&file->out, record);
	chunk_size = file->out.size;
	put_indexes(file, &offsets);
	record = record_open(&file->chunk_records, MCAP_CHUNK_INDEX);
	mcap_put_range(&file->chunk_records, &file->in_chunk);
	record_u64(&file->chunk_records, begin);
	record_u64(&file->chunk_records, chunk_size);
	record_u32(&file->chunk_records, (uint32_t)offsets.size);
	record_put(&file->chunk_records, offsets.data, offsets.size);
	record_u64(&file->chunk_records, file->out.size - chunk_size);
	record_text(&file->chunk_records, compression);
	record_u64(&file->chunk_records, packed->size);
	record_u64(&file->chunk_records, file->chunk.size);
	record_close(&file->chunk_records, record);
	file->out.failed |= offsets.failed;
	free(offsets.data);
}

static void end_chunk(struct mcap *file)
{
	const struct record_bytes *packed;

	if (!file->chunk.size)
		return;
	packed = file->chunk.failed ? NULL : pack(file);
	if (!packed) {
		file->error = ENOMEM;
		return;
	}
	put_chunk(file, packed);
	mcap_flush_out(file);
	file->chunks++;
	file->chunk.size = 0;
	file->in_chunk = MCAP_NO_RANGE;
}

void mcap_message(struct mcap *file, unsigned channel, int64_t log_ns, int64_t publish_ns,
		  const char *data, size_t size)
{
	struct mcap_file_channel *of = &file->channel[channel - 1];
	size_t record;

	if (file->error)
		return;
	if (log_ns < 0)
		log_ns = 0;
	record_u64(&of->index, (uint64_t)log_ns);
	record_u64(&of->index, file->chunk.size);
	record = record_open(&file->chunk, MCAP_MESSAGE);
	record_u16(&file->chunk, (uint16_t)channel);
	record_u32(&file->chunk, (uint32_t)of->messages++);
	record_u64(&file->chunk, (uint64_t)log_ns);
	record_u64(&file->chunk, publish_ns < 0 ? 0 : (uint64_t)publish_ns);
	record_put(&file->chunk, data, size);
	record_close(&file->chunk, record);
	file->messages++;
	extend(&file->in_chunk, log_ns);
	extend(&file->all, log_ns);
	if (file->chunk.size >= CHUNK_BYTES)
		end_chunk(file);
}

uint64_t mcap_messages(const struct mcap *file)
{
	return file->messages;
}

uint64_t mcap_messages_of(const struct mcap *file, unsigned channel)
{
	return file->channel[channel - 1].messages;
}

void mcap_metadata(struct mcap *file, const char *name, const char *key, const char *value)
{
	uint64_t begin;
	size_t record, map;

	end_chunk(file);
	begin = file->written;
	record = record_open(&file->out, MCAP_METADATA);
	record_text(&file->out, name);
	map = record_open_map(&file->out);
	record_text(&file->out, key);
	record_text(&file->out, value);
	record_close_map(&file->out, map);
	record_close(&file->out, record);
	mcap_flush_out(file);
	record = record_open(&file->metadata_records, MCAP_METADATA_INDEX);
	record_u64(&file->metadata_records, begin);
	record_u64(&file->metadata_records, file->written - begin);
	record_text(&file->metadata_records, name);
	record_close(&file->metadata_records, record);
	file->metadata++;
}

/* ---- the end ---- */

static void put_data_end(struct mcap *file)
{
	const uint32_t crc = file->crc;
	const size_t record = record_open(&file->out, MCAP_DATA_END);

	record_u32(&file->out, crc);
	record_close(&file->out, record);
	mcap_flush_out(file);
}

static void free_all(struct mcap *file)
{
	struct record_bytes *const all[] = {
		&file->chunk,           &file->packed,          &file->out,
		&file->schema_records,  &file->channel_records, &file->chunk_records,
		&file->metadata_records
	};

	for (unsigned i = 0; i < COUNT_OF(all); i++)
		free(all[i]->data);
	for (unsigned i = 0; i < file->channels; i++)
		free(file->channel[i].index.data);
	free(file->channel);
	free(file);
}

int mcap_end(struct mcap *file, uint64_t *bytes, struct kymo_err *err)
{
	int error;

	*bytes = 0;
	if (!file)
		return 0;
	end_chunk(file);
	put_data_end(file);
	mcap_put_summary(file);
	if (file->out.failed && !file->error)
		file->error = ENOMEM;
	error = file->error;
	*bytes = file->written;
	free_all(file);
	if (error == ENOMEM)
		return err_no_memory(err);
	return error ? err_set(err, KYMO_EXIT_FAILED, "cannot write it: %s", strerror(error)) : 0;
}
