/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace directory in chunks, named as LTTng's:
 *
 *   DIR/archives/20261120T202357+0000-1/                        the one that is being written
 *   DIR/archives/20261120T202357+0000-20261120T202401+0000-1/   a complete one
 *
 * Each chunk is a trace directory of its own. The first time is that of its begin, the second that
 * of its end, both local; the number counts from 1. A chunk gets its final name when nothing in it
 * changes any more. The oldest complete chunks are removed when all of them grow beyond the limit.
 *
 * Context of all functions: on the session's thread; block as the disk does, but for
 * chunks_events() and chunks_due(), which are wait-free.
 */
#ifndef KYMO_RECORDER_CHUNKS_H
#define KYMO_RECORDER_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "recorder/trace/sink_files.h"

#define CHUNK_NAME_MAX 96

struct json_object;
struct packer;

/* One chunk. Times are CLOCK_MONOTONIC ns. */
struct chunk {
	char name[CHUNK_NAME_MAX];
	uint64_t number, bytes, events;
	uint64_t begin_ns, end_ns;
	uint64_t beside;		/* events of others' traces in it (struct sink_beside) */
};

/* What else goes into the accounts of a chunk. */
struct chunk_account {
	const char *version;		/* of kymo */
	const char *beside;		/* members of a JSON object; NULL: none */
};

struct chunks {
	struct sink_files files;
	int dir;			/* archives; -1: the trace is not in chunks */
	struct chunk now;		/* the one that is being written; number 0: none */
	struct chunk *list;		/* [count] existing complete chunks, the oldest first */
	unsigned count, room;
	uint64_t bytes; /* of them */
	struct timespec
		looked; /* mtime of the directory since which no chunk was created or removed */
	struct packer *packer; /* compresses them; NULL: they stay as they are */
	uint64_t most; /* most that the present chunk ever grew between two calls of
			* chunks_bound() */
	struct {
		uint64_t chunks, events, bytes;
		uint64_t until_ns;	/* everything older was removed */
	} removed;
};

/**
 * chunks_open() - create DIR/archives
 * @files: sink_files_have_chunks()
 * Return: 0; -errno. Context: blocks.
 */
int chunks_open(struct chunks *chunks, const char *directory, const struct sink_files *files);

/**
 * chunks_make() - create the directory of the next chunk; the caller makes it the present one later
 * @begin_ns: when the chunk begins, CLOCK_MONOTONIC; @realtime: now, ns since the epoch
 * @next: filled for it
 * Return: 0; -errno.
 */
int chunks_make(struct chunks *chunks, uint64_t begin_ns, uint64_t realtime, struct chunk *next);

/** chunks_unmake() - remove what chunks_make() created. */
void chunks_unmake(struct chunks *chunks, const struct chunk *next);

/**
 * chunks_complete() - nothing in the present chunk changes any more
 * @end_ns, @realtime: when it ended
 *
 * Writes its kymo.json, gives it its final name, enters it in the list and has it compressed.
 */
void chunks_complete(struct chunks *chunks, const char *directory,
		     const struct chunk_account *account, uint64_t end_ns, uint64_t realtime);

/** chunks_again() - open the directory of chunks in @directory again; create it if it does not
 * exist. Return: 0; -errno. */
int chunks_again(struct chunks *chunks, const char *directory);

/** chunks_forget() - somebody removed all complete chunks. */
void chunks_forget(struct chunks *chunks);

/**
 * chunks_look() - forget complete chunks that somebody removed
 * @events: grows by the events in them
 * Return: how many they were. Cheap as long as nothing changes in the directory of chunks.
 */
unsigned chunks_look(struct chunks *chunks, uint64_t *events);

/** chunks_events() - events in all existing complete chunks. */
uint64_t chunks_events(const struct chunks *chunks);

/** chunks_due() - whether the present chunk, of @bytes now, has reached its size or age. */
bool chunks_due(const struct chunks *chunks, uint64_t bytes, uint64_t now_ns);

/**
 * chunks_bound() - remove the oldest complete chunks until the whole is within its limit
 * @bytes: of the present chunk and of files beside the chunks
 */
void chunks_bound(struct chunks *chunks, uint64_t bytes);

/** chunks_packed() - measure chunks that were compressed meanwhile. */
void chunks_packed(struct chunks *chunks);

/** chunks_tell() - for the accounts: which there are, how many were removed. */
void chunks_tell(const struct chunks *chunks, struct json_object *root);

/** chunks_close() - wait until all is compressed, free what is kept. */
void chunks_close(struct chunks *chunks);

#endif
