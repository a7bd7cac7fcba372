/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to traces: every directory below it with a file "metadata" is one. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "ctf/read/stream_impl.h"

#define TREE_DEPTH_MAX 16
#define TRACES_MAX 65536

char *path_join(const char *directory, const char *name)
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

static const char *env_text(const struct ctf_trace *trace, const char *name)
{
	const struct ctf_env *env = tsdl_env(trace->metadata, name);

	return env && env->text ? env->text : "";
}

static const char *clock_id(const struct ctf_trace *trace)
{
	const struct ctf_metadata *metadata = trace->metadata;

	return metadata->clock_count && metadata->clock[0].uuid ? metadata->clock[0].uuid : "";
}

/*
 * Two machines may have one name, and a machine that booted again has another clock: what differs
 * in the id of the clock is another host, NAME#2. Traces that do not tell it are of the first host
 * of that name.
 */
static const char *host_of(const struct kymo_ctf_reader *reader, struct ctf_trace *trace)
{
	const char *name = env_text(trace, "hostname"), *id = clock_id(trace);
	unsigned hosts = 0;		/* of that name */

	for (uint32_t i = 0; *name && i < trace->index; i++) {
		const struct ctf_trace *other = reader->trace[i];

		if (!other->hostname || !other->hostname->text ||
		    strcmp(other->hostname->text, name) != 0)
			continue;
		if (!*id || !*clock_id(other) || !strcmp(id, clock_id(other))) {
			trace->host_number = other->host_number;
			return other->info.hostname ? other->info.hostname : name;
		}
		hosts = other->host_number > hosts ? other->host_number : hosts;
	}
	trace->host_number = hosts + 1;
	if (!hosts || trace->host || asprintf(&trace->host, "%s#%u", name, hosts + 1) < 0)
		return trace->host ? trace->host : name;
	return trace->host;
}

void trace_describe(const struct kymo_ctf_reader *reader, struct ctf_trace *trace)
{
	trace->hostname = tsdl_env(trace->metadata, "hostname");
	trace->procname = tsdl_env(trace->metadata, "procname");
	trace->vpid = tsdl_env(trace->metadata, "vpid");
	trace->info = (struct kymo_ctf_trace_info) { .path = trace->path,
		.hostname = host_of(reader, trace), .clock_id = clock_id(trace), .domain = env_text(trace, "domain"),
		.kernel_release = env_text(trace, "kernel_release"),
		.tracer = env_text(trace, "tracer_name"),
		.clock_offset_ns = trace->class_count ? trace->class[0].offset_ns : 0,
		.chunk = (uint32_t)trace->chunk.number };
}

static struct ctf_trace *trace_new(struct kymo_ctf_reader *reader, const char *path)
{
	struct ctf_trace *trace =
		ARRAY_ROOM(reader->trace, reader->trace_count, reader->trace_capacity)
			? calloc(1, sizeof *trace)
			: NULL;

	if (!trace)
		return NULL;
	trace->index = reader->trace_count;
	trace->path = strdup(path);
	trace->metadata_path = path_join(path, "metadata");
	if (!trace->path || !trace->metadata_path) {
		trace_free(trace);
		return NULL;
	}
	reader->trace[reader->trace_count++] = trace;
	return trace;
}

static int trace_load(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct kymo_err *err)
{
	struct file_list list;
	uint64_t bytes = 0;
	bool found = false;
	int result;

	if (chunk_describe(&trace->chunk, trace->path))
		return err_no_memory(err);
	trace->goes_on = chunk_goes_on(reader, &trace->chunk);
	if (files_list(reader, trace, &list, err))
		return -1;
	result = tsdl_load(trace->metadata_path, &trace->metadata, err);
	if (!result) {
		bytes = budget_of(list.count, trace->metadata->bytes);
		result = budget_check(reader, bytes, trace->path, err);
	}
	if (!result)
		result = trace_compile(reader, trace, err);
	if (!result) {
		trace_describe(reader, trace);
		if (trace->metadata->torn && !reader->growing)
			reader_warn(reader, "%s; the rest of the metadata is left out", trace->metadata->torn);
		result = files_add(reader, trace, &list, err);
	}
	if (!result && lost_look(reader, trace, &found))
		result = err_no_memory(err);
	if (!result)
		reader->held += bytes;
	files_free(&list);
	return result;
}

/* Directories are listed in the order in which they were listed before, nearly always. */
static bool is_next(struct kymo_ctf_reader *reader, const char *path)
{
	for (unsigned i = 0; i < 2 && reader->refreshing; i++) {
		if (reader->look_at < reader->trace_count &&
		    strcmp(reader->trace[reader->look_at]->path, path) == 0) {
			reader->look_at++;
			return true;
		}
		for (reader->look_at = 0; reader->look_at < reader->trace_count; reader->look_at++)
			if (strcmp(reader->trace[reader->look_at]->path, path) == 0)
				break;
	}
	return false;
}

static bool is_known(struct kymo_ctf_reader *reader, const char *path)
{
	struct chunk_of chunk;
	bool known;

	if (is_next(reader, path))
		return true;
	known = chunk_describe(&chunk, path) != 0;
	for (unsigned i = 0; chunk.number && i < reader->trace_count && !known; i++)
		known = chunk_is_same(&reader->trace[i]->chunk, &chunk);
	chunk_free(&chunk);
	return known;
}

static int add_moved(struct kymo_ctf_reader *reader, const char *path, struct kymo_err *err);

