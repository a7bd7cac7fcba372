/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the reader. An event passes these files from the bottom to the top:
 *
 *   reader_tree.c    finds traces below a path; reader_chunks.c knows the chunks of a recording
 *   reader_files.c   finds the stream files of a trace, puts the files of one stream together
 *   reader_class.c   stream and event classes from the metadata (ctf/tsdl); layout.c: their fields
 *   reader_bind.c    what the user binds; plan.c makes a plan of each class from it
 *
 *   window.c         the piece of a stream file that is in memory
 *   packet.c         packet headers and contexts
 *   header.c         event headers: id and time
 *   stream.c         one stream: files, packets, loss
 *   stream_lost.c    packets that a collector knows to be lost
 *   reader_lost.c    finds the files that say so
 *   stream_batch.c   the inner loop: finds the events in the window
 *   stream_clone.c   copies of a stream; facts of a stream from its packets alone
 *   reader_ahead.c   threads that find events before they are needed
 *   reader_align.c   times that are shifted to the clock of another host
 *   plan_run.c       values of an event by its plan; walk.c: of any layout, bit by bit
 *
 *   reader.c         open, close, merge of all streams, kymo_ctf_next()
 *   reader_grow.c    looks again at a trace that grows
 *   reader_text.c    events as text; reader_json.c: as JSON; reader_print.c: what the two share
 *   reader_state.c   warnings, counts, descriptions: needs none of the others but stream_clone.c
 *   copy/            writes a trace again
 */
#ifndef KYMO_CTF_READER_IMPL_H
#define KYMO_CTF_READER_IMPL_H

#include <pthread.h>
#include <time.h>

#include "base/pool.h"
#include "ctf/format/packed.h"
#include "ctf/read/plan.h"
#include "ctf/read/reader_ahead.h"
#include "ctf/format/index.h"

/*
 * The chunk of a recording that a trace is in: .../archives/BEGIN[-END]-NUMBER. The name of a chunk
 * changes when the chunk is complete. A chunk can be read alone, so it repeats facts of the chunk
 * before it, in stream files of their own. The reader leaves these files out when it reads both
 * chunks.
 */
struct chunk_of {
	unsigned long number;		/* 0: it is in no chunk */
	char *archives, *below;		/* the path before and behind the chunk's name */
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
	struct timespec listed;		/* time stamp of the directory when it was listed last */
	bool list_again;		/* it has files without a packet yet */
	struct chunk_of chunk;
	bool goes_on;			/* the reader also has the chunk before this one */
	const struct ctf_env *hostname, *procname, *vpid;	/* for printing */
	char *host;			/* info.hostname, where that is not the environment's */
	int64_t shifted_ns;		/* in all offsets of its classes */
	struct lost_file *lost_file;    /* of its directory index/, see reader_lost.c */
	uint32_t lost_files, lost_files_room;
	struct timespec lost_listed;
	struct kymo_ctf_shift *changes;	/* to add to shifted_ns, by shifted time; NULL: none */
};

/* Shapes of event headers that are decoded without walk(). */
enum header_shape { HEADER_GENERAL, HEADER_COMPACT, HEADER_LARGE, HEADER_PLAIN };

/* HEADER_PLAIN: bytes of the header, where id and time are, bytes of the id (2 or 4). */
struct plain_header {
	uint32_t size, id, time, id_size;
};

/* How the values of an event are given. */
enum give {
	GIVE_FETCHED, /* plan_fetch_simple(), and the absent ones */
	GIVE_ANY,     /* from the packet, too, or decoded one by one */
};

