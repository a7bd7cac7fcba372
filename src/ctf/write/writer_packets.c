/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of a stream: header, context and events, appended whole or not at all. */
#include "ctf/write/writer_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"

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
static_assert(offsetof(struct packet_head, vpid) == CTF_PACKET_HEAD_LTTNG, "no gaps");
static_assert(sizeof(struct packet_head) == CTF_PACKET_HEAD_MAX, "as writer.h says");

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
	int rc = out->torn ? writer_cut(out->fd, out->length) : 0;

	out->torn = rc < 0;
	return rc;
}

/* Normally one call; if not all of it fits, the next call says why. @written grows by the bytes in
 * the file. */
static int write_parts(int fd, struct iovec part[2], size_t *written)
{
	while (part[0].iov_len + part[1].iov_len) {
		ssize_t done = writev(fd, part, part[1].iov_len ? 2 : 1);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : io_took_nothing(fd);
		*written += (size_t)done;
		for (unsigned i = 0; i < 2; i++) {
			size_t step =
				(size_t)done < part[i].iov_len ? (size_t)done : part[i].iov_len;

			if (step)	/* an empty packet has no address */
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
	(void)out_repair(out); /* if that fails, the next packet tries again */
	return rc;
}

static int out_append(struct ctf_out *out, const struct packet_head *head,
		      const struct ctf_packet *packet)
{
	int rc = out_open(out);

	if (rc == 0)
		rc = out_repair(out);
	if (rc < 0)
		return rc;
	writer_announce(out->writer, out->name, out->length, head->packet_size / 8, head,
			head_size[out->class]);
	rc = out_write(out, head, packet->events, packet->size);
	if (rc == 0 && out->writer->share.active)
		(void)ctf_lock_ready(out->fd, out->length, head->packet_size / 8);
	return rc;
}

static int out_store(struct ctf_out *out, const struct packet_head *head,
		     const struct ctf_packet *packet, const struct ctf_index_entry *entry)
{
	const struct ctf_store *store = out->writer->store;

	return store->packet(store->context, &(struct ctf_framed){
						     .name = out->name,
						     .class = out->class,
						     .stream = &out->stored,
						     .entry = entry,
						     .head = head,
						     .head_size = head_size[out->class],
						     .events = packet->events,
						     .size = packet->size,
						     .watch = out->writer->watch,
						     .watch_context = out->writer->watch_context,
					     });
}

/* What the index has of a packet, without its offset and the number of its events. */
static struct ctf_index_entry entry_of(const struct packet_head *head)
{
	return (struct ctf_index_entry){
		.packet_size = head->packet_size,
		.content_size = head->content_size,
		.timestamp_begin = head->timestamp_begin,
		.timestamp_end = head->timestamp_end,
		.events_discarded = head->events_discarded,
		.stream_id = head->stream_id,
		.stream_instance_id = head->stream_instance_id,
		.packet_seq_num = head->packet_seq_num,
		.events_discarded_len = 8 * sizeof head->events_discarded,
	};
}

int ctf_out_packet(struct ctf_out *out, const struct ctf_packet *packet)
{
	struct ctf_index_entry entry;
	struct packet_head head;
	int rc;

	head_fill(&head, out, packet);
	entry = entry_of(&head);
	entry.offset = out->length;
	entry.events = packet->count;
	rc = out->writer->store ? out_store(out, &head, packet, &entry)
				: out_append(out, &head, packet);
	if (rc < 0)
		return rc;
	if (!out->writer->store)
		(void)out_index(out, &entry);
	out->length += head.packet_size / 8;
	out->writer->bytes += head.packet_size / 8;
	out->writer->index_bytes +=
		sizeof(struct ctf_index_entry) + (out->packets ? 0 : CTF_INDEX_HEADER);
	out->packets++;
	return 0;
}

uint64_t ctf_out_packets(const struct ctf_out *out)
{
	return out->packets;
}

bool ctf_packet_entry(const uint8_t bytes[CTF_PACKET_HEAD_LTTNG], struct ctf_index_entry *entry)
{
	struct packet_head head = { 0 };

	memcpy(&head, bytes, CTF_PACKET_HEAD_LTTNG);
	if (head.magic != CTF_PACKET_MAGIC || head.content_size > head.packet_size ||
	    head.timestamp_end < head.timestamp_begin)
		return false;
	*entry = entry_of(&head);
	return true;
}

size_t ctf_packet_front(enum ctf_class class, const void *packet, size_t size,
			struct ctf_index_entry *entry, uint8_t bytes[CTF_PACKET_HEAD_MAX])
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
	int dir;

	if (out->torn && out_open(out) == 0)
		(void)out_repair(out);
	out_shut(out);
	dir = writer_dir(out->writer);
	ctf_index_finish(&out->index, dir, out->name);
	if (out->made && !out->packets)
		(void)unlinkat(dir, out->name, 0); /* an empty file is not a stream */
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
