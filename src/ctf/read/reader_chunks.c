/* SPDX-License-Identifier: Apache-2.0 */
/* The chunk of a recording that a trace is in, known from its path; and the present name of a chunk
 * that was renamed. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf/format/packed.h"
#include "ctf/read/reader.h"
#include "ctf/read/stream_impl.h"

#define ARCHIVES "/archives/"
#define REPEATS "_known"

/* "20261120T202357+0000-20261120T202358+0000-7": digits behind the last dash. 0: it is no chunk's
 * name. */
static unsigned long number_of(const char *name, size_t length)
{
	size_t at = length;
	unsigned long number = 0;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	if (!at || name[at - 1] != '-' || length - at > 9 || name[0] < '0' || name[0] > '9')
		return 0;
	for (; at < length; at++)
		number = number * 10 + (unsigned long)(name[at] - '0');
	return number;
}

/* The name of the innermost chunk in @path; NULL: there is none. */
static const char *name_in(const char *path, unsigned long *number)
{
	const char *found = NULL;

	*number = 0;
	for (const char *at = strstr(path, ARCHIVES); at; at = strstr(at + 1, ARCHIVES)) {
		const char *name = at + strlen(ARCHIVES);
		unsigned long n = number_of(name, strcspn(name, "/"));

		if (!n)
			continue;
		found = name;
		*number = n;
	}
	return found;
}

int chunk_describe(struct chunk_of *chunk, const char *path)
{
	char *whole = realpath(path, NULL);
	unsigned long number = 0;
	const char *name = whole ? name_in(whole, &number) : NULL;

	*chunk = (struct chunk_of) { .number = number };
	if (name) {
		chunk->archives = strndup(whole, (size_t)(name - whole));
		chunk->below = strdup(name + strcspn(name, "/"));
	}
	free(whole);
	return name && (!chunk->archives || !chunk->below) ? -1 : 0;
}

void chunk_free(struct chunk_of *chunk)
{
	free(chunk->archives);
	free(chunk->below);
}

bool chunk_is_same(const struct chunk_of *a, const struct chunk_of *b)
{
	return a->number && a->number == b->number && !strcmp(a->archives, b->archives) &&
	       !strcmp(a->below, b->below);
}

bool chunk_goes_on(const struct kymo_ctf_reader *reader, const struct chunk_of *chunk)
{
	/* It is one of the last that were found, nearly always. */
	for (unsigned i = reader->trace_count; chunk->number > 1 && i-- > 0;) {
		const struct chunk_of *other = &reader->trace[i]->chunk;

		if (other->number + 1 == chunk->number && other->archives &&
		    !strcmp(other->archives, chunk->archives))
			return true;
	}
	return false;
}

uint32_t reader_trace_before(const struct kymo_ctf_reader *reader, uint32_t index)
{
	const struct chunk_of *chunk = &reader->trace[index]->chunk;

	for (uint32_t i = index; chunk->number > 1 && i-- > 0;) {
		const struct chunk_of *other = &reader->trace[i]->chunk;

		if (other->number + 1 == chunk->number &&
		    !strcmp(other->archives, chunk->archives) &&
		    !strcmp(other->below, chunk->below))
			return i;
	}
	return READER_NO_TRACE;
}

/* The highest chunk number below that of @chunk in the same recording; 0: @chunk is the first. */
static unsigned long number_before(const struct kymo_ctf_reader *reader,
				   const struct chunk_of *chunk)
{
	unsigned long before = 0;

	for (unsigned i = 0; i < reader->trace_count; i++) {
		const struct chunk_of *other = &reader->trace[i]->chunk;

		if (other->number > before && other->number < chunk->number &&
		    !strcmp(other->archives, chunk->archives))
			before = other->number;
	}
	return before;
}

static bool is_first_of_chunk(const struct kymo_ctf_reader *reader, unsigned index)
{
	const struct chunk_of *chunk = &reader->trace[index]->chunk;

	for (unsigned i = 0; i < index; i++) {
		const struct chunk_of *other = &reader->trace[i]->chunk;

		if (other->number == chunk->number && !strcmp(other->archives, chunk->archives))
			return false;
	}
	return true;
}

/* The number of the last chunk before that of trace @index, if one in between does not exist;
 * otherwise 0. */
static unsigned long number_before_gap(const struct kymo_ctf_reader *reader, unsigned index)
{
	const struct chunk_of *chunk = &reader->trace[index]->chunk;

	if (!chunk->number || chunk_goes_on(reader, chunk) || !is_first_of_chunk(reader, index))
		return 0;
	return number_before(reader, chunk);
}

