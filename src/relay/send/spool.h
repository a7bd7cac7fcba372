/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recorder has for a relay and the relay has not stored yet, in files of a directory.
 * One thread adds, another one reads and releases.
 *
 *   DIR/facts     traces, metadata, streams, init events: kept to the end, for sessions that begin anew
 *   DIR/run-N     packets of runtime events, in segments that are deleted when all of it is stored. N: position of its first byte
 *   DIR/stored    up to which position the packets are stored, and what was lost before it: struct spool_stored
 *   DIR/note      which relay and session the spool is for
 *
 * facts and run are logs of records: struct spool_record, then its body. A position is a byte
 * offset from the log's beginning; positions of the run log continue from one segment to the next.
 *
 * Context: spool_add() and spool_create() on one thread, the reading functions on one other thread;
 * they block only on the file system.
 */
#ifndef KYMO_RELAY_SPOOL_H
#define KYMO_RELAY_SPOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/err.h"
#include "ctf/format/index.h"

#define SPOOL_LEAST	((uint64_t)1 << 20)	/* bytes */
#define SPOOL_BODY_MAX	((uint32_t)64 << 20)

enum spool_kind {
	SPOOL_TRACE = 1,		/* @id of a trace; body: struct spool_trace */
	SPOOL_METADATA,			/* @id of its trace; body: text */
	SPOOL_STREAM,			/* @id of a stream; body: struct spool_stream */
	SPOOL_PACKET,			/* @id of its stream; body: the packet */
	SPOOL_END,			/* @id of a stream: no more packets */
};

enum spool_log { SPOOL_FACTS, SPOOL_RUN, SPOOL_LOGS };

struct spool_record {
	uint32_t magic;
	uint32_t kind;			/* enum spool_kind */
	uint32_t id;
	uint32_t size;			/* bytes of the body */
	uint64_t events;		/* SPOOL_PACKET: events in the packet */
	struct ctf_index_entry entry;	/* of the packet, without the offset */
};

/* Bytes of a record in the file: its entry ends where LTTng's ends; the rest is known. */
#define SPOOL_RECORD (offsetof(struct spool_record, entry) + CTF_INDEX_LTTNG)

struct spool_trace {
	uint8_t uuid[16];
	char name[NAME_MAX + 1];
};

struct spool_stream {
	uint32_t trace;			/* id */
	uint32_t class;			/* enum ctf_class */
	char name[NAME_MAX + 1];
};

/* What the relay received and could not store. */
struct spool_unstored {
	uint64_t packets, events; /* of runtime events */
	uint64_t facts;           /* init events */
};

static inline void spool_unstored_add(struct spool_unstored *to, const struct spool_unstored *more)
{
	to->packets += more->packets;
	to->events += more->events;
	to->facts += more->facts;
}

/* Written in one write: a killed recorder has counted exactly the losses of the packets that it
 * released. */
struct spool_stored {
	uint64_t position;		/* SPOOL_RUN before it was released */
	uint64_t lost_packets, lost_events;	/* before it: lost on the way to the relay */
	struct spool_unstored unstored;         /* before it */
};

struct spool;

/* Called before a write: see ctf_watch_fn. */
struct spool_watch {
	void (*before)(void *context, const char *dir, const char *file, uint64_t offset);
	void *context;
};

/**
 * spool_create() - create an empty spool below the directory @parent, which is created if necessary
 * @limit: bytes of SPOOL_RUN that may wait, SPOOL_LEAST or more
 *
 * Return: 0 and *@spool; -1 with @err.
 */
int spool_create(const char *parent, uint64_t limit, struct spool **spool, struct kymo_err *err);

/**
 * spool_adopt() - open a spool in the directory @parent whose recorder was killed
 * @name: of its directory
 *
 * A record that was not written completely is left out. Nothing can be added to the spool.
 * Return: 0 and *@spool; -EWOULDBLOCK: its recorder lives; -errno.
 */
int spool_adopt(const char *parent, const char *name, struct spool **spool);

/** spool_note() - write a text, replacing the one before. Return: 0; -errno. */
int spool_note(struct spool *spool, const char *text);

/** spool_noted() - read the text of spool_note(); "": none. */
void spool_noted(const struct spool *spool, char *text, size_t size);

/** spool_stored() - the last spool_release(). */
struct spool_stored spool_stored(struct spool *spool);

/** spool_path() - its directory, absolute. */
const char *spool_path(const struct spool *spool);

/**
 * spool_add() - append @record to @log; its magic and size are filled in
 * @part: [@parts] the body, at most 3
 * @watch: called with the body's place before the write; may be NULL
 *
 * All or nothing. Return: 0; -ENOBUFS: the limit is reached; -errno.
 */
int spool_add(struct spool *spool, enum spool_log log, struct spool_record *record,
	      const struct iovec *part, unsigned parts, const struct spool_watch *watch);

/** spool_end() - the position up to which @log can be read. */
uint64_t spool_end(struct spool *spool, enum spool_log log);

/**
 * spool_read() - the record of @log at @position, which is before its end
 * @body: its body; reallocated as needed
 * @room: bytes allocated for @body
 *
 * Return: the position of the next record; 0: it cannot be read.
 */
uint64_t spool_read(struct spool *spool, enum spool_log log, uint64_t position,
		    struct spool_record *record, void **body, size_t *room);

/** spool_release() - delete SPOOL_RUN before @stored->position. */
void spool_release(struct spool *spool, const struct spool_stored *stored);

/** spool_waiting() - bytes of SPOOL_RUN that are not released. */
uint64_t spool_waiting(struct spool *spool);

/** spool_close() - free it; without @keep its files are removed. NULL: nothing. */
void spool_close(struct spool *spool, bool keep);

#endif
