/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MCAP files: a container of messages on channels, in compressed chunks with an index.
 *
 *   struct mcap *file = mcap_begin(fd, "kymo 0.2", true, &err);
 *   schema = mcap_schema(file, "kymo.Latency", "{\"type\": \"object\", ...}");
 *   channel = mcap_channel(file, schema, "/kymo/latency/scan", "/scan");
 *   mcap_message(file, channel, log_ns, publish_ns, "{\"ms\": 1.5}", 11);
 *   mcap_end(file, &bytes, &err);
 *
 * The format is that of https://mcap.dev/spec. Messages are JSON, their schemas JSON Schema.
 * Errors stay until mcap_end(). Memory: a chunk, and an entry for each chunk and channel.
 *
 * Context of all functions: not thread-safe; allocate; mcap_message() and mcap_end() write and
 * block.
 */
#ifndef KYMO_EXPORT_MCAP_FILE_H
#define KYMO_EXPORT_MCAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define MCAP_CHANNELS_MAX 65000u

struct mcap;

/**
 * mcap_begin() - @fd: where to write; stays the caller's; @compress: chunks with zstd
 *
 * Return: NULL with @err: no memory.
 */
struct mcap *mcap_begin(int fd, const char *library, bool compress, struct kymo_err *err);

/** mcap_schema() - @text: a JSON Schema. Return: its number, from 1; 0: no memory. */
unsigned mcap_schema(struct mcap *file, const char *name, const char *text);

/**
 * mcap_channel() - a channel of messages of @schema on @topic
 * @name: for people, kept as metadata of the channel
 *
 * Return: its number, from 1; 0: no memory, or there are MCAP_CHANNELS_MAX.
 */
unsigned mcap_channel(struct mcap *file, unsigned schema, const char *topic, const char *name);

/** mcap_message() - times are nanoseconds since 1970; earlier ones become 0. */
void mcap_message(struct mcap *file, unsigned channel, int64_t log_ns, int64_t publish_ns,
		  const char *data, size_t size);

/** mcap_metadata() - a note about the whole file: the value of @key in the record @name. */
void mcap_metadata(struct mcap *file, const char *name, const char *key, const char *value);

/** mcap_messages() - how many there are so far. */
uint64_t mcap_messages(const struct mcap *file);

/** mcap_messages_of() - how many there are so far on @channel. */
uint64_t mcap_messages_of(const struct mcap *file, unsigned channel);

/**
 * mcap_end() - write what is left and the summary, and free @file, which may be NULL
 * @bytes: set to the size of the file
 *
 * Return: 0; -1 with @err: something could not be written, or there was no memory.
 */
int mcap_end(struct mcap *file, uint64_t *bytes, struct kymo_err *err);

#endif
