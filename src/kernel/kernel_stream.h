/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of one CPU as packets of CTF: in a file, in a store, or kept in memory for the flight
 * recorder. Times are CLOCK_MONOTONIC ns.
 *
 * Context of all functions: the thread of kernel.h; allocate; block as the file or the store does.
 */
#ifndef KYMO_KERNEL_STREAM_H
#define KYMO_KERNEL_STREAM_H

#include "ctf/format/index.h"
#include "ctf/write/writer.h"

struct kpacket;

/* The last packets of a stream, in memory. */
struct kkept {
	struct kpacket *first, *last;
	uint64_t window_ns, limit;	/* how much of the past, in at most so many bytes */
	uint64_t bytes;
	uint64_t lost_before; /* events that were lost up to the end of the last packet that was
				 dropped */
	uint64_t shortest_ns; /* the shortest window that the limit left; 0: the limit was never
				 reached */
};

struct kstream {
	struct kkept *kept;		/* NULL: packets are written */
	const struct ctf_store *store;	/* NULL: into files */
	void *stored;			/* the store's own */
	int dir_fd, fd;
	char name[32];
	uint32_t cpu, class;		/* class: of the stream, without a store */
	const uint8_t *uuid;
	struct ctf_index index;
	uint64_t begin_ns, last_ns; /* of the packet that is being filled; of the last event ever */
	uint64_t taken;             /* events ... */
	uint64_t refused;           /* ... less those that the store refused */
	uint64_t lost,
		written_lost; /* by the source; and how many of these were reported in packets */
	uint64_t base;        /* part of lost: reported in an earlier directory */
	uint64_t seq, offset, bytes; /* in the present directory; bytes of all directories */
	uint64_t taken_before;       /* in earlier directories */
	uint8_t *events;
	uint32_t count;			/* of these */
	size_t size, room;
};

/** stream_open() - a stream that writes a file in @dir_fd. Return: 0; -errno. */
int stream_open(struct kstream *stream, int dir_fd, uint32_t cpu, const uint8_t uuid[16]);

/** stream_open_class() - the same with a name and a stream class of its own. */
int stream_open_class(struct kstream *stream, int dir_fd, const char *name, uint32_t class,
		      const uint8_t uuid[16]);

/** stream_store() - a stream that writes into @store, which has the metadata. Return: 0;
 * -ENOMEM. */
int stream_store(struct kstream *stream, const struct ctf_store *store, uint32_t cpu,
		 const uint8_t uuid[16]);

/** stream_keep() - a stream that keeps its packets in @kept, which the caller owns. Return: 0;
 * -ENOMEM. */
int stream_keep(struct kstream *stream, uint32_t cpu, struct kkept *kept);

/** stream_front() - write an empty packet first, so that a reader sees what the next one has lost.
 * Return: 0; -errno. */
int stream_front(struct kstream *stream, uint64_t now_ns);

/**
 * stream_add() - add an event of @id to the packet that is being filled
 * @ns: if it is earlier than that of the event before, the event gets that of the one before
 * @size: bytes of @payload, at most KEVENT_SIZE_MAX
 *
 * Return: 0; -errno: a full packet was not written: add no more.
 */
int stream_add(struct kstream *stream, unsigned id, uint64_t ns, const void *payload, size_t size);

/** stream_flush() - write the packet that is being filled, if it has events or losses. Return: 0;
 * -errno. */
int stream_flush(struct kstream *stream, uint64_t now_ns);

/**
 * stream_turn() - end the file, and continue in one of the same name in @dir_fd
 * Return: 0; -errno: the last packet of the old file, or the new file, cannot be written.
 */
int stream_turn(struct kstream *stream, int dir_fd);

/** stream_write_kept() - write the packets of @kept from @begin_ns to @end_ns into @stream, which
 * is open. Return: 0; -errno. */
int stream_write_kept(struct kstream *stream, const struct kkept *kept, uint64_t begin_ns,
		      uint64_t end_ns);

/** stream_close() - flush, and end the file. Closed and zeroed streams are allowed. Return: 0;
 * -errno. */
int stream_close(struct kstream *stream, uint64_t now_ns);

/** kept_free() - free all packets. */
void kept_free(struct kkept *kept);

#endif
