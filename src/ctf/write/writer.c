/* SPDX-License-Identifier: Apache-2.0 */
/* Stream files: packet framing, all-or-nothing appends, and a bounded number of open files. */
#include "ctf/write/writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "abi/points.h"
#include "ctf/format/index.h"
#include "ctf/write/metadata.h"
#include "base/io.h"
#include "ctf/format/lock.h"

/* Packet header and packet context, as the metadata declares them. */
struct packet_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint32_t cpu_id;
	/* CTF_CLASS_RUN only, and the first also CTF_CLASS_MERGED: */
	int32_t vpid;
	int32_t vtid;
	char procname[CTF_PROCNAME_SIZE];
} __attribute__((packed));

static const size_t head_size[CTF_CLASS_COUNT] = {
	[CTF_CLASS_RUN] = sizeof(struct packet_head),
	[CTF_CLASS_INIT] = offsetof(struct packet_head, vpid),
	[CTF_CLASS_MERGED] = offsetof(struct packet_head, vtid),
	[CTF_CLASS_KERNEL] = offsetof(struct packet_head, vpid),
};
static_assert(offsetof(struct packet_head, vpid) == 84, "LTTng's packet header and context");
static_assert(sizeof(struct packet_head) == CTF_PACKET_HEAD_MAX, "as writer.h says");

struct ctf_out {
	struct ctf_writer *writer;
	struct ctf_out *prev, *next;		/* of all streams */
	unsigned place;				/* in opened.out, when it is open */
	int fd;					/* -1: not open at the moment */
	enum ctf_class class;
	bool made;				/* the file exists */
	bool torn;				/* it may be longer than length: truncate it first */
	uint64_t length;			/* bytes of whole packets */
	uint64_t instance;
	uint64_t packets;
	struct ctf_index index;
	void *stored;				/* of the store */
	char name[];
};

struct ctf_writer {
	const struct ctf_store *store;		/* NULL: it is a directory */
	int dir_fd;
	char *dir;
	ctf_watch_fn *watch;
	void *watch_context;
	off_t metadata_length;
	uint8_t uuid[16];
	uint64_t bytes;
	uint64_t index_bytes;
	uint64_t next_instance;
	struct ctf_share share;
	uint64_t out_count;
	struct ctf_out *outs;
	bool declared[CTF_CLASS_COUNT][KYMO_POINTS_TABLE];
	bool own_declared[CTF_CLASS_COUNT][KYMO_POINTS_MAX - KYMO_POINTS_TABLE];
};

/* Streams with a descriptor, of all writers: descriptors are the program's. */
static struct {
	struct ctf_out *out[CTF_WRITER_OPEN_MAX];
	unsigned count;
	unsigned indexes; /* that hold a descriptor, too; only of streams in @out */
} opened;

/* ---- before a write ---- */

void ctf_writer_watch(struct ctf_writer *writer, ctf_watch_fn *before, void *context)
{
	writer->watch = before;
	writer->watch_context = context;
}

static void announce(const struct ctf_writer *writer, const char *name, uint64_t offset, uint64_t size,
		 const void *head, size_t bytes)
{
	if (writer->watch)
		writer->watch(writer->watch_context, &(struct ctf_place){
			writer->dir, name, offset, size, head, bytes,
		});
}

/* ---- metadata ---- */

/* Puts a file back to its last good length. */
static int cut(int fd, uint64_t length)
{
	return ftruncate(fd, (off_t)length) < 0 ? -errno : 0;
}

static bool gave_one_up(void);

/* Another descriptor of the metadata that is held locked, or -1: somebody removed it. */
static int metadata_again(const struct ctf_share *share)
{
	struct stat st;

	if (fstat(share->metadata, &st) == 0 && st.st_nlink)
		return fcntl(share->metadata, F_DUPFD_CLOEXEC, 0);
	errno = ENOENT;
	return -1;
}

