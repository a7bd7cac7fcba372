/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace directory that a viewer writes: the user's (-o), or a temporary one, which is removed
 * at the end. What the client receives is written in lttng-relayd's layout: metadata before the
 * packets that need it, packets before their index entries. So readers can follow:
 *
 *   <directory>/<path>/metadata
 *   <directory>/<path>/<channel>                packets, one after the other
 *   <directory>/<path>/index/<channel>.idx      an entry for each (version 1.0: the protocol has no packet numbers)
 *
 * Context of all functions: the thread of the client; allocate and block.
 */
#ifndef KYMO_LIVE_COPYDIR_H
#define KYMO_LIVE_COPYDIR_H

#include "live/client.h"

struct copydir;

/**
 * copydir_open() - create the directory
 * @path: must not exist, or be empty; NULL: create a temporary one below $TMPDIR
 *
 * Return: 0; -1 with @err.
 */
int copydir_open(const char *path, struct copydir **copydir, struct kymo_err *err);

/** copydir_close() - a temporary directory is removed. NULL: nothing. */
void copydir_close(struct copydir *copydir);

const char *copydir_path(const struct copydir *copydir);

/* Functions of a client_sink; @context is the copydir. */
int copydir_metadata(void *context, struct live_trace *trace, const uint8_t *bytes, size_t size,
		     struct kymo_err *err);
int copydir_bytes(void *context, struct live_stream *stream, uint64_t offset, const uint8_t *bytes,
		  size_t size, struct kymo_err *err);
int copydir_packet(void *context, struct live_stream *stream, bool complete, struct kymo_err *err);

/**
 * copydir_flush() - write everything that was received into the files
 * @news: set: whether that is more than at the last call
 *
 * Return: 0; -1 with @err: writing failed.
 */
int copydir_flush(struct copydir *copydir, bool *news, struct kymo_err *err);

/**
 * copydir_mark() - in a temporary directory: a position in the file of @stream, some MiB behind the
 * previous one
 * @end: set to the time of the stream's clock at which the last packet before the position ends
 *
 * Return: false: there is none.
 */
bool copydir_mark(const struct copydir *copydir, const struct live_stream *stream, uint64_t *end);

/** copydir_forget() - nobody reads before the mark any more: free that disk space. */
void copydir_forget(struct live_stream *stream);

/** copydir_trace_path() - the directory of @trace; NULL: nothing was received yet. */
const char *copydir_trace_path(const struct live_trace *trace);

#endif
