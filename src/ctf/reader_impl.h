/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the reader. Who does what:
 *
 *   reader.c         open, close, merge, ctf_next()
 *   reader_tree.c    find traces and their stream files, put files of one stream together
 *   reader_class.c   stream and event classes
 *   reader_bind.c    bindings and plans
 *   stream.c         one stream: files, packets, loss; brings the next event header
 *   stream_scan.c    what packets tell of a stream as a whole
 *   reader_index.c   LTTng's index files
 *   window.c         the piece of a file that is in memory
 *   packet.c         packet header and context
 *   header.c         event headers: id and time
 *   plan*.c, walk.c  what stands behind an event header
 */
#ifndef KYMO_CTF_READER_IMPL_H
#define KYMO_CTF_READER_IMPL_H

#include "ctf/plan.h"
#include "ctf/reader_index.h"

struct ctf_trace {
	struct ctf_trace_info info;
	uint32_t index;			/* in the reader */
	char *path;
	char *metadata_path;
	struct ctf_metadata *metadata;
	struct layout layout;
	struct ctf_node *packet_header;	/* or NULL */
	struct stream_class *class;
	uint32_t class_count;
	const struct ctf_env *hostname, *procname, *vpid;	/* for printing */
};

/* Shapes of event headers that are decoded without walk(). */
enum header_shape { HEADER_GENERAL, HEADER_COMPACT, HEADER_LARGE, HEADER_PLAIN };

struct event_class {
	struct ctf_event_class pub;
	struct ctf_node *scope[3];	/* stream context, event context, fields */
	struct plan plan;
	int bound;			/* index into the bind table, or CTF_UNBOUND */
	uint8_t absent;			/* bit per value: the class has no such field */
	int8_t packet_value[CTF_BIND_FIELDS];	/* index into ctf_stream.packet_value, or -1 */
};

struct stream_class {
	struct ctf_trace *trace;
	uint64_t id;
	struct ctf_node *packet_context, *event_header;	/* or NULL */
	bool has_clock;
	bool counts_ns;			/* the clock's frequency is 1 GHz */
	struct ctf_clock clock;
	int64_t offset_ns;		/* epoch minus clock */
	enum header_shape shape;
	bool bytewise;			/* every event begins on a byte */
	uint32_t plain_size, plain_id, plain_time, plain_id_size;	/* HEADER_PLAIN, bytes */
	struct event_class **by_id;	/* dense up to by_id_count */
	uint64_t by_id_count;
	/* By id: bytes of an event behind its header when it is of fixed size and not bound, so
	 * that it can be passed over at sight; else PASS_NOT. NULL: general headers. */
	uint32_t *pass;
	struct event_class **class;	/* all, by id */
	uint32_t class_count;
};

#define PASS_NOT UINT32_MAX

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
};

/* The piece of a file that is in memory. */
struct window {
	uint8_t *bytes;
	size_t capacity, used;
	uint64_t offset;		/* of bytes[0] in the file */
	int fd;				/* -1: not open */
};

/* What stream_advance() stands at. */
enum stream_head { HEAD_END, HEAD_EVENT, HEAD_LOSS };

struct ctf_stream {
	int64_t key;			/* epoch ns of the head; the merge looks at this */
	enum stream_head head;
	uint32_t index;
	struct cursor at;		/* behind the head's event header */
	uint64_t event_begin;		/* position of the event header */
	struct event_class *event;
	uint64_t clock;			/* value at the head */
	struct stream_class *class;
	struct ctf_reader *reader;
	/* the packet */
	uint64_t packet_offset;		/* in the file */
	uint64_t content_end;		/* bits */
	uint64_t packet_bytes;
	bool cut_off;			/* the file ends inside the packet; that was warned of */
	struct packet packet;
	uint8_t *head_bytes;		/* header and context of the packet, for printing */
	size_t head_capacity;
	struct ctf_event context;	/* vpid, vtid, cpu, procname, values of the packet context */
	struct plan_out context_out;
	struct ctf_value packet_value[CTF_BIND_FIELDS];
	const char *packet_names[CTF_BIND_FIELDS];	/* fields of the packet context that are bound */
	/* the packet before */
	bool has_before;
	struct packet before;
	/* loss at the head */
	uint64_t loss_begin, loss_end, lost, lost_packets;
	bool loss_told;			/* of this packet */
	struct stream_file *file;
	uint32_t file_count, file_index;
	struct window window;
	uint64_t *slot;			/* as many as the trace's layout has */
	struct ctf_stream_info info;
	bool scanned;
	bool quiet;			/* a second pass: do not warn again */
};

