/* SPDX-License-Identifier: Apache-2.0 */
/* The files, written by the relay's store. See copydir.h. */
#include "live/copydir_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay/store/store_tree.h"

#define ENTRY_SIZE	56u		/* index version 1.0 */
#define MARK_BYTES	((uint64_t)4 << 20)	/* at the least, between two marks */

/* ---- files ---- */

static struct copydir_trace *trace_of(struct copydir *copydir, struct live_trace *live)
{
	struct copydir_trace *trace = live->of_sink;

	if (trace)
		return trace;
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return NULL;
	trace->path = copydir_name_trace(copydir, live->path);
	if (!trace->path || asprintf(&trace->whole, "%s/%s", copydir->path, trace->path) < 0) {
		free(trace->path);
		free(trace);
		return NULL;
	}
	trace->next = copydir->traces;
	copydir->traces = trace;
	live->of_sink = trace;
	return trace;
}

static struct copydir_stream *stream_of(struct copydir *copydir, struct live_stream *live)
{
	struct copydir_stream *stream = live->of_sink;
	struct copydir_trace *trace = stream ? NULL : trace_of(copydir, live->trace);
	char path[2 * STORE_PATH_MAX];

	if (stream || !trace)
		return stream;
	copydir_name_stream(trace, live->channel, path);
	stream = calloc(1, sizeof(*stream));
	if (stream)
		stream->file = store_create(&copydir->store, path, STORE_PACKETS, ENTRY_SIZE);
	if (!stream || !stream->file) {
		free(stream);
		return NULL;
	}
	stream->next = trace->streams;
	trace->streams = stream;
	live->of_sink = stream;
	return stream;
}

int copydir_metadata(void *context, struct live_trace *live, const uint8_t *bytes, size_t size,
		     struct kymo_err *err)
{
	struct copydir *copydir = context;
	struct copydir_trace *trace = trace_of(copydir, live);
	char path[STORE_PATH_MAX + 16];

	if (trace && !trace->metadata) {
		(void)snprintf(path, sizeof(path), "%s/metadata", trace->path);
		trace->metadata = store_create(&copydir->store, path, STORE_METADATA, 0);
	}
	if (!trace || !trace->metadata ||
	    store_write(trace->metadata, trace->size, bytes, size, 0, NULL, NULL) < 0)
		return err_no_memory(err);
	trace->size += size;
	copydir->news = true;
	return 0;
}

int copydir_bytes(void *context, struct live_stream *live, uint64_t offset, const uint8_t *bytes,
		  size_t size, struct kymo_err *err)
{
	struct copydir *copydir = context;
	struct copydir_stream *stream = stream_of(copydir, live);
	const uint64_t packet = live->index.packet_size / 8, end = offset + size;
	const bool last = end >= (live->index.content_size + 7) / 8;

	if (!stream || store_write(stream->file, stream->size + offset, bytes, size,
				   last ? packet - end : 0, NULL, NULL) < 0)
		return err_no_memory(err);
	stream->partial = true;
	return 0;
}

int copydir_packet(void *context, struct live_stream *live, bool complete, struct kymo_err *err)
{
	struct copydir *copydir = context;
	struct copydir_stream *stream = live->of_sink;
	struct ctf_index_entry entry;

	if (!stream)
		return 0;		/* none of it was received */
	stream->partial = false;
	if (!complete)
		return store_cut(stream->file, stream->size) < 0 ? err_no_memory(err) : 0;
	entry = (struct ctf_index_entry){
		.offset = stream->size,
		.packet_size = live->index.packet_size,
		.content_size = live->index.content_size,
		.timestamp_begin = live->index.timestamp_begin,
		.timestamp_end = live->index.timestamp_end,
		.events_discarded = live->index.events_discarded,
		.stream_id = live->index.stream_class,
	};
	stream->size += live->index.packet_size / 8;
	if (copydir->own && stream->marks < COPYDIR_MARKS &&
	    stream->size - stream->marked >= MARK_BYTES) {
		stream->mark[stream->marks++] =
			(struct copydir_place){ stream->size, live->index.timestamp_end };
		stream->marked = stream->size;
	}
	copydir->news = true;
	return store_entry(stream->file, &entry, NULL, NULL) < 0 ? err_no_memory(err) : 0;
}

int copydir_flush(struct copydir *copydir, bool *news, struct kymo_err *err)
{
	disk_drain(copydir->store.disk);
	*news = copydir->news;
	copydir->news = false;
	return copydir->failed ? err_set(err, KYMO_EXIT_FAILED, "%s", copydir->why) : 0;
}