/*
 * Appends @text whole or not at all. The file gets its name when the first text is complete: a directory without
 * metadata is not a trace, but one with half of it is a broken trace.
 */
static int file_append(struct ctf_writer *writer, const char *text, size_t size)
{
	const uint64_t length = (uint64_t)writer->metadata_length;
	const char *name = length ? "metadata" : "metadata.part";
	int flags = length ? O_NOFOLLOW : O_CREAT | O_EXCL;
	const bool held = length && writer->share.active && writer->share.metadata >= 0;
	ssize_t done;
	int fd, rc = 0;

	while ((fd = held ? metadata_again(&writer->share)
			  : openat(writer->dir_fd, name, O_WRONLY | O_CLOEXEC | flags, 0644)) < 0)
		if (!gave_one_up())
			return -errno;
	if (writer->share.active && !held)
		(void)ctf_lock_all(fd, length);	/* until it is closed */
	announce(writer, name, length, size, NULL, 0);
	done = pwrite(fd, text, size, writer->metadata_length);
	if (done != (ssize_t)size) {
		rc = done < 0 ? -errno : -ENOSPC;
		(void)cut(fd, length);		/* the next append overwrites it */
	}
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (!length && rc == 0 && renameat(writer->dir_fd, name, writer->dir_fd, "metadata") < 0)
		rc = -errno;
	if (rc == 0)
		writer->metadata_length += done;
	if (rc == 0 && held)
		(void)ctf_lock_ready(writer->share.metadata, length, size);
	else if (rc < 0 && !length)
		(void)unlinkat(writer->dir_fd, name, 0);	/* so that the next call can try again */
	return rc;
}

static int metadata_append(struct ctf_writer *writer, const char *text, size_t size)
{
	int rc;

	if (!writer->store)
		return file_append(writer, text, size);
	rc = writer->store->metadata(writer->store->context, writer->uuid, text, size);
	if (rc == 0)
		writer->metadata_length += (off_t)size;
	return rc;
}

/* Text that is appended to the metadata as a whole: text_begin(), prints to `out`, text_append(). */
struct text {
	FILE *out;
	char *bytes;
	size_t size;
};

static bool text_begin(struct text *text)
{
	*text = (struct text){ 0 };
	text->out = open_memstream(&text->bytes, &text->size);
	return text->out;
}

static int text_append(struct text *text, struct ctf_writer *writer)
{
	int rc = fclose(text->out) == 0 ? 0 : -ENOMEM;

	if (rc == 0 && text->size)
		rc = metadata_append(writer, text->bytes, text->size);
	free(text->bytes);
	return rc;
}

static int metadata_create(struct ctf_writer *writer, const struct ctf_trace_desc *desc)
{
	struct text text;

	if (!text_begin(&text))
		return -ENOMEM;
	ctf_metadata_uuid(writer->uuid);
	ctf_metadata_begin(text.out, desc, writer->uuid);
	return text_append(&text, writer);
}

/* Declares all ids of @wanted that are not declared in @class yet, in one write. */
static int declare_all(struct ctf_writer *writer, enum ctf_class class, const bool wanted[KYMO_POINTS_TABLE])
{
	bool *declared = writer->declared[class];
	struct text text;
	int rc;

	if (!text_begin(&text))
		return -ENOMEM;
	for (unsigned id = 0; id < KYMO_POINTS_TABLE; id++)
		if (wanted[id] && !declared[id])
			ctf_metadata_event(text.out, &kymo_points[id], id, class);
	rc = text_append(&text, writer);
	for (unsigned id = 0; rc == 0 && id < KYMO_POINTS_TABLE; id++)
		declared[id] |= wanted[id];
	return rc;
}

