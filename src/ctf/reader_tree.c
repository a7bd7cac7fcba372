/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a path to streams: every directory below it with a file "metadata" is a trace, every
 * other file in it a part of a stream. Files of one stream (trace file rotation) are put behind
 * each other when their times allow it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ctf/reader_impl.h"

#define TREE_DEPTH_MAX 16
#define TRACES_MAX 65536

static char *join(const char *directory, const char *name)
{
	char *path;
	size_t size = strlen(directory);

	while (size > 1 && directory[size - 1] == '/')
		size--;
	if (asprintf(&path, "%.*s%s%s", (int)size, directory, size && directory[size - 1] == '/' ?
		     "" : "/", name) < 0)
		return NULL;
	return path;
}

static int no_memory(struct err *err)
{
	return err_set(err, EXIT_FAILED, "out of memory while looking for traces");
}

void stream_free(struct ctf_stream *s)
{
	if (!s)
		return;
	if (s->window.fd >= 0)
		window_close(s);
	free(s->window.bytes);
	free(s->head_bytes);
	free(s->slot);
	free(s->batch);
	plan_out_free(&s->context_out);
	for (uint32_t i = 0; i < s->file_count; i++)
		free(s->file[i].path);
	free(s->file);
	free(s);
}

/* ---- streams of one trace ---- */

static struct ctf_stream *stream_new(struct ctf_reader *reader, const struct ctf_trace *trace,
				     char *path, uint64_t size)
{
	struct ctf_stream *s = calloc(1, sizeof *s);

	if (s) {
		s->file = calloc(1, sizeof *s->file);
		s->slot = calloc(SLOTS_SHARED + trace->layout.slots_most, sizeof *s->slot);
	}
	if (!s || !s->file || !s->slot) {
		if (s) {
			free(s->file);
			free(s->slot);
		}
		free(s);
		return NULL;
	}
	s->file[0] = (struct stream_file) { path, size };
	s->file_count = 1;
	s->window.fd = -1;
	s->reader = reader;
	s->info.trace = trace->index;
	s->info.path = path;
	s->info.bytes = size;
	return s;
}

static int add_stream(struct ctf_reader *reader, struct ctf_stream *s)
{
	struct ctf_stream **bigger = realloc(reader->stream,
					     (reader->stream_count + 1) * sizeof(*bigger));

	if (!bigger)
		return -1;
	reader->stream = bigger;
	reader->stream[reader->stream_count++] = s;
	return 0;
}

static int add_file(struct ctf_reader *reader, const struct ctf_trace *trace, const char *name,
		    struct err *err)
{
	char *path = join(trace->path, name);
	struct ctf_stream *s;
	struct stat st;

	if (!path)
		return no_memory(err);
	if (stat(path, &st)) {
		reader_warn(reader, "%s: cannot be read: %s", path, strerror(errno));
		free(path);
		return 0;
	}
	if (!S_ISREG(st.st_mode) || !st.st_size) {
		free(path);	/* directories, and streams without a packet yet */
		return 0;
	}
	s = stream_new(reader, trace, path, (uint64_t)st.st_size);
	if (!s) {
		free(path);
		return no_memory(err);
	}
	if (packet_open(s)) {
		stream_free(s);
		return 0;
	}
	window_close(s);
	free(s->window.bytes);
	s->window = (struct window) { .fd = -1 };
	if (add_stream(reader, s)) {
		stream_free(s);
		return no_memory(err);
	}
	return 0;
}

/* By class, instance and time of the first packet. */
static int by_identity(const void *a, const void *b)
{
	const struct ctf_stream *x = *(struct ctf_stream *const *)a;
	const struct ctf_stream *y = *(struct ctf_stream *const *)b;

	if (x->class->id != y->class->id)
		return x->class->id < y->class->id ? -1 : 1;
	if (x->packet.instance != y->packet.instance)
		return x->packet.instance < y->packet.instance ? -1 : 1;
	if (x->packet.begin != y->packet.begin)
		return x->packet.begin < y->packet.begin ? -1 : 1;
	return strcmp(x->info.path, y->info.path);
}

static bool same_stream(struct ctf_stream *x, struct ctf_stream *y)
{
	const uint32_t needed = HAS_INSTANCE | HAS_BEGIN | HAS_END;

	if (x->class != y->class || (x->packet.has & y->packet.has & needed) != needed ||
	    x->packet.instance != y->packet.instance)
		return false;
	if (!x->scanned)
		stream_scan(x);
	return x->info.end_ns <= clock_to_ns(y->class, y->packet.begin);
}

static int append_file(struct ctf_stream *to, struct ctf_stream *from)
{
	struct stream_file *bigger = realloc(to->file, (to->file_count + 1) * sizeof *bigger);

	if (!bigger)
		return -1;
	to->file = bigger;
	to->file[to->file_count++] = from->file[0];
	to->info.bytes += from->file[0].size;
	to->scanned = false;
	from->file_count = 0;
	stream_free(from);
	return 0;
}

