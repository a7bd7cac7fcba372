/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of the reader: its files one after the other, in each file packets, in each packet
 * events. Events are found in batches, before they are given:
 *
 *   window.c         the piece of a stream file that is in memory
 *   packet.c         packet headers and contexts
 *   header.c         event headers: id and time
 *   stream.c         one stream: files, packets, loss
 *   stream_lost.c    packets that a collector knows to be lost
 *   stream_batch.c   the inner loop: finds the events in the window
 *   stream_clone.c   copies of a stream; facts of a stream from its packets alone
 */
#ifndef KYMO_CTF_STREAM_IMPL_H
#define KYMO_CTF_STREAM_IMPL_H

#include "ctf/format/index.h"
#include "ctf/format/packed.h"
#include "ctf/read/reader_impl.h"

/*
 * An event that was found: time, class and place. The place is where its body begins (with
 * HEADER_GENERAL: its header), in bits from the beginning of the window.
 */
struct event_record {
	int64_t key;			/* epoch ns */
	uint64_t what;
};
#define RECORD_CLASS_MAX ((1u << 24) - 1)
#define RECORD_LOSS RECORD_CLASS_MAX	/* no event, but loss in front of the packet */
#define RECORD(class, pos) ((uint64_t)(class) << 40 | (pos))
#define RECORD_CLASS(record) ((record)->what >> 40)
#define RECORD_POS(record) ((record)->what & ((UINT64_C(1) << 40) - 1))

/* What a packet's header and context say. Sizes in bits. */
enum { HAS_MAGIC = 1, HAS_UUID = 2, HAS_INSTANCE = 4, HAS_BEGIN = 8, HAS_END = 16, HAS_SEQ = 32,
       HAS_DISCARDED = 64, HAS_CONTENT = 128, HAS_SIZE = 256, HAS_CLASS = 512 };
struct packet {
	uint32_t has;
	uint32_t magic;
	uint8_t uuid[16];
	uint64_t stream_class, instance;
	uint64_t begin, end;		/* clock values */
	uint64_t content, size;
	uint64_t seq, discarded;
	uint32_t discarded_bits;	/* width of the counter */
	uint64_t context_begin;		/* position of the context */
	uint64_t first_event;		/* position behind it */
};

struct stream_file {
	char *path;
	uint64_t size;
	bool complete;			/* it is compressed and does not grow any more */
	bool end_known;                 /* end_ns is that of this size */
	uint64_t end_ns;                /* of its last packet, as in kymo_ctf_stream_info */
};

/* The piece of a file that is in memory. */
struct window {
	uint8_t *bytes;
	size_t capacity, used;
	uint64_t offset;		/* of bytes[0] in the file */
	int fd;				/* -1: not open */
	bool is_packed;			/* what is open is compressed */
	struct packed *packed;		/* it, when it was needed */
	/* the file could not be opened or read; a warning says so */
	bool failed;
};

struct ctf_stream {
	/* in the batch: the event to return next, or that was returned last */
	struct event_record *next;
	struct event_record *batch_end;
	/* events that were found; all are in one packet and in the window */
	struct event_record *batch;
	uint32_t batch_capacity;
	uint32_t index;
	struct cursor at;		/* behind the last event that was found */
	uint64_t shift;			/* where the window begins in the packet, bits */
	uint64_t event_begin;		/* position of the event header */
	struct event_class *event;	/* of the event that was decoded last */
	uint64_t clock;			/* value at the last event that was found */
	struct stream_class *class;
	struct kymo_ctf_reader *reader;
	/* the packet */
	uint64_t packet_offset;		/* in the file */
	uint64_t content_end;		/* bits */
	uint64_t packet_bytes;
	bool unusable;			/* nothing more of the file can be read */
	bool cut_off;			/* the file ends inside the packet; a warning says so */
	struct packet packet;
	uint8_t *head_bytes;		/* header and context of the packet, for printing */
	size_t head_capacity;
	uint64_t head_number;		/* of head_bytes; unique in the reader and its copies */
	/* vpid, vtid, cpu, procname, values of the packet context */
	struct kymo_ctf_event context;
	struct plan_out context_out;
	struct kymo_ctf_value packet_value[KYMO_CTF_BIND_FIELDS];
	/* the packet before */
	bool has_before;
	struct packet before;
	/* loss at the head */
	uint64_t loss_begin, loss_end, lost, lost_packets, lost_in_packets;
	bool loss_noted;		/* the loss before this packet is in the batch */
	struct ctf_index_entry *gone;   /* lost packets, sorted; clones share it */
	uint32_t gone_count, gone_room, gone_at; /* gone_at: those in front of it were looked at */
	struct stream_file *file;
	uint32_t file_count, file_capacity, file_index;
	struct window window;
	uint64_t *slot;			/* as many as the trace's layout has */
	struct kymo_ctf_stream_info info;
	size_t window_size;		/* 0: window.c chooses */
	const bool *stop;		/* atomic: stop looking for events; NULL: never */
	bool scanned;
	bool quiet;			/* a second pass: do not warn again */
	bool first_known;
	uint64_t first; /* clock value at the begin of the first packet */
};

struct heap_entry {
	int64_t key;			/* the stream's; here to be near its neighbours */
	struct ctf_stream *stream;
};

/* ---- reader_files.c ---- */
void stream_free(struct ctf_stream *stream);
/* A stream of the file @path, which it takes. Return: NULL: no memory. */
struct ctf_stream *stream_new(struct kymo_ctf_reader *reader, const struct ctf_trace *trace,
			      char *path, uint64_t size);

