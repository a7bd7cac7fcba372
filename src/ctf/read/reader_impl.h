/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the reader. Who does what:
 *
 *   reader.c         open, close, merge, kymo_ctf_next()
 *   reader_state.c   warnings; counts and descriptions of classes, traces and streams
 *   reader_grow.c    look again at a trace that grows
 *   reader_tree.c    find traces
 *   reader_chunks.c  what chunks repeat
 *   reader_files.c   find the stream files of a trace, put files of one stream together
 *   reader_class.c   stream and event classes
 *   reader_bind.c    bindings and plans
 *   reader_align.c   times that are shifted to another host's
 *   stream.c         one stream: files, packets, loss
 *   stream_batch.c   the events in what is in memory of a packet
 *   stream_clone.c   copies of a stream
 *   reader_ahead.c   threads that find events ahead
 *   stream_scan.c    what packets tell of a stream as a whole
 *   reader_index.c   LTTng's index files
 *   packed.c         compressed stream files
 *   window.c         the piece of a file that is in memory
 *   packet.c         packet header and context
 *   header.c         event headers: id and time
 *   plan*.c, walk.c  what stands behind an event header
 */
#ifndef KYMO_CTF_READER_IMPL_H
#define KYMO_CTF_READER_IMPL_H

#include <pthread.h>
#include <time.h>

#include "base/pool.h"
#include "ctf/format/packed.h"
#include "ctf/read/plan.h"
#include "ctf/read/reader_ahead.h"
#include "ctf/format/reader_index.h"

/*
 * The chunk of a recording, .../archives/BEGIN[-END]-NUMBER, that a trace is in. Its name changes when it
 * is complete. What it repeats of the chunk before it, so that it is complete in itself, stands in streams
 * of its own, which are left out when both are read.
 */
struct chunk_of {
	unsigned long number;		/* 0: it is in no chunk */
	char *archives, *rest;		/* the path up to the chunk's name, and behind it */
};

struct ctf_trace {
	struct kymo_ctf_trace_info info;
	uint32_t index;			/* in the reader */
	char *path;
	char *metadata_path;
	struct ctf_metadata *metadata;
	struct layout layout;
	struct ctf_node *packet_header;	/* or NULL */
	struct stream_class *class;
	uint32_t class_count;
	struct timespec looked;		/* time stamp of the directory when it was read last */
	bool look_again;		/* it has files without a packet yet */
	struct chunk_of chunk;
	bool goes_on;			/* it is in a chunk behind one that is here, too */
	const struct ctf_env *hostname, *procname, *vpid;	/* for printing */
	char *host;			/* info.hostname, where that is not the environment's */
	int64_t shifted_ns;		/* in all offsets of its classes */
	struct kymo_ctf_shift *changes;	/* beyond that, by time with it; NULL: none */
};

/* Shapes of event headers that are decoded without walk(). */
enum header_shape { HEADER_GENERAL, HEADER_COMPACT, HEADER_LARGE, HEADER_PLAIN };

/* HEADER_PLAIN: bytes of the header, where id and time are, bytes of the id (2 or 4). */
struct plain_header {
	uint32_t size, id, time, id_size;
};

struct event_class {
	struct kymo_ctf_event_class pub;
	struct ctf_node *scope[3];	/* stream context, event context, fields */
	struct plan plan;
	int bound;			/* index into the bind table, or KYMO_CTF_UNBOUND */
	uint8_t absent;			/* bit per value: the class has no such field */
	uint8_t maybe;			/* bit per value: some events do not have it */
	const struct ctf_type *label[KYMO_CTF_BIND_FIELDS];	/* the type of values that are enums, or NULL */
	bool fetches;			/* plan_fetch() is enough */
	int8_t packet_value[KYMO_CTF_BIND_FIELDS];	/* index into ctf_stream.packet_value, or -1 */
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
	struct plain_header plain;
	struct event_class **by_id;	/* dense up to by_id_count */
	uint64_t by_id_count;
	struct scan_entry *scan;	/* by id; NULL: general headers */
	uint32_t usual[2];		/* bytes of events with their header, the commonest */
	struct event_class **class;	/* all, by id */
	uint32_t class_count;
};

