/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of traces, see copy.h. Packets are copied as they are, with new headers only where a
 * packet is cut: find_run() finds the events of a packet that are wanted, put_run() writes them
 * behind a header with new times and sizes.
 */
#include "ctf/read/copy/copy.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/io.h"
#include "ctf/read/stream_impl.h"
#include "ctf/tsdl/ctf2_write.h"
#include "ctf/tsdl/tsdl_write.h"

#define PIECE ((uint64_t)128 << 10)
#define CLASS_FACTS 1		/* stream class of facts in kymo's traces; ctf/write/writer.h */

struct copying {
	struct kymo_ctf_reader *reader;
	struct ctf_copied *copied;
	struct kymo_err *err;
	int64_t begin, end;		/* epoch */
	char path[PATH_MAX];		/* of the file that is written */
	int fd;
};

static int failed(struct copying *c)
{
	return err_set(c->err, KYMO_EXIT_FAILED, "cannot write %s: %s", c->path, strerror(errno));
}

static int put(struct copying *c, const void *bytes, size_t size)
{
	const int result = write_all(c->fd, bytes, size);

	if (result) {
		errno = -result;
		return failed(c);
	}
	c->copied->bytes += size;
	return 0;
}

/* Bytes [@from, @to) of the file that @s is in. */
static int put_range(struct copying *c, struct ctf_stream *s, uint64_t from, uint64_t to)
{
	while (from < to) {
		int64_t have = window_need(s, from, to - from < PIECE ? to - from : PIECE);

		if (have <= 0)
			return err_set(c->err, KYMO_EXIT_INPUT, "%s: cannot be read", s->file[s->file_index].path);
		if (put(c, s->window.bytes + (from - s->window.offset), (size_t)have))
			return -1;
		from += (uint64_t)have;
	}
	return 0;
}

/* ---- cutting ---- */

static unsigned alignment_below(const struct ctf_node *node)
{
	unsigned most = node && node->type->align ? node->type->align : 1;

	for (uint32_t i = 0; node && i < node->child_count; i++) {
		unsigned align = alignment_below(&node->child[i]);

		if (align > most)
			most = align;
	}
	return most;
}

/* Bits to which anything in an event of @class is aligned. */
static unsigned alignment_of(const struct stream_class *class)
{
	unsigned most = alignment_below(class->event_header);

	for (uint32_t i = 0; i < class->class_count; i++)
		for (unsigned k = 0; k < 3; k++) {
			unsigned align = alignment_below(class->class[i]->scope[k]);

			if (align > most)
				most = align;
		}
	return most;
}

/* The four numbers at the beginning of the context of LTTng's packets. */
enum { NUMBER_BEGIN, NUMBER_END, NUMBER_CONTENT, NUMBER_SIZE, NUMBERS };

/* Whether they are there, and their byte order. */
static bool find_numbers(const struct ctf_stream *s, const uint8_t *at, bool *big_endian)
{
	const uint64_t wanted[NUMBERS] = { s->packet.begin, s->packet.end, s->packet.content,
					   s->packet.size };
	bool little = true, big = true;

	for (unsigned i = 0; i < NUMBERS; i++) {
		uint64_t value;

		memcpy(&value, at + i * sizeof value, sizeof value);
		little = little && le64toh(value) == wanted[i];
		big = big && be64toh(value) == wanted[i];
	}
	*big_endian = big;
	return little || big;
}

/* A run of events in a packet. */
struct copy_run {
	uint64_t from, to;		/* bits */
	uint64_t begin, end;		/* clock of the first and the last */
	uint64_t count;
	bool front_cut, tail_cut;
};

static struct copy_run find_run(struct ctf_stream *s, int64_t begin, int64_t end)
{
	struct copy_run run = { .from = s->packet.first_event, .to = s->packet.first_event };
	uint64_t body;