bool chunk_is_missing(const struct kymo_ctf_reader *reader, unsigned first)
{
	for (unsigned i = first; i < reader->trace_count; i++)
		if (number_before_gap(reader, i))
			return true;
	return false;
}

void chunk_warn_of_missing(struct kymo_ctf_reader *reader, unsigned first)
{
	for (unsigned i = first; i < reader->trace_count; i++) {
		const struct chunk_of *chunk = &reader->trace[i]->chunk;
		const unsigned long before = number_before_gap(reader, i);

		if (before && before + 2 == chunk->number)
			reader_warn(reader, "%s: chunk %lu does not exist; its events are missing", chunk->archives, before + 1);
		else if (before)
			reader_warn(reader, "%s: chunks %lu to %lu do not exist; their events are missing", chunk->archives,
				    before + 1, chunk->number - 1);
	}
}

bool chunk_repeats(const char *name)
{
	size_t length = packed_plain_length(name), end = strlen(REPEATS);

	return length > end && !memcmp(name + length - end, REPEATS, end);
}

char *chunk_moved(const char *path)
{
	unsigned long number;
	const char *name = name_in(path, &number);
	char *directory = name ? strndup(path, (size_t)(name - path)) : NULL, *moved = NULL;
	DIR *dir = directory ? opendir(directory) : NULL;
	const struct dirent *entry;

	while (dir && !moved && (entry = readdir(dir)))
		if (number_of(entry->d_name, strlen(entry->d_name)) == number &&
		    asprintf(&moved, "%s%s%s", directory, entry->d_name, name + strcspn(name, "/")) < 0)
			moved = NULL;
	if (dir)
		closedir(dir);
	free(directory);
	if (moved && !strcmp(moved, path)) {
		free(moved);
		return NULL;
	}
	return moved;
}

static char *packed_name(const char *path)
{
	char *packed;

	if (packed_is_name(path) || asprintf(&packed, "%s" PACKED_SUFFIX, path) < 0)
		return NULL;
	if (!access(packed, F_OK))
		return packed;
	free(packed);
	return NULL;
}

char *chunk_file_now(const char *path)
{
	char *now = packed_name(path), *moved;

	if (now)
		return now;
	moved = chunk_moved(path);
	if (!moved || !access(moved, F_OK))
		return moved;
	now = packed_name(moved);
	free(moved);
	return now;
}

/* ---- copies ---- */

/*
 * The same trace twice, in two directories that are opened together: a backup beside the trace, or
 * a copy that is taken for that of another host. Each message would be published and received
 * twice, and half of them would seem to be lost.
 *
 * Chunks of a rotated trace have its UUID, too, and other packets. A trace is a copy if each of its
 * streams begins with the packet that a stream of the other one begins with, at the same time.
 */
static bool may_be_same(const struct ctf_trace *x, const struct ctf_trace *y)
{
	return x->chunk.number == y->chunk.number &&
	       x->info.clock_offset_ns == y->info.clock_offset_ns && x->metadata && y->metadata &&
	       x->metadata->has_uuid && y->metadata->has_uuid &&
	       !memcmp(x->metadata->uuid, y->metadata->uuid, sizeof x->metadata->uuid);
}

static bool begins_alike(const struct ctf_stream *x, const struct ctf_stream *y)
{
	const struct packet *a = &x->packet, *b = &y->packet;

	return x->class && y->class && x->class->id == y->class->id && a->has == b->has &&
	       a->instance == b->instance && a->begin == b->begin && a->end == b->end &&
	       a->seq == b->seq && a->size == b->size;
}

/* The first stream of trace @index: streams are in the order of their traces. */
static unsigned streams_of(const struct kymo_ctf_reader *reader, uint32_t index)
{
	unsigned low = 0, high = reader->stream_count;

	while (low < high) {
		const unsigned middle = (low + high) / 2;

		if (reader->stream[middle]->info.trace < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_in(const struct kymo_ctf_reader *reader, const struct ctf_stream *s, uint32_t index)
{
	unsigned i = streams_of(reader, index);

	for (; i < reader->stream_count && reader->stream[i]->info.trace == index; i++)
		if (begins_alike(s, reader->stream[i]))
			return true;
	return false;
}

const struct ctf_trace *trace_copied(const struct kymo_ctf_reader *reader,
				     const struct ctf_trace *trace, unsigned first)
{
	if (reader->growing || reader->refreshing || first == reader->stream_count)
		return NULL;
	for (unsigned i = 0; i < trace->index; i++) {
		const struct ctf_trace *other = reader->trace[i];
		unsigned at = first;

		if (!may_be_same(trace, other))
			continue;
		while (at < reader->stream_count && is_in(reader, reader->stream[at], i))
			at++;
		if (at == reader->stream_count)
			return other;
	}
	return NULL;
}