struct heap_entry {
	int64_t key;			/* the stream's; here to be near its neighbours */
	struct ctf_stream *stream;
};

#define WARNINGS_MAX 200
struct ctf_reader {
	struct ctf_trace **trace;
	unsigned trace_count;
	struct ctf_stream **stream;
	unsigned stream_count;
	struct event_class **class;
	unsigned class_count;
	struct heap_entry *heap;	/* by (key, index of the stream); [0] is next */
	unsigned heap_count;
	bool started;
	struct ctf_stream *last;	/* whose head was given last */
	const struct ctf_bind *bind;	/* a copy; texts as well */
	unsigned bind_count;
	int64_t window_begin, window_end;
	bool only_bound;
	struct plan_out out;
	struct ctf_event passed;	/* where values of events go that are passed over */
	char *warning[WARNINGS_MAX];
	unsigned warning_count;
	unsigned open_files;
	struct printer *printer;	/* of ctf_print_event(), made when it is first called */
};

/* ---- reader.c ---- */
__attribute__((format(printf, 2, 3)))
void reader_warn(struct ctf_reader *reader, const char *format, ...);

/* ---- reader_tree.c ---- */
int tree_open(struct ctf_reader *reader, const char *path, struct err *err);
void stream_free(struct ctf_stream *stream);

/* ---- reader_class.c ---- */
int trace_compile(struct ctf_reader *reader, struct ctf_trace *trace, struct err *err);
void trace_free(struct ctf_trace *trace);

/* ---- reader_bind.c ---- */
/* Make the plans of all classes by the reader's bindings. */
int classes_plan(struct ctf_reader *reader, struct err *err);

/* ---- window.c ---- */
/* Have bytes [offset, offset + size) of the stream's present file in memory; fewer at its end.
 * Return: how many of them there are, or -1 (a warning was given). */
int64_t window_need(struct ctf_stream *stream, uint64_t offset, uint64_t size);
void window_close(struct ctf_stream *stream);

/* ---- packet.c ---- */
/* Parse the packet at packet_offset. Return: 0; -1: nothing usable there (a warning was given). */
int packet_open(struct ctf_stream *stream);

/* ---- header.c ---- */
void header_compile(struct stream_class *class);
/* Decode the event header at stream->at: sets event and clock. */
enum walk_result header_next(struct ctf_stream *stream);

/* ---- stream.c ---- */
void stream_rewind(struct ctf_stream *stream);
/* Go to the next event or loss: sets head and key. */
void stream_advance(struct ctf_stream *stream);
/* Decode what is behind the header into @out. Return: false: the rest of the packet is lost. */
bool stream_body(struct ctf_stream *stream, struct plan_out *out);
/* Go to the next packet that is usable. Return: false at the end of the last file. */
bool stream_next_packet(struct ctf_stream *stream);
/* What is missing between the packet before and the present one: sets lost and lost_packets. */
void stream_find_loss(struct ctf_stream *stream);
/* Go to @place. Return: whether the packet there is what @place tells of. */
bool stream_is_at(struct ctf_stream *stream, const struct packet_place *place);

/* ---- stream_scan.c ---- */
/* Fill stream->info from the packets' headers, or from an index that agrees with them. */
void stream_scan(struct ctf_stream *stream);

/* ---- stream.c: clocks ---- */
uint64_t clock_scale(const struct stream_class *class, uint64_t value);

static inline uint64_t clock_to_ns(const struct stream_class *class, uint64_t value)
{
	return class->counts_ns ? value : clock_scale(class, value);
}

/* Get more of the packet in memory after WALK_SHORT. Return: true: try again at event_begin. */
bool stream_more(struct ctf_stream *stream);

#endif
