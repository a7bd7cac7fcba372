/* SPDX-License-Identifier: Apache-2.0 */
/* See info_collect.h. */
#include "cli/verbs/info/info_collect.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct info_chunk {
	uint32_t number;
	char *path;
	int64_t begin_ns, end_ns;	/* epoch */
	uint64_t bytes, disk;
};

/* The directory of a chunk: up to the first name after "archives/". */
static char *path_of(const char *trace)
{
	const char *at = NULL;

	for (const char *next = strstr(trace, "archives/"); next; next = strstr(next + 1, "archives/"))
		at = next;
	if (!at)
		at = trace;		/* a path relative to archives */
	else
		at += strlen("archives/");
	return strndup(trace, (size_t)(at - trace) + strcspn(at, "/"));
}

static struct info_chunk *find_chunk(struct info_chunk *list, unsigned *count,
				     const struct kymo_ctf_trace_info *trace)
{
	char *path = path_of(trace->path);
	struct info_chunk *chunk = list;

	while (chunk < list + *count &&
	       (chunk->number != trace->chunk || !path || strcmp(chunk->path, path) != 0))
		chunk++;
	if (chunk < list + *count || !path) {
		free(path);
		return path ? chunk : NULL;
	}
	(*count)++;
	*chunk = (struct info_chunk) { .number = trace->chunk, .path = path };
	return chunk;
}

static void add_stream(struct info_chunk *chunk, const struct kymo_ctf_stream_info *stream,
		       int64_t offset)
{
	int64_t begin = (int64_t)stream->begin_ns + offset, end = (int64_t)stream->end_ns + offset;
	struct stat st;

	if (!chunk->bytes || begin < chunk->begin_ns)
		chunk->begin_ns = begin;
	if (!chunk->bytes || end > chunk->end_ns)
		chunk->end_ns = end;
	chunk->bytes += stream->bytes;
	if (!stat(stream->path, &st))
		chunk->disk += (uint64_t)st.st_size;
}

static void print_chunk(struct table *table, const struct info_chunk *chunk, int64_t begin_ns)
{
	table_u64(table, chunk->number);
	table_ns(table, chunk->begin_ns - begin_ns);
	table_ns(table, chunk->end_ns - begin_ns);
	table_bytes(table, chunk->bytes);
	table_bytes(table, chunk->disk);
	table_text(table, chunk->path);
}

unsigned info_chunks(struct table *table, struct kymo_ctf_reader *reader, int64_t begin_ns,
		     unsigned most)
{
	static const struct table_column columns[] = {
		{ "chunk", "#" }, { "begin_ns", "FROM" }, { "end_ns", "TO" }, { "bytes", "BYTES" },
		{ "disk_bytes", "ON DISK" }, { "path", "PATH" },
	};
	struct info_chunk *list = calloc(kymo_ctf_trace_count(reader) + 1, sizeof *list);
	unsigned count = 0;

	for (unsigned i = 0; list && i < kymo_ctf_stream_count(reader); i++) {
		const struct kymo_ctf_stream_info *stream = kymo_ctf_stream(reader, i);
		const struct kymo_ctf_trace_info *trace = kymo_ctf_trace(reader, stream->trace);
		struct info_chunk *chunk = trace->chunk ? find_chunk(list, &count, trace) : NULL;

		if (chunk)
			add_stream(chunk, stream, trace->clock_offset_ns);
	}
	if (count)
		table_section(table, "chunks", begin_ns ? "Chunks; times since the trace's beginning" : "Chunks",
			      columns, COUNT_OF(columns));
	for (unsigned i = 0; i < count; i++) {
		if (i < most)
			print_chunk(table, &list[i], begin_ns);
		free(list[i].path);
	}
	free(list);
	return count;
}
