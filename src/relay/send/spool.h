/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recorder has for a relay and the relay has not stored yet: files in a directory of its own.
 * One thread adds, another one reads and releases.
 *
 *   DIR/facts     traces, metadata, streams, init events: kept whole, for a relay that begins anew
 *   DIR/run-N     packets of runtime events, in segments; one goes when all of it is stored. N: its position
 *   DIR/stored    up to which position they are stored, and what of that was lost: struct spool_stored
 *   DIR/note      whom all that is for
 *
 * Both are logs of records: struct spool_record, then its body. Positions in them are bytes from
 * their beginning; those in the segments go on from one to the next.
 *
 * Context: spool_add() and spool_create() on one thread, the reading functions on one other; they
 * block on the file system, and nowhere else.
 */
#ifndef KYMO_RELAY_SPOOL_H
#define KYMO_RELAY_SPOOL_H

#include <limits.h>
#include <stdbool.h>
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
	SPOOL_END,			/* @id of a stream: nothing more comes of it */
};

enum spool_log { SPOOL_FACTS, SPOOL_RUN, SPOOL_LOGS };

struct spool_record {
	uint32_t magic;
	uint32_t kind;			/* enum spool_kind */
	uint32_t id;
	uint32_t size;			/* of the body, bytes */
	uint64_t events;		/* SPOOL_PACKET: in it */
	struct ctf_index_entry entry;	/* of it, but for the offset */
};

struct spool_trace {
	uint8_t uuid[16];
	char name[NAME_MAX + 1];
};

struct spool_stream {
	uint32_t trace;			/* id */
	uint32_t class;			/* enum ctf_class */
	char name[NAME_MAX + 1];
};

/* One fact, in one write: a recorder that is killed has counted what was lost of what it let go, and nothing else. */
struct spool_stored {
	uint64_t position;		/* SPOOL_RUN before it was released */
	uint64_t lost_packets, lost_events;	/* of that, on the way to the relay */
};

struct spool;

/* Where a write is about to be made: see ctf_watch_fn. */
struct spool_watch {
	void (*before)(void *context, const char *dir, const char *file, uint64_t offset);
	void *context;
};

/**
 * spool_create() - make an empty one below the directory @parent, which is made if need be
 * @limit: bytes of SPOOL_RUN that wait at most; SPOOL_LEAST or more
 *
 * Return: 0 and *@spool; -1 with @err.
 */
int spool_create(const char *parent, uint64_t limit, struct spool **spool, struct kymo_err *err);

/**
 * spool_adopt() - take one over that is in the directory @parent, and that nobody has: its recorder was killed
 * @name: of its directory
 *
 * What was not written whole is left out. Nothing can be added to it.
 * Return: 0 and *@spool; -EWOULDBLOCK: its recorder lives; -errno.
 */
int spool_adopt(const char *parent, const char *name, struct spool **spool);

/** spool_note() - keep a text, in place of the one before. Return: 0; -errno. */
int spool_note(struct spool *spool, const char *text);

/** spool_noted() - the text that was kept; "": none. */
void spool_noted(const struct spool *spool, char *text, size_t size);

/** spool_stored() - what was released. */
struct spool_stored spool_stored(struct spool *spool);

/** spool_path() - its directory, absolute. */
const char *spool_path(const struct spool *spool);

/**
 * spool_add() - append @record to @log; its magic and size are filled in
 * @part: [@parts] the body, at most 3
 * @watch: told where the body goes; may be NULL
 *
 * All or nothing. Return: 0; -ENOBUFS: the limit is reached; -errno.
 */
int spool_add(struct spool *spool, enum spool_log log, struct spool_record *record, const struct iovec *part,
	      unsigned parts, const struct spool_watch *watch);

/** spool_end() - the position up to which all of @log can be read. */
uint64_t spool_end(struct spool *spool, enum spool_log log);

/**
 * spool_read() - the record at @position of @log, which is before its end
 * @body: its body, grown with realloc()
 * @room: of @body
 *
 * Return: the position of the next record; 0: it cannot be read.
 */
uint64_t spool_read(struct spool *spool, enum spool_log log, uint64_t position, struct spool_record *record,
		    void **body, size_t *room);

/** spool_release() - SPOOL_RUN before @stored->position is not needed any more. */
void spool_release(struct spool *spool, const struct spool_stored *stored);

/** spool_waiting() - bytes of SPOOL_RUN that are not released. */
uint64_t spool_waiting(struct spool *spool);

/** spool_close() - free it; without @keep its files are removed. NULL is fine. */
void spool_close(struct spool *spool, bool keep);

#endif