int ctf_writer_declare(struct ctf_writer *writer, unsigned id)
{
	bool wanted[KYMO_POINTS_TABLE] = { false };
	enum ctf_class class;

	assert(id < KYMO_POINTS_TABLE);
	class = kymo_points[id].phase == KYMO_PHASE_INIT ? CTF_CLASS_INIT : CTF_CLASS_RUN;
	if (writer->declared[class][id])
		return 0;
	wanted[id] = true;
	return declare_all(writer, class, wanted);
}

static bool emits(unsigned version, const struct kymo_point *point)
{
	if (point->phase != KYMO_PHASE_RUN || point->from > point->to)
		return false;
	if (version == CTF_NO_TRACETOOLS)
		return strncmp(point->provider, "ros2", 4) != 0;
	return !version || (point->from <= version && version <= point->to);
}

int ctf_writer_declare_version(struct ctf_writer *writer, enum ctf_class class, unsigned version)
{
	bool wanted[KYMO_POINTS_TABLE] = { false };

	for (unsigned id = 0; id < KYMO_POINTS_TABLE; id++)
		wanted[id] = emits(version, &kymo_points[id]);
	return declare_all(writer, class, wanted);
}

int ctf_writer_declare_own(struct ctf_writer *writer, enum ctf_class class, unsigned id,
			   const struct kymo_point *point)
{
	bool *declared = &writer->own_declared[class][id - KYMO_POINTS_TABLE];
	struct text text;
	int rc;

	assert(id >= KYMO_POINTS_TABLE && id < KYMO_POINTS_MAX);
	if (*declared)
		return 0;
	if (!text_begin(&text))
		return -ENOMEM;
	ctf_metadata_event(text.out, point, id, class);
	rc = text_append(&text, writer);
	*declared = rc == 0;
	return rc;
}

/* ---- the writer ---- */

static int out_index(struct ctf_out *out, const struct ctf_index_entry *entry);

