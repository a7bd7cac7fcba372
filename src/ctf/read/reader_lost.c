/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds index/CHANNEL.lost, which a relay writes, and gives the entries to the stream of CHANNEL:
 * the one with a file of that name, or the one with the same class and instance (a channel may have
 * several files), or a new one without a packet. Of a trace that grows, the directory is listed
 * again when it changed, and files are read again when they grew.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/text.h"
#include "ctf/read/stream_impl.h"

#define SUFFIX ".lost"

struct lost_file {
	char *channel;
	uint64_t size;             /* that was read */
	struct ctf_stream *stream; /* NULL: not known yet */
};

static size_t channel_length(const char *name)
{
	const size_t length = strlen(name), suffix = sizeof SUFFIX - 1;

	return length > suffix && !strcmp(name + length - suffix, SUFFIX) ? length - suffix : 0;
}

static int is_lost_file(const struct dirent *entry)
{
	return channel_length(entry->d_name) > 0;
}

/* ---- streams by the names of their files ---- */

struct named {
	const char *name;
	struct ctf_stream *stream;
};

struct names {
	struct named *named;
	uint32_t count, room;
	bool collected; /* when they are first needed */
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const size_t m = packed_plain_length(x->name), n = packed_plain_length(y->name);
	const int order = memcmp(x->name, y->name, m < n ? m : n);

	return order ? order : (m > n) - (m < n);
}

/* Return: false: no memory. */
static bool names_collect(struct names *names, const struct kymo_ctf_reader *reader,
			  const struct ctf_trace *trace)
{
	if (names->collected)
		return true;
	for (unsigned i = 0; i < reader->stream_count; i++) {
		struct ctf_stream *s = reader->stream[i];

		for (uint32_t k = 0; s->info.trace == trace->index && k < s->file_count; k++) {
			if (!ARRAY_ROOM(names->named, names->count, names->room))
				return false;
			names->named[names->count++] =
				(struct named){ text_base_name(s->file[k].path), s };
		}
	}
	if (names->count)
		qsort(names->named, names->count, sizeof *names->named, by_name);
	names->collected = true;
	return true;
}

/* One look at the files of a trace. */
struct lost_look {
	struct kymo_ctf_reader *reader;
	struct ctf_trace *trace;
	struct names names;
	bool found; /* something new */
};

static struct ctf_stream *same_instance(const struct kymo_ctf_reader *reader,
					const struct ctf_trace *trace,
					const struct ctf_index_entry *entry)
{
	for (unsigned i = 0; i < reader->stream_count; i++) {
		struct ctf_stream *s = reader->stream[i];

		if (s->info.trace == trace->index && s->class && s->class->id == entry->stream_id &&
		    s->packet.has & HAS_INSTANCE && s->packet.instance == entry->stream_instance_id)
			return s;
	}
	return NULL;
}

/* A stream of which nothing arrived; its file may get packets later. NULL: no class describes it,
 * or no memory (@failed). */
static struct ctf_stream *whole_stream(struct kymo_ctf_reader *reader, struct ctf_trace *trace,
				       const char *channel, const struct ctf_index_entry *entry,
				       bool *failed)
{
	struct stream_class *class = trace_class(trace, entry->stream_id);
	char *path = class ? path_join(trace->path, channel) : NULL;
	struct ctf_stream *s = path ? stream_new(reader, trace, path, 0) : NULL;

	*failed = class && !s;
	if (!s) {
		free(path);
		return NULL;
	}
	if (files_stream(reader, s)) {
		stream_free(s);
		*failed = true;
		return NULL;
	}
	s->class = class;
	s->index = reader->stream_count - 1;
	stream_rewind(s);
	packet_forget(s);
	return s;
}

static struct ctf_stream *stream_of(struct lost_look *look, const char *channel,
				    const struct ctf_index_entry *entry, bool *failed)
{
	const struct named wanted = { channel, NULL };
	const struct named *found = NULL;
	struct ctf_stream *s;

	*failed = !names_collect(&look->names, look->reader, look->trace);
	if (*failed)
		return NULL;
	if (look->names.count)
		found = bsearch(&wanted, look->names.named, look->names.count, sizeof wanted,
				by_name);
	s = found ? found->stream : same_instance(look->reader, look->trace, entry);
	return s ? s : whole_stream(look->reader, look->trace, channel, entry, failed);
}

