/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of one trace: each is a stream or a part of one. Files of one stream (trace file
 * rotation) are put behind each other when their times allow it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/order.h"
#include "base/text.h"
#include "ctf/format/lock.h"
#include "ctf/read/stream_impl.h"

#define RENAMES_MAX 3 /* of one file, while one look at it */

void stream_free(struct ctf_stream *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->file_count; i++)
		free(s->file[i].path);
	free(s->file);
	free(s->gone);
	stream_clone_free(s);
}

struct ctf_stream *stream_new(struct kymo_ctf_reader *reader, const struct ctf_trace *trace,
			      char *path, uint64_t size)
{
	struct ctf_stream *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->window.fd = -1;
	s->file = calloc(1, sizeof *s->file);
	s->slot = calloc(SLOTS_SHARED + trace->layout.slots_most, sizeof *s->slot);
	if (!s->file || !s->slot) {
		stream_free(s);
		return NULL;
	}
	s->file[0] = (struct stream_file) { .path = path, .size = size };
	s->file_count = s->file_capacity = 1;
	s->reader = reader;
	s->info.trace = trace->index;
	s->info.path = path;
	s->info.bytes = size;
	return s;
}

int files_stream(struct kymo_ctf_reader *reader, struct ctf_stream *s)
{
	return ARRAY_ADD(reader->stream, reader->stream_count, reader->stream_capacity, s) ? 0 : -1;
}

void files_free(struct file_list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		free(list->file[i].path);
	free(list->file);
	*list = (struct file_list) { 0 };
}

static bool may_be_stream(const char *name)
{
	return name[0] != '.' && strcmp(name, "metadata") && strcmp(name, "kymo.json") &&
	       strcmp(name, "kymo-earlier.jsonl");
}

/* While a file is being compressed, both forms exist; the plain one is read. */
static bool is_second(const char *path)
{
	char *plain = packed_is_name(path) ? strndup(path, packed_plain_length(path)) : NULL;
	bool second = plain && !access(plain, F_OK);

	free(plain);
	return second;
}

/* ---- names of the files that are known: sorted, as a trace may have thousands ---- */

struct known_names {
	const char **name;
	uint32_t count, capacity;
};

/* Only names are compared: the directory may have been renamed after one path was stored. */
static int by_plain_name(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	size_t m = packed_plain_length(x), n = packed_plain_length(y);
	int order = memcmp(x, y, m < n ? m : n);

	return order ? order : (m > n) - (m < n);
}

/* Return: false: no memory. */
static bool known_collect(struct known_names *known, const struct kymo_ctf_reader *reader,
			  const struct ctf_trace *trace)
{
	*known = (struct known_names){ 0 };
	/* A trace that is being opened has no streams yet. */
	for (unsigned i = 0; trace->metadata && i < reader->stream_count; i++) {
		const struct ctf_stream *s = reader->stream[i];

		for (uint32_t k = 0; s->info.trace == trace->index && k < s->file_count; k++)
			if (!ARRAY_ADD(known->name, known->count, known->capacity,
				       text_base_name(s->file[k].path)))
				return false;
	}
	if (known->count)
		qsort(known->name, known->count, sizeof *known->name, by_plain_name);
	return true;
}

static bool is_known(const struct known_names *known, const char *path)
{
	const char *name = text_base_name(path);

	return known->count &&
	       bsearch(&name, known->name, known->count, sizeof *known->name, by_plain_name);
}

uint64_t file_readable(const char *path, uint64_t from, uint64_t size)
{
	const int fd = packed_is_name(path) ? -1 : file_open(path);
	int64_t end;

	if (fd < 0)
		return size;
	end = ctf_lock_end(fd, from);
	(void)close(fd);
	if (end < 0)
		return size;		/* a file system without locks */
	return (uint64_t)end < from ? from : (uint64_t)end < size ? (uint64_t)end : size;
}