/* What the inner loop knows of an event by its id. */
struct scan_entry {
	uint32_t size;			/* bytes behind the header, or SCAN_NOT: look closer */
	uint32_t class;			/* index in the reader; bit 31: it is bound */
};
#define SCAN_NOT UINT32_MAX
#define SCAN_BOUND (UINT32_C(1) << 31)

/* An event that was found: time, class and place. The place is that of the body, with
 * HEADER_GENERAL that of the header, in bits from the beginning of the window. */
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
};

/* The piece of a file that is in memory. */
struct window {
	uint8_t *bytes;
	size_t capacity, used;
	uint64_t offset;		/* of bytes[0] in the file */
	int fd;				/* -1: not open */
	bool is_packed;			/* what is open is compressed */
	struct packed *packed;		/* it, when it was needed */
	bool failed;			/* to open or read, which was told */
};

struct ctf_stream {
	struct event_record *next;	/* the head: to be given next, or given last */
	struct event_record *batch_end;
	struct event_record *batch;	/* what was found ahead, all in one packet and in memory */
	uint32_t batch_capacity;
	uint32_t index;
	struct cursor at;		/* behind the last event that was found */
	uint64_t shift;			/* position of the window's beginning in the packet, bits */
	uint64_t event_begin;		/* position of the event header */
	struct event_class *event;	/* the last that was looked at */
	uint64_t clock;			/* value at the last event that was found */
	struct stream_class *class;
	struct kymo_ctf_reader *reader;
	/* the packet */
	uint64_t packet_offset;		/* in the file */
	uint64_t content_end;		/* bits */
	uint64_t packet_bytes;
	bool unusable;			/* the rest of the file */
	bool cut_off;			/* the file ends inside the packet; that was warned of */
	struct packet packet;
	uint8_t *head_bytes;		/* header and context of the packet, for printing */
	size_t head_capacity;
	struct kymo_ctf_event context;	/* vpid, vtid, cpu, procname, values of the packet context */
	struct plan_out context_out;
	struct kymo_ctf_value packet_value[KYMO_CTF_BIND_FIELDS];
	const char *packet_names[KYMO_CTF_BIND_FIELDS];	/* fields of the packet context that are bound */
	/* the packet before */
	bool has_before;
	struct packet before;
	/* loss at the head */
	uint64_t loss_begin, loss_end, lost, lost_packets;
	bool loss_told;			/* of this packet */
	struct stream_file *file;
	uint32_t file_count, file_capacity, file_index;
	struct window window;
	uint64_t *slot;			/* as many as the trace's layout has */
	struct kymo_ctf_stream_info info;
	size_t window_size;		/* 0: as window.c thinks fit */
	const bool *stop;		/* NULL, or an atomic: leave off */
	bool scanned;
	bool quiet;			/* a second pass: do not warn again */
};

struct heap_entry {
	int64_t key;			/* the stream's; here to be near its neighbours */
	struct ctf_stream *stream;
};

#define WARNINGS_MAX 200
struct kymo_ctf_reader {
	struct ctf_trace **trace;
	unsigned trace_count, trace_capacity;
	char *path;			/* as it was opened */
	struct ctf_stream **stream;
	unsigned stream_count, stream_capacity;
	struct event_class **class;
	unsigned class_count, class_capacity;
	struct heap_entry *heap;	/* by (key, index of the stream); [0] is next */
	unsigned heap_count;
	bool started;
	struct ctf_stream *last;	/* whose head was given last */
	int64_t run_until;		/* its events up to here come before all others */
	struct pool bound;		/* of @bind and its texts */
	const struct kymo_ctf_bind *bind;	/* a copy */
	unsigned bind_count;
	int64_t window_begin, window_end;
	int64_t (*map_time)(const void *context, int64_t ns);	/* see kymo_ctf_map_time(); NULL: none */
	const void *map_context;
	bool only_bound;
	bool growing;
	bool looks_again;		/* kymo_ctf_refresh() is at work */
	struct plan_out out;
	pthread_mutex_t warning_lock;
	char *warning[WARNINGS_MAX];
	unsigned warning_count;
	char **retired;			/* paths that were given away and hold no more */
	unsigned retired_count, retired_capacity;
	unsigned open_files;		/* atomic */
	unsigned threads;		/* that may help */
	struct ahead *ahead;		/* NULL: they do not */
	struct printer *printer;	/* of kymo_ctf_print_event(), made when it is first called */
};