struct event_class {
	struct kymo_ctf_event_class pub;
	struct ctf_node *scope[3];	/* stream context, event context, fields */
	struct plan plan;
	int bound;			/* index into the bind table, or KYMO_CTF_UNBOUND */
	uint8_t absent;			/* bit per value: the class has no such field */
	uint8_t maybe;			/* bit per value: some events do not have it */
	/* the type of values that are enums, or NULL */
	const struct ctf_type *label[KYMO_CTF_BIND_FIELDS];
	bool fetches;			/* plan_fetch() gives all that is wanted */
	uint8_t give;                   /* enum give */
	/* index into ctf_stream.packet_value, or -1 */
	int8_t packet_value[KYMO_CTF_BIND_FIELDS];
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
	/* the two most common sizes of events with their header, bytes */
	uint32_t usual[2];
	struct event_class **class;	/* all, by id */
	uint32_t class_count;
};

/* What the inner loop knows of an event by its id. */
struct scan_entry {
	uint64_t what;                  /* RECORD() of its class, at 0 */
	uint32_t size;			/* bytes behind the header; SCAN_NOT: not of fixed size */
	uint32_t is_bound;              /* 0 or 1 */
};
#define SCAN_NOT UINT32_MAX

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
	/* fields of the packet context that are bound */
	const char *packet_names[KYMO_CTF_BIND_FIELDS];
	const struct stream_class *named;	/* the class whose names these are; NULL: not yet */
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
	unsigned heap_count, heap_room;
	bool started;
	struct ctf_stream *last;	/* of the event that kymo_ctf_next() returned last */
	/* events of @last up to this time come before those of all other streams */
	int64_t run_until;
	struct pool bound;		/* of @bind and its texts */
	const struct kymo_ctf_bind *bind;	/* a copy */
	unsigned bind_count;
	int64_t window_begin, window_end;
	/* see kymo_ctf_map_time(); NULL: none */
	int64_t (*map_time)(const void *context, int64_t ns);
	const void *map_context;
	bool only_bound;
	bool growing;
	bool refreshing;		/* inside kymo_ctf_refresh() */
	bool plans_stale;		/* a refresh found metadata or streams that no plan knows */
	/* the trace that a walk through the directories probably meets next */
	unsigned look_at;
	struct plan_out out;
	pthread_mutex_t warning_lock;
	char *warning[WARNINGS_MAX];
	unsigned warning_count;
	/* old names of files; the user may still have pointers to them */
	char **retired;
	unsigned retired_count, retired_capacity;
	unsigned open_files;		/* atomic */
	uint64_t heads;			/* atomic: the last head_number of a stream */
	unsigned threads;		/* that may find events ahead */
	struct ahead *ahead;		/* NULL: none does */
	/* of kymo_ctf_print_event(), made when it is first called */
	struct printer *printer;
};

/* ---- reader_state.c ---- */
/* Keep a warning of the reader, once; in any thread. */
__attribute__((format(printf, 2, 3)))
void reader_warn(struct kymo_ctf_reader *reader, const char *format, ...);

/* ---- reader.c ---- */
/*
 * Streams and classes may be added between these two. reader_settle() gives up the event that was
 * returned last, reader_resume() merges all streams again.
 */
void reader_settle(struct kymo_ctf_reader *reader);
int reader_resume(struct kymo_ctf_reader *reader, struct kymo_err *err);

/* ---- reader_chunks.c ---- */
/* Find the chunk that the trace at @path is in. Return: 0; -1: no memory. */
int chunk_describe(struct chunk_of *chunk, const char *path);
void chunk_free(struct chunk_of *chunk);
/* The same trace of the same chunk, whatever the chunk is called. */
bool chunk_is_same(const struct chunk_of *a, const struct chunk_of *b);
/* Whether the reader has a trace of the chunk before @chunk. */
bool chunk_goes_on(const struct kymo_ctf_reader *reader, const struct chunk_of *chunk);
/*
 * Whether a number is missing right before the chunk of a trace from @first on; and warn of each.
 */
bool chunk_is_missing(const struct kymo_ctf_reader *reader, unsigned first);
void chunk_warn_of_missing(struct kymo_ctf_reader *reader, unsigned first);
/* Whether stream file @name only repeats facts of the chunk before. */
bool chunk_repeats(const char *name);
/*
 * The present name of @path, which does not exist: its chunk may be complete now. NULL: it was
 * removed.
 */