bool copydir_mark(const struct copydir *copydir, const struct live_stream *live, uint64_t *end)
{
	const struct copydir_stream *stream = live->of_sink;

	if (!copydir->own || !stream || !stream->marks)
		return false;
	*end = stream->mark[0].end;
	return true;
}

void copydir_forget(struct live_stream *live)
{
	struct copydir_stream *stream = live->of_sink;
	const struct copydir_place first = stream->mark[0];

	/* All jobs of the disk are done, see copydir_flush(). If the file system does not support
	 * it, the bytes stay. */
	(void)fallocate(stream->file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			(off_t)first.offset);
	memmove(stream->mark, stream->mark + 1, --stream->marks * sizeof(first));
}

const char *copydir_trace_path(const struct live_trace *live)
{
	const struct copydir_trace *trace = live->of_sink;

	return trace ? trace->whole : NULL;
}

const char *copydir_path(const struct copydir *copydir)
{
	return copydir->path;
}

/* ---- life ---- */

static void failed(void *context, const char *text)
{
	struct copydir *copydir = context;

	copydir->failed = true;
	(void)snprintf(copydir->why, sizeof(copydir->why), "%s", text);
}

/* copydir_flush() waits for everything. */
static void wake(void *context)
{
	(void)context;
}

static int make_own(struct copydir *copydir, struct kymo_err *err)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || !parent[0])
		parent = "/tmp";
	if (asprintf(&copydir->path, "%s/kymo-live-XXXXXX", parent) < 0) {
		copydir->path = NULL;
		return err_no_memory(err);
	}
	if (!mkdtemp(copydir->path))
		return err_set(err, KYMO_EXIT_FAILED, "cannot create a directory in %s: %s; choose another place with TMPDIR", parent,
			       strerror(errno));
	copydir->own = true;
	return 0;
}

static bool is_empty(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool empty = directory != NULL;

	while (empty && (entry = readdir(directory)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (directory)
		(void)closedir(directory);
	return empty;
}

static int make_given(struct copydir *copydir, const char *path, struct kymo_err *err)
{
	copydir->path = strdup(path);
	if (!copydir->path)
		return err_no_memory(err);
	for (char *end = copydir->path + strlen(path); --end > copydir->path && *end == '/';)
		*end = 0;		/* without trailing slashes */
	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create the directory %s: %s", path, strerror(errno));
	if (!is_empty(path))
		return err_set(err, KYMO_EXIT_USAGE, "%s is not an empty directory; choose a new one", path);
	return 0;
}

int copydir_open(const char *path, struct copydir **out, struct kymo_err *err)
{
	struct copydir *copydir = calloc(1, sizeof(*copydir));
	int rc;

	if (!copydir)
		return err_no_memory(err);
	copydir->store.root = -1;
	rc = path ? make_given(copydir, path, err) : make_own(copydir, err);
	if (rc == 0) {
		copydir->store.root = open(copydir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (copydir->store.root < 0)
			rc = err_set(err, KYMO_EXIT_FAILED, "cannot open %s: %s", copydir->path, strerror(errno));
	}
	copydir->store.root_path = copydir->path;
	copydir->store.say = failed;
	copydir->store.context = copydir;
	if (rc == 0) {
		copydir->store.disk = disk_start(wake, NULL);
		if (!copydir->store.disk)
			rc = err_set(err, KYMO_EXIT_FAILED, "cannot start a thread");
	}
	if (rc < 0)
		copydir_close(copydir);
	else
		*out = copydir;
	return rc;
}

static void trace_free(struct copydir_trace *trace)
{
	for (struct copydir_stream *stream = trace->streams, *next; stream; stream = next) {
		next = stream->next;
		if (stream->partial)
			(void)store_cut(stream->file,
					stream->size); /* on failure readers find a longer file,
							  which is fine */
		store_unref(stream->file);
		free(stream);
	}
	store_unref(trace->metadata);
	free(trace->path);
	free(trace->whole);
	free(trace);
}

static void remove_own(const struct copydir *copydir)
{
	char *slash = strrchr(copydir->path, '/');
	int parent;

	*slash = 0;
	parent = open(slash == copydir->path ? "/" : copydir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return;
	(void)tree_remove(parent, slash + 1);	/* on failure the rest stays in $TMPDIR */
	(void)close(parent);
}

void copydir_close(struct copydir *copydir)
{
	if (!copydir)
		return;
	for (struct copydir_trace *trace = copydir->traces, *next; trace; trace = next) {
		next = trace->next;
		trace_free(trace);
	}
	if (copydir->store.disk)
		disk_drain(copydir->store.disk);
	disk_stop(copydir->store.disk);
	if (copydir->store.root >= 0)
		(void)close(copydir->store.root);
	if (copydir->own)
		remove_own(copydir);
	free(copydir->path);
	free(copydir);
}