/* ---- reader_state.c ---- */
/* Keep a warning of the reader, once; in any thread. */
__attribute__((format(printf, 2, 3)))
void reader_warn(struct kymo_ctf_reader *reader, const char *format, ...);

/* ---- reader.c ---- */
/* Between the two, streams and classes may come: leave the event given last; merge all again. */
void reader_settle(struct kymo_ctf_reader *reader);
int reader_resume(struct kymo_ctf_reader *reader, struct kymo_err *err);

/* ---- reader_chunks.c ---- */
/* Find out which chunk the trace at @path is in. Return: -1: no memory. */
int chunk_describe(struct chunk_of *chunk, const char *path);
void chunk_free(struct chunk_of *chunk);
/* The same trace of the same chunk, whatever the chunk is called. */
bool chunk_is_same(const struct chunk_of *a, const struct chunk_of *b);
/* Whether the reader has a trace of the chunk before. */
bool chunk_goes_on(const struct kymo_ctf_reader *reader, const struct chunk_of *chunk);
/* Warn of chunks that are not there between others that are. */
void chunk_warn_of_gaps(struct kymo_ctf_reader *reader);
/* Whether stream file @name holds only what the chunk before has, too. */
bool chunk_repeats(const char *name);
/* What @path, which is not there, is called since its chunk was completed; NULL: it is gone. */
char *chunk_moved(const char *path);
/* The same for a stream file, which may have been compressed as well. */
char *chunk_file_now(const char *path);

/* ---- reader_tree.c ---- */
int tree_open(struct kymo_ctf_reader *reader, const char *path, struct kymo_err *err);
/* Add every trace below @path; while the reader looks again, those that are not known. */
int tree_walk(struct kymo_ctf_reader *reader, const char *path, unsigned depth, struct kymo_err *err);
char *path_join(const char *directory, const char *name);

/* ---- reader_files.c ---- */
/*
 * What is new in a trace's directory. Sizes are taken before the metadata are read: then these
 * describe all that is counted here, also when somebody is writing the trace.
 */
struct file_list {
	struct listed {
		char *path;
		uint64_t size;
	} *file;
	unsigned count;
};

/* Files with something in them that are no streams yet, in order of their names. */
int files_list(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct file_list *list,
	       struct kymo_err *err);
void files_free(struct file_list *list);
/* Make them streams. */
int files_add(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct file_list *list,
	      struct kymo_err *err);
/* The same for those that appeared: new streams, or what is behind the last file of a known one. */
int files_add_new(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct file_list *list,
		  bool *found, struct kymo_err *err);
void stream_free(struct ctf_stream *stream);

/* How much of the file at @path, which has @size bytes, its writer lets others read; up to @from it did. */
uint64_t file_readable(const char *path, uint64_t from, uint64_t size);

/* Fill trace->info from the metadata. */
void trace_describe(const struct kymo_ctf_reader *reader, struct ctf_trace *trace);
/* ---- reader_class.c ---- */
int trace_compile(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct kymo_err *err);
void trace_free(struct ctf_trace *trace);
/* The stream class with this id, or NULL. */
struct stream_class *trace_class(struct ctf_trace *trace, uint64_t id);

/* ---- reader_bind.c ---- */
/* Make the plans of all classes by the reader's bindings. */
int classes_plan(struct kymo_ctf_reader *reader, struct kymo_err *err);

/* ---- reader_align.c ---- */
/* What kymo_ctf_align() made of a time that the clock's offset is in already. */
int64_t trace_aligned(const struct ctf_trace *trace, int64_t ns);
/* And back: what the trace's clock, of this offset, showed at @ns. */
uint64_t trace_clock(const struct ctf_trace *trace, int64_t ns, int64_t offset_ns);
/* The times of what is in the batch of a stream whose trace has changes. */
void batch_align(struct ctf_stream *stream);
void align_free(struct ctf_trace *trace);