char *chunk_moved(const char *path);
/* The same for a stream file, which may also have been compressed. */
char *chunk_file_now(const char *path);

/* ---- reader_tree.c ---- */
int tree_open(struct kymo_ctf_reader *reader, const char *path, struct kymo_err *err);
/*
 * Add every trace below @path; inside kymo_ctf_refresh() only those that the reader does not have.
 */
int tree_walk(struct kymo_ctf_reader *reader, const char *path, unsigned depth,
	      struct kymo_err *err);
char *path_join(const char *directory, const char *name);

/* ---- reader_files.c ---- */
/*
 * What is new in a trace's directory. The sizes of files are read before the metadata: then the
 * metadata describes every byte that is counted here, even while another program writes the trace.
 */
struct file_list {
	struct listed {
		char *path;
		uint64_t size;
	} *file;
	unsigned count;
};

/* Files that are not empty and not yet part of a stream, in order of their names. */
int files_list(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct file_list *list,
	       struct kymo_err *err);
void files_free(struct file_list *list);
/* Create a stream of each; rotated files of one stream are put together. */
int files_add(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct file_list *list,
	      struct kymo_err *err);
/* The same for files that appeared later: each is a new stream, or the next file of a known one. */
int files_add_new(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct file_list *list,
		  bool *found, struct kymo_err *err);
void stream_free(struct ctf_stream *stream);
/* A stream of the file @path, which it takes. Return: NULL: no memory. */
struct ctf_stream *stream_new(struct kymo_ctf_reader *reader, const struct ctf_trace *trace,
			      char *path, uint64_t size);
int files_stream(struct kymo_ctf_reader *reader, struct ctf_stream *stream);

/*
 * Bytes of the file at @path that its writer lets others read; of @size, and not below @from, which
 * was readable.
 */
uint64_t file_readable(const char *path, uint64_t from, uint64_t size);

/* Fill trace->info from the metadata. */
void trace_describe(const struct kymo_ctf_reader *reader, struct ctf_trace *trace);
/* ---- reader_class.c ---- */
int trace_compile(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct kymo_err *err);
void trace_free(struct ctf_trace *trace);
/* The stream class with this id, or NULL. */
struct stream_class *trace_class(struct ctf_trace *trace, uint64_t id);

/* ---- reader_bind.c ---- */
/* Compile the plans of all classes from the reader's bindings. */
int classes_plan(struct kymo_ctf_reader *reader, struct kymo_err *err);

/* ---- reader_align.c ---- */
/* @ns, which includes the offset of the clock, with the changes of kymo_ctf_align(). */
int64_t trace_aligned(const struct ctf_trace *trace, int64_t ns);
/* The inverse: what the trace's clock, which has this offset, showed at @ns. */
uint64_t trace_clock(const struct ctf_trace *trace, int64_t ns, int64_t offset_ns);
/* trace_aligned() for all records in the batch; the trace has changes. */
void batch_align(struct ctf_stream *stream);
void align_free(struct ctf_trace *trace);

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

/* ---- reader_lost.c ---- */
/* Read what is new in the trace's index/CHANNEL.lost. Return: 0; -1: no memory. */
int lost_look(struct kymo_ctf_reader *reader, struct ctf_trace *trace, bool *found);
void lost_free(struct ctf_trace *trace);

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

/**
 * reader_grow_metadata() - read what was added to the metadata of @trace
 *
 * A declaration that is on its way is locked. No packet that was found needs it, but they may need
 * those before it.
 *
 * Return: 1: the metadata has grown; 0: as before; -1 with @err.
 */
int reader_grow_metadata(struct kymo_ctf_reader *reader, struct ctf_trace *trace,
			 struct kymo_err *err);

#endif