/* Whether nothing of a new file may be read yet; cuts *@size to what may. */
static bool is_locked(const struct kymo_ctf_reader *reader, struct ctf_trace *trace,
		      const char *path, uint64_t *size)
{
	if (reader->growing)
		*size = file_readable(path, 0, *size);
	trace->list_again = trace->list_again || !*size;
	return !*size;
}

/*
 * The present name of @path, which was listed a moment ago: its chunk may be renamed at this
 * moment, or the file compressed. Return: 0 with @st; an errno.
 */
static int find_now(const char *path, char **now, struct stat *st)
{
	int error = 0;

	for (int i = 0; i < RENAMES_MAX; i++) {
		*now = access(path, F_OK) ? chunk_file_now(path) : strdup(path);
		if (!*now || !stat(*now, st))
			return 0;
		error = errno;
		if (error != ENOENT || i + 1 == RENAMES_MAX)
			break;
		free(*now);
	}
	return error;
}

/* Return: false: no memory. */
static bool list_file(struct kymo_ctf_reader *reader, struct ctf_trace *trace,
		      const struct known_names *known, struct file_list *list, const char *path)
{
	struct stat st;
	char *now;
	const int error = find_now(path, &now, &st);
	uint64_t size;

	if (!now)
		return access(path, F_OK); /* removed in the meantime; if not, there is no memory */
	if (error)
		reader_warn(reader, "%s: cannot read it: %s", now, strerror(error));
	else if (S_ISREG(st.st_mode) && !st.st_size)
		trace->list_again = true;	/* a stream without a packet yet */
	else if (S_ISREG(st.st_mode) && !is_second(now) && !is_known(known, now) &&
		 packed_stat(now, &size) && size && !is_locked(reader, trace, now, &size)) {
		list->file[list->count++] = (struct listed) { now, size };
		return true;
	}
	free(now);
	return true;
}

/* A packed file behind the plain one of that name. */
static int by_listed_name(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	const char *m = text_base_name(x->path), *n = text_base_name(y->path);
	const int order = by_plain_name(&m, &n);

	return order ? order : (int)packed_is_name(m) - (int)packed_is_name(n);
}

/* A file that was compressed between two looks at it is listed by both of its names: the packed one
 * is there. */
static void list_once(struct file_list *list)
{
	unsigned kept = 0;

	if (list->count)
		qsort(list->file, list->count, sizeof *list->file, by_listed_name);
	for (unsigned i = 0; i < list->count; i++) {
		const char *name = text_base_name(list->file[i].path);
		const char *last = kept ? text_base_name(list->file[kept - 1].path) : NULL;

		if (last && by_plain_name(&last, &name) == 0)
			free(list->file[--kept].path);
		list->file[kept++] = list->file[i];
	}
	list->count = kept;
}

int files_list(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct file_list *list,
	       struct kymo_err *err)
{
	struct dirent **entry = NULL;
	int count = scandir(trace->path, &entry, NULL, alphasort);
	struct known_names known;
	bool failed;

	*list = (struct file_list) { 0 };
	if (count < 0)
		return err_set(err, KYMO_EXIT_INPUT, "%s: cannot read it: %s", trace->path, strerror(errno));
	failed = !known_collect(&known, reader, trace);
	list->file = calloc((size_t)count + 1, sizeof *list->file);
	trace->list_again = false;
	for (int i = 0; i < count; i++) {
		bool wanted = list->file && may_be_stream(entry[i]->d_name) &&
			      !(trace->goes_on && chunk_repeats(entry[i]->d_name));
		char *path = wanted ? path_join(trace->path, entry[i]->d_name) : NULL;
		bool whole;

		free(entry[i]);
		failed = failed || (wanted && !path);
		whole = !path || list_file(reader, trace, &known, list, path);
		failed = failed || !whole;
		free(path);
	}
	free(entry);
	free(known.name);
	if (!list->file || failed) {
		files_free(list);
		return err_no_memory(err);
	}
	list_once(list);
	return 0;
}