/* Put the files of rotated streams together; @first is the trace's first stream. */
static int group_files(struct ctf_reader *reader, unsigned first, struct err *err)
{
	unsigned kept = first;

	if (reader->stream_count - first < 2)
		return 0;
	qsort(reader->stream + first, reader->stream_count - first, sizeof *reader->stream, by_identity);
	for (unsigned i = first + 1; i < reader->stream_count; i++) {
		struct ctf_stream *s = reader->stream[i];

		if (!same_stream(reader->stream[kept], s))
			reader->stream[++kept] = s;
		else if (append_file(reader->stream[kept], s)) {
			reader->stream_count = kept + 1;
			return no_memory(err);
		}
	}
	reader->stream_count = kept + 1;
	return 0;
}

static int add_files(struct ctf_reader *reader, const struct ctf_trace *trace, struct err *err)
{
	unsigned first = reader->stream_count;
	struct dirent **entry = NULL;
	int count = scandir(trace->path, &entry, NULL, alphasort), result = 0;

	if (count < 0)
		return err_set(err, EXIT_INPUT, "%s: cannot be read: %s", trace->path, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!result && entry[i]->d_name[0] != '.' && strcmp(entry[i]->d_name, "metadata") &&
		    strcmp(entry[i]->d_name, "kymo.json"))
			result = add_file(reader, trace, entry[i]->d_name, err);
		free(entry[i]);
	}
	free(entry);
	return result ? result : group_files(reader, first, err);
}

/* ---- traces ---- */

static const char *env_text(const struct ctf_trace *trace, const char *name)
{
	const struct ctf_env *env = tsdl_env(trace->metadata, name);

	return env && env->text ? env->text : "";
}

static void fill_info(struct ctf_trace *trace)
{
	trace->hostname = tsdl_env(trace->metadata, "hostname");
	trace->procname = tsdl_env(trace->metadata, "procname");
	trace->vpid = tsdl_env(trace->metadata, "vpid");
	trace->info = (struct ctf_trace_info) { .path = trace->path,
		.hostname = env_text(trace, "hostname"), .domain = env_text(trace, "domain"),
		.tracer = env_text(trace, "tracer_name"),
		.clock_offset_ns = trace->class_count ? trace->class[0].offset_ns : 0 };
}

static int add_trace(struct ctf_reader *reader, const char *path, struct err *err)
{
	struct ctf_trace **bigger, *trace;

	if (reader->trace_count == TRACES_MAX)
		return err_set(err, EXIT_INPUT, "%s: more than %d traces", path, TRACES_MAX);
	bigger = realloc(reader->trace, (reader->trace_count + 1) * sizeof(*bigger));
	if (!bigger)
		return no_memory(err);
	reader->trace = bigger;
	trace = calloc(1, sizeof *trace);
	if (!trace)
		return no_memory(err);
	trace->index = reader->trace_count;
	reader->trace[reader->trace_count++] = trace;
	trace->path = strdup(path);
	trace->metadata_path = join(path, "metadata");
	if (!trace->path || !trace->metadata_path)
		return no_memory(err);
	if (tsdl_load(trace->metadata_path, &trace->metadata, err) ||
	    trace_compile(reader, trace, err))
		return -1;
	fill_info(trace);
	return add_files(reader, trace, err);
}

static bool is_directory(const char *path, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

static int walk_tree(struct ctf_reader *reader, const char *path, unsigned depth, struct err *err)
{
	struct dirent **entry = NULL;
	int count = scandir(path, &entry, NULL, alphasort), result = 0;

	if (count < 0 && depth)
		reader_warn(reader, "%s: cannot be read: %s", path, strerror(errno));
	if (count < 0)
		return depth ? 0 : err_set(err, EXIT_INPUT, "%s: cannot be read: %s", path, strerror(errno));
	for (int i = 0; i < count && !result; i++)
		if (!strcmp(entry[i]->d_name, "metadata"))
			result = add_trace(reader, path, err);
	for (int i = 0; i < count; i++) {
		char *below = result || entry[i]->d_name[0] == '.' ? NULL : join(path, entry[i]->d_name);

		if (below && depth < TREE_DEPTH_MAX && is_directory(below, entry[i]))
			result = walk_tree(reader, below, depth + 1, err);
		free(below);
		free(entry[i]);
	}
	free(entry);
	return result;
}

int tree_open(struct ctf_reader *reader, const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st))
		return err_set(err, EXIT_INPUT, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(err, EXIT_INPUT, "%s: is not a directory; a trace is the directory that "
			       "holds a file \"metadata\", or one above it", path);
	if (walk_tree(reader, path, 0, err))
		return -1;
	if (!reader->trace_count)
		return err_set(err, EXIT_INPUT, "%s: no CTF trace is here: no directory below it holds a "
			       "file \"metadata\"", path);
	for (unsigned i = 0; i < reader->stream_count; i++)
		reader->stream[i]->index = i;
	return 0;
}