	while (s->at.pos < s->content_end) {
		enum walk_result result = stream_event(s, &body);
		int64_t key;

		if (result == WALK_SHORT && stream_more(s))
			continue;
		if (result)
			break;
		key = epoch_of(s->class, s->clock);
		if (key > end)
			break;
		if (key < begin)
			continue;
		if (!run.count++) {
			run.from = s->event_begin;
			run.begin = s->clock;
		}
		run.to = s->at.pos;
		run.end = s->clock;
	}
	run.front_cut = run.from != s->packet.first_event;
	run.tail_cut = run.to != s->packet.content;
	return run;
}

/* Return: 1: it cannot be cut; 0: done; -1 with the error. */
static int put_run(struct copying *c, struct ctf_stream *s, const struct copy_run *run)
{
	const uint64_t first = s->packet.first_event, at = s->packet.context_begin / 8;
	const uint64_t size = first + run->to - run->from;
	const uint64_t number[NUMBERS] = {
		run->front_cut ? run->begin : s->packet.begin,
		run->tail_cut ? run->end : s->packet.end,
		size,
		size,
	};
	uint8_t *head = s->head_bytes;
	bool big_endian;

	if ((first | run->from | run->to | s->packet.context_begin) & 7 ||
	    (run->from - first) % alignment_of(s->class) || first / 8 < at + sizeof number ||
	    !find_numbers(s, head + at, &big_endian))
		return 1;
	for (unsigned i = 0; i < NUMBERS; i++) {
		uint64_t value = big_endian ? htobe64(number[i]) : htole64(number[i]);

		memcpy(head + at + i * sizeof value, &value, sizeof value);
	}
	c->copied->packets++;
	if (put(c, head, first / 8))
		return -1;
	return put_range(c, s, s->packet_offset + run->from / 8, s->packet_offset + run->to / 8);
}

/* ---- packets ---- */

static bool is_facts(const struct ctf_stream *s)
{
	return s->class->id == CLASS_FACTS && !strcmp(s->reader->trace[s->info.trace]->info.tracer, "kymo");
}

static int put_packet(struct copying *c, struct ctf_stream *s)
{
	const int64_t begin = is_facts(s) ? INT64_MIN : c->begin;
	const bool timed = (s->packet.has & (HAS_BEGIN | HAS_END)) == (HAS_BEGIN | HAS_END);
	int64_t first = timed ? epoch_of(s->class, s->packet.begin) : begin;
	int64_t last = timed ? epoch_of(s->class, s->packet.end) : c->end;
	struct copy_run run;
	int rc;

	if (last < begin || first > c->end)
		return 0;
	if (s->cut_off || first < begin || last > c->end) {
		run = find_run(s, begin, c->end);
		if (!run.count)
			return 0;
		rc = put_run(c, s, &run);
		if (rc <= 0)
			return rc;
		if (s->cut_off) {
			c->copied->left_out++;
			return 0;
		}
		c->copied->uncut++;
	}
	c->copied->packets++;
	return put_range(c, s, s->packet_offset, s->packet_offset + s->packet_bytes);
}

/* ---- files ---- */

