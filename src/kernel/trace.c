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

#include "ctf/metadata.h"
#include "kernel/internal.h"

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

void trace_put_event(FILE *out, unsigned id, const char *name, const struct kevent_field *field)
{
	fprintf(out, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", name, id);
	for (; field->kind != KEVENT_NONE; field++)
		fprintf(out, "\t\t%s _%s%s;\n", kind_text[field->kind], field->name,
			field->kind == KEVENT_COMM ? "[16]" : "");
	fprintf(out, "\t};\n};\n\n");
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
	ctf_metadata_head(out, desc, "kernel", uuid);
	fputs("stream {\n\tid = 0;\n\tevent.header := struct event_header;\n\tpacket.context := struct packet_context;\n};\n\n",
	      out);
	for (unsigned i = 0; i < kevent_count; i++)
		if (there[i].id)
			trace_put_event(out, i, kevents[i].name, kevents[i].field);
	if (there[KEVENT_ID_syscall_entry_unknown].id)
		calls_metadata(out);
	if (ferror(out))
		rc = -EIO;
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

int trace_make(const char *dir, const struct ctf_trace_desc *desc, const struct kformat *there, uint8_t uuid[16], int *dir_fd,
	       struct err *err)
{
	int rc;

	*dir_fd = -1;
	if (getrandom(uuid, 16, 0) != 16)
		memset(uuid, 0x5a, 16);			/* never on Linux */
	uuid[6] = (uuid[6] & 0x0f) | 0x40;		/* version 4, random */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
	if (mkdir(dir, 0755) < 0)
		return err_set(err, EXIT_FAILED, "cannot make %s: %s", dir, strerror(errno));
	*dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dir_fd < 0 || mkdirat(*dir_fd, "index", 0755) < 0)
		return err_set(err, EXIT_FAILED, "cannot write into %s: %s", dir, strerror(errno));
	rc = trace_metadata(*dir_fd, desc, uuid, there);
	return rc < 0 ? err_set(err, EXIT_FAILED, "cannot write into %s: %s", dir, strerror(-rc)) : 0;
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

int stream_open(struct kstream *stream, int dir_fd, uint32_t cpu, const uint8_t uuid[16])
{
	*stream = (struct kstream){ .dir_fd = dir_fd, .cpu = cpu, .uuid = uuid, .room = 2 * TRACE_PACKET };
	(void)snprintf(stream->name, sizeof(stream->name), "channel0_%u", cpu);
	stream->fd = openat(dir_fd, stream->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
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

static int put_packet(struct kstream *stream, uint64_t now_ns)
{
	uint64_t bits = (sizeof(struct head) + stream->size) * 8;
	struct head head = {
		.magic = CTF_PACKET_MAGIC, .stream_instance_id = stream->cpu, .content_size = bits, .packet_size = bits,
		.begin = stream->size ? stream->begin_ns : now_ns, .end = stream->size ? stream->last_ns : now_ns,
		.seq = stream->seq, .discarded = stream->lost, .cpu = stream->cpu,
	};
	int rc;

	if (stream->kept) {
		rc = kept_add(stream->kept, head.begin, head.end, stream->lost, stream->events, stream->size);
	} else {
		memcpy(head.uuid, stream->uuid, sizeof(head.uuid));
		rc = write_packet(stream, &head);
	}
	if (rc < 0)
		return rc;
	if (!stream->kept)
		ctf_index_add(&stream->index, stream->dir_fd, stream->name, &(struct ctf_index_entry){
		.offset = stream->offset, .packet_size = bits, .content_size = bits, .timestamp_begin = head.begin,
		.timestamp_end = head.end, .events_discarded = head.discarded, .stream_id = 0,
		.stream_instance_id = stream->cpu, .packet_seq_num = head.seq,
	});
	stream->last_ns = head.end;
	stream->offset += bits / 8;
	stream->written_lost = stream->lost;
	stream->seq++;
	stream->size = 0;
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
	return stream->size || stream->lost != stream->written_lost ? put_packet(stream, now_ns) : 0;
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
	return stream->size < TRACE_PACKET ? 0 : stream_flush(stream, stream->last_ns);
}

int stream_close(struct kstream *stream, uint64_t now_ns)
{
	int rc = stream->events ? stream_flush(stream, now_ns) : 0;

	if (!stream->events)
		return 0;
	if (!stream->kept) {
		ctf_index_finish(&stream->index, stream->dir_fd, stream->name);
		if (close(stream->fd) < 0 && rc == 0)
			rc = -errno;
	}
	free(stream->events);
	stream->events = NULL;
	return rc;
}