/* ---- window.c ---- */
/* Have bytes [offset, offset + size) of the stream's present file in memory; fewer at its end.
 * Return: how many of them there are, or -1 (a warning was given). */
int64_t window_need(struct ctf_stream *stream, uint64_t offset, uint64_t size);
void window_close(struct ctf_stream *stream);

/* ---- packet.c ---- */
/* Parse the packet at packet_offset. Return: 0; -1: nothing usable there (a warning was given);
 * PACKET_NOT_YET: the trace is growing, and the packet is not complete. */
#define PACKET_NOT_YET 1
int packet_open(struct ctf_stream *stream);

/* Keep @bits at @bytes, the packet's header and context, for printing. Return: false: no memory. */
bool packet_keep_head(struct ctf_stream *stream, const uint8_t *bytes, uint64_t bits);

/* ---- header.c ---- */
void header_compile(struct stream_class *class);
/* Decode the event header at stream->at: sets event and clock. */
enum walk_result header_next(struct ctf_stream *stream);

/* ---- stream.c ---- */
void stream_rewind(struct ctf_stream *stream);
/* Find the next events or a loss. Return: false: there are none any more. */
bool stream_refill(struct ctf_stream *stream);
/* Whether the packet has bytes that are not in memory. */
bool stream_has_more(const struct ctf_stream *stream);
/* Leave out the rest of the packet, for @why, and tell so. */
void stream_abandon_packet(struct ctf_stream *stream, enum walk_result why);
/* Go to the next packet that is usable. Return: false at the end of the last file. */
bool stream_next_packet(struct ctf_stream *stream);
/* What is missing between the packet before and the present one: sets lost and lost_packets. */
void stream_find_loss(struct ctf_stream *stream);
/* Go to @place. Return: whether the packet there is what @place tells of. */
bool stream_is_at(struct ctf_stream *stream, const struct packet_place *place);

/* ---- stream_scan.c ---- */
/* Fill stream->info from the packets' headers, or from an index that agrees with them. */
void stream_scan(struct ctf_stream *stream);

/* ---- stream_clone.c ---- */
/* A rewound copy that shares nothing that changes. Return: NULL: no memory. */
struct ctf_stream *stream_clone(const struct ctf_stream *stream);
void stream_clone_free(struct ctf_stream *clone);
/* Have @to, a clone of the same stream, stand where @from does. Return: false: no memory. */
bool stream_continue(struct ctf_stream *to, struct ctf_stream *from);

/* ---- stream_batch.c ---- */
/* Add events at the cursor to the batch, until it is full, or the packet ends, or more of the
 * file would have to be read in place of what the batch refers to. */
void batch_fill(struct ctf_stream *stream);
/* The event at the cursor: sets event_begin, event and clock, and goes behind it. @body: behind its header.
 * Return: what stopped it; the cursor is then where it was. */
enum walk_result stream_event(struct ctf_stream *stream, uint64_t *body);
/* Position behind the header of @record; sets stream->event. */
uint64_t record_body(struct ctf_stream *stream, const struct event_record *record, bool *readable);
/* Decode @record, which is in the batch, into @out. */
void record_decode(struct ctf_stream *stream, const struct event_record *record,
		   struct plan_out *out);

/* ---- stream.c: clocks ---- */
uint64_t clock_scale(const struct stream_class *class, uint64_t value);

static inline uint64_t clock_to_ns(const struct stream_class *class, uint64_t value)
{
	return class->counts_ns ? value : clock_scale(class, value);
}

static inline int64_t epoch_of(const struct stream_class *class, uint64_t clock)
{
	return (int64_t)(clock_to_ns(class, clock) + (uint64_t)class->offset_ns);
}

/* Get more of the packet in memory after WALK_SHORT. Return: true: try again at event_begin. */
bool stream_more(struct ctf_stream *stream);

#endif
