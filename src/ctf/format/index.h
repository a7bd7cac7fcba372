/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LTTng index files, version 1.1: where each packet of a stream is. Big endian. The header says how
 * long an entry is; readers of LTTng's files skip what they do not know at its end. There kymo has
 * what LTTng's RFC on live reading wants (events_discarded_len), and how many events a packet has:
 * if the packet is lost, nothing else says it.
 */
#ifndef KYMO_CTF_INDEX_H
#define KYMO_CTF_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#define CTF_INDEX_MAGIC		0xC1F1DCC1u
#define CTF_INDEX_MAJOR		1u
#define CTF_INDEX_MINOR		1u
#define CTF_INDEX_HEADER	16u	/* bytes in front of the entries */
#define CTF_INDEX_OLD 56u               /* bytes of an entry of version 1.0 */
#define CTF_INDEX_LTTNG 72u             /* bytes of an entry with all that LTTng has */
#define CTF_INDEX_PENDING	56	/* entries kept in memory: 4 KiB */

struct ctf_index_entry {
	uint64_t offset;		/* bytes */
	uint64_t packet_size;		/* bits, as content_size */
	uint64_t content_size;
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t events_discarded;
	uint64_t stream_id;
	uint64_t stream_instance_id;
	uint64_t packet_seq_num;
	uint64_t events_discarded_len; /* bits of the counter in the packet; 0: not known */
	uint64_t events;               /* in the packet; 0: none, or not known */
};

/* An index being written. Zeroed is a valid start, then ctf_index_begin(). */
struct ctf_index {
	struct ctf_index_entry *pending;	/* in file byte order; NULL until the first entry */
	uint32_t pending_count;
	uint8_t begun;			/* the .part file exists */
	uint8_t broken;			/* a write failed: the stream gets no index */
	uint8_t hold;                   /* of its user: stay locked behind what is written */
	int held; /* the .part file's descriptor + 1, which has the lock; 0: none */
	uint64_t length;		/* bytes of the .part file */
};

/**
 * ctf_index_add() - append @entry
 * @dir_fd: of the trace; the index goes into index/ below it
 * @name: of the stream
 *
 * A failure is not reported: an index only saves time, and readers scan a stream without one.
 * Context: allocates; blocks once in CTF_INDEX_PENDING calls, if ctf_index_flush() was not.
 */
void ctf_index_add(struct ctf_index *index, int dir_fd, const char *name,
		   const struct ctf_index_entry *entry);

/**
 * ctf_index_flush() - write what was added into the .part file
 *
 * Locked as lock.h says, for readers of that file while it grows; with `hold` until
 * ctf_index_let_go(), else while it writes. Return: whether something was written. Context: blocks.
 */
int ctf_index_flush(struct ctf_index *index, int dir_fd, const char *name);

/** ctf_index_let_go() - close the .part file if it is held: nothing of it is locked. */
void ctf_index_let_go(struct ctf_index *index);

/** ctf_index_finish() - write the rest and give the file its name. Context: blocks. */
void ctf_index_finish(struct ctf_index *index, int dir_fd, const char *name);

/* ---- reading: where the packets of a stream file are ---- */

struct packet_place {
	uint64_t offset;        /* bytes */
	uint64_t size, content; /* bits */
	uint64_t begin, end;    /* clock values */
	uint64_t discarded, seq;
	uint64_t discarded_len, events; /* as in struct ctf_index_entry */
};

struct packet_index {
	struct packet_place *place; /* one after the other, without a gap; `end` never decreases */
	uint32_t count;             /* at least 1 */
};

/**
 * index_read() - read the index that belongs to the stream file @stream_path
 * @stream_bytes: size of the stream file, which the entries must cover exactly
 *
 * Context: allocates, blocks.
 * Return: whether a plausible index exists; then free it with index_free().
 */
bool index_read(struct packet_index *index, const char *stream_path, uint64_t stream_bytes);
void index_free(struct packet_index *index);

/**
 * index_read_lost() - append what index/CHANNEL.lost says: packets that a collector knows to be
 * lost
 * @path: of that file
 * @bytes: of it may be read
 * @entry: [*@count], by malloc(), with room for *@room; offset is UINT64_MAX; packet_seq_num too,
 * if it is not known
 *
 * Entries that cannot be true are left out. Context: allocates, blocks.
 * Return: 0; -1: out of memory, or the file is no index.
 */
int index_read_lost(const char *path, uint64_t bytes, struct ctf_index_entry **entry,
		    uint32_t *count, uint32_t *room);

#endif
