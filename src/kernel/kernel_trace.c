/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's events as a CTF trace: its metadata, and a stream for each CPU. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ctf/write/metadata.h"
#include "kernel/kernel_internal.h"

/* ---- metadata ---- */

static const char *const kind_text[] = {
	[KEVENT_COMM] = "integer { size = 8; align = 8; signed = true; encoding = UTF8; base = 10; }",
	[KEVENT_I32] = "integer { size = 32; align = 8; signed = true; encoding = none; base = 10; }",
	[KEVENT_U32] = "integer { size = 32; align = 8; signed = false; encoding = none; base = 10; }",
	[KEVENT_I64] = "integer { size = 64; align = 8; signed = true; encoding = none; base = 10; }",
	[KEVENT_PTR] = "integer { size = 64; align = 8; signed = false; encoding = none; base = 16; }",
	[KEVENT_STRING] = "string",
	[KEVENT_PRIO] = "integer { size = 32; align = 8; signed = true; encoding = none; base = 10; }",
};

void trace_put_event(FILE *out, unsigned stream, unsigned id, const char *name, const struct kevent_field *field)
{
	fprintf(out, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct {\n", name, id, stream);
	for (; field->kind != KEVENT_NONE; field++)
		fprintf(out, "\t\t%s _%s%s;\n", kind_text[field->kind], field->name,
			field->kind == KEVENT_COMM ? "[16]" : "");
	fprintf(out, "\t};\n};\n\n");
}

static void put_metadata(FILE *out, const struct ctf_trace_desc *desc, const uint8_t uuid[16], const struct kformat *there,
			 unsigned stream)
{
	ctf_metadata_head(out, desc, "kernel", uuid);
	fprintf(out, "stream {\n\tid = %u;\n\tevent.header := struct event_header;\n\tpacket.context := struct packet_context;\n};\n\n",
		stream);
	for (unsigned i = 0; i < kevent_count; i++)
		if (there[i].id)
			trace_put_event(out, stream, i, kevents[i].name, kevents[i].field);
	if (there[KEVENT_ID_syscall_entry_unknown].id)
		calls_metadata(out, stream);
}

static int trace_metadata(int dir_fd, const struct ctf_trace_desc *desc, const uint8_t uuid[16], const struct kformat *there)
{
	int fd = openat(dir_fd, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int rc = 0;

	if (!out) {
		rc = -errno;
		if (fd >= 0)
			(void)close(fd);
		return rc;
	}
	put_metadata(out, desc, uuid, there, 0);
	if (ferror(out))
		rc = -EIO;
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

static void make_uuid(uint8_t uuid[16])
{
	if (getrandom(uuid, 16, 0) != 16)
		memset(uuid, 0x5a, 16);			/* never on Linux */
	uuid[6] = (uuid[6] & 0x0f) | 0x40;		/* version 4, random */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

int trace_make(const char *dir, const struct ctf_trace_desc *desc, const struct kformat *there, uint8_t uuid[16], int *dir_fd,
	       struct kymo_err *err)
{
	int rc;

	*dir_fd = -1;
	make_uuid(uuid);
	if (mkdir(dir, 0755) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create %s: %s", dir, strerror(errno));
	*dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dir_fd < 0 || mkdirat(*dir_fd, "index", 0755) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write into %s: %s", dir, strerror(errno));
	rc = trace_metadata(*dir_fd, desc, uuid, there);
	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot write into %s: %s", dir, strerror(-rc)) : 0;
}

int trace_store(const struct ctf_store *store, const struct ctf_trace_desc *desc, const struct kformat *there, uint8_t uuid[16],
		struct kymo_err *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc = -ENOMEM;

	make_uuid(uuid);
	if (out)
		put_metadata(out, desc, uuid, there, CTF_CLASS_KERNEL);
	if (out && fclose(out) == 0)
		rc = store->metadata(store->context, uuid, text, size);
	free(text);
	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot send kernel events: %s", strerror(-rc)) : 0;
}

void trace_unmake(const char *dir, int dir_fd, const struct kstream *stream, unsigned count)
{
	char name[48];

	for (unsigned i = 0; i < count; i++) {
		if (!stream[i].name[0])
			continue;
		(void)snprintf(name, sizeof(name), "index/%s.idx", stream[i].name);
		(void)unlinkat(dir_fd, stream[i].name, 0);
		(void)unlinkat(dir_fd, name, 0);
	}
	(void)unlinkat(dir_fd, "metadata", 0);
	(void)unlinkat(dir_fd, "index", AT_REMOVEDIR);
	(void)rmdir(dir);
}

/* ---- streams ---- */

/* In front of a packet's events, as the metadata says. */
struct __attribute__((packed)) head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t begin, end, content_size, packet_size, seq, discarded;
	uint32_t cpu;
};

struct __attribute__((packed)) event_head {
	uint16_t id;
	uint64_t ns;
};

static int make_file(int dir_fd, const char *name)
{
	return openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
}

static void name_stream(struct kstream *stream)
{
	(void)snprintf(stream->name, sizeof(stream->name), "channel0_%u", stream->cpu);
}

int stream_open(struct kstream *stream, int dir_fd, uint32_t cpu, const uint8_t uuid[16])
{
	*stream = (struct kstream){ .dir_fd = dir_fd, .cpu = cpu, .uuid = uuid, .room = 2 * TRACE_PACKET };
	name_stream(stream);
	stream->fd = make_file(dir_fd, stream->name);
	stream->events = malloc(stream->room);
	if (stream->fd >= 0 && stream->events)
		return 0;
	cpu = stream->fd < 0 ? (uint32_t)errno : ENOMEM;
	if (stream->fd >= 0)
		(void)close(stream->fd);
	free(stream->events);
	stream->events = NULL;
	return -(int)cpu;
}

int stream_keep(struct kstream *stream, uint32_t cpu, struct kkept *kept)
{
	*stream = (struct kstream){ .dir_fd = -1, .fd = -1, .cpu = cpu, .kept = kept, .room = 2 * TRACE_PACKET };
	stream->events = malloc(stream->room);
	return stream->events ? 0 : -ENOMEM;
}

int stream_store(struct kstream *stream, const struct ctf_store *store, uint32_t cpu, const uint8_t uuid[16])
{
	*stream = (struct kstream){ .dir_fd = -1, .fd = -1, .cpu = cpu, .store = store, .uuid = uuid, .room = 2 * TRACE_PACKET };
	name_stream(stream);
	stream->events = malloc(stream->room);
	return stream->events ? 0 : -ENOMEM;
}

/* All of a packet or nothing: what was written of one that failed is cut off. */
static int write_packet(struct kstream *stream, const struct head *head)
{
	struct iovec part[2] = { { (void *)head, sizeof(*head) }, { stream->events, stream->size } };
	size_t size = sizeof(*head) + stream->size;
	ssize_t done;

	do
		done = pwritev(stream->fd, part, 2, (off_t)stream->offset);
	while (done < 0 && errno == EINTR);
	if (done == (ssize_t)size)
		return 0;
	size = done < 0 ? (size_t)errno : ENOSPC;
	(void)!ftruncate(stream->fd, (off_t)stream->offset);
	return -(int)size;
}

/* What the store does not take is lost, and told with the next packet. */
static int store_packet(struct kstream *stream, const struct head *head, const struct ctf_index_entry *entry)
{
	const struct ctf_framed packet = {
		.name = stream->name, .class = CTF_CLASS_KERNEL, .stream = &stream->stored, .entry = entry, .head = head,
		.head_size = sizeof(*head), .events = stream->events, .size = stream->size, .count = stream->count,
	};

	if (stream->store->packet(stream->store->context, &packet) == 0)
		return 0;
	stream->refused += stream->count;
	stream->size = stream->count = 0;
	return 1;
}

static uint64_t lost_here(const struct kstream *stream)
{
	return stream->lost + stream->refused - stream->base;
}

static struct head head_of(const struct kstream *stream, uint64_t now_ns)
{
	const uint64_t bits = (sizeof(struct head) + stream->size) * 8;
	struct head head = {
		.magic = CTF_PACKET_MAGIC, .stream_id = stream->store ? CTF_CLASS_KERNEL : 0, .stream_instance_id = stream->cpu,
		.content_size = bits, .packet_size = bits, .begin = stream->size ? stream->begin_ns : now_ns,
		.end = stream->size ? stream->last_ns : now_ns, .seq = stream->seq, .discarded = lost_here(stream),
		.cpu = stream->cpu,
	};

	if (stream->uuid)
		memcpy(head.uuid, stream->uuid, sizeof(head.uuid));
	return head;
}

static int put_packet(struct kstream *stream, uint64_t now_ns)
{
	const struct head head = head_of(stream, now_ns);
	const struct ctf_index_entry entry = {
		.offset = stream->offset, .packet_size = head.packet_size, .content_size = head.content_size,
		.timestamp_begin = head.begin, .timestamp_end = head.end, .events_discarded = head.discarded,
		.stream_id = head.stream_id, .stream_instance_id = stream->cpu, .packet_seq_num = head.seq,
	};
	int rc;

	if (stream->kept)
		rc = kept_add(stream->kept, head.begin, head.end, head.discarded, stream->events, stream->size, stream->count);
	else
		rc = stream->store ? store_packet(stream, &head, &entry) : write_packet(stream, &head);
	if (rc)
		return rc < 0 ? rc : 0;
	if (!stream->kept && !stream->store)
		ctf_index_add(&stream->index, stream->dir_fd, stream->name, &entry);
	stream->last_ns = head.end;
	stream->offset += head.packet_size / 8;
	stream->bytes += head.packet_size / 8;
	stream->written_lost = stream->lost + stream->refused;
	stream->seq++;
	stream->size = stream->count = 0;
	return 0;
}

int kept_write(const struct kkept *kept, struct kstream *stream, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t lost = kept->lost_before;
	int rc = 0;

	for (const struct kpacket *packet = kept->first; rc == 0 && packet && packet->begin_ns <= end_ns; packet = packet->next) {
		if (packet->end_ns < begin_ns) {
			lost = packet->lost;
			continue;
		}
		if (!stream->seq)
			rc = put_packet(stream, packet->begin_ns);	/* so that a reader sees what the next one has lost */
		memcpy(stream->events, packet->events, packet->size);
		stream->size = packet->size;
		stream->count = packet->count;
		stream->taken += packet->count;
		stream->begin_ns = packet->begin_ns;
		stream->last_ns = packet->end_ns;
		stream->lost = packet->lost - lost;
		rc = rc ? rc : put_packet(stream, packet->end_ns);
	}
	return rc;
}

int stream_front(struct kstream *stream, uint64_t now_ns)
{
	return put_packet(stream, now_ns);
}

int stream_flush(struct kstream *stream, uint64_t now_ns)
{
	return stream->size || stream->lost + stream->refused != stream->written_lost ? put_packet(stream, now_ns) : 0;
}

int stream_add(struct kstream *stream, unsigned id, uint64_t ns, const void *payload, size_t size)
{
	/* An interrupt between the clock and the ring puts its own record first: time stands still then. */
	struct event_head head = { (uint16_t)id, ns > stream->last_ns ? ns : stream->last_ns };

	if (!stream->size)
		stream->begin_ns = head.ns;
	stream->last_ns = head.ns;
	memcpy(stream->events + stream->size, &head, sizeof(head));
	memcpy(stream->events + stream->size + sizeof(head), payload, size);
	stream->size += sizeof(head) + size;
	stream->taken++;
	stream->count++;
	return stream->size < TRACE_PACKET ? 0 : stream_flush(stream, stream->last_ns);
}

static int end_file(struct kstream *stream)
{
	ctf_index_finish(&stream->index, stream->dir_fd, stream->name);
	return close(stream->fd) < 0 ? -errno : 0;
}

int stream_turn(struct kstream *stream, int dir_fd)
{
	int rc = stream_flush(stream, stream->last_ns), ended;

	ended = end_file(stream);
	stream->dir_fd = dir_fd;
	stream->index = (struct ctf_index){ 0 };
	stream->seq = stream->offset = 0;
	stream->base = stream->written_lost = stream->lost;
	stream->taken_before = stream->taken;
	stream->fd = make_file(dir_fd, stream->name);
	if (stream->fd < 0)
		return -errno;
	if (rc == 0)
		rc = ended;
	/* From the last event on: what was held back may still come. */
	return rc ? rc : put_packet(stream, stream->last_ns);
}

int stream_close(struct kstream *stream, uint64_t now_ns)
{
	int rc = stream->events ? stream_flush(stream, now_ns) : 0, ended;

	if (!stream->events)
		return 0;
	if (stream->store && stream->stored) {
		stream->store->end(stream->store->context, stream->stored);
	} else if (!stream->kept && !stream->store && stream->fd >= 0) {
		ended = end_file(stream);
		rc = rc ? rc : ended;
	}
	free(stream->events);
	stream->events = NULL;
	return rc;
}
