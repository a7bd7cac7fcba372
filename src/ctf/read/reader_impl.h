/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the reader. An event passes these files from the bottom to the top:
 *
 *   reader_tree.c    finds traces below a path; reader_chunks.c knows the chunks of a recording
 *   reader_files.c   finds the stream files of a trace, puts the files of one stream together
 *   reader_class.c   stream and event classes from the metadata (ctf/tsdl); layout.c: their fields
 *   reader_bind.c    what the user binds; plan.c makes a plan of each class from it
 *
 *   stream_impl.h    streams: the files that find the events, see there
 *   reader_ahead.c   threads that find events before they are needed
 *   reader_align.c   times that are shifted to the clock of another host
 *   reader_lost.c    finds the files that say which packets a collector knows to be lost
 *   plan_run.c       values of an event by its plan; walk.c: of any layout, bit by bit
 *
 *   reader_next.c    merges all streams, kymo_ctf_next()
 *   reader.c         open, close, settings
 *   reader_grow.c    looks again at a trace that grows
 *   reader_text.c    events as text; reader_json.c: as JSON; reader_print.c: what the two share
 *   reader_state.c   warnings, counts, descriptions, and the memory that files may take: needs none of
 *                    the others but stream_clone.c
 *   copy/            writes a trace again
 */
#ifndef KYMO_CTF_READER_IMPL_H
#define KYMO_CTF_READER_IMPL_H

#include <pthread.h>
#include <time.h>

#include "base/pool.h"
#include "ctf/read/plan.h"
#include "ctf/read/reader_ahead.h"

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
	bool settled;			/* complete, and all of it was read */
	struct chunk_of chunk;
	bool goes_on;			/* the reader also has the chunk before this one */
	const struct ctf_env *hostname, *procname, *vpid;	/* for printing */
	char *host;			/* info.hostname, where that is not the environment's */
	unsigned host_number;		/* of the hosts of that name: the first is 1 */
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
	/* fields of the packet context that are bound: ctf_stream.packet_value */
	const char *packet_names[KYMO_CTF_BIND_FIELDS];
};

/* What the inner loop knows of an event by its id. */
struct scan_entry {
	uint64_t what;                  /* RECORD() of its class, at 0 */
	uint32_t size;			/* bytes behind the header; SCAN_NOT: not of fixed size */
	uint32_t is_bound;              /* 0 or 1 */
};
#define SCAN_NOT UINT32_MAX

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
	uint64_t held, held_most;       /* estimated bytes, see reader_state.c */
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

/* ---- reader_next.c ---- */
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

/* ---- reader_state.c: memory ---- */
/* Set held_most. Return: 0, or -1 with @err. */
int budget_open(struct kymo_ctf_reader *reader, struct kymo_err *err);
/*
 * The bytes that so many more files, and a trace with so many bytes of metadata, take in memory; 0:
 * no trace
 */
uint64_t budget_of(uint64_t files, uint64_t metadata);
/* Return: 0; -1 with @err: so many bytes more, for what is at @path, are too many. */
int budget_check(const struct kymo_ctf_reader *reader, uint64_t bytes, const char *path,
		 struct kymo_err *err);

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

/*
 * Whether a trace that was just opened, whose first stream is @first, is a copy of one that the
 * reader has. Return: that one; NULL: no. While traces grow, nothing is a copy.
 */
const struct ctf_trace *trace_copied(const struct kymo_ctf_reader *reader,
				     const struct ctf_trace *trace, unsigned first);
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
void align_free(struct ctf_trace *trace);

/* ---- reader_lost.c ---- */
/* Read what is new in the trace's index/CHANNEL.lost. Return: 0; -1: no memory. */
int lost_look(struct kymo_ctf_reader *reader, struct ctf_trace *trace, bool *found);
void lost_free(struct ctf_trace *trace);

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
