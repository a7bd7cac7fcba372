/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kymo_ctf_refresh(): what was added to a trace that another program is writing. The order matters:
 * first the sizes of files, then the metadata, then the streams up to these sizes. So the metadata
 * describes every packet that is read.
 *
 * A recording may have thousands of chunks, and a chunk must be shown before the next one is
 * complete. So a complete trace that was read costs one look at its directory.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "ctf/format/lock.h"
#include "ctf/read/stream_impl.h"

#define LISTS_MAX 3 /* of a directory, until no chunk is missing */
#define MOVES_MAX \
	4 /* of one chunk, while one refresh looks at it: it is renamed, and removed later */

/* ---- files ---- */

/* @path is out of date, but the user may have a pointer to it: free it with the reader. Return:
 * false: no memory. */
static bool retire(struct kymo_ctf_reader *reader, char *path)
{
	return ARRAY_ADD(reader->retired, reader->retired_count, reader->retired_capacity, path);
}

/* *@path is called @now; takes @now. */
static bool take_path(struct kymo_ctf_reader *reader, char **path, char *now)
{
	if (!now || !retire(reader, *path)) {
		free(now);
		return false;
	}
	*path = now;
	return true;
}

/* The file may have been compressed, and its chunk renamed. Return: false: no memory. */
static bool file_follow(struct kymo_ctf_reader *reader, struct stream_file *file)
{
	char *now = access(file->path, F_OK) ? chunk_file_now(file->path) : NULL;

	return !now || take_path(reader, &file->path, now);
}

static uint64_t *last_sizes(struct kymo_ctf_reader *reader, unsigned trace)
{
	uint64_t *size = calloc(reader->stream_count + 1, sizeof *size);

	for (unsigned i = 0; size && i < reader->stream_count; i++) {
		const struct ctf_stream *s = reader->stream[i];
		struct stream_file *last = &s->file[s->file_count - 1];

		if (s->info.trace != trace || last->complete)
			continue;
		if (!packed_stat(last->path, &size[i]) && file_follow(reader, last))
			(void)packed_stat(last->path, &size[i]);
		if (size[i] > last->size)
			size[i] = file_readable(last->path, last->size, size[i]);
	}
	return size;
}

static void take_sizes(struct kymo_ctf_reader *reader, unsigned count, const uint64_t *size,
		       bool *found)
{
	for (unsigned i = 0; i < count; i++) {
		struct ctf_stream *s = reader->stream[i];
		struct stream_file *last = &s->file[s->file_count - 1];

		if (size[i])
			last->complete = packed_is_name(last->path);
		if (size[i] <= last->size)
			continue;
		s->info.bytes += size[i] - last->size;
		last->size = size[i];
		last->end_known = s->scanned = false;
		*found = true;
	}
}

/* Whether the directory may hold files that it did not when it was read last. */
static bool directory_changed(struct ctf_trace *trace)
{
	struct timespec now;
	struct stat st;
	bool changed;

	if (stat(trace->path, &st))
		return false;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	changed = trace->list_again || st.st_mtim.tv_sec != trace->listed.tv_sec ||
		  st.st_mtim.tv_nsec != trace->listed.tv_nsec;
	/* Time stamps are coarse: a recent one may stay the same when the directory changes. */
	if (now.tv_sec - st.st_mtim.tv_sec > 1)
		trace->listed = st.st_mtim;
	return changed;
}

/* Whether the trace had a writer that is gone: then nothing is added to it. Of a trace without
 * index/sync nobody knows. */
static bool is_complete(const struct ctf_trace *trace)
{
	char *path = path_join(trace->path, CTF_SYNC_NAME);
	const int fd = path ? file_open(path) : -1;
	const bool complete = fd >= 0 && ctf_sync_alive(fd) == 0;

	if (fd >= 0)
		(void)close(fd);
	free(path);
	return complete;
}

/* Whether a settled trace is as it was: its chunk has the same name, and no file was compressed. */
static bool stays_settled(const struct ctf_trace *trace)
{
	struct stat st;

	return trace->settled && !stat(trace->path, &st) &&
	       st.st_mtim.tv_sec == trace->listed.tv_sec &&
	       st.st_mtim.tv_nsec == trace->listed.tv_nsec;
}

/* The chunk may have its final name now, and files may be compressed: use the new paths. Return:
 * false: no memory. */
static bool follow_chunk(struct kymo_ctf_reader *reader, struct ctf_trace *trace)
{
	char *moved =
		trace->chunk.number && access(trace->path, F_OK) ? chunk_moved(trace->path) : NULL;
	bool whole = true;

	if (moved) {
		whole = take_path(reader, &trace->metadata_path, path_join(moved, "metadata")) &&
			take_path(reader, &trace->path, moved);
		trace->info.path = trace->path;
	}
	for (unsigned i = 0; i < reader->stream_count && whole; i++) {
		struct ctf_stream *s = reader->stream[i];

		for (uint32_t k = 0; s->info.trace == trace->index && k < s->file_count; k++)
			whole = whole && file_follow(reader, &s->file[k]);
		s->info.path = s->file[0].path;
	}
	return whole;
}