/* ---- files ---- */

/* Gives @count entries to the stream. Return: false: no memory. */
static bool give(struct lost_look *look, struct lost_file *file,
		 const struct ctf_index_entry *entry, uint32_t count)
{
	bool failed = false;
	struct ctf_stream *s;

	if (!file->stream)
		file->stream = stream_of(look, file->channel, entry, &failed);
	s = file->stream;
	if (!s) {
		reader_warn(look->reader,
			    "%s/index/%s" SUFFIX
			    ": %u packets are lost of a stream that the metadata does not describe",
			    look->trace->path, file->channel, count);
		return !failed;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (clock_to_ns(s->class, entry[i].timestamp_end) > INT64_MAX)
			continue; /* no clock shows 292 years */
		if (!ARRAY_ADD(s->gone, s->gone_count, s->gone_room, entry[i]))
			return false;
	}
	gone_sort(s);
	s->scanned = false;
	return true;
}

/* Reads @file if it has grown. Return: false: no memory. */
static bool look_at(struct lost_look *look, struct lost_file *file)
{
	struct ctf_index_entry *entry = NULL;
	uint32_t count = 0, room = 0;
	char path[4096];
	uint64_t size;
	struct stat st;
	bool whole = true;

	if (snprintf(path, sizeof path, "%s/index/%s" SUFFIX, look->trace->path, file->channel) >=
		    (int)sizeof path ||
	    stat(path, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size <= file->size)
		return true;
	size = (uint64_t)st.st_size;
	if (look->reader->growing)
		size = file_readable(path, file->size, size);
	if (size <= file->size)
		return true;
	file->size = size;
	if (index_read_lost(path, size, &entry, &count, &room))
		reader_warn(look->reader, "%s: no index of lost packets; it is left out", path);
	else if (count)
		whole = give(look, file, entry, count);
	look->found = look->found || count;
	free(entry);
	return whole;
}

/* Whether @channel is among the first @count. */
static bool is_listed(const struct ctf_trace *trace, uint32_t count, const char *channel)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(trace->lost_file[i].channel, channel))
			return true;
	return false;
}

/* Return: false: no memory. */
static bool add(struct ctf_trace *trace, uint32_t known, const char *name)
{
	char *channel = strndup(name, channel_length(name));

	if (channel && !(trace->goes_on && chunk_repeats(channel)) &&
	    !is_listed(trace, known, channel)) {
		if (!ARRAY_ROOM(trace->lost_file, trace->lost_files, trace->lost_files_room)) {
			free(channel);
			return false;
		}
		trace->lost_file[trace->lost_files++] = (struct lost_file){ .channel = channel };
		return true;
	}
	free(channel);
	return channel;
}

/* Whether the directory may have names that it did not have when it was listed last. */
static bool has_changed(struct ctf_trace *trace, const char *directory)
{
	struct timespec now;
	struct stat st;
	bool changed;

	if (stat(directory, &st))
		return false;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	changed = st.st_mtim.tv_sec != trace->lost_listed.tv_sec ||
		  st.st_mtim.tv_nsec != trace->lost_listed.tv_nsec;
	if (now.tv_sec - st.st_mtim.tv_sec > 1) /* time stamps are coarse */
		trace->lost_listed = st.st_mtim;
	return changed;
}

static bool list(struct ctf_trace *trace)
{
	char *directory = path_join(trace->path, "index");
	const uint32_t known = trace->lost_files;
	struct dirent **entry = NULL;
	bool whole = directory;
	int count = 0;

	if (directory && has_changed(trace, directory))
		count = scandir(directory, &entry, is_lost_file, alphasort);
	for (int i = 0; i < count; i++) {
		whole = whole && add(trace, known, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	free(directory);
	return whole;
}

int lost_look(struct kymo_ctf_reader *reader, struct ctf_trace *trace, bool *found)
{
	struct lost_look look = { .reader = reader, .trace = trace };
	bool whole = list(trace);

	for (uint32_t i = 0; i < trace->lost_files && whole; i++)
		whole = look_at(&look, &trace->lost_file[i]);
	*found = *found || look.found;
	free(look.names.named);
	return whole ? 0 : -1;
}

void lost_free(struct ctf_trace *trace)
{
	for (uint32_t i = 0; i < trace->lost_files; i++)
		free(trace->lost_file[i].channel);
	free(trace->lost_file);
}