static int writer_open(struct ctf_writer *writer, const char *dir,
		       const struct ctf_trace_desc *desc)
{
	writer->dir = strdup(dir);
	if (!writer->dir)
		return -ENOMEM;
	while ((writer->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		if (!gave_one_up())
			return -errno;
	if (mkdirat(writer->dir_fd, "index", 0755) < 0 && errno != EEXIST)
		return -errno;
	return metadata_create(writer, desc);
}

int ctf_writer_create(const char *dir, const struct ctf_trace_desc *desc,
		      struct ctf_writer **result, struct kymo_err *err)
{
	struct ctf_writer *writer = calloc(1, sizeof *writer);
	int rc;

	if (!writer)
		return err_no_memory(err);
	writer->dir_fd = -1;
	rc = writer_open(writer, dir, desc);
	if (rc < 0) {
		ctf_writer_close(writer);
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot create a trace in %s: %s; choose another "
			      "place with -o DIR", dir, strerror(-rc));
		errno = -rc;
		return -1;
	}
	*result = writer;
	return 0;
}

int ctf_writer_create_in(const struct ctf_store *store, const struct ctf_trace_desc *desc,
			 struct ctf_writer **result, struct kymo_err *err)
{
	struct ctf_writer *writer = calloc(1, sizeof *writer);
	int rc = -ENOMEM;

	if (writer) {
		writer->store = store;
		writer->dir_fd = -1;
		rc = metadata_create(writer, desc);
	}
	if (rc < 0) {
		ctf_writer_close(writer);
		return err_set(err, KYMO_EXIT_FAILED, "cannot create a trace: %s", strerror(-rc));
	}
	*result = writer;
	return 0;
}

uint64_t ctf_writer_bytes(const struct ctf_writer *writer)
{
	return writer->bytes;
}

uint64_t ctf_writer_disk(const struct ctf_writer *writer)
{
	return (uint64_t)writer->metadata_length + writer->bytes + writer->index_bytes +
	       (writer->share.active ? CTF_SYNC_BYTES : 0);
}

bool ctf_writer_is_gone(const struct ctf_writer *writer)
{
	struct stat there, mine;
	char path[PATH_MAX];

	if (writer->store)
		return false;
	(void)snprintf(path, sizeof path, "%s/metadata", writer->dir);
	if (lstat(path, &there) < 0)
		return errno == ENOENT || errno == ENOTDIR;
	return fstatat(writer->dir_fd, "metadata", &mine, AT_SYMLINK_NOFOLLOW) < 0 ? errno == ENOENT :
	       there.st_ino != mine.st_ino || there.st_dev != mine.st_dev;
}

void ctf_writer_close(struct ctf_writer *writer)
{
	if (!writer)
		return;
	while (writer->outs)
		ctf_out_close(writer->outs);
	ctf_share_end(&writer->share);
	if (writer->dir_fd >= 0)
		(void)close(writer->dir_fd);
	free(writer->dir);
	free(writer);
}

void ctf_writer_share(struct ctf_writer *writer)
{
	if (!writer->store)
		ctf_share_begin(&writer->share, writer->dir_fd, (uint64_t)writer->metadata_length);
}

unsigned ctf_writer_point(struct ctf_writer *writer, uint64_t ns)
{
	unsigned flushed = 0;

	if (!writer->share.active)
		return 0;
	for (struct ctf_out *out = writer->outs; out; out = out->next)
		flushed += (unsigned)out_index(out, NULL);
	ctf_share_point(&writer->share, ns, writer->out_count);
	return flushed;
}

/* ---- open files ---- */

static void index_shut(struct ctf_out *out)
{
	opened.indexes -= out->index.held > 0;
	ctf_index_let_go(&out->index);
}

static void out_shut(struct ctf_out *out)
{
	if (out->fd < 0)
		return;
	index_shut(out);
	opened.out[out->place] = opened.out[--opened.count];
	opened.out[out->place]->place = out->place;
	if (out->writer->share.active)
		(void)ctf_lock_ready(out->fd, 0, CTF_LOCK_REST);	/* a child that was forked may have it open, too */
	(void)close(out->fd);
	out->fd = -1;
}

/*
 * A random one (xorshift by Marsaglia). Streams are written in turn, so with too many of them, the least recently used
 * one is exactly the one that is needed next.
 */
static unsigned random_place(void)
{
	static uint32_t random = 2463534242u;

	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	return random % opened.count;
}

/* Indexes give their descriptors first: without one, an index is locked only while it is written.
 */
static void shut_one(void)
{
	unsigned at = random_place();

	if (!opened.indexes) {
		out_shut(opened.out[at]);
		return;
	}
	while (!opened.out[at]->index.held)
		at = (at + 1) % opened.count;
	index_shut(opened.out[at]);
}

/* A small limit leaves descriptors for others: regions, accounts, /proc. */
static unsigned open_max(void)
{
	static unsigned most;
	struct rlimit limit;

	if (most)
		return most;
	most = CTF_WRITER_OPEN_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 5 < most)
		most = limit.rlim_cur < 5 ? 1 : (unsigned)(limit.rlim_cur / 5);
	return most;
}

/* After a refused open. Return: whether to try again: a descriptor was missing, and a stream gave
 * its own. */
static bool gave_one_up(void)
{
	if (errno != EMFILE || !opened.count)
		return false;
	shut_one();
	return true;
}

/* Opens the file of @out. With O_APPEND, a torn tail is the only damage that can occur. */
static int out_open(struct ctf_out *out)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
		    (out->made ? 0 : O_CREAT | O_EXCL);

	if (out->fd >= 0)
		return 0;
	while (opened.count && opened.count + opened.indexes >= open_max())
		shut_one();
	while ((out->fd = openat(out->writer->dir_fd, out->name, flags, 0644)) < 0)
		if (!gave_one_up())
			return -errno;
	if (opened.count && fds_exceed(out->fd, 7))
		shut_one();
	if (out->writer->share.active)
		(void)ctf_lock_all(out->fd, out->length);
	out->made = true;
	out->place = opened.count;
	opened.out[opened.count++] = out;
	return 0;
}