/* A chunk that has another name than before, or is gone. */
static bool is_away(const struct ctf_trace *trace)
{
	return trace->chunk.number && access(trace->path, F_OK);
}

/* What a refresh finds of a trace. */
struct growth {
	uint64_t *size; /* of the last file of each stream */
	struct file_list list;
};

static void growth_free(struct growth *growth)
{
	files_free(&growth->list);
	free(growth->size);
}

/* Return: as reader_grow_metadata(). */
static int find_growth(struct kymo_ctf_reader *reader, struct ctf_trace *trace,
		       struct growth *growth, struct kymo_err *err)
{
	int result;

	*growth = (struct growth){
		.size = follow_chunk(reader, trace) ? last_sizes(reader, trace->index) : NULL,
	};
	if (!growth->size)
		return err_no_memory(err);
	result = directory_changed(trace) ? files_list(reader, trace, &growth->list, err) : 0;
	return result ? result : reader_grow_metadata(reader, trace, err);
}

/*
 * While the chunk is renamed, a part is found under the old name, and a part is not found at all:
 * without the last declarations, packets cannot be read, and without the last packets, what follows
 * is shown too early. So the refresh begins again until it finds all under one name.
 */
static int grow_trace(struct kymo_ctf_reader *reader, struct ctf_trace *trace, bool *found,
		      struct kymo_err *err)
{
	const unsigned streams = reader->stream_count;
	const bool complete = is_complete(trace);
	struct growth growth;
	unsigned moves = 0;
	int result;

	while ((result = find_growth(reader, trace, &growth, err)), is_away(trace)) {
		growth_free(&growth);
		trace->list_again = true;
		*found = *found || result > 0;
		if (++moves == MOVES_MAX)
			return 0; /* it was removed */
	}
	*found = *found || result > 0;
	if (result >= 0) {
		const uint64_t bytes = budget_of(growth.list.count, 0);

		take_sizes(reader, streams, growth.size, found);
		result = budget_check(reader, bytes, trace->path, err) ||
					 files_add_new(reader, trace, &growth.list, found, err)
				 ? -1
				 : 0;
		reader->held += result ? 0 : bytes;
	}
	if (result >= 0 && lost_look(reader, trace, found))
		result = err_no_memory(err);
	growth_free(&growth);
	trace->settled = complete && result >= 0;
	return result < 0 ? -1 : 0;
}

/* ---- the public functions ---- */

void kymo_ctf_growing(struct kymo_ctf_reader *r, bool growing)
{
	if (growing == r->growing)
		return;
	r->growing = growing;
	for (unsigned i = 0; i < r->stream_count && growing; i++) {
		struct stream_file *last = &r->stream[i]->file[r->stream[i]->file_count - 1];

		last->size = file_readable(last->path, 0, last->size);
		last->end_known = false;
	}
	/* What was wrong may only have been unfinished; what was not will be found again. */
	for (unsigned i = 0; i < r->warning_count; i++)
		free(r->warning[i]);
	r->warning_count = 0;
	(void)kymo_ctf_rewind(r, NULL);
}

/*
 * New traces, such as the next chunk. A chunk that is renamed while its directory is listed can be
 * left out of the list, and its events would come too late: if a number is missing, the list is
 * read again.
 */
static int find_traces(struct kymo_ctf_reader *r, struct kymo_err *err)
{
	const unsigned traces = r->trace_count;
	unsigned lists = 0;
	int result;

	r->refreshing = true;
	do {
		r->look_at = 0;
		result = tree_walk(r, r->path, 0, err);
	} while (!result && ++lists < LISTS_MAX && chunk_is_missing(r, traces));
	r->refreshing = false;
	if (!result)
		chunk_warn_of_missing(r, traces);
	return result;
}

int kymo_ctf_refresh(struct kymo_ctf_reader *r, struct kymo_err *err)
{
	const unsigned traces = r->trace_count;
	bool found = false;
	int result = 0;

	if (!r->growing)
		return err_set(err, KYMO_EXIT_USAGE, "kymo_ctf_refresh() works only after kymo_ctf_growing()");
	reader_settle(r);
	for (unsigned i = 0; i < traces && !result; i++) {
		r->trace[i]->settled = stays_settled(r->trace[i]);
		if (!r->trace[i]->settled)
			result = grow_trace(r, r->trace[i], &found, err);
	}
	if (!result)
		result = find_traces(r, err);
	found = found || r->trace_count > traces;
	r->plans_stale |= r->trace_count > traces;
	for (unsigned i = 0; i < r->stream_count; i++)
		r->stream[i]->index = r->stream[i]->context.stream = i;
	if (!result && r->plans_stale)
		result = classes_plan(r, err);
	if (!result)
		r->plans_stale = false;
	if (reader_resume(r, err) || result)
		return -1;
	return found;
}
