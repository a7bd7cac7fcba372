/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace directory that a viewer writes: of its user (-o), or its own, which is gone at the end. What the client
 * gets goes into files as lttng-relayd has them, metadata before the packets that need them, packets before their
 * index entries, so that readers may follow:
 *
 *   <directory>/<path>/metadata
 *   <directory>/<path>/<channel>                packets, one behind the other: those that were there when the viewer came
 *   <directory>/<path>/index/<channel>.idx      an entry for each (version 1.0: the protocol has no packet numbers)
 *
 * Context of all functions: the thread of the client; allocate and block.
 */
#ifndef KYMO_LIVE_COPYDIR_H
#define KYMO_LIVE_COPYDIR_H

#include "live/client.h"

struct copydir;

/**
 * copydir_open() - make the directory
 * @path: not there or empty; NULL: one of its own below $TMPDIR
 *
 * Return: 0, or -1 with @err filled.
 */
int copydir_open(const char *path, struct copydir **copydir, struct kymo_err *err);

/** copydir_close() - a directory of its own is removed. NULL: nothing. */
void copydir_close(struct copydir *copydir);

const char *copydir_path(const struct copydir *copydir);

/* What a client_sink has; @context is the copydir. */
int copydir_metadata(void *context, struct live_trace *trace, const uint8_t *bytes, size_t size, struct kymo_err *err);
int copydir_bytes(void *context, struct live_stream *stream, uint64_t offset, const uint8_t *bytes, size_t size,
		struct kymo_err *err);
int copydir_packet(void *context, struct live_stream *stream, bool complete, struct kymo_err *err);

/**
 * copydir_flush() - all that was given is in the files
 * @news: whether that is more than before
 *
 * Return: 0, or -1 with @err: it cannot be written.
 */
int copydir_flush(struct copydir *copydir, bool *news, struct kymo_err *err);

/**
 * copydir_mark() - of a directory of its own: a place in the file of @stream, some MiB behind the one before
 * @end: set to the time of the stream's clock at which the last packet before that place ends
 *
 * Return: false: there is none.
 */
bool copydir_mark(const struct copydir *copydir, const struct live_stream *stream, uint64_t *end);

/** copydir_forget() - nobody reads any more what is before that place: it is given back to the disk. */
void copydir_forget(struct live_stream *stream);

/** copydir_trace_path() - the directory of @trace; NULL: nothing came of it yet. */
const char *copydir_trace_path(const struct live_trace *trace);

#endif