/*
 * Adds @entry; NULL: writes what was added, and returns whether there was something. The file stays
 * open, and locked behind its entries, while descriptors suffice for streams and indexes.
 */
static int out_index(struct ctf_out *out, const struct ctf_index_entry *entry)
{
	const bool held = out->index.held > 0;
	int wrote = 0;

	out->index.hold = held || (out->writer->share.active && out->fd >= 0 &&
				   opened.count + opened.indexes < open_max());
	if (entry)
		ctf_index_add(&out->index, out->writer->dir_fd, out->name, entry);
	else
		wrote = ctf_index_flush(&out->index, out->writer->dir_fd, out->name);
	opened.indexes += (out->index.held > 0) - held;
	if (!held && out->index.held && fds_exceed(out->index.held - 1, 7))
		index_shut(out);
	return wrote;
}

/* ---- packets ---- */

struct ctf_out *ctf_out_create(struct ctf_writer *writer, enum ctf_class class, const char *name)
{
	size_t size = strlen(name) + 1;
	struct ctf_out *out = calloc(1, sizeof *out + size);

	if (!out)
		return NULL;
	memcpy(out->name, name, size);
	out->writer = writer;
	out->class = class;
	out->fd = -1;
	out->instance = writer->next_instance++;
	out->next = writer->outs;
	if (writer->outs)
		writer->outs->prev = out;
	writer->outs = out;
	writer->out_count++;
	return out;
}

static void head_fill(struct packet_head *head, const struct ctf_out *out,
		      const struct ctf_packet *packet)
{
	uint64_t bits = (head_size[out->class] + packet->size) * 8;

	*head = (struct packet_head){
		.magic = CTF_PACKET_MAGIC,
		.stream_id = out->class,
		.stream_instance_id = out->instance,
		.timestamp_begin = packet->begin,
		.timestamp_end = packet->end,
		.content_size = bits,
		.packet_size = bits,
		.packet_seq_num = out->packets,
		.events_discarded = packet->discarded,
		.cpu_id = packet->cpu,
		.vpid = packet->vpid,
		.vtid = packet->vtid,
	};
	memcpy(head->uuid, out->writer->uuid, sizeof head->uuid);
	memcpy(head->procname, packet->procname, sizeof head->procname);
}

/* Cuts what a failed write left; until that succeeds the stream takes no packet. */
static int out_repair(struct ctf_out *out)
{
	int rc = out->torn ? cut(out->fd, out->length) : 0;

	out->torn = rc < 0;
	return rc;
}

/* Normally one call; if not all of it fits, the next call says why. @written grows by the bytes in the file. */
static int write_parts(int fd, struct iovec part[2], size_t *written)
{
	while (part[0].iov_len + part[1].iov_len) {
		ssize_t done = writev(fd, part, part[1].iov_len ? 2 : 1);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -ENOSPC;
		*written += (size_t)done;
		for (unsigned i = 0; i < 2; i++) {
			size_t step = (size_t)done < part[i].iov_len ? (size_t)done : part[i].iov_len;

			part[i].iov_base = (uint8_t *)part[i].iov_base + step;
			part[i].iov_len -= step;
			done -= (ssize_t)step;
		}
	}
	return 0;
}

static int out_write(struct ctf_out *out, const struct packet_head *head, const void *events,
		     size_t size)
{
	struct iovec part[2] = {
		{ (void *)head, head_size[out->class] },
		{ (void *)events, size },
	};
	size_t written = 0;
	int rc = write_parts(out->fd, part, &written);

	if (rc == 0)
		return 0;
	out->torn = written > 0;
	(void)out_repair(out);		/* if that fails, the next packet tries again */
	return rc;
}