static int add_trace(struct kymo_ctf_reader *reader, const char *path, struct kymo_err *err)
{
	const unsigned classes = reader->class_count, streams = reader->stream_count;
	const struct ctf_trace *copied;
	struct ctf_trace *trace;
	struct kymo_err why = { 0 };

	/* A directory that is renamed while it is listed may be listed under both names. */
	if (is_known(reader, path))
		return 0;
	if (reader->trace_count == TRACES_MAX)
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s: more than %d traces: name a part of them, such as one "
			       "recording or one of its chunks",
			       path, TRACES_MAX);
	trace = trace_new(reader, path);
	if (!trace)
		return err_no_memory(err);
	if (!trace_load(reader, trace, &why)) {
		copied = trace_copied(reader, trace, streams);
		return copied ? err_set(err, KYMO_EXIT_USAGE,
					"%s is a copy of %s: each event would be counted twice; name one of them",
					trace->path, copied->path)
			      : 0;
	}
	if (why.status != KYMO_EXIT_INPUT || (!reader->refreshing && !access(path, F_OK)))
		return err_set(err, why.status, "%s", why.text);
	/* It has only just begun, and the next refresh may read it; or its chunk was renamed or
	 * removed. */
	reader->trace_count--;
	reader->class_count = classes;
	trace_free(trace);
	return access(path, F_OK) ? add_moved(reader, path, err) : 0;
}

/* The trace at @path, which was renamed after its directory was listed. */
static int add_moved(struct kymo_ctf_reader *reader, const char *path, struct kymo_err *err)
{
	char *moved = chunk_moved(path);
	int result = moved ? add_trace(reader, moved, err) : 0;

	free(moved);
	return result;
}

/* Numbers in names count as numbers: chunk 10 is behind chunk 9, wherever it lies. */
static int by_number(const struct dirent **a, const struct dirent **b)
{
	const char *x = strrchr((*a)->d_name, '-'), *y = strrchr((*b)->d_name, '-');
	unsigned long m = x ? strtoul(x + 1, NULL, 10) : 0, n = y ? strtoul(y + 1, NULL, 10) : 0;

	return m < n ? -1 : m > n ? 1 : strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_directory(const char *path, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

/* Not the stream files, of which there may be very many. */
static int is_of_tree(const struct dirent *entry)
{
	return entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN ||
	       !strcmp(entry->d_name, "metadata");
}

/* Whether the chunk at @path was read and is complete; then a walk leaves it out. */
static bool is_settled(struct kymo_ctf_reader *reader, const char *path)
{
	const size_t length = strlen(path);
	unsigned i = reader->look_at;

	for (; i < reader->trace_count && !strncmp(reader->trace[i]->path, path, length) &&
	       reader->trace[i]->path[length] == '/'; i++)
		if (!reader->trace[i]->settled)
			return false;
	if (!reader->refreshing || i == reader->look_at)
		return false;
	reader->look_at = i;
	return true;
}

int tree_walk(struct kymo_ctf_reader *reader, const char *path, unsigned depth,
	      struct kymo_err *err)
{
	struct dirent **entry = NULL;
	const char *name = strrchr(path, '/');
	bool chunks = !strcmp(name ? name + 1 : path, "archives");
	int count = scandir(path, &entry, is_of_tree, chunks ? by_number : alphasort), result = 0;

	if (count < 0 && depth && errno == ENOENT) {
		char *moved = chunk_moved(path);

		result = moved ? tree_walk(reader, moved, depth, err) : 0;
		free(moved);
		return result;
	}
	if (count < 0 && depth)
		reader_warn(reader, "%s: cannot read it: %s", path, strerror(errno));
	if (count < 0)
		return depth ? 0 : err_set(err, KYMO_EXIT_INPUT, "%s: cannot read it: %s", path, strerror(errno));
	for (int i = 0; i < count && !result; i++)
		if (!strcmp(entry[i]->d_name, "metadata"))
			result = add_trace(reader, path, err);
	for (int i = 0; i < count; i++) {
		char *below = result || entry[i]->d_name[0] == '.'
				      ? NULL
				      : path_join(path, entry[i]->d_name);

		if (below && depth < TREE_DEPTH_MAX && is_directory(below, entry[i]) &&
		    !(chunks && is_settled(reader, below)))
			result = tree_walk(reader, below, depth + 1, err);
		free(below);
		free(entry[i]);
	}
	free(entry);
	return result;
}

/* The user may have named a directory of many things: name the one that was read as a trace. */
static int failed_below(const char *path, const struct kymo_err *why, struct kymo_err *err)
{
	char *metadata = path_join(path, "metadata");
	bool is_trace = !metadata || !access(metadata, F_OK);

	free(metadata);
	if (is_trace || why->status != KYMO_EXIT_INPUT)
		return err_set(err, why->status, "%s", why->text);
	return err_set(err, why->status, "%s: cannot read it, and it looks like a part of the trace: %s", path,
		       why->text);
}

int tree_open(struct kymo_ctf_reader *reader, const char *path, struct kymo_err *err)
{
	unsigned before = reader->trace_count;
	struct kymo_err why = { 0 };
	struct stat st;

	if (stat(path, &st))
		return err_set(err, KYMO_EXIT_INPUT, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(err, KYMO_EXIT_INPUT, "%s: is not a directory; a trace is the directory that "
			       "holds a file \"metadata\", or one above it", path);
	if (tree_walk(reader, path, 0, &why))
		return failed_below(path, &why, err);
	if (reader->trace_count == before)
		return err_set(err, KYMO_EXIT_INPUT, "%s: not a CTF trace: neither it nor a directory below it contains a "
			       "file \"metadata\"", path);
	chunk_warn_of_missing(reader, before);
	for (unsigned i = 0; i < reader->stream_count; i++)
		reader->stream[i]->index = i;
	return 0;
}