/* The stream that begins with @file; NULL: it is not a stream, or not yet, or there is no memory
 * (@failed). */
static struct ctf_stream *open_file(struct kymo_ctf_reader *reader, struct ctf_trace *trace,
				    struct listed *file, bool *failed)
{
	struct ctf_stream *s = stream_new(reader, trace, file->path, file->size);
	int result;

	*failed = !s;
	if (!s)
		return NULL;
	file->path = NULL;
	result = packet_open(s);
	if (result) {
		trace->list_again = trace->list_again || result == PACKET_NOT_YET;
		stream_free(s);
		return NULL;
	}
	s->first = s->packet.begin;
	s->first_known = s->packet.has & HAS_BEGIN;
	stream_rewind(s);
	free(s->window.bytes);
	s->window = (struct window) { .fd = -1 };
	return s;
}

/* By class, instance and time of the first packet. */
static int by_identity(const void *a, const void *b)
{
	const struct ctf_stream *x = *(struct ctf_stream *const *)a;
	const struct ctf_stream *y = *(struct ctf_stream *const *)b;

	return ORDER(x->class->id, y->class->id) ?: ORDER(x->packet.instance, y->packet.instance) ?:
	       ORDER(x->packet.begin, y->packet.begin) ?: strcmp(x->info.path, y->info.path);
}

static bool same_stream(struct ctf_stream *x, struct ctf_stream *y)
{
	const uint32_t needed = HAS_INSTANCE | HAS_BEGIN | HAS_END;

	if (x->class != y->class || (x->packet.has & y->packet.has & needed) != needed ||
	    x->packet.instance != y->packet.instance)
		return false;
	return stream_end(x) <= clock_to_ns(y->class, y->packet.begin);
}

static int append_file(struct ctf_stream *to, struct ctf_stream *from)
{
	if (!ARRAY_ADD(to->file, to->file_count, to->file_capacity, from->file[0]))
		return -1;
	to->info.bytes += from->file[0].size;
	to->scanned = false;
	from->file_count = 0;
	stream_free(from);
	return 0;
}

/* Put the files of rotated streams together; @first is the trace's first stream. */
static int group_files(struct kymo_ctf_reader *reader, unsigned first, struct kymo_err *err)
{
	unsigned kept = first;

	if (reader->stream_count - first < 2)
		return 0;
	qsort(reader->stream + first, reader->stream_count - first, sizeof *reader->stream,
	      by_identity);
	for (unsigned i = first + 1; i < reader->stream_count; i++) {
		struct ctf_stream *s = reader->stream[i];

		if (!same_stream(reader->stream[kept], s))
			reader->stream[++kept] = s;
		else if (append_file(reader->stream[kept], s)) {
			reader->stream_count = kept + 1;
			return err_no_memory(err);
		}
	}
	reader->stream_count = kept + 1;
	return 0;
}

int files_add(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct file_list *list,
	      struct kymo_err *err)
{
	unsigned first = reader->stream_count;

	for (unsigned i = 0; i < list->count; i++) {
		bool failed;
		struct ctf_stream *s = open_file(reader, trace, &list->file[i], &failed);

		if (failed || (s && files_stream(reader, s))) {
			stream_free(s);
			return err_no_memory(err);
		}
	}
	return group_files(reader, first, err);
}

int files_add_new(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct file_list *list,
		  bool *found, struct kymo_err *err)
{
	for (unsigned i = 0; i < list->count; i++) {
		unsigned known = 0;
		bool failed;
		struct ctf_stream *s = open_file(reader, trace, &list->file[i], &failed);

		while (s && known < reader->stream_count &&
		       (reader->stream[known]->info.trace != trace->index ||
			!same_stream(reader->stream[known], s)))
			known++;
		if (s && known < reader->stream_count)
			failed = append_file(reader->stream[known], s);
		else if (s)
			failed = files_stream(reader, s);
		if (failed)
			return err_no_memory(err);
		*found = *found || s;
	}
	return 0;
}