static int out_append(struct ctf_out *out, const struct packet_head *head, const struct ctf_packet *packet)
{
	int rc = out_open(out);

	if (rc == 0)
		rc = out_repair(out);
	if (rc < 0)
		return rc;
	announce(out->writer, out->name, out->length, head->packet_size / 8, head, head_size[out->class]);
	rc = out_write(out, head, packet->events, packet->size);
	if (rc == 0 && out->writer->share.active)
		(void)ctf_lock_ready(out->fd, out->length, head->packet_size / 8);
	return rc;
}

static int out_store(struct ctf_out *out, const struct packet_head *head, const struct ctf_packet *packet,
		     const struct ctf_index_entry *entry)
{
	const struct ctf_store *store = out->writer->store;

	return store->packet(store->context, &(struct ctf_framed){
		.name = out->name, .class = out->class, .stream = &out->stored, .entry = entry,
		.head = head, .head_size = head_size[out->class], .events = packet->events, .size = packet->size,
		.watch = out->writer->watch, .watch_context = out->writer->watch_context,
	});
}

int ctf_out_packet(struct ctf_out *out, const struct ctf_packet *packet)
{
	struct ctf_index_entry entry;
	struct packet_head head;
	int rc;

	head_fill(&head, out, packet);
	entry = (struct ctf_index_entry){
		.offset = out->length,
		.packet_size = head.packet_size,
		.content_size = head.content_size,
		.timestamp_begin = head.timestamp_begin,
		.timestamp_end = head.timestamp_end,
		.events_discarded = head.events_discarded,
		.stream_id = head.stream_id,
		.stream_instance_id = head.stream_instance_id,
		.packet_seq_num = head.packet_seq_num,
		.events_discarded_len = 8 * sizeof head.events_discarded,
		.events = packet->count,
	};
	rc = out->writer->store ? out_store(out, &head, packet, &entry) : out_append(out, &head, packet);
	if (rc < 0)
		return rc;
	if (!out->writer->store)
		(void)out_index(out, &entry);
	out->length += head.packet_size / 8;
	out->writer->bytes += head.packet_size / 8;
	out->writer->index_bytes += sizeof(struct ctf_index_entry) + (out->packets ? 0 : CTF_INDEX_HEADER);
	out->packets++;
	return 0;
}

uint64_t ctf_out_packets(const struct ctf_out *out)
{
	return out->packets;
}

size_t ctf_packet_front(enum ctf_class class, const void *packet, size_t size, struct ctf_index_entry *entry,
			uint8_t bytes[CTF_PACKET_HEAD_MAX])
{
	struct packet_head head;

	if (class >= CTF_CLASS_COUNT || size < head_size[class])
		return 0;
	memcpy(&head, packet, head_size[class]);
	entry->packet_size = entry->content_size = head_size[class] * 8;
	head.timestamp_begin = entry->timestamp_begin;
	head.timestamp_end = entry->timestamp_end;
	head.content_size = head.packet_size = entry->packet_size;
	head.packet_seq_num = entry->packet_seq_num;
	head.events_discarded = entry->events_discarded;
	memcpy(bytes, &head, head_size[class]);
	return head_size[class];
}

static void out_finish(struct ctf_out *out)
{
	const int dir_fd = out->writer->dir_fd;

	if (out->torn && out_open(out) == 0)
		(void)out_repair(out);
	out_shut(out);
	ctf_index_finish(&out->index, dir_fd, out->name);
	if (out->made && !out->packets)
		(void)unlinkat(dir_fd, out->name, 0);	/* an empty file is not a stream */
}

void ctf_out_close(struct ctf_out *out)
{
	struct ctf_writer *writer = out->writer;

	if (!writer->store)
		out_finish(out);
	else if (out->stored)
		writer->store->end(writer->store->context, out->stored);
	writer->out_count--;
	*(out->prev ? &out->prev->next : &writer->outs) = out->next;
	if (out->next)
		out->next->prev = out->prev;
	free(out);
}
