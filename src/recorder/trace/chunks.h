/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace directory in chunks, named as LTTng's:
 *
 *   DIR/archives/20261120T202357+0000-1/                        the one that is being written
 *   DIR/archives/20261120T202357+0000-20261120T202401+0000-1/   a complete one
 *
 * Each is a trace directory of its own. The time in front is that of its beginning, the one behind
 * that of its end, both local; the number counts from 1. A chunk gets its final name when nothing in
 * it changes any more. The oldest complete ones are removed when all of it grows beyond its limit.
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

/* One that is complete. Times are CLOCK_MONOTONIC ns. */
struct chunk {
	char name[CHUNK_NAME_MAX];
	uint64_t number, bytes, events;
	uint64_t begin_ns, end_ns;
	uint64_t beside;		/* events of others' traces in it */
};

/* What is said of a chunk besides. */
struct chunk_account {
	const char *version;		/* of kymo */
	const char *beside;		/* members of a JSON object; NULL: none */
};

struct chunks {
	struct sink_files files;
	int dir;			/* archives; -1: no chunks are made */
	struct chunk now;		/* the one that is being written; number 0: none */
	struct chunk *list;		/* [count] complete ones that are there, the oldest first */
	unsigned count, room;
	uint64_t bytes;			/* of them */
	struct timespec looked;		/* nothing was made or taken away since this time of the directory's */
	struct packer *packer;		/* compresses them; NULL: nobody does */
	uint64_t most;			/* that the present one ever grew from one look to the next */
	struct {
		uint64_t chunks, events, bytes;
		uint64_t until_ns;	/* what is older is gone */
	} removed;
};

/**
 * chunks_open() - make DIR/archives
 * @files: sink_files_have_chunks()
 * Return: 0; -errno. Context: blocks.
 */
int chunks_open(struct chunks *chunks, const char *directory, const struct sink_files *files);

/**
 * chunks_make() - make the directory of the next chunk; the present one stays it until chunks_turn()
 * @begin_ns: when the chunk begins; @realtime: now
 * @next: the chunk that it will be
 * Return: 0; -errno.
 */
int chunks_make(struct chunks *chunks, uint64_t begin_ns, uint64_t realtime, struct chunk *next);

/** chunks_unmake() - take away what chunks_make() made. */
void chunks_unmake(struct chunks *chunks, const struct chunk *next);

/**
 * chunks_complete() - nothing in the present chunk changes any more
 * @end_ns, @realtime: when it ended
 *
 * Writes its kymo.json, gives it its final name, enters it in the list and has it compressed.
 */
void chunks_complete(struct chunks *chunks, const char *directory, const struct chunk_account *account, uint64_t end_ns,
		     uint64_t realtime);

/** chunks_again() - the directory of chunks in @directory, made if it is not there. Return: 0; -errno. */
int chunks_again(struct chunks *chunks, const char *directory);

/** chunks_forget() - the complete chunks were taken away. */
void chunks_forget(struct chunks *chunks);

/**
 * chunks_look() - forget complete chunks that somebody took away
 * @events: grows by those in them
 * Return: how many there were. Cheap as long as nothing changes in the directory of chunks.
 */
unsigned chunks_look(struct chunks *chunks, uint64_t *events);

/** chunks_events() - in all complete chunks that are there. */
uint64_t chunks_events(const struct chunks *chunks);

/** chunks_due() - has the present chunk, of @bytes now, reached its size or its age? */
bool chunks_due(const struct chunks *chunks, uint64_t bytes, uint64_t now_ns);

/**
 * chunks_bound() - remove the oldest complete chunks until the whole is within its limit
 * @bytes: of the present chunk and what lies beside the chunks
 */
void chunks_bound(struct chunks *chunks, uint64_t bytes);

/** chunks_packed() - look which of them were compressed meanwhile: they are smaller now. */
void chunks_packed(struct chunks *chunks);

/** chunks_tell() - for the accounts: which there are, how many were removed. */
void chunks_tell(const struct chunks *chunks, struct json_object *root);

/** chunks_close() - wait until all is compressed, free what is kept. */
void chunks_close(struct chunks *chunks);

#endif