/* ---- window.c ---- */
/* Load bytes [offset, offset + size) of the stream's present file; fewer at its end.
 * Return: how many of them are in memory; -1: a warning says why not. */
int64_t window_need(struct ctf_stream *stream, uint64_t offset, uint64_t size);
void window_close(struct ctf_stream *stream);
/* The same, and what was loaded is given back; window_need() loads again. */
void window_free(struct ctf_stream *stream);

/* ---- packet.c ---- */
/*
 * Parse the packet at packet_offset. Return: 0; -1: nothing usable begins there (a warning says
 * why); PACKET_NOT_YET: the trace is growing, and the packet is not complete.
 */
#define PACKET_NOT_YET 1
int packet_open(struct ctf_stream *stream);

/* What events have from the packet's context, as before the first packet. */
void packet_forget(struct ctf_stream *stream);

/* Keep @bits at @bytes, the packet's header and context, for printing. Return: false: no memory. */
bool packet_keep_head(struct ctf_stream *stream, const uint8_t *bytes, uint64_t bits);

/* ---- header.c ---- */
void header_compile(struct stream_class *class);
/* Decode the event header at stream->at: sets event and clock. */
enum walk_result header_next(struct ctf_stream *stream);

/* ---- stream.c ---- */
void stream_rewind(struct ctf_stream *stream);
/* Find the next events or a loss. Return: false: the stream has ended. */
bool stream_refill(struct ctf_stream *stream);
/* Whether the packet has bytes that are not in memory. */
bool stream_has_more(const struct ctf_stream *stream);
/* Leave out the rest of the packet, for @why, and warn of it. */
void stream_abandon_packet(struct ctf_stream *stream, enum walk_result why);
/* Go to the next usable packet. Return: false at the end of the last file. */
bool stream_next_packet(struct ctf_stream *stream);
/* Sets lost and lost_packets: what is missing between the packet before and the present one. */
void stream_find_loss(struct ctf_stream *stream);
/* Go to @place. Return: whether the packet there is the one that @place describes. */
bool stream_is_at(struct ctf_stream *stream, const struct packet_place *place);

/* ---- stream_lost.c ---- */
/*
 * Take the entries of lost packets between the packet before and the present one. If there is no
 * packet before, the first of them becomes it. Return: how many; *@first: the first one, if it
 * became the packet before; else NULL.
 */
uint64_t gone_in_front(struct ctf_stream *stream, const struct ctf_index_entry **first);
/* At the end of the stream: sets the loss behind the last packet. Return: whether there is one. */
bool gone_at_end(struct ctf_stream *stream);
/* Sort entries that were added, each once. */
void gone_sort(struct ctf_stream *stream);

/* ---- stream_clone.c ---- */
/* Fill stream->info from the packets' headers, or from an index that agrees with them. */
void stream_scan(struct ctf_stream *stream);

/* When the last file of @stream ends; reads the packet headers of this file alone, once. */
uint64_t stream_end(struct ctf_stream *stream);
/* A rewound copy that shares nothing that changes. Return: NULL: no memory. */
struct ctf_stream *stream_clone(const struct ctf_stream *stream);
void stream_clone_free(struct ctf_stream *clone);
/* Move @to, a clone of the same stream, to where @from is. Return: false: no memory. */
bool stream_continue(struct ctf_stream *to, struct ctf_stream *from);

/* ---- stream_batch.c ---- */
/*
 * Add events at the cursor to the batch. Ends when the batch is full, or the packet ends, or when
 * the next event is not in memory: loading it would overwrite what the batch refers to.
 */
void batch_fill(struct ctf_stream *stream);
/*
 * The event at the cursor: sets event_begin, event and clock, and goes behind it. @body: behind its
 * header.
 * Return: what stopped it; the cursor is then where it was.
 */
enum walk_result stream_event(struct ctf_stream *stream, uint64_t *body);
/* Position behind the header of @record; sets stream->event. */
uint64_t record_body(struct ctf_stream *stream, const struct event_record *record, bool *readable);
/* Decode @record, which is in the batch, into @out. */
void record_decode(struct ctf_stream *stream, const struct event_record *record,
		   struct plan_out *out);

/* ---- reader_align.c ---- */
/* trace_aligned() for all records in the batch; the trace has changes. */
void batch_align(struct ctf_stream *stream);

/* ---- stream.c: clocks ---- */
uint64_t clock_scale(const struct stream_class *class, uint64_t value);

static inline uint64_t clock_to_ns(const struct stream_class *class, uint64_t value)
{
	return class->counts_ns ? value : clock_scale(class, value);
}

/*
 * Times that users get are between the years 1823 and 2116, so that any two of them can be
 * subtracted without an overflow. Damaged times may be anywhere; order and windows go by the times
 * as they are.
 */
#define TIME_MAX ((INT64_C(1) << 62) - 1)

static inline int64_t time_limited(int64_t ns)
{
	if (__builtin_expect((uint64_t)ns + TIME_MAX <= 2 * (uint64_t)TIME_MAX, 1))
		return ns;
	return ns < 0 ? -TIME_MAX : TIME_MAX;
}

static inline int64_t epoch_of(const struct stream_class *class, uint64_t clock)
{
	return (int64_t)(clock_to_ns(class, clock) + (uint64_t)class->offset_ns);
}

/* Get more of the packet in memory after WALK_SHORT. Return: true: try again at event_begin. */
bool stream_more(struct ctf_stream *stream);

#endif
