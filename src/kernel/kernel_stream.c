/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's events of one CPU as packets of CTF, and the last packets in memory for the flight
 * recorder.
 *
 * Events are collected until they have PACKET_SIZE bytes. A packet is written as a whole: of one
 * that cannot be written, nothing stays in the file. The head of a packet says how many events were
 * lost so far; what a store refuses is lost, too, and the next packet reports it.
 *
 * Kept packets are dropped when they are older than the window, and the oldest ones when all have
 * more bytes than the limit. The latest one stays in any case.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "kernel/kernel_stream.h"

#define PACKET_SIZE (64u << 10)	/* bytes of events after which a packet is written */

/* Before the events of a packet, as the metadata says. */
struct __attribute__((packed)) packet_head {
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

/* ---- kept in memory ---- */

struct kpacket {
	struct kpacket *next;
	uint64_t begin_ns, end_ns, lost;
	uint32_t count;			/* of events */
	size_t size;
	uint8_t events[];
};

static void drop_first(struct kkept *kept)
{
	struct kpacket *packet = kept->first;

	kept->first = packet->next;
	kept->last = kept->first ? kept->last : NULL;
	kept->bytes -= sizeof(*packet) + packet->size;
	kept->lost_before = packet->lost;
	free(packet);
}

static void trim(struct kkept *kept, uint64_t now_ns)
{
	while (kept->first && kept->first->end_ns + kept->window_ns < now_ns)
		drop_first(kept);
	while (kept->first != kept->last && kept->bytes > kept->limit) {
		drop_first(kept);
		if (!kept->shortest_ns || now_ns - kept->first->begin_ns < kept->shortest_ns)
			kept->shortest_ns = now_ns - kept->first->begin_ns;
	}
}

static int kept_add(struct kkept *kept, uint64_t begin_ns, uint64_t end_ns, uint64_t lost,
		    const uint8_t *events, size_t size, uint32_t count)
{
	struct kpacket *packet = malloc(sizeof(*packet) + size);

	if (!packet)
		return -ENOMEM;
	*packet = (struct kpacket){
		.begin_ns = begin_ns, .end_ns = end_ns, .lost = lost, .count = count, .size = size,
	};
	memcpy(packet->events, events, size);
	if (kept->last)
		kept->last->next = packet;
	else
		kept->first = packet;
	kept->last = packet;
	kept->bytes += sizeof(*packet) + size;
	trim(kept, end_ns);
	return 0;
}

void kept_free(struct kkept *kept)
{
	while (kept->first)
		drop_first(kept);
}

/* ---- opening ---- */

static int create_file(int dir_fd, const char *name)
{
	return openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
}

static void name_stream(struct kstream *stream)
{
	(void)snprintf(stream->name, sizeof(stream->name), "channel0_%u", stream->cpu);
}

static int open_file(struct kstream *stream, int dir_fd)
{
	int error;

	stream->fd = create_file(dir_fd, stream->name);
	stream->events = malloc(stream->room);
	if (stream->fd >= 0 && stream->events)
		return 0;
	error = stream->fd < 0 ? errno : ENOMEM;
	if (stream->fd >= 0)
		(void)close(stream->fd);
	free(stream->events);
	stream->events = NULL;
	return -error;
}

int stream_open(struct kstream *stream, int dir_fd, uint32_t cpu, const uint8_t uuid[16])
{
	*stream = (struct kstream){
		.dir_fd = dir_fd, .cpu = cpu, .uuid = uuid, .room = 2 * PACKET_SIZE
	};
	name_stream(stream);
	return open_file(stream, dir_fd);
}

int stream_open_class(struct kstream *stream, int dir_fd, const char *name, uint32_t class,
		      const uint8_t uuid[16])
{
	*stream = (struct kstream){
		.dir_fd = dir_fd, .class = class, .uuid = uuid, .room = 2 * PACKET_SIZE
	};
	(void)snprintf(stream->name, sizeof(stream->name), "%s", name);
	return open_file(stream, dir_fd);
}

int stream_keep(struct kstream *stream, uint32_t cpu, struct kkept *kept)
{
	*stream = (struct kstream){
		.dir_fd = -1, .fd = -1, .cpu = cpu, .kept = kept, .room = 2 * PACKET_SIZE,
	};
	stream->events = malloc(stream->room);
	return stream->events ? 0 : -ENOMEM;
}

int stream_store(struct kstream *stream, const struct ctf_store *store, uint32_t cpu,
		 const uint8_t uuid[16])
{
	*stream = (struct kstream){
		.dir_fd = -1, .fd = -1, .cpu = cpu, .store = store, .uuid = uuid,
		.room = 2 * PACKET_SIZE,
	};
	name_stream(stream);
	stream->events = malloc(stream->room);
	return stream->events ? 0 : -ENOMEM;
}

/* ---- packets ---- */

/* A whole packet or nothing: a part that was written is cut off. */
static int write_packet(struct kstream *stream, const struct packet_head *head)
{
	const struct iovec part[2] = { { (void *)head, sizeof(*head) },
				       { stream->events, stream->size } };
	const int rc = pwritev_all(stream->fd, part, 2, (off_t)stream->offset);

	if (rc < 0)
		(void)!ftruncate(stream->fd, (off_t)stream->offset);
	return rc;
}

/* A packet that the store refuses is lost; the next packet reports that. */
static int store_packet(struct kstream *stream, const struct packet_head *head,
			const struct ctf_index_entry *entry)
{
	const struct ctf_framed packet = {
		.name = stream->name,
		.class = CTF_CLASS_KERNEL,
		.stream = &stream->stored,
		.entry = entry,
		.head = head,
		.head_size = sizeof(*head),
		.events = stream->events,
		.size = stream->size,
		.count = stream->count,
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

static struct packet_head head_of(const struct kstream *stream, uint64_t now_ns)
{
	const uint64_t bits = (sizeof(struct packet_head) + stream->size) * 8;
	struct packet_head head = {
		.magic = CTF_PACKET_MAGIC,
		.stream_id = stream->store ? CTF_CLASS_KERNEL : stream->class,
		.stream_instance_id = stream->cpu,
		.content_size = bits,
		.packet_size = bits,
		.begin = stream->size ? stream->begin_ns : now_ns,
		.end = stream->size ? stream->last_ns : now_ns,
		.seq = stream->seq,
		.discarded = lost_here(stream),
		.cpu = stream->cpu,
	};

	if (stream->uuid)
		memcpy(head.uuid, stream->uuid, sizeof(head.uuid));
	return head;
}

static int put_packet(struct kstream *stream, uint64_t now_ns)
{
	const struct packet_head head = head_of(stream, now_ns);
	const struct ctf_index_entry entry = {
		.offset = stream->offset,
		.packet_size = head.packet_size,
		.content_size = head.content_size,
		.timestamp_begin = head.begin,
		.timestamp_end = head.end,
		.events_discarded = head.discarded,
		.stream_id = head.stream_id,
		.stream_instance_id = stream->cpu,
		.packet_seq_num = head.seq,
		.events_discarded_len = 8 * sizeof(head.discarded),
		.events = stream->count,
	};
	int rc;

	if (stream->kept)
		rc = kept_add(stream->kept, head.begin, head.end, head.discarded, stream->events,
			      stream->size, stream->count);
	else
		rc = stream->store ? store_packet(stream, &head, &entry)
				   : write_packet(stream, &head);
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

int stream_write_kept(struct kstream *stream, const struct kkept *kept, uint64_t begin_ns,
		      uint64_t end_ns)
{
	uint64_t lost = kept->lost_before;
	int rc = 0;

	for (const struct kpacket *packet = kept->first;
	     rc == 0 && packet && packet->begin_ns <= end_ns; packet = packet->next) {
		if (packet->end_ns < begin_ns) {
			lost = packet->lost;
			continue;
		}
		if (!stream->seq)
			rc = put_packet(stream, packet->begin_ns); /* so that a reader sees what was
								      lost before the next one */
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
	return stream->size || stream->lost + stream->refused != stream->written_lost
		       ? put_packet(stream, now_ns)
		       : 0;
}

int stream_add(struct kstream *stream, unsigned id, uint64_t ns, const void *payload, size_t size)
{
	/* An interrupt between the clock and the ring puts its own record first: such a record gets
	 * the time of the one before. */
	struct event_head head = { (uint16_t)id, ns > stream->last_ns ? ns : stream->last_ns };

	if (!stream->size)
		stream->begin_ns = head.ns;
	stream->last_ns = head.ns;
	memcpy(stream->events + stream->size, &head, sizeof(head));
	memcpy(stream->events + stream->size + sizeof(head), payload, size);
	stream->size += sizeof(head) + size;
	stream->taken++;
	stream->count++;
	return stream->size < PACKET_SIZE ? 0 : stream_flush(stream, stream->last_ns);
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
	stream->fd = create_file(dir_fd, stream->name);
	if (stream->fd < 0)
		return -errno;
	if (rc == 0)
		rc = ended;
	/* From the last event on: events that were held back may still come. */
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