/* The file called as @from in @directory. */
static int open_file(struct copying *c, const char *directory, const char *from)
{
	const char *name = strrchr(from, '/') + 1;

	if (snprintf(c->path, sizeof c->path, "%s/%.*s", directory, (int)packed_plain_length(name), name) >=
	    (int)sizeof c->path) {
		errno = ENAMETOOLONG;
		return failed(c);
	}
	c->fd = open(c->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return c->fd < 0 ? failed(c) : 0;
}

static int close_file(struct copying *c, int result)
{
	struct stat st;
	bool empty = c->fd >= 0 && !fstat(c->fd, &st) && !st.st_size;

	if (c->fd >= 0 && close(c->fd) && !result)
		result = failed(c);
	if (empty)
		(void)unlink(c->path);	/* an empty file is no stream */
	c->fd = -1;
	return result;
}

static int copy_stream(struct copying *c, const struct ctf_stream *from, const char *directory)
{
	struct ctf_stream *s = stream_clone(from);
	uint32_t file = UINT32_MAX;
	int result = 0;

	if (!s)
		return err_no_memory(c->err);
	while (!result && stream_next_packet(s)) {
		if (file != s->file_index) {
			result = close_file(c, 0);
			if (!result)
				result = open_file(c, directory, s->file[s->file_index].path);
			file = s->file_index;
		}
		if (!result)
			result = put_packet(c, s);
	}
	stream_clone_free(s);
	return close_file(c, result);
}

static int copy_metadata(struct copying *c, const struct ctf_trace *trace, const char *directory)
{
	uint64_t left = trace->metadata->bytes;
	int from = file_open(trace->metadata_path), result;
	uint64_t bytes = c->copied->bytes;
	char buffer[16384];

	if (from < 0)
		return err_set(c->err, KYMO_EXIT_INPUT, "%s: %s", trace->metadata_path,
			       file_why(from));
	result = open_file(c, directory, trace->metadata_path);
	while (!result && left) {
		ssize_t got =
			read(from, buffer, left < sizeof buffer ? (size_t)left : sizeof buffer);

		if (got <= 0)
			break;
		result = put(c, buffer, (size_t)got);
		left -= (uint64_t)got;
	}
	close(from);
	c->copied->bytes = bytes;
	return close_file(c, result);
}

static int convert_metadata(struct copying *c, const struct ctf_trace *trace, unsigned version,
			    const char *directory)
{
	int (*const write)(const struct ctf_metadata *, FILE *, struct kymo_err *) =
		version == 2 ? ctf2_write : tsdl_write;
	struct kymo_err why = { 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int result = out ? write(trace->metadata, out, &why) : err_no_memory(c->err);

	if (out && result)
		(void)err_set(c->err, why.status, "%s: cannot be written as CTF %s: %s", trace->metadata_path,
			      version == 2 ? "2" : "1.8", why.text);
	if (out && fclose(out) && !result)
		result = err_no_memory(c->err);
	if (!result)
		result = open_file(c, directory, trace->metadata_path);
	if (!result) {
		const uint64_t bytes = c->copied->bytes;

		result = put(c, text, size);
		c->copied->bytes = bytes;
	}
	free(text);
	return close_file(c, result);
}

/* Where @trace goes: below @to as it lies below what was opened; made. */
static int make_directory(struct copying *c, const struct ctf_trace *trace, const char *to,
			  char *path)
{
	const char *root = c->reader->path, *below = trace->path;
	size_t length = strlen(root);

	while (length && root[length - 1] == '/')
		length--;
	if (!strncmp(below, root, length))
		below += length;
	while (*below == '/')
		below++;
	if (snprintf(path, PATH_MAX, "%s/%s", to, below) >= PATH_MAX)
		return err_set(c->err, KYMO_EXIT_FAILED, "the path '%.100s...' is too long", to);
	for (char *slash = path + strlen(to) + 1; *slash; slash++)
		if (*slash == '/') {
			*slash = 0;
			(void)mkdir(path, 0777);	/* the last one tells whether it worked */
			*slash = '/';
		}
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return err_set(c->err, KYMO_EXIT_FAILED, "cannot create %s: %s", path, strerror(errno));
	return 0;
}

int ctf_copy(struct kymo_ctf_reader *reader, const char *to, int64_t begin_ns, int64_t end_ns,
	     unsigned version, struct ctf_copied *copied, struct kymo_err *err)
{
	struct copying c = { .reader = reader,
			     .copied = copied,
			     .err = err,
			     .begin = begin_ns,
			     .end = end_ns,
			     .fd = -1 };
	char directory[PATH_MAX];
	int result = kymo_ctf_window(reader, INT64_MIN, INT64_MAX, err);

	*copied = (struct ctf_copied) { 0 };
	for (unsigned i = 0; i < reader->trace_count && !result; i++) {
		const struct ctf_trace *trace = reader->trace[i];

		result = make_directory(&c, trace, to, directory);
		if (!result)
			result = version && trace->metadata->version != version ?
					 convert_metadata(&c, trace, version, directory) :
					 copy_metadata(&c, trace, directory);
		for (unsigned k = 0; k < reader->stream_count && !result; k++)
			if (reader->stream[k]->info.trace == trace->index)
				result = copy_stream(&c, reader->stream[k], directory);
		copied->traces++;
	}
	return result;
}
